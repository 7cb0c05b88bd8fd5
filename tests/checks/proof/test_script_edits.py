"""Tests that are functions of a script, and files of tests that go with what they tested. Pure."""

from __future__ import annotations

import pytest

from engine.core.grant_grammar import grants_of
from engine.core.harmless import HarmlessKind
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.found_names import FoundNames
from engine.perform.checks.proof.harmless import Source, outside
from engine.perform.checks.proof.names_only import names_only
from engine.perform.checks.proof.narrow import Source as Changed
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import Transformed, transform
from engine.perform.checks.proof.set_by_tests import set_by_tests
from engine.perform.checks.proof.test_shape import EditKind

TESTS = """#!/usr/bin/env bash
source ./lib.sh

test_top() {
    source "$HERE/lib.sh"
    equal "$(tool top x.log)" "a 2"
}

test_slow() {
    equal "$(tool slow x.log 100)" "b"
}
"""
TOOL = '#!/usr/bin/env bash\ncase $1 in\n    top) top "$2" ;;\n    slow) slow "$2" ;;\nesac\n'


def owned(path: str, before: str | None, after: str | None, owner: Owner) -> Owned:
    texts = (None if text is None else text.encode() for text in (before, after))
    return Owned(path=path, owner=owner, before=next(texts), after=next(texts))


def transformed(tests_now: str | None, tool_now: str, allow: tuple[str, ...]) -> tuple[Transformed, list[str]]:
    changed = [
        owned("tests/run.sh", TESTS, tests_now, Owner.TEST),
        owned("bin/tool", TOOL, tool_now, Owner.SUBJECT),
    ]
    base = {one.path: one.before or b"" for one in changed}
    after = {one.path: one.after for one in changed if one.after is not None}
    done = transform(base, after, changed, grants_of(allow))
    return done, [one.rule for one in edit_questions(changed, grants_of(allow), done)]


WITHOUT_SLOW = TOOL.replace('    slow) slow "$2" ;;\n', "")
LESS = TESTS[: TESTS.index("\ntest_slow")]


def test_a_command_that_goes_takes_its_own_tests_and_no_others() -> None:
    done, asked = transformed(LESS, WITHOUT_SLOW, ("delete slow",))
    assert done.dropped == ("tests/run.sh::test_slow",)
    assert b"test_top" in (done.files["tests/run.sh"] or b"")
    assert asked == []
    without = LESS.replace('    equal "$(tool top x.log)" "a 2"\n', "")
    assert transformed(without, WITHOUT_SLOW, ("delete slow",))[1] == ["test-changed"]


def test_a_command_that_stays_keeps_its_tests() -> None:
    done, asked = transformed(LESS, TOOL.replace("top)", "top|t)"), ("delete slow",))
    assert done.dropped == ()
    assert asked == ["test-changed"]


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        pytest.param(TESTS.replace('"a 2"', '"a: 2"'), EditKind.SAME_SHAPE, id="another expected text"),
        pytest.param(TESTS.replace('"a 2"', '"$(tool top x.log)"'), EditKind.CHANGED, id="what comes out is expected"),
        pytest.param(TESTS.replace("equal", "differs", 1), EditKind.CHANGED, id="another comparison"),
        pytest.param(
            TESTS + '\ntest_more() {\n    source "$HERE/lib.sh"\n    equal "$(tool top y.log)" "c 1"\n}\n',
            EditKind.STRONGER,
            id="a test that takes from a file what another one takes",
        ),
        pytest.param(
            TESTS + '\ntest_more() {\n    source "$HERE/mine.sh"\n    equal "$(tool top y.log)" "c 1"\n}\n',
            EditKind.CHANGED,
            id="a test that takes from another file",
        ),
    ],
)
def test_how_a_script_of_tests_was_edited(now: str, kind: EditKind) -> None:
    assert [edit.kind for edit in transformed(now, TOOL, ())[0].edits] == [kind]


def test_a_changed_text_follows_a_change_of_behaviour_that_the_plan_names() -> None:
    now = TESTS.replace('"a 2"', '"a: 2"')
    done, asked = transformed(now, TOOL.replace("top)", "top|t)"), ("change behaviour",))
    assert done.waives("tests/run.sh")
    assert asked == []
    assert transformed(now, TOOL.replace("top)", "top|t)"), ())[1] == ["test-changed"]


