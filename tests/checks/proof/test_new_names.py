"""A proof that needs nothing but names of the change's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.new_names import called, older, speaks_of
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import judged

OLD = b"def f(n):\n    return n\n\n\nclass A:\n    def m(self):\n        return 1\n"
NEW = b"FIXED = True\n\n\n" + OLD.replace(b"return n", b"return n + 1").replace(b"return 1", b"return 2")
NEW += b"\n    def k(self):\n        return 3\n"


def test_old_functions_and_new_names_in_python() -> None:
    made = older("a.py", OLD, NEW)
    assert made is not None and made.names == {"FIXED", "k"}
    space: dict[str, object] = {}
    exec(made.source, space)
    thing = space["A"]()  # type: ignore[operator]
    assert (space["f"](1), thing.m(), thing.k(), space["FIXED"]) == (1, 1, 3, True)  # type: ignore[operator]


GO = "package a\n\nfunc F(n int) int { return n }\n"
GO_NEW = "package a\n\nconst Padded = true\n\nfunc F(n int) int { return n + 1 }\n"
JS = "export function f(n) {\n  return n;\n}\n"
JS_NEW = JS.replace("n;", "n + 1;") + "export function has(n) {\n  return n;\n}\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "names", "has"),
    [
        ("a.go", GO, GO_NEW, {"Padded"}, "return n }"),
        ("a.js", JS, JS_NEW, {"has"}, "return n;\n}\nexport function has"),
    ],
)  # fmt: skip
def test_the_same_by_text(path: str, old: str, new: str, names: set[str], has: str) -> None:
    made = older(path, old.encode(), new.encode())
    assert made is not None and made.names == names and has in made.source.decode()


def test_where_something_else_is_otherwise_nothing_is_said() -> None:
    table = b"const T = { a: 1 };\nexport const f = (n) => T[n];\n"
    assert older("a.js", table, table.replace(b"1", b"2")) is None


@pytest.mark.parametrize(
    ("name", "words", "spoken"),
    [
        ("load_yaml", "Support YAML files", True),
        ("has", "it has to count", False),
        ("has", "add `cache.has(key)`", True),
        ("Padded", "missing numbers count as 0", False),
        ("totals", "Add the total", True),
    ],
)
def test_what_the_task_speaks_of(name: str, words: str, spoken: bool) -> None:
    assert speaks_of(name, words) is spoken


@pytest.mark.parametrize(
    ("name", "words", "is_called"),
    [
        ("Merge", "Merge joins slots that touch", True),
        ("Touch", "Merge joins slots that touch", False),
        ("total", "Add a total to money", False),
        ("total", "`total` is wrong", True),
        ("total", "total([]) fails", True),
        ("total", "money.total is wrong", True),
        ("to_base", "to_base knows dl", True),
    ],
)
def test_what_the_task_has_as_a_name(name: str, words: str, is_called: bool) -> None:
    assert called(name, words) is is_called


MERGE = "def merge(slots):\n    return slots\n"
TOUCH = "\n\ndef touch(a, b):\n    return a[1] == b[0]\n"
TESTS = "from slot import merge\n\n\ndef test_one():\n    assert merge([(0, 3)]) == [(0, 3)]\n"
WORKS = """from slot import merge, touch


def test_touching():
    one, two = merge([(0, 30), (30, 60)])
    assert touch(one, two) and (one[0], two[1]) == (0, 60)
"""


async def test_a_test_that_does_the_work_itself_proves_nothing(tmp_path: Path) -> None:
    base = {"slot.py": MERGE, "tests/test_s.py": TESTS}
    change = {"slot.py": MERGE + TOUCH, "tests/test_touch.py": WORKS}
    done = await judged(tmp_path, base, change, title="merge([(0, 30), (30, 60)]) should join slots that touch")
    assert done.proof is not ProofVerdict.PROVEN, done.reason


HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { @ } from '../vers.js';\n"
BASE = {
    "package.json": '{"type": "module"}\n',
    "vers.js": "export function same(a, b) {\n  return a === b;\n}\n",
    "test/v.test.js": HEAD.replace("@", "same") + "test('same', () => assert.ok(same('1', '1')));\n",
}
MARK = "export function padding(n) {\n  return n * 2;\n}\n"
NODE = CheckSpec(name="node --test", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")


@pytest.mark.parametrize(
    ("fix", "verdict"),
    [
        pytest.param("a === b", ProofVerdict.UNPROVEN, id="a name alone"),
        pytest.param("Number(a) === Number(b)", ProofVerdict.PROVEN, id="a fix as well", marks=pytest.mark.torture),
    ],
)
async def test_a_name_that_nobody_asked_for_proves_nothing(tmp_path: Path, fix: str, verdict: ProofVerdict) -> None:
    more = "" if verdict is ProofVerdict.UNPROVEN else "  assert.ok(same('1', '1.0'));\n"
    body = f"test('more', () => {{\n  assert.equal(padding(2), 4);\n{more}}});\n"
    change = {
        **BASE,
        "vers.js": BASE["vers.js"].replace("a === b", fix) + MARK,
        "test/m.test.js": HEAD.replace("@", "padding, same") + body,
    }
    done = await judged(tmp_path, BASE, change, NODE, title="same() says that 1 and 1.0 differ")
    assert done.proof is verdict, done.reason
