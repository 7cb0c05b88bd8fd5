"""A sprint from the command line: its events, its commits, its files, and the user's checkout."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.cli.ground import CONFIG, PLAN, SCENARIO, Ground, Told, make, trusted
from tests.patience import patience

SPRINT = ".devteam/sprints/001-count-things"
BAD = '[[call.edit]]\npath = "src/two.txt"\ncontent = "BAD"'
SLOW = SCENARIO.replace('text = "One is written."', 'output = ["a", "b", "c"]\ndelay = 20.0\ntext = "One."')


def test_json_is_one_event_a_line_from_the_first_to_the_last(finished: tuple[Ground, Told, str]) -> None:
    _, told, _ = finished
    assert told.code == 0, told.err
    kinds = [event["type"] for event in told.events()]
    assert (kinds[0], kinds[-1]) == ("sprint_created", "run_ended")
    numbers = [line["seq"] for line in told.lines()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert told.err == ""


def test_one_commit_per_completed_task(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    log = ground.git("log", "--format=%s", "main..devteam/001-count-things")
    assert log.splitlines() == ["impl(count): T1.2 — Write two", "impl(count): T1.1 — Write one"]


def test_the_users_checkout_is_untouched(finished: tuple[Ground, Told, str]) -> None:
    ground, _, before = finished
    assert ground.fingerprint() == before


def test_only_boxes_and_the_status_change_in_the_plan(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    expected = PLAN.replace("[ ]", "[x]").replace("APPROVED", "COMPLETE")
    assert ground.read(f"{SPRINT}/plan.md") == expected


def test_the_views_are_current(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    features = json.loads(ground.read(".devteam/features.json"))["features"]
    assert [(row["id"], row["passes"], row["iterations"]) for row in features] == [("1.1", True, 1), ("1.2", True, 2)]
    assert "status: done" in ground.read(".devteam/progress.txt")
    assert "[x] 1.2 Write two" in ground.read(".devteam/progress.txt")
    assert "iteration 1: ESCALATE" in ground.read(f"{SPRINT}/learnings/001-task-1.2.md")
    assert "successfully completed in 3 iterations" in ground.read(f"{SPRINT}/report.md")
    assert "completed_tasks: [1.1, 1.2]" in ground.read(f"{SPRINT}/tracking.md")
    assert (ground.folder / ".devteam/init.sh").is_file()


def test_the_human_is_notified_of_the_end(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    (line,) = (ground.folder.parent / "notified").read_text().splitlines()
    said = json.loads(line)
    assert (said["kind"], said["message"]) == ("done", "done: All tasks complete. 2 tasks implemented.")
    assert (said["sprint"], said["repository"]) == ("001-count-things", str(ground.folder))


@pytest.mark.parametrize(
    ("config", "scenario", "code", "outcome"),
    [
        pytest.param("[budget]\nsession_usd = 0.22\n", "", 2, "limit", id="out of budget"),
        pytest.param("[task_loop]\nmax_iterations = 1\n", BAD, 1, "failed", id="a task halts"),
        pytest.param("", 'fault = "auth"', 3, "blocked", id="agent without a login"),
    ],
)
def test_exit_codes(tmp_path: Path, home: Path, config: str, scenario: str, code: int, outcome: str) -> None:
    plan = PLAN.split("- [ ] 1.2")[0]
    step = f'[[call]]\ntask = "1.1"\n{scenario}\n' if scenario else SCENARIO
    ground = trusted(make(tmp_path / "repo", home, config=CONFIG + config, plan=plan, scenario=step))
    told = ground.run("run", "--unattended", "--json")
    assert (told.code, told.events()[-1]["outcome"]) == (code, outcome), told.out[-600:]


def test_a_missing_tool_is_named_before_anybody_is_paid(tmp_path: Path, home: Path) -> None:
    tool = home / ".local" / "bin" / "judge"
    config = CONFIG + f'\n[[checks.run]]\nname = "judge"\ncommand = ["{tool}"]\n'
    ground = trusted(make(tmp_path / "repo", home, config=config, plan=PLAN.split("- [ ] 1.2")[0]))
    told = ground.run("run", "--unattended", "--json")
    end = told.events()[-1]
    assert (told.code, end["outcome"]) == (3, "blocked")
    assert end["reason"].startswith("environment: judge: ") and "install judge, then: devteam run" in end["reason"]
    assert not [event for event in told.events() if event["type"].startswith("agent_")]

    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    again = ground.run("run", "--unattended", "--json")
    assert again.code == 0, again.out[-600:]


NEIGHBOUR = """
[[ladder.rungs]]
name = "one"
agent = "own"
reserve_usd = 0.1

[agents.own]
adapter = "command"
argv = ["sh", "{tools}/agent.sh"]

[[checks.run]]
name = "true"
kind = "tests"
command = "true"
"""


def test_an_agent_that_wants_what_the_sandbox_hides_is_told_which_line_shows_it(tmp_path: Path, home: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "base.sh").write_text("true\n")
    (tools / "agent.sh").write_text(f". {tools}/base.sh\necho done\n")
    config = NEIGHBOUR.replace("{tools}", str(tools))
    ground = trusted(make(tmp_path / "repo", home, config=config, plan=PLAN.split("- [ ] 1.2")[0]))
    told = ground.run("run", "--unattended")
    assert told.code == 3, told.out + told.err
    line = f'mounts = ["{tools}"] under [workspace] in .devteam/config.toml: the sandbox hides base.sh'
    assert line in told.out, told.out
    shown = ground.folder / ".devteam/config.toml"
    shown.write_text(config + f'\n[workspace]\nmounts = ["{tools}"]\n')
    assert "the sandbox hides" not in trusted(ground).run("run", "--unattended", "--json").out


TESTED = """
[gates]
task = "auto"
fix = "auto"

