"""The iteration pane: every step of the loop with its verdict, live; then the decision and its reason."""

from __future__ import annotations

from engine.core.activity import CheckProgress
from engine.core.effects import CallAgent, CheckScope, PrepareWorkspace, RunChecks, Wait
from engine.core.model import CheckResult, Role, Verdict
from engine.core.state import Status, TaskState
from engine.core.task_state import Step
from engine.core.wording import plural
from tui.kit.glyphs import of_decision, of_verdict
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, joined, outside, pad, spread, width_of, wrap
from tui.kit.view import View
from tui.kit.wording import duration
from tui.panels.panel import Panel, shorter

LABEL = 10
CUT_TITLE = 64
"""Cells of the border from which a title is cut there rather than left out."""
CHECKS = ("tests", "types", "lint", "security", "build")

Row = tuple[str, Span, list[Span], str]
"""Label, sign, words, and what stands at the right."""


def iteration_lines(view: View, width: int, height: int) -> list[Line]:
    """The steps of the selected task's present iteration."""
    task = view.task
    if task is None:
        return [(("nothing is running yet", "muted"),)]
    rows = [_implement(view, task), _scope(view, task), *_checks(view, task), _review(view, task)]
    tail = _decision(view, task, width)
    if len(rows) + len(tail) > height > 0:
        rows = [rows[0], rows[1], *_squeezed(rows[2:-1], width), rows[-1]]
    if len(rows) + len(tail) > height > 0 and tail and not tail[0]:
        tail = tail[1:]
    if 0 < height < 7:  # beside an open gate on a small screen: the gate says the rest
        tail = tail[: max(0, height - len(rows))]
    return [*(_line(row, width) for row in rows), *tail]


def squeezed_rows(view: View, width: int) -> tuple[int, int]:
    """Rows with the checks beside each other, and how many of them are the decision."""
    decision = sum(bool(line) for line in _decision(view, view.task, width)) if view.task is not None else 0
    return len(iteration_lines(view, width, 1)) + decision, decision


def _line(row: Row, width: int) -> Line:
    label, (sign, style), words, right = row
    if LABEL + 3 + width_of(words) + cells_of(right) > width:  # whole or not at all; the words come first
        right = ""
    left: list[Span] = [(pad(label, LABEL), "muted"), (f"{sign} ", style), *words]
    return spread(left, [(right, "muted")] if right else [], width, gap=1)


def _squeezed(rows: list[Row], width: int) -> list[Row]:
    """Tests on their own line, the other checks together on as few as the width allows."""
    if len(rows) < 3:
        return rows
    out: list[Row] = [rows[0]]
    used = width
    for label, (sign, style), _, _ in rows[1:]:
        words: list[Span] = [(label, "fg" if style != "muted" else "muted")]
        if used + len(label) + 3 > width:
            out.append(("checks" if len(out) == 1 else "", (sign, style), words, ""))
            used = LABEL + 2 + len(label)
        else:
            out[-1][2].extend([(f" {sign} ", style), *words])
            used += len(label) + 3
    return out


def _implement(view: View, task: TaskState) -> Row:
    glyphs = view.glyphs
    effect = view.under_way(task.id)
    took = view.seconds_of(effect)
    if isinstance(effect, CallAgent) and effect.role is Role.IMPLEMENTER:
        why = "in a fresh session" if task.earlier and not task.reverted else "stricter"
        again = f"attempt {task.attempt}, {why}" if task.attempt > 1 else "agent running"
        return "implement", (glyphs.run, "accent"), [(again, "accent")], duration(took) if took is not None else ""
    if isinstance(effect, Wait):
        return "implement", (glyphs.half, "warn"), [(f"waiting: {outside(effect.reason)}", "warn")], ""
    if isinstance(effect, PrepareWorkspace):
        return "implement", (glyphs.run, "accent"), [("preparing the clone", "accent")], ""
    if task.error and task.scope_verdict is None:
        return "implement", (glyphs.bad, "bad"), [(outside(task.error), "bad")], ""
    if task.scope_verdict is None and task.step in (Step.NEXT, Step.ROLLBACK, Step.PREPARE, Step.IMPLEMENT):
        return "implement", (glyphs.wait, "muted"), [("next", "muted")], ""
    changes = task.changes
    added, removed = sum(change.added for change in changes), sum(change.removed for change in changes)
    words: list[Span] = [(plural(len(changes), "file"), "fg")]
    if changes:
        words += [(f"  +{added}", "added"), (f" {glyphs.minus}{removed}", "removed")]
    if task.error:
        return "implement", (glyphs.bad, "bad"), [(outside(task.error), "bad")], ""
    return "implement", (glyphs.ok, "good"), words, ""


