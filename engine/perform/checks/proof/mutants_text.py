"""Mutants of JavaScript, TypeScript and Go by their words and signs: one small change that stays a program. Pure.

What might not compile is left alone: a mutant that no compiler takes would be noticed by every test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from engine.perform.checks.proof.changed_lines import changed_lines
from engine.perform.checks.proof.gutted_text import LANGUAGES, bodies
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.mutate import Mutant
from engine.perform.checks.proof.source_tokens import Token, TokenKind, closing, tokens

SIGNS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===", "==": "!=", "!=": "==", "&&": "||",
    "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "%": "*",
}  # fmt: skip
"""With a blank on both sides: what stands closer may be a type, a shift, a channel, an assignment."""
LARGEST = 200
"""Numbers up to here have a next one in every type."""
_NOT_ASKED = re.compile(
    r"\b(?:console|log|logger|slog|debug)\.\w+\(|^\s*(?:import|package)\b|\brequire\(|\bfrom\s+[\"']"
)


def speaks(path: str) -> bool:
    """Whether a file is in a language that mutants are made of here."""
    return language_of(path) in LANGUAGES


def touched_lines(path: str, before: bytes | None, after: bytes) -> set[int]:
    """Changed lines, and the whole of the functions that they lie in."""
    touched = changed_lines(before, after)
    for _, first, last in _functions(path, after):
        whole = set(range(first, last + 1))
        touched |= whole if whole & touched else set()
    return touched


def named_lines(path: str, source: bytes, words: frozenset[str]) -> set[int]:
    """Lines of the functions that the words name."""
    found: set[int] = set()
    for name, first, last in _functions(path, source):
        found |= set(range(first, last + 1)) if name in words else set()
    return found


def _functions(path: str, source: bytes) -> Iterator[tuple[str, int, int]]:
    text = source.decode("utf-8", "surrogateescape")
    for one in bodies(text, language_of(path), ""):
        yield one.name, text.count("\n", 0, one.start) + 1, text.count("\n", 0, one.end) + 1


def mutants_text(path: str, source: bytes, lines: set[int]) -> list[Mutant]:
    """Every mutant on the given lines."""
    text = source.decode("utf-8", "surrogateescape")
    all, go = tokens(text), path.endswith(".go")
    asked = [not _NOT_ASKED.search(line) for line in text.split("\n")]
    imports = _imports(all) if go else range(0)
    found = []
    at, line = 0, 1
    for index, token in enumerate(all):
        line += text.count("\n", at, token.at)
        at = token.at
        if line not in lines or not asked[line - 1] or index in imports:
            continue
        for start, end, other in _others(text, all, index, go):
            made = text[:start] + other + text[end:]
            what = f"{text[start:end][:40]} → {other[:40]}"
            found.append(Mutant(path=path, line=line, what=what, source=made))
    return found


def _imports(all: Sequence[Token]) -> range:
    """The tokens of a list of imports in Go."""
    heads = (at for at, token in enumerate(all[:-1]) if token.text == "import" and all[at + 1].text == "(")
    first = next(heads, -1)
    return range(first, closing(all, first + 1) + 1) if first >= 0 else range(0)


def _others(text: str, all: Sequence[Token], index: int, go: bool) -> Iterator[tuple[int, int, str]]:
    """Place and text of what may stand instead of a token."""
    token = all[index]
    before = all[index - 1] if index else None
    behind = all[index + 1] if index + 1 < len(all) else None
    match token.kind:
        case TokenKind.SIGN:
            counts = TokenKind.NUMBER in {one.kind for one in (before, behind) if one}
            if token.text in SIGNS and _apart(text, token) and (counts or token.text != "+" or not go):
                yield token.at, token.end, SIGNS[token.text]
        case TokenKind.NUMBER:
            if token.text.isdigit() and int(token.text) <= LARGEST and not (go and _is_fixed(all, index)):
                yield token.at, token.end, str(int(token.text) + 1)
        case TokenKind.TEXT:
            if not (go and token.text[0] == "'"):
                yield token.at, token.end, f"{token.text[:-1]}~{token.text[-1]}"
        case TokenKind.RAW if go:  # it may be a tag of a struct
            return
        case TokenKind.RAW:
            yield token.at, token.end, f"{token.text[:-1]}~`"
        case TokenKind.WORD:
            yield from _other_word(text, all, index, go)
        case TokenKind.REGEX:
            return
        case _:
            assert_never(token.kind)


def _apart(text: str, token: Token) -> bool:
    return text[token.at - 1 : token.at].isspace() and text[token.end : token.end + 1].isspace()


def _is_fixed(all: Sequence[Token], index: int) -> bool:
    """A number of Go that stands in a type, behind `case`, before a colon or beside a shift."""
    around = [one.text for one in all[max(0, index - 2) : index + 3]]
    array = [one.text for one in all[index - 1 : index + 2 : 2]] == ["[", "]"]
    typed = array and index + 2 < len(all) and all[index + 2].kind is TokenKind.WORD
    return typed or ":" in around or "case" in around or "iota" in around or around.count("<") > 1


def _other_word(text: str, all: Sequence[Token], index: int, go: bool) -> Iterator[tuple[int, int, str]]:
    token = all[index]
    if token.text in ("true", "false"):
        yield token.at, token.end, "false" if token.text == "true" else "true"
    elif token.text == "if" and (span := _condition(all, index, go)) is not None:
        start, end = span
        yield start, end, f"false && ({text[start:end]})"
    elif token.text == "return" and not go and index + 1 < len(all):
        behind = all[index + 1]
        alone = "\n" in text[token.end : behind.at] or behind.text in (";", "}")
        arrow = any(one.text == "=>" for one in all[index + 1 : _end_of_parameters(all, index + 1) + 2])
        if not alone and not arrow:
            yield token.at, token.end, "return void"


def _end_of_parameters(all: Sequence[Token], index: int) -> int:
    """The last token of what may be the parameters of an arrow function."""
    index += all[index].text == "async"
    if index < len(all) and all[index].text == "(":
        return max(index, closing(all, index))
    return index


def _condition(all: Sequence[Token], index: int, go: bool) -> tuple[int, int] | None:
    """From the first to behind the last sign of the condition behind `if`."""
    first = index + 1
    if not go:
        last = closing(all, first) if first < len(all) and all[first].text == "(" else -1
        return (all[first + 1].at, all[last - 1].end) if last > first + 1 else None
    at = first
    while at < len(all) and all[at].text != "{":
        if all[at].text == ";":
            first = at + 1
        at = closing(all, at) + 1 if all[at].text in ("(", "[") else at + 1
        if at <= 0:
            return None
    return (all[first].at, all[at - 1].end) if first < at < len(all) else None
