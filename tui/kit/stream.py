"""Streams: what each task's agents say, as rows. Long results and thinking are folded, never thrown away."""

from __future__ import annotations

from typing import assert_never

from engine.core.activity import AgentOutput, OutputKind
from tui.kit.glyphs import Glyphs
from tui.kit.paint import LONGEST
from tui.kit.rows import Row, Rows
from tui.kit.wording import seat_name

SHOWN = 4
"""Lines of a tool's result that stay visible when folded."""
MOST_TIMES = 20_000
"""Times kept before those of rows that are gone are dropped."""
MOST = 2000
"""Lines taken from one message; a message of a million lines is its beginning and a count."""


class Stream:
    """The output of one task."""

    __slots__ = ("_effect", "_second", "rows", "said_at")

    def __init__(self) -> None:
        self.rows = Rows()
        self.said_at: dict[int, int] = {}
        """When the row of a number was said, in whole seconds; only of the first row said in a second."""
        self._effect = ""
        self._second = 0

    def add(self, output: AgentOutput, glyphs: Glyphs) -> None:
        rows = rows_of(output, glyphs)
        if output.effect != self._effect:
            self._effect = output.effect
            rows = [*([Row("", "")] if len(self.rows) else []), speaker(output, glyphs), *rows]
        second = int(output.at)
        if rows and second and second != self._second:
            self._second = second
            lead = sum(not row.text for row in rows[:1])
            self.said_at[self.rows.end + lead] = second
            if len(self.said_at) > MOST_TIMES:
                first = self.rows.first
                self.said_at = {number: at for number, at in self.said_at.items() if number >= first}
        self.rows.extend(rows)


def speaker(output: AgentOutput, glyphs: Glyphs) -> Row:
    """Whose words follow. The seats of a council speak at the same time, so each turn names its seat."""
    if output.seat:
        return Row("accent bold", f"{glyphs.rule * 2} {seat_name(_cut(output.seat))} {glyphs.rule * 2}")
    return Row("muted bold", f"{glyphs.rule * 2} {output.role.value} {glyphs.rule * 2}")


def rows_of(output: AgentOutput, glyphs: Glyphs) -> list[Row]:
    """One message as rows. Text is cut here and cleaned when it is drawn."""
    match output.kind:
        case OutputKind.TEXT:
            return [Row("", line) for line in _lines(output.text)]
        case OutputKind.THINKING:
            return _folded(output.text, "muted italic", f"{glyphs.think} ", "  ", 1, glyphs)
        case OutputKind.TOOL_CALL:
            return _tool_call(output, glyphs)
        case OutputKind.TOOL_RESULT:
            return _folded(output.text, "muted", f"  {glyphs.bar} ", f"  {glyphs.bar} ", SHOWN, glyphs)
        case OutputKind.FILE_CHANGE:
            return [Row("added", f"{glyphs.change} {_cut(output.path)}  {_cut(output.text)}".rstrip())]
        case OutputKind.RETRY:
            return [Row("warn", f"{glyphs.warn} retry  {line}") for line in _lines(output.text)]
        case OutputKind.LIMIT:
            return [Row("warn", f"{glyphs.warn} limit  {line}") for line in _lines(output.text)]
        case OutputKind.ERROR:
            return [Row("bad", f"{glyphs.bad} error  {line}") for line in _lines(output.text)]
        case OutputKind.USAGE:
            return []
        case OutputKind.RAW:
            return [Row("muted", line) for line in _lines(output.text)]
        case _:
            assert_never(output.kind)


def _tool_call(output: AgentOutput, glyphs: Glyphs) -> list[Row]:
    lines = _lines(output.text) if output.text else []
    about = _cut(output.path) or (lines[0] if lines else "")
    head = Row("accent", f"{glyphs.tool} {_cut(output.tool)}  {about}".rstrip())
    rest = lines if output.path else lines[1:]
    return [head, *(Row("muted", f"    {line}", 1) for line in rest)]


def _folded(text: str, style: str, first: str, indent: str, shown: int, glyphs: Glyphs) -> list[Row]:
    lines = _lines(text)
    rows = [
        Row(style, (first if number == 0 else indent) + line, int(number >= shown)) for number, line in enumerate(lines)
    ]
    hidden = len(lines) - shown
    if hidden > 0:
        words = f"{hidden:,} more line{'s' if hidden > 1 else ''}"
        rows.insert(shown, Row(style, f"{' ' * len(indent)}{glyphs.ellipsis} {words} {glyphs.ellipsis}", -1))
    return rows


def _lines(text: str) -> list[str]:
    pieces = text.split("\n", MOST)
    if len(pieces) > MOST:
        left = pieces.pop().count("\n") + 1
        pieces.append(f"… {left:,} more lines are in the log")
    return [_cut(piece.rstrip("\r")) for piece in pieces]


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]} … ({len(text):,} characters)"
