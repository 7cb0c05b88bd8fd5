"""What a gate says: title, facts, the review's issues with FIX, ALTERNATIVE and CONFIDENCE, notes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.core.model import Issue, Review, Verdict
from engine.core.state import GateState, TaskState
from engine.core.vocabulary import Claim, GateKind
from engine.core.wording import plural
from tui.kit.glyphs import of_verdict
from tui.kit.paint import BLANK, Line, Span, cells_of, fitting, outside, plain, spread, width_of, wrap
from tui.kit.view import View
from tui.kit.wording import duration, short_hash


def gate_title(view: View, gate: GateState, at: int, of: int, width: int) -> Line:
    """FIX GATE  T1.2 Hash passwords — needs changes (attempt 2)            1 of 3 · waiting 0:21"""
    glyphs = view.glyphs
    task = view.state.tasks.get(gate.task)
    name = gate_name(view, gate)
    kind, said = heading(gate, task)
    left: list[Span] = [(f"{glyphs.gate} {kind}  ", "gate bold"), (name, "fg bold")]
    more: Span = (f" {glyphs.dash} {said}", "fg")
    right: list[Span] = []
    if of > 1:
        right.append((f"{at} of {of}  [ ]  ", "gate"))
    if view.answers_in is not None:
        right.append((f"the demo answers in {view.answers_in:.0f} s  ", "warn bold"))
    right.append((f"{outside(gate.id)}  waiting {duration(view.now - gate.opened_at)}", "muted"))
    if width_of([*left, more]) + width_of(right) + 2 <= width:  # the card says it, too
        left.append(more)
    return spread(left, right, width)


def heading(gate: GateState, task: TaskState | None) -> tuple[str, str]:
    """What the bar calls the gate, and what is the matter."""
    match gate.kind:
        case GateKind.FIX:
            return "FIX GATE", f"needs changes (attempt {gate.attempt})"
        case GateKind.TASK:
            return "TASK GATE", "approved"
        case GateKind.BLOCKED:
            return "BLOCKED", "failed" if task is not None and task.claim is Claim.FAILED else "blocked"
        case GateKind.PERMISSION:
            return "QUESTION", "needs a permission"
        case GateKind.QUESTION:
            return "QUESTION", "from the planner"
        case GateKind.PLAN:
            return "PLAN", "waiting for your approval"
        case GateKind.PRD:
            return "REQUIREMENTS", "waiting for your approval"
        case GateKind.SPRINT:
            return "FINAL REVIEW", "changes requested"
        case GateKind.LEARNING:
            return "LEARNING", "contradicted by agents"
        case _:
            assert_never(gate.kind)


def gate_name(view: View, gate: GateState) -> str:
    """The task a gate is about, or the gate's own title where it is about none."""
    task = view.state.tasks.get(gate.task)
    return f"T{outside(gate.task)} {outside(task.spec.title)}" if task else outside(gate.title).removeprefix("Plan: ")


def gate_facts(view: View, gate: GateState, task: TaskState | None, width: int) -> Line:
    """Diffstat, checks, criteria and the tree an approval binds to: measured, not claimed."""
    if task is None:
        return BLANK
    glyphs = view.glyphs
    parts: list[list[Span]] = []
    if task.changes:
        added, removed = sum(item.added for item in task.changes), sum(item.removed for item in task.changes)
        files = plural(len(task.changes), "file")
        parts.append([(files, "fg"), (f" +{added}", "added"), (f" {glyphs.minus}{removed}", "removed")])
    if task.checks:
        checks: list[Span] = []
        for result in task.checks:
            sign, _, style = of_verdict(result.verdict, glyphs)
            counted = f" {result.counts.passed}/{result.counts.total}" if result.counts and result.counts.total else ""
            checks += [(f"{' ' if checks else ''}{sign} ", style), (f"{outside(result.name)}{counted}", "fg")]
        parts.append(checks)
    review = task.review
    if review is not None and review.criteria:
        met = sum(item.met for item in review.criteria)
        parts.append([(f"{met}/{len(review.criteria)} criteria", "fg" if met == len(review.criteria) else "warn")])
    if gate.tree:
        parts.append([(f"for tree {short_hash(gate.tree)}", "muted")])
    if gate.evidence:
        parts.append([(f"evidence {short_hash(gate.evidence)}", "muted")])
    return fitting(parts, width, "   ")


