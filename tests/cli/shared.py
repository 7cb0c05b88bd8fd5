"""One finished sprint, shared by every test that only looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.ground import Ground, Told, make, trusted

_MADE: list[tuple[Ground, Told, str]] = []
"""Once a process: pytest makes a session's fixture anew for every conftest that imports it."""


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ground, Told, str]:
    """A whole run with --json: the ground, what it said, and the checkout's fingerprint from before."""
    if not _MADE:
        _MADE.append(_make(tmp_path_factory.mktemp("finished")))
    return _MADE[0]


def _make(root: Path) -> tuple[Ground, Told, str]:
    ground = make(root / "repo", root / "home")
    config = ground.read(".devteam/config.toml")
    ground.write(".devteam/config.toml", f"notify_command = 'cat >> {root}/notified'\n{config}")
    trusted(ground)
    before = ground.fingerprint()
    return ground, ground.run("run", "--unattended", "--json"), before
