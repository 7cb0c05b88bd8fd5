"""Real git and real processes for the tests of the checks: trees in a bare repository, the engine's own spawner."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from engine.core.model import FileChange
from engine.core.sandboxes import SandboxName
from engine.perform.checks.run.spec import IntegrityPolicy, Setting
from engine.perform.process.probe import SandboxMode
from engine.perform.process.spawner import ProcessSpawner

PYTHON = sys.executable
GIT_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@t",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@t",
}


class GitTrees:
    """engine.perform.checks.run.trees.Trees over plain git."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store.git"
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", "--bare", str(self.store)], check=True, env=GIT_ENV)

    def git(self, *args: str, index: str = "scratch", work: Path | None = None, data: bytes | None = None) -> bytes:
        env = GIT_ENV | {"GIT_DIR": str(self.store), "GIT_INDEX_FILE": str(self.folder / f"index-{index}")}
        if work is not None:
            env["GIT_WORK_TREE"] = str(work)
        done = subprocess.run(
            ["git", *args], check=True, env=env, input=data, capture_output=True, cwd=work or self.folder
        )
        return done.stdout

    def write(self, files: dict[str, str | bytes]) -> str:
        """A tree that holds exactly `files`."""
        lines = b""
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            blob = self.git("hash-object", "-w", "--stdin", data=data).strip()
            mode = b"100755 " if path.endswith(".sh") else b"100644 "
            lines += mode + blob + b"\t" + path.encode() + b"\n"
        self.git("read-tree", "--empty")
        self.git("update-index", "--add", "--index-info", data=lines)
        return self.git("write-tree").strip().decode()

    def export(self, tree: str, dest: Path) -> None:
        dest.mkdir(parents=True, exist_ok=True)
        name = dest.name
        if not (self.folder / f"index-{name}").exists():
            self.git("read-tree", "--empty", index=name)
        self.git("add", "-A", "-f", ".", index=name, work=dest)
        self.git("read-tree", "-u", "--reset", tree, index=name, work=dest)

    def overlay(self, tree: str, paths, from_tree: str) -> str:
        self.git("read-tree", tree)
        lines = b""
        for path in paths:
            entry = self.git("ls-tree", from_tree, "--", path).strip()
            lines += (entry.replace(b" blob ", b" ", 1) if entry else b"0 " + b"0" * 40 + b"\t" + path.encode()) + b"\n"
        self.git("update-index", "--add", "--index-info", data=lines)
        return self.git("write-tree").strip().decode()

    def show(self, tree: str, path: str) -> bytes | None:
        try:
            return self.git("cat-file", "blob", f"{tree}:{path}")
        except subprocess.CalledProcessError:
            return None

    def contents(self, tree: str, paths) -> dict[str, bytes]:
        """By one process, as the workspace's own trees do it."""
        names = "".join(f"{tree}:{path}\n" for path in paths)
        data, found, at = self.git("cat-file", "--batch", data=names.encode()), {}, 0
        for path in paths:
            head, _, _ = data[at:].partition(b"\n")
            at += len(head) + 1
            if head.endswith(b" missing"):
                continue
            kind, size = head.split()[1:]
            if kind == b"blob":
                found[path] = data[at : at + int(size)]
            at += int(size) + 1
        return found

    def edit(self, tree: str, files) -> str:
        self.git("read-tree", tree)
        lines = b""
        there = self.git("ls-tree", "-z", tree, "--", *files).decode().split("\0")
        modes = {line.partition("\t")[2]: line[:6].encode() for line in there if line}
        for path, data in files.items():
            if data is None:
                lines += b"0 " + b"0" * 40 + b"\t" + path.encode() + b"\n"
            else:
                blob = self.git("hash-object", "-w", "--stdin", data=data).strip()
                lines += modes.get(path, b"100644") + b" " + blob + b"\t" + path.encode() + b"\n"
        self.git("update-index", "--add", "--index-info", data=lines)
        return self.git("write-tree").strip().decode()

    def files(self, tree: str) -> list[str]:
        return [p for p in self.git("ls-tree", "-r", "-z", "--name-only", tree).decode().split("\0") if p]

    def diff_files(self, old: str, new: str) -> list[FileChange]:
        parts = self.git("diff-tree", "-r", "-z", "--name-status", "--no-renames", old, new).decode().split("\0")
        words = {"A": "added", "M": "modified", "D": "deleted", "T": "type"}
        return [FileChange(path=path, change=words[kind]) for kind, path in zip(parts[::2], parts[1::2], strict=False)]

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
        env={"PATH": f"{Path(PYTHON).parent}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"},
        confine=False,
        policy=IntegrityPolicy(**policy),
    )


def which(program: str) -> str | None:
    """The tools of the environment that runs the tests, before those of the machine."""
    beside = Path(PYTHON).with_name(program)
    return str(beside) if beside.exists() else shutil.which(program)
