"""A development server beside a run: up before anybody works, with a log of its own, gone when the run is over."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.state import State
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

HEALTH = 'import socket; socket.create_connection(("127.0.0.1", {port}), 1).close()'
SERVER = "python3 -u -m http.server {port} --bind 127.0.0.1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


async def played(tmp_path: Path, port: int, settings: str, init: str = "") -> tuple[State, list[bool], Path]:
    folder = tmp_path / "repo"
    sprint = small.make(folder, config=small.CONFIG + f"\n[workspace]\n{settings}")
    if init:
        (folder / ".devteam" / "init.sh").write_text(init)
    project = small.project_of(folder, tmp_path / "state")
    up: list[bool] = []

    def watch(envelopes: Sequence[ev.Envelope], _state: State) -> None:
        up.extend(answers(port) for one in envelopes if isinstance(one.event, ev.TaskStarted))

    async with Session.open(project, sprint, SystemClock(), Options(attended=False, trust="all", speed=1e9)) as session:
        session.runner.watch(watch)
        state = await session.run()
    return state, up, project.state.logs / "server.log"


@pytest.mark.parametrize("by", ["init.sh", "workspace.server"])
async def test_it_is_up_while_there_is_work_and_gone_afterwards(tmp_path: Path, by: str) -> None:
    port = free_port()
    health = f"server_health = '''python3 -c '{HEALTH.format(port=port)}' '''\n"
    line = SERVER.format(port=port)
    if by == "init.sh":
        state, up, log = await played(tmp_path, port, health, init=f"{line} &\n")
    else:
        state, up, log = await played(tmp_path, port, f'server = "{line}"\n{health}')
    assert state.outcome == "done", state.outcome_reason
    assert up == [True, True]
    assert "Serving HTTP" in log.read_text("utf-8")
    assert not answers(port), "it ends with the run"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        pytest.param('server = "echo no such app; exit 3"\nserver_health = "false"\n', "no such app", id="it dies"),
        pytest.param(
            'server = "sleep 60"\nserver_health = "false"\nserver_seconds = 1\n', "not healthy", id="never up"
        ),
    ],
)
async def test_one_that_does_not_come_up_stops_the_run_before_anybody_is_paid(
    tmp_path: Path, settings: str, words: str
) -> None:
    state, up, _log = await played(tmp_path, 1, settings)
    assert (state.calls, up) == (0, [])
    assert words in state.outcome_reason and "server.log" in state.outcome_reason


INSIDE = """
[ladder]
failures = [1]

[[ladder.rungs]]
name = "mine"
agent = "mine"

[agents.mine]
adapter = "command"
argv = ["sh", "-c", '''cat > /dev/null; python3 -c '{connect}' && echo good > word.txt; echo STATUS: complete''']

[task_loop]
review = false

[gates]
fix = "auto"
task = "auto"

[checks]
preset = "none"

[[checks.run]]
name = "with-network"
command = ["python3", "-c", '''{connect}''']
network = true

[[checks.run]]
name = "without-network"
command = ["sh", "-c", '''! python3 -c '{connect}' 2> /dev/null''']

[workspace]
server = "{server}"
server_health = '''python3 -c '{connect}' '''
"""
ONE = """# Reach it

- [ ] 1.1 Write a good word
  scope: word.txt
  verify: grep -q good word.txt
"""


async def test_agents_and_checks_reach_it_from_inside_the_sandbox_where_they_have_a_network(tmp_path: Path) -> None:
    port = free_port()
    config = INSIDE.replace("{server}", SERVER.format(port=port)).replace("{connect}", HEALTH.format(port=port))
    folder = tmp_path / "repo"
    sprint = small.make(folder, plan=ONE, config=config)
    project = small.project_of(folder, tmp_path / "state")
    async with Session.open(project, sprint, SystemClock(), Options(attended=False, trust="all")) as session:
        state = await session.run()
        if session.state.sandbox == "none":
            pytest.skip("nothing is kept from the network here")
    assert state.outcome == "done", (state.outcome_reason, state.tasks["1.1"].reason)
    verdicts = {result.name: result.verdict.value for result in state.tasks["1.1"].checks if result.name != "proof"}
    assert verdicts == {"with-network": "PASS", "without-network": "PASS", "verify-1": "PASS"}
    (told,) = project.state.root.glob("homes/*/1.1/implementer/brief/context.md")
    assert "## Development server" in told.read_text("utf-8") and "not your changes" in told.read_text("utf-8")
