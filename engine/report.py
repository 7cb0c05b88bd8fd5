"""The seeds' reports, from state alone: iteration, completion, progress banner, council."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.core import events as ev
from engine.core.clean import clean, clean_line
from engine.core.fold import apply
from engine.core.model import CheckKind, CheckResult, Decision, FaultDomain, Verdict
from engine.core.state import State, Status, TaskState
from engine.core.status_words import of_outcome
from engine.core.task_state import Record
from engine.core.verdict import counts
from engine.core.vocabulary import Outcome
from engine.core.wording import plural

RULE = "═" * 63
SHORT_RULE = "═" * 43
_KINDS = (
    ("Tests", CheckKind.TESTS),
    ("Types", CheckKind.TYPES),
    ("Lint", CheckKind.LINT),
    ("Security", CheckKind.SECURITY),
    ("Build", CheckKind.BUILD),
    ("Own", CheckKind.OWN),
)


def iteration(state: State, task: TaskState) -> str:
    """The report of a task's present (just decided) iteration."""
    rungs = state.policy.ladder.rungs
    record = task.history[-1] if task.history else None
    rung = rungs[min(record.rung if record else task.rung, len(rungs) - 1)]
    failed = bool(task.error) and not task.checks
    lines = [
        RULE,
        f" TASK LOOP - Iteration {task.iteration}/{state.policy.max_iterations + task.granted}",
        RULE,
        "",
        f"[Task] {task.id}: {clean_line(task.spec.title)}",
        f"[Model] {rung.name} (complexity: {task.complexity}/14)",
        "",
        "[Implementation]",
        f"  Agent: {rung.agent}",
        f"  Status: {'failed' if failed else 'completed'}",
        f"  Files: {len(task.changes)} modified",
        "",
        "[Quality Gates]",
        *_gates(task),
        "",
        "[Requirements]",
        *_requirements(task),
        "",
        "[Decision]",
        f"  {task.decision.value if task.decision else 'UNDECIDED'}",
        f"  Reason: {clean_line(task.reason)}",
        *_fault(record),
        "",
        RULE,
    ]
    return "\n".join(lines)


def _fault(record: Record | None) -> list[str]:
    """Whose fault it was, where it was not the code's."""
    fault = record.fault if record is not None else None
    return [f"  Fault: {fault.value}"] if fault not in (None, FaultDomain.CODE) else []


def completion(state: State, task: TaskState) -> str:
    """The report of a task that has ended."""
    rungs = state.policy.ladder.rungs
    passed, total = counts(task.checks)
    word = "COMPLETE" if task.status is Status.COMPLETE else (task.decision or Decision.BLOCKED).value
    climbs = [climb for climb in state.escalations if climb.task == task.id]
    widest = max((len(rung.name) for rung in rungs), default=0) + 1
    tested = any(result.kind is CheckKind.TESTS for result in task.checks)
    green = "YES" if total and passed == total else f"NO ({passed}/{total})"
    usage = []
    for rung in rungs:
        calls = task.calls.get(rung.name, 0)
        name = f"{rung.name.capitalize()}:".ljust(widest)
        usage.append(f"  {name} {plural(calls, 'call')}")
    lines = [
        RULE,
        f" TASK LOOP - {word}",
        RULE,
        "",
        f"Task: {task.id} {clean_line(task.spec.title)}",
        f"Status: {word}",
        f"Iterations: {task.iteration}",
        f"Final Model: {rungs[min(task.rung, len(rungs) - 1)].name}",
        "",
        "[Quality Summary]",
        f"  All tests passing: {green if tested else 'not checked'}",
        f"  Type errors: {_errors(task, CheckKind.TYPES)}",
        f"  Lint errors: {_errors(task, CheckKind.LINT)}",
        f"  Security issues: {_errors(task, CheckKind.SECURITY)}",
        "",
        "[Requirements]",
        f"  All criteria met: {_all_met(task)}",
        *([f"  Overridden: {clean_line(task.override) or 'by the human'}"] if task.overridden else []),
        *([f"  Proof: {task.proof.value} {clean_line(task.proof_reason)}".rstrip()] if task.proof else []),
        "",
        "[Model Usage]",
        *usage,
        "",
        "[Escalations]",
        *(
            [
                f"  {climb.source} → {climb.target} (iteration {climb.iteration}): {clean_line(climb.reason)}"
                for climb in climbs
            ]
            or ["  none"]
        ),
        "",
        "[Cost]",
        f"  ${task.spent_usd:.2f}",
        *(["", "[Reason]", f"  {clean_line(task.reason)}"] if task.status is not Status.COMPLETE else []),
        *([f"  What you can do: {clean_line(task.action)}"] if task.action else []),
        *([f"  Kept: {task.kept.ref}"] if task.kept is not None and task.kept.ref and not task.commit else []),
        "",
        RULE,
    ]
    return "\n".join(lines)


