"""The corrective retry of a structured answer: once, in the session it belongs to, or afresh where that is gone."""

from __future__ import annotations

import msgspec
import pytest

from engine.core.model import AgentResult, ResultKind, Role, Tokens
from engine.perform.agents import headless
from engine.perform.process.spawning import AgentCall, Output

SCHEMA: dict[str, object] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CALL = AgentCall(effect="e", role=Role.REVIEWER, model="m", prompt="Judge it.", schema=SCHEMA, max_usd=1.0)
BROKEN = AgentResult(
    kind=ResultKind.OK, text="I would rather not.", session="s1", cost_usd=0.25, tokens=Tokens(input=7, output=3)
)
GOOD = msgspec.structs.replace(BROKEN, text='```json\n{"n": 3}\n```')
GONE = AgentResult(kind=ResultKind.CRASH, error="no such session", cost_usd=0.0)


class Program:
    """Runs that end as it is told, and the calls they were asked with."""

    def __init__(self, *ends: tuple[AgentResult, bool]) -> None:
        self.ends = list(ends)
        self.asked: list[AgentCall] = []

    async def __call__(self, asked: AgentCall) -> tuple[AgentResult, bool]:
        self.asked.append(asked)
        return self.ends.pop(0)


async def answer(program: Program) -> AgentResult:
    said: list[Output] = []
    return await headless.answer(CALL, program, said.append, native_schema=True)


async def test_it_is_asked_in_the_same_session_and_paid_for_with_the_first() -> None:
    program = Program((BROKEN, False), (GOOD, False))
    result = await answer(program)
    assert (result.kind, result.structured) == (ResultKind.OK, {"n": 3})
    assert (result.cost_usd, result.tokens) == (0.5, Tokens(input=14, output=6))
    first, second = program.asked
    assert (second.session, second.max_usd) == ("s1", 0.75)
    assert first.prompt not in second.prompt, "the session knows it"


async def test_a_session_that_is_gone_by_then_is_begun_afresh_with_the_whole_prompt() -> None:
    program = Program((BROKEN, False), (GONE, True), (GOOD, False))
    result = await answer(program)
    assert (result.kind, result.structured) == (ResultKind.OK, {"n": 3})
    last = program.asked[-1]
    assert last.session == ""
    assert last.prompt.startswith("Judge it.")
    assert "could not be used" in last.prompt


@pytest.mark.parametrize("kind", [ResultKind.RATE, ResultKind.LIMIT, ResultKind.AUTH])
async def test_an_error_of_the_retry_is_the_error_of_the_call(kind: ResultKind) -> None:
    failed = AgentResult(kind=kind, error="no", cost_usd=0.0, session="s1")
    result = await answer(Program((BROKEN, False), (failed, False)))
    assert (result.kind, result.structured, result.cost_usd) == (kind, None, 0.25)


async def test_an_unknown_cost_of_either_makes_the_whole_unknown() -> None:
    unknown = msgspec.structs.replace(GOOD, cost_usd=None)
    assert (await answer(Program((BROKEN, False), (unknown, False)))).cost_usd is None


async def test_it_is_asked_only_once() -> None:
    program = Program((BROKEN, False), (BROKEN, False), (GOOD, False))
    result = await answer(program)
    assert (result.kind, result.structured) == (ResultKind.NO_RESULT, None)
    assert len(program.asked) == 2
