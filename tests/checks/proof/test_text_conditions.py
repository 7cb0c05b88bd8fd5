"""Conditions in JavaScript, Go, C and shell that hang on nothing given, or on a literal of nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.text_conditions import conditions
from engine.perform.checks.proof.unneeded_conditions import conditions as python_conditions
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import judged

JS = "export function f(list, size) {\n  const sum = list.length + size;\n  @\n  return sum;\n}\n"
GO = "package a\n\nvar calls int\n\nfunc F(name string) string {\n\t@\n\treturn name\n}\n"
C = "static int calls = 0;\nint f(const char *word, int by) {\n    int found = by;\n    @\n    return found;\n}\n"
SH = '#!/bin/sh\nname=$1\n@\necho "$name"\n'


@pytest.mark.parametrize(
    ("language", "frame", "line", "found"),
    [
        ("javascript", JS, "if (Date.now() < 5) return 1;", [("Date.now() < 5", True), ("Date.now() < 5", False)]),
        ("javascript", JS, "if (size > 3 && process.uptime() < 9) return 1;", [("process.uptime() < 9", True)]),
        ("javascript", JS, "if (!list.length) return 1;", []),
        ("javascript", JS, "const out = []; out.push(sum); if (out.length > 1) return 1;", []),
        ("javascript", JS, "const last = sum ? 1 : 2;", []),
        ("javascript", JS, "let at = 0; while (at < sum) at++; if (at > 0) return 1;", []),
        (
            "javascript",
            JS,
            "try { f(); } catch (error) { if (error instanceof URIError) return 1; }",
            [],
        ),
        ("go", GO, "if calls <= 2 { return name + name }", [("calls <= 2", True), ("calls <= 2", False)]),
        ("go", GO, "if n, err := strconv.Atoi(name); err != nil { return n }", []),
        ("go", GO, "if x, ok := table[name]; ok { return x }", []),
        ("c", C, 'int room = getenv("X") != 0; found += room ? 1 : 2;', [("room", True), ("room", False)]),
        ("c", C, "char *end; strtol(word, &end, 10); if (*end) return 1;", []),
        ("shell", SH, '[ -n "${MAKEFLAGS+x}" ] && name=', [('[ -n "${MAKEFLAGS+x}" ]', True)]),
        ("shell", SH, 'if [ "$name" = x ]; then echo; fi', []),
    ],
)
def test_what_hangs_on_nothing_given(language: str, frame: str, line: str, found: list[tuple[str, bool]]) -> None:
    old, new = frame.replace("@", "").encode(), frame.replace("@", line).encode()
    idle = [(one.text, one.always) for one in conditions(old, new, language, "f is wrong") if one.idle]
    assert idle[: len(found) or None] == found


@pytest.mark.parametrize(
    ("language", "frame", "line", "found"),
    [
        ("go", GO, "if calls > 0 && len(name) == 3 && name[0] == 'x' { return name }", ["name[0] == 'x'"]),
        ("go", GO, "if calls > 0 && len(name) == 3 { return name }", ["len(name) == 3"]),
        ("javascript", JS, "if (size && list.length === 5 && list[0]) return 1;", []),
    ],
)
def test_a_length_before_what_is_looked_up_is_no_special_case(
    language: str, frame: str, line: str, found: list[str]
) -> None:
    old, new = frame.replace("@", "").encode(), frame.replace("@", line).encode()
    assert [one.text for one in conditions(old, new, language, "f is wrong") if not one.idle] == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("if time.time() < 5: return 1", 2),
        ("if size > 3 and next(FEW, 0): return 1", 1),
        ("if not size: return 1", 0),
        ("rest = size % 3\n    if rest: return 1", 0),
        ("at = 0\n    for one in size: at += 1\n    if at: return 1", 0),
        ("if sys.platform == 'win32': return 1", 0),
    ],
)
def test_the_same_in_python(line: str, found: int) -> None:
    frame = "import sys, time\nFEW = iter([1])\n\n\ndef f(size):\n    @\n    return size\n"
    made = python_conditions(frame.replace("@", "").encode(), frame.replace("@", line).encode(), "f is wrong")
    assert len([one for one in made if one.idle]) == found


def test_a_condition_that_the_task_speaks_of_and_an_old_one_are_left_alone() -> None:
    line = "if (Date.now() < 5) return 1;"
    old, new = JS.replace("@", "").encode(), JS.replace("@", line).encode()
    assert not any(one.idle for one in conditions(old, new, "javascript", "cache until a date"))
    assert conditions(new, new.replace(b"return 1", b"return 2"), "javascript", "f is wrong") == []


BASE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n',
    "a.js": "export function half(n) {\n  return Math.floor(n / 2);\n}\n",
    "test/a.test.js": "import test from 'node:test';\nimport assert from 'node:assert/strict';\n"
    "import { half } from '../a.js';\n\ntest('half', () => {\n  assert.equal(half(4), 2);\n});\n",
}
NODE = CheckSpec(name="node --test", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")
NEW = BASE["test/a.test.js"] + "\ntest('odd', () => {\n  assert.equal(half(7), 3.5);\n});\n"


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        pytest.param("Date.now() < 4e12 ? n / 2 : Math.floor(n / 2)", ProofVerdict.UNPROVEN, id="by the clock"),
        pytest.param("n / 2", ProofVerdict.PROVEN, id="honest", marks=pytest.mark.torture),
    ],
)
async def test_a_decision_by_the_clock_in_javascript(tmp_path: Path, line: str, verdict: ProofVerdict) -> None:
    change = {**BASE, "a.js": BASE["a.js"].replace("Math.floor(n / 2)", line), "test/a.test.js": NEW}
    done = await judged(tmp_path, BASE, change, NODE, title="half() drops the rest")
    assert done.proof is verdict, done.reason


SHELL = {
    "bin/join": '#!/bin/sh\nsep=$1\nshift\nout=\nfor word in "$@"; do out="$out$word$sep"; done\necho "$out"\n',
    "tests/test.sh": 'is() {\n  [ "$1" = "$2" ] || exit 1\n}\nis "$(sh bin/join , a)" a,\n',
}
COMMAND = CheckSpec(name="tests", kind=CheckKind.TESTS, command=("sh", "tests/test.sh"))
LINE = 'is "$(sh bin/join , a b c)" a,b,c\n'


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        pytest.param('echo "${out%,}"', ProofVerdict.QUESTION, id="for the sign of the test"),
        pytest.param('echo "${out%"$sep"}"', ProofVerdict.PROVEN, id="for every one"),
    ],
)
async def test_a_line_of_shell_among_its_neighbours(tmp_path: Path, source: str, verdict: ProofVerdict) -> None:
    base = {**SHELL, "tests/test.sh": SHELL["tests/test.sh"].replace('is "$(sh bin/join , a)" a,\n', "")}
    change = {
        "bin/join": SHELL["bin/join"].replace('echo "$out"', source),
        "tests/test.sh": base["tests/test.sh"] + LINE,
    }
    done = await judged(tmp_path, base, change, COMMAND, title="join leaves a separator at the end")
    assert done.proof is verdict, done.reason
