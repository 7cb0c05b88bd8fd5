"""Unified diffs as data, and their code in colour. Pure: text in, rows out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from engine.core.clean import clean
from engine.core.model import Struct
from tui.kit.paint import LONGEST, Span

MOST_LINES = 20_000
"""Lines of a diff that are read; what is beyond is counted."""
COLOURED = 4_000
"""Lines of one file whose code is coloured; a generated monster is shown plain."""

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$")


class DiffRow(Struct, frozen=True, kw_only=True):
    """One line. kind: " " context, "+" added, "-" removed, "@" hunk head, "!" a remark."""

    kind: str
    text: str
    old: int = 0
    new: int = 0


class FileDiff(Struct, frozen=True, kw_only=True):
    path: str
    rows: tuple[DiffRow, ...]
    added: int = 0
    removed: int = 0
    note: str = ""
    """new file, deleted, binary, mode …"""


def parse(text: str) -> list[FileDiff]:
    """Files of a unified diff. What is not understood is kept as a remark, never dropped."""
    files: list[FileDiff] = []
    path, note = "", ""
    rows: list[DiffRow] = []
    old = new = 0
    lines = text.removesuffix("\n").split("\n")
    left_out = max(0, len(lines) - MOST_LINES)

    def finish() -> None:
        if path or rows:
            added = sum(row.kind == "+" for row in rows)
            removed = sum(row.kind == "-" for row in rows)
            files.append(FileDiff(path=path, rows=tuple(rows), added=added, removed=removed, note=note))

    in_hunk = False
    for line in lines[:MOST_LINES]:
        if line.startswith("diff --git "):
            finish()
            path, note, rows, in_hunk = line.rsplit(" b/", 1)[-1], "", [], False
        elif head := _HUNK.match(line):
            old, new, in_hunk = int(head[1]), int(head[2]), True
            rows.append(DiffRow(kind="@", text=head[3].strip(), old=old, new=new))
        elif not in_hunk:
            note = _noted(line, note)
        elif line.startswith("+"):
            rows.append(DiffRow(kind="+", text=_tabs(line[1:]), new=new))
            new += 1
        elif line.startswith("-"):
            rows.append(DiffRow(kind="-", text=_tabs(line[1:]), old=old))
            old += 1
        elif line.startswith("\\"):
            rows.append(DiffRow(kind="!", text=line[2:]))
        elif line.startswith(" ") or not line:
            rows.append(DiffRow(kind=" ", text=_tabs(line[1:]), old=old, new=new))
            old, new = old + 1, new + 1
    if left_out:
        rows.append(DiffRow(kind="!", text=f"{left_out:,} more lines are not shown"))
    finish()
    return files


def _noted(line: str, note: str) -> str:
    for start, word in (
        ("new file", "new file"),
        ("deleted file", "deleted"),
        ("Binary files", "binary"),
        ("old mode", "mode changed"),
    ):
        if line.startswith(start):
            return word
    return note


def _tabs(text: str) -> str:
    return clean(text[:LONGEST]).replace("\n", "⏎").expandtabs(4)


def pairs(rows: tuple[DiffRow, ...]) -> list[tuple[DiffRow | None, DiffRow | None]]:
    """Rows for two columns: removed lines face the added lines that replace them."""
    out: list[tuple[DiffRow | None, DiffRow | None]] = []
    gone: list[DiffRow] = []
    come: list[DiffRow] = []

    def flush() -> None:
        for at in range(max(len(gone), len(come))):
            out.append((gone[at] if at < len(gone) else None, come[at] if at < len(come) else None))
        gone.clear()
        come.clear()

    for row in rows:
        if row.kind == "-":
            if come:
                flush()
            gone.append(row)
        elif row.kind == "+":
            come.append(row)
        else:
            flush()
            out.append((row, row))
    flush()
    return out


@lru_cache(maxsize=64)
def coloured(path: str, texts: tuple[str, ...]) -> tuple[tuple[Span, ...], ...]:
    """The code of a file's lines as spans, one tuple a line."""
    plain = tuple(((text, ""),) for text in texts)
    if len(texts) > COLOURED:
        return plain
    from pygments.lexers import get_lexer_for_filename  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain
    lines: list[list[Span]] = [[]]
    for token, value in lexer.get_tokens("\n".join(texts)):
        style = _style(token)
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append((piece, style))
    return tuple(tuple(line) for line in lines[: len(texts)]) if len(lines) >= len(texts) else plain


def _style(token: Any) -> str:
    name = str(token)
    for part, style in (
        ("Comment", "code-comment"),
        ("Keyword", "code-keyword"),
        ("Operator.Word", "code-keyword"),
        ("String", "code-string"),
        ("Number", "code-number"),
        ("Name.Function", "code-name"),
        ("Name.Class", "code-name"),
        ("Name.Decorator", "code-name"),
        ("Name.Builtin", "code-name"),
    ):
        if part in name:
            return style
    return ""
