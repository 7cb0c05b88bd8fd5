"""The projects as their developers have them, made once and kept: fetching and installing is most of the time.

A checkout stays at one path, because virtual environments and npm's links know their folder by it. What was tried on it
is put back by whoever tried it. `python -m tests.foreign.prepared [NAME…]` makes them beforehand.
"""

from __future__ import annotations

import fcntl
import hashlib
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

from tests.foreign import fetch, projects
from tests.foreign.projects import Foreign

HELD: dict[Path, IO[str]] = {}
GIT = ["git", "-c", "user.name=u", "-c", "user.email=u@x"]


def prepared(project: Foreign) -> Path:
    """The project's checkout, made anew when its record or the way it is made changed."""
    top = fetch.CACHE / "made" / project.name
    _alone(fetch.CACHE / "made" / f"{project.name}.lock")
    source, stamp = top / "checkout" / project.name, top / "stamp"
    if not stamp.is_file() or stamp.read_text() != _record(project):
        shutil.rmtree(top, ignore_errors=True)
        source.parent.mkdir(parents=True)
        made(project, source)
        shutil.copytree(source, top / "kept", symlinks=True)
        stamp.write_text(_record(project))
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(top / "kept", source, symlinks=True)
    return source


def _alone(path: Path) -> None:
    """One process at a time has a project; until that process ends."""
    if path not in HELD:
        path.parent.mkdir(parents=True, exist_ok=True)
        HELD[path] = path.open("w")
        fcntl.flock(HELD[path], fcntl.LOCK_EX)


def made(project: Foreign, folder: Path) -> None:
    """The project as its developer has it: a repository with everything committed that is not ignored."""
    project.make(folder)
    if "venv" in project.name:
        (folder / ".venv" / ".gitignore").unlink(missing_ok=True)  # newer tools ignore what they make themselves
    ignored = folder / ".gitignore"
    text = ignored.read_text() if ignored.exists() and "venv" not in project.name else ""
    ignored.write_text(project.ignore + text)
    subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=folder, check=True)
    add = ["add", "-A", "--", ".", ":!.venv"] if "venv" in project.name else ["add", "-A"]
    subprocess.run([*GIT, *add], cwd=folder, check=True)
    subprocess.run([*GIT, "commit", "-qm", "start"], cwd=folder, check=True)


def version_of(project: Foreign) -> str:
    """NAME==VERSION or NAME@VERSION as it was fetched; empty where its files are our own."""
    found = inspect.getclosurevars(project.make).nonlocals.get("what", "")
    return found if isinstance(found, str) else ""


def _record(project: Foreign) -> str:
    """What its making depends on."""
    made_by = inspect.getclosurevars(project.make).nonlocals
    ways = inspect.getsource(fetch) + inspect.getsource(project.make)
    return hashlib.sha256(f"{ways}{sorted(map(str, made_by.items()))}{project.ignore}".encode()).hexdigest()


if __name__ == "__main__":
    wanted = sys.argv[1:]
    from tests.foreign.shapes import EVERY

    for one in EVERY:
        if (not wanted or one.name in wanted) and not projects.missing(one):
            try:
                sys.stdout.write(f"{prepared(one)}\n")
            except fetch.Unreachable as problem:
                sys.stdout.write(f"{one.name}: {problem}\n")
            sys.stdout.flush()