def _scope(view: View, task: TaskState) -> Row:
    glyphs = view.glyphs
    if isinstance(view.under_way(task.id), CheckScope):
        return "scope", (glyphs.run, "accent"), [("comparing with the task's scope", "accent")], ""
    if task.reverted:
        names = ", ".join(outside(path) for path in task.reverted[:3])
        words = [(f"{plural(len(task.reverted), 'path')} reverted: ", "warn"), (names, "fg")]
        return "scope", (glyphs.bad if task.scope_verdict is not Verdict.PASS else glyphs.warn, "warn"), words, ""
    sign, word, style = of_verdict(task.scope_verdict, glyphs)
    return "scope", (sign, style), [("in scope" if word == "pass" else word, "fg" if word == "pass" else style)], ""


def _checks(view: View, task: TaskState) -> list[Row]:
    results = {result.name: result for result in task.checks}
    live = {progress.check: progress for progress in view.checks.get(task.id, ())}
    running = isinstance(view.under_way(task.id), RunChecks)
    names = list(results) or _expected(view, list(live))
    order = {name: at for at, name in enumerate(CHECKS)}
    names.sort(key=lambda name: order.get(name, len(order)))
    return [_check(view, name, results.get(name), live.get(name), running) for name in names]


def _expected(view: View, live: list[str]) -> list[str]:
    """The checks that will run: as measured before, in the baseline or for another task; else the usual ones."""
    before = [result.name for result in view.state.baseline]
    if not before:
        done = [task for task in view.state.tasks.values() if task.checks]
        before = [result.name for result in max(done, key=lambda task: task.started_at).checks] if done else []
    return [*live, *(name for name in before or CHECKS if name not in live)]


def _check(view: View, name: str, result: CheckResult | None, live: CheckProgress | None, running: bool) -> Row:
    glyphs, label = view.glyphs, outside(name, 9)
    if result is None:
        if live is None or not running:
            return label, (glyphs.wait, "muted"), [("waiting" if running else "", "muted")], ""
        if live.state == "done":
            sign, word, style = of_verdict(Verdict(live.verdict) if live.verdict in set(Verdict) else None, glyphs)
            return label, (sign, style), [(word, "fg" if style == "good" else style)], ""
        detail = outside(" ".join(live.detail.split())) if any(letter.isalnum() for letter in live.detail) else ""
        return label, (glyphs.run, "accent"), [("running", "accent")], detail
    sign, word, style = of_verdict(result.verdict, glyphs)
    words: list[Span] = []
    counts = result.counts
    if counts is not None and counts.total:
        words.append((f"{counts.passed}/{counts.total}", "fg bold" if style == "good" else f"{style} bold"))
        for number, said, tone in (
            (counts.failed, "failing", "bad"),
            (counts.fixed, "fixed", "good"),
            (counts.new, "new", "muted"),
            (counts.broken_before, "broken before", "muted"),
            (counts.flaky, "flaky", "warn"),
            (counts.gone, "gone", "bad"),
        ):
            if number:
                words.append((f"  {number} {said}", tone))
    else:
        words.append((word, "fg" if style == "good" else style))
        if result.reason and style != "good":
            words.append((f"  {outside(result.reason)}", "muted"))
    if not result.required and style != "good":
        words.append(("  optional", "muted"))
    return label, (sign, style), words, f"{result.seconds:.1f}s" if result.seconds else ""


