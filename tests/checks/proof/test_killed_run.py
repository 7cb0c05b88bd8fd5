"""A run that somebody killed is run once more; one that kills itself is no pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from tests.checks.proof.test_judged import judged

BASE = {
    "text.py": "def cut(text):\n    return text[:3]\n",
    "tests/test_t.py": "from text import cut\n\n\ndef test_cut():\n    assert cut('abcdef') == 'abc'\n",
}
DIES = """import os
from pathlib import Path

if not Path({mark!r}).exists():
    {touch}
    os.kill(os.getpid(), 9)


def cut(text):
    return text[:3]
"""


@pytest.mark.parametrize(
    ("once", "verdict"),
    [pytest.param(True, ProofVerdict.HARMLESS, id="once"), pytest.param(False, ProofVerdict.FAIL, id="each time")],
)
async def test_killed(tmp_path: Path, once: bool, verdict: ProofVerdict) -> None:
    mark = str(tmp_path / "mark")
    source = DIES.format(mark=mark, touch=f"Path({mark!r}).touch()" if once else "pass")
    done = await judged(tmp_path, BASE, {"text.py": source}, title="Update the text", proof="none")
    assert done.proof is verdict, done.reason
