"""The ladder by what came of it: attempts and passes of each rung, what the next step up costs, what a task cost and
would have cost by the other policy. Pure; says the same under both policies, because it asks the ladder itself."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.core.index_ladder import RungStats, chance_of, choose, cost_of
from engine.core.ladder import after_failure, failed_at, known, start
from engine.core.model import Decision, FaultDomain, Role, Struct
from engine.core.policy import LadderPolicy
from engine.core.state import State, TaskState, Usage
from engine.core.vocabulary import Council

UNLIKELY = 0.01
"""Chance of getting that far below which an expected cost is not followed further."""
REVIEWERS = (Role.REVIEWER, Role.SPRINT_REVIEWER)
COUNCIL = (Role.COUNCILLOR, Role.SYNTHESIST)


class RungOutcome(Struct, frozen=True, kw_only=True):
    """One rung: what was tried there and what came of it, reviewers apart."""

    name: str
    attempts: int = 0
    passed: int = 0
    usd: float = 0.0
    """What the implementers' calls cost there."""

    @property
    def usd_per_pass(self) -> float | None:
        return self.usd / self.passed if self.passed else None


class NextStep(Struct, frozen=True, kw_only=True):
    """What the ladder does if the attempt under way fails."""

    decision: Decision
    rung: int
    reason: str
    usd: float = 0.0
    """One try there."""
    chance: float = 0.0

    @property
    def usd_per_pass(self) -> float:
        return self.usd / self.chance if self.chance else 0.0


class Receipt(Struct, frozen=True, kw_only=True):
    """What an ended task cost, and what the other policy would have cost on the same repository's figures."""

    spent_usd: float
    attempts_usd: float
    other: str
    """The other policy, in a word: 2/2/3, or index."""
    other_usd: float
    """About: the same reviews, and the attempts that policy is expected to need."""

    def words(self) -> str:
        other = "the index policy" if self.other == "index" else self.other
        return f"spent ${self.spent_usd:.2f}; {other} would have cost about ${self.other_usd:.2f}"


def rung_outcomes(state: State) -> tuple[RungOutcome, ...]:
    """Every rung, the lowest first."""
    rungs = state.policy.ladder.rungs
    attempts, passed = [0] * len(rungs), [0] * len(rungs)
    for task in state.tasks.values():
        for record in task.history:
            ok = record.decision is Decision.COMPLETE
            if record.rung < len(rungs) and (ok or record.fault in (None, FaultDomain.CODE)):
                attempts[record.rung] += 1
                passed[record.rung] += ok
    return tuple(
        RungOutcome(
            name=rung.name,
            attempts=attempts[place],
            passed=passed[place],
            usd=state.attempts_by_rung.get(rung.name, Usage()).cost_usd,
        )
        for place, rung in enumerate(rungs)
    )


def spent_on(state: State, roles: Sequence[Role]) -> Usage:
    """Calls and money of some roles."""
    found = [state.usage_by_role[role.value] for role in roles if role.value in state.usage_by_role]
    return Usage(calls=sum(one.calls for one in found), cost_usd=sum(one.cost_usd for one in found))


def next_step(state: State, task: TaskState) -> NextStep | None:
    """If the present attempt fails; None for a task that is not at work."""
    if not task.iteration or task.ended or task.council is Council.SITTING or not state.policy.ladder.rungs:
        return None
    climb = after_failure(state, task, "")
    stats, failed = known(state), failed_at(state, task)
    failed[min(task.rung, len(failed) - 1)] += 1
    if climb.decision not in (Decision.ITERATE, Decision.ESCALATE):
        return NextStep(decision=climb.decision, rung=climb.rung, reason=climb.reason)
    return NextStep(
        decision=climb.decision,
        rung=climb.rung,
        reason=climb.reason,
        usd=cost_of(stats[climb.rung]),
        chance=chance_of(stats, failed, climb.rung),
    )


def receipt(state: State, task: TaskState) -> Receipt | None:
    """Of a task that has ended after at least one attempt."""
    if not task.ended or not task.history or not state.policy.ladder.rungs:
        return None
    policy = state.policy.ladder
    classic = policy.policy == "classic"
    stats = known(state)
    other = replace(policy, policy="index" if classic else "classic")
    elsewhere = replace(state, policy=replace(state.policy, ladder=other))
    first, _, _ = start(elsewhere, task)
    expected = (
        expected_by_index(stats, first, policy.task_value_usd, state.policy.max_iterations)
        if classic
        else expected_by_count(stats, first, other, state.policy.max_iterations)
    )
    return Receipt(
        spent_usd=task.spent_usd,
        attempts_usd=task.attempts_usd,
        other="index" if classic else "/".join(str(number) for number in policy.failures),
        other_usd=max(0.0, task.spent_usd - task.attempts_usd) + expected,
    )


def expected_by_count(stats: Sequence[RungStats], first: int, policy: LadderPolicy, most: int) -> float:
    """Money for attempts under fixed thresholds, from the chances that were measured."""
    failed, reach, usd, rung = [0] * len(stats), 1.0, 0.0, min(first, len(stats) - 1)
    for _ in range(most):
        usd += reach * cost_of(stats[rung])
        reach *= 1.0 - chance_of(stats, failed, rung)
        failed[rung] += 1
        if failed[rung] >= policy.threshold(rung):
            rung += 1
        if reach < UNLIKELY or rung >= len(stats):
            break
    return usd


def expected_by_index(stats: Sequence[RungStats], first: int, value_usd: float, most: int) -> float:
    """Money for attempts in the order of the least cost a success."""
    failed, reach, usd, rung = [0] * len(stats), 1.0, 0.0, min(first, len(stats) - 1)
    for _ in range(most):
        usd += reach * cost_of(stats[rung])
        reach *= 1.0 - chance_of(stats, failed, rung)
        failed[rung] += 1
        choice = choose(stats, failed, rung, value_usd)
        if reach < UNLIKELY or choice.rung is None:
            break
        rung = choice.rung
    return usd
