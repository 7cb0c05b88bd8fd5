"""Line numbers a change brings in, and how many of them the tests reach."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from engine.core.model import Finding
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.run.measure import FileCoverage

FEW = 3
"""Fewer unreached lines than this are not worth a finding."""


def changed_lines(before: bytes | None, after: bytes | None) -> set[int]:
    old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (before, after))
    lines: set[int] = set()
    for tag, _, _, start, end in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag in ("replace", "insert"):
            lines.update(range(start + 1, end + 1))
    return lines


def unreached(
    owned: Iterable[Owned], lines: Mapping[str, FileCoverage], base_percent: float | None, wanted: float
) -> list[Finding]:
    """A note where tests reach fewer of the changed lines than of the base's own, up to `wanted` percent."""
    reached = missed = 0
    worst: tuple[int, str, Sequence[int]] = (0, "", ())
    for one in owned:
        cover = lines.get(one.path)
        if one.owner is not Owner.SUBJECT or cover is None:
            continue
        fresh = changed_lines(one.before, one.after)
        missing = sorted(fresh & set(cover.missing))
        reached += len(fresh & set(cover.executed))
        missed += len(missing)
        worst = max(worst, (len(missing), one.path, missing))
    total = reached + missed
    target = min(wanted, base_percent) if base_percent is not None else wanted
    if total == 0 or missed < FEW or reached * 100 / total >= target:
        return []
    _, path, lost = worst
    places = ", ".join(str(line) for line in lost[:8])
    share = f"{reached * 100 // total} %, wanted {target:.0f} %"
    text = f"tests reach {reached} of {total} changed lines ({share}); not reached: {path} {places}"
    return [Finding(rule="coverage-lower", text=text, path=path, line=lost[0], severity="note")]
