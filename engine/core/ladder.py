"""The ladder of models: when to stay, climb, or call the council.

classic counts failures at each rung; index takes the rung with the least expected cost per success, from what this
repository's sprints have measured. Both call the council when stuck at the top, once, and both end after it.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.complexity import assess, start_rung
from engine.core.index_ladder import Attempt, Price, RungStats, added, chance_of, choose, cost_of, measure
from engine.core.model import Decision, FaultDomain, Role, Struct
from engine.core.state import State, TaskState
from engine.core.vocabulary import Council
from engine.core.wording import plural

ENOUGH = 8
"""Fresh attempts at a rung before its history is believed."""


class Climb(Struct, frozen=True, kw_only=True):
    """What the ladder says after a failure."""

    decision: Decision
    rung: int
    reason: str


def start(state: State, task: TaskState) -> tuple[int, int, str]:
    """Where a task starts: the rung, its complexity, and why."""
    policy = state.policy.ladder
    spec = replace(task.spec, agent=task.rung_asked) if task.rung_asked else task.spec
    found = assess(spec)
    if named := policy.roles.get(Role.IMPLEMENTER.value, ""):
        return policy.role_rung(Role.IMPLEMENTER), found.score, f"ladder.roles gives implementers {named}"
    rung, reason = start_rung(spec, found, policy.rungs)
    if any(one.name.lower() == spec.agent.lower() for one in policy.rungs if spec.agent):
        return rung, found.score, reason
    if policy.policy == "index":
        choice = choose(known(state), [0] * len(policy.rungs), -1, policy.task_value_usd)
        return (rung if choice.rung is None else choice.rung), found.score, f"{choice.reason}; {reason}"
    if found.uncertain and rung > 0 and (pays := _low_pays(state, rung)):
        return 0, found.score, f"{pays}; {reason}"
    return rung, found.score, reason


def _low_pays(state: State, rung: int) -> str:
    """Uncertain work starts low where this repository's own history says that it costs less a success."""
    stats = known(state)
    if sum(stats[0].fresh) < ENOUGH:
        return ""
    untried = [0] * len(stats)
    low = cost_of(stats[0]) / chance_of(stats, untried, 0)
    usual = cost_of(stats[rung]) / chance_of(stats, untried, rung)
    if low > usual:
        return ""
    return f"uncertain, and the lowest rung pays here: ${low:.2f} a success against ${usual:.2f}"


def after_failure(state: State, task: TaskState, stuck: str) -> Climb:
    """Stay, climb, or the council: once, then one attempt, then blocked."""
    policy = state.policy.ladder
    top = len(policy.rungs) - 1
    rung = min(task.rung, top)
    if task.council is Council.DONE:
        return Climb(decision=Decision.BLOCKED, rung=top, reason="the attempt after the Bug Council failed too")
    if stuck and rung == top:
        return Climb(decision=Decision.COUNCIL, rung=top, reason=f"stuck: {stuck} at the top rung")
    if policy.policy == "index":
        return _by_index(state, task, rung, stuck)
    return _by_count(state, task, rung, stuck)


def _by_count(state: State, task: TaskState, rung: int, stuck: str) -> Climb:
    """Classic: so many failures at a rung, or stuck there → the next one; at the top → the council."""
    policy = state.policy.ladder
    failures = task.failures.get(Role.IMPLEMENTER.value, 0) + 1
    if stuck:
        why = f"stuck: {stuck}"
    elif failures >= policy.threshold(rung):
        why = plural(failures, "consecutive failure")
    else:
        return Climb(decision=Decision.ITERATE, rung=rung, reason=f"failure {failures} of {policy.threshold(rung)}")
    if rung < len(policy.rungs) - 1:
        return Climb(decision=Decision.ESCALATE, rung=rung + 1, reason=why)
    return Climb(decision=Decision.COUNCIL, rung=rung, reason=f"{why} at the top rung")


def _by_index(state: State, task: TaskState, rung: int, stuck: str) -> Climb:
    """Index: the cheapest expected success at any rung; stuck, at any other. Not worth it: the human."""
    policy = state.policy.ladder
    failed = failed_at(state, task)
    failed[rung] += 1
    # Any rung but the one it is stuck at: down as well as up.
    choice = choose(known(state), failed, rung, policy.task_value_usd, (rung,) if stuck else ())
    why = f"stuck: {stuck}; {choice.reason}" if stuck else choice.reason
    if choice.rung is None:
        return Climb(decision=Decision.BLOCKED, rung=rung, reason=why)
    decision = Decision.ITERATE if choice.rung <= rung else Decision.ESCALATE
    return Climb(decision=decision, rung=choice.rung, reason=why)


def failed_at(state: State, task: TaskState) -> list[int]:
    """How often each rung has failed at this task since it was started."""
    failed = [0] * len(state.policy.ladder.rungs)
    for record in task.history:
        wrong = record.decision is not Decision.COMPLETE and record.fault in (None, FaultDomain.CODE)
        if record.at >= task.started_at and wrong and record.rung < len(failed):
            failed[record.rung] += 1
    return failed


def known(state: State) -> tuple[RungStats, ...]:
    """This sprint's attempts and those of the sprints before it."""
    own = measured(state)
    return tuple(
        added(own[rung.name], state.measured.get(rung.name, RungStats())) for rung in state.policy.ladder.rungs
    )


def measured(state: State) -> dict[str, RungStats]:
    """What this sprint's attempts say of each rung, by its name; priced as its implementer costs of late."""
    rungs = state.policy.ladder.rungs
    prices = [state.prices.get(rung.name, Price()).usd for rung in rungs]
    attempts = [
        [
            Attempt(rung=past.rung, ok=past.decision is Decision.COMPLETE, cost_usd=prices[past.rung])
            for past in task.history
            if past.rung < len(rungs)
        ]
        for task in state.tasks.values()
    ]
    stats = measure(attempts, [rung.reserve_usd for rung in rungs])
    return {rung.name: one for rung, one in zip(rungs, stats, strict=True)}
