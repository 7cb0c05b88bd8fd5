"""Proofs that replace what the change adds, and new tests that never come to an assertion."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof import suspects
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.replaced_parts import without_replacements
from engine.perform.checks.proof.unreached_assertions import never_reached
from tests.checks.proof.test_judged import judged

HEAD = "from unittest import mock\nfrom ferry import fares\n\n\n"


@pytest.mark.parametrize(
    ("path", "line", "taken"),
    [
        ("t.py", 'monkeypatch.setattr(fares, "GROUP", 5)', "GROUP"),
        ("t.py", 'monkeypatch.setattr("ferry.fares.GROUP", 5)', "GROUP"),
        ("t.py", 'monkeypatch.setattr(fares, "OTHER", 5)', ""),
        ("t.py", "fares.GROUP = 5", "GROUP"),
        ("t.py", "ship.GROUP = 5", ""),
        ("t.py", 'with mock.patch.object(fares, "GROUP", 5): pass', "GROUP"),
        ("t.py", 'with mock.patch("ferry.fares.GROUP", 5): pass', "GROUP"),
        ("t.py", 'with mock.patch("ferry.fares.GROUP"): pass', ""),
        ("t.js", "mock.method(GROUP, 'next', (delay) => delay * 2);", "GROUP"),
        ("t.js", "jest.spyOn(ship, 'GROUP').mockReturnValue(5);", "GROUP"),
        ("t.js", "jest.spyOn(ship, 'GROUP');", ""),
        ("t.js", "GROUP.next = () => 5;", "GROUP"),
        ("t.js", "ship.GROUP = 5;", ""),
        ("t.js", "const GROUP = mock.method(a, 'b');", ""),
    ],
)
def test_what_is_taken_out(path: str, line: str, taken: str) -> None:
    source = f"{HEAD}def test_a():\n    {line}\n    assert 1\n" if path == "t.py" else f"{line}\nf();\n"
    made = without_replacements(path, source.encode(), {"GROUP"})
    assert (made[1] if made else "") == taken
    assert made is None or (b"GROUP" not in made[0] and (b"assert 1" in made[0] or b"f();" in made[0]))


BASE = {
    "fares.py": "def price(count):\n    return count * 10\n",
    "test_fares.py": "from fares import price\n\n\ndef test_two():\n    assert price(2) == 20\n",
}
TEST = BASE["test_fares.py"].replace("from fares import price", "import fares\nfrom fares import price")


@pytest.mark.parametrize(
    ("number", "rest", "verdict"),
    [
        pytest.param(6, "\n    monkeypatch.setattr(fares, 'GROUP', 5)", ProofVerdict.QUESTION, id="a wrong number"),
        pytest.param(5, "\n    monkeypatch.setattr(fares, 'GROUP', 5)", ProofVerdict.PROVEN, id="it changes nothing"),
    ],
)
async def test_a_proof_that_replaces_a_constant_of_the_change(
    tmp_path: Path, number: int, rest: str, verdict: ProofVerdict
) -> None:
    source = f"GROUP = {number}\n\n\ndef price(count):\n    return count * (9 if count >= GROUP else 10)\n"
    test = f"{TEST}\n\ndef test_five(monkeypatch):{rest}\n    assert (price(5), price(4)) == (45, 40)\n"
    found = await judged(
        tmp_path,
        BASE,
        {"fares.py": source, "test_fares.py": test},
        title="Groups of five or more pay 9 each, smaller ones 10",
    )
    assert found.proof is verdict, found.reason


@pytest.mark.parametrize(
    ("body", "reached", "line"),
    [
        ("assert a\nassert b", {2, 3}, 0),
        ("assert a\nfor x in rows:\n    assert x", {2}, 4),
        ("assert a\nfor x in rows:\n    assert x", {2, 4}, 0),
        ("assert a\nwith raises(E):\n    f()\n    assert b", {2}, 5),
        ("assert a\nif windows:\n    assert b", {2}, 0),
        ("assert a\ndef inner():\n    assert b", {2}, 4),
        ("assert a\ndef never():\n    assert False", {2}, 0),
        ("assert a\nassert (\n    b\n)", {2, 4}, 0),
        ("self.assertTrue(a)\nself.assertTrue(b)", {2}, 3),
        ("self.assertTrue(a)\nself.assertFile(b)", {2}, 0),
        ("for a, b in zip(f(), [1]):\n    assert a == b", set(), 3),
        ("with raises(E):\n    f()", set(), 0),
        ("try:\n    f()\nexcept E as e:\n    assert e.a", set(), 5),
        ("try:\n    f()\nexcept E as e:\n    assert e.a", {5}, 0),
        ("try:\n    f()\n    self.fail()\nexcept E as e:\n    assert e.a", set(), 0),
        ("try:\n    f()\nexcept E as e:\n    assert e.a\nelse:\n    raise X", set(), 0),
        ("try:\n    f()\nexcept E as e:\n    assert e.a\nexcept F as e:\n    assert e.b", {7}, 0),
        ("try:\n    import x\nexcept E:\n    pass\nassert a", {6}, 0),
    ],
)
def test_an_assertion_that_is_never_reached(body: str, reached: set[int], line: int) -> None:
    source = "def test_a(self=0):\n" + "".join(f"    {one}\n" for one in body.split("\n"))
    assert never_reached(source.encode(), "test_a", reached) == line


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ('assert (price(5) == 1, "five")', ["tautology"]),
        ('assert price(5) == 45, "five"', []),
        ("assert (price(5), price(4)) == (45, 40)", []),
    ],
)
def test_an_assertion_about_a_tuple_is_about_nothing(line: str, rules: list[str]) -> None:
    test = f"def test_five():\n    {line}\n".encode()
    one = Owned(path="t.py", before=None, after=test, owner=Owner.NEW_TEST, why="")
    assert [hit[0] for hit in suspects._hits(one, None)] == rules


async def test_a_new_test_whose_loop_turns_no_round_is_asked_about(tmp_path: Path) -> None:
    test = f"""{TEST}

def test_groups():
    rows = iter([(5, 45), (6, 54)])
    assert len(list(rows)) == 2
    assert (price(5), price(4)) == (45, 40)
    for count, cents in rows:
        assert price(count) == cents
"""
    source = "def price(count):\n    return count * (9 if count >= 5 else 10)\n"
    change = {"fares.py": source, "test_fares.py": test}
    found = await judged(tmp_path, BASE, change, title="Groups of five or more pay 9 each, smaller ones 10")
    assert [one.rule for one in found.questions] == ["unreachable-assertion"], found.reason
