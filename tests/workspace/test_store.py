"""The state folder's own git directory: taken up whatever a power cut left of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.perform.workspace import git_service
from engine.perform.workspace.facts import Committed
from tests.workspace.repos import open_workspace, write


@pytest.mark.parametrize("gone", [("HEAD",), ("config",), ("HEAD", "config", "info/attributes"), ("refs/",)])
def test_files_that_never_reached_the_disk_are_written_anew(repo: Path, gone: tuple[str, ...]) -> None:
    """They are there and empty, as after the fault of a real disk; the objects are kept."""
    work = open_workspace(repo)
    work.start_sprint(1.0)
    lane = work.prepare(0)
    write(lane.path / "new.py")
    tree = work.check_scope(0, lane.tree, lane.base).tree
    target = work.store.root / "git"
    for name in gone:
        path = target / name
        if name.endswith("/"):
            path.rename(target / "elsewhere")
        else:
            path.write_bytes(b"")
    again = open_workspace(repo)
    assert "written anew" in " ".join(again.store.said)
    assert isinstance(again.commit("1", tree, lane.base, "impl(t): x", "", "e1", 2.0), Committed)
    assert open_workspace(repo).store.said == []


def test_a_tree_is_on_the_disk_before_anybody_hears_of_it(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its content and its name: the journal may lie on another disk, and outlive what it names."""
    synced: set[int] = set()
    fsync = os.fsync

    def seen(fd: int) -> None:
        synced.add(os.fstat(fd).st_ino)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", seen)
    work = open_workspace(repo)
    work.start_sprint(1.0)
    lane = work.prepare(0)
    write(lane.path / "new.py")
    tree = work.check_scope(0, lane.tree, lane.base).tree
    place = work.store.git_objects / tree[:2] / tree[2:]
    assert {place.stat().st_ino, place.parent.stat().st_ino} <= synced


def test_an_object_without_content_is_none_and_can_be_written_again(repo: Path) -> None:
    """What a power cut leaves of an object that was not synced; git would take it for the object."""
    work = open_workspace(repo)
    work.start_sprint(1.0)
    lane = work.prepare(0)
    write(lane.path / "new.py")
    tree = work.check_scope(0, lane.tree, lane.base).tree
    place = work.store.git_objects / tree[:2] / tree[2:]
    place.chmod(0o644)
    place.write_bytes(b"")
    git_service.close_all()
    again = open_workspace(repo)
    assert "1 object of the engine's own git" in " ".join(again.store.said)
    lane = again.prepare(0)
    write(lane.path / "new.py")
    assert again.check_scope(0, lane.tree, lane.base).tree == tree
    assert isinstance(again.commit("1", tree, lane.base, "impl(t): x", "", "e1", 2.0), Committed)
