"""Neighbouring inputs for tests in JavaScript and TypeScript: copies of a test that differ in one constant. Pure.

As in Python (`varied_tests`), a copy does not assert: it tells what it saw by the error that it ends with. Here the
names by which the file asserts are observers inside of the copy (`witness/near_observer`): no syntax is changed for it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from engine.core.model import Struct
from engine.perform.checks.proof.examples import Example
from engine.perform.checks.proof.examples_javascript import kept_tests, told_tests
from engine.perform.checks.proof.near_values import neighbours_of, parts_of
from engine.perform.checks.proof.source_tokens import OPENS, Token, TokenKind, arguments, closing, tokens, value_of
from engine.perform.checks.proof.test_constants import OF_AN_ANSWER
from engine.perform.checks.proof.varied_tests import JOINT, MOST_COPIES, MOST_JOINT, MOST_TESTS, Copy, Varied

AGAIN = 6
"""The test as it is, once more in the same process."""
CALLS = frozenset({"test", "it", "specify"})
ASSERTS = re.compile(r"(?:node:)?assert(?:/strict)?|power-assert|uvu/assert")
EXPECTS = frozenset({"chai", "vitest", "@jest/globals", "expect", "bun:test"})
NAMES_THINGS = frozenset(
    ("require", "import", "mock", "spyOn", "method", "getElementById", "querySelector", "setTimeout", "describe",
     "join", "resolve", "readFileSync", "writeFileSync", "URL", "RegExp", "on", "emit", "step")
)  # fmt: skip


class Test(Struct, frozen=True, kw_only=True):
    """One call of `test(title, callback)`: places in the source."""

    title: str
    callee: str
    start: int
    """Where its line begins."""
    callback: tuple[int, int]
    """Tokens."""


def varied(
    source: bytes, ids: Sequence[str], observer: str, told: Sequence[Example] = (), path: str = ""
) -> tuple[Varied, Mapping[str, str]] | None:
    """The file with copies of the tests that `ids` name, and which id each name among the copies stands for.

    At its end the task's own examples, and calls that have to leave their arguments alone.
    """
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    all = tokens(text)
    shadows = _shadows(text, all)
    there = list(_tests(text, all))
    if not there:
        return None
    chosen = {id: test for id in ids if (test := _named(id, there)) is not None} if shadows else {}
    copies: list[Copy] = []
    again: list[str] = []
    names: dict[str, str] = {}
    inserted: list[tuple[int, str]] = []
    for number, (id, test) in enumerate(list(chosen.items())[:MOST_TESTS]):
        name = f"near{number}"
        names[name] = id
        own = text[all[test.callback[0]].at : all[test.callback[1] - 1].end]
        lines = []
        for made, body in _copies(text, all, test, name, shadows):
            copies.append(made)
            lines.append(f"{test.callee}({json.dumps(made.name)}, {_observed(body, shadows)});")
        again += [name, *(f"{name}__y{index}" for index in range(AGAIN))]
        lines += [f"{test.callee}({json.dumps(one)}, {own});" for one in again[-AGAIN - 1 :]]
        inserted.append((test.start, "\n".join(lines) + "\n"))
    callee = there[0].callee
    stated = list(told_tests(told, text, path, callee))
    kept = list(kept_tests(text, callee, [test.callback for test in chosen.values()]))
    if not names and not stated:
        return None
    for at, more in sorted(inserted, reverse=True):
        text = text[:at] + more + text[at:]
    whole = "\n".join((text, *(test for _, test in (*stated, *kept)), observer)).encode()
    file = Varied(
        text=whole,
        on_base=whole,
        copies=tuple(copies),
        again=tuple(again),
        examples=tuple(name for name, _ in stated),
        kept=tuple(name for name, _ in kept),
    )
    return file, names


# ── what the file is made of ────────────────────────────────────────────────────────────────────────────────────────


def _shadows(text: str, all: Sequence[Token]) -> dict[str, str]:
    """Names by which the file asserts, and what they are for the observer."""
    found: dict[str, str] = {}
    patterns = (
        r"import\s+(?P<names>[^;'\"]+?)\s+from\s*['\"](?P<module>[^'\"]+)['\"]",
        r"(?:const|let|var)\s+(?P<names>[^;=]+?)\s*=\s*require\(\s*['\"](?P<module>[^'\"]+)['\"]\s*\)(?P<rest>(?:\.\w+)?)",
    )
    for pattern in patterns:
        for match in re.finditer(pattern, text):
            asserts, module = ASSERTS.fullmatch(match["module"]) is not None, match["module"]
            if not asserts and module not in EXPECTS:
                continue
            outside, _, inside = match["names"].partition("{")
            for word in re.findall(r"[A-Za-z_$][\w$]*", outside.replace("* as", "")):
                if asserts:
                    found[word] = "assert"
                elif module == "expect":
                    found[word] = "expect"
            for part in inside.rstrip("} \n").split(","):
                name, _, local = re.sub(r"\s+as\s+|\s*:\s*", "=", part.strip()).partition("=")
                local = local or name
                if not re.fullmatch(r"[A-Za-z_$][\w$]*", local):
                    continue
                if name in ("assert", "strict", "default"):
                    found[local] = "assert"
                elif name == "expect":
                    found[local] = "expect"
                elif asserts:
                    found[local] = f"assert.{name}"
    if "expect" not in found and any(token.text == "expect" for token in all):
        found["expect"] = "expect"
    return found


def _tests(text: str, all: Sequence[Token]) -> Iterator[Test]:
    for index, token in enumerate(all[:-2]):
        opened, title = all[index + 1], all[index + 2]
        if token.text not in CALLS or opened.text != "(" or title.kind not in (TokenKind.TEXT, TokenKind.RAW):
            continue
        given = arguments(all, index + 1)
        functions = [one for one in given[1:] if _is_function(all, one)]
        line = text.rfind("\n", 0, token.at) + 1
        if len(functions) != 1 or given[0] != (index + 2, index + 3) or "${" in title.text or "\\" in title.text:
            continue
        if re.fullmatch(r"\s*(?:(?:await|void)\s+)?", text[line : token.at]):
            yield Test(title=title.text[1:-1], callee=token.text, start=line, callback=functions[0])


def _is_function(all: Sequence[Token], span: tuple[int, int]) -> bool:
    """A function written out that asks for no `done`."""
    first = all[span[0]]
    head = all[span[0] : min(span[1], span[0] + 12)]
    if first.text not in ("function", "async", "(") and not any(token.text == "=>" for token in head[:2]):
        return False
    return not any(token.text in ("done", "cb", "callback") for token in head)


def _named(id: str, tests: Sequence[Test]) -> Test | None:
    tail = id.partition("::")[2]
    fits = [test for test in tests if tail == test.title or tail.endswith((f" > {test.title}", f" {test.title}"))]
    fits = [test for test in fits if len(test.title) == max(len(one.title) for one in fits)]
    return fits[0] if len(fits) == 1 else None


# ── copies ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _copies(
    text: str, all: Sequence[Token], test: Test, name: str, shadows: Mapping[str, str]
) -> Iterator[tuple[Copy, str]]:
    first, behind = test.callback
    start, end = all[first].at, all[behind - 1].end
    yield Copy(test=name, name=f"{name}v0", row=0, slot=-1), text[start:end]
    plans: list[list[tuple[int, Token, str, str, bool]]] = []
    for token in _inputs(all, test.callback, shadows):
        value = value_of(token)
        if value is not None:
            constant = ast.Constant(value=value)
            for near in (neighbours_of(constant), *parts_of(constant)):
                plans.append([(len(plans), token, *one) for one in near])
    number = 0
    for wave in range(8):
        for plan in plans:
            if wave < len(plan) and number < MOST_COPIES:
                slot, token, was, now, weak = plan[wave]
                number += 1
                changed = json.dumps(ast.literal_eval(now))
                small = was.lstrip("-") in ("1", "2")
                made = Copy(
                    test=name,
                    name=f"{name}v{number}",
                    row=0,
                    slot=slot,
                    was=was,
                    now=now,
                    weak=weak,
                    small=small,
                    part=was != repr(value_of(token)),
                )
                yield made, text[start : token.at] + changed + text[token.end : end]
    yield from _together(text[start:end], start, plans, name, number)


def _together(
    body: str, start: int, plans: Sequence[Sequence[tuple[int, Token, str, str, bool]]], name: str, number: int
) -> Iterator[tuple[Copy, str]]:
    """Constants that the test has more than once differ together: two that are equal still are."""
    groups: dict[str, list[tuple[int, Token, str, str, bool]]] = {}
    for plan in plans:
        if plan:
            groups.setdefault(plan[0][2], []).append(plan[0])
    for was, group in [(was, group) for was, group in groups.items() if len(group) > 1][:MOST_JOINT]:
        now = group[0][3]
        changed = body
        for _, token, *_ in sorted(group, key=lambda one: -one[1].at):
            changed = changed[: token.at - start] + json.dumps(ast.literal_eval(now)) + changed[token.end - start :]
        number += 1
        slot = JOINT + group[0][0]
        made = Copy(test=name, name=f"{name}v{number}", row=0, slot=slot, was=was, now=now, weak=True, joint=True)
        yield made, changed


def _inputs(all: Sequence[Token], span: tuple[int, int], shadows: Mapping[str, str]) -> list[Token]:
    """Constants that go into what the test asks: not what it wants to hear, no keys, no indices, no names of things."""
    left_out: set[int] = set()
    for index in range(*span):
        token = all[index]
        if token.kind is not TokenKind.WORD or (index and all[index - 1].text == "."):
            continue
        at = index + 1
        while at + 1 < span[1] and all[at].text == ".":
            at += 2
        if at >= span[1] or all[at].text != "(":
            continue
        if token.text in shadows and shadows[token.text] != "expect":
            for start, end in arguments(all, at)[1:]:
                left_out |= set(range(start, end))
        elif token.text in shadows and at == index + 1:
            left_out |= _behind_expect(all, closing(all, at) + 1, span[1])
    for index in range(*span):
        if all[index].kind is not TokenKind.WORD or index + 1 >= len(all) or all[index + 1].text != "(":
            continue
        answer = all[index].text in OF_AN_ANSWER and index > 1 and all[index - 2].kind is TokenKind.WORD
        if all[index].text in NAMES_THINGS or answer:
            left_out.add(index + 2)
    found = []
    for index in range(*span):
        token, after = all[index], all[index + 1].text if index + 1 < len(all) else ""
        before = all[index - 1] if index else token
        if index in left_out or token.kind not in (TokenKind.NUMBER, TokenKind.TEXT) or after == ":":
            continue
        subscript = before.text == "[" and after == "]" and index > 1 and _is_value(all[index - 2])
        if not subscript and before.text not in (".", "case"):
            found.append(token)
    return found


def _is_value(token: Token) -> bool:
    return token.kind is TokenKind.WORD or token.text in (")", "]")


def _behind_expect(all: Sequence[Token], at: int, end: int) -> set[int]:
    """Tokens of the matchers: `.not.toBe(…)`."""
    found: set[int] = set()
    while 0 < at < end - 1 and all[at].text == ".":
        at += 2
        if at < end and all[at].text in OPENS and all[at].text == "(":
            close = closing(all, at)
            found |= set(range(at, close))
            at = close + 1
    return found


def _observed(body: str, shadows: Mapping[str, str]) -> str:
    names = ", ".join(f"{name} = __o.{kind}" for name, kind in shadows.items())
    return f"__near(function (__o) {{ var {names}; return ({body}); }})"
