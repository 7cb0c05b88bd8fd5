"""Tests that were written out and are rows of a table now: nothing is lost, and what is lost is seen."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.test_edits import edits_of
from engine.perform.checks.proof.test_shape import EditKind

OLD = b"""
def test_merge():
    assert merge([3, 1]) == [1, 3]
    assert merge([]) == []


def test_no_text():
    with raises(ValueError):
        merge("x")
"""
HEAD = b"import pytest\n\n\n"
TABLE = b"""
@pytest.mark.parametrize(("given", "merged"), [([3, 1], [1, 3]), pytest.param([], [], id="none")])
def test_merge(given, merged):
    assert merge(given) == merged


@pytest.mark.parametrize("text", ["x", "y"])
def test_refuses(text):
    with raises(ValueError):
        merge(text)
"""


def kinds(new: bytes) -> dict[str, EditKind]:
    return {one.id: one.kind for one in edits_of({"t.py": OLD}, {"t.py": HEAD + new}, ["t.py"])}


def test_all_rows_are_there() -> None:
    assert kinds(TABLE) == {"t.py::test_merge": EditKind.STRONGER, "t.py::test_no_text": EditKind.MOVED}


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        pytest.param(b', pytest.param([], [], id="none")', b"", EditKind.WEAKER, id="a row is gone"),
        pytest.param(b"([3, 1], [1, 3])", b"([3, 1], [3, 1])", EditKind.WEAKER, id="another answer"),
        pytest.param(b'id="none")', b'marks=pytest.mark.x)', EditKind.WEAKER, id="a row with a mark"),
        pytest.param(b"[([3, 1], [1, 3])", b"ROWS or [([3, 1], [1, 3])", EditKind.WEAKER, id="no list of rows"),
        pytest.param(b"    assert merge(g", b"    given = []\n    assert merge(g", EditKind.WEAKER, id="prepared"),
    ],
)  # fmt: skip
def test_what_is_lost_is_seen(was: bytes, now: bytes, kind: EditKind) -> None:
    assert was in TABLE
    assert kinds(TABLE.replace(was, now))["t.py::test_merge"] is kind


JS = b"import test from 'node:test';\nimport { rank, leaders } from '../src/index.js';\n\n"
FIRST = b"test('rank', () => { assert.equal(rank(1), 1); });\n"
SECOND = b"test('leaders', () => { assert.equal(leaders(1), 1); });\n"


def test_a_moved_test_takes_its_import_along() -> None:
    one = JS.replace(b"rank, leaders", b"rank") + FIRST
    two = JS.replace(b"rank, leaders", b"leaders") + SECOND
    base, after = {"a.test.js": JS + FIRST + SECOND}, {"a.test.js": one, "b.test.js": two}
    assert [edit.kind for edit in edits_of(base, after, [*after])] == [EditKind.MOVED]
    other = {**after, "a.test.js": one.replace(b"../src/index.js", b"../src/fake.js")}
    assert EditKind.CHANGED in [edit.kind for edit in edits_of(base, other, [*other])]
