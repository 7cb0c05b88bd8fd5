"""Budgets: what counts, what is refused, when it is said."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from engine.core import budget
from engine.core import events as ev
from engine.core.effects import CallAgent, Wait
from engine.core.fold import apply
from engine.core.model import AgentResult, PhaseSpec, Plan, ResultKind, Role, Rung, TaskSpec, Tokens
from engine.core.policy import BudgetPolicy, Policy
from engine.core.state import State
from tests.core.parts import NOW, RUNGS, a_state, a_task

DAY = 86400.0
MIDNIGHT = 11 * DAY
PLAN = Plan(title="p", phases=(PhaseSpec(id="1", title="One", tasks=(TaskSpec(id="1.1", title="A"),)),))


@pytest.mark.parametrize(
    ("cost", "counts"),
    [
        pytest.param(0.4, 0.4, id="a sane figure"),
        pytest.param(0.0, 0.0, id="free"),
        pytest.param(7.0, 7.0, id="above the reservation"),
        pytest.param(None, 2.0, id="missing"),
        pytest.param(math.nan, 2.0, id="NaN"),
        pytest.param(math.inf, 2.0, id="infinite"),
        pytest.param(-1.0, 2.0, id="negative"),
        pytest.param(True, 2.0, id="true"),
        pytest.param(False, 2.0, id="false"),
    ],
)
def test_insane_costs_count_as_the_reservation(cost: float | None, counts: float) -> None:
    assert budget.charge(AgentResult(kind=ResultKind.OK, cost_usd=cost), 2.0) == counts


@pytest.mark.parametrize(
    ("kind", "tokens", "counts"),
    [
        pytest.param(ResultKind.LIMIT, 0, 0.0, id="limit at the door"),
        pytest.param(ResultKind.AUTH, 0, 0.0, id="no login"),
        pytest.param(ResultKind.LIMIT, 9, 2.0, id="limit after work"),
        pytest.param(ResultKind.CRASH, 0, 2.0, id="a crash may have cost anything"),
        pytest.param(ResultKind.TIMEOUT, 0, 2.0, id="timeout"),
    ],
)
def test_a_call_refused_at_the_door_costs_nothing(kind: ResultKind, tokens: int, counts: float) -> None:
    assert budget.charge(AgentResult(kind=kind, tokens=Tokens(input=tokens)), 2.0) == counts


@pytest.mark.parametrize("kind", [ResultKind.RATE, ResultKind.OVERLOADED])
def test_who_is_turned_away_at_once_has_spent_nothing(kind: ResultKind) -> None:
    away = AgentResult(kind=kind, seconds=2.0)
    assert budget.charge(away, 2.0) == 0.0
    assert budget.charge(replace(away, seconds=90.0), 2.0) == 2.0, "it may have worked before"
    assert budget.charge(replace(away, tokens=Tokens(input=5)), 2.0) == 2.0, "it did work before"
    assert budget.charge(replace(away, cost_usd=0.3), 2.0) == 0.3


def spent(session: float = 0.0, day: float = 0.0, reserved: float = 0.0, **policy: object) -> State:
    held = {}
    if reserved:
        call = CallAgent(id="x", role=Role.IMPLEMENTER, rung=RUNGS[0], iteration=1, attempt=1, reserve_usd=reserved)
        held = {"x": call}
    rules = replace(BudgetPolicy(), **policy)
    return a_state(a_task(), spent_usd=session, day_spent_usd=day, inflight=held, calls=5, policy=Policy(budget=rules))


@pytest.mark.parametrize(
    ("state", "share"),
    [
        pytest.param(spent(), 1.0, id="untouched"),
        pytest.param(spent(session=5), 0.5, id="half the session"),
        pytest.param(spent(session=5, day=45), 0.1, id="the tighter purse counts"),
        pytest.param(spent(session=5, reserved=2), 0.3, id="reservations are spent"),
        pytest.param(spent(session=12), 0.0, id="never below nothing"),
        pytest.param(spent(session=12, session_usd=0, day_usd=0), 1.0, id="no bound"),
    ],
)
def test_share_left(state: State, share: float) -> None:
    assert budget.left_share(state) == pytest.approx(share)


@pytest.mark.parametrize(
    ("session", "low"),
    [pytest.param(7.9, False, id="21 % left"), pytest.param(8.0, False, id="20 %"), pytest.param(8.1, True, id="19 %")],
)
def test_low_is_under_a_fifth(session: float, low: bool) -> None:
    assert budget.low(spent(session=session)) is low


@pytest.mark.parametrize(
    ("state", "words"),
    [
        pytest.param(spent(session=9.99), "", id="room"),
        pytest.param(spent(session=10.0), "the session budget of $10.00 is spent", id="session"),
        pytest.param(spent(day=50.0), "the day budget of $50.00 is spent", id="day"),
        pytest.param(spent(max_calls=5), "5 agent calls are used up", id="calls"),
        pytest.param(spent(max_calls=6), "", id="one call left"),
        pytest.param(replace(spent(max_seconds=60), now=NOW + 60), "60 s of wall time are used up", id="time"),
        pytest.param(replace(spent(max_seconds=60), now=NOW + 59), "", id="a second left"),
        pytest.param(replace(spent(max_seconds=60), active_seconds=60.0), "wall time", id="time of earlier runs"),
    ],
)
def test_exceeded(state: State, words: str) -> None:
    said = budget.exceeded(state)
    assert words in said
    assert bool(said) is bool(words)


@pytest.mark.parametrize(
    ("state", "reserve", "also", "refused"),
    [
        pytest.param(spent(session=9), 1.0, 0.0, False, id="exactly fits"),
        pytest.param(spent(session=9), 1.01, 0.0, True, id="does not fit"),
        pytest.param(spent(session=8, reserved=1), 1.0, 0.0, False, id="beside one under way"),
        pytest.param(spent(session=8, reserved=1.5), 1.0, 0.0, True, id="one under way fills it"),
        pytest.param(spent(session=8), 1.0, 1.5, True, id="one of this turn fills it"),
        pytest.param(spent(day=49.5), 1.0, 0.0, True, id="the day"),
    ],
)
def test_a_call_is_reserved_before_it_is_made(state: State, reserve: float, also: float, refused: bool) -> None:
    assert bool(budget.refusal(state, reserve, also)) is refused


def test_calls_promised_in_this_turn_count() -> None:
    assert not budget.refusal(spent(max_calls=7), 0.1, 0.0, 1)
    assert budget.refusal(spent(max_calls=7), 0.1, 0.0, 2)


@pytest.mark.parametrize(
    ("session", "day", "due"),
    [
        pytest.param(7.99, 0.0, None, id="not yet"),
        pytest.param(8.0, 0.0, "session", id="80 % of the session"),
        pytest.param(0.0, 40.0, "day", id="80 % of the day"),
    ],
)
def test_warning(session: float, day: float, due: str | None) -> None:
    said = budget.warning(spent(session=session, day=day))
    assert (said[0] if said else None) == due


def test_each_purse_warns_once_and_the_day_again_tomorrow() -> None:
    state = spent(session=9, day=45)
    state = replace(state, day=11, now=MIDNIGHT + 1)
    for scope in ("session", "day"):
        assert budget.warning(state)[0] == scope  # type: ignore[index]
        state = at(state, MIDNIGHT + 2, ev.BudgetWarned(scope=scope, spent_usd=1, limit_usd=1))
    assert budget.warning(state) is None
    tomorrow = replace(at(state, MIDNIGHT + DAY, ev.Noted(text="x")), day_spent_usd=45.0)
    assert budget.warning(tomorrow)[0] == "day"  # type: ignore[index]


# ── the day ────────────────────────────────────────────────────────────────────────────────────────────────────────


def at(state: State, when: float, event: ev.AnyEvent) -> State:
    return apply(state, ev.Envelope(seq=state.seq + 1, stream="s", at=when, event=event))


def begun(when: float, state: State | None = None, **more: object) -> State:
    if state is None:
        state = at(State(), when, ev.SprintCreated(sprint="001", plan=PLAN, branch="b", topic="t"))
    start = ev.RunStarted(run="r", pid=1, policy=Policy(), attended=False, sandbox="", version="", **more)  # type: ignore[arg-type]
    return at(state, when, start)


def test_the_time_between_a_killed_run_and_the_next_is_nobodys() -> None:
    """What was under way is recorded as interrupted by the next run, two days later: ten minutes were worked."""
    state = begun(MIDNIGHT)
    state = at(state, MIDNIGHT + 600, ev.EffectStarted(effect=Wait(id="w", until=MIDNIGHT + 900, reason="x")))
    last = state.now
    state = at(state, MIDNIGHT + 2 * DAY, ev.EffectInterrupted(id="w", reason="the engine ended"))
    state = begun(MIDNIGHT + 2 * DAY, state, last_at=last)
    assert budget.elapsed(state) == 600


def paid(state: State, when: float, amount: float) -> State:
    done = ev.AgentFinished(
        id="x",
        task="1.1",
        role=Role.IMPLEMENTER,
        rung=Rung(name="haiku", agent="claude"),
        result=AgentResult(kind=ResultKind.OK),
        charged_usd=amount,
        reserved_usd=1.0,
    )
    return at(state, when, done)


@pytest.mark.parametrize(
    ("offset", "later", "today"),
    [
        pytest.param(0.0, 0.5 * DAY, 5.0, id="the same day"),
        pytest.param(0.0, 0.95 * DAY, 3.0, id="after midnight"),
        pytest.param(7200.0, 0.9 * DAY, 3.0, id="midnight comes two hours earlier in the east"),
        pytest.param(-7200.0, 0.95 * DAY, 5.0, id="and two hours later in the west"),
    ],
)
def test_the_day_rolls_over_at_local_midnight(offset: float, later: float, today: float) -> None:
    state = paid(begun(MIDNIGHT + 0.1 * DAY, utc_offset=offset), MIDNIGHT + 0.1 * DAY, 2.0)
    state = paid(state, MIDNIGHT + 0.1 * DAY + later - 0.03 * DAY, 3.0)
    assert state.spent_usd == 5.0
    assert state.day_spent_usd == today


def test_other_sprints_share_the_day_and_a_restart_counts_nothing_twice() -> None:
    state = paid(begun(MIDNIGHT, day_spent_usd=10.0), MIDNIGHT + 1, 2.0)
    assert state.day_spent_usd == 12.0
    state = begun(MIDNIGHT + 2, state, day_spent_usd=11.0)
    assert state.day_spent_usd == 13.0
    assert state.spent_usd == 2.0
    assert begun(MIDNIGHT + DAY, state).day_spent_usd == 0.0


def test_permits_of_other_sprints_are_shared_and_a_restart_counts_none_twice() -> None:
    state = begun(MIDNIGHT, recent_calls=(MIDNIGHT - 4000, MIDNIGHT - 5))
    assert state.recent_calls == (MIDNIGHT - 5,)
    assert begun(MIDNIGHT + 9, state, recent_calls=(MIDNIGHT - 5, MIDNIGHT + 3)).recent_calls == (
        MIDNIGHT - 5,
        MIDNIGHT + 3,
    )


def test_a_killed_run_has_used_its_wall_time() -> None:
    state = at(begun(MIDNIGHT), MIDNIGHT + 50, ev.Noted(text="alive"))
    state = begun(MIDNIGHT + 5000, state)
    assert budget.elapsed(state) == 50.0


@pytest.mark.parametrize("cost", [math.nan, math.inf, -1.0], ids=str)
def test_an_insane_cost_is_the_same_live_and_replayed(cost: float) -> None:
    """NaN becomes null in JSON: what is folded live must equal what a replay folds."""
    live = ev.AgentFinished(
        id="x",
        task="1.1",
        role=Role.IMPLEMENTER,
        rung=RUNGS[0],
        result=AgentResult(kind=ResultKind.LIMIT, cost_usd=cost, reset_at=math.nan),
        charged_usd=1.0,
        reserved_usd=1.0,
    )
    state = begun(MIDNIGHT)
    replayed = ev.decode(ev.encode(live))
    assert at(state, MIDNIGHT, live).usage_by_rung == at(state, MIDNIGHT, replayed).usage_by_rung  # type: ignore[arg-type]
    assert at(state, MIDNIGHT, live).limits == at(state, MIDNIGHT, replayed).limits  # type: ignore[arg-type]
