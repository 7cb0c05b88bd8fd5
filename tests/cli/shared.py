"""One finished sprint, shared by every test that only looks."""

from __future__ import annotations

import pytest

from tests.cli.ground import Ground, Told, make, trusted


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ground, Told, str]:
    """A whole run with --json: the ground, what it said, and the checkout's fingerprint from before."""
    root = tmp_path_factory.mktemp("finished")
    ground = make(root / "repo", root / "home")
    config = ground.read(".devteam/config.toml")
    ground.write(".devteam/config.toml", f"notify_command = 'cat >> {root}/notified'\n{config}")
    trusted(ground)
    before = ground.fingerprint()
    return ground, ground.run("run", "--unattended", "--json"), before
