"""Words, numbers, texts and signs of a program in a language of the C family (JavaScript, TypeScript, Go …). Pure.

No parser: enough to find a call, its arguments and the constants in it, and never to take a text or a comment for code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import assert_never

from engine.core.model import Struct


class TokenKind(StrEnum):
    WORD = "word"
    NUMBER = "number"
    TEXT = "text"
    RAW = "raw"
    """A template or raw text: it is passed over whole."""
    REGEX = "regex"
    SIGN = "sign"


class Token(Struct, frozen=True, kw_only=True):
    kind: TokenKind
    text: str
    at: int

    @property
    def end(self) -> int:
        return self.at + len(self.text)


_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/|\A\#![^\n]*)"
    r"|(?P<word>[A-Za-z_$][\w$]*)"
    r"|(?P<number>(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)n?)"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<raw>`(?:[^`\\]|\\.)*`)"
    r"|(?P<sign>=>|===|!==|==|!=|<=|>=|&&|\|\||\?\?|:=|\.\.\.|.)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%<>~^") | {"=>", "==", "===", "!=", "!==", "&&", "||", "??", "<=", ">="}
_WORDS_BEFORE_REGEX = frozenset({"return", "typeof", "case", "in", "of", "void", "await", "throw", "yield"})
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
MOST = 400_000
"""Characters: what is longer is nobody's test."""


def tokens(source: str) -> list[Token]:
    """Without blanks and comments; an unfinished text ends the list."""
    found: list[Token] = []
    at = 0
    while at < len(source) and len(source) <= MOST:
        last = found[-1] if found else None
        fresh = last is None or last.text in _BEFORE_REGEX or last.text in _WORDS_BEFORE_REGEX
        if source[at] == "/" and fresh and (regex := _REGEX.match(source, at)):
            found.append(Token(kind=TokenKind.REGEX, text=regex[0], at=at))
            at = regex.end()
            continue
        match = _TOKEN.match(source, at)
        if match is None or match.end() == at:
            break
        kind = match.lastgroup or "sign"
        if kind != "space":
            found.append(Token(kind=TokenKind(kind), text=match[0], at=at))
        at = match.end()
    return found


def closing(all: Sequence[Token], at: int) -> int:
    """Index of the token that closes the bracket at `at`; -1: none does."""
    depth = 0
    for index in range(at, len(all)):
        if all[index].kind is not TokenKind.SIGN:
            continue
        if all[index].text in OPENS:
            depth += 1
        elif all[index].text in CLOSES:
            depth -= 1
            if not depth:
                return index
    return -1


def arguments(all: Sequence[Token], at: int) -> list[tuple[int, int]]:
    """(first, behind the last) token of each argument of the call whose bracket opens at `at`."""
    end = closing(all, at)
    found: list[tuple[int, int]] = []
    first, index = at + 1, at + 1
    while 0 <= index <= end:
        token = all[index]
        if index == end or (token.kind is TokenKind.SIGN and token.text == ","):
            if index > first:
                found.append((first, index))
            first = index + 1
        elif token.kind is TokenKind.SIGN and token.text in OPENS:
            index = closing(all, index)
            if index < 0:
                return found
        index += 1
    return found


def value_of(token: Token) -> int | float | str | None:
    """The value of a plain number or of a text without escapes."""
    if token.kind is TokenKind.TEXT and "\\" not in token.text:
        return token.text[1:-1]
    if token.kind is TokenKind.NUMBER and re.fullmatch(r"\d[\d_]*", token.text) and len(token.text) < 16:
        return int(token.text.replace("_", "")) if token.text[0] != "0" or token.text == "0" else None
    if token.kind is TokenKind.NUMBER and re.fullmatch(r"\d*\.\d+", token.text) and len(token.text) < 16:
        return float(token.text)
    return None


def constants(source: bytes | None) -> set[str]:
    """Every plain number and text of a source, as Python would write it."""
    text = (source or b"").decode("utf-8", "replace")
    return {repr(value) for token in tokens(text) if (value := value_of(token)) is not None}


def decisions(source: bytes | None) -> int:
    """How many branches, comparisons and look-ups there are."""
    return sum(1 for _ in _decisions(tokens((source or b"").decode("utf-8", "replace"))))


_BRANCHES = frozenset({"if", "case", "catch", "while", "switch"})
_DECIDES = frozenset({"===", "!==", "==", "!=", "<=", ">=", "&&", "||", "??", "?", "<", ">"})


def _decisions(all: Sequence[Token]) -> Iterator[Token]:
    for index, token in enumerate(all):
        behind = all[index + 1].kind if index + 1 < len(all) else None
        match token.kind:
            case TokenKind.TEXT | TokenKind.RAW:  # a key, or what something is asked for
                counts = len(token.text) > LONG and index > 0 and all[index - 1].text in ("(", "[", "{", ",")
            case TokenKind.WORD:
                counts = token.text in _BRANCHES
            case TokenKind.SIGN:
                looks_up = token.text == "[" and index > 0 and all[index - 1].kind is TokenKind.WORD
                counts = token.text in _DECIDES or (looks_up and behind is not TokenKind.NUMBER)
            case TokenKind.NUMBER | TokenKind.REGEX:
                counts = False
            case _:
                assert_never(token.kind)
        if counts:
            yield token


LONG = 4
"""Signs of a text with its quotes, from which on it may be an input of a test."""
