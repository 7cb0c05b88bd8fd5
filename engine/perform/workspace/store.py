"""The state directory: the engine's own git directory, private indexes, lanes, and what was kept aside."""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from engine import files
from engine.core.model import MachineFault
from engine.core.wording import plural
from engine.machine_words import fault_in
from engine.perform.workspace.destroy import Grave
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.git import Git, GitError
from engine.perform.workspace.known_folders import Known
from engine.perform.workspace.repository import Repository, alternate, identity_env
from engine.perform.workspace.secrets import Detector, nothing_known

# Highest in precedence of all attributes: whatever a tree's .gitattributes say, bytes are bytes.
_RAW = b"* -text -ident -filter -working-tree-encoding !eol !merge !diff\n"


@dataclass(frozen=True)
class Store:
    """Where everything of one repository's engine lies; 0700, never in reach of an agent."""

    root: Path
    repo: Repository
    git: Git
    """The engine's own git directory, without a work tree."""
    grave: Grave
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Commits, landings and rollbacks one after the other."""
    detect: Detector = nothing_known
    """Finds secrets of the user's in a content."""
    clean_trees: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of trees between which no secret came in: looked at once."""
    known: Known = field(default_factory=Known)
    """Lanes and rooms of which only what is touched has to be looked at."""
    said: list[str] = field(default_factory=list)
    """What was found out of place and mended, in words, until somebody records it."""

    def say(self, words: str) -> None:
        self.said.append(words)

    def folder(self, *parts: str) -> Path:
        path = self.root.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    @property
    def git_objects(self) -> Path:
        return self.root / "git" / "objects"

    def index(self, name: str) -> Path:
        return self.folder("index") / name

    def sweep(self, now: float) -> None:
        """Remove what killed engines left in tmp/ and trash/: only what is an hour old, for others may be at work."""
        for folder in ("tmp", "trash"):
            for path in self.folder(folder).iterdir():
                with contextlib.suppress(OSError):
                    if now - path.lstat().st_mtime > 3600:
                        self.grave.remove(path)

    @property
    def scratch(self) -> Path:
        return self.folder("tmp")


def open_store(state: Path, repo: Repository, detect: Detector = nothing_known) -> Store:
    """Make the state directory's layout, or take up the one there is. Safe to repeat after a kill at any point."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    root = Path(os.path.realpath(state))
    root.chmod(0o700)
    grave = Grave(root)
    target = root / "git"
    git = Git(target, root, env=identity_env(repo.identity))
    said = _made(root, target, grave, repo.object_format) + _without_empty_objects(target, grave)
    write_atomic_if_new(target / "objects" / "info" / "alternates", os.fsencode(alternate(repo.objects)) + b"\n")
    shallow = repo.common_dir / "shallow"
    if repo.shallow and shallow.is_file():
        write_atomic_if_new(target / "shallow", shallow.read_bytes())
    for name in ("index", "tmp", "lanes", "aside"):
        (root / name).mkdir(exist_ok=True, mode=0o700)
    return Store(root, repo, git, grave, detect=detect, said=said)


def _made(root: Path, target: Path, grave: Grave, object_format: str) -> list[str]:
    """The engine's git directory, if it is not there; what a power cut emptied of it is written anew, and said."""
    if _whole(target):
        return []
    fresh = root / f"git.{uuid.uuid4().hex[:8]}"
    made = Git(None, root)
    try:
        made.run("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", "--", str(fresh))
    except GitError as error:  # in a folder of our own: whatever git says of it, it could not write there
        fault = fault_in(error.stderr) or error.fault or MachineFault.STORE_FAULT
        raise WorkspaceError(str(error), fault=fault) from error
    (fresh / "info").mkdir(exist_ok=True)
    files.write(fresh / "info" / "attributes", _RAW)
    settled = {name: (fresh / name).read_bytes() for name in _SETTLED}
    if not (target / "objects").is_dir():
        for name, data in settled.items():  # git does not wait for the disk here, and a file without content is no HEAD
            files.write(fresh / name, data)
        grave.discard(target)
        fresh.rename(target)
        files.sync(root)
        return []
    for name, data in settled.items():
        files.write(target / name, data)
    (target / "refs").mkdir(exist_ok=True)
    grave.remove(fresh)
    return [
        "the engine's own git directory had lost its settings (a power cut, a failing disk?); they were written anew"
    ]


def _without_empty_objects(target: Path, grave: Grave) -> list[str]:
    """An object without a byte is what a power cut leaves of one; git would take it for written ever after."""
    empty: list[Path] = []
    for folder in (target / "objects").glob("[0-9a-f][0-9a-f]"):
        with os.scandir(folder) as entries:
            found = [one.name for one in entries if not one.name.startswith("tmp_") and not one.stat().st_size]
        empty += [folder / name for name in found]
    for path in empty:
        grave.remove(path)
    if not empty:
        return []
    return [f"{plural(len(empty), 'object')} of the engine's own git had lost their content (a power cut?): removed"]


_SETTLED = ("HEAD", "config", "info/attributes")


def _whole(target: Path) -> bool:
    """Whether git takes it for a repository; empty files are what is left of those that never reached the disk."""
    try:
        return (target / "refs").is_dir() and all((target / name).stat().st_size for name in _SETTLED)
    except OSError:
        return False


def write_atomic_if_new(path: Path, data: bytes) -> None:
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, data)
