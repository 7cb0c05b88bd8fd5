"""The suite itself: every case can be applied, changes something where it says so, and is one of a kind."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.redteam.case import Case, cases, repositories

EVERY = cases()


def test_there_are_enough() -> None:
    count = Counter(case.wrong for case in EVERY)
    assert count[True] >= 160
    assert count[False] >= 115
    assert {case.repo for case in EVERY} == set(repositories())


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_applies(case: Case) -> None:
    assert case.after != case.base or case.kind == "nothing done"
    assert case.plan().startswith("# Work")
    paths = [path for path in case.after if path not in case.base or case.after[path] != case.base[path]]
    assert len(paths) <= 12
