"""What only the Agent Client Protocol has: costs that come late or in parts, two names of a model, failed turns that
are answered like good ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Finished, Output
from tests.agents.conftest import NOW, MakeCall
from tests.agents.replay import FIXTURES, recordings, replay, stream_for

OWN = recordings(FIXTURES)


def again(name: str, program: str, **more: object) -> tuple[AgentResult, list[Output]]:
    agent, stdout, stderr, code = OWN[name]
    return replay(agent, stdout, stderr, code, program=program, **more)


# ── caps ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("what", ["late", "together"])
@pytest.mark.parametrize(("cap", "kind"), [(0.5, ResultKind.BUDGET), (1.0, ResultKind.OK)])
async def test_a_cost_told_with_or_after_the_answer_counts(
    what: str,
    cap: float,
    kind: ResultKind,
    fake_programs: dict[str, str],
    spawner: ProcessSpawner,
    make_call: MakeCall,
    tmp_path: Path,
) -> None:
    named = tmp_path / "opencode"  # known to tell its cost, so it is waited for
    named.symlink_to(fake_programs["acp"])
    made = adapter("mine", AgentConfig(adapter="acp", argv=(str(named),)), clock=lambda: NOW)
    result = await made.call(make_call(f"DO: {what}", max_usd=cap), spawner, lambda output: None)
    assert (result.kind, result.cost_usd) == (kind, 0.7)
    assert ("budget of $0.50" in result.error) == (kind is ResultKind.BUDGET)


async def test_a_cost_that_nobody_knows_to_come_is_not_waited_for(
    fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> None:
    made = adapter("mine", AgentConfig(adapter="acp", argv=(fake_programs["acp"],)), clock=lambda: NOW)
    result = await made.call(make_call("DO: late"), spawner, lambda output: None)
    assert (result.kind, result.cost_usd) == (ResultKind.OK, None), "it would have come two seconds later"


# ── accounts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_update_about_the_context_says_nothing_of_the_cost() -> None:
    result, _ = again("claude-agent-acp-ok", "claude-agent-acp")
    assert (result.cost_usd, result.cost_is_estimate) == (pytest.approx(0.0012), False)


def test_a_cost_that_is_told_wrongly_is_not_known() -> None:
    agent, stdout, stderr, code = OWN["claude-agent-acp-ok"]
    spoilt = stdout.replace(b'"amount":0.0012000000000000001', b'"amount":"0.0012"')
    assert spoilt != stdout
    assert replay(agent, spoilt, stderr, code, program="claude")[0].cost_usd is None


@pytest.mark.parametrize("session", ["", "s1"])
def test_whole_turns_are_priced_where_no_cost_is_told(session: str) -> None:
    result, _ = again("codex-acp-ok", "codex-acp", model="gpt-5.5", session=session)
    assert result.tokens == Tokens(input=200, output=40)
    assert result.cost_is_estimate
    assert result.cost_usd == pytest.approx(0.0022)


def test_a_turn_that_cost_more_than_its_call_may_is_seen_when_it_is_counted() -> None:
    agent, stdout, _, _ = OWN["codex-acp-ok"]
    stream = stream_for(agent, program="codex-acp", model="gpt-5.5", max_usd=0.002)
    for line in stdout.split(b"\n"):
        stream.feed(line)
    assert stream.stop is ResultKind.BUDGET


def test_the_last_request_alone_is_not_priced() -> None:
    agent, stdout, stderr, code = OWN["opencode-ok"]
    silent = stdout.replace(b'"cost":', b'"cots":')
    result, _ = replay(agent, silent, stderr, code, program="opencode", model="gpt-5.5")
    assert (result.cost_usd, result.tokens.total()) == (None, 120)


def test_requests_that_are_told_one_by_one_are_added_up() -> None:
    result, _ = again("qwen-ok", "qwen", model="gpt-5.5")
    assert (result.tokens, result.cost_is_estimate) == (Tokens(input=200, output=40), True)
    assert result.cost_usd == pytest.approx(0.0022)


def test_requests_that_are_told_one_by_one_end_the_call_at_its_budget() -> None:
    _, stdout, _, _ = OWN["qwen-ok"]
    told = [line for line in stdout.split(b"\n") if b'"_meta":{"usage"' in line]
    lavish = [line.replace(b'"inputTokens":100', b'"inputTokens":100000') for line in told]
    result, _ = replay(
        "acp", b"\n".join(lavish[:1]), b"", None, "stopped", model="gpt-5.5", max_usd=0.1, program="qwen"
    )
    assert result.kind is ResultKind.BUDGET


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        pytest.param({"inputTokens": 100, "outputTokens": 20}, (100, 20, 0), id="plain"),
        pytest.param(
            {"inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 60, "totalTokens": 120},
            (40, 20, 60),
            id="cached among the input",
        ),
        pytest.param(
            {"inputTokens": 40, "outputTokens": 20, "cachedReadTokens": 60, "totalTokens": 120},
            (40, 20, 60),
            id="cached beside the input",
        ),
        pytest.param(
            {"inputTokens": 100, "outputTokens": 20, "thoughtTokens": 5, "totalTokens": 120},
            (100, 20, 0),
            id="thoughts among the output",
        ),
        pytest.param(
            {"inputTokens": 100, "outputTokens": 20, "thoughtTokens": 5, "totalTokens": 125},
            (100, 25, 0),
            id="thoughts beside the output",
        ),
        pytest.param({"inputTokens": 100, "outputTokens": 20, "totalTokens": 7}, (100, 20, 0), id="a total that lies"),
    ],
)
def test_tokens_are_counted_once(usage: dict[str, int], tokens: tuple[int, int, int]) -> None:
    answer = json.dumps({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn", "usage": usage}})
    result, _ = replay("acp", answer.encode(), program="codex-acp")
    assert (result.tokens.input, result.tokens.output, result.tokens.cache_read) == tokens


# ── failed turns ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["rate", "overloaded", "model", "context", "network"])
@pytest.mark.parametrize("lost", [b"systemError", b'"token_count":null'], ids=["status lost", "count lost"])
def test_a_failed_turn_that_is_answered_like_a_good_one_is_no_success(kind: str, lost: bytes) -> None:
    """codex-acp ends a failed turn with end_turn and the error as text: two signs tell it, and either is enough."""
    agent, stdout, stderr, code = OWN[f"codex-acp-{kind}"]
    whole, outputs = replay(agent, stdout, stderr, code, program="codex-acp")
    assert (whole.kind.value, whole.text) == (kind, "")
    assert whole.error
    assert OutputKind.ERROR in {output.kind for output in outputs}
    assert lost in stdout
    result, _ = replay(agent, stdout.replace(lost, b'"x":1' if b":" in lost else b"x"), stderr, code)
    assert result.kind is not ResultKind.OK


def test_a_program_that_waits_for_its_provider_is_ended() -> None:
    waiting = b"[qwen-code] Waiting for API capacity... attempt 6, retry in 18s"
    stream = stream_for("acp", program="qwen")
    (said,) = stream.feed_error(waiting)
    assert (stream.stop, said.kind) == (ResultKind.RATE, OutputKind.RETRY)
    result = stream.finish(Finished(reason="stopped", exit_code=None, seconds=80.0))
    assert (result.kind, result.error) == (ResultKind.RATE, waiting.decode())


def test_a_usage_limit_of_codex_names_its_reset() -> None:
    agent, stdout, stderr, code = OWN["codex-acp-rate"]
    words = "You’ve hit your usage limit. Upgrade to Pro or try again in 2 hours.".encode()
    told = stdout.replace(b"exceeded retry limit, last status: 429 Too Many Requests", words)
    result, _ = replay(agent, told, stderr, code, program="codex-acp")
    assert (result.kind, result.reset_at) == (ResultKind.LIMIT, pytest.approx(NOW + 7200))


# ── names ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_may_be_called_by_its_name(
    fake_programs: dict[str, str], spawner: ProcessSpawner, make_call: MakeCall
) -> None:
    made = adapter("mine", AgentConfig(adapter="acp", argv=(fake_programs["acp"],)), clock=lambda: NOW)
    result = await made.call(make_call(model="m3"), spawner, lambda output: None)
    assert (result.kind, result.model) == (ResultKind.OK, "m3"), result.error


@pytest.mark.parametrize(
    ("name", "said"),
    [("opencode-ok", "/place/checkout/hello.txt"), ("claude-agent-acp-ok", "Write hello.txt")],
)
def test_a_tool_is_shown_with_what_it_is_about(name: str, said: str) -> None:
    """It is announced before its input is known."""
    _, outputs = again(name, "acp")
    changes = [output for output in outputs if output.kind is OutputKind.FILE_CHANGE]
    assert said in (changes[-1].path, changes[-1].text)
    assert len(changes) <= 3, "each news of it once"
