"""The circuit breaker: closed, open, half-open, and its probe."""

from __future__ import annotations

import pytest

from engine.core import breaker
from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.effects import CallAgent, Wait
from engine.core.fold import apply
from engine.core.model import AgentResult, ResultKind, Role
from engine.core.policy import BreakerPolicy
from engine.core.state import Breaker, State
from engine.core.task_state import Step
from tests.core.parts import NOW, a_state, a_task
from tests.core.world import outcome

RULES = BreakerPolicy()


def after(*failed: bool, start: float = NOW) -> Breaker:
    known = Breaker()
    for index, bad in enumerate(failed):
        known = breaker.after(known, bad, start + index, RULES, "no answer")
    return known


@pytest.mark.parametrize(
    ("known", "now", "standing"),
    [
        pytest.param(Breaker(), NOW, "closed", id="new"),
        pytest.param(after(*[True] * 4), NOW + 9, "closed", id="four failures"),
        pytest.param(after(*[True] * 5), NOW + 5, "open", id="five failures"),
        pytest.param(after(*[True] * 4, False, True), NOW + 9, "closed", id="success starts the count again"),
        pytest.param(after(*[True] * 5), NOW + 63.9, "open", id="just under a minute later"),
        pytest.param(after(*[True] * 5), NOW + 64, "half-open", id="a minute after the fifth"),
        pytest.param(after(*[True] * 6, start=NOW), NOW + 64.5, "open", id="a failed probe opens it again"),
        pytest.param(after(*[True] * 5, False), NOW + 6, "closed", id="a good probe closes it"),
    ],
)
def test_standing(known: Breaker, now: float, standing: str) -> None:
    assert breaker.standing(known, now, RULES) == standing


def test_switched_off_it_never_opens() -> None:
    rules = BreakerPolicy(enabled=False)
    known = Breaker()
    for _ in range(20):
        known = breaker.after(known, True, NOW, rules)
    assert breaker.standing(known, NOW, rules) == "closed"


def open_state(now: float) -> State:
    tasks = [a_task(name, lane=lane, step=Step.IMPLEMENT) for lane, name in enumerate(("1.1", "1.2"))]
    return a_state(*tasks, now=now, breakers={"claude": after(*[True] * 5)})


def test_open_makes_every_task_wait_for_the_same_moment() -> None:
    turn = Turn(open_state(NOW + 10))
    for task in turn.state.tasks.values():
        assert not turn.call(task, Role.IMPLEMENTER)
    waits = [effect for effect in turn.effects if isinstance(effect, Wait)]
    assert [wait.until for wait in waits] == [NOW + 64, NOW + 64]
    assert "breaker open" in waits[0].reason


def test_half_open_lets_one_probe_through() -> None:
    turn = Turn(open_state(NOW + 64))
    assert [turn.call(task, Role.IMPLEMENTER) for task in turn.state.tasks.values()] == [True, False]
    assert [type(effect) for effect in turn.effects] == [CallAgent]


@pytest.mark.parametrize(
    ("ended", "failures"),
    [
        pytest.param(ResultKind.OK, 0, id="ok closes"),
        pytest.param(ResultKind.REFUSAL, 0, id="a refusal is an answer"),
        pytest.param(ResultKind.NETWORK, 6, id="network counts"),
        pytest.param(ResultKind.LIMIT, 5, id="a limit says nothing"),
        pytest.param(ResultKind.AUTH, 5, id="no login says nothing"),
        pytest.param(ResultKind.CANCELLED, 5, id="cancelled by us says nothing"),
        pytest.param(ResultKind.NO_RESULT, 6, id="no answer counts"),
        pytest.param(
            AgentResult(kind=ResultKind.NO_RESULT, text="I think …", exit_code=0), 5, id="nor does a useless answer"
        ),
        pytest.param(AgentResult(kind=ResultKind.NO_RESULT, text="I th", exit_code=1), 6, id="words cut short count"),
    ],
)
def test_what_an_ending_says_of_the_dependency(ended: ResultKind | AgentResult, failures: int) -> None:
    turn = Turn(open_state(NOW + 64))
    turn.call(turn.state.tasks["1.1"], Role.IMPLEMENTER)
    (call,) = turn.effects
    assert isinstance(call, CallAgent)
    event = outcome(call, ended if isinstance(ended, AgentResult) else AgentResult(kind=ended))
    state = apply(turn.state, ev.Envelope(seq=1, stream="s", at=NOW + 70, event=event))
    assert state.breakers["claude"].failures == failures
