"""Quick because it was asked before: a proof that takes the time shows nothing of the first call."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.memory import quick_again
from tests.checks.proof.test_judged import judged

SLOW = "def pairs(rows):\n    return [(a, b) for a in rows for b in rows if a[0] == b[0] and a < b]\n"
KEPT = f"from functools import lru_cache\n\n\n@lru_cache(maxsize=None)\n{SLOW}"
QUICK = "from itertools import groupby\n\n\ndef pairs(rows):\n    found = []\n    for _, group in groupby(sorted(rows), key=lambda row: row[0]):\n        group = list(group)\n        found += [(a, b) for a in group for b in group if a < b]\n    order = {row: at for at, row in enumerate(rows)}\n    return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))\n"
OLD = "from app import pairs\n\n\ndef test_pairs():\n    assert pairs((('a', 1), ('b', 1), ('a', 2))) == [(('a', 1), ('a', 2))]\n    assert pairs(()) == []\n"
TIMED = "\n\nROWS = tuple((str(n), n) for n in range(5000))\n\n\ndef test_long():\n    import time\n\n    assert pairs(ROWS) == []\n    begun = time.perf_counter()\n    assert pairs(ROWS) == []\n    assert time.perf_counter() - begun < 0.3\n"


@pytest.mark.parametrize(
    ("after", "words", "fresh", "told"),
    [
        (KEPT, "pairs() is slow", TIMED, True),
        (KEPT, "pairs() is slow", "assert pairs(ROWS) == []", False),
        (KEPT, "pairs() computes everything again", TIMED, False),
        (KEPT, "cache pairs()", TIMED, False),
        (QUICK, "pairs() is slow", TIMED, False),
    ],
)
def test_what_keeps_results(after: str, words: str, fresh: str, told: bool) -> None:
    assert bool(quick_again(SLOW.encode(), after.encode(), words, fresh)) is told
    assert not quick_again(after.encode(), after.encode(), words, fresh), "it kept them before"


@pytest.mark.parametrize(("source", "proven"), [(QUICK, True), (KEPT, False)], ids=["quick", "quick again"])
async def test_a_proof_that_takes_the_time(tmp_path: Path, source: str, proven: bool) -> None:
    base = {"app.py": SLOW, "tests/test_app.py": OLD}
    change = {"app.py": source, "tests/test_app.py": OLD + TIMED}
    done = await judged(tmp_path, base, change, title="pairs() is slow with many rows")
    assert done.proof is (ProofVerdict.PROVEN if proven else ProofVerdict.QUESTION), done.reason
