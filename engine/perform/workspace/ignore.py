"""Ignore rules that an agent cannot change: those of the base commit, of the user's own excludes, and a short list of
what tools leave behind everywhere. Flattened into one exclude file, so that no .gitignore of the clone is ever read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine import globs
from engine.files import write
from engine.perform.workspace import trees
from engine.perform.workspace.git import Git
from engine.perform.workspace.unchanging import Kept

LITTER = (
    b"__pycache__/", b"*.py[co]", b".pytest_cache/", b".mypy_cache/", b".ruff_cache/", b".hypothesis/", b".tox/",
    b".nox/", b".coverage", b".coverage.*", b"*.egg-info/", b".venv/", b"node_modules/", b".npm/", b".gradle/",
    b".DS_Store", b"*.swp", b".nyc_output/", b".import_linter_cache/",
)  # fmt: skip
"""Never part of a tree unless tracked: a repository without a .gitignore is still not filled with them."""

DEPENDENCIES = frozenset(
    (".venv", "venv", "env", "node_modules", "target", "vendor", ".tox", ".nox", ".gradle", ".m2", ".bundle",
     ".cargo", "bower_components", "Pods", ".mypy_cache", ".ruff_cache", "__pypackages__", ".npm", ".yarn",
     "elm-stuff", "deps", "_build", ".eggs")
)  # fmt: skip
"""Folders worth keeping in a lane between attempts when they are ignored: they are slow to make again."""


class Rules:
    """The flattened rules of one base, as a file for git and as a matcher for Python."""

    def __init__(self, path: Path, gitlinks: tuple[bytes, ...], tree: str) -> None:
        self.path = path
        self.tree = tree
        self.gitlinks = gitlinks
        """Submodules of the base: their folders stay empty in a lane."""

    def arguments(self) -> tuple[str, ...]:
        return (f"--exclude-from={self.path}",)

    def ignores_folder(self, path: bytes) -> bool:
        """Whether a folder is ignored (as git would: a parent that is ignored decides)."""
        rules = [rule for line in self.path.read_bytes().split(b"\n") if (rule := globs.rule(line))]
        parts = path.rstrip(b"/").split(b"/")
        for depth in range(1, len(parts) + 1):
            probe = b"/".join(parts[:depth]) + b"/"
            if next((ignores for ignores, expression in reversed(rules) if expression.match(probe)), False):
                return True
        return False


def rules_of(git: Git, tree: str, folder: Path, own: bytes, copy: Iterable[str]) -> Rules:
    """The rules of a base tree, kept in `folder` by what they say. `own`: the user's personal excludes."""
    ignoring, gitlinks = _asked(git, tree)
    wanted = tuple(copy)
    said = "\0".join(wanted).encode("utf-8", "surrogateescape") + b"\0" + own
    said += b"".join(name + b"\0" + oid + b"\0" for name, oid in ignoring.items())
    path = folder / f"{hashlib.sha256(said).hexdigest()[:32]}.exclude"
    if not path.exists():
        contents = trees.blobs(git, ignoring.values())
        lines = [*LITTER, *own.split(b"\n")]
        for name, oid in sorted(ignoring.items(), key=lambda pair: (pair[0].count(b"/"), pair[0])):
            lines += flatten(name.rpartition(b"/")[0], contents[oid])  # deeper files have the last word
        lines += [b"/" + os.fsencode(item).lstrip(b"/") for item in wanted]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write(path, b"\n".join(lines) + b"\n")
    return Rules(path, gitlinks, tree)


def gitlinks(git: Git, tree: str) -> tuple[bytes, ...]:
    """The submodules of a tree."""
    return _asked(git, tree)[1]


_known: Kept[tuple[Mapping[bytes, bytes], tuple[bytes, ...]]] = Kept(8)


def _asked(git: Git, tree: str) -> tuple[Mapping[bytes, bytes], tuple[bytes, ...]]:
    """The .gitignore files of a tree, by path, and its submodules: told by what differs from the tree that was asked
    for last, so that a repository of many files is walked through once."""
    wanted = trees.tree_of(git, tree)
    found = _known.get((git.git_dir, wanted))
    if found is None:
        told = trees.since(git, _known, wanted)
        if told is None:
            found = _among(trees.entries(git, wanted))
        else:
            (ignoring, submodules), changes = told
            changed = {change.path for change in changes}
            there = {change.path: (change.new_mode, change.new) for change in changes}
            more, links = _among(there)
            files = {name: oid for name, oid in ignoring.items() if name not in changed}
            found = (
                dict(sorted({**files, **more}.items())),
                tuple(sorted({*links, *(link for link in submodules if link not in changed)})),
            )
        _known.put((git.git_dir, wanted), found)
    return found


def _among(entries: Mapping[bytes, tuple[bytes, bytes]]) -> tuple[dict[bytes, bytes], tuple[bytes, ...]]:
    files: dict[bytes, bytes] = {}
    gitlinks: list[bytes] = []
    for name, (mode, oid) in entries.items():
        if name.endswith(b".gitignore"):
            if name.rpartition(b"/")[2] == b".gitignore" and mode.startswith(b"100"):
                files[name] = oid
        elif mode == trees.GITLINK:
            gitlinks.append(name)
    return files, tuple(gitlinks)


def flatten(folder: bytes, content: bytes) -> list[bytes]:
    """The lines of `folder/.gitignore` as lines of the root's."""
    found = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = line.rstrip(b"\r")
        if not text.strip() or text.startswith(b"#"):
            continue
        if not folder:
            found.append(text)
            continue
        sign = b"!" if text.startswith(b"!") else b""
        body = text.removeprefix(b"!")
        body = body.removeprefix(b"\\") if body[:2] in (b"\\!", b"\\#") else body
        anchored = b"/" in body.rstrip(b" ").rstrip(b"/")
        prefix = b"/" + _literal(folder) + b"/"
        found.append(sign + prefix + (body.lstrip(b"/") if anchored else b"**/" + body))
    return found


def _literal(folder: bytes) -> bytes:
    return b"".join(
        b"\\" + char if char in b"\\*?[ " else char for char in (folder[i : i + 1] for i in range(len(folder)))
    )
