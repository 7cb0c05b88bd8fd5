"""What needs no permission because it shows itself: stated values, grown data, stricter settings, documents."""

from __future__ import annotations

import ast

import pytest

from engine.core.harmless import HarmlessKind
from engine.core.model import TaskSpec
from engine.perform.checks.proof.data_grown import grown
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.found_names import FoundNames, find_names
from engine.perform.checks.proof.golden import stated, stated_test, stated_words
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import transform
from engine.perform.checks.proof.plain_changes import plain_kind
from engine.perform.checks.proof.strength import pool, pool_of_change, reached_functions, text_mutants, words_in
from engine.perform.checks.proof.stricter import stricter
from engine.perform.checks.proof.test_ids import covers_id
from engine.plans.leanings import about_elsewhere, asks_for_more, called, leans

REPORT = "account  balance\nfood      -15.00\nrent     -800.00\n"


@pytest.mark.parametrize(
    "after, text, fits",
    [
        (REPORT.replace("account  balance", "ACCOUNT  BALANCE"), 'The first line reads "ACCOUNT  BALANCE"', True),
        (REPORT.replace("account  balance", "ACCOUNT  BALANCE"), "Titles in capitals", True),
        (REPORT.replace("account  balance", "ACCOUNT  BALANCE"), "Titles should be nicer", False),
        (REPORT.replace("-15.00", "-15.01"), "Titles in capitals", False),
        (REPORT.replace("-15.00", "-15.01"), "food is at 15.01 now", True),
        (REPORT + "total    -815.00\n", "Print the total below", True),
        (REPORT + "debug 3\n", "Print the total below", False),
        (REPORT + "total    -800.00\n", "Print the total below", False),
        (REPORT + "total      2\n", "Print the total number of accounts below", True),
        (REPORT.replace("food      -15.00\n", ""), "Titles in capitals", False),
        (REPORT.replace("food      -15.00\n", ""), "The report is without food", True),
        ("account  balance\nrent     -800.00\nfood      -15.00\n", "Sort by size", False),
        ("account  balance\nrent     -800.00\nfood      -15.00\n", "Titles in capitals", False),
        (REPORT.replace("account  balance", "account   balance"), "Align the columns", False),
        (REPORT.replace("account  balance", "account balance").lower(), "Titles in capitals", False),
        ("ACCOUNT  BALANCE\nfood -15.00\nrent     -800.00\n", 'It reads "ACCOUNT  BALANCE"', False),
        (REPORT.replace(".", ","), "Use a comma for decimals", True),
        (REPORT.replace(".", ","), "Titles in capitals. And so on, please.", False),
        (REPORT.replace(".00", ".0"), "One decimal is enough", True),
    ],
)
def test_a_golden_file_follows_what_the_task_states(after, text, fits):
    assert stated(REPORT.encode(), after.encode(), text) is fits


def test_binary_new_and_deleted_files_state_nothing():
    assert not stated(b"\xff\xfe", b"\xff\xfd", "anything")
    assert not stated(None, b"a", "a") and not stated(b"a", None, "a")


@pytest.mark.parametrize(
    "old, new, text, fits",
    [
        ("assert f(1) == 2", "assert f(1) == 3", "f(1) should be 3", True),
        ("assert f(1) == 2", "assert f(1) == 3", "f(1) should be larger", False),
        ("assert f() == 'low: a'", "assert f() == 'running low: a'", 'It says "running low: a"', True),
        ("assert f() == 'low: a'", "assert f() == 'gone low: a'", 'It says "running low: a"', False),
        ("with raises(KeyError): f()", "with raises(ValueError): f()", "Raise ValueError", True),
        ("with raises(KeyError): f()", "with raises(Exception): f()", "Raise ValueError", False),
        ("with raises(IndexError): f()", "assert f() is None", "should return None instead of raising", True),
        ("assert f() is None", "assert f() is True", "f() should be faster", False),
        ("assert f(1) == 2", "got = f(1)\nassert got == 3", "f(1) should be 3", True),
        ("assert f(1) == 2", "assert f(1) == 2", "f(1) should be 3", False),
    ],
)
def test_an_edited_test_may_say_what_the_task_says(old, new, text, fits):
    assert stated_test([ast.parse(old)], [ast.parse(new)], text) is fits


