"""Seed 000's check before an iteration: does the sprint branch still pass what its base passed?

Within a run every commit is a tree whose checks passed, so the branch is measured when a run takes it up. What fails
there and not on the base is a regression: the branch goes back to its last good commit, the tip is kept under a backup
ref, and the tasks whose commits went are open again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.core.admission import Turn
from engine.core.effects import RestoreBranch
from engine.core.model import CheckKind, CheckResult, Verdict
from engine.core.state import State


def lost(before: Iterable[CheckResult], now: Sequence[CheckResult], kinds: Sequence[CheckKind]) -> str:
    """What passed before and fails now, in words; empty: nothing. A check that could not be run says nothing."""
    known = {result.name: result for result in before}
    judged = [result for result in now if result.kind in kinds] or list(now)
    for result in judged:
        old = known.get(result.name)
        if old is None or not result.required or result.verdict is not Verdict.FAIL:
            continue
        new = [name for name in result.failing if name not in old.failing]
        if old.verdict is Verdict.PASS or new:
            named = ", ".join(new[:3]) or result.reason
            return f"{result.name}: {named}"
    return ""


def of_branch(state: State) -> str:
    """What the sprint's own commits seem to have broken; empty while there are none."""
    if not state.base_results or state.head == state.base:
        return ""
    return lost(state.base_results, state.baseline, state.policy.monitor.rollback_checks)


def go_back(turn: Turn) -> bool:
    """Bring a branch that regressed back to its last good commit, once a run. True: wait for it."""
    state = turn.state
    if state.restored_run == state.run or not state.policy.monitor.auto_rollback:
        return False
    words = of_branch(state)
    if not words:
        return False
    if turn.sprint_free(RestoreBranch):
        turn.do(
            RestoreBranch(id=turn.name("sprint", "restore"), reason=words, most=state.policy.monitor.rollback_search)
        )
    return True
