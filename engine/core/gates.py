"""The human gates: when one opens, what may be answered, and what unattended does instead."""

from __future__ import annotations

from engine.core.events import GateOpened, GatePassed, HealthChanged, TaskEnded
from engine.core.model import Decision, Health, Issue
from engine.core.state import GateState, State, TaskState
from engine.core.verdict import for_human

CHOICES = {
    "fix": ("yes", "auto", "skip", "ask", "comment"),
    "task": ("yes", "auto", "ask", "comment"),
    "blocked": ("retry", "skip", "stop", "ask"),
}
SHORT = {
    "y": "yes",
    "a": "auto",
    "s": "skip",
    "?": "ask",
    "c": "comment",
    "r": "retry",
    "t": "stop",
}
ASKING = ("human", "back_two")
"""Recoveries that put a question."""
NEEDS_TEXT = frozenset({"ask", "comment"})


def normalise(choice: str) -> str:
    word = choice.strip().lower()
    return SHORT.get(word, word)


def problem(gate: GateState, task: TaskState | None, choice: str, text: str, tree: str = "") -> str:
    """Why an answer cannot be taken, in words; empty if it can."""
    if not gate.open:
        return f"gate {gate.id} was answered already: {gate.choice}"
    if choice not in gate.choices:
        return f"'{choice}' is no answer to a {gate.kind} gate; choose one of: {', '.join(gate.choices)}"
    if choice in NEEDS_TEXT and not text.strip():
        return f"'{choice}' needs words: devteam answer {gate.id} {choice} \"…\""
    if tree and tree != gate.tree:
        return f"gate {gate.id} asks about another tree than the one you saw; look again"
    if task is not None and approves(gate.kind, choice) and task.tree != gate.tree:
        return f"the tree changed since gate {gate.id} opened; the approval is void"
    return ""


def approves(kind: str, choice: str) -> bool:
    """The answer lets the tree through: approved as done, or the reviewer overridden."""
    return choice in ("yes", "auto") if kind == "task" else kind == "fix" and choice == "skip"


def fix_gate_needed(state: State, task: TaskState) -> bool:
    """Asked when gated; from the third attempt on always, when somebody attends."""
    if not state.attended:
        return False
    return not state.auto_mode("fix") or forced(state, task)


def forced(state: State, task: TaskState) -> bool:
    return task.fix_attempts >= state.policy.gates.force_fix_at


def unattended_answer(gate: GateState) -> str:
    """What happens to a gate left open when nobody attends any more: yes, or ("blocked") it is withdrawn."""
    if gate.kind == "task" and gate.forced:
        return "blocked"  # A finding for a human is never approved by nobody.
    return {"fix": "yes", "task": "yes"}.get(gate.kind, "blocked")


def open_fix(state: State, task: TaskState, name: str) -> GateOpened:
    """The review wants changes: pass its analysis on, adjust it, or override it."""
    attempt = task.fix_attempts
    title = f"Review for Task {task.id}: {task.spec.title} — needs changes (attempt {attempt})"
    lines = []
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
    return _opened(name, task, "fix", title, lines, forced(state, task))


def open_task(state: State, task: TaskState, name: str) -> GateOpened:
    """The evidence is complete: approve the tree, or ask for more."""
    title = f"Task {task.id}: {task.spec.title} — approved"
    phases = state.plan.phases if state.plan is not None else ()
    phase = phases[task.phase].title if 0 <= task.phase < len(phases) else ""
    lines = [f"Phase: {task.phase + 1} — {phase}", task.review.summary if task.review is not None else "", task.reason]
    asked = for_human(task)
    lines += [f"LOOK AT THIS: {finding.text}" + (f" ({finding.path})" if finding.path else "") for finding in asked]
    return _opened(name, task, "task", title, [line for line in lines if line], bool(asked))


def nobody_looked(task: TaskState) -> TaskEnded:
    """A finding that only a human may wave through, and nobody attends."""
    first = for_human(task)[0]
    action = f"look at: devteam evidence {task.id}; then: devteam retry {task.id}, with somebody attending"
    return TaskEnded(task=task.id, decision=Decision.BLOCKED, reason=f"for a human: {first.text}", action=action)


def pass_task(state: State, task: TaskState) -> GatePassed:
    """Nobody is asked, and the record says so."""
    return GatePassed(task=task.id, kind="task", by="auto" if state.attended else "unattended", tree=task.tree)


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
    word = "failed" if task.claim == "failed" else "blocked"
    title = f"Task {task.id}: {task.spec.title} — {word}"
    lines = [task.blocker or task.reason, task.claim_text, f"what mends it: {task.action}" if task.action else ""]
    if task.decision in (Decision.ITERATE, Decision.ESCALATE) and task.recovery in ASKING:
        then = "the recoveries are used up" if task.recovery == "human" else "the next attempt goes back two"
        lines.append(f"{task.health.value}: {task.health_reason}; {then}")
    return _opened(name, task, "blocked", title, [line for line in lines if line], False)


def _opened(name: str, task: TaskState, kind: str, title: str, lines: list[str], pressing: bool) -> GateOpened:
    return GateOpened(
        gate=name,
        task=task.id,
        kind=kind,
        title=title,
        body="\n".join(lines),
        attempt=task.fix_attempts if kind == "fix" else task.iteration,
        choices=CHOICES[kind],
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