def test_and_so_in_other_languages():
    old, new = ["assert", ".", "equal", "(", "f", "(", ")", ",", "'low'", ")"], ["'less'"]
    assert stated_words(old, [*old[:-2], "'less'", ")"], "f() says 'less'")
    assert not stated_words(old, [*old[:-2], "'none'", ")"], "f() says 'less'")
    assert not stated_words(old, old, "f() says 'less'") and new


def test_rows_beside_a_stated_value_may_hold_anything():
    old = ["{", "50", "*", "Hour", ",", '"50h"', "}", ","]
    more = ["{", "23", "*", "Hour", ",", '"23h"', "}", ","]
    new = [*more, *old[:5], '"2d 2h"', *old[6:]]
    assert stated_words(old, new, "50 hours should be 2d 2h")
    assert not stated_words(old, [*more, *old[:5], '"2d 3h"', *old[6:]], "50 hours should be 2d 2h")
    assert not stated_words(old, ["t", ".", "Skip", "(", ")", *new], "50 hours should be 2d 2h")


@pytest.mark.parametrize(
    "before, after, more",
    [
        ('[[1, "a"]]', '[[1, "a"], [2, "b"]]', True),
        ('[[1, "a"]]', '[[0, "z"], [1, "a"]]', True),
        ('[[1, "a"], [2, "b"]]', '[[1, "a"]]', False),
        ('[[1, "a"]]', '[[true, "a"], [3, "a"]]', False),
        ('{"a": 1}', '{"a": 1, "b": 2}', True),
        ('{"a": 1}', '{"a": 2, "b": 2}', False),
        ("a;1\nb;2\n", "a;1\nx;9\nb;2\n", True),
        ("a;1\nb;2\n", "b;2\na;1\n", False),
    ],
)
def test_data_that_has_only_grown(before, after, more):
    assert grown(before.encode(), after.encode()) is more


TOML = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n\n[tool.ruff.lint]\nselect = ["E", "F"]\nignore = ["E501"]\n'


@pytest.mark.parametrize(
    "old, new, more",
    [
        ('select = ["E", "F"]', 'select = ["E", "F", "B"]', True),
        ('select = ["E", "F"]', 'select = ["E"]', False),
        ('select = ["E", "F"]', 'select = ["B", "UP"]', False),
        ('ignore = ["E501"]', 'ignore = ["E501", "F"]', False),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\nmarkers = ["slow: takes long"]', True),
        ('testpaths = ["tests"]', 'testpaths = ["tests/a"]', False),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\naddopts = "--strict-markers -ra"', True),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\naddopts = "-k not_slow"', False),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\naddopts = "--ignore=tests/a"', False),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\nxfail_strict = true', True),
        ('testpaths = ["tests"]', 'testpaths = ["tests"]\nxfail_strict = false', False),
        ('ignore = ["E501"]\n', "", False),
        ('ignore = ["E501"]', 'ignore = ["E501"]\nexclude = ["src"]', False),
        ('ignore = ["E501"]\n', 'ignore = ["E501"]\n[tool.coverage.report]\nfail_under = 80\n', True),
        ('ignore = ["E501"]\n', 'ignore = ["E501"]\n[tool.mypy]\nstrict = true\n', True),
        ('ignore = ["E501"]\n', 'ignore = ["E501"]\n[tool.mypy]\nignore_errors = true\n', False),
        ('ignore = ["E501"]\n', "ignore = [\n", False),
    ],
)
def test_settings_that_ask_for_more_need_no_permission(old, new, more):
    assert old in TOML
    assert stricter("pyproject.toml", TOML.encode(), TOML.replace(old, new).encode()) is more