def _review(view: View, task: TaskState) -> Row:
    glyphs = view.glyphs
    effect = view.under_way(task.id)
    if isinstance(effect, CallAgent) and effect.role is Role.REVIEWER:
        took = view.seconds_of(effect)
        words = [("reviewer running", "accent")]
        return "review", (glyphs.run, "accent"), words, duration(took) if took is not None else ""
    review = task.review
    if review is None:
        return "review", (glyphs.wait if task.step is not Step.END else glyphs.none, "muted"), [("", "muted")], ""
    met = sum(criterion.met for criterion in review.criteria)
    counted = [(f"  {met}/{len(review.criteria)} met", "muted")] if review.criteria else []
    if review.approved:
        return "review", (glyphs.ok, "good"), [("approved", "fg"), *counted], ""
    issues: list[Span] = [("needs changes", "warn"), (f"  {plural(len(review.issues), 'issue')}", "fg"), *counted]
    return "review", (glyphs.bad, "warn"), issues, ""


def _decision(view: View, task: TaskState, width: int) -> list[Line]:
    if isinstance(effect := view.under_way(task.id), CallAgent) and effect.role in (Role.COUNCILLOR, Role.SYNTHESIST):
        sat = sum(bool(text) for text in task.seats.values())
        words = "the council writes its diagnosis" if effect.role is Role.SYNTHESIST else f"{sat} of 5 diagnoses"
        return [BLANK, ((pad("council", LABEL), "muted"), (f"{view.glyphs.run} ", "accent"), (words, "accent"))]
    if task.status is Status.PENDING:
        return [BLANK, *wrap(outside(task.spec.description), width, "muted")] if task.spec.description else []
    if task.decision is None or (not task.ended and task.step not in _DECIDED):
        return []
    style = of_decision(task.decision)
    head: list[Span] = [(pad("decision", LABEL), "muted"), (task.decision.value, f"{style} bold"), ("  ", "")]
    used = sum(len(text) for text, _ in head)
    lines = wrap(outside(task.reason), max(10, width - used), "fg")
    out: list[Line] = [BLANK, (*head, *lines[0][1:])]
    out += [((" " * used, ""), *line[1:]) for line in lines[1:3]]
    if task.action:
        out.append(crop(joined([[(pad("do", LABEL), "muted"), (outside(task.action), "fg")]]), width))
    return out


_DECIDED = (Step.NEXT, Step.FIX_GATE, Step.TASK_GATE, Step.BLOCKED_GATE, Step.COUNCIL, Step.COMMIT, Step.END)


class IterationPanel(Panel):
    def __init__(self, id: str = "iteration") -> None:
        super().__init__(id=id)

    def title(self, view: View) -> tuple[str, str]:
        task = view.task
        if task is None:
            return "ITERATION", ""
        limit = view.state.policy.max_iterations + task.granted
        name, rung, sep = outside(task.spec.title), view.rung_name(task.rung), view.glyphs.sep
        head = f"ITERATION {task.iteration}/{limit}" if task.iteration else "TASK"
        named, bare = f"T{outside(task.id)} {name}", f"{head} {sep} T{outside(task.id)}"
        full, short = f"{head} {sep} {named}", f"{named} {sep} {head.replace('ITERATION', 'it')}"
        # Whole or not at all: the strip and the list of tasks have the title, too. A border as wide as the screen
        # has more room for it than they.
        bare = full if self.title_room >= CUT_TITLE else bare
        return shorter(f"{full} {sep} {rung}", full, short, f"{bare} {sep} {rung}", bare, room=self.title_room), ""

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        return iteration_lines(view, width, height)
