"""Lines as data: what a panel draws is a tuple of lines, a line is a tuple of (text, style words).

Style words are theme tokens ("good", "muted", "accent"…), attributes ("bold", "underline", "reverse", "strike") and
backgrounds ("on-raised"). Panels are pure functions from a snapshot to lines; only `Canvas` knows Textual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.cells import cell_len, set_cell_size

from engine.core.clean import clean_line

Span: TypeAlias = tuple[str, str]
Line: TypeAlias = tuple[Span, ...]

BLANK: Line = ()

LONGEST = 4000
"""Characters of one line that are ever drawn; an agent may send a megabyte without a line break."""


def cells_of(text: str) -> int:
    """Cells a clean text takes. Most text is ASCII, and then it is its length."""
    return len(text) if text.isascii() else cell_len(text)


def outside(text: str, limit: int = LONGEST) -> str:
    """Text that devteam did not write: cut, then cleaned to one harmless line."""
    if len(text) <= limit:
        return clean_line(text)
    count = f" ({len(text):,} characters)" if limit == LONGEST else ""
    return f"{clean_line(text[:limit])}…{count}"


def width_of(line: Iterable[Span]) -> int:
    return sum(cells_of(text) for text, _ in line)


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """At most `width` cells, with an ellipsis where something was left out."""
    if width <= 0:
        return ""
    if cells_of(text) <= width:
        return text
    mark = ellipsis[:width]
    return set_cell_size(text, width - len(mark)).rstrip() + mark


def end_of_path(path: str, width: int, ellipsis: str = "…") -> str:
    """A path that is too long loses its first folders: the file's name says most."""
    while cells_of(path) > width and "/" in path.lstrip(f"{ellipsis}/"):
        path = f"{ellipsis}/{path.removeprefix(f'{ellipsis}/').partition('/')[2]}"
    return path


def head_of(text: str, width: int) -> str:
    """The longest beginning of at most `width` cells, at least one character: never nothing, so a loop over it ends."""
    end = min(width, len(text))
    while end > 1 and (over := cells_of(text[:end]) - width) > 0:
        end -= max(1, over // 2)
    return text[: max(1, end)]


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Exactly `width` cells."""
    short = fit(text, width)
    gap = " " * (width - cells_of(short))
    return gap + short if right else short + gap


def crop(line: Iterable[Span], width: int) -> Line:
    """A line cut to `width` cells, styles kept; an ellipsis stands for what is left out, but for blanks."""
    spans = tuple(line)
    left = width
    for number, (text, style) in enumerate(spans):
        cells = cells_of(text)
        if cells > left:
            return _cut(spans[:number], text, style, left, blank=not any(words.strip() for words, _ in spans[number:]))
        left -= cells
    return spans


def _cut(kept: Line, text: str, style: str, left: int, *, blank: bool) -> Line:
    """The spans that fit and the beginning of the one that does not."""
    if blank or left > 0:
        return (*kept, (text[:left] if blank else fit(text, left), style)) if left > 0 else kept
    for number in range(len(kept) - 1, -1, -1):  # what fits ends where the rest begins: its last cell is for the sign
        words, tone = kept[number]
        if words:
            return (*kept[:number], (fit(f"{words}…", cells_of(words)), tone))
    return kept


def spread(left: Sequence[Span], right: Sequence[Span], width: int, gap: int = 2) -> Line:
    """One line with a left part and a right part; the left part gives way."""
    tail = width_of(right)
    if tail >= width:
        return crop(right, width)
    head = crop(left, max(0, width - tail - (gap if right else 0)))
    space = width - tail - width_of(head)
    return (*head, (" " * space, ""), *right)


def joined(parts: Iterable[Sequence[Span]], separator: str = " · ", style: str = "muted") -> Line:
    """Parts with a separator between them; empty parts leave no trace."""
    out: list[Span] = []
    for part in parts:
        if not part:
            continue
        if out:
            out.append((separator, style))
        out.extend(part)
    return tuple(out)


def fitting(parts: Iterable[Sequence[Span]], width: int, separator: str = " · ") -> Line:
    """As many of the parts, in order, as fit whole: a line that never ends in half a fact."""
    kept: list[Sequence[Span]] = []
    used = 0
    for part in parts:
        if not part:
            continue
        cells = width_of(part) + (len(separator) if kept else 0)
        if used + cells > width:
            continue
        kept.append(part)
        used += cells
    return joined(kept, separator)


def wrap(text: str, width: int, style: str = "", *, first: str = "", rest: str | None = None) -> list[Line]:
    """Words over as many lines as needed, by cells; `first` and `rest` are the indents."""
    rest = " " * cells_of(first) if rest is None else rest
    out: list[Line] = []
    for paragraph in text.split("\n"):
        current, indent = "", first if not out else rest
        for word in paragraph.split(" "):
            room = max(8, width - cells_of(indent))
            candidate = f"{current} {word}" if current else word
            if cells_of(candidate) <= room:
                current = candidate
                continue
            if current:
                out.append(((indent, "muted"), (current, style)))
                indent, current = rest, ""
            # A word longer than a line is cut; only the piece at hand is measured, whatever the word's length.
            while len(piece := head_of(word, max(8, width - cells_of(indent)))) < len(word):
                out.append(((indent, "muted"), (piece, style)))
                word, indent = word[len(piece) :], rest
            current = word
        out.append(((indent, "muted"), (current, style)))
    return out


def wrap_to(text: str, width: int, style: str, most: int, *, first: str = "", ellipsis: str = "…") -> list[Line]:
    """Words over at most so many lines; where some are left out the last one says so."""
    lines = wrap(text, width, style, first=first)
    if len(lines) <= most:
        return lines
    (indent, tone), (words, _) = lines[most - 1]
    return [
        *lines[: most - 1],
        ((indent, tone), (fit(words, width - cells_of(indent) - len(ellipsis), "") + ellipsis, style)),
    ]


def wrap_spans(line: Line, width: int, indent: int) -> list[Line]:
    """A line of several styles over as many as it needs, broken after blanks; the further ones are indented."""
    out: list[list[Span]] = [[]]
    for text, style in line:
        for word in re.findall(r" *[^ ]+|  *$", text):
            if out[-1] and width_of(out[-1]) + cells_of(word) > width:
                out.append([(" " * indent, "")])
                word = word.lstrip()
            while width_of(out[-1]) + cells_of(word) > width:  # longer than a line
                piece = head_of(word, max(1, width - width_of(out[-1])))
                out[-1].append((piece, style))
                word = word[len(piece) :]
                out.append([(" " * indent, "")])
            out[-1].append((word, style))
    return [tuple(spans) for spans in out]


def side_by_side(left: Sequence[Line], right: Sequence[Line], left_width: int, gap: int = 3) -> list[Line]:
    """Two blocks of lines next to each other."""
    out: list[Line] = []
    for row in range(max(len(left), len(right))):
        head = crop(left[row], left_width) if row < len(left) else BLANK
        tail = right[row] if row < len(right) else BLANK
        out.append((*head, (" " * (left_width - width_of(head) + gap), ""), *tail))
    return out


def plain(lines: Iterable[Line]) -> str:
    """The words alone, for copying, files and tests."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