def test_ini_files_too():
    old = b"[pytest]\naddopts = -q\n"
    assert stricter("pytest.ini", old, b"[pytest]\naddopts = -q --strict-markers\nmarkers =\n    slow: long\n")
    assert not stricter("pytest.ini", old, b"[pytest]\naddopts = -q -x\n")
    assert not stricter("pytest.ini", old, None) and not stricter("Makefile", b"a:\n", b"a: b\n")


def owned(path: str, owner: Owner, before: str | None, after: str | None) -> Owned:
    return Owned(
        path=path,
        owner=owner,
        before=None if before is None else before.encode(),
        after=None if after is None else after.encode(),
    )


def kind(title: str, *changed: Owned, about: str = "") -> HarmlessKind | None:
    task = TaskSpec(id="1", title=title, description=about)
    files = {one.path for one in changed if one.after is not None}
    return plain_kind(task, changed, find_names(changed, files), True, files)


SOURCE = owned("src/a.py", Owner.SUBJECT, "def f():\n    return 1\n", "def f():\n    # one\n    return 1\n")
README = owned("README.md", Owner.SUBJECT, "a\n", "b\n")
TEST = owned("tests/test_a.py", Owner.NEW_TEST, None, "def test_a():\n    assert f() == 1\n")
MANIFEST = owned("package.json", Owner.SUBJECT, "{}", '{"engines": {}}')
OTHER = owned("src/a.py", Owner.SUBJECT, "def f():\n    return 1\n", "def f():\n    return 2\n")
DATA = owned("src/a.json", Owner.SUBJECT, "{}", '{"a": 1}')


def test_what_a_change_shows_itself_to_be():
    assert kind("Say in a comment why", SOURCE) is HarmlessKind.DOCS
    assert kind("README: installation", README, SOURCE) is HarmlessKind.DOCS
    assert kind("chore: tidy", README) is HarmlessKind.DOCS
    assert kind("add tests for f", TEST) is HarmlessKind.TESTS
    assert kind("Say which node we need", MANIFEST) is HarmlessKind.SETTINGS
    assert (
        kind("f becomes g", owned("a.py", Owner.SUBJECT, "def f():\n    return 1\n", "def g():\n    return 1\n"))
        is HarmlessKind.MOVE
    )


def test_and_what_it_does_not():
    assert kind("README: installation", README, OTHER) is None
    assert kind("add tests for f", TEST, OTHER) is None
    assert kind("A bill of 1.00 comes out as 0.33", README) is None
    assert kind("Fix crash when the README is read", README) is None
    assert kind("fix: the manual says so", README) is None
    assert kind("Splitting loses cents in tests", TEST) is None
    assert kind("Say which node we need", MANIFEST, DATA) is None
    assert kind("f becomes g", OTHER) is None
    told = 'def f():\n    """\n    >>> f()\n    1\n    """\n    return 1\n'
    example = owned("src/a.py", Owner.SUBJECT, told, told.replace("    1\n    ", "    2\n    "))
    assert kind("Better examples in the docs", example) is None
    assert kind("f is called wrongly", example) is None
    assert kind("f is called by its own name", SOURCE) is None


def test_a_remark_in_the_source_is_no_answer_to_criteria():
    task = TaskSpec(id="1", title="Pre-releases come before their release", accept=("1.0.0-rc1 is smaller than 1.0.0",))
    assert plain_kind(task, [SOURCE], find_names([SOURCE], {SOURCE.path}), True, {SOURCE.path}) is None
    chore = TaskSpec(id="1", title="chore: the newest first", accept=("the newest comes first",))
    assert plain_kind(chore, [SOURCE], find_names([SOURCE], {SOURCE.path}), True, {SOURCE.path}) is None
    remark = owned("src/a.py", Owner.SUBJECT, "x = 1\n", "x = 1  # pragma: no cover\n")
    assert kind("Coverage settings", remark) is HarmlessKind.SETTINGS
    assert kind("Coverage settings", SOURCE) is not HarmlessKind.SETTINGS


