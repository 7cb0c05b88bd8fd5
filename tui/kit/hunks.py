"""A change hunk by hunk, in one column, with the review's issues pinned at their lines. Pure: files in, lines out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from engine.core.model import Issue, Struct
from tui.kit.diffing import DiffRow, FileDiff, coloured
from tui.kit.glyphs import Glyphs
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, end_of_path, head_of, outside, spread, width_of, wrap

GROUNDS = {"+": " on-added-ground", "-": " on-removed-ground"}
NUMBER = 5
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class Hunk(Struct, frozen=True, kw_only=True):
    """Where a hunk lies: in the change, and in the lines that are drawn."""

    path: str
    line: int
    number: int
    """From 1, over the whole change."""
    row: int
    """The drawn line it begins at."""

    def cite(self) -> str:
        return f"{self.path}:{self.line}"


class Look(Struct, frozen=True, kw_only=True):
    """How a change is drawn."""

    wrapped: bool = False
    left: int = 0
    """Cells that are scrolled away sideways."""


def same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Drawn from the very same things, or from equal ones that are quickly compared: a change is known by itself."""
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(a is b or (not isinstance(a, list) and a == b) for a, b in pairs)


def hunk_lines(
    files: Sequence[FileDiff], issues: Sequence[Issue], width: int, glyphs: Glyphs, look: Look
) -> tuple[list[Line], list[Hunk]]:
    """Every file under its name, every hunk with its number, issues under the line they are about."""
    lines: list[Line] = []
    hunks: list[Hunk] = []
    pinned: set[int] = set()
    total = sum(row.kind == "@" for file in files for row in file.rows)
    for file in files:
        if lines:
            lines.append(BLANK)
        right: list[Span] = [(f"+{file.added}", "added"), (f" {glyphs.minus}{file.removed}", "removed")]
        note = f"  {file.note}" if file.note else ""
        name = end_of_path(outside(file.path), width - width_of(right) - len(note) - 1, glyphs.ellipsis)
        lines.append(spread([(name, "fg bold"), (note, "muted")], right, width, gap=1))
        code = code_of(file)
        changed = word_marks(file.rows)
        for place, row in enumerate(file.rows):
            if row.kind == "@":
                hunks.append(Hunk(path=file.path, line=row.new, number=len(hunks) + 1, row=len(lines)))
                head = f"{glyphs.rule * 2} {len(hunks)} of {total} {glyphs.sep} line {row.new}  {outside(row.text)}"
                head = f"{head.rstrip()} "
                lines.append(crop([(head, "accent"), (glyphs.rule * max(0, width - cells_of(head)), "line")], width))
            elif row.kind == "!":
                lines.append(crop([(f"  {outside(row.text)}", "muted")], width))
            else:
                lines += row_lines(row, code, changed.get(place, ()), width, glyphs, look)
            for number, issue in enumerate(issues):
                if number not in pinned and _at(issue, file.path, row):
                    pinned.add(number)
                    lines += pin(issue, number + 1, width, glyphs)
    loose = [(number, issue) for number, issue in enumerate(issues) if number not in pinned and issue.path]
    if loose and files:
        lines += [BLANK, (("about lines that the change does not show", "muted bold"),)]
        for number, issue in loose:
            lines += pin(issue, number + 1, width, glyphs)
    return lines, hunks


def _at(issue: Issue, path: str, row: DiffRow) -> bool:
    same = issue.path == path or path.endswith(f"/{issue.path}")
    return same and bool(issue.line) and row.kind in " +" and row.new == issue.line


def pin(issue: Issue, number: int, width: int, glyphs: Glyphs) -> list[Line]:
    """An issue in the margin of its line."""
    style = "bad" if issue.critical else "warn"
    mark = " " * NUMBER + f"{glyphs.bar} "
    lines = wrap(f"{number} {outside(issue.text)}", width - len(mark), f"{style} bold")
    if issue.fix:
        lines += wrap(f"fix: {outside(issue.fix)}", width - len(mark), "fg")
    return [((mark, style), *line[1:]) for line in lines]


