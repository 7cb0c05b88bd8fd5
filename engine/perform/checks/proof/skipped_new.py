"""New tests that skip themselves with the change in place, or fail as they are marked to: what they would have shown is
not shown. Pure.

Whoever skips a test because of where it runs (a platform, a tool, a variable) skips it on the base too, or says so in
its lines. A test that looks at the answer first, and skips when it is wrong, does neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.run.measure import SKIPPED, XFAILED, Case, Measurement

_SURROUNDINGS = re.compile(
    r"platform|version_info|GOOS|GOARCH|runtime\.Version|Short\(\)|importorskip|find_spec|LookPath"
    r"|\bwhich\(|process\.versions?|skipif|skipUnless|skipIf|ImportError|\bos\.name\b|cfg!?\("
)
"""What a machine is. A variable of the environment is none of it: who runs the checks sets none."""
_VARIABLE = re.compile(r"environ|getenv|process\.env|Getenv")
_EXPECTED = re.compile(
    r"\bx-?fail\w*|\btodo\b|expected?\s+(?:to\s+fail|failures?)|known\s+(?:bug|issue|failure|problem)", re.I
)


def failing_new(r0: Measurement, r2: Sequence[Measurement], words: str) -> list[Case]:
    """New tests that are marked as failing, and fail; `words`: the task's own, which may want them."""
    if _EXPECTED.search(words):
        return []
    before = by_id(r0)
    return [case for run in r2 for id, case in by_id(run).items() if case.outcome == XFAILED and id not in before]


def skipped_new(r0: Measurement, r2: Sequence[Measurement], r3: Sequence[Measurement], fresh: str) -> list[Case]:
    """`fresh`: the new lines of the tests."""
    if any(_SURROUNDINGS.search(line) and not _VARIABLE.search(line) for line in fresh.splitlines()):
        return []
    before = by_id(r0)
    there = {id for run in r3 for id, case in by_id(run).items() if case.outcome == SKIPPED}
    if any(_VARIABLE.search(line) and "skip" in line.lower() for line in fresh.splitlines()):
        there = set()  # nobody sets it: not here, and not on the base
    return [
        case
        for run in r2
        for id, case in by_id(run).items()
        if case.outcome == SKIPPED and id not in before and id not in there
    ]