def gate_body(view: View, gate: GateState, width: int) -> list[Line]:
    """Everything there is to read before answering."""
    task = view.state.tasks.get(gate.task)
    lines: list[Line] = []
    facts = gate_facts(view, gate, task, width)
    if facts and gate.kind is not GateKind.BLOCKED:
        lines.append(facts)
    lines += void_lines(view, gate, width)
    if gate.forced:
        words = f"Implementer and reviewer do not agree after {plural(gate.attempt, 'attempt')}: you decide."
        lines += wrap(words, width, "warn")
    review = task.review if task is not None else None
    if gate.kind is GateKind.FIX and review is not None:
        for number, issue in enumerate(review.issues, 1):
            lines += issue_lines(issue, number, width)
        lines += review_tail(view, review, width)
    else:
        lines += said_lines(view, gate, task, width)
        if review is not None:
            lines += criteria_lines(view, review, width)
            lines += review_tail(view, review, width, told=gate.body)
    if facts and gate.kind is GateKind.BLOCKED:
        lines.append(facts)
    lines += _talk(gate, width)
    return lines


def void(gate: GateState, task: TaskState | None) -> bool:
    return task is not None and bool(gate.tree) and task.tree != gate.tree


def void_lines(view: View, gate: GateState, width: int) -> list[Line]:
    """A warning, where an approval would not count."""
    if not void(gate, view.state.tasks.get(gate.task)):
        return []
    return wrap("The code has changed since this gate opened: an approval would not count.", width, "bad bold")


def issue_lines(issue: Issue, number: int, width: int) -> list[Line]:
    """One issue of a review, with what to do about it."""
    place = f"  {outside(issue.path)}{':' + str(issue.line) if issue.line else ''}" if issue.path else ""
    style = "bad bold" if issue.critical else "fg bold"
    lines = wrap(f"{outside(issue.text)}", width, style, first=f"{number} ")
    if place:
        lines.append((("  ", ""), (place.strip(), "accent")))
    for label, text in (("FIX", issue.fix), ("ALTERNATIVE", issue.alternative), ("CONFIDENCE", issue.confidence)):
        if text:
            lines += wrap(outside(text), width, "fg", first=f"  {label:<12}", rest=" " * 14)
    return lines


def criteria_lines(view: View, review: Review, width: int) -> list[Line]:
    lines: list[Line] = []
    for item in review.criteria:
        sign, _, style = of_verdict(Verdict.PASS if item.met else Verdict.FAIL, view.glyphs)
        where, text = outside(item.reference), outside(item.text)
        beside = bool(where) and cells_of(text) + cells_of(where) + 4 <= width
        first, *rest = wrap(text, width, "fg", first="  ")
        lines.append(((f"{sign} ", style), *first[1:], (f"  {where}" if beside else "", "muted")))
        lines += rest
        if where and not beside:
            lines += wrap(where, width, "muted", first="  ")
    return lines


def review_tail(view: View, review: Review, width: int, told: str = "") -> list[Line]:
    """Notes and summary; what the gate has told already is not said twice."""
    lines: list[Line] = []
    for note in review.notes:
        lines += wrap(outside(note), width, "muted", first="note  ", rest="      ")
    if review.summary and review.summary not in told:
        lines += wrap(outside(review.summary), width, "muted", first="review  ", rest="        ")
    return lines


def left_to_do(action: str, *told: str) -> str:
    """What is to be done without what was told above it: of `a key is missing — then: retry` the retry."""
    needed, then, what = action.partition(" — then: ")
    return what if then and any(needed in words for words in told) else action


def said_lines(
    view: View, gate: GateState, task: TaskState | None, width: int, told: Sequence[Line] = ()
) -> list[Line]:
    """What the engine and the agent say at a gate, without what stands in `told` already."""
    above = _bare(plain(told))
    lines: list[Line] = []
    text = gate.body or (task.blocker if task is not None else "")
    paragraphs = [paragraph.strip() for paragraph in text.split("\n")]
    for at, paragraph in enumerate(paragraphs):
        if paragraph and not any(paragraph in other for other in paragraphs[:at]):  # a reason quotes what follows it
            label, colon, action = paragraph.partition(": ")
            if above and (_bare(paragraph) in above or (colon and _bare(action) in above)):
                continue
            words = f"{label}{colon}{left_to_do(action, *paragraphs[:at])}"
            lines += wrap(outside(words), width, "fg")
    if task is not None and gate.kind is GateKind.BLOCKED and task.action and task.action not in text:
        lines += wrap(outside(task.action), width, "accent", first="to do: ")
    if task is not None and gate.kind is GateKind.TASK and task.summary and task.summary not in text:
        lines += wrap(outside(task.summary), width, "muted", first="agent: ")
    return lines


def _bare(words: str) -> str:
    """Without blanks: however it was wrapped."""
    return "".join(words.split())


def _talk(gate: GateState, width: int) -> list[Line]:
    if not gate.questions:
        return []
    question, answer = gate.questions[-1]
    lines = wrap(outside(question), width, "fg", first="you asked  ")
    lines += wrap(
        outside(answer) if answer else "the answer is on its way",
        width,
        "fg" if answer else "muted",
        first="answer     ",
    )
    return [BLANK, *lines]
