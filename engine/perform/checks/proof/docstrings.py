"""Examples in documentation strings are oracle inside subject files: R1 takes the candidate's file with the base's."""

from __future__ import annotations

import ast

from engine.perform.checks import python_source

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def with_base_examples(before: bytes, after: bytes) -> bytes:
    """`after`, each documentation string whose base version has examples replaced by that version.

    What the change documents anew stays as it is; an example the change took away comes back where its owner is left.
    """
    if b">>>" not in before:
        return after
    try:
        old, new = python_source.parse(before), python_source.parse(after)
        text = after.decode("utf-8")
    except (SyntaxError, ValueError, RecursionError):
        return after
    kept = {name: doc for name, node in _documented(old) if (doc := _doc(node)) and ">>>" in str(doc.value)}
    starts = _offsets(text)
    edits: list[tuple[int, int, str]] = []
    for name, node in _documented(new):
        wanted = kept.get(name)
        if wanted is None:
            continue
        here = _doc(node)
        if here is not None:
            if here.value == wanted.value:
                continue
            begin = _at(text, starts, here.lineno, here.col_offset)
            end = _at(text, starts, here.end_lineno or here.lineno, here.end_col_offset or 0)
            edits.append((begin, end, repr(wanted.value)))
        elif node.body and not isinstance(node, ast.Module):
            first = node.body[0]
            begin = _at(text, starts, first.lineno, first.col_offset)
            edits.append((begin, begin, repr(wanted.value) + "; "))
    for begin, end, replacement in sorted(edits, reverse=True):
        text = text[:begin] + replacement + text[end:]
    try:
        python_source.parse(text)
    except (SyntaxError, ValueError):
        return after
    return text.encode("utf-8")


def _documented(tree: ast.Module) -> list[tuple[str, Documented]]:
    found: list[tuple[str, Documented]] = [("", tree)]
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, parent = pending.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{prefix}.{node.name}"
                found.append((name, node))
                pending.append((name, node))
            elif isinstance(node, ast.If | ast.Try | ast.With):
                pending.append((prefix, node))
    return found


def _doc(node: Documented) -> ast.Constant | None:
    match node.body[:1]:
        case [ast.Expr(value=ast.Constant(value=str()) as doc)]:
            return doc
    return None


def _offsets(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _at(text: str, starts: list[int], line: int, column: int) -> int:
    """ast counts columns in bytes."""
    begin = starts[line - 1]
    whole = text[begin : starts[line]] if line < len(starts) else text[begin:]
    return begin + len(whole.encode("utf-8")[:column].decode("utf-8", "ignore"))
