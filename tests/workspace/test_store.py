"""The state folder's own git directory: taken up whatever a power cut left of it."""

from __future__ import annotations

from pathlib import Path

import pytest

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
