"""Line numbers a change brings in, and how many of them the tests reach."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from engine.perform.checks.integrity import Change
from engine.perform.checks.measure import FileCoverage
from engine.perform.checks.waivers import Objection

FEW = 3
"""Fewer unreached lines than this are not worth a finding."""


def changed_lines(before: bytes | None, after: bytes | None) -> set[int]:
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    lines: set[int] = set()
    for tag, _, _, start, end in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag in ("replace", "insert"):
            lines.update(range(start + 1, end + 1))
    return lines


def coverage_objections(
    changes: Iterable[Change], lines: Mapping[str, FileCoverage], base_percent: float | None, wanted: float
) -> list[Objection]:
    """Changed source lines should be reached as well as the base's own lines are, up to `wanted` percent."""
    reached = unreached = 0
    worst: tuple[int, str, Sequence[int]] = (0, "", ())
    for change in changes:
        cover = lines.get(change.path)
        if change.test or cover is None:
            continue
        fresh = changed_lines(change.before, change.after)
        missing = sorted(fresh & set(cover.missing))
        reached += len(fresh & set(cover.executed))
        unreached += len(missing)
        worst = max(worst, (len(missing), change.path, missing))
    total = reached + unreached
    target = min(wanted, base_percent) if base_percent is not None else wanted
    if total == 0 or unreached < FEW or reached * 100 / total >= target:
        return []
    _, path, lost = worst
    places = ", ".join(str(line) for line in lost[:8])
    share = f"{reached * 100 // total} %, wanted {target:.0f} %"
    text = f"tests reach {reached} of {total} changed lines ({share}); not reached: {path} {places}"
    return [Objection(rule="coverage-lower", text=text, path=path, line=lost[0])]
