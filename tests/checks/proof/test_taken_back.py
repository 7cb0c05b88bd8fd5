"""Each part of a change, taken back alone, is noticed by a test; else it was not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.taken_back import parts, text_parts
from tests.checks.proof.test_judged import judged

OLD = "def busy(start, at, end):\n    return start <= at <= end\n"
BOTH = OLD.replace("<=", "<")
ONE = OLD.replace("<= end", "< end")


@pytest.mark.parametrize(
    ("after", "found"),
    [
        pytest.param(BOTH, [("<=", "<"), ("<=", "<")], id="two signs"),
        pytest.param(ONE, [], id="one sign is the change itself"),
        pytest.param(OLD.replace("busy", "free"), [], id="a name"),
        pytest.param(OLD + "\n\nLIMIT = 3\n", [], id="something added"),
    ],
)
def test_parts(after: str, found: list[tuple[str, str]]) -> None:
    assert [(part.was, part.now) for part in parts("a.py", OLD.encode(), after.encode())] == found


BASE = {
    "plan.py": OLD,
    "tests/test_p.py": "from plan import busy\n\n\ndef test_in():\n    assert busy(1, 5, 9)\n",
}
END = "from plan import busy\n\n\ndef test_end():\n    assert not busy(1, 9, 9)\n"
BEGIN = END + "\n\ndef test_begin():\n    assert not busy(1, 1, 9)\n"


async def test_a_red_test_of_the_users_own_need_not_show_both(tmp_path: Path) -> None:
    base = {**BASE, "tests/test_end.py": END}
    done = await judged(tmp_path, base, {"plan.py": BOTH}, title="busy names what is over")
    assert done.proof is ProofVerdict.PROVEN, done.reason


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("int f(int n) { int i, m = 1; for (i = 1; i < n; i++) m += i; return m; }", 1),
        ("int f(int n) { int i, m = 0; for (i = 0; i <= n; i++) m -= i; return m; }", 2),
    ],
)
def test_where_a_loop_begins_is_no_part(after: str, found: int) -> None:
    old = "int f(int n) { int i, m = 0; for (i = 0; i < n; i++) m += i; return m; }"
    assert len(text_parts("a.c", old.encode(), after.encode())) == found


@pytest.mark.parametrize(
    ("test", "allow", "verdict"),
    [
        pytest.param(END, (), ProofVerdict.UNPROVEN, id="one end is shown"),
        pytest.param(BEGIN, (), ProofVerdict.PROVEN, id="both are", marks=pytest.mark.torture),
        pytest.param(END, ("accept more-changed",), ProofVerdict.PROVEN, id="accepted", marks=pytest.mark.torture),
    ],
)
async def test_both_signs_have_to_be_shown(
    tmp_path: Path, test: str, allow: tuple[str, ...], verdict: ProofVerdict
) -> None:
    change = {"plan.py": BOTH, "tests/test_end.py": test}
    done = await judged(tmp_path, BASE, change, title="busy names what is over", allow=allow)
    assert done.proof is verdict, done.reason
