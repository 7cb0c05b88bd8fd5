"""What the user changed in a plan, in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from engine.plans import describe_change
from engine.plans.native import NATIVE
from tests.depth import examples
from tests.plans.samples import plans

OLD = "# X\nStatus: DRAFT\n## Phase 1: A\n- [ ] 1.1 a\n- [ ] 1.2 b\n  accept: c\n## Phase 2: B\n- [ ] 2.1 c\n"
CASES = [
    pytest.param(OLD, "", id="nothing"),
    pytest.param(OLD.replace("2.1 c", "2.1 c\n- [ ] 2.2 d"), "task 2.2 “d” added", id="added"),
    pytest.param(OLD.replace("- [ ] 1.1 a\n", ""), "task 1.1 “a” removed", id="removed"),
    pytest.param(OLD.replace("1.1 a", "1.1 z"), "task 1.1 is now “z” (was “a”)", id="title"),
    pytest.param(OLD.replace("[ ] 2.1", "[x] 2.1"), "task 2.1 marked done", id="done"),
    pytest.param(OLD.replace("[ ] 2.1", "[-] 2.1"), "task 2.1 marked skipped", id="skipped"),
    pytest.param(OLD.replace("DRAFT", "APPROVED"), "status DRAFT → APPROVED", id="status"),
    pytest.param(
        OLD.replace("accept: c", "accept: d\n  scope: e"), "task 1.2: acceptance criteria, scope edited", id="fields"
    ),
    pytest.param(
        OLD.replace("- [ ] 1.1 a\n", "") + "- [ ] 1.1 a\n",
        "task 1.1 moved to phase 2; order of tasks changed",
        id="moved",
    ),
    pytest.param(
        OLD.replace("Phase 2: B", "Phase 2: C (scaffold)"), "phase 2 is now “C”; phase 2 is now scaffold", id="phase"
    ),
    pytest.param(
        OLD.replace("# X\n", "# Y\nTopic: t\n\nintro\n"),
        "title is now “Y”; topic is now t; introduction edited",
        id="head",
    ),
]


@pytest.mark.parametrize(("new", "words"), CASES)
def test_changes_are_told(new, words):
    assert describe_change(NATIVE.read(OLD, "p"), NATIVE.read(new, "p")) == words


@given(plans(), plans())
@settings(max_examples=examples(50), deadline=None)
def test_silence_means_nothing_changed(old, new):
    assert describe_change(old, old) == ""
    assert (describe_change(old, new) == "") is (old == new)
