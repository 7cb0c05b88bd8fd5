"""What a change did to tests and data that no grant covers: questions, each with the one entry that grants it. Pure."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Sequence
from typing import assert_never

from engine.core.grants import Grant, Rule
from engine.core.model import Question
from engine.perform.checks import python_source
from engine.perform.checks.proof.data_grown import grown
from engine.perform.checks.proof.file_grants import file_grant
from engine.perform.checks.proof.owned import ADDITIONS, Owned, Owner
from engine.perform.checks.proof.permissions import Transformed
from engine.perform.checks.proof.plain_edits import is_plain
from engine.perform.checks.proof.steering import SECTIONS, steering
from engine.perform.checks.proof.test_edits import PYTHON, TestEdit
from engine.perform.checks.proof.test_ids import covers_id
from engine.perform.checks.proof.test_shape import EditKind


def edit_questions(
    changed: Sequence[Owned],
    grants: Sequence[Grant],
    transformed: Transformed,
    red: Collection[str] = (),
    broken: Collection[str] = (),
) -> list[Question]:
    """What the change needs and the plan does not give. `red`: tests that fail in R1; `broken`: not so on the base.

    With R1 green, edits that add or move ask nothing; in other languages only what takes away asks. Files of data,
    settings and build ask whenever they changed and no grant names them.
    """
    paths = {one.path for one in changed}
    whole = any("::" not in id and "." not in id and id not in paths for id in red)
    found = [
        question for edit in transformed.edits if (question := _test_question(edit, transformed, red, broken, whole))
    ]
    tests_read = [one for one in changed if one.owner in (Owner.DATA, Owner.CONFIG, Owner.STEERING)]
    added = {one.after for one in changed if one.before is None}
    for one in tests_read:
        elsewhere = one.owner is Owner.DATA and one.after is None and one.before in added
        more = one.owner is Owner.DATA and not broken and grown(one.before, one.after)
        if not elsewhere and not more and (question := _file_question(one, grants, transformed)):
            found.append(question)
    return found


def _test_question(
    edit: TestEdit, transformed: Transformed, red: Collection[str], broken: Collection[str], whole: bool
) -> Question | None:
    """`whole`: a command that names no tests is red, so that any edited one may be the reason."""
    failing = whole or any(
        covers_id(edit.id, id) or id == edit.path or (not edit.test and id.startswith(edit.path)) for id in red
    )
    excuse = transformed.excuse(edit.id)
    let_go = edit.kind is EditKind.DELETED and not failing  # it held, and nobody needed to take it away
    if (
        transformed.is_dropped(edit.id)
        or (excuse and not let_go and (excuse.same_question or not failing))
        or (not edit.test and transformed.excuse(edit.path))
    ):
        return None
    match edit.kind:
        case EditKind.MOVED:  # what was red where it stood is red where it stands
            asks = whole or any(covers_id(edit.id, id) or (not edit.test and id.startswith(edit.path)) for id in broken)
        case EditKind.STRONGER:
            asks = failing
        case EditKind.SAME_SHAPE | EditKind.CHANGED:
            asks = failing or (edit.path.endswith(PYTHON) and (edit.test or judges(edit))) or is_plain(edit.path)
        case EditKind.DELETED | EditKind.SKIPPED | EditKind.WEAKER:
            asks = edit.test or failing or (edit.kind is not EditKind.DELETED)
        case _:
            assert_never(edit.kind)
    if not asks:
        return None
    rule, text = _told(edit, failing)
    return Question(
        rule=rule,
        text=text,
        allow=(unasked(transformed, edit.before) if failing else "") or _entry(edit, failing),
        path=edit.path,
        line=edit.line,
        before=edit.before,
        after=edit.after,
    )


def unasked(transformed: Transformed, text: str) -> str:
    """The entry for a rename that the change shows and nobody asked for, where the text uses the old name."""
    if transformed.wanted:
        return ""
    for old, _, entry in transformed.found.pairs:
        last = re.split(r"[./]", old)[-1]
        if re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text):
            return entry
    return ""


def judges(edit: TestEdit) -> bool:
    """A helper that compares or asserts: every test that uses it is as sharp as it is."""
    try:
        tree = python_source.parse(textwrap.dedent(edit.before))
    except (SyntaxError, ValueError, RecursionError):
        return True  # cut off, or not readable by itself
    return any(isinstance(node, ast.Compare | ast.Assert | ast.Raise) for node in ast.walk(tree))


def _told(edit: TestEdit, failing: bool) -> tuple[str, str]:
    match edit.kind:
        case EditKind.DELETED:
            return Rule.TEST_GONE, f"{edit.id} is deleted"
        case EditKind.SKIPPED:
            return Rule.TEST_SKIPPED, f"{edit.id} is skipped now"
        case EditKind.WEAKER:
            return Rule.FEWER_ASSERTIONS, f"{edit.id} asserts less than it did"
        case EditKind.SAME_SHAPE | EditKind.CHANGED | EditKind.MOVED | EditKind.STRONGER:
            how = "as it was, it fails on the change" if failing else "as it was, it still passes"
            return Rule.TEST_CHANGED, f"{edit.id} was edited; {how}"
        case _:
            assert_never(edit.kind)


def _entry(edit: TestEdit, failing: bool) -> str:
    """The narrowest entry that grants it."""
    match edit.kind:
        case EditKind.DELETED:
            return f"delete tests {edit.id}" if edit.test else f"edit tests {edit.path}"
        case EditKind.SKIPPED:
            return f"skip tests {edit.id if edit.test else edit.path}"
        case EditKind.SAME_SHAPE if failing:
            return "change behaviour"
        case EditKind.WEAKER | EditKind.SAME_SHAPE | EditKind.CHANGED | EditKind.MOVED | EditKind.STRONGER:
            return f"edit tests {edit.id if edit.test else edit.path}"
        case _:
            assert_never(edit.kind)


def _file_question(one: Owned, grants: Sequence[Grant], transformed: Transformed) -> Question | None:
    if one.path in transformed.files or file_grant(grants, one.path, one.before, one.after) is not None:
        return None
    if one.path.rpartition("/")[2] in SECTIONS and not steering(one.path, one.before, one.after, ()):
        return None  # a new dependency or version: nothing in it steers a check
    how = "added" if one.before is None else "deleted" if one.after is None else "changed"
    why = f" ({one.why})" if one.why else ""
    what = "a new file that a command finds by itself" if one.owner in ADDITIONS else f"the checks read it{why}"
    return Question(
        rule=Rule.ORACLE_CHANGED,
        text=f"{one.path} is {how}: {what}",
        allow=f"edit {one.path}",
        path=one.path,
        before=difference(one.before, one.after)[0],
        after=difference(one.before, one.after)[1],
    )


def difference(before: bytes | None, after: bytes | None) -> tuple[str, str]:
    """Both contents from the first line that differs."""
    old, new = (excerpt_lines(data) for data in (before, after))
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    first = max(0, same - 2)
    return tuple("\n".join(lines[first : first + 12])[:1600] for lines in (old, new))  # type: ignore[return-value]


def excerpt_lines(data: bytes | None) -> list[str]:
    if data is not None and b"\0" in data[:8000]:
        return [f"({len(data)} bytes, not text)"]
    return (data or b"").decode("utf-8", "replace").splitlines()
