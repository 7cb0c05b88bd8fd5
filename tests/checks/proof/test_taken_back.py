"""Each part of a change, taken back alone, is noticed by a test; else it was not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.taken_back import parts
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
