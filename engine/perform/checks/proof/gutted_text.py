"""Functions of JavaScript, TypeScript and Go that a change adds or alters, emptied. Pure.

As in Python (`gutted`): a test that passes whatever they answer never looked at them. They are found by their words and
brackets; what is not found is left as it is, and then nothing follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.core.model import Struct
from engine.perform.checks.proof.source_tokens import OPENS, Token, TokenKind, arguments, closing, tokens

LANGUAGES = frozenset({"javascript", "go"})
SOMETHING, NOTHING = "(class Nothing {})", "undefined"
"""What an emptied function of JavaScript answers; one of Go answers the zero values of its types."""
NO_NAMES = frozenset(
    ("if", "for", "while", "switch", "catch", "with", "function", "return", "constructor", "super", "await", "typeof",
     "new", "do", "else", "try", "of", "in", "import", "require")
)  # fmt: skip
STARTS = frozenset({"export", "const", "let", "var", "function", "class", "import", "async", "module", "exports"})


class Body(Struct, frozen=True, kw_only=True):
    name: str
    text: str
    """The whole function, to tell an altered one from one that is as it was."""
    start: int
    end: int
    """Places of what stands for its body."""
    emptied: str
    results: str = ""
    """What a function of Go answers, as it is written."""


def gutted_text(before: bytes, after: bytes, language: str, answer: str) -> bytes | None:
    """`after` with its new and altered functions doing nothing; None where there are none."""
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return None
    had = {(one.name, one.text) for one in bodies(old, language, answer)}
    fresh = [one for one in bodies(new, language, answer) if (one.name, one.text) not in had]
    if not fresh:
        return None
    behind = len(new) + 1
    for one in sorted(fresh, key=lambda one: -one.end):
        if one.end <= behind:  # what lies inside of another goes with it
            inner = any(other.start < one.start and one.end < other.end for other in fresh)
            if not inner:
                new = new[: one.start] + one.emptied + new[one.end :]
                behind = one.start
    return (without_unused(new) if language == "go" else new).encode()


def bodies(text: str, language: str, answer: str) -> Iterator[Body]:
    all = tokens(text)
    return _go(text, all) if language == "go" else _javascript(text, all, answer)


# ── JavaScript ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _javascript(text: str, all: Sequence[Token], answer: str) -> Iterator[Body]:
    for index, token in enumerate(all):
        if token.kind is not TokenKind.WORD:
            continue
        if token.text == "function":
            at = index + 1 + (all[index + 1 : index + 2] != [] and all[index + 1].text == "*")
            named = at < len(all) and all[at].kind is TokenKind.WORD
            name = all[at].text if named else _assigned(all, index)
            yield from _block(text, all, index, at + named, name, answer)
        elif (
            index + 1 < len(all)
            and all[index + 1].text == "("
            and token.text not in NO_NAMES
            and _is_method(all, index)
        ):
            yield from _block(text, all, index, index + 1, token.text, answer)
    for index, token in enumerate(all):
        if token.text == "=>" and (name := _arrow_name(all, index)):
            yield from _arrow(text, all, index, name, answer)


def _is_method(all: Sequence[Token], index: int) -> bool:
    before = all[index - 1].text if index else ""
    called = index + 1 < len(all) and all[index + 1].text == "("
    return called and before in ("{", "}", ";", ",", "static", "async", "get", "set", "*")


def _block(text: str, all: Sequence[Token], first: int, at: int, name: str, answer: str) -> Iterator[Body]:
    """A body in braces behind the parameters that open at `at`; a type may stand between them."""
    if not name or at >= len(all) or all[at].text != "(":
        return
    opened = closing(all, at) + 1
    if opened and opened < len(all) and all[opened].text == ":":
        if opened + 1 < len(all) and all[opened + 1].text == "{":
            opened = closing(all, opened + 1)  # a type that is written out
        while 0 <= opened < len(all) and (all[opened].text not in ("{", ";", "=>") or all[opened - 1].text == ":"):
            opened += 1
    if not 0 < opened < len(all) or all[opened].text != "{":
        return
    close = closing(all, opened)
    if close > 0:
        start, end = all[opened].at, all[close].end
        yield Body(
            name=name, text=_plain(all[first : close + 1]), start=start, end=end, emptied=f"{{ return {answer}; }}"
        )


def _assigned(all: Sequence[Token], index: int) -> str:
    """Of `name = function`, `name: function`."""
    back = index - 1 - (index > 0 and all[index - 1].text == "async")
    if back > 0 and all[back].text in ("=", ":") and all[back - 1].kind is TokenKind.WORD:
        return all[back - 1].text
    return ""


def _arrow_name(all: Sequence[Token], index: int) -> str:
    """Of `name = (a, b) => …` and `name = a => …`."""
    back = index - 1
    if back >= 0 and all[back].text == ")":
        depth = 0
        while back >= 0:
            depth += (all[back].text in ")]}") - (all[back].text in OPENS)
            if not depth:
                break
            back -= 1
    return _assigned(all, back) if back > 0 else ""


def _arrow(text: str, all: Sequence[Token], index: int, name: str, answer: str) -> Iterator[Body]:
    first = index + 1
    if first >= len(all):
        return
    if all[first].text == "{":
        last = closing(all, first)
        emptied = f"{{ return {answer}; }}"
    else:
        last, emptied = _end_of_expression(text, all, first), answer
    if last >= first:
        whole = _plain(all[index : last + 1])
        yield Body(name=name, text=whole, start=all[first].at, end=all[last].end, emptied=emptied)


def _end_of_expression(text: str, all: Sequence[Token], at: int) -> int:
    index = at
    while index < len(all):
        token = all[index]
        fresh = index > at and "\n" in text[all[index - 1].end : token.at]
        if token.text in (";", ",", ")", "]", "}") or (fresh and token.text in STARTS):
            return index - 1
        if token.text in OPENS and token.kind is TokenKind.SIGN:
            index = closing(all, index)
            if index < 0:
                return -1
        index += 1
    return len(all) - 1


# ── Go ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _go(text: str, all: Sequence[Token]) -> Iterator[Body]:
    for index, token in enumerate(all):
        if token.text != "func" or (index and "\n" not in text[all[index - 1].end : token.at]):
            continue
        at = index + 1
        if at < len(all) and all[at].text == "(":
            at = closing(all, at) + 1  # the receiver
        if not 0 < at < len(all) - 1 or all[at].kind is not TokenKind.WORD or all[at + 1].text != "(":
            continue  # a generic one is left alone
        name, results = all[at].text, closing(all, at + 1) + 1
        opened = _body_of(all, results)
        close = closing(all, opened) if opened > 0 else -1
        answer = _zero(text, all, results, opened) if close > 0 else None
        if answer is not None and name not in ("main", "init"):
            start, end = all[opened].at, all[close].end
            told = text[all[results].at : all[opened - 1].end] if opened > results else ""
            whole = _plain(all[index : close + 1])
            yield Body(name=name, text=whole, start=start, end=end, emptied=f"{{ {answer} }}", results=told)


def _body_of(all: Sequence[Token], at: int) -> int:
    """The brace of the body behind the results that begin at `at`."""
    index = at
    while 0 < index < len(all):
        token = all[index]
        if token.text == "{":
            if index > at and all[index - 1].text in ("struct", "interface"):
                index = closing(all, index)
            else:
                return index
        elif token.text in ("(", "["):
            index = closing(all, index)
        elif token.text == ";":
            return -1
        if index < 0:
            return -1
        index += 1
    return -1


def _zero(text: str, all: Sequence[Token], results: int, opened: int) -> str | None:
    """A statement that answers the zero value of each result."""
    if results == opened:
        return "return"
    if all[results].text != "(":
        return f"return *new({text[all[results].at : all[opened - 1].end]})"
    given = arguments(all, results)
    words = [text[all[first].at : all[last - 1].end] for first, last in given]
    if any(re.match(r"[A-Za-z_]\w*\s+[\w*\[(]", word) for word in words):
        return "return"  # they have names
    return "return " + ", ".join(f"*new({word})" for word in words)


def without_unused(text: str) -> str:
    """Imports that nobody names any more are kept for their effects alone: the compiler refuses them otherwise."""
    all = tokens(text)
    used = {token.text for token, dot in pairwise(all) if dot.text == "."}

    def spelled(match: re.Match[str]) -> str:
        name = re.sub(r"^v\d+$", "", match[2].rpartition("/")[2]) or match[2].split("/")[-2]
        return match[0] if name.replace("go-", "").replace("-", "_") in used else f'{match[1]}_ "{match[2]}"'

    head, mark, rest = text.partition("\nfunc ")
    return re.sub(r'^((?:import)?[ \t]+)"([^"\n]+)"', spelled, head, flags=re.MULTILINE) + mark + rest


def _plain(all: Sequence[Token]) -> str:
    return " ".join(token.text for token in all)
