from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import make_repo, open_workspace


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo")


@pytest.fixture
def work(repo: Path) -> Workspace:
    """A started sprint on a clean repository."""
    workspace = open_workspace(repo)
    workspace.start_sprint(1_700_000_000.0)
    return workspace
