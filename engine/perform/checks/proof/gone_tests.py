"""Tests that a change edited away without deleting them: the file is there, the test is not run any more. Pure."""

from __future__ import annotations

from engine.core.grants import Rule
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.permissions import Transformed
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind
from engine.perform.checks.run.measure import IDLE, PASSED, Measurement


def gone_from_edited(
    r0: Measurement, r4: Measurement, transformed: Transformed, edited: frozenset[str], check: str
) -> list[Fault]:
    """Base-green tests of edited files that R4 does not run, and that no edit accounts for.

    What an edit deleted or skipped is asked by that edit; what it moved must run where it stands now. A test whose
    parameters have other names is still that test.
    """
    now = by_id(r4)
    ran = {id.partition("[")[0] for id, case in now.items() if case.outcome not in IDLE}
    found = []
    for case in by_id(r0).values():
        function = case.id.partition("[")[0]
        if case.outcome != PASSED or case.path not in edited or function in ran or transformed.is_dropped(case.id):
            continue
        edits = [edit for edit in transformed.edits if edit.test and covers_id(edit.id, case.id)]
        if any(edit.kind in (EditKind.DELETED, EditKind.SKIPPED) for edit in edits):
            continue
        if any(edit.now and any(covers_id(edit.now, id) for id in ran) for edit in edits):
            continue
        if transformed.excuse(case.id):
            continue
        text = f"{case.id} is not run any more, though nothing says that it was deleted"
        found.append(question(Rule.TEST_GONE, text, f"delete tests {case.id}", case, check))
    return found
