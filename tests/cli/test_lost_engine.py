"""The dashboard of a sprint whose engine was killed: it says so, and one key starts an engine again."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.ground import SCENARIO, make, trusted
from tests.cli.test_detached import HANGS, PATIENT, engines
from tests.cli.test_terminal import Screen
from tests.patience import until


def test_one_key_starts_it_again(tmp_path: Path) -> None:
    ground = trusted(make(tmp_path / "repo", tmp_path / "home", config=PATIENT, scenario=HANGS))
    screen = Screen(ground, "tui")
    try:
        screen.until("Write one")
        until(lambda: ground.begun() and engines(ground))
        (engine,) = engines(ground)
        subprocess.run(["kill", "-9", str(engine["pid"])], check=True)
        screen.until("engine lost")
        screen.until("space or devteam run takes it up again; nothing is lost")
        ground.write(".devteam/scenario.toml", SCENARIO)
        screen.type(" ")
        screen.until("All tasks complete", 60.0)
        screen.type("q")
    finally:
        screen.close()
    assert ground.status()["outcome"] == "done"
