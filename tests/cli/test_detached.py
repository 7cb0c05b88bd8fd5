"""A run in the background: started from a shell that goes away, found again from any other, ended for good."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.journal import EngineLock
from engine.paths import make_state, state_paths
from tests.cli.ground import CONFIG, PLAN, SCENARIO, Ground, make
from tests.cli.test_terminal import Screen
from tests.patience import until

HANGS = SCENARIO + '\n[[call]]\ntask = "1.1"\nfault = "hang"\n'
"""The last that fits is what the agent does."""
PATIENT = CONFIG + "\n[timeouts]\nimplementation = 86400\nidle = 0\n"
"""Nobody ends the agent that hangs: on a busy machine a test may take longer than any agent is given."""


def engines(ground: Ground) -> list[dict[str, object]]:
    return [json.loads(line) for line in ground.run("ps", "--json").out.splitlines()]


def test_start_look_and_end(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home", config=PATIENT, plan=PLAN, scenario=HANGS)
    assert ground.run("ps").out == "no engine is running\n"
    assert ground.run("kill").out == "no engine is running here\n"
    started = ground.run("run", "--detach", "--trust", "all")
    try:
        assert started.code == 0, started.err
        assert "runs in the background" in started.out
        until(lambda: any(one.get("sprint") == "001-count-things" for one in engines(ground)))
        (one,) = engines(ground)
        assert (one["root"], one.get("viewers", 0), one.get("attended", False)) == (str(ground.folder), 0, False)
        status = json.loads(ground.run("status", "--json").out)
        assert (status["viewers"], status["detached"], status["attended"]) == (0, "continue", False)
        assert "watching  nobody; now: gates.detached = continue" in ground.run("status").out
        again = ground.run("run", "--detach", "--trust", "all")
        assert again.code == 4
        assert "devteam attach" in again.err
        assert ground.run("steer", "1.1", "use argon2").out == "the next attempt is told\n"
    finally:
        ended = ground.run("kill")
    assert ended.out == "stopped\n"
    assert engines(ground) == []
    assert json.loads(ground.run("status", "--json").out)["outcome"] == "stopped"


def test_one_that_starts_is_listed_with_its_repository(tmp_path: Path) -> None:
    """It holds its lock before it listens."""
    ground = make(tmp_path / "repo", tmp_path / "home", config=CONFIG, plan=PLAN, scenario=SCENARIO)
    state = make_state(state_paths(ground.folder, ground.env, ground.home))
    with EngineLock.acquire(state.lock, lambda: 1.0):
        (one,) = engines(ground)
        assert (one["root"], one["silent"]) == (str(ground.folder), "starts, or ends")
        (row,) = ground.run("ps").out.splitlines()[1:]
    assert row.split() == [str(os.getpid()), "starts,", "or", "ends", str(ground.folder)]


def test_what_keeps_it_from_starting_is_said_whole(tmp_path: Path) -> None:
    """As it is said to who starts it in the foreground: every line, and what to type."""
    ground = make(tmp_path / "repo", tmp_path / "home", config=CONFIG, plan=PLAN, scenario=SCENARIO)
    near, far = ground.run("run"), ground.run("run", "--detach")
    assert (far.code, far.out) == (near.code, "")
    assert far.err == near.err.replace("devteam: ", "devteam: the engine did not start: ", 1)
    assert "check shape: sh check.sh" in far.err and "--trust" in far.err


def test_who_comes_back_is_told_what_nobody_saw(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home", config=CONFIG, plan=PLAN, scenario=SCENARIO)
    assert ground.run("run", "--unattended", "--trust", "all").code == 0
    assert ground.status()["completed_unwatched"] == ["1.1", "1.2"]
    assert (
        "✔ 1.1   Write one  (completed while nobody looked; devteam retry opens it again)" in ground.run("status").out
    )
    screen = Screen(ground, "attach")  # the greeting
    try:
        screen.until("completed while nobody looked: 1.1, 1.2")
        screen.type("q")
    finally:
        screen.close()
    assert ground.run("retry", "1.2", "say it louder").code == 0
    assert ground.status()["completed_unwatched"] == ["1.1"], "it is open again"


@pytest.mark.parametrize("started", ["in a login session", "from cron"])
def test_it_is_found_from_another_environment(tmp_path: Path, started: str) -> None:
    """A state path too long for a socket; a desktop's runtime folder, and a state folder of one's own, on one side."""
    (runtime := tmp_path / "run").mkdir(mode=0o700)
    login = {"XDG_RUNTIME_DIR": str(runtime), "XDG_STATE_HOME": str(tmp_path / "state")}
    home = tmp_path / ("home-of-a-user-with-a-long-name-" * 3)
    ground = make(tmp_path / "repo", home, config=PATIENT, plan=PLAN, scenario=HANGS)
    asked, ground.env = (ground.env, login) if started == "in a login session" else (login, ground.env)
    try:
        told = ground.run("run", "--detach", "--trust", "all")
        assert told.code == 0, told.err
        ground.env = asked
        until(lambda: any(one.get("sprint") == "001-count-things" for one in engines(ground)))
        assert ground.status()["viewers"] == 0
        again = ground.run("run", "--unattended", "--trust", "all")
        assert again.code == 4 and "Another engine works on this repository" in again.err
        assert ground.run("steer", "1.1", "use argon2").out == "the next attempt is told\n"
        screen = Screen(ground, "attach")
        try:
            screen.until("Write one")
            assert ground.status()["viewers"] == 1
            screen.type("q")
        finally:
            screen.close()
    finally:
        ended = ground.run("kill")
    assert ended.out == "stopped\n"
    assert not list(runtime.iterdir())
