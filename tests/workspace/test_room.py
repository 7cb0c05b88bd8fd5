"""The clean room is exactly its tree each time, reused, and re-hashed after the checks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, write
from tests.workspace.test_lanes import content


def test_a_room_goes_from_tree_to_tree_and_keeps_nothing(work: Workspace) -> None:
    lane = work.prepare(0).path
    write(lane / "src/app.py", "x = 2\n")
    write(lane / "n/new.py")
    other = work.snapshot(0)
    base = work.tree_of(work.head())
    room = work.export(base)
    inode = (room / "a.txt").stat().st_ino
    write(room / "src/__pycache__/x.pyc")
    write(room / ".venv/left")
    write(room / "report.xml")
    write(room / ".git/hooks/x")
    os.mkfifo(room / "pipe")
    assert work.export(other) == room
    assert sorted(content(room)) == [".gitignore", "a.txt", "n/new.py", "src/app.py", "src/lib.py"]
    assert not (room / ".git").exists() and not (room / "pipe").exists()
    assert (room / "a.txt").stat().st_ino == inode  # reused, not made anew
    work.export(base)
    assert (room / "src/app.py").read_text() == "x = 1\n"


def test_a_check_that_writes_to_what_it_judges_is_found_out(work: Workspace) -> None:
    tree = work.tree_of(work.head())
    room = work.export(tree)
    write(room / "coverage.xml")
    assert work.hash_room() == tree
    write(room / "src/app.py", "x = 'cheat'\n")
    assert work.hash_room() != tree
    work.export(tree)
    (room / "a.txt").unlink()
    assert work.hash_room() != tree
    work.export(tree)
    assert work.hash_room() == tree


def test_a_vandalised_room_is_made_whole(work: Workspace, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside/app.py", "the user's\n").parent
    tree = work.tree_of(work.head())
    room = work.export(tree)
    git(room, "init", "-q", "src")
    os.rename(room / "src", room / "moved")
    (room / "src").symlink_to(outside)
    work.export(tree)
    assert work.hash_room() == tree and not (room / "src").is_symlink()
    assert (outside / "app.py").read_text() == "the user's\n"
    store = work.store
    store.grave.discard(room)
    room.symlink_to(outside)
    work.export(tree)
    assert not room.is_symlink() and (outside / "app.py").exists()


def test_several_rooms_and_parts_of_a_tree(work: Workspace) -> None:
    part = work.export(work.head(), work.store.root / "part", paths=("src/**", "!src/lib.py"))
    assert sorted(content(part)) == ["src/app.py"]
    kept = work.export(work.head(), work.store.root / "kept", keep=("cache/**",))
    write(kept / "cache/x")
    write(kept / "gone/x")
    work.export(work.head(), work.store.root / "kept", keep=("cache/**",))
    assert (kept / "cache/x").exists() and not (kept / "gone").exists()


def test_a_room_is_below_the_state_directory(work: Workspace, tmp_path: Path, repo: Path) -> None:
    for place in (tmp_path / "elsewhere", repo):
        with pytest.raises(WorkspaceError, match="not below the state"):
            work.export(work.head(), place)
