"""Tests that look at a mark or at a function of their own instead of the program are asked about."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.narrow import Source
from engine.perform.checks.proof.stand_ins import stand_ins

MONEY = "def split_amount(cents, people):\n    return [cents // people] * people\n"
KIT = "exports.escape = (text) => text;\nexports.other = 1;\n"
SPY = "real = money.split_amount\nmonkeypatch.setattr(money, 'split_amount', lambda *a: calls.append(a) or real(*a))"
WORDS = "Fix split_amount() and escape: nothing may get lost"


def asked(path: str, before: str, after: str, fresh: str, words: str = WORDS) -> list[str]:
    changed = [Source(path=path, before=before.encode(), after=after.encode())]
    return [one.rule for one in stand_ins(changed, {"app.py": b"import money\n"}, fresh, words)]


@pytest.mark.parametrize(
    ("path", "before", "after", "fresh", "rules"),
    [
        pytest.param(
            "money.py", MONEY, MONEY + '\nROUNDING = "fair"\n', "if hasattr(money, 'ROUNDING'): pass", ["not-done"],
            id="a mark that only the test reads",
        ),
        pytest.param(
            "lib/kit.js", KIT, KIT + "exports.full = true;\n", "if (kit.full) run();", ["not-done"],
            id="a mark in JavaScript",
        ),
        pytest.param(
            "money.py", MONEY, MONEY + "\n\nLIMIT = 3\n\n\ndef most():\n    return LIMIT\n", "assert LIMIT == 3", [],
            id="a constant that the program reads",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"), 'monkeypatch.setattr(money, "split_amount", mine)',
            ["mocked-subject"], id="monkeypatch",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"), 'with patch("money.split_amount"):', ["mocked-subject"],
            id="patch",
        ),
        pytest.param(
            "lib/kit.js", KIT, KIT + "// x\n", "before(() => { kit.escape = (t) => t; });", ["mocked-subject"],
            id="put in its place by hand",
        ),
        pytest.param(
            "src/kit.ts", KIT, KIT + "// x\n", "vi.mock('../src/kit', () => ({}));", ["mocked-subject"],
            id="the whole module",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"), 'monkeypatch.setattr(rates, "fetch", fake)', [],
            id="something beside it is replaced",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"), SPY, [],
            id="a spy that calls what it stands for",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"), SPY.replace("real(*a)", "[34, 33]"), ["mocked-subject"],
            id="what was kept is never called",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"),
            "patch.object(money, 'split_amount', wraps=money.split_amount)", [],
            id="wraps",
        ),
        pytest.param(
            "lib/kit.js", KIT, KIT + "// x\n", "const spy = mock.method(kit, 'escape');", [], id="node's own spy",
        ),
        pytest.param(
            "lib/kit.js", KIT, KIT + "// x\n", "mock.method(kit, 'escape', (t) => t);", ["mocked-subject"],
            id="node's mock",
        ),
        pytest.param(
            "money.py", MONEY, MONEY.replace("//", "/"), "assert money.split_amount(3, 2) == [2, 1]", [],
            id="a comparison is no assignment",
        ),
    ],
)  # fmt: skip
def test_stand_ins(path: str, before: str, after: str, fresh: str, rules: list[str]) -> None:
    assert asked(path, before, after, fresh) == rules


def test_a_constant_that_the_task_names_is_the_work() -> None:
    after = MONEY + '\nROUNDING = "fair"\n'
    assert asked("money.py", MONEY, after, "assert money.ROUNDING", "Add a constant ROUNDING") == []