def test_a_file_with_a_dot_is_a_setting_too_and_says_nothing_of_the_program():
    ignored = owned(".gitignore", Owner.SUBJECT, "*.pyc\n", "*.pyc\n.coverage\n")
    assert kind("Config: git ignores .coverage", ignored) is HarmlessKind.SETTINGS
    assert kind("Splitting loses cents", ignored) is None


def test_words_lean():
    assert called("docs(api)!: more") == "docs" and called("No prefix here") == ""
    assert leans(HarmlessKind.REFACTORING, "perf: balance in one pass", "perf: balance in one pass")
    assert not leans(HarmlessKind.REFACTORING, "Make it faster", "Make it faster. It should return None for x.")
    assert asks_for_more("feat: docs") and not asks_for_more("an implementation detail")
    assert about_elsewhere("run it in CI") and not about_elsewhere("split a bill")


@pytest.mark.parametrize(
    ("kind", "title", "fits"),
    [
        (HarmlessKind.DOCS, "Headers are not sent", False),
        (HarmlessKind.DOCS, "Add a link to the profile", False),
        (HarmlessKind.DOCS, "Undo should say what it undid", False),
        (HarmlessKind.DOCS, "Fix a typo in the guide", True),
        (HarmlessKind.DOCS, "Explain the exit codes", True),
        (HarmlessKind.LAYOUT, "Strip trailing slashes", False),
        (HarmlessKind.LAYOUT, "Amounts in quotes count as nothing", False),
        (HarmlessKind.REFACTORING, "Refactor parse() to early returns", True),
        (HarmlessKind.REFACTORING, "Refactor parse(), which returns None today", False),
        (HarmlessKind.LAYOUT, "Sorted output", False),
        (HarmlessKind.LAYOUT, "Sort the imports", True),
        (HarmlessKind.TYPES, "Accept any iterable", False),
        (HarmlessKind.TYPES, "The content type is missing a charset", False),
        (HarmlessKind.TYPES, "Add types to the store", True),
        (HarmlessKind.SETTINGS, "Requests have timeouts", False),
        (HarmlessKind.SETTINGS, "A --currency option for the command line", False),
        (HarmlessKind.SETTINGS, "Release 3.1.0", True),
        (HarmlessKind.SETTINGS, "Run the tests on push", True),
        (HarmlessKind.SETTINGS, "ignore dist/ and build/", True),
    ],
)
def test_words_that_are_also_about_a_program_call_nothing_harmless(kind: HarmlessKind, title: str, fits: bool):
    """A README, a blank or an annotation under a title about behaviour is nothing done."""
    assert leans(kind, title, title) is fits


def test_a_unittest_id_is_the_same_test():
    assert covers_id("tests/test_a.py::A::test_x", "tests.test_a.A.test_x")
    assert covers_id("tests/test_a.py::A::test_x", "test_a.A.test_x")
    assert covers_id("tests/test_a.py::A", "tests.test_a.A.test_x")
    assert not covers_id("tests/test_a.py::A::test_x", "tests.test_a.A.test_xy")
    assert not covers_id("tests/test_a.py::A::test_x", "tests.test_a.B.test_x")


def test_data_that_moved_and_data_that_grew_ask_nothing():
    gone = owned("tests/golden/a.txt", Owner.DATA, "x\n", None)
    there = owned("tests/e2e/golden/a.txt", Owner.NEW_SUPPORT, None, "x\n")
    other = owned("tests/e2e/golden/a.txt", Owner.NEW_SUPPORT, None, "y\n")
    more = owned("tests/data.json", Owner.DATA, "[1]", "[1, 2]")

    def asked(*changed: Owned, broken: tuple[str, ...] = ()) -> list[str]:
        return [one.path for one in edit_questions(changed, (), transform({}, {}, changed, ()), (), broken)]

    assert asked(gone, there) == [] and asked(gone, other) == ["tests/golden/a.txt"]
    assert asked(more) == [] and asked(more, broken=("t",)) == ["tests/data.json"]


