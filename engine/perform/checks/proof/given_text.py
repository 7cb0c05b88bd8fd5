"""What a program in JavaScript, Go, C or shell is given, by its words: parameters, and what is made of them. Pure.

Too much rather than too little is taken for given: a name that is a parameter of one function is one everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.perform.checks.proof.source_tokens import OPENS, Token, TokenKind, closing, tokens

NOT_CALLED = frozenset({"if", "for", "while", "switch", "catch", "with", "return", "else", "do", "sizeof", "typeof"})
CLOSES = {")": "(", "]": "[", "}": "{"}
ROUNDS = 6
_JOINS = ("?", ":", "+", "-", "&&", "||", "??")


def given(text: str, language: str) -> set[str]:
    """Names of parameters, and those that something made of these is assigned to or put into."""
    all = tokens(text)
    steps = [step for index in range(len(all)) if (step := _step(text, all, index, language))]
    found = {"this", "self", "arguments"} | _parameters(all, language) | _by_branches(all, steps)
    for _ in range(ROUNDS):
        size = len(found)
        for into, of in steps:
            if (of | into) & found:
                found |= into
        if len(found) == size:
            break
    return found


def _by_branches(all: Sequence[Token], steps: Sequence[tuple[set[str], set[str]]]) -> set[str]:
    """Names that are set more than once: which value they have may hang on what is given by the way that was taken."""
    counted = [
        all[index - 1].text
        for index in range(1, len(all) - 1)
        if all[index].text in ("+", "-") and all[index + 1].text == all[index].text
    ]
    names = [name for into, _ in steps for name in into] + counted
    return {name for name in names if names.count(name) > 1}


def globals_of(text: str, language: str) -> set[str]:
    """Names outside of all functions that can change: what is left in them is told by earlier calls, not given."""
    if language == "shell":
        return set()
    found, depth = set(), 0
    all = tokens(text)
    for index, token in enumerate(all):
        if token.kind is TokenKind.SIGN:
            depth += (token.text in OPENS) - (token.text in CLOSES)
        elif depth == 0 and token.text in ("let", "var", "const") and index + 1 < len(all):
            found.add(all[index + 1].text)
        elif depth == 0 and language == "c" and index + 1 < len(all) and all[index + 1].text in ("=", ";", "["):
            found.add(token.text)
    return found


def _parameters(all: Sequence[Token], language: str) -> set[str]:
    found: set[str] = set()
    for index, token in enumerate(all):
        if token.text == "(" and (close := closing(all, index)) > 0:
            before = all[index - 1] if index else token
            after = all[close + 1].text if close + 1 < len(all) else ""
            named = before.kind is TokenKind.WORD and before.text not in NOT_CALLED
            head = language == "go" and before.text == "func"
            opens = after in ("{", "=>", ":") or (language == "go" and _go_head(all, index))
            if head or before.text == "catch" or after == "=>" or ((named or before.text == "function") and opens):
                found |= _names(all, index, close, language)
        elif token.text == "=>" and index and all[index - 1].kind is TokenKind.WORD:
            found.add(all[index - 1].text)
    return found


def _names(all: Sequence[Token], first: int, close: int, language: str) -> set[str]:
    """Of parameters, without their types: in C a name stands last, in Go first."""
    found = set()
    for index in range(first + 1, close):
        before, after = all[index - 1].text, all[index + 1].text
        last, leads = after in (",", ")", "["), before in ("(", ",")
        if all[index].kind is TokenKind.WORD and (leads if language == "go" else last or language != "c"):
            found.add(all[index].text)
    return found


def _go_head(all: Sequence[Token], index: int) -> bool:
    """`func name(`, `func (receiver) name(`, and the results behind them."""
    back = index - 1
    for _ in range(3):
        if back < 0:
            return False
        if all[back].text == "func":
            return True
        if all[back].text == ")":
            depth = 0
            while back >= 0:
                depth += (all[back].text == ")") - (all[back].text == "(")
                back -= 1
                if not depth:
                    break
        else:
            back -= 1
    return back >= 0 and all[back].text == "func"


def _step(text: str, all: Sequence[Token], index: int, language: str) -> tuple[set[str], set[str]] | None:
    """(what something is put into, what it is made of) at one sign or word."""
    token = all[index]
    if token.text in ("=", ":=") and token.kind is TokenKind.SIGN:
        return _left(text, all, index - 1, language), _right(text, all, index + 1, language)
    if token.text in ("of", "in") and index and all[index - 1].kind is TokenKind.WORD:
        return {all[index - 1].text}, _right(text, all, index + 1, language)
    if token.text == "&" and language in ("c", "go") and index and all[index - 1].text in ("(", ","):
        return {all[index + 1].text}, {"this"}
    if token.text == "(" and index > 2 and all[index - 2].text == "." and all[index - 3].kind is TokenKind.WORD:
        close = closing(all, index)  # out.push(given)
        return {all[index - 3].text}, {one.text for one in all[index:close] if one.kind is TokenKind.WORD}
    return None


def _left(text: str, all: Sequence[Token], at: int, language: str) -> set[str]:
    found, depth = set(), 0
    while at >= 0:
        token = all[at]
        if token.text in CLOSES:
            depth += 1
        elif token.text in OPENS and depth:
            depth -= 1
        elif token.kind is TokenKind.WORD:
            found.add(token.text)
            if not depth and language != "go" and at and all[at - 1].kind is TokenKind.WORD:
                break  # a type stands before it
        elif not depth and token.text not in (".", ",", "*", "+", "-", ":"):
            break
        if not depth and at and "\n" in text[all[at - 1].end : token.at]:
            break
        at -= 1
    return found - {"const", "let", "var"}


def _right(text: str, all: Sequence[Token], at: int, language: str) -> set[str]:
    found, depth, first = set(), 0, at
    while at < len(all):
        token = all[at]
        fresh = at > first and "\n" in text[all[at - 1].end : token.at]
        if not depth and (token.text in (";", ")", "]", "}") or (language == "go" and token.text == "{")):
            break
        goes_on = token.text in (".", *_JOINS) or all[at - 1].text in ("=>", ",", *_JOINS)
        if not depth and fresh and language != "c" and not goes_on:
            break
        if token.kind is TokenKind.WORD:
            found.add(token.text)
        elif token.kind is TokenKind.RAW:
            found |= set(re.findall(r"[A-Za-z_$][\w$]*", token.text))
        elif token.kind is TokenKind.SIGN:
            depth += (token.text in OPENS) - (token.text in CLOSES)
        at += 1
    return found


_INTO = re.compile(
    r"(?m)^[^#\n]*?(?<![\w$])(?:local\s+|export\s+|readonly\s+)?([A-Za-z_]\w*)\+?=(\S*(?:\$\(.*\))?[^\n;]*)"
)
_FOR = re.compile(r"\bfor\s+(\w+)(?:\s+in\s+([^\n;]*))?")
_READ = re.compile(r"\bread\s+(?:-\w+\s+)*((?:\w+ ?)+)")


def given_in_shell(text: str) -> set[str]:
    """Variables that hold arguments, what was read, or what is made of these."""
    found = set("@*#123456789") | {name for match in _READ.finditer(text) for name in match[1].split()}
    steps = [(match[1], match[2]) for match in _INTO.finditer(text)]
    steps += [(match[1], match[2] if match[2] is not None else "$@") for match in _FOR.finditer(text)]
    found |= {name for name, _ in steps if [one for one, _ in steps].count(name) > 1}
    for _ in range(ROUNDS):
        for into, of in steps:
            if set(re.findall(r"\$\{?#?([A-Za-z_]\w*|[@*#\d])", of)) & found:
                found.add(into)
    return found | {"?"} | ({match[1] for match in re.finditer(r"getopts\s+\S+\s+(\w+)", text)})
