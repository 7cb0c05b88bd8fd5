"""The human gates: when one opens, what may be answered, and what unattended does instead."""

from __future__ import annotations

from engine.core.state import GateState, State, TaskState

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
    if task is not None and gate.tree and task.tree != gate.tree and choice in ("yes", "auto"):
        return f"the tree changed since gate {gate.id} opened; the approval is void"
    return ""


def fix_gate_needed(state: State, task: TaskState) -> bool:
    """Asked when gated; from the third attempt on always, when somebody attends."""
    if not state.attended:
        return False
    return not state.auto_mode("fix") or forced(state, task)


def forced(state: State, task: TaskState) -> bool:
    return task.fix_attempts >= state.policy.gates.force_fix_at


def unattended_answer(gate: GateState) -> str:
    """What happens to a gate left open when nobody attends any more: the ladder decides, or it stays blocked."""
    return {"fix": "yes", "task": "yes"}.get(gate.kind, "blocked")
