"""A session behind the stop hook, by the hook's own stdin: its work is a sprint like any other, judged as such."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.ground import Ground, make, trusted

STDIN = {
    "session_id": "7ff94281-8d9f-4075-9668-27df69d3f5f1",
    "transcript_path": "/nowhere/session.jsonl",
    "prompt_id": "p",
    "permission_mode": "default",
    "effort": {"level": "medium"},
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "Done.\nSTATUS: complete\nISSUES: none",
    "background_tasks": [],
    "session_crons": [],
}
"""As Claude Code 2.1.325 sends it."""


def hook(ground: Ground, verb: str, stdin: str | dict[str, Any], **env: str) -> Any:
    """`devteam hook VERB` as the program runs it; what it answers, None: nothing."""
    given = stdin if isinstance(stdin, str) else json.dumps({"cwd": str(ground.folder), **stdin})
    before = dict(ground.env)
    ground.env.update(env)
    done = ground.run("hook", verb, stdin=given, cwd=Path("/"))
    ground.env = before
    assert done.code == 0, done.err
    return json.loads(done.out) if done.out else None


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    made = trusted(make(tmp_path / "repo", tmp_path / "home"))
    made.env["CLAUDE_CODE_SESSION_ID"] = str(STDIN["session_id"])
    return made


def test_a_whole_sprint_by_a_session(ground: Ground) -> None:
    begun = ground.run("hook", "begin")
    assert begun.code == 0, begun.err
    assert "## Task 1.1: Write one" in begun.out and "there is a one" in begun.out
    marker = json.loads(ground.read(".devteam/autonomous-mode"))
    assert (marker["sprint"], marker["session"]) == ("001-count-things", STDIN["session_id"])
    assert "autonomous-mode" not in ground.git("status", "--short", "--ignored=no", "-uall")

    assert hook(ground, "stop", {**STDIN, "session_id": "another"}) is None
    assert hook(ground, "stop", STDIN, DEVTEAM_RUN_ID="x") is None, "an agent of the engine's own"
    ground.write("src/one.txt", "one\n")
    went_on = hook(ground, "stop", STDIN)
    assert went_on["decision"] == "block" and "1 of 2 tasks are complete" in went_on["reason"]
    assert "## Task 1.2" in went_on["reason"]

    ground.write("src/two.txt", "BAD\n")
    failed = hook(ground, "stop", {**STDIN, "stop_hook_active": True})
    assert failed["decision"] == "block"
    assert "src/two.txt is BAD" in failed["reason"] and "shape: FAIL" in failed["reason"], "from the evidence"
    again = hook(ground, "stop", {**STDIN, "stop_hook_active": True})
    assert again["decision"] == "block" and "nothing was judged anew" in again["reason"]
    idle = hook(ground, "stop", {**STDIN, "stop_hook_active": True})
    assert "decision" not in idle and "not complete" in idle["systemMessage"]

    ground.write("src/two.txt", "two\n")
    done = hook(ground, "stop", STDIN)
    assert "decision" not in done and "2 of 2 tasks are complete and verified" in done["systemMessage"]
    assert not (ground.folder / ".devteam/autonomous-mode").exists()
    assert hook(ground, "stop", STDIN) is None
    assert ground.status()["outcome"] == "done"
    evidence = ground.run("evidence", "1.2").out
    assert "FAIL" in evidence and "PASS" in evidence

    landed = ground.run("land")
    assert landed.code == 0, landed.out
    assert ground.git("log", "--format=%s", "-2") == "impl(count): T1.2 — Write two\nimpl(count): T1.1 — Write one"
    assert "src/" not in ground.git("status", "--short")


def test_it_never_says_complete_of_what_it_cannot_read(ground: Ground) -> None:
    assert ground.run("hook", "begin").code == 0
    ground.write("src/one.txt", "one\n")
    db, marker = ground.folder / ".devteam/devteam.db", ground.folder / ".devteam/autonomous-mode"
    kept = marker.read_text()
    for broken in ("", "{", '{"sprint": 3}', "\x00" * 50):
        marker.write_text(broken)
        said = hook(ground, "stop", STDIN)
        assert "decision" not in said and "NOT called complete" in said["systemMessage"]
    marker.write_text(kept)
    ground.write(".devteam/config.toml", "lanes = [\n")
    said = hook(ground, "stop", STDIN)
    assert "decision" not in said and "NOT called complete" in said["systemMessage"] and "config.toml" in str(said)
    assert db.is_file() and marker.read_text() == kept
    for nothing in ("", "[]", "garbage", "[" * 100_000, '{"cwd": 3}', '{"cwd": "/nowhere/at/all"}'):
        assert hook(ground, "stop", nothing) is None
        assert hook(ground, "guard", nothing) is None


def test_a_second_session_does_not_take_it_over(ground: Ground) -> None:
    assert ground.run("hook", "begin", "--max-iterations", "1").code == 0
    ground.env["CLAUDE_CODE_SESSION_ID"] = "another"
    refused = ground.run("hook", "begin")
    assert refused.code == 4 and "devteam hook end" in refused.err
    ground.env["CLAUDE_CODE_SESSION_ID"] = str(STDIN["session_id"])
    ground.write("src/one.txt", "one\n")
    over = hook(ground, "stop", STDIN)
    assert "decision" not in over and "the most iterations (1)" in over["systemMessage"]
    assert ground.run("hook", "end").out == "autonomous mode is off\n"
    assert ground.run("hook", "end").out == "autonomous mode was not on\n"
