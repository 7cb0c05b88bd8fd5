"""The report of an iteration as a drawn page: stages, what differs from the last one, the failing test as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from engine.core.clean import clean
from engine.core.model import CheckKind, CheckResult, Verdict
from engine.core.state import TaskState
from engine.core.wording import plural
from tui.kit.glyphs import of_decision, of_verdict
from tui.kit.iteration_facts import IterationFacts, failing_of, passing_of, section_of
from tui.kit.paint import BLANK, LONGEST, Line, Span, cells_of, crop, outside, pad, spread, width_of, wrap
from tui.kit.view import View
from tui.kit.wording import clock_time, duration, money, short_hash

LABEL = 12
MOST_TESTS = 5
"""Failing tests that are shown whole; the rest by name."""
MOST_ROWS = 60


def report_lines(
    view: View, task: TaskState, number: int, facts: IterationFacts, last: IterationFacts | None, width: int
) -> list[Line]:
    lines = _head(view, task, number, facts, width)
    lines += [BLANK, _rule(view, "STAGES", width), *_stages(view, facts, width)]
    if last is not None:
        lines += [BLANK, _rule(view, "SINCE THE LAST ITERATION", width), *_difference(view, facts, last, width)]
    lines += _failures(view, facts, width)
    lines += _wanted(view, facts, width)
    if facts.claim:
        lines += [BLANK, _rule(view, "AGENT'S SUMMARY", width)]
        for part in facts.claim.split("\n")[:20]:
            lines += wrap(outside(part), width, "muted")
    return lines


def _rule(view: View, words: str, width: int) -> Line:
    return crop([(f"{words} ", "muted bold"), (view.glyphs.rule * max(0, width - len(words) - 1), "line")], width)


def _head(view: View, task: TaskState, number: int, facts: IterationFacts, width: int) -> list[Line]:
    limit = view.state.policy.max_iterations + task.granted
    word = facts.decision.value if facts.decision is not None else "in progress"
    title = f"T{outside(task.id)} {outside(task.spec.title)}"
    first, *more = wrap(title, max(16, width - cells_of(word) - 2), "fg bold")
    lines = [spread(first, [(word, f"{of_decision(facts.decision)} bold")], width), *more]
    took = duration(facts.ended_at - facts.started_at) if facts.ended_at > facts.started_at else ""
    parts: list[Span] = [(f"iteration {number} of {limit}", "fg")]
    parts.append((f"  {outside(view.rung_name(facts.rung))}", f"rung-{min(facts.rung, 3) + 1}"))
    if facts.started_at:
        parts.append((f"  {clock_time(facts.started_at, view.state.utc_offset)}", "muted"))
    parts.append((f"  {took}" if took else "", "muted"))
    parts.append((f"  {money(facts.usd)}, {plural(facts.calls, 'call')}" if facts.calls else "", "muted"))
    row: list[Span] = []
    for text, style in parts:  # what does not fit begins a row of its own
        if row and width_of(row) + cells_of(text) > width:
            lines.append(tuple(row))
            row, text = [], text.lstrip()
        row.append((text, style))
    lines.append(crop(row, width))
    if facts.reason:
        lines += wrap(outside(facts.reason), width, "fg")
    return lines


def _stage(label: str, sign: Span, words: list[Span], right: str, width: int) -> Line:
    left: list[Span] = [(pad(label, LABEL), "muted"), (f"{sign[0]} ", sign[1]), *words]
    if width_of(left) + cells_of(right) + 2 > width:  # a fact of the stage is worth more than one beside it
        right = ""
    return spread(left, [(right, "muted")] if right else [], width)


def _stages(view: View, facts: IterationFacts, width: int) -> list[Line]:
    glyphs = view.glyphs
    added, removed = sum(one.added for one in facts.changes), sum(one.removed for one in facts.changes)
    words: list[Span] = [(plural(len(facts.changes), "file"), "fg")]
    if facts.changes:
        words += [(f"  +{added}", "added"), (f" {glyphs.minus}{removed}", "removed")]
    sign = (glyphs.ok, "good") if facts.changes else (glyphs.none, "muted")
    lines = [_stage("implement", sign, words, "", width)]
    for change in facts.changes[:8]:
        right = f"+{change.added} {glyphs.minus}{change.removed}"
        path = outside(change.path)
        indent = max(2, min(LABEL + 2, width - cells_of(path) - cells_of(right) - 1))  # before a path is cut
        lines.append(spread([(" " * indent, ""), (path, "fg")], [(right, "muted")], width, gap=1))
    if len(facts.changes) > 8:
        lines.append(((f"{' ' * (LABEL + 2)}{len(facts.changes) - 8} more", "muted"),))
    verdict, said, style = of_verdict(facts.scope, glyphs)
    scope = f"reverted: {', '.join(outside(path) for path in facts.reverted)}" if facts.reverted else said or "not run"
    lines.append(_stage("scope", (verdict, style), [("in scope" if said == "pass" else scope, "fg")], "", width))
    for result in facts.checks:
        lines += _check(view, result, facts.reason, width)
    if not facts.checks:
        lines.append(_stage("checks", (glyphs.none, "muted"), [("not run", "muted")], "", width))
    lines.append(_review(view, facts, width))
    decided = facts.decision.value if facts.decision is not None else "none yet"
    lines.append(_stage("decision", (glyphs.arrow[-1], "muted"), [(decided, of_decision(facts.decision))], "", width))
    for result in facts.merged:  # its tests, and whatever else does not hold any more
        if result.kind is CheckKind.TESTS or result.verdict is not Verdict.PASS:
            lines += _check(view, replace(result, name="new base"), "", width)
    return lines


def _check(view: View, result: CheckResult, told: str, width: int) -> list[Line]:
    """A check with its verdict; why it is not good stands beside it or below it, where nobody has told it above."""
    sign, word, style = of_verdict(result.verdict, view.glyphs)
    counts = result.counts
    said = f"{counts.passed} of {counts.total} pass" if counts is not None and counts.total else word
    words: list[Span] = [(said, "fg" if style == "good" else style)]
    why = outside(result.reason) if result.reason and style != "good" and result.reason not in told else ""
    beside = bool(why) and LABEL + 4 + cells_of(said) + cells_of(why) <= width
    if beside:
        words.append((f"  {why}", "muted"))
    took = f"{result.seconds:.1f} s" if result.seconds else ""
    line = _stage(outside(result.name), (sign, style), words, took, width)
    return [line, *(wrap(why, width, "muted", first=" " * (LABEL + 2)) if why and not beside else [])]


def _review(view: View, facts: IterationFacts, width: int) -> Line:
    review = facts.review
    if review is None:
        return _stage("review", (view.glyphs.none, "muted"), [("not reached", "muted")], "", width)
    met = sum(item.met for item in review.criteria)
    sign: Span = (view.glyphs.ok, "good")
    words: Span = ("approved", "fg")
    if not review.approved:
        sign, words = (view.glyphs.bad, "warn"), (f"{plural(len(review.issues), 'change')} requested", "warn")
    noun = "criterion" if len(review.criteria) == 1 else "criteria"
    counted = f"{met} of {len(review.criteria)} {noun} met" if review.criteria else ""
    if LABEL + 4 + cells_of(words[0]) + cells_of(counted) > width:
        counted = counted.replace(f"{noun} ", "")
    return _stage("review", sign, [words], counted, width)


def _difference(view: View, facts: IterationFacts, last: IterationFacts, width: int) -> list[Line]:
    """What this attempt changed for better and worse."""
    glyphs = view.glyphs
    lines: list[Line] = []
    now, then = passing_of(facts), passing_of(last)
    if now is not None and then is not None:
        more = now[0] - then[0]
        style = "good" if more > 0 else "bad" if more < 0 else "muted"
        sign = f"+{more}" if more > 0 else f"{glyphs.minus}{-more}" if more < 0 else "no change"
        words = f"{then[0]} of {then[1]} {glyphs.arrow} {now[0]} of {now[1]} pass"
        mark = (glyphs.up if more > 0 else glyphs.none, style)
        fits = LABEL + 4 + cells_of(words) + cells_of(sign) <= width
        lines.append(_stage("tests", mark, [(words, "fg"), (f"  {sign}" if fits else "", style)], "", width))
    if facts.rung != last.rung:
        climb = f"{outside(view.rung_name(last.rung))} {glyphs.arrow} {outside(view.rung_name(facts.rung))}"
        lines.append(_stage("rung", (glyphs.up, "warn"), [(climb, "fg")], "", width))
    before, after = failing_of(last), failing_of(facts)
    for label, names, sign, style in (
        ("fixed", [name for name in before if name not in after], glyphs.ok, "good"),
        ("new", [name for name in after if name not in before], glyphs.bad, "bad"),
        ("still fails", [name for name in after if name in before], glyphs.none, "warn"),
    ):
        for place, name in enumerate(names[:6]):
            lines += _named(label if not place else "", (sign, style), outside(name), width)
        if len(names) > 6:
            lines.append(((f"{' ' * (LABEL + 2)}{len(names) - 6} more", "muted"),))
    if facts.tree and facts.tree == last.tree:
        said = [(f"the same code again ({short_hash(facts.tree)}): nothing was changed", "warn")]
        lines.append(_stage("tree", (glyphs.warn, "warn"), said, "", width))
    return lines or [(("no difference in what was measured", "muted"),)]


def _named(label: str, sign: Span, name: str, width: int) -> list[Line]:
    """A test or a finding by its name, which may be longer than a row."""
    first, *more = wrap(name, width - LABEL - 2, "fg")
    inset = " " * (LABEL + 2)
    return [_stage(label, sign, list(first[1:]), "", width), *(((inset, ""), *line[1:]) for line in more)]


def _failures(view: View, facts: IterationFacts, width: int) -> list[Line]:
    """Every failing test with its assertion and traceback as the runner printed it, leading spaces kept."""
    lines: list[Line] = []
    for result in facts.checks:
        if not result.failing and result.verdict.value == "PASS":
            continue
        shown = 0
        for name in result.failing[:MOST_TESTS]:
            found = section_of(clean(result.output), name)
            lines += [BLANK, crop([(f"{view.glyphs.bad} ", "bad"), (outside(name), "bad bold")], width)]
            lines += as_printed(view, found, width)
            shown += bool(found)
        rest = result.failing[MOST_TESTS:]
        lines += [crop([(f"{view.glyphs.bad} ", "bad"), (outside(name), "fg")], width) for name in rest[:40]]
        if not shown and result.output.strip():
            lines += [BLANK, _rule(view, f"LAST OUTPUT OF {outside(result.name).upper()}", width)]
            lines += as_printed(view, clean(result.output).rstrip("\n").split("\n")[-MOST_ROWS:], width)
    return lines


RULE = re.compile(r"([_=-])\1{2,} (.+) \1{3,}")


PROGRESS = re.compile(r"(\S+) {3,}(\[ *\d+%\])")
"""What runners draw as wide as their terminal: a heading between two lines, and how far they are at the right edge."""


def to_width(text: str, width: int) -> str:
    """A line of a runner that is as wide as its terminal was, as wide as the room; what it says is kept."""
    if cells_of(text) <= width:
        return text
    if found := RULE.fullmatch(text):
        sign, words = found[1], found[2]
        free = max(6, width - cells_of(words) - 2)
        return f"{sign * (free // 2)} {words} {sign * (free - free // 2)}"
    if found := PROGRESS.fullmatch(text):
        return f"{found[1]}  {found[2]}"
    return text


def as_printed(view: View, rows: Sequence[str], width: int) -> list[Line]:
    """Lines as they were; one that is too long goes on below, so that no assertion loses its end."""
    lines: list[Line] = []
    for row in rows[:MOST_ROWS]:
        text = to_width(row[:LONGEST].expandtabs(4).rstrip(), max(8, width - 2))
        style = "bad" if text.startswith("E ") or "Error" in text[:60] else "fg" if text.startswith(">") else "muted"
        room = max(8, width - 2)
        pieces = [text[at : at + room] for at in range(0, len(text), room)] or [""]
        lines += [crop([(f"{view.glyphs.bar} ", "line"), (piece, style)], width) for piece in pieces]
    if len(rows) > MOST_ROWS:
        lines.append(((f"{view.glyphs.bar} {len(rows) - MOST_ROWS} more lines", "muted"),))
    return lines


def _wanted(view: View, facts: IterationFacts, width: int) -> list[Line]:
    review = facts.review
    if review is None or not (review.issues or any(not item.met for item in review.criteria)):
        return []
    from tui.panels.gate_text import criteria_lines, issue_lines

    lines: list[Line] = [BLANK, _rule(view, "REQUESTED BY THE REVIEW", width)]
    for number, issue in enumerate(review.issues, 1):
        lines += issue_lines(issue, number, width)
    return [*lines, *criteria_lines(view, review, width)]
