"""The human gates: when one opens, what may be answered, and what unattended does instead."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from engine.core import gate_choices
from engine.core.events import GateOpened, GatePassed, HealthChanged, TaskEnded
from engine.core.model import Decision, Health, Issue, ProofVerdict, Question, Verdict
from engine.core.state import GateState, State, Status, TaskState
from engine.core.task_state import Step
from engine.core.verdict import for_human, of_checks
from engine.core.vocabulary import Choice, Claim, GateKind, Recovery

ASKING = (Recovery.HUMAN, Recovery.BACK_TWO)
"""Recoveries that put a question."""
MAY_BE_AUTO = (GateKind.FIX, GateKind.TASK)
"""Gates that may answer themselves. What only a human can move never does."""


def problem(gate: GateState, task: TaskState | None, choice: Choice, text: str, tree: str = "") -> str:
    """Why an answer cannot be taken, in words; empty if it can."""
    if not gate.open:
        return f"gate {gate.id} was answered already: {gate.choice}"
    if choice not in gate.choices:
        return f"'{choice}' is no answer to a {gate.kind} gate; choose one of: {', '.join(gate.choices)}"
    if gate_choices.BY_CHOICE[choice].needs_text and not text.strip():
        return f"'{choice}' needs words: devteam answer {gate.id} {choice} \"…\""
    if tree and tree != gate.tree:
        return f"gate {gate.id} asks about another tree than the one you saw; look again"
    if task is not None and approves(gate.kind, choice) and task.tree != gate.tree:
        return f"the tree changed since gate {gate.id} opened; the approval is void"
    return ""


def approves(kind: GateKind, choice: Choice) -> bool:
    """The answer lets the tree through: approved as done, or the reviewer overridden."""
    meant = gate_choices.meaning(kind, choice)
    return meant is not None and meant.approves


def fix_gate_needed(state: State, task: TaskState) -> bool:
    """Asked when gated; from the third attempt on always, when somebody attends."""
    if not state.attended:
        return False
    return not state.auto_mode(GateKind.FIX) or forced(state, task)


def forced(state: State, task: TaskState) -> bool:
    return task.fix_attempts >= state.policy.gates.force_fix_at


def unattended_answer(gate: GateState) -> Choice:
    """What happens to a gate left open when nobody attends any more: yes, or it is withdrawn."""
    match gate.kind:
        case GateKind.FIX:
            return Choice.YES
        case GateKind.TASK:
            return Choice.BLOCKED if gate.forced else Choice.YES  # A finding for a human is never approved by nobody.
        case (
            GateKind.BLOCKED | GateKind.PERMISSION | GateKind.QUESTION | GateKind.PLAN | GateKind.PRD | GateKind.SPRINT
        ):
            return Choice.BLOCKED
        case GateKind.LEARNING:
            return Choice.WITHDRAWN  # It is asked again when somebody is there.
        case _:
            assert_never(gate.kind)


def open_fix(state: State, task: TaskState, name: str) -> GateOpened:
    """The review wants changes: pass its analysis on, adjust it, or override it."""
    attempt = task.fix_attempts
    title = f"Review for Task {task.id}: {task.spec.title} — needs changes (attempt {attempt})"
    lines = []
    if task.decision not in (None, Decision.ITERATE):
        lines.append(f"The loop would go on with {task.decision.value}: {task.reason}")
    if forced(state, task):
        lines.append(
            f"The executor and reviewer have not converged after {attempt} attempts. Escalating for human review."
        )
    review = task.review
    if review is not None:
        lines += [_issue(issue) for issue in review.issues]
        lines += [f"unmet: {criterion.text}" for criterion in review.criteria if not criterion.met]
        if review.notes:
            lines += ["Notes (non-blocking):", *(f"- {note}" for note in review.notes)]
    return _opened(name, task, GateKind.FIX, title, lines, forced(state, task))


def open_task(state: State, task: TaskState, name: str) -> GateOpened:
    """The evidence is complete: approve the tree, or ask for more."""
    approved = task.review is not None and task.review.approved
    title = f"Task {task.id}: {task.spec.title} — {'approved' if approved else 'ready, not reviewed'}"
    phases = state.plan.phases if state.plan is not None else ()
    phase = phases[task.phase].title if 0 <= task.phase < len(phases) else ""
    lines = [f"Phase: {task.phase + 1} — {phase}", task.review.summary if task.review is not None else "", task.reason]
    if task.override:
        lines.append(task.override)
    lines += _proof_lines(task)
    if task.landed:
        lines.append(f"Landed since it was judged: {'; '.join(task.landed[-5:])}")
    if task.difference:
        lines += ["What that changed in this task's own change:", task.difference]
    asked = for_human(task)
    lines += [f"LOOK AT THIS: {finding.text}" + (f" ({finding.path})" if finding.path else "") for finding in asked]
    return _opened(name, task, GateKind.TASK, title, [line for line in lines if line], bool(asked))


def _proof_lines(task: TaskState) -> list[str]:
    """What was shown, and how: measured, never claimed."""
    if task.proof is None:
        return []
    head = f"{task.proof.value}: {task.proof_reason}" if task.proof_reason else task.proof.value
    return [head, *(f"- {proof.kind}: {proof.name}" for proof in task.proofs[:5])]


def nobody_looked(task: TaskState) -> TaskEnded:
    """A finding that only a human may wave through, and nobody attends."""
    first = for_human(task)[0]
    action = f"look at: devteam evidence {task.id}; then: devteam retry {task.id}, with somebody attending"
    return TaskEnded(task=task.id, decision=Decision.BLOCKED, reason=f"for a human: {first.text}", action=action)


def pass_task(state: State, task: TaskState) -> GatePassed:
    """Nobody is asked, and the record says so."""
    return GatePassed(task=task.id, kind=GateKind.TASK, by="auto" if state.attended else "unattended", tree=task.tree)


def question_words(task: TaskState) -> str:
    """What the change needs, in a line."""
    asked = task.questions
    more = f" (and {len(asked) - 1} more)" if len(asked) > 1 else ""
    need = "not shown" if task.proof is ProofVerdict.UNPROVEN else "needs a permission"
    return f"{need}: {asked[0].text}{more}" if asked else task.reason or need


def question_action(task: TaskState) -> str:
    return "; ".join(f'devteam allow {task.id} "{question.allow}"' for question in task.questions[:3])


def waiting_questions(state: State) -> list[tuple[TaskState, Question]]:
    """Every permission that work waits for: what a human is asked in the morning."""
    waiting = [
        task for task in state.tasks.values() if task.status is Status.PARKED or task.step is Step.PERMISSION_GATE
    ]
    return [(task, question) for task in waiting for question in task.questions]


def open_permission(task: TaskState, name: str) -> GateOpened:
    """The change needs what its plan does not give: the old, the new, and the line that would grant it."""
    title = f"Task {task.id}: {task.spec.title} — needs a permission"
    lines = ["The work is kept. Allowing it checks the same tree again; no agent is called."]
    for question in task.questions:
        line = f":{question.line}" if question.line else ""
        place = f" ({question.path}{line})" if question.path else ""
        lines.append(f"QUESTION: {question.text}{place}")
        lines += [f"  BEFORE: {question.before}"] if question.before else []
        lines += [f"  AFTER:  {question.after}"] if question.after else []
        lines.append(f"  allow: {question.allow}")
    return _opened(name, task, GateKind.PERMISSION, title, lines, True)


def blocker(task: TaskState) -> str:
    """What stands in the way, in words; empty where the monitor has another name for it."""
    return task.blocker or ("" if task.recovery in ASKING else task.reason)


def name_blocker(task: TaskState) -> HealthChanged | None:
    """BLOCKED → name the blocker; None once that is said."""
    words = blocker(task)
    if not words or (task.health, task.health_reason) == (Health.BLOCKED, words):
        return None
    return HealthChanged(task=task.id, health=Health.BLOCKED, reason=words)


def open_blocked(state: State, task: TaskState, name: str) -> GateOpened:
    """Something only a human can move."""
    word = "failed" if task.claim is Claim.FAILED else "blocked"
    title = f"Task {task.id}: {task.spec.title} — {word}"
    lines = [task.blocker or task.reason, task.claim_text, f"to do: {task.action}" if task.action else ""]
    if task.decision in (Decision.ITERATE, Decision.ESCALATE) and task.recovery in ASKING:
        then = "the recoveries are used up" if task.recovery is Recovery.HUMAN else "the next attempt goes back two"
        lines.append(f"{task.health.value}: {task.health_reason}; {then}")
    opened = _opened(name, task, GateKind.BLOCKED, title, [line for line in lines if line], False)
    out = () if acceptable(task) else (Choice.ACCEPT,)
    out = out if _replannable(state, task) else (*out, Choice.REPLAN)
    return replace(opened, choices=tuple(choice for choice in opened.choices if choice not in out))


def _replannable(state: State, task: TaskState) -> bool:
    """Another plan helps where the work itself is the matter, one at a time."""
    return not task.mend and state.plan is not None and not (state.planning is not None and state.planning.under_way)


def acceptable(task: TaskState) -> bool:
    """Accept as is: the tree is in scope and its checks are green; all else is a human's to wave through."""
    measured = not task.error and task.scope_verdict is Verdict.PASS
    measured = measured and task.proof not in (ProofVerdict.FAIL, ProofVerdict.ERROR)
    return measured and bool(task.tree) and of_checks(task.checks, task.findings, asked=True)[0] is Verdict.PASS


def _opened(name: str, task: TaskState, kind: GateKind, title: str, lines: list[str], pressing: bool) -> GateOpened:
    return GateOpened(
        gate=name,
        task=task.id,
        kind=kind,
        title=title,
        body="\n".join(lines),
        attempt=task.fix_attempts if kind is GateKind.FIX else task.iteration,
        choices=gate_choices.offered(kind),
        tree=task.tree,
        evidence=task.evidence,
        forced=pressing,
    )


def _issue(issue: Issue) -> str:
    place = f" ({issue.path}:{issue.line})" if issue.path else ""
    parts = [f"ISSUE: {issue.text}{place}"]
    parts += [f"  FIX: {issue.fix}"] if issue.fix else []
    parts += [f"  ALTERNATIVE: {issue.alternative}"] if issue.alternative else []
    parts += [f"  CONFIDENCE: {issue.confidence}"] if issue.confidence else []
    return "\n".join(parts)