def row_lines(
    row: DiffRow,
    code: dict[tuple[str, int], tuple[Span, ...]],
    marks: Sequence[tuple[int, int]],
    width: int,
    glyphs: Glyphs,
    look: Look,
    side: str = "",
) -> list[Line]:
    """A line of code: one row, or as many as it takes when wrapped. `side`: old or new, of a line that both have."""
    ground = GROUNDS.get(row.kind, "")
    of = side or ("old" if row.kind == "-" else "new")
    number = row.old if of == "old" else row.new
    sign = row.kind if row.kind != "-" else glyphs.minus
    style = {"+": "added", "-": "removed"}.get(row.kind, "muted")
    spans = [
        (piece, f"{words or 'fg'}{ground}")
        for piece, words in underlined(code.get((of, number), ((row.text, ""),)), marks)
    ]
    room = max(4, width - NUMBER - 2)
    head: list[Span] = [(f"{number:>{NUMBER - 1}} ", f"{style}{ground}"), (f"{sign} ", f"{style} bold{ground}")]
    rest: list[Span] = [(" " * NUMBER, f"{style}{ground}"), ("  ", f"{style}{ground}")]
    pieces = _wrapped(spans, room) if look.wrapped else [_cut(_shifted(spans, look.left), room, glyphs)]
    out: list[Line] = []
    for at, piece in enumerate(pieces):
        line = (*(head if at == 0 else rest), *piece)
        out.append((*line, (" " * max(0, width - width_of(line)), f"fg{ground}")))
    return out


def _cut(spans: Sequence[Span], room: int, glyphs: Glyphs) -> Line:
    if width_of(spans) <= room:
        return tuple(spans)
    return (*crop(spans, room)[:-1], *crop(spans, room)[-1:])


def _shifted(spans: Sequence[Span], left: int) -> list[Span]:
    """Without the first cells."""
    out: list[Span] = []
    for text, words in spans:
        if left >= cells_of(text):
            left -= cells_of(text)
            continue
        if left:
            text = text[len(head_of(text, left)) :]
            left = 0
        out.append((text, words))
    return out


def _wrapped(spans: Sequence[Span], room: int) -> list[list[Span]]:
    out: list[list[Span]] = [[]]
    left = room
    for text, words in spans:
        while text:
            if left <= 0:
                out.append([])
                left = room
            piece = text if cells_of(text) <= left else head_of(text, left)
            out[-1].append((piece, words))
            left -= cells_of(piece)
            text = text[len(piece) :]
    return out


def code_of(file: FileDiff) -> dict[tuple[str, int], tuple[Span, ...]]:
    """Coloured text of both sides, by side and line number."""
    out: dict[tuple[str, int], tuple[Span, ...]] = {}
    for side, kinds in (("old", " -"), ("new", " +")):
        rows = [row for row in file.rows if row.kind in kinds]
        spans = coloured(file.path, tuple(row.text for row in rows))
        out.update({(side, row.old if side == "old" else row.new): line for row, line in zip(rows, spans, strict=True)})
    return out


def word_marks(rows: Sequence[DiffRow]) -> dict[int, tuple[tuple[int, int], ...]]:
    """Which characters of a replaced line are really different, by the row's place."""
    out: dict[int, tuple[tuple[int, int], ...]] = {}
    at = 0
    while at < len(rows):
        start = at
        while at < len(rows) and rows[at].kind == "-":
            at += 1
        middle = at
        while at < len(rows) and rows[at].kind == "+":
            at += 1
        if start < middle < at and middle - start == at - middle:
            for offset in range(middle - start):
                old, new = rows[start + offset].text, rows[middle + offset].text
                out[start + offset], out[middle + offset] = changed_words(old, new)
        at = max(at, start + 1)
    return out


def changed_words(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Places of what differs, word by word; nothing where most of it does."""
    if len(old) > 400 or len(new) > 400:
        return (), ()
    first, second = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    if matcher.ratio() < 0.4:
        return (), ()
    gone: list[tuple[int, int]] = []
    come: list[tuple[int, int]] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            gone.append((len("".join(first[:a])), len("".join(first[:b]))))
            come.append((len("".join(second[:c])), len("".join(second[:d]))))
    return tuple(span for span in gone if span[0] < span[1]), tuple(span for span in come if span[0] < span[1])


def underlined(spans: Sequence[Span], marks: Sequence[tuple[int, int]]) -> list[Span]:
    """The changed words of a line stand out."""
    if not marks:
        return list(spans)
    out: list[Span] = []
    at = 0
    edges = sorted({edge for mark in marks for edge in mark})
    for text, words in spans:
        cuts = [edge - at for edge in edges if 0 < edge - at < len(text)]
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            marked = any(begin <= at + start < stop for begin, stop in marks)
            out.append((text[start:end], f"{words} bold underline".strip() if marked else words))
        at += len(text)
    return out
