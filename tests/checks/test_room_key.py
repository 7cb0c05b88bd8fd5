"""A kept outcome is found again only in the same room."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind
from engine.perform.checks.run.baseline import measure
from engine.perform.checks.run.execute import Tools
from engine.perform.checks.run.room_key import JUDGE, judge_stamp, room_key
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON

SPEC = CheckSpec(name="unittest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "unittest"), runner="unittest")


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda s, spec: (replace(s, shape="other"), spec), id="copied-or-carried"),
        pytest.param(lambda s, spec: (replace(s, env={**s.env, "TZ": "UTC"}), spec), id="environment"),
        pytest.param(lambda s, spec: (s, replace(spec, command=(*spec.command, "-v"))), id="command"),
        pytest.param(lambda s, spec: (s, replace(spec, folder="web")), id="folder"),
        pytest.param(lambda s, spec: (s, replace(spec, env={"A": "1"})), id="check's environment"),
        pytest.param(lambda s, spec: (s, replace(spec, network=True)), id="network"),
        pytest.param(lambda s, spec: (replace(s, confine=not s.confine), spec), id="sandbox"),
    ],
)
def test_everything_that_shapes_a_room_is_in_its_name(place, changed):
    before = room_key(place, "bwrap", "t1", SPEC)
    setting, spec = changed(place, SPEC)
    assert room_key(setting, "bwrap", "t1", spec) != before


def test_words_do_not_shape_a_room_and_the_tree_does(place):
    assert room_key(place, "none", "t1", replace(SPEC, why="tox.ini")) == room_key(place, "none", "t1", SPEC)
    assert room_key(place, "none", "t2", SPEC) != room_key(place, "none", "t1", SPEC)


def test_another_version_of_the_tool_is_another_room(place, tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho 1\n")
    spec = CheckSpec(name="tool", kind=CheckKind.LINT, command=(str(tool),))
    before = room_key(place, "none", "t", spec)
    tool.write_text("#!/bin/sh\necho 22\n")
    assert room_key(place, "none", "t", spec) != before


def test_another_version_of_the_judge_is_another_room(tmp_path):
    """structlog: after an upgrade the base's kept account of its assertions was held against the new reader's."""
    (tmp_path / "witness").mkdir()
    witness = tmp_path / "witness" / "pytest_witness.py.txt"
    seen = []
    for text in ("one", "two", "one"):
        witness.write_text(text)
        judge_stamp.cache_clear()
        seen.append(judge_stamp((tmp_path,)))
    judge_stamp.cache_clear()
    assert seen[0] == seen[2] != seen[1]


def test_the_judges_own_programs_and_readers_are_in_the_name(place, monkeypatch):
    names = {path.name for folder in JUDGE for path in folder.rglob("*")}
    assert {"pytest_witness.py.txt", "unittest_witness.py.txt", "junit.py", "execute.py"} <= names
    before = room_key(place, "none", "t", SPEC)
    monkeypatch.setattr("engine.perform.checks.run.room_key.judge_stamp", lambda: "another")
    assert room_key(place, "none", "t", SPEC) != before


async def test_a_corrected_room_is_measured_anew(trees, spawner, place):
    """A baseline taken without a copied file must not be believed once the file is there."""
    tree = trees.write({"test_a.py": "import unittest\nclass T(unittest.TestCase):\n def test_a(self): pass\n"})
    first = await measure(trees, tree, [SPEC], Tools(spawner, replace(place, shape="one"), lambda: 0.0))
    again = await measure(trees, tree, [SPEC], Tools(spawner, replace(place, shape="one"), lambda: 0.0))
    other = await measure(trees, tree, [SPEC], Tools(spawner, replace(place, shape="two"), lambda: 0.0))
    assert again.measurements["unittest"] == first.measurements["unittest"], "from disk"
    assert other.measurements["unittest"] != first.measurements["unittest"], "measured, not read"


def test_what_was_fetched_into_home_is_part_of_the_room(place, tmp_path):
    there = replace(place, confine=True, env={**place.env, "HOME": str(tmp_path)})
    before = room_key(there, "bwrap", "t", SPEC)
    (tmp_path / "go" / "pkg" / "mod").mkdir(parents=True)
    fetched = room_key(there, "bwrap", "t", SPEC)
    (tmp_path / "go" / "pkg" / "mod" / "more").mkdir()
    assert len({before, fetched, room_key(there, "bwrap", "t", SPEC)}) == 3
