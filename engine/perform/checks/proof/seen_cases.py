"""Cases as a run saw them: by id, what a permission dropped, and what a failure says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.run.measure import PASSED, Case, Measurement

COLLECT = "CollectError"


UNTOLD = "…"
"""Among the assertions that a test reached: it has more of them than are counted, or others ran at the same time."""


def by_id(measured: Measurement | None) -> dict[str, Case]:
    """Cases by id; a check that offers no report is one case of its own name."""
    if measured is None:
        return {}
    if measured.report.counts_tests:
        return {case.id: case for case in measured.report.cases}
    if measured.report.source == "exit code" and measured.ended == "exited":
        outcome = PASSED if measured.exit_code == 0 else "failed"
        last = measured.output.strip().rpartition("\n")[2][:300]
        return {measured.check: Case(id=measured.check, outcome=outcome, text=f"exit {measured.exit_code}: {last}")}
    return {}


_NONE: Mapping[str, str] = MappingProxyType({})


def covered(case: Case, dropped: Iterable[str]) -> bool:
    """Named by an entry of what a permission dropped: an id, the beginning of one, or a file."""
    return any(covers_id(entry, case.id) or case.path == entry or case.id.startswith(f"{entry}.") for entry in dropped)


def last_line(text: str) -> str:
    """The line that says most: what a collector marks, the last of a traceback, else the first."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    marked = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    if marked or "Traceback" in text:
        return (marked or lines)[-1][:300]
    return (lines or [""])[0][:300]


def signature(case: Case, renamed: Mapping[str, str] = _NONE) -> tuple[str, str, str]:
    """What a failure says, but for what differs in every run. `renamed`: old names by the new ones."""
    text = re.sub(r"0x[0-9a-f]+|/(?:tmp|var)/\S+|\d+\.\d+ ?m?s\b|\bid=\d+|pid \d+", "…", case.text)
    for new, old in renamed.items():
        text = re.sub(rf"(?<!\w){re.escape(new)}(?!\w)", old, text)
    return case.error, case.place, text