JS = (
    "import { test } from 'node:test';\nimport { Cache } from '../src/cache.js';\n\n"
    "test('keeps', () => {\n  assert.equal(new Cache(2).size, 2);\n});\n"
)


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        pytest.param("", [], id="all of its tests are of what is gone"),
        pytest.param("\ntest('other', () => {\n  assert.equal(1 + 1, 2);\n});\n", ["test-gone"], id="one is of else"),
    ],
)
def test_a_file_of_tests_goes_with_the_module(more: str, asked: list[str]) -> None:
    changed = [
        owned("test/cache.test.js", JS + more, None, Owner.TEST),
        owned("src/cache.js", "export class Cache {}\n", None, Owner.SUBJECT),
    ]
    base = {one.path: one.before or b"" for one in changed}
    allow = grants_of(["delete src/cache.js"])
    done = transform(base, {}, changed, allow)
    assert (done.files.get("test/cache.test.js", b"") is None) is (not more)
    assert [one.rule for one in edit_questions(changed, allow, done)] == asked


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("#!/bin/sh\nrun\n", "#!/bin/sh\n# What it does.\nrun\n", True),
        ("#!/bin/sh\nrun\n", "#!/bin/bash\nrun\n", False),
        ("run\n", "run # why\n", False),
        ("run <<X\n# a\nX\n", "run <<X\n# b\nX\n", False),
        ("run\nrun\n", "run\n", False),
    ],
)
def test_remarks_in_a_script(before: str, after: str, same: bool) -> None:
    file = Source(path="lib/a.sh", before=before.encode(), after=after.encode())
    assert (outside([HarmlessKind.DOCS], [file]) == "") is same


def test_functions_of_a_script_that_stand_in_another_file() -> None:
    parts = ["one() {\n    echo 1\n}\n", "two() {\n    echo 2\n}\n"]
    changed = [
        owned("lib/a.sh", "".join(parts), parts[0], Owner.SUBJECT),
        owned("lib/b.sh", None, "# The second.\n\n" + parts[1], Owner.SUBJECT),
        owned("bin/x.sh", "source lib/a.sh\none\n", "source lib/a.sh\nsource lib/b.sh\none\n", Owner.SUBJECT),
    ]
    assert names_only(changed, FoundNames(), {"lib/a.sh", "bin/x.sh"})
    other = owned("lib/b.sh", None, parts[1].replace("2", "3"), Owner.SUBJECT)
    assert not names_only([changed[0], other, changed[2]], FoundNames(), {"lib/a.sh", "bin/x.sh"})


READS = 'first() {\n    awk \'$1 > day || ENVIRON["DATA"] != ""\'\n}\n'
RUNNER = {"tests/run.sh": b'export DATA=tests/data\nPATH=x:$PATH\nexport PATH\n"$test"\n'}


@pytest.mark.parametrize(
    ("after", "others", "words", "asked"),
    [
        pytest.param(READS, (), "Fix first", ["detects-tests"], id="only the runner of the tests sets it"),
        pytest.param('first() {\n    [ -n "${DATA:-}" ]\n}\n', (), "Fix first", ["detects-tests"], id="by the shell"),
        pytest.param(READS, (b"echo $DATA",), "Fix first", [], id="the program knew it"),
        pytest.param(READS, (), "Read the folder DATA", [], id="the task speaks of it"),
        pytest.param("first() {\n    echo DATA $PATH\n}\n", (), "Fix first", [], id="a word, and what every shell has"),
    ],
)
def test_variables_that_only_tests_set(after: str, others: tuple[bytes, ...], words: str, asked: list[str]) -> None:
    changed = [Changed(path="lib/a.sh", before=b"first() {\n    awk\n}\n", after=after.encode())]
    assert [one.rule for one in set_by_tests(changed, others, RUNNER, words)] == asked


@pytest.mark.parametrize(
    ("path", "text", "read"),
    [
        ("a.py", "import os\nX = os.environ.get('SHOP_TESTS')\n", True),
        ("a.js", "const x = process.env.SHOP_TESTS;\n", True),
        ("a.go", 'var x = os.Getenv("SHOP_TESTS")\n', True),
        ("a.py", "X = 'SHOP_TESTS'\n", False),
    ],
)
@pytest.mark.parametrize(
    "told",
    [
        b"os.environ['SHOP_TESTS'] = '1'\n",
        b"process.env.SHOP_TESTS = '1';\n",
        b'monkeypatch.setenv("SHOP_TESTS", "1")\n',
        b"test:\n\tSHOP_TESTS=1 pytest\n",
    ],
)
def test_in_other_languages_too(path: str, text: str, read: bool, told: bytes) -> None:
    changed = [Changed(path=path, before=b"", after=text.encode())]
    assert bool([*set_by_tests(changed, (), {"tests/x": told}, "")]) is read
