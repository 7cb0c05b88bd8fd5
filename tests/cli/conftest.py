"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shared import finished as finished


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
