"""The morning after: what was done and shown, what it cost, what waits for somebody, and how to take it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.model import CheckKind, CheckResult, ProofVerdict
from engine.core.state import State, Status, TaskState
from engine.core.vocabulary import Outcome
from engine.core.wording import plural
from tui.kit.glyphs import of_outcome, of_status
from tui.kit.keys import KeyMap
from tui.kit.needs import Need, NeedKind, needs, proven
from tui.kit.paint import BLANK, Line, Span, crop, end_of_path, outside, pad, side_by_side, spread, width_of, wrap
from tui.kit.view import View
from tui.kit.wording import duration, money, short_hash
from tui.panels.gate_text import left_to_do
from tui.panels.ladder import rung_lines

TWO_COLUMNS = 110
RUNGS_MOST = 56
"""Cells from which a wider table only has wider gaps."""


def morning_lines(view: View, keys: KeyMap, width: int) -> list[Line]:
    """The page: the result first, then what somebody has to do, then every task with its proof."""
    head = _result(view, keys, width)
    if width >= TWO_COLUMNS:
        half = max(46, width * 2 // 5)
        rungs = [_heading("BY RUNG", half, view), *rung_lines(view, min(half, RUNGS_MOST))] if view.state.calls else []
        left = [*_waits(view, keys, half), *_numbers(view, half), *rungs]
        return [*head, BLANK, *side_by_side(left, _tasks(view, width - half - 4), half, gap=4)]
    return [*head, BLANK, *_waits(view, keys, width), *_numbers(view, width), *_tasks(view, width)]


def _heading(words: str, width: int, view: View, style: str = "muted bold") -> Line:
    return crop([(f"{words} ", style), (view.glyphs.rule * max(0, width - len(words) - 1), "line")], width)


def _result(view: View, keys: KeyMap, width: int) -> list[Line]:
    state = view.state
    done, total = state.progress()
    commits = [task for task in state.tasks.values() if task.commit]
    sign, _, style = of_outcome(state.outcome, view.glyphs) if state.outcome else (view.glyphs.wait, "", "muted")
    said: list[Span] = [(f"{sign} ", style), (f"{done} of {plural(total, 'task')} done", "fg bold")]
    said.append((f"  {plural(len(commits), 'commit')} on {outside(state.branch)}", "muted"))
    lines = [crop(said, width)]  # how it ended and why is said in the header
    key = keys.shown("land")
    if not commits:
        lines.append((("nothing to land", "muted"),))
    elif state.landed and state.landed == state.head:
        lines.append(crop([(f"{view.glyphs.ok} landed: ", "good"), ("your branch has every commit", "fg")], width))
    else:
        lines.append(
            crop(
                [
                    (f"{key} ", "accent bold"),
                    (f"land {plural(len(commits), 'commit')} ", "fg bold"),
                    ("on your branch", "fg"),
                ],
                width,
            )
        )
    left = sum(not task.ended for task in state.tasks.values())
    if state.outcome is Outcome.STOPPED and left:
        lines.append(
            crop([("devteam run ", "accent"), (f"goes on with the {plural(left, 'other task')}", "fg")], width)
        )
    return lines


def _waits(view: View, keys: KeyMap, width: int) -> list[Line]:
    """Questions, gates and blocked tasks, each with the action."""
    cards = needs(view.state)
    if not cards:
        return [_heading("NOTHING IS WAITING FOR YOU", width, view), BLANK]
    lines: list[Line] = [_heading(f"{len(cards)} WAITING FOR YOU", width, view, "gate bold")]
    for card in cards:
        lines += _card(view, card, keys, width)
    return [*lines, BLANK]


def _card(view: View, card: Need, keys: KeyMap, width: int) -> list[Line]:
    task = view.state.tasks.get(card.task)
    sign, style = (view.glyphs.stop, "bad") if card.kind is NeedKind.BLOCKED else (view.glyphs.gate, "gate")
    title = f"{outside(card.task)} {outside(task.spec.title)}" if task is not None else outside(card.why)
    lines = wrap(title, width, "fg bold", first=f"{sign} ", rest="  ")
    lines[0] = ((f"{sign} ", style), *lines[0][1:])
    lines += wrap(outside(card.why), width, "muted", first="  ")
    action = outside(left_to_do(task.action, card.why)) if task is not None and task.action else ""
    if not action and card.kind is NeedKind.BLOCKED:
        action = f"{keys.shown('retry_task')}: retry it"
    if action:
        lines += wrap(action, width, "accent", first="  to do: ", rest="         ")
    return lines


def _numbers(view: View, width: int) -> list[Line]:
    """Tests before and after, criteria, overrides, cost and time."""
    state = view.state
    lines = [_heading("MEASURED", width, view)]
    before, after = counted(state.base_results), _after(state)
    if after:
        was = f"{before[0]} of {before[1]}" if before else "not measured"
        lines.append(
            _fact(
                "tests",
                [(was, "muted"), (f" {view.glyphs.arrow} ", "muted"), (f"{after[0]} of {after[1]} pass", "fg bold")],
                width,
            )
        )
    accepted = [(task, text) for task in state.tasks.values() for text in task.spec.accept]
    met = sum(_met(task, text) for task, text in accepted)
    if accepted:
        committed = [task for task in state.tasks.values() if task.commit]
        shown = sum(proven(task) and task.proof is ProofVerdict.PROVEN for task in committed)
        harmless = sum(task.proof is ProofVerdict.HARMLESS for task in committed)
        lines.append(_fact("criteria", [(f"{met} of {len(accepted)} met", "fg bold")], width))
        said = f"{shown} of {plural(len(committed), 'commit')} proven: red before, green now"
        said += f"; {harmless} harmless: nothing to show, by the plan" if harmless else ""
        lines += wrap(said, width, "fg", first=pad("proof", 11))
    over = [task for task in state.tasks.values() if task.override or task.overridden]
    lines.append(
        _fact("overrides", [(plural(len(over), "override") if over else "none", "warn" if over else "muted")], width)
    )
    for task in over:
        lines += wrap(
            f"{outside(task.id)}: {outside(task.override) or 'the reviewer was overridden'}",
            width,
            "warn",
            first="           ",
        )
    lines.append(
        _fact(
            "spent",
            [(money(state.spent_usd), "fg bold"), (f" of {money(state.policy.budget.session_usd)}", "muted")],
            width,
        )
    )
    lines.append(
        _fact(
            "took",
            [
                (duration(view.elapsed()), "fg bold"),
                (f"  {plural(state.iterations, 'iteration')}, {plural(state.calls, 'call')}", "muted"),
            ],
            width,
        )
    )
    if state.escalations or state.councils:
        lines.append(
            _fact(
                "ladder",
                [
                    (plural(len(state.escalations), "escalation"), "fg"),
                    (f", {plural(state.councils, 'council')}" if state.councils else "", "fg"),
                ],
                width,
            )
        )
    if state.final is not None:
        lines.append(_fact("final", [(f"{state.final.value}  {outside(state.final_reason)}", "fg")], width))
    return [*lines, BLANK]


def _fact(label: str, spans: list[Span], width: int) -> Line:
    return crop([(pad(label, 11), "muted"), *spans], width)


def counted(results: Sequence[CheckResult]) -> tuple[int, int] | None:
    """Passing and all tests of a run of the checks."""
    found = [one.counts for one in results if one.kind is CheckKind.TESTS and one.counts is not None]
    total = sum(one.total for one in found)
    return (sum(one.passed for one in found), total) if total else None


def _after(state: State) -> tuple[int, int] | None:
    committed = [task for task in state.tasks.values() if task.commit and task.checks]
    return counted(max(committed, key=lambda task: task.ended_at).checks) if committed else None


def _met(task: TaskState, text: str) -> bool:
    return task.review is not None and any(item.text == text and item.met for item in task.review.criteria)


def _tasks(view: View, width: int) -> list[Line]:
    """Every task: its commit, its tests, its criteria with their proof."""
    lines = [_heading("TASKS", width, view)]
    for task in view.state.tasks.values():
        sign, word, style = of_status(task.status, view.glyphs)
        right: list[Span] = [(f"{money(task.spent_usd)} ", "muted")] if task.spent_usd else []
        if task.status is Status.RUNNING:  # nothing runs any more
            sign, word, style = view.glyphs.half, "stopped", "muted"
        right.append((short_hash(task.commit) if task.commit else word, "accent" if task.commit else style))
        mark = view.glyphs.cursor if task.id == view.selected else " "
        title = f"{outside(task.id)} {outside(task.spec.title)}"
        first, *rest = wrap(title, width - width_of(right) - 4, "fg bold", rest="  ")  # a title is never cut here
        lines.append(spread([(mark, "accent"), (f"{sign} ", style), *first[1:]], right, width, gap=1))
        lines += [(("   ", ""), *line) for line in rest]
        if task.status is Status.PENDING:
            continue
        for text in task.spec.accept:
            lines += _criterion(view, task, text, width)
        for proof in task.proofs[:3]:
            place = f"{proof.path}:{proof.line}" if proof.path and proof.line else proof.path
            name = outside(proof.name).rsplit("::", 1)[-1]
            shown: list[Span] = [("     proof: ", "muted"), (name, "fg")]
            where: Span = (f"  {outside(place)}", "accent")
            if width_of([*shown, where]) <= width:
                lines.append((*shown, where))
            else:  # the place matters as much as the name: a row of its own
                path = end_of_path(outside(place), width - 12, view.glyphs.ellipsis)
                lines += [crop(shown, width), crop([(" " * 12, ""), (path, "accent")], width)]
    return lines


def _criterion(view: View, task: TaskState, text: str, width: int) -> list[Line]:
    looked = task.review is not None and any(item.text == text for item in task.review.criteria)
    glyphs = view.glyphs
    sign, style = (glyphs.ok, "good") if _met(task, text) else (glyphs.bad, "bad") if looked else (glyphs.wait, "muted")
    first, *rest = wrap(outside(text), width, "muted", first="     ")
    return [(("   ", ""), (f"{sign} ", style), *first[1:]), *rest]
