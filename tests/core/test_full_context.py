"""A session that runs out of context: its work is kept, and a fresh session that is told of it goes on."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.fold import apply
from engine.core.model import ResultKind, Role, SessionSummary
from engine.core.state import State
from tests.core.story import ONE, OUT_OF_SCOPE, POLICY, Story, bad, begin, effects_of, facts, red
from tests.core.world import World, ok, outcome, plan_of

FULL = bad(ResultKind.CONTEXT)
DID = SessionSummary(tools=("Bash: pytest",), words="half of it is there")


def implementers(world: World) -> list[ef.CallAgent]:
    return [effect for effect in world.started if isinstance(effect, ef.CallAgent) and effect.role is Role.IMPLEMENTER]


def full(effect: ef.CallAgent) -> list[ev.AnyEvent]:
    return [replace(outcome(effect, FULL), summary=DID)]


def test_a_full_context_gets_a_fresh_session_in_the_same_iteration() -> None:
    world = begin(Story(checks=[red()], implement=[None, full]))
    called = [(call.iteration, call.attempt, call.session) for call in implementers(world)]
    assert called == [(1, 1, ""), (2, 1, "s"), (2, 2, "")]
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]


def test_the_fresh_session_starts_from_the_tree_the_full_one_left() -> None:
    world = begin(Story(implement=[full]))
    left = facts(world, ev.ScopeChecked)[0].tree
    assert [effect.tree for effect in effects_of(world, ef.PrepareWorkspace)] == ["", "", left]
    assert [effect.before for effect in effects_of(world, ef.CheckScope)] == ["t0", left]


def test_the_fresh_session_is_told_what_the_full_one_did_until_one_ends_well() -> None:
    heard = []

    def fresh(effect: ef.CallAgent) -> list[ev.AnyEvent]:
        heard.append(world.state.tasks["1.1"].earlier)
        return [outcome(effect, bad(ResultKind.RATE) if len(heard) == 1 else ok(claim="complete"))]

    world = World(Story(implement=[full, fresh, fresh])).begin(plan_of(ONE), POLICY)
    world.run()
    assert heard == [DID, DID]
    assert world.state.tasks["1.1"].earlier is None
    assert world.state.outcome == "done"


def test_sessions_that_fill_up_for_ever_fail_the_iteration_and_the_next_one_is_told() -> None:
    heard = []

    def fresh(effect: ef.CallAgent) -> list[ev.AnyEvent]:
        heard.append((effect.iteration, effect.session, world.state.tasks["1.1"].earlier))
        return [outcome(effect, ok(claim="complete"))]

    world = World(Story(implement=[full, full, full, fresh])).begin(plan_of(ONE), POLICY)
    world.run()
    assert [(call.iteration, call.attempt) for call in implementers(world)] == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert world.decisions("1.1") == ["ITERATE", "COMPLETE"]
    assert heard == [(2, "", DID)]
    assert facts(world, ev.Decided)[0].reason.endswith("claude: it said context")


def test_a_full_session_takes_no_attempt_from_the_scope() -> None:
    """Out of scope in the session that filled up, and again in the fresh one: that one still gets its second try."""
    world = begin(Story(implement=[full], scope=[OUT_OF_SCOPE, OUT_OF_SCOPE]))
    assert [call.attempt for call in implementers(world)] == [1, 2, 3]
    assert world.decisions("1.1") == ["COMPLETE"]


def test_the_calls_of_a_session_are_known_until_another_begins() -> None:
    world = begin(Story(checks=[red(1), red(2)]))
    first, second, third = (call.id for call in implementers(world))
    assert world.state.tasks["1.1"].session_calls == (third,), "the second rung's session is its own"
    seen = [apply_all(world, fact).tasks["1.1"].session_calls for fact in facts(world, ev.ScopeChecked)[:2]]
    assert seen == [(first,), (first, second)]


def apply_all(world: World, until: ev.AnyEvent) -> State:
    """The state just after that fact."""
    state = State()
    for entry in world.log:
        state = apply(state, entry)
        if entry.event is until:
            break
    return state
