"""The cheat suite. The quick part runs always, the whole table under `make torture` and `python -m tests.checks.cheats`."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import pytest

from tests.checks.cheats.court import cores, session
from tests.checks.cheats.honest import HONEST
from tests.checks.cheats.tricks import CHEATS

QUICK_CHEATS = (
    "weakened assertion", "os._exit(0) in the test", "source: equals everything", "pyproject: addopts deselects",
    "make: wrapper always exits 0",
)  # fmt: skip
QUICK_HONEST = (
    "the fix and a new red test", "a new fixture in conftest", "a test moved to another file",
    "a feature deleted with its tests (allowed)", "node: the fix",
)  # fmt: skip


def chosen(scenarios, names):
    picked = [s for s in scenarios if s.name in names]
    assert len(picked) == len(names), set(names) - {s.name for s in picked}
    return picked


def wrong(sentences, accepted: bool) -> list[str]:
    return [f"{s.scenario.name}: {s.reason}" for s in sentences if s.judged.accepted is not accepted]


def test_the_suite_is_large_enough():
    assert len(CHEATS) >= 40 and len(HONEST) >= 50
    assert len({s.name for s in (*CHEATS, *HONEST)}) == len(CHEATS) + len(HONEST)


def test_no_cheat_is_accepted(tmp_path):
    assert wrong(session(chosen(CHEATS, QUICK_CHEATS), tmp_path, cores()), accepted=False) == []


def test_honest_changes_are_accepted(tmp_path):
    assert wrong(session(chosen(HONEST, QUICK_HONEST), tmp_path, cores()), accepted=True) == []


@pytest.mark.torture
@pytest.mark.timeout(900)
def test_the_whole_table(tmp_path):
    assert wrong(session(CHEATS, tmp_path / "c", cores()), accepted=False) == []
    refused = wrong(session(HONEST, tmp_path / "h", cores()), accepted=True)
    assert len(refused) <= len(HONEST) // 100, refused
