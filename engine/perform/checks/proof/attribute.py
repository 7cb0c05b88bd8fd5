"""Whose doing is it? Tests and findings of a change, told apart by what the base already had. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from engine.core.model import Finding, Struct, TestCounts
from engine.perform.checks.run.measure import BAD, IDLE, PASSED, Case


class Attribution(Struct, frozen=True, kw_only=True):
    """Test ids by what became of them; an id is in one list only."""

    passing: tuple[str, ...] = ()
    broken_before: tuple[str, ...] = ()
    broken_now: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    """New and passing; a new test that fails is broken now."""
    gone: tuple[str, ...] = ()
    skipped_now: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()

    def counts(self) -> TestCounts:
        ran_well = len(self.passing) + len(self.fixed) + len(self.new)
        ran_badly = len(self.broken_before) + len(self.broken_now)
        idle = len(self.skipped) + len(self.skipped_now)
        return TestCounts(
            total=ran_well + ran_badly + idle + len(self.flaky),
            passed=ran_well,
            failed=ran_badly,
            skipped=idle,
            new=len(self.new),
            fixed=len(self.fixed),
            broken_before=len(self.broken_before),
            flaky=len(self.flaky),
            gone=len(self.gone),
        )


def attribute(
    before: Iterable[Case],
    after: Iterable[Case],
    flaky: frozenset[str] = frozenset(),
    renames: Mapping[str, str] | None = None,
) -> Attribution:
    """`renames` maps an id of the base to its id in the change."""
    renamed = renames or {}
    base = {renamed.get(case.id, case.id): case.outcome for case in before}
    lists: dict[str, list[str]] = {name: [] for name in Attribution.__struct_fields__}
    seen: set[str] = set()
    for case in after:
        seen.add(case.id)
        lists["flaky" if case.id in flaky else _one(base.get(case.id), case.outcome)].append(case.id)
    lists["gone"] = [id for id in base if id not in seen]
    return Attribution(**{name: tuple(ids) for name, ids in lists.items()})


def _one(was: str | None, now: str) -> str:
    if now in IDLE:
        return "skipped" if was is None or was in IDLE else "skipped_now"
    if now == PASSED:
        return "new" if was is None else "fixed" if was in BAD else "passing"
    return "broken_before" if was in BAD else "broken_now"


def fingerprint(finding: Finding) -> str:
    """The line number is left out: code above may have moved it."""
    return f"{finding.rule} {finding.path}: {finding.text}"


def new_findings(
    before: Sequence[Finding], after: Sequence[Finding], files: frozenset[str] | None = None
) -> list[Finding]:
    """Findings beyond the number the base has of the same kind in the same file.

    What a file that is gone had (`files` are the paths of the change) may turn up once elsewhere: it moved.
    """
    had = Counter(fingerprint(finding) for finding in before)
    moved = Counter((f.rule, f.text) for f in before if files is not None and f.path not in files)
    fresh: list[Finding] = []
    for finding in after:
        mark = fingerprint(finding)
        if had[mark] > 0:
            had[mark] -= 1
        elif moved[(finding.rule, finding.text)] > 0:
            moved[(finding.rule, finding.text)] -= 1
        else:
            fresh.append(finding)
    return fresh
