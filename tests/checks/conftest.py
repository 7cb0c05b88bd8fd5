"""Fixtures of the checks' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.ground import GitTrees, TinySpawner, setting


@pytest.fixture
def trees(tmp_path: Path) -> GitTrees:
    return GitTrees(tmp_path / "git")


@pytest.fixture
def spawner() -> TinySpawner:
    return TinySpawner()


@pytest.fixture
def place(tmp_path: Path):
    return setting(tmp_path)
