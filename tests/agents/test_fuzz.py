"""Mutated streams: no crash, no false success, and no cost that could lower a total.

A success is false when the mutated stream no longer holds an intact end without error: looked up here by another way
than the parsers', a plain json.loads over the lines.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.core.model import AgentResult, ResultKind
from tests.agents.replay import FIXTURES, handbook, recordings, replay

HANDBOOK = handbook()
STREAMS = {
    name: entry
    for source in (recordings(HANDBOOK) if HANDBOOK else {}, recordings(FIXTURES))
    for name, entry in source.items()
    if entry[1] and entry[0] in ("claude", "codex", "gemini", "qwen", "opencode", "acp")
}
ODD = (None, True, -1, -0.5, 10**400, 1e308, float("nan"), float("inf"), "0.1", "", [], {}, "rejected", 429)
Mutation = Callable[[random.Random, bytes], bytes]


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def behead(rng: random.Random, data: bytes) -> bytes:
    return data[rng.randrange(len(data)) :]


def reorder(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


def repeat(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join(line for line in lines for _ in range(rng.choice((1, 1, 2, 3))))


def drop_lines(rng: random.Random, data: bytes) -> bytes:
    return b"\n".join(line for line in data.split(b"\n") if rng.random() < 0.7)


def flip(rng: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 12)):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def join_lines(rng: random.Random, data: bytes) -> bytes:
    return b"".join(part + (b"\n" if rng.random() < 0.7 else b"") for part in data.split(b"\n"))


def _walk(rng: random.Random, value: Any, change: Callable[[Any], Any], rate: float) -> Any:
    match value:
        case dict():
            kept = {k: _walk(rng, v, change, rate) for k, v in value.items()}
            return {k: v for k, v in kept.items() if v is not ...}
        case list():
            return [v for item in value if (v := _walk(rng, item, change, rate)) is not ...]
        case _:
            return change(value) if rng.random() < rate else value


def _rewrite(rng: random.Random, data: bytes, change: Callable[[Any], Any], rate: float) -> bytes:
    out = []
    for line in data.split(b"\n"):
        try:
            out.append(json.dumps(_walk(rng, json.loads(line), change, rate)).encode())
        except ValueError:
            out.append(line)
    return b"\n".join(out)


def drop_keys(rng: random.Random, data: bytes) -> bytes:
    return _rewrite(rng, data, lambda value: ..., rng.choice((0.02, 0.1, 0.4)))


def odd_values(rng: random.Random, data: bytes) -> bytes:
    return _rewrite(rng, data, lambda value: rng.choice(ODD), rng.choice((0.02, 0.1, 0.4)))


def odd_numbers(rng: random.Random, data: bytes) -> bytes:
    def change(value: Any) -> Any:
        return rng.choice(ODD) if isinstance(value, (int, float)) else value

    return _rewrite(rng, data, change, 0.8)


MUTATIONS: tuple[Mutation, ...] = (
    cut,
    behead,
    reorder,
    repeat,
    drop_lines,
    flip,
    join_lines,
    drop_keys,
    odd_values,
    odd_numbers,
)


def truly_ended(agent: str, stdout: bytes) -> bool:
    """Whether the stream holds an intact end without error, and none with one."""
    ends: list[bool] = []
    for raw in stdout.split(b"\n"):
        try:
            line = json.loads(raw.decode("utf-8", "replace"), parse_int=float)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, dict):
            continue
        match agent, line.get("type"):
            case (("claude" | "qwen"), "result"):
                ends.append(line.get("is_error") is False and line.get("subtype") == "success")
            case "codex", "turn.completed":
                ends.append(True)
            case "codex", "turn.failed":
                ends.append(False)
            case "gemini", "result":
                ends.append(line.get("status") == "success")
            case "opencode", _:
                part = line.get("part")
                ends += [True] if isinstance(part, dict) and str(part.get("reason")) == "stop" else []
                error = line.get("error")
                wrong = (
                    error.get("data", {}).get("message")
                    if isinstance(error, dict) and isinstance(error.get("data"), dict)
                    else None
                )
                ends += [False] if wrong else []
            case "acp", _:
                answer = line.get("result")
                if isinstance(answer, dict) and "stopReason" in answer and "method" not in line:
                    ends.append(answer["stopReason"] == "end_turn")
    return bool(ends) and (ends[-1] if agent == "acp" else all(ends))


def check(agent: str, stdout: bytes, result: AgentResult, exit_code: int | None) -> None:
    if result.kind is ResultKind.OK:
        assert exit_code == 0 or agent == "acp"  # such an agent is ended by us once it has answered
        assert truly_ended(agent, stdout), stdout
    assert result.cost_usd is None or (result.cost_usd >= 0 and result.cost_usd < 1e6)
    assert min(result.tokens.input, result.tokens.output, result.tokens.cache_read, result.tokens.cache_write) >= 0
    assert result.reset_at is None or 1e9 <= result.reset_at < 1e10
    # The journal must be able to keep it.
    assert msgspec.json.decode(msgspec.json.encode(result), type=AgentResult).kind is result.kind


def fuzz(name: str, rounds: int) -> None:
    agent, stdout, stderr, code = STREAMS[name]
    rng = random.Random(name)
    for number in range(rounds):
        data = stdout
        for _ in range(rng.choice((1, 1, 2))):
            data = MUTATIONS[(number + rng.randrange(2)) % len(MUTATIONS)](rng, data) or b"\n"
        exit_code = rng.choice((code, code, 0, 1, -9, None))
        session = rng.choice(("", "", "s"))
        result, _ = replay(agent, data, stderr, exit_code, session=session, model="gpt-5.5")
        check(agent, data, result, exit_code)


def test_there_is_something_to_mutate() -> None:
    assert len(STREAMS) >= 20


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_mutations(name: str) -> None:
    fuzz(name, 30)


@pytest.mark.torture
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_thousand_mutations(name: str) -> None:
    fuzz(name, 1_000)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"{" * 100_000, id="open braces"),
        pytest.param(b'{"type":' + b"[" * 100_000, id="open brackets"),
        pytest.param(b'{"type":"result","x":' + b'{"a":' * 900 + b"1" + b"}" * 901, id="deep but closed"),
        pytest.param(
            b'{"type":"result","is_error":false,"subtype":"success","total_cost_usd":' + b"9" * 9000 + b"}", id="digits"
        ),
        pytest.param(b'{"type":"result","is_error":false,"subtype":"success","result":"\\ud800"}', id="lone surrogate"),
        pytest.param(b"\xff" * 5_000_000, id="5 MB of no UTF-8"),
        pytest.param(b"\x00\x1b]0;x\x07", id="control characters"),
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode", "acp"])
def test_bombs(agent: str, line: bytes) -> None:
    result, outputs = replay(agent, line)
    assert all(len(output.text) < 5_000 for output in outputs)
    msgspec.json.encode(result)
    assert result.cost_usd is None
    if result.kind is ResultKind.OK:
        assert agent == "claude"
        assert truly_ended(agent, line)
