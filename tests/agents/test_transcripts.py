"""Every recorded stream, from the handbook and from our own fixtures, is read as what it was."""

from __future__ import annotations

import json

import pytest

from engine.core.activity import OutputKind
from engine.core.model import ResultKind
from tests.agents.replay import FIXTURES, handbook, recordings, replay

HANDBOOK = handbook()
TRANSCRIPTS = recordings(HANDBOOK) if HANDBOOK else {}
OWN = recordings(FIXTURES) if (FIXTURES / "index.json").exists() else {}
NOT_READ = ("aider", "mini", "copilot")
"""Programs whose text the command adapter passes on as it is, or which are reached by ACP."""

EXPECTED = {
    "claude-allowedtools": "denied",
    "claude-badflag": "crash",
    "claude-budget": "budget",
    "claude-cum-new-budget": "budget",
    "claude-cum-old-budget": "budget",
    "claude-err-401": "auth",
    "claude-err-403": "auth",
    "claude-err-404model": "model",
    "claude-err-429": "rate",
    "claude-err-500": "overloaded",
    "claude-err-529": "overloaded",
    "claude-err-connrefused": "network",
    "claude-err-credit": "billing",
    "claude-err-ctx": "context",
    "claude-err-drop": "network",
    "claude-err-hang-timeout": "network",
    "claude-err-limit-unified-apikey": "rate",
    "claude-err-noauth": "auth",
    "claude-fallback": "overloaded",
    "claude-hook-pretool-deny": "denied",
    "claude-hook-pretool-deny2": "denied",
    "claude-maxturns": "turns",
    "claude-noprompt": "crash",
    "claude-old-2.1.197-429": "rate",
    "claude-perm-default-denied": "denied",
    "claude-resume-missing": "crash",
    "claude-sessionid-reused": "crash",
    "claude-skipperm-root": "crash",
    "claude-stdin-text": "no_result",
    "claude-stream-noverbose": "crash",
    "codex-err-401": "auth",
    "codex-err-404model": "model",
    "codex-err-429": "rate",
    "codex-err-429-quota": "billing",
    "codex-err-500": "overloaded",
    "codex-err-503": "overloaded",
    "codex-err-ctx400": "context",
    "codex-err-drop": "network",
    "codex-err-stream-quota": "billing",
    "codex-err-stream-rate": "rate",
    "codex-noauth": "auth",
    "codex-nogit-nosb": "crash",
    "codex-resume-missing": "crash",
    "codex-text": "no_result",
    "gemini-default-approval": "no_result",
    "gemini-json": "no_result",
    "gemini-err-429": "rate",
    "gemini-err-429-retry": "rate",
    "gemini-err-503": "overloaded",
    "opencode-deny": "no_result",
    "opencode-err-401": "auth",
    "opencode-err-429": "rate",
    "qwen-err-429": "crash",
    "qwen-maxturns": "turns",
}
"""What is not named here is ok. Plain text or one JSON document is not what we ask for: no result."""


@pytest.mark.skipif(not HANDBOOK, reason="the handbook's transcripts (../shared/handbook/transcripts) are not here")
@pytest.mark.parametrize("name", [name for name in TRANSCRIPTS if not name.startswith(NOT_READ)])
def test_handbook_transcript(name: str) -> None:
    agent, stdout, stderr, code = TRANSCRIPTS[name]
    result, outputs = replay(agent, stdout, stderr, code)
    assert result.kind.value == EXPECTED.get(name, "ok"), result.error
    assert (result.error == "") == (result.kind is ResultKind.OK)
    if result.kind in (ResultKind.AUTH, ResultKind.BILLING, ResultKind.MODEL, ResultKind.DENIED):
        assert result.hint
    if agent in ("claude", "codex", "gemini") and result.kind is ResultKind.OK:
        assert result.session
        assert not any(output.kind is OutputKind.ERROR and "is_error" in output.text for output in outputs)


@pytest.mark.skipif(not HANDBOOK, reason="the handbook's transcripts (../shared/handbook/transcripts) are not here")
def test_every_expected_transcript_is_there() -> None:
    assert set(EXPECTED) <= set(TRANSCRIPTS)


@pytest.mark.parametrize(
    ("name", "session", "cost"),
    [
        pytest.param("claude-cum-new-0", "", 0.0008, id="new version, first run"),
        pytest.param("claude-cum-new-2", "s", 0.0008, id="new version, third run of a session: not the total 0.0024"),
        pytest.param("claude-cum-new-budget", "s", 0.0016, id="new version, resumed and capped"),
        pytest.param("claude-cum-old-2", "s", 0.001, id="old version counts per run"),
        pytest.param("claude-hook-subagent", "", 0.0032, id="subagents are counted"),
        pytest.param("claude-streaminput", "", 0.0016, id="two results of one process"),
    ],
)
@pytest.mark.skipif(not HANDBOOK, reason="the handbook's transcripts (../shared/handbook/transcripts) are not here")
def test_a_resumed_session_is_charged_for_its_own_run(name: str, session: str, cost: float) -> None:
    agent, stdout, stderr, code = TRANSCRIPTS[name]
    result, _ = replay(agent, stdout, stderr, code, session=session)
    assert result.cost_usd == pytest.approx(cost)


@pytest.mark.skipif(not HANDBOOK, reason="the handbook's transcripts (../shared/handbook/transcripts) are not here")
def test_opencode_steps_are_added_up() -> None:
    agent, stdout, stderr, code = TRANSCRIPTS["opencode-json"]
    result, _ = replay(agent, stdout, stderr, code)
    assert result.cost_usd == pytest.approx(0.00375)
    assert (result.tokens.input, result.tokens.output, result.tokens.cache_read) == (900, 70, 200)


@pytest.mark.parametrize("name", sorted(OWN))
def test_own_fixture(name: str) -> None:
    agent, stdout, stderr, code = OWN[name]
    index = json.loads((FIXTURES / "index.json").read_text(encoding="utf-8"))[name]
    reason = index.get("reason", "exited")
    program = index.get("program", "")
    result, _ = replay(agent, stdout, stderr, code, reason, read_only=index.get("read_only", False), program=program)
    assert result.kind.value == index["kind"], result.error
    assert (result.reset_at is not None) == index.get("reset", False)


def test_own_fixtures_are_there() -> None:
    assert {entry[0] for entry in OWN.values()} >= {"claude", "codex", "gemini", "acp"}
    assert {name.rsplit("-", 1)[0] for name in OWN} >= {"opencode", "claude-agent-acp", "codex-acp", "qwen"}


FAILED_REQUEST = (
    b'level=ERROR message="stream error" modelID=m1 small=false error.error="AI_APICallError: Rate limit reached"'
)
ANSWERED = b'{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
CHUNK = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"update":'
    b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Fine."}}}}'
)


@pytest.mark.parametrize(
    ("stdout", "stderr", "kind"),
    [
        pytest.param(ANSWERED, FAILED_REQUEST, "rate", id="the last request failed"),
        pytest.param(CHUNK + b"\n" + ANSWERED, FAILED_REQUEST, "ok", id="it went on after a failed request"),
        pytest.param(ANSWERED, FAILED_REQUEST.replace(b"small=false", b"small=true"), "ok", id="only a title failed"),
    ],
)
def test_an_answer_after_a_failed_request_is_no_success(stdout: bytes, stderr: bytes, kind: str) -> None:
    result, _ = replay("acp", stdout, stderr, 0)
    assert result.kind.value == kind
