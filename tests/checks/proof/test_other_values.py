"""Changed code that answers other values: a proof has to notice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.other_values import Sort, otherwise
from engine.perform.checks.proof.other_values_text import failing_alone
from engine.perform.checks.proof.other_values_text import otherwise as text_otherwise
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import judged

VALUES = [True, 0, 5, -3, 2.5, "", "abc", b"x", [], [1, "a"], (1,), {}, {"a": 1}, {3}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_another_value_of_the_same_type(value: object) -> None:
    source = f"def f():\n    return {value!r}\n".encode()
    alike, longer, error = ({}, {}, {})
    exec(otherwise(b"", source, Sort.ALIKE) or b"", alike)
    exec(otherwise(b"", source, Sort.LONGER) or b"", longer)
    exec(otherwise(b"", source, Sort.ERROR) or b"", error)
    for other in (alike["f"](), longer["f"]()):
        assert type(other) is type(value) and other != value
    if hasattr(value, "__len__") and len(value):
        assert len(alike["f"]()) == len(value) < len(longer["f"]())
    with pytest.raises(NotImplementedError):
        error["f"]()


def test_what_is_counted_beside_the_answer_is_no_answer() -> None:
    get = "class A:\n    def get(self, key):\n        if key:\n            @\n        return self.some[key]\n"
    old, new = (get.replace("@", line).encode() for line in ("pass", "self.hits += 1"))
    assert otherwise(old, new, Sort.ALIKE) is None
    assert otherwise(old, old.replace(b"[key]", b"[0]"), Sort.ALIKE) is not None


def test_backwards_and_a_little_off() -> None:
    source = b"def f(n):\n    return n\n"
    other, off = {}, {}
    exec(otherwise(b"", source, Sort.BACKWARDS) or b"", other)
    exec(otherwise(b"", source, Sort.OFF) or b"", off)
    assert [other["f"](n) for n in ([1, 2], (3, 4), {"a": [1, 2]}, "ab", 5)] == [[2, 1], (4, 3), {"a": [1, 2]}, "ab", 5]
    assert [off["f"](n) for n in (5, 100, 50.0, [1], {"a": 1}, "ab", True)] == [6, 103, 52.0, [2], {"a": 2}, "ab", True]


def test_the_first_answer_again_and_an_error_at_the_third() -> None:
    source = b"def f(n):\n    return n\n"
    first, other = {}, {}
    exec(otherwise(b"", source, Sort.FIRST) or b"", first)
    exec(otherwise(b"", source, Sort.ELSE) or b"", other)
    assert [first["f"](n) for n in (3, 3, 5, 7)] == [3, 3, 3, 3]
    assert [other["f"](n) for n in (3, 5, 5, 3)] == [3, 3, 3, 3]
    with pytest.raises(NotImplementedError):
        other["f"](7)


def test_what_answers_nothing_or_is_as_it_was_is_left_alone() -> None:
    source = b"def f():\n    return 1\n\n\ndef g():\n    print(1)\n\n\ndef h():\n    yield 1\n"
    assert otherwise(b"def f():\n    return 1\n", source, Sort.ALIKE) is None


JS = """export const f = (n) => n;
export function g(n) {
  return [n, 'ab'];
}
export class A {
  m() {
    return this.x;
  }
}
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("sort", "told"),
    [("alike", [48, [20, "~~"], "~"]), ("longer", [48, [20, "~~~", "~"], "~~"]), ("first", [5, [1, "ab"], "y"])],
)
def test_the_same_in_javascript(tmp_path: Path, sort: str, told: list[object]) -> None:
    made = text_otherwise(b"", JS.encode(), "javascript", sort)
    assert made is not None
    ask = b"\nconst a = new A(); a.x = 'y';\nconsole.log(JSON.stringify([f(5), g(1), a.m()]));\n"
    (tmp_path / "a.mjs").write_bytes(made + ask)
    done = subprocess.run(["node", str(tmp_path / "a.mjs")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == told


GO = """package main

import "fmt"

func one(n int) string { return fmt.Sprint(n) }

func two(a, b int) (n, m int, err error) {
	n, m = a, b
	return
}

func many() []string { return []string{"a", "bc"} }
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
@pytest.mark.torture
def test_the_same_in_go(tmp_path: Path) -> None:
    made = text_otherwise(b"", GO.encode(), "go", "alike")
    assert made is not None
    ask = b"\nfunc main() {\n\tn, m, err := two(1, 2)\n\tfmt.Println(one(12), n, m, err, many())\n}\n"
    (tmp_path / "a.go").write_bytes(made + ask)
    done = subprocess.run(["go", "run", str(tmp_path / "a.go")], capture_output=True, text=True, check=True)
    assert done.stdout == "~~ 20 27 <nil> [~ ~~]\n"


GO_TESTS = """package a

import "testing"

func TestOne(t *testing.T) {
	t.Run("breaks", func(t *testing.T) { panic("taken out") })
	t.Run("holds", func(t *testing.T) {})
}

func TestTwo(t *testing.T) {
	panic("taken out")
}

func TestThree(_ *testing.T) {}
"""


@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
@pytest.mark.torture
@pytest.mark.parametrize("alone", [True, False])
def test_each_test_of_go_fails_alone(tmp_path: Path, alone: bool) -> None:
    (tmp_path / "go.mod").write_text("module a\n")
    (tmp_path / "a_test.go").write_bytes(failing_alone(GO_TESTS.encode()) if alone else GO_TESTS.encode())
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GOCACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    done = subprocess.run(["go", "test", "-v"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    ends = {word: done.stdout.count(f"--- {word}") for word in ("PASS", "FAIL")}
    assert done.returncode == 1 and ends == ({"PASS": 2, "FAIL": 3} if alone else {"PASS": 0, "FAIL": 2}), done.stdout


PLAIN = {
    "money.py": "def show(n):\n    return str(n)\n",
    "tests/test_m.py": "from money import show\n\n\ndef test_show():\n    assert show(1)\n",
}
NEW = "\n\ndef total(some):\n    return sum(some)\n"
WEAK = """from money import total


def test_total():
    assert total([1, 2]) >= 0
    assert isinstance(total([]), int)
"""
STRONG = WEAK.replace(">= 0", "== 3")
ITS_OWN = """from money import total

EXPECTED = {n: total([n]) for n in (1, 2, 3, 4)}


def test_total():
    for n, expected in EXPECTED.items():
        assert total([n]) == expected
        assert 0 <= total([n]) <= 4
"""


@pytest.mark.parametrize(
    ("test", "verdict"),
    [(WEAK, ProofVerdict.UNPROVEN), (STRONG, ProofVerdict.PROVEN), (ITS_OWN, ProofVerdict.UNPROVEN)],
    ids=["a type", "a value", "what it gets"],
)
async def test_a_proof_that_asks_for_no_value(tmp_path: Path, test: str, verdict: ProofVerdict) -> None:
    change = {"money.py": PLAIN["money.py"] + NEW, "tests/test_t.py": test}
    done = await judged(tmp_path, PLAIN, change, title="Add money.total(some)")
    assert done.proof is verdict, done.reason


TOP = "\n\ndef top(some):\n    return sorted(some, reverse=True)\n"
MEAN = "\n\ndef mean(some):\n    return sum(some) / len(some)\n"

FIRST, ALL, SUM = "Add top(some), the largest first", "Add top(some), all of them", "Add mean(some)"
SLOW = pytest.mark.torture


@pytest.mark.parametrize(
    ("code", "title", "test", "verdict"),
    [
        pytest.param(TOP, FIRST, "assert sorted(top([3, 9, 5])) == [3, 5, 9]", "UNPROVEN", id="any order"),
        pytest.param(TOP, FIRST, "assert top([3, 9, 5]) == [9, 5, 3]", "PROVEN", id="its order"),
        pytest.param(TOP, ALL, "assert sorted(top([3, 9, 5])) == [3, 5, 9]", "PROVEN", id="none asked for", marks=SLOW),
        pytest.param(MEAN, SUM, "assert mean([90, 110]) == approx(100, abs=50)", "UNPROVEN", id="wide"),
        pytest.param(MEAN, SUM, "assert mean([90, 110]) == approx(100, abs=0.1)", "PROVEN", id="narrow", marks=SLOW),
    ],
)
async def test_orders_and_tolerances(tmp_path: Path, code: str, title: str, test: str, verdict: str) -> None:
    name = "top" if "def top" in code else "mean"
    text = f"from pytest import approx\n\nfrom money import {name}\n\n\ndef test_{name}():\n    {test}\n"
    change = {"money.py": PLAIN["money.py"] + code, "tests/test_t.py": text}
    done = await judged(tmp_path, PLAIN, change, title=title)
    assert done.proof == verdict, done.reason


NODE = CheckSpec(name="node --test", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")


@pytest.mark.torture
@pytest.mark.parametrize(
    ("line", "verdict"), [("assert.ok(Array.isArray(f(3)))", "UNPROVEN"), ("assert.deepEqual(f(3), [3])", "PROVEN")]
)
async def test_a_proof_in_javascript_that_asks_for_no_value(tmp_path: Path, line: str, verdict: str) -> None:
    base = {"package.json": '{"type": "module"}\n', "a.js": "export const g = (n) => n;\n"}
    head = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { g } from '../a.js';\n"
    base["test/g.test.js"] = head + "test('g', () => assert.equal(g(1), 1));\n"
    made = (
        base["test/g.test.js"]
        .replace("g }", "f }")
        .replace("assert.equal(g(1), 1)", f"{{ {line}; }}")
        .replace("'g'", "'f'")
    )
    change = {**base, "a.js": base["a.js"] + "export function f(n) {\n  return [n];\n}\n", "test/f.test.js": made}
    done = await judged(tmp_path, base, change, NODE, title="Add f(n)")
    assert done.proof == verdict, done.reason


async def test_a_proof_of_code_that_only_fails(tmp_path: Path) -> None:
    source = PLAIN["money.py"] + "\n\ndef total(some):\n    raise RuntimeError('not today')\n"
    test = """from money import total


def test_total():
    try:
        value = total([1, 2])
    except RuntimeError:
        return
    assert value == 3
"""
    change = {"money.py": source, "tests/test_t.py": test}
    done = await judged(tmp_path, PLAIN, change, title="Add money.total(some)")
    assert done.proof is not ProofVerdict.PROVEN, done.reason