def test_mutants_of_what_tests_name():
    source = b"def f(a):\n    if a < 1:\n        raise ValueError('low')\n    return a\n\n\ndef g():\n    return 1\n"
    assert reached_functions(source, frozenset({"f"})) == {1, 2, 3, 4}
    whats = {one.what for one in text_mutants("m.py", source, {1, 2, 3, 4})}
    assert whats == {"'low' → 'low~'", "'low' → ''", "raise taken out", "a < 1 → False"}
    files = {"m.py": source, "tests/test_m.py": b"import m\n\n\ndef test_f():\n    assert m.f(1) == 1\n"}
    found = pool(files, ["tests/test_m.py"], words_in(["m.f(1) == 1"]), "seed")
    assert found and {one.path for one in found} == {"m.py"} and all(one.line <= 4 for one in found)
    assert pool(files, ["tests/test_other.py"], words_in(["m.f(1) == 1"]), "seed") == []
    handed = {
        "m/core.py": source,
        "m/__init__.py": b"from m.core import f\n",
        "tests/test_m.py": b"import m\n\n\ndef test_f():\n    assert m.f(1) == 1\n",
    }
    through = pool(handed, ["tests/test_m.py"], words_in(["m.f(1) == 1"]), "seed")
    assert {one.path for one in through} == {"m/core.py"}  # what a package hands on from its own modules
    touched = pool_of_change("m.py", source, source.replace(b"def g():", b"@cache\ndef g():"))
    assert touched and all(one.line > 4 for one in touched)


def test_a_document_that_says_what_the_title_says_is_no_setting() -> None:
    task = TaskSpec(id="1", title="code_ok() takes codes of any length")
    readme = Owned(
        path="README.md", owner=Owner.SUBJECT, before=b"# post\n", after=b"# post\n\nPost codes have five digits.\n"
    )
    assert plain_kind(task, [readme], FoundNames(), False, {"README.md"}) is None


A_TEST = "def test_a():\n    box = Box(2)\n    assert box.f(1) == 2\n"


@pytest.mark.parametrize(
    ("now", "fits"),
    [
        (A_TEST.replace("== 2", "== 3") + "    assert box.f(7) == 9\n", True),
        (A_TEST.replace("== 2", "== 4") + "    assert box.f(1) == 3\n", False),
        (A_TEST.replace("== 2", "== 3") + "    box.f = lambda n: 9\n", False),
        (A_TEST.replace("    assert box.f(1) == 2", "    assert box.f(1) >= 0\n    assert box.f(1) == 3"), False),
    ],
)
def test_assertions_beside_a_stated_one_may_say_anything(now, fits):
    assert stated_test(ast.parse(A_TEST).body, ast.parse(now).body, "f(1) should be 3") is fits


A_FORM = "def test_form():\n    assert form(results, 'A') == 'WL'\n    assert rows() == [('a', 1), ('b', 2)]\n"


@pytest.mark.parametrize(
    ("now", "text", "fits"),
    [
        (A_FORM.replace("'WL'", "'LW'"), "Show the form oldest first", True),
        (A_FORM.replace("('a', 1), ('b', 2)", "('b', 2), ('a', 1)"), "rows() in reverse order", True),
        (A_FORM.replace("'WL'", "'LW'"), "Show the form", False),
        (A_FORM.replace("'WL'", "'LL'"), "Show the form oldest first", False),
        (A_FORM.replace("('b', 2)", "('b', 3)"), "rows() in reverse order", False),
        (A_FORM.replace("form(results, 'A')", "form('A', results)"), "Show the form oldest first", False),
    ],
)
def test_a_task_about_an_order_may_turn_what_old_tests_expect(now, text, fits):
    assert stated_test(ast.parse(A_FORM).body, ast.parse(now).body, text) is fits
