"""Code of JavaScript and Go that moved with its tests is what it was; whoever does more on the way is asked as before."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.moved_whole import left_behind, moved_whole
from engine.perform.checks.proof.owned import Owned, Owner
from tests.checks.proof.test_judged import NODE, judged

TIME = "const DAY = 24;\n\nexport function hours(days) {\n  return days * DAY;\n}\n\nexport function minutes(hours) {\n  return hours * 60;\n}\n"
DAYS = "const DAY = 24;\n\n/** Of some days. */\nexport function hours(days) {\n  return days * DAY;\n}\n"
LEFT = "export function minutes(hours) {\n  return hours * 60;\n}\n"
USES = "import { hours, minutes } from './time.js';\n\nexport const total = (days) => minutes(hours(days));\n"
USES_NOW = "import { hours } from './days.js';\nimport { minutes } from './time.js';\n\nexport const total = (days) => minutes(hours(days));\n"
HEAD = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n"
HOURS = "\ntest('hours', () => {\n  assert.equal(hours(2), 48);\n});\n"
MINUTES = "\ntest('minutes', () => {\n  assert.equal(minutes(2), 120);\n});\n"
BASE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n',
    "src/time.js": TIME,
    "src/uses.js": USES,
    "test/time.test.js": f"{HEAD}import {{ hours, minutes }} from '../src/time.js';\n{HOURS}{MINUTES}",
}
MOVED = {
    "src/time.js": LEFT,
    "src/days.js": DAYS,
    "src/uses.js": USES_NOW,
    "test/time.test.js": f"{HEAD}import {{ minutes }} from '../src/time.js';\n{MINUTES}",
    "test/days.test.js": f"{HEAD}import {{ hours }} from '../src/days.js';\n{HOURS}",
}
WRONG = {**MOVED, "src/days.js": DAYS.replace("days * DAY", "days * DAY || 48")}
WEAKER = {**MOVED, "test/days.test.js": MOVED["test/days.test.js"].replace("48", "hours(2)")}
TITLE = "move hours() out of time.js into src/days.js"


def owned(change: dict[str, str]) -> list[Owned]:
    return [
        Owned(
            path=path,
            owner=(Owner.TEST if path in BASE else Owner.NEW_TEST) if path.startswith("test") else Owner.SUBJECT,
            before=BASE[path].encode() if path in BASE else None,
            after=text.encode(),
        )
        for path, text in change.items()
    ]


def test_the_same_pieces_elsewhere() -> None:
    assert set(moved_whole(owned(MOVED))) == {"test/time.test.js", "test/days.test.js"}
    assert moved_whole(owned(WRONG)) == () == moved_whole(owned(WEAKER))
    elsewhere = {**MOVED, "src/uses.js": USES_NOW.replace("./days.js", "./old/kept.js")}
    assert moved_whole(owned(elsewhere)) == (), "what is used now is something else that was there"
    there = next(one for one in owned(MOVED) if one.path == "test/time.test.js")
    assert left_behind(there) == ["test/time.test.js::hours"]


def test_a_package_of_go_under_another_name() -> None:
    before = b'package edit\n\nimport "a/srt"\n\n// Sort sorts.\nfunc Sort(c []srt.Cue) int { return srt.Len(c) }\n'
    after = b'// Package retime is new.\npackage retime\n\nimport (\n\t"a/srt"\n)\n\n// Sort sorts.\nfunc Sort(c []srt.Cue) int { return srt.Len(c) }\n'
    test = b'package edit\n\nimport "testing"\n\nfunc TestSort(t *testing.T) { edit.Sort(nil) }\n'
    moved = [
        Owned(path="edit/a.go", owner=Owner.SUBJECT, before=before, after=None),
        Owned(path="retime/a.go", owner=Owner.SUBJECT, before=None, after=after),
        Owned(path="edit/a_test.go", owner=Owner.TEST, before=test, after=None),
        Owned(path="retime/a_test.go", owner=Owner.NEW_TEST, before=None, after=test.replace(b"edit", b"retime")),
        Owned(path="README.md", owner=Owner.SUBJECT, before=b"edit\n", after=b"retime\n"),
    ]
    assert set(moved_whole(moved)) == {"edit/a_test.go", "retime/a_test.go"}
    other = Owned(path="retime/a.go", owner=Owner.SUBJECT, before=None, after=after.replace(b"srt.Len(c)", b"0"))
    assert moved_whole([other if one.path == other.path else one for one in moved]) == ()
    data = Owned(path="edit/testdata/a.srt", owner=Owner.DATA, before=b"1\n", after=None)
    assert moved_whole([*moved, data]) == (), "data that went"
    there = Owned(path="retime/testdata/a.srt", owner=Owner.NEW_SUPPORT, before=None, after=b"1\n")
    assert "edit/testdata/a.srt" in moved_whole([*moved, data, there])


@pytest.mark.parametrize(
    ("change", "title", "accepted"),
    [
        pytest.param(MOVED, TITLE, True, id="moved"),
        pytest.param(MOVED, "hours() is wrong", False, id="nobody asked for it"),
        pytest.param(WRONG, TITLE, False, id="and altered"),
        pytest.param(WEAKER, TITLE, False, id="and its test weakened"),
    ],
)
async def test_what_moves_with_its_tests(
    tmp_path: Path, change: dict[str, str | None], title: str, accepted: bool
) -> None:
    done = await judged(tmp_path, BASE, change, NODE, title=title)
    assert done.accepted is accepted, done.reason
    assert accepted or done.proof is ProofVerdict.QUESTION, done.reason