def banner(state: State, sprints: tuple[int, int] = (0, 0)) -> str:
    """The progress banner of autonomous mode. `sprints`: how many of the repository's are complete."""
    done, total = sprints if sprints[1] else (int(state.outcome is Outcome.DONE), 1)
    current = next((task for task in state.tasks.values() if task.status is Status.RUNNING), None)
    failures = max((breaker.failures for breaker in state.breakers.values()), default=0)
    ended = "IDLE" if state.outcome is None else of_outcome(state.outcome).word
    word = "CONTINUING" if state.running else "COMPLETE" if state.outcome is Outcome.DONE else ended
    if any(breaker.opened_at for breaker in state.breakers.values()):
        word = "CIRCUIT_BREAKER"
    lines = [
        SHORT_RULE,
        f"AUTONOMOUS MODE - Iteration {state.iterations}",
        SHORT_RULE,
        f"Sprints: {done}/{total}",
        f"Current: {state.sprint} - {current.id if current else '~'}",
        f"Failures: {failures}/{state.policy.breaker.threshold}",
        f"Status: {word}",
        SHORT_RULE,
    ]
    return "\n".join(lines)


def replayed(envelopes: Iterable[ev.Envelope]) -> Iterator[tuple[State, ev.Envelope]]:
    """States after each event, for the reports of what is past."""
    state = State()
    for envelope in envelopes:
        state = apply(state, envelope)
        yield state, envelope


def iterations(envelopes: Iterable[ev.Envelope], task: str = "", number: int = 0) -> Iterator[str]:
    """The iteration reports of the past, all or of one task, or one of them."""
    for state, envelope in replayed(envelopes):
        event = envelope.event
        if not isinstance(event, ev.Decided) or (task and event.task != task) or (number and event.iteration != number):
            continue
        yield iteration(state, state.tasks[event.task])


def council(task: TaskState) -> str:
    """The Bug Council's diagnosis, seat by seat."""
    if not task.seats and task.diagnosis is None:
        return "The Bug Council has not sat for this task."
    lines = [RULE, f" BUG COUNCIL - Task {task.id}", RULE, ""]
    for seat, text in task.seats.items():
        lines += [f"[{seat}]", clean(text) or "(absent)", ""]
    if task.diagnosis is not None:
        lines += [
            "[Root cause]",
            clean(task.diagnosis.root_cause),
            "",
            "[Recommended fix]",
            clean(task.diagnosis.recommended_fix),
        ]
        lines += ["", "[Architectural insight]", clean(task.diagnosis.insight) or "-", "", "[Test cases]"]
        lines += [f"- {clean_line(case)}" for case in task.diagnosis.test_cases] or ["-"]
    return "\n".join([*lines, "", RULE])


def _gates(task: TaskState) -> list[str]:
    lines = []
    for label, kind in _KINDS:
        results = [result for result in task.checks if result.kind is kind]
        if not results and kind in (CheckKind.BUILD, CheckKind.OWN):
            continue
        lines.append(f"  {(label + ':').ljust(10)} {_verdict(results)}")
    return lines


def _verdict(results: list[CheckResult]) -> str:
    if not results:
        return "NOT_RUN"
    order = (Verdict.ERROR, Verdict.FAIL, Verdict.NOT_RUN, Verdict.PASS)
    word = next(verdict for verdict in order if any(result.verdict is verdict for result in results))
    passed, total = counts(results)
    return f"{word.value} ({passed}/{total})" if total else word.value


def _requirements(task: TaskState) -> list[str]:
    met, criteria = criteria_of(task)
    if task.review is None:
        return ["  Status: NOT_RUN", f"  Criteria: 0/{criteria}"]
    word = "PASS" if task.review.approved and met == criteria else "FAIL"
    lines = [
        f"  Status: {word}{' (overridden by the human)' if task.overridden else ''}",
        f"  Criteria: {met}/{criteria}",
    ]
    for issue in task.review.issues:
        lines.append(f"  - {clean_line(issue.text)}")
        lines += [f"    FIX: {clean_line(issue.fix)}"] if issue.fix else []
    return lines


def _all_met(task: TaskState) -> str:
    met, criteria = criteria_of(task)
    if criteria and task.review is None:
        return f"not judged (0/{criteria})"
    return f"{'YES' if met == criteria else 'NO'} ({met}/{criteria})"


def criteria_of(task: TaskState) -> tuple[int, int]:
    if task.review is None:
        return 0, len(task.spec.accept)
    return sum(criterion.met for criterion in task.review.criteria), max(
        len(task.spec.accept), len(task.review.criteria)
    )


def _errors(task: TaskState, kind: CheckKind) -> str:
    results = [result for result in task.checks if result.kind is kind]
    if not results or all(result.verdict is Verdict.NOT_RUN for result in results):
        return "not checked"
    return str(sum(result.errors for result in results))
