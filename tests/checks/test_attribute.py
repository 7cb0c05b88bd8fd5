"""Attribution: every pair of outcomes has one name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.model import Finding
from engine.perform.checks.proof.attribute import Attribution, attribute, new_findings
from engine.perform.checks.run.measure import Case


@pytest.mark.parametrize(
    ("was", "now", "fate"),
    [
        ("passed", "passed", "passing"),
        ("passed", "failed", "broken_now"),
        ("passed", "error", "broken_now"),
        ("passed", "skipped", "skipped_now"),
        ("passed", "xfailed", "skipped_now"),
        ("passed", None, "gone"),
        ("failed", "failed", "broken_before"),
        ("error", "failed", "broken_before"),
        ("failed", "passed", "fixed"),
        ("failed", "skipped", "skipped_now"),
        ("failed", None, "gone"),
        ("skipped", "passed", "passing"),
        ("skipped", "failed", "broken_now"),
        ("xfailed", "skipped", "skipped"),
        ("skipped", None, "gone"),
        (None, "passed", "new"),
        (None, "failed", "broken_now"),
        (None, "skipped", "skipped"),
    ],
)
def test_fates(was, now, fate):
    before = [Case(id="t", outcome=was)] if was else []
    after = [Case(id="t", outcome=now)] if now else []
    assert getattr(attribute(before, after), fate) == ("t",)


def test_a_rename_carries_its_past():
    fates = attribute([Case(id="old", outcome="failed")], [Case(id="new", outcome="failed")], renames={"old": "new"})
    assert (fates.broken_before, fates.gone) == (("new",), ())


outcomes = st.sampled_from(["passed", "failed", "error", "skipped", "xfailed"])
suites = st.dictionaries(st.sampled_from("abcdef"), outcomes).map(
    lambda d: [Case(id=k, outcome=v) for k, v in d.items()]
)


@given(suites, suites, st.frozensets(st.sampled_from("abcdef")))
def test_every_test_has_one_fate(before, after, flaky):
    fates = attribute(before, after, flaky)
    told = [id for name in Attribution.__struct_fields__ for id in getattr(fates, name)]
    assert sorted(told) == sorted({case.id for case in [*before, *after]})
    assert fates.counts().total == len(after)


def finding(rule: str, path: str = "a.py", line: int = 1) -> Finding:
    return Finding(rule=rule, text="t", path=path, line=line)


def test_findings_move_with_their_lines_and_files():
    assert new_findings([finding("E", line=1)], [finding("E", line=9)]) == []
    assert new_findings([finding("E")], [finding("E"), finding("E")]) == [finding("E")]
    assert new_findings([finding("E")], [finding("E", "b.py")]) == [finding("E", "b.py")]
    assert new_findings([finding("E")], [finding("E", "b.py")], frozenset({"b.py"})) == []
    assert len(new_findings([finding("E")], [finding("E", "b.py")] * 2, frozenset({"b.py"}))) == 1
