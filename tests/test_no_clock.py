"""No verdict by the clock: a bound that a test waits for, or holds a time against, grows with the machine.

What only a hang exceeds is `patience(s)`, what a child is given on purpose is `slowed(s)` (tests/patience.py). Read
from the tests themselves; a bare number in such a place is a test that fails on a crowded machine.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ELSEWHERE = {"benchmarks", "torture", "real", "rivals", "foreign", "redteam", "sample_plugin"}
"""Not part of `make test`, or measuring on purpose."""
WAITING = {"run", "wait", "communicate", "check_output", "check_call", "call", "join", "result", "wait_for", "timeout"}
CLOCKS = {"monotonic", "time", "perf_counter"}


def is_number(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def reads_a_clock(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and name_of(one) in CLOCKS and not one.args for one in ast.walk(node))


def by_the_clock(source: str) -> list[int]:
    """Lines on which a bare number decides."""
    tree = ast.parse(source)
    took = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and reads_a_clock(node.value)
        if isinstance(node.value.op, ast.Sub)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name_of(node) in WAITING:
            bounds = [word.value for word in node.keywords if word.arg == "timeout"]
            bounds += node.args[1:2] if name_of(node) == "wait_for" else []
            bounds += (
                node.args[:1] if name_of(node) in ("timeout", "join") and isinstance(node.func, ast.Attribute) else []
            )
            if ast.unparse(node.func).startswith("pytest."):  # the suite scales that mark itself
                bounds = []
            found += [node.lineno for bound in bounds if is_number(bound)]
        elif isinstance(node, ast.Assert):
            for one in ast.walk(node.test):
                if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Lt | ast.LtE):
                    time = (isinstance(one.left, ast.Name) and one.left.id in took) or reads_a_clock(one.left)
                    found += [one.lineno] if time and is_number(one.comparators[0]) else []
    return found


def files() -> list[Path]:
    found = TESTS.rglob("*.py")
    return sorted(path for path in found if path.relative_to(TESTS).parts[0] not in ELSEWHERE)


def test_no_bound_is_a_bare_number() -> None:
    wrong = [f"{path.relative_to(TESTS)}:{line}" for path in files() for line in by_the_clock(path.read_text("utf-8"))]
    assert wrong == [], "use patience() or slowed() of tests/patience.py"


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("subprocess.run(x, timeout=30)", 1),
        ("subprocess.run(x, timeout=patience(30))", 0),
        ("process.communicate(timeout=5.0)", 1),
        ("await asyncio.wait_for(x, 5)", 1),
        ("await asyncio.wait_for(x, patience(5))", 0),
        ("async def f():\n    async with asyncio.timeout(3): ...", 1),
        ("pytest.mark.timeout(900)", 0),
        ("took = time.monotonic() - began\nassert took < 2", 1),
        ("took = time.monotonic() - began\nassert took < patience(2)", 0),
        ("took = time.monotonic() - began\nassert took >= 2", 0),
        ("assert time.monotonic() - began < 2", 1),
        ("assert clock.size < 2", 0),
    ],
)
def test_the_rule_finds_them(line: str, count: int) -> None:
    assert len(by_the_clock(line)) == count
