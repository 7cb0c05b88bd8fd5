"""Conditions of programs in JavaScript, TypeScript, Go, C and shell: where they are, and what takes them out. Pure.

No parser: words, brackets and lines tell enough to put `true` in the place of one condition. A program that cannot be
built then says nothing. As in Python (`unneeded_conditions`): what no test tells from always is shown by none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.core.model import Struct
from engine.perform.checks.proof.changed_lines import changed_lines
from engine.perform.checks.proof.given_text import given, given_in_shell, globals_of
from engine.perform.checks.proof.source_tokens import OPENS, Token, TokenKind, closing, tokens, value_of
from engine.perform.checks.proof.unneeded_conditions import NEAR, SMALL, Condition, said, spoken

LANGUAGES = frozenset({"javascript", "go", "c", "shell"})
JOINTS = {"&&": True, "||": False}
"""What leaves the other side of a joint as it is."""
ENDS = frozenset({",", ";", "?", ":", "=", ":=", "=>", "{", "}", "&&", "||", "??"})
WORDS_BEFORE = frozenset(
    {"return", "if", "case", "else", "for", "while", "throw", "yield", "await", "typeof", "switch"}
)
GOES_ON = frozenset(".+-*/%<>=&|?:") | {"&&", "||", "??", "===", "!==", "==", "!=", "<=", ">="}
UNSAID = frozenset(
    {"err", "error", "ok", "e", "ex", "nil", "null", "undefined", "NULL", "true", "false", "this", "self"}
)
_SHELL = re.compile(r"\[\[?\s[^\n\[\]]*\s\]\]?(?=[\s;)]|$)|(?<![\w./-])test\s[^\n;&|]+(?=[;&|\n])")


class Atom(Struct, frozen=True, kw_only=True):
    """One condition that is not made of others."""

    start: int
    end: int
    always: tuple[bool, ...]
    """What takes it out; of a whole condition both do."""


def conditions(before: bytes, after: bytes, language: str, words: str) -> list[Condition]:
    """New conditions that hang on nothing that is given, then those by a literal that the task does not have."""
    try:
        old, new = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        return []
    lines = changed_lines(before, after)
    plain = re.sub(r"\s+", "", old)
    idle, strange = [], []
    inputs = given_in_shell(new) if language == "shell" else given(new, language)
    shared = globals_of(new, language)
    for atom in _shell_atoms(new) if language == "shell" else _atoms(new, language):
        text = new[atom.start : atom.end]
        line = new.count("\n", 0, atom.start) + 1
        if line not in lines or re.sub(r"\s+", "", text) in plain:
            continue
        names = _shell_names(text) if language == "shell" else _names(text)
        if names and not names & (inputs - shared) and not spoken(names - UNSAID, words):
            idle += [_without(new, atom, always, line, language, idle=True) for always in atom.always]
        elif _strange(text, words, language) and not _guards(text, new[atom.end :]):
            strange.append(_without(new, atom, atom.always[0], line, language, idle=False))
    return [*idle, *strange]


_LENGTH = re.compile(r"(?:len\(\s*(\w+)\s*\)|(\w+)\.length)\s*(?:[=!]==?|[<>]=?)\s*\d+")


def _guards(text: str, behind: str) -> bool:
    """`len(args) == 3` before `args[2]`: without it the program looks where nothing is."""
    match = _LENGTH.fullmatch(text.strip())
    near = "\n".join(behind.split("\n")[: NEAR + 1])
    return match is not None and re.search(rf"(?<![\w.]){match[1] or match[2]}\[", near) is not None


def _without(new: str, atom: Atom, always: bool, line: int, language: str, *, idle: bool) -> Condition:
    text = new[atom.start : atom.end]
    value = str(int(always)) if language == "c" else str(always).lower()
    # what it names stays in use: a compiler may refuse what nobody needs
    instead = f"{value} " if language == "shell" else f"({value} {'||' if always else '&&'} ({text}))"
    source = new[: atom.start] + instead + new[atom.end :]
    return Condition(line=line, text=" ".join(text.split())[:60], always=always, source=source.encode(), idle=idle)


def _strange(text: str, words: str, language: str) -> bool:
    if language == "shell":
        values = re.findall(r"(?<![\w$])\d+(?!\w)|[\"']([^\"'$]+)[\"']", text)
        values = [*re.findall(r"(?<![\w$])\d+(?!\w)", text), *(one for one in values if one)]
    else:
        values = [str(value) for token in tokens(text) if (value := value_of(token)) is not None]
    return any(value not in SMALL and not said(value, words) for value in values)


# ── the C family ────────────────────────────────────────────────────────────────────────────────────────────────────


def _names(text: str) -> set[str]:
    """Words that stand for a value: no properties, no keywords."""
    found, before = set(), ""
    for token in tokens(text):
        if token.kind is TokenKind.WORD and before != "." and token.text not in WORDS_BEFORE:
            found.add(token.text)
        before = token.text
    return found if found - UNSAID and not found & {"err", "ok", "this", "self"} else set()


def _atoms(text: str, language: str) -> Iterator[Atom]:
    all = tokens(text)
    for index, token in enumerate(all):
        if token.kind is TokenKind.SIGN and token.text in JOINTS:
            first = _leftwards(text, all, index - 1, ENDS)
            last = _rightwards(text, all, index + 1)
            for start, end in ((first, index - 1), (index + 1, last)):
                if start <= end and not _whole(all, start, end):
                    yield Atom(start=all[start].at, end=all[end].end, always=(JOINTS[token.text],))
        elif token.text == "?" and _is_choice(text, all, index):
            first = _leftwards(text, all, index - 1, ENDS - {"&&", "||", "??"})
            if first <= index - 1 and not _joined(all, first, index):
                yield Atom(start=all[first].at, end=all[index - 1].end, always=(True, False))
        elif token.text == "if" and token.kind is TokenKind.WORD:
            span = _of_if(all, index, language)
            if span is not None and span[0] < span[1] and not _joined(all, *span):
                yield Atom(start=all[span[0]].at, end=all[span[1] - 1].end, always=(True, False))


def _of_if(all: Sequence[Token], index: int, language: str) -> tuple[int, int] | None:
    """Tokens (first, behind the last) of the condition behind an `if`."""
    if language != "go":
        if index + 1 < len(all) and all[index + 1].text == "(" and (close := closing(all, index + 1)) > 0:
            return index + 2, close
        return None
    first = at = index + 1
    while at < len(all) and all[at].text != "{":
        if all[at].text == ";":
            first = at + 1
        if all[at].text in ("(", "["):
            at = closing(all, at)
            if at < 0:
                return None
        elif all[at].text == "map":  # a literal of a table may stand there
            while at < len(all) and all[at].text != "{":
                at = closing(all, at) + 1 if all[at].text == "[" else at + 1
            at = closing(all, at) if at < len(all) else -1
            if at < 0:
                return None
        at += 1
    return first, at


def _is_choice(text: str, all: Sequence[Token], index: int) -> bool:
    after = all[index + 1] if index + 1 < len(all) else None
    close = after is not None and after.at == all[index].end
    return after is not None and after.text not in (":", ")", ",", "?", ";", "=") and not (close and after.text == ".")


def _joined(all: Sequence[Token], first: int, behind: int) -> bool:
    depth = 0
    for token in all[first:behind]:
        if token.kind is TokenKind.SIGN:
            depth += (token.text in OPENS) - (token.text in (")", "]", "}"))
            if not depth and token.text in JOINTS:
                return True
    return False


def _whole(all: Sequence[Token], start: int, end: int) -> bool:
    """A side of a joint that is a joint itself, in brackets: its own parts stand for it."""
    return all[start].text == "(" and closing(all, start) == end and _joined(all, start + 1, end)


def _leftwards(text: str, all: Sequence[Token], at: int, ends: frozenset[str]) -> int:
    depth = 0
    while at >= 0:
        token = all[at]
        sign = token.kind is TokenKind.SIGN
        if sign and token.text in (")", "]", "}"):
            if token.text == "}" and not depth:
                return at + 1
            depth += 1
        elif sign and token.text in OPENS:
            if not depth:
                return at + 1
            depth -= 1
        elif not depth and ((sign and token.text in ends) or (not sign and token.text in WORDS_BEFORE)):
            return at + 1
        fresh = at > 0 and "\n" in text[all[at - 1].end : token.at]
        if not depth and fresh and all[at - 1].text not in GOES_ON and token.text not in GOES_ON:
            return at
        at -= 1
    return 0


def _rightwards(text: str, all: Sequence[Token], at: int) -> int:
    """The last token of the operand that begins at `at`."""
    index = at
    while index < len(all):
        token = all[index]
        sign = token.kind is TokenKind.SIGN
        if sign and (token.text in ENDS or token.text in (")", "]", "}")):
            return index - 1
        fresh = index > at and "\n" in text[all[index - 1].end : token.at]
        if fresh and token.text not in GOES_ON and all[index - 1].text not in GOES_ON:
            return index - 1
        if sign and token.text in OPENS:
            index = closing(all, index)
            if index < 0:
                return at - 1
        index += 1
    return len(all) - 1


# ── shell ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _shell_atoms(text: str) -> Iterator[Atom]:
    for match in _SHELL.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        rest = text[match.end() : text.find("\n", match.end()) % (len(text) + 1)]
        if "#" in line or re.search(r"\bwhile\b|\buntil\b", line):
            continue
        joined = re.search(r"(&&|\|\|)\s*$", line) or re.match(r"\s*(&&|\|\|)", rest)
        chosen = bool(joined) and re.search(r"\b(?:el)?if\b", line) is not None
        both = (True, False) if not chosen else (joined is not None and joined[1] == "&&",)
        yield Atom(start=match.start(), end=match.end(), always=both)


def _shell_names(text: str) -> set[str]:
    """Variables, commands in $(…) and files that a test looks at."""
    found = set(re.findall(r"\$\{?#?([A-Za-z_]\w*|[@*#\d])", text))
    found |= {match[1] for match in re.finditer(r"-[efdrwxsht]\s+[\"']?([\w./-]+)", text)}
    return found | {match[1] for match in re.finditer(r"\$\(\s*([\w./-]+)", text)}
