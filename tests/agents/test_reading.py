"""The small parts: reading numbers, claims, structured answers, reset times, kinds and hints."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.model import ResultKind, Tokens
from engine.perform.agents import classify, prices, structured, wire
from engine.perform.agents.claim import claim
from engine.perform.agents.codex_stream import reset_time

NOW = 1794850000.0


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        pytest.param(0.5, 0.5, id="plain"),
        pytest.param(0, 0.0, id="nothing"),
        pytest.param(math.nan, None, id="NaN"),
        pytest.param(math.inf, None, id="infinite"),
        pytest.param(-0.01, None, id="negative"),
        pytest.param(True, None, id="boolean"),
        pytest.param("0.5", None, id="text"),
        pytest.param(10**400, None, id="huge"),
        pytest.param(1e9, None, id="more than anybody pays"),
        pytest.param(None, None, id="missing"),
    ],
)
def test_money(value: Any, amount: float | None) -> None:
    assert wire.money(value) == amount


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, True, "7", 1.5, 10**400, None, []])
def test_odd_counts_are_nothing(value: Any) -> None:
    assert wire.count(value) == 0


@given(st.binary(max_size=300))
def test_any_line_is_read_without_raising(line: bytes) -> None:
    wire.decode(line)
    wire.decode(b'{"a":' + line + b"}")


def test_shallow_json_is_kept_and_deep_json_is_not() -> None:
    assert wire.decode(b'{"a":' * 60 + b"1" + b"}" * 60) is not None
    assert wire.decode(b'{"a":' * 70 + b"1" + b"}" * 70) is None


@pytest.mark.parametrize(
    ("text", "said", "issues"),
    [
        pytest.param("Done.\nSTATUS: complete\nISSUES: none", "complete", "", id="plain"),
        pytest.param("**STATUS:** blocked\n**ISSUES:** no key", "blocked", "no key", id="bold"),
        pytest.param("- STATUS: failed\nISSUES: a\nand b", "failed", "a\nand b", id="several lines"),
        pytest.param("EXIT_SIGNAL: true", "complete", "", id="exit signal"),
        pytest.param("EXIT_SIGNAL: false", "", "", id="no exit signal"),
        pytest.param("STATUS: complete\nthen\nSTATUS: failed", "failed", "", id="the last one holds"),
        pytest.param("The STATUS: complete is what I would write", "", "", id="not at the start of a line"),
        pytest.param("ISSUES: x\nSTATUS: blocked", "blocked", "x", id="the other order"),
        pytest.param("", "", "", id="nothing"),
    ],
)
def test_claims(text: str, said: str, issues: str) -> None:
    assert claim(text) == (said, issues)


SCHEMA = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "n": {"type": "integer"},
        "level": {"type": "string", "enum": ["high", "low"]},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        },
    },
    "required": ["ok"],
}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        pytest.param({"ok": True}, "", id="least"),
        pytest.param({"ok": True, "more": 1}, "", id="more keys than asked"),
        pytest.param({}, "answer.ok is missing", id="missing"),
        pytest.param({"ok": "yes"}, "answer.ok must be of type boolean", id="wrong type"),
        pytest.param({"ok": True, "n": True}, "answer.n must be of type integer", id="a boolean is no number"),
        pytest.param({"ok": True, "level": "mid"}, "answer.level must be one of high, low", id="enum"),
        pytest.param({"ok": True, "items": [{"a": "x"}, {}]}, "answer.items[1].a is missing", id="inside a list"),
        pytest.param([], "answer must be of type object", id="no object"),
    ],
)
def test_faults(value: Any, fault: str) -> None:
    assert (structured.faults(value, SCHEMA) or [""])[0] == fault


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="the whole text"),
        pytest.param('Words.\n```json\n{"a": 1}\n```\nmore', {"a": 1}, id="fenced"),
        pytest.param('```\n{"a": 1}\n```', {"a": 1}, id="fence without a word"),
        pytest.param('````json\n{"a": "```"}\n````', {"a": "```"}, id="longer fence"),
        pytest.param('```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', {"a": 2}, id="the last block"),
        pytest.param("```json\n[1]\n```", None, id="a list"),
        pytest.param('say {"a": 1} inline', None, id="inline is not asked for"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_answer_is_found(text: str, value: Any) -> None:
    assert structured.find(text) == value


@pytest.mark.parametrize(
    ("message", "when"),
    [
        pytest.param("try again in 1.5s.", NOW + 1.5, id="seconds"),
        pytest.param("try again in 2 days 3 hours 4 minutes.", NOW + 2 * 86400 + 3 * 3600 + 240, id="days"),
        pytest.param("or try again at Nov 17th, 2026 1:03 PM.", datetime(2026, 11, 17, 13, 4), id="date"),
        pytest.param("or try again at 25:99 PM.", None, id="no such time"),
        pytest.param("try again later", None, id="no time"),
    ],
)
def test_reset_times(message: str, when: Any) -> None:
    expected = when.astimezone().timestamp() if isinstance(when, datetime) else when
    assert reset_time(message, NOW) == expected


def test_a_reset_in_the_present_minute_is_not_tomorrow() -> None:
    """The words name no seconds. Who comes back at the minute's first second may be told the same minute again."""
    here = datetime.fromtimestamp(NOW).astimezone()
    words = here.strftime("try again at %I:%M %p").replace("at 0", "at ")
    found = reset_time(words, NOW)
    assert found is not None
    assert 0 < found - NOW <= 60


def test_a_clock_time_is_the_next_one() -> None:
    here = datetime.fromtimestamp(NOW).astimezone()
    for hours in (1, 23):
        wanted = datetime.fromtimestamp(NOW + hours * 3600).astimezone()
        words = wanted.strftime("try again at %I:%M %p").replace("at 0", "at ")
        found = reset_time(words, NOW)
        assert found is not None
        assert 0 < found - here.timestamp() <= 86400
        assert found == pytest.approx(wanted.timestamp(), abs=60)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "auth"),
        (403, "auth"),
        (402, "billing"),
        (404, "model"),
        (413, "context"),
        (429, "rate"),
        (500, "overloaded"),
    ],
)
def test_status(status: int, kind: str) -> None:
    assert classify.by_status(status) == kind


def test_a_bad_request_says_nothing_by_itself() -> None:
    assert classify.by_status(400) is None


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "something"])
def test_hints_say_what_to_type(agent: str) -> None:
    for kind in (ResultKind.AUTH, ResultKind.BILLING, ResultKind.MODEL, ResultKind.DENIED):
        assert "`" in classify.hint(agent, kind, model="m", denials=("Bash",)) or "config.toml" in classify.hint(
            agent, kind
        )
    assert '"Bash"' in classify.hint(agent, ResultKind.DENIED, denials=("Bash",))
    assert classify.hint(agent, ResultKind.RATE) == ""


def test_prices() -> None:
    tokens = Tokens(input=1_000_000)
    assert prices.price("gpt-5.5", tokens) == pytest.approx(prices.price("openai/gpt-5.5", tokens))
    assert (prices.price("gpt-5.5", tokens) or 0) > 0
    assert prices.price("no-such-model", tokens) is None
    assert prices.price("", tokens) is None
    assert prices.price("no-such-model", Tokens()) == 0.0
