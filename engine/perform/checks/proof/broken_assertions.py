"""New tests with one of their assertions made to fail: a test that stays green does not hang on it. Pure.

A loop that turns no round, a callback that nobody calls, a goroutine that nobody waits for, an error that is caught, a
count that is lost in a subshell: the assertion stands there, and what it says is heard by nobody. JavaScript, Go and
shell; Python's runners count the assertions that held.

Branches are left out (`if`, `catch`, `switch`): a test may know platforms.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from engine.core.model import Struct
from engine.perform.checks.proof.source_text import JAVASCRIPT, masked
from engine.perform.checks.proof.test_blocks import REST, Block, blocks_of
from engine.perform.checks.proof.varied_shell import is_shell

MOST = 3
"""Assertions of one test: those that stand deepest first, then its last one."""
WORDS = "assertion made to fail"
_JS_ASSERTS = re.compile(
    r"(?<![\w$.])(?:assert(?:\.\w+)*|expect|t\.(?:is|equals?|deepEquals?|same|strictSame|ok|notOk|true|false|truthy|falsy"
    r"|throws|throwsAsync|rejects|match|like|not\w*|strict\w*|deep\w*|looseEqual|has|type))\s*\("
)
_NEVER = re.compile(r"(?:^|\.)(?:fail|unreachable|plan|end|pass|hasAssertions|assertions)\s*\($")
_GO_LIBRARY = re.compile(r"(?m)^[ \t]*(?:assert|require)\.\w+\(\s*t\b")
_GO_IF = re.compile(r"(?m)^[ \t]*(?P<if>if)\b")
_GO_FAILS = re.compile(r"\b[a-z]\w*\.(?:Errorf?|Fatalf?|Fail|FailNow)\(")
_BRANCHES = frozenset({"if", "else", "catch", "switch", "case", "select"})
_SHELL_ASSERTS = re.compile(
    r"^[ \t]*(?P<word>(?:assert|expect|check|eq|is|same|should|verify|compare|t|ok|test_|run_)\w*)[ \t]+\S"
)


class Broken(Struct, frozen=True, kw_only=True):
    """A test file in which at most one assertion of each test fails."""

    source: bytes
    lines: dict[str, int]
    """Test to the line of its assertion; the empty name where a file is one test."""


class _Place(Struct, frozen=True, kw_only=True):
    at: int
    """Where something is put in."""
    line: int
    deep: bool
    """Inside a loop or another function: it may never be come to."""
    expression: bool = False


def broken(path: str, source: bytes, tests: Collection[str], layer: int) -> Broken | None:
    """The file with the assertion of this layer in each of the tests failing; None: no test has one."""
    text = source.decode("utf-8", "surrogateescape")
    found: dict[str, int] = {}
    places: list[_Place] = []
    for block in blocks_of(path, source):
        if block.name not in tests or block.name == REST:
            continue
        mine = _ranked(list(_places(path, text, block)))
        if layer < len(mine):
            found[block.name] = mine[layer].line
            places.append(mine[layer])
    for place in sorted(places, key=lambda one: -one.at):
        text = text[: place.at] + _failing(path, place) + text[place.at :]
    return Broken(source=text.encode("utf-8", "surrogateescape"), lines=found) if found else None


def _failing(path: str, place: _Place) -> str:
    if path.endswith(".go"):
        return f'panic("{WORDS}"); '
    if place.expression:
        return f'(() => {{ throw new Error("{WORDS}"); }})() || '
    return f'throw new Error("{WORDS}"); '


def _ranked(places: list[_Place]) -> list[_Place]:
    """The deep ones, each line once, then the last of the others."""
    once = list({place.line: place for place in reversed(places)}.values())[::-1]
    deep = [place for place in once if place.deep]
    plain = [place for place in once if not place.deep]
    return [*deep[: MOST - 1], *plain[-1:]]


def _places(path: str, text: str, block: Block) -> Iterator[_Place]:
    mask = masked(path, text)
    start = _offset(text, block)
    if start < 0:
        return
    end = start + len(block.text)
    if path.endswith(JAVASCRIPT):
        yield from _javascript(text, mask, start, end)
    elif path.endswith(".go"):
        yield from _go(text, mask, start, end)


def _offset(text: str, block: Block) -> int:
    at = 0
    for _ in range(block.line - 1):
        at = text.find("\n", at) + 1
    return text.find(block.text, at)


def _javascript(text: str, mask: str, start: int, end: int) -> Iterator[_Place]:
    for match in _JS_ASSERTS.finditer(mask, start, end):
        if _NEVER.search(match[0]):
            continue
        around = _around(mask, start, match.start())
        if _BRANCHES & set(around):
            continue
        at, expression = match.start(), False
        head = re.search(r"(?:\b(?:await|return|void)\s+)+$", mask[start:at])
        if head is not None:
            at = start + head.start()
        before = mask[start:at].rstrip()
        if before.endswith("=>"):
            at, expression = match.start(), True
            if head is not None:
                continue
        elif before[-1:] not in (";", "{", "}") and not _new_statement(mask, start, at):
            continue
        deep = expression or len(around) > 1
        yield _Place(at=at, line=text.count("\n", 0, match.start()) + 1, deep=deep, expression=expression)


def _new_statement(mask: str, start: int, at: int) -> bool:
    """On a line of its own behind a statement without a semicolon."""
    before = mask[start:at]
    if "\n" not in before[len(before.rstrip()) :]:
        return False
    last = before.rstrip()[-1:]
    if last == ")":
        return _head(mask, start + len(before.rstrip()) - 1) not in ("if", "for", "while")
    return last.isalnum() or last in "_$]'\"`"


def _go(text: str, mask: str, start: int, end: int) -> Iterator[_Place]:
    for match in _GO_IF.finditer(mask, start, end):
        brace = _body_of_if(mask, match.end("if"))
        if brace < 0:
            continue
        inside = _block_text(mask, brace)
        if not _GO_FAILS.search(_without_blocks(inside)):
            continue
        yield from _go_place(text, mask, start, match.start("if"))
    for match in _GO_LIBRARY.finditer(mask, start, end):
        yield from _go_place(text, mask, start, match.start() + len(match[0]) - len(match[0].lstrip()))


def _go_place(text: str, mask: str, start: int, at: int) -> Iterator[_Place]:
    around = _around(mask, start, at)
    if not _BRANCHES & set(around):
        yield _Place(at=at, line=text.count("\n", 0, at) + 1, deep=len(around) > 1)


def _body_of_if(mask: str, at: int) -> int:
    """The brace that opens what an `if` of Go does; its condition may hold composite literals in brackets only."""
    depth = 0
    for index in range(at, min(len(mask), at + 600)):
        letter = mask[index]
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "{" and not depth:
            return index
    return -1


def _block_text(mask: str, brace: int) -> str:
    depth = 0
    for index in range(brace, len(mask)):
        depth += (mask[index] == "{") - (mask[index] == "}")
        if not depth:
            return mask[brace + 1 : index]
    return mask[brace + 1 :]


def _without_blocks(text: str) -> str:
    """What stands directly in a block."""
    out, depth = [], 0
    for letter in text:
        depth += letter == "{"
        if not depth:
            out.append(letter)
        depth -= letter == "}"
    return "".join(out)


def _around(mask: str, start: int, at: int) -> list[str]:
    """What opens each block around a place of a test: a keyword, or nothing for a function."""
    opened: list[int] = []
    for index in range(start, at):
        if mask[index] == "{":
            opened.append(index)
        elif mask[index] == "}" and opened:
            opened.pop()
    return [_opens(mask, index) for index in opened]


def _opens(mask: str, brace: int) -> str:
    before = mask[:brace].rstrip()
    if before.endswith(")"):
        return _head(mask, len(before) - 1)
    line = before[before.rfind("\n") + 1 :]
    word = re.search(r"(\w+)$", before)
    if word is not None and word[1] in ("else", "finally", "try", "do", "select"):
        return word[1]
    first = re.match(r"[\s}]*(?:else\s+)?(if|for|switch|select)\b", line)
    return first[1] if first is not None else ""


def _head(mask: str, close: int) -> str:
    """The word before the bracket that is closed at `close`."""
    depth = 0
    for index in range(close, -1, -1):
        depth += (mask[index] == ")") - (mask[index] == "(")
        if not depth:
            word = re.search(r"(\w+)\s*$", mask[max(0, index - 40) : index])
            line = mask[mask.rfind("\n", 0, index) + 1 : index]
            first = re.match(r"[\s}]*(?:else\s+)?(if|for|switch|select)\b", line)
            if first is not None and (word is None or word[1] not in ("func", "function")):
                return first[1]
            return word[1] if word is not None and word[1] in (*_BRANCHES, "for", "while", "with") else ""
    return ""


def broken_shell(path: str, before: bytes | None, source: bytes, layer: int) -> Broken | None:
    """A script of tests with the last word of one of its new assertions another."""
    if not is_shell(path, source):
        return None
    text = source.decode("utf-8", "surrogateescape")
    known = frozenset((before or b"").decode("utf-8", "surrogateescape").splitlines())
    lines = text.splitlines(keepends=True)
    able = [number for number, line in enumerate(lines) if line.rstrip("\n") not in known and _asserts(line, text)]
    deep = [number for number in able if lines[number][:1] in " \t"]
    order = [*deep[: MOST - 1], *[number for number in able if number not in deep][-1:]]
    if layer >= len(order):
        return None
    number = order[layer]
    line = lines[number].rstrip("\n")
    lines[number] = f"{line.rstrip()}ZZ\n"
    return Broken(source="".join(lines).encode("utf-8", "surrogateescape"), lines={"": number + 1})


def _asserts(line: str, text: str) -> bool:
    """A whole command with something that it expects as its last word: a function of the tests, or `test`."""
    bare = line.rstrip()
    found = _SHELL_ASSERTS.match(bare)
    if found is None or bare.endswith(("\\", "{", "(", "]", ";", "|", "&", ")")) or " #" in bare:
        return False
    plain = re.sub(r"\\.", "", bare)
    if (
        plain.count('"') % 2
        or (plain.count("'") % 2 and '"' not in plain)
        or re.search(r"[|&<>;`]", _quotes_out(plain))
    ):
        return False
    word = re.escape(found["word"])
    defined = re.search(rf"(?m)^[ \t]*(?:function[ \t]+)?{word}[ \t]*\(\)", text) is not None
    return (defined or len(re.findall(rf"(?m)^[ \t]*{word}[ \t]", text)) > 2) and len(bare.split()) > 2


def _quotes_out(line: str) -> str:
    return re.sub(r"\"\$\([^\"]*(?:\"[^\"]*\"[^\"]*)*\)\"|'[^']*'|\"[^\"]*\"", "", line)
