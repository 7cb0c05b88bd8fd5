"""Real git and real processes for the tests of the checks: trees in a bare repository, the engine's own spawner."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Mapping
from pathlib import Path

from engine.core.model import FileChange
from engine.core.sandboxes import SandboxName
from engine.perform.checks.run.spec import IntegrityPolicy, Setting
from engine.perform.process.probe import SandboxMode
from engine.perform.process.spawner import ProcessSpawner
from tests.lean_python import without_us

PYTHON = without_us()
"""What runs the tests of the repositories: it cannot import devteam."""
PATH = f"{Path(PYTHON).parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
GIT_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@t",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@t",
}


class Objects:
    """The loose objects of a git repository, read and written without starting git: a tree a test costs nothing."""

    def __init__(self, store: Path) -> None:
        self._folder = store / "objects"
        self._known: dict[str, tuple[str, bytes]] = {}

    def put(self, kind: str, data: bytes) -> str:
        whole = f"{kind} {len(data)}\0".encode() + data
        name = hashlib.sha1(whole).hexdigest()
        path = self._folder / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(whole, 1))
        self._known[name] = kind, data
        return name

    def get(self, name: str) -> tuple[str, bytes]:
        if name not in self._known:
            whole = zlib.decompress((self._folder / name[:2] / name[2:]).read_bytes())
            head, _, data = whole.partition(b"\0")
            self._known[name] = head.split()[0].decode(), data
        return self._known[name]

    def files(self, tree: str, above: str = "") -> dict[str, tuple[str, str]]:
        """Mode and name of everything in a tree that is no tree, by path."""
        found, (_, data), at = {}, self.get(tree), 0
        while at < len(data):
            space, end = data.index(b" ", at), data.index(b"\0", at)
            mode, path = data[at:space].decode(), above + os.fsdecode(data[space + 1 : end])
            name, at = data[end + 1 : end + 21].hex(), end + 21
            found |= self.files(name, f"{path}/") if mode == "40000" else {path: (mode, name)}
        return found

    def write(self, files: Mapping[str, tuple[str, str]]) -> str:
        """The tree that holds exactly these."""
        below: dict[str, dict[str, tuple[str, str]]] = {}
        entries: dict[str, tuple[str, str]] = {}
        for path, entry in files.items():
            first, slash, rest = path.partition("/")
            if slash:
                below.setdefault(first, {})[rest] = entry
            else:
                entries[first] = entry
        entries |= {name: ("40000", self.write(inner)) for name, inner in below.items()}
        order = sorted(entries, key=lambda name: os.fsencode(name) + b"/" * (entries[name][0] == "40000"))
        lines = (entries[name][0].encode() + b" " + os.fsencode(name) + b"\0" for name in order)
        return self.put("tree", b"".join(a + bytes.fromhex(entries[b][1]) for a, b in zip(lines, order, strict=True)))


class GitTrees:
    """engine.perform.checks.run.trees.Trees over plain git: folders by git itself, trees by their objects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store.git"
        for name in ("objects", "refs/heads"):
            (self.store / name).mkdir(parents=True, exist_ok=True)
        (self.store / "HEAD").write_text("ref: refs/heads/main\n")
        (self.store / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        self.objects = Objects(self.store)

    def git(self, *args: str, index: str = "scratch", work: Path | None = None) -> bytes:
        env = GIT_ENV | {"GIT_DIR": str(self.store), "GIT_INDEX_FILE": str(self.folder / f"index-{index}")}
        if work is not None:
            env["GIT_WORK_TREE"] = str(work)
        done = subprocess.run(["git", *args], check=True, env=env, capture_output=True, cwd=work or self.folder)
        return done.stdout

    def write(self, files: Mapping[str, str | bytes]) -> str:
        """A tree that holds exactly `files`."""
        return self.objects.write(
            {
                path: (
                    "100755" if path.endswith(".sh") else "100644",
                    self.objects.put("blob", content.encode() if isinstance(content, str) else content),
                )
                for path, content in files.items()
            }
        )

    def export(self, tree: str, dest: Path) -> None:
        dest.mkdir(parents=True, exist_ok=True)
        name = dest.name
        if (self.folder / f"index-{name}").exists() or any(dest.iterdir()):
            self.git("add", "-A", "-f", ".", index=name, work=dest)
        self.git("read-tree", "-u", "--reset", tree, index=name, work=dest)

    def overlay(self, tree: str, paths, from_tree: str) -> str:
        files, other = self.objects.files(tree), self.objects.files(from_tree)
        for path in paths:
            files.pop(path, None)
            if path in other:
                files[path] = other[path]
        return self.objects.write(files)

    def show(self, tree: str, path: str) -> bytes | None:
        return self.contents(tree, [path]).get(path)

    def contents(self, tree: str, paths) -> dict[str, bytes]:
        files = self.objects.files(tree)
        plain = [path for path in paths if path in files and files[path][0] != "120000"]  # a link has no content
        return {path: self.objects.get(files[path][1])[1] for path in plain}

    def edit(self, tree: str, files) -> str:
        held = self.objects.files(tree)
        for path, data in files.items():
            mode, _ = held.pop(path, ("100644", ""))
            if data is not None:
                held[path] = mode, self.objects.put("blob", data)
        return self.objects.write(held)

    def files(self, tree: str) -> list[str]:
        return [*self.objects.files(tree)]

    def diff_files(self, old: str, new: str) -> list[FileChange]:
        before, after = self.objects.files(old), self.objects.files(new)

        def how(path: str) -> str:
            if path not in before or path not in after:
                return "added" if path in after else "deleted"
            return "modified" if before[path][0][:2] == after[path][0][:2] else "type"

        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        return [FileChange(path=path, change=how(path)) for path in changed]

    def hash_folder(self, folder: Path) -> str:
        self.git("add", "-u", ".", index=folder.name, work=folder)
        return self.git("write-tree", index=folder.name).strip().decode()


def plain_spawner(folder: Path) -> ProcessSpawner:
    """The engine's own spawner without a sandbox: what the tests of this room need most of the time."""
    for name in ("user", "spawn"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    mode = SandboxMode(name=SandboxName.NONE, detail="", lost=())
    return ProcessSpawner(mode, "checks-test", time.monotonic, home=folder / "user", scratch=folder / "spawn")


def setting(folder: Path, **policy) -> Setting:
    (folder / "checkout").mkdir(parents=True, exist_ok=True)
    return Setting(
        checkout=folder / "checkout",
        scratch=folder / "scratch",
        evidence=folder / "evidence",
        env={
            "PATH": f"{Path(PYTHON).parent}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
        },
        confine=False,
        policy=IntegrityPolicy(**policy),
    )


def which(program: str) -> str | None:
    """The tools of the environment that runs the tests, before those of the machine."""
    beside = [Path(python).with_name(program) for python in (PYTHON, sys.executable)]
    return next((str(path) for path in beside if path.exists()), None) or shutil.which(program)
