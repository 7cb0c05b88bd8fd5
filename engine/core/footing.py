"""Whether a run may begin: no agent is paid before the checks can judge somebody, and judge the clone as the checkout.

The environment's fault: nobody's counters are touched, nothing is charged, and the words name the one line
that mends it.
"""

from __future__ import annotations

from typing import assert_never

from engine.core.harmless import held_by_tests
from engine.core.model import CheckKind, CheckResult, Verdict
from engine.core.state import State

LOOK = "devteam doctor --run"
SHOWING = (CheckKind.TESTS, CheckKind.OWN, CheckKind.BUILD)
"""Checks that can be red on the base and green on a change; a lint or a type check shows nothing."""


def refusal(state: State) -> str:
    """Why this run stops before its first call; empty: it may begin."""
    scaffolding = any(phase.scaffold for phase in state.plan.phases) if state.plan else False
    for result in state.baseline:
        if result.required and (words := _wrong(result, scaffolding)):
            return f"environment: {result.name}: {words} — {result.hint or LOOK}"
    if state.baseline and not scaffolding and not any(result.kind in SHOWING for result in state.baseline):
        for task in state.plan.tasks() if state.plan else ():
            if not task.verify and (not task.proof or held_by_tests(task.proof)):
                what = f"hold task {task.id} to “{task.proof}”" if task.proof else f"prove task {task.id}"
                words = f"no check here runs a test, so nothing could {what}"
                cure = "give it a `verify:` command, or add the tests to [[checks.run]]"
                cure += "; `proof: none` takes it on trust" if task.proof else ""
                return f"environment: {words} — {cure}"
    return ""


def _wrong(result: CheckResult, scaffolding: bool) -> str:
    if result.only_in_clone:
        more = f" and {len(result.only_in_clone) - 1} more" if len(result.only_in_clone) > 1 else ""
        return f"passes in your checkout, not in a clone: {result.only_in_clone[0]}{more}"
    match result.verdict:
        case Verdict.PASS | Verdict.FAIL:
            return ""
        case Verdict.ERROR:
            return result.reason
        case Verdict.NOT_RUN:
            empty = result.kind is CheckKind.TESTS and result.counts is not None and not result.failing
            return "" if empty and (scaffolding or result.no_tests_yet) else result.reason
        case _:
            assert_never(result.verdict)
