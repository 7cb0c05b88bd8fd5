"""New tests that skip themselves with the change in place: what they would have shown is not shown. Pure.

Whoever skips a test because of where it runs (a platform, a tool, a variable) skips it on the base too, or says so in
its lines. A test that looks at the answer first, and skips when it is wrong, does neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.run.measure import SKIPPED, Case, Measurement

_SURROUNDINGS = re.compile(
    r"platform|version_info|environ|[Gg]etenv|GOOS|GOARCH|runtime\.Version|Short\(\)|importorskip|find_spec|LookPath"
    r"|\bwhich\(|process\.(?:env|versions?)|skipif|skipUnless|skipIf|ImportError|\bos\.name\b|cfg!?\("
)


def skipped_new(r0: Measurement, r2: Sequence[Measurement], r3: Sequence[Measurement], fresh: str) -> list[Case]:
    """`fresh`: the new lines of the tests."""
    if _SURROUNDINGS.search(fresh):
        return []
    before = by_id(r0)
    there = {id for run in r3 for id, case in by_id(run).items() if case.outcome == SKIPPED}
    return [
        case
        for run in r2
        for id, case in by_id(run).items()
        if case.outcome == SKIPPED and id not in before and id not in there
    ]
