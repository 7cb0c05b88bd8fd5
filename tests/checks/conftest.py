"""Fixtures of the checks' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.process.spawner import ProcessSpawner
from tests.checks.ground import GitTrees, plain_spawner, setting


@pytest.fixture
def trees(tmp_path: Path) -> GitTrees:
    return GitTrees(tmp_path / "git")


@pytest.fixture
def spawner(tmp_path: Path) -> ProcessSpawner:
    return plain_spawner(tmp_path)


@pytest.fixture
def place(tmp_path: Path):
    return setting(tmp_path)