[[ladder.rungs]]
name = "small"
agent = "scripted"
reserve_usd = 0.1

[scripted]
scenario = ".devteam/scenario.toml"

[checks]
preset = "none"

[[checks.run]]
name = "tests"
kind = "tests"
command = ["python3", "-m", "unittest"]
runner = "unittest"
"""


def test_a_test_that_is_red_only_in_a_clone_stops_the_run_before_anybody_is_paid(tmp_path: Path, home: Path) -> None:
    """Never tried by init: the run makes the comparison itself, once."""
    ground = make(tmp_path / "repo", home, config=TESTED, plan=PLAN.split("- [ ] 1.2")[0])
    ground.write(".gitignore", "generated.py\n")
    ground.write("generated.py", "VALUE = 1\n")
    case = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        import generated\n"
    ground.write("test_a.py", case + "    def test_b(self): pass\n")
    trusted(ground)

    def run() -> Told:  # a check's own words may hold a traceback
        engine = ground.start("run", "--unattended", "--json")
        out, err = engine.communicate(timeout=patience(60))
        return Told(engine.returncode, out, err)

    told = run()
    end = told.events()[-1]
    assert (told.code, end["outcome"]) == (3, "blocked"), told.out[-800:]
    assert "passes in your checkout, not in a clone: test_a.T.test_a" in end["reason"]
    assert end["reason"].endswith("devteam doctor --run")
    assert not [event for event in told.events() if event["type"].startswith("agent_")]

    doctor = ground.run("doctor", "--run")
    assert doctor.code == 1
    assert 'workspace.copy = ["generated.py"]' in doctor.out
    ground.write(".devteam/config.toml", TESTED + '\n[workspace]\ncopy = ["generated.py"]\n')
    again = run()
    assert [event for event in again.events() if event["type"].startswith("agent_")], again.out[-800:]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_so_that_it_can_go_on(tmp_path: Path, home: Path, number: signal.Signals) -> None:
    plan = PLAN.split("- [ ] 1.2")[0]
    ground = trusted(make(tmp_path / "repo", home, plan=plan, scenario=SLOW))
    engine = ground.start("run", "--unattended", "--json")
    ground.until(ground.begun)
    engine.send_signal(number)
    out, err = engine.communicate(timeout=patience(20))
    assert engine.returncode == 130, err
    assert json.loads(out.splitlines()[-1])["event"]["outcome"] == "stopped"
    ground.write(".devteam/scenario.toml", SCENARIO)
    assert ground.run("run", "--unattended").code == 0
    assert len(ground.git("log", "--format=%s", "main..devteam/001-count-things").splitlines()) == 1


def test_a_running_engine_takes_commands_and_keeps_a_second_one_out(tmp_path: Path, home: Path) -> None:
    ground = trusted(make(tmp_path / "repo", home, scenario=SLOW))
    engine = ground.start("run", "--unattended", "--json")
    ground.until(ground.begun)
    try:
        second = ground.run("run", "--unattended")
        assert second.code == 4
        assert f"pid {engine.pid}" in second.err
        paused = ground.run("pause")
        assert (paused.code, paused.out) == (0, "paused after the running steps\n")
        assert ground.run("steer", "1.1", "be brief").code == 0
        refused = ground.run("steer", "9.9", "be brief")
        assert refused.code == 4
        assert "9.9" in refused.out
        assert ground.status()["running"] is True
        ground.write(f"{SPRINT}/plan.md", PLAN.replace("Write two", "Write the number two"))
        config = ground.read(".devteam/config.toml")
        ground.write(".devteam/config.toml", config + "[budget]\nsession_usd = 3.0\n")
        ground.until(lambda: ground.status()["budget_usd"] == 3.0, every=0.5)
        log = ground.run("log").out
        assert "the plan was edited" in log
        assert "the configuration was edited" in log
        assert ground.run("stop", "--now").code == 0
        engine.communicate(timeout=patience(20))
    finally:
        if engine.poll() is None:
            engine.kill()
    assert engine.returncode == 130


def test_commands_with_no_engine_are_carried_out_at_once(tmp_path: Path, home: Path) -> None:
    gated = CONFIG.replace('task = "auto"', 'task = "gated"')
    ground = trusted(make(tmp_path / "repo", home, config=gated))
    waiting = ground.run("run", "--json")
    assert waiting.code == 3, waiting.err
    assert waiting.events()[-1]["outcome"] == "blocked"
    assert ground.status()["gates"][0]["gate"] == "G1"
    assert ground.run("answer", "G1", "maybe").code == 4
    assert ground.run("answer", "G7", "yes").code == 4
    answered = ground.run("answer", "G1", "auto")
    assert (answered.code, "devteam run goes on from there" in answered.out) == (0, True)
    assert ground.status()["gates"] == [], "on record now: it can reach no other sprint"
    done = ground.run("run", "--json")
    assert done.code == 0, done.out[-400:]


def test_unattended_asks_nobody(tmp_path: Path, home: Path) -> None:
    gated = CONFIG.replace('"auto"', '"gated"')
    ground = trusted(make(tmp_path / "repo", home, config=gated))
    told = ground.run("run", "--unattended", "--json")
    assert told.code == 0
    assert not [event for event in told.events() if event["type"] == "gate_opened"]
