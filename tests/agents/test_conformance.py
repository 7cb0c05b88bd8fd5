"""One suite for every adapter: start, stream, finish, fail in each kind, resume, cancel, kill, caps, garbage."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Role
from engine.perform.agents.headless import prompt_path
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.reaper import find_orphans
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Adapter, AgentCall, Output
from tests.agents.conftest import NOW, MakeCall
from tests.agents.fake_clis.behaviour import FAILURES, RESET
from tests.agents.scripted_stand import Scripted
from tests.patience import patience, slowed

FIELDS = {
    "text": "part.text",
    "tool": "tool.name",
    "path": "tool.path",
    "session": "sid",
    "cost": "cost",
    "input_tokens": "usage.in",
    "output_tokens": "usage.out",
    "error": "error.message",
    "status": "error.status",
    "done": "kind=end",
}
AGENTS = ("claude", "codex", "gemini", "acp", "command", "scripted")
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["verdict", "n"],
    "additionalProperties": False,
}


@dataclass
class Stand:
    """One adapter, set up."""

    name: str
    adapter: Adapter
    spawner: ProcessSpawner
    make_call: MakeCall
    outputs: list[Output]

    async def run(self, call: AgentCall) -> AgentResult:
        return await self.adapter.call(call, self.spawner, self.outputs.append)

    def kinds(self) -> set[OutputKind]:
        return {output.kind for output in self.outputs}


def configured(name: str, programs: dict[str, str]) -> AgentConfig:
    match name:
        case "acp":
            return AgentConfig(adapter="acp", argv=(programs["acp"],))
        case "command":
            return AgentConfig(
                argv=(programs["command"],), resume=("--session", "{session}"), output="jsonl", fields=FIELDS
            )
        case _:
            return AgentConfig(program=programs[name])


@pytest.fixture(params=AGENTS)
def stand(
    request: pytest.FixtureRequest, fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> Stand:
    name = request.param
    if name == "scripted":
        return Stand(name=name, adapter=Scripted(), spawner=spawner, make_call=make_call, outputs=[])
    made = adapter(name, configured(name, fake_programs), clock=lambda: NOW)
    return Stand(name=name, adapter=made, spawner=spawner, make_call=make_call, outputs=[])


async def test_a_task_is_done(stand: Stand, tmp_path: Path) -> None:
    result = await stand.run(stand.make_call())
    assert (result.kind, result.error) == (ResultKind.OK, "")
    assert (tmp_path / "clone" / "made.txt").read_text() == "made by an agent\n"
    assert not (tmp_path / "checkout" / "made.txt").exists()
    assert (result.claim, result.claim_text) == ("complete", "")
    assert result.session
    assert "Made it." in result.text
    assert OutputKind.TEXT in stand.kinds()
    assert stand.kinds() & {OutputKind.FILE_CHANGE, OutputKind.TOOL_CALL}
    if stand.name not in ("codex", "gemini"):  # their model m1 has no price
        assert result.cost_usd
        assert result.cost_usd > 0
    log = Path(result.log)
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.read_bytes().count(b"\n") >= 3
    assert "DO: ok" in prompt_path(log).read_text()


@pytest.mark.parametrize("kind", FAILURES)
async def test_every_failure_has_its_kind(stand: Stand, kind: str) -> None:
    result = await stand.run(stand.make_call(f"DO: {kind}"))
    expected = ResultKind.RATE if (stand.name, kind) == ("command", "limit") else ResultKind(kind)
    assert result.kind is expected, result.error
    assert result.error
    if kind in ("auth", "billing", "model"):
        assert result.hint
    if kind == "limit" and stand.name in ("claude", "codex"):
        assert result.reset_at == pytest.approx(RESET, abs=60)


async def test_blocked_is_heard(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: blocked"))
    assert (result.kind, result.claim, result.claim_text) == (ResultKind.OK, "blocked", "no database to talk to")


async def test_a_session_is_resumed(stand: Stand) -> None:
    first = await stand.run(stand.make_call())
    second = await stand.run(stand.make_call("DO: resume", session=first.session))
    assert second.kind is ResultKind.OK
    assert second.session == first.session
    assert "OLD WORDS" not in second.text
    if stand.name == "claude":  # the total of the session is 0.003 by then: only this run's share counts
        assert second.cost_usd == pytest.approx(0.001)
    if stand.name == "codex":  # cumulative 400/80 after two runs of two requests
        assert (second.tokens.input, second.tokens.output) == (200, 40)


async def test_a_lost_session_is_begun_afresh(stand: Stand) -> None:
    if stand.name in ("command", "scripted"):
        pytest.skip("a template or a scenario has no way to say that a session is gone")
    result = await stand.run(stand.make_call(session="gone"))
    assert result.kind is ResultKind.OK
    assert result.session not in ("", "gone")
    assert any("gone" in o.text for o in stand.outputs if o.kind is OutputKind.RETRY)


async def test_idle_ends_the_call(stand: Stand) -> None:
    # Hanging lasts two minutes and then ends well: only the idle timer can make this a timeout.
    result = await stand.run(stand.make_call("DO: hang", idle_timeout=slowed(1.0), timeout=patience(600)))
    assert result.kind is ResultKind.TIMEOUT
    assert result.cost_usd is None


async def test_time_ends_the_call(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: hang", timeout=slowed(1.5)))
    assert result.kind is ResultKind.TIMEOUT


async def test_turns_are_capped(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: loop", max_turns=3))
    assert result.kind is ResultKind.TURNS
    assert sum(o.kind in (OutputKind.TOOL_CALL, OutputKind.FILE_CHANGE) for o in stand.outputs) < 500, (
        "it was let run on"
    )


async def test_money_is_capped(stand: Stand) -> None:
    if stand.name in ("command", "scripted"):
        pytest.skip("a template or a scenario names a cost, but only at the end")
    model = {"codex": "gpt-5.5", "gemini": "gemini-2.5-pro"}.get(stand.name, "m1")
    cap = {"codex": 0.005, "gemini": 0.3}.get(stand.name, 0.035)
    result = await stand.run(stand.make_call("DO: loop", model=model, max_usd=cap))
    assert result.kind is ResultKind.BUDGET, result.error
    assert sum(o.kind in (OutputKind.TOOL_CALL, OutputKind.FILE_CHANGE) for o in stand.outputs) < 500, (
        "it was let run on"
    )


@pytest.mark.parametrize("what", ["crash", "noresult"])
async def test_no_end_is_no_success(stand: Stand, what: str) -> None:
    result = await stand.run(stand.make_call(f"DO: {what}"))
    assert result.kind in (ResultKind.CRASH, ResultKind.NO_RESULT)
    assert result.cost_usd is None
    assert result.text == "" or stand.name == "command"


async def test_garbage_is_shown_and_survived(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: garbage"))
    assert result.kind is ResultKind.OK
    assert OutputKind.RAW in stand.kinds()
    assert max(len(output.text) for output in stand.outputs) < 5_000


async def test_lines_of_many_megabytes_are_read(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: huge"))
    assert (result.kind, result.claim) == (ResultKind.OK, "complete"), result.error
    assert max(len(output.text) for output in stand.outputs) < 5_000


async def test_a_double_end_counts_once(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: twice"))
    assert result.kind is ResultKind.OK
    assert result.tokens.total() in (0, 120)


async def test_prose_is_never_searched_for_limits(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: prose"))
    assert (result.kind, result.reset_at) == (ResultKind.OK, None)


async def test_a_structured_answer_is_kept(stand: Stand) -> None:
    result = await stand.run(stand.make_call("DO: json-good", role=Role.REVIEWER, schema=SCHEMA))
    assert (result.kind, result.structured) == (ResultKind.OK, {"verdict": "pass", "n": 3})


async def test_a_broken_answer_is_corrected_once(stand: Stand) -> None:
    if stand.name == "scripted":
        pytest.skip("a scenario answers as it is written")
    plain = await stand.run(stand.make_call("DO: json-good", role=Role.REVIEWER, schema=SCHEMA))
    result = await stand.run(stand.make_call("DO: json-broken", role=Role.REVIEWER, schema=SCHEMA))
    assert (result.kind, result.structured) == (ResultKind.OK, {"verdict": "pass", "n": 3})
    assert OutputKind.RETRY in stand.kinds()
    if plain.cost_usd:
        assert result.cost_usd == pytest.approx(2 * plain.cost_usd)
    prompts = prompt_path(Path(result.log)).read_text()
    assert "answer.n is missing" in prompts or "answer.verdict must be of type string" in prompts


async def test_an_answer_that_stays_broken_is_no_result(stand: Stand) -> None:
    if stand.name == "scripted":
        pytest.skip("a scenario answers as it is written")
    call = stand.make_call(
        "DO: json-never", role=Role.REVIEWER, schema={**SCHEMA, "properties": {"DO: json-never": {}}}
    )
    result = await stand.run(call)
    assert (result.kind, result.structured) == (ResultKind.NO_RESULT, None)
    assert "schema" in result.error


async def test_cancel_ends_everything(stand: Stand, tmp_path: Path) -> None:
    if stand.name == "scripted":
        await _cancelled_scenario(stand)
        return
    orphan = tmp_path / "orphan.pid"
    call = stand.make_call("DO: orphan")
    call = msgspec.structs.replace(call, env={**call.env, "ORPHAN_FILE": str(orphan)})
    task = asyncio.create_task(stand.run(call))
    for _ in range(200):
        await asyncio.sleep(0.05)
        if orphan.exists() and orphan.read_text():
            break
    pid = int(orphan.read_text())
    assert Path(f"/proc/{pid}").exists()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pid)


async def _cancelled_scenario(stand: Stand) -> None:
    """Its process ignores SIGTERM, and is found by the tag that every process of a run has."""
    run_id = stand.spawner._run_id
    task = asyncio.create_task(stand.run(stand.make_call("DO: orphan")))
    async with asyncio.timeout(patience(20)):
        while not any(output.text == "started" for output in stand.outputs):
            await asyncio.sleep(0.05)
    assert find_orphans(run_id)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not find_orphans(run_id)


def alive(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/exe") != ""
    except OSError:
        return False


async def test_a_missing_program_is_said(spawner: ProcessSpawner, make_call: MakeCall) -> None:
    made = adapter("claude", AgentConfig(program="no-such-claude"), clock=lambda: NOW)
    result = await made.call(make_call(), spawner, lambda output: None)
    assert result.kind is ResultKind.NOT_STARTED
    assert "no-such-claude" in result.error
    assert "devteam agents" in result.hint


async def test_secrets_do_not_reach_the_raw_log(
    fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> None:
    echo = AgentConfig(argv=("/bin/sh", "-c", 'echo "key is $CODEX_API_KEY"'))
    result = await adapter("leaky", echo, clock=lambda: NOW).call(make_call(), spawner, lambda output: None)
    assert b"dummy-key-0123" not in Path(result.log).read_bytes()
    assert b"key is" in Path(result.log).read_bytes()


@pytest.mark.parametrize("agent", ["claude", "codex"])
async def test_a_missing_permission_is_named(
    agent: str, fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> None:
    made = adapter(agent, configured(agent, fake_programs), clock=lambda: NOW)
    result = await made.call(make_call("DO: denied"), spawner, lambda output: None)
    assert result.kind is ResultKind.DENIED
    assert result.denials
    assert all(name in result.hint and name in result.error for name in result.denials)


@pytest.mark.parametrize(("read_only", "answer"), [(False, "yes"), (True, "no")])
async def test_permission_requests_are_answered_by_policy(
    read_only: bool, answer: str, fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> None:
    made = adapter("acp", configured("acp", fake_programs), clock=lambda: NOW)
    call = make_call("DO: denied", read_only=read_only)
    result = await made.call(call, spawner, lambda output: None)
    assert (result.kind, result.text) == (ResultKind.OK, f"The answer was {answer}.")
    assert (call.clone / "made.txt").exists() is not read_only


async def test_a_model_that_is_not_offered_is_not_replaced(
    fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall, tmp_path: Path
) -> None:
    made = adapter("acp", configured("acp", fake_programs), clock=lambda: NOW)
    result = await made.call(make_call(model="m9"), spawner, lambda output: None)
    assert result.kind is ResultKind.MODEL
    assert "m1, m2" in result.error
    assert not (tmp_path / "clone" / "made.txt").exists()  # it was asked nothing


@pytest.mark.parametrize("by_file", [False, True])
async def test_a_template_is_filled(
    by_file: bool, fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> None:
    shown = 'echo "model={model} cwd=$(pwd) args=$*"; cat '
    argv = ("sh", "-c", shown + ("{prompt_file}" if by_file else "-"), "sh", "{cwd}", "{unknown}")
    config = AgentConfig(argv=argv, resume=("--session={session}",))
    call = make_call("the prompt with {model} in it", session="s7", role=Role.ANSWERER)
    result = await adapter("mine", config, clock=lambda: NOW).call(call, spawner, lambda output: None)
    clone = str(call.clone)
    assert result.text == (
        f"model=m1 cwd={clone} args={clone} {{unknown}} --session=s7\nthe prompt with {{model}} in it"
    )
    assert result.cost_usd is None
