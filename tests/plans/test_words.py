"""Permissions from words: many wordings of one wish give one entry; what only sounds alike gives none."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings

from engine.core.grant_grammar import parse_entry
from engine.core.grants import GrantKind
from engine.core.harmless import HarmlessKind
from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.perform.checks.proof.file_grants import is_script
from engine.plans import render
from engine.plans.grant_lines import with_lines
from engine.plans.native import NATIVE
from engine.plans.words import Derived, derive, derive_task, with_derived
from tests.depth import examples
from tests.plans.samples import plans


def read(title: str, description: str = "", accept: tuple[str, ...] = (), scope: tuple[str, ...] = ()) -> list[str]:
    task = TaskSpec(id="1.1", title=title, description=description, accept=accept, scope=scope)
    lines = [one.line().removeprefix("allow: ") for one in derive_task(task)]
    return ["proof: none" if line.startswith("proof: none (") else line for line in lines]


NAMES = [("add", "plus"), ("handle_error", "process"), ("Cart", "Basket"), ("shop.cart.add", "shop.cart.put")]
RENAMES = [
    "Rename {a} to {b}",
    "Rename `{a}` to `{b}`",
    "Rename the function {a} to {b}",
    "Rename function `{a}()` to `{b}()`",
    "rename {a} into {b}",
    "Renaming the method {a} to {b}",
    "Change the name of {a} to {b}",
    "Rename class {a} -> {b}",
    "`{a}` should be called `{b}`",
    "`{a}` is renamed to `{b}`",
    "Rename the parameter {a} to {b} everywhere",
    "Please rename the public helper {a} to {b} in the API",
    "Call `{a}` `{b}` instead",
]


@pytest.mark.parametrize(("template", "names"), itertools.product(RENAMES, NAMES))
def test_a_rename(template: str, names: tuple[str, str]) -> None:
    old, new = names
    lines = read(template.format(a=old, b=new))
    assert f"rename {old} to {new}" in lines
    assert "change behaviour" not in lines


MOVES = [
    ("Move {a} to {b}", "shop/util.py", "shop/tools/util.py"),
    ("Move the module {a} into {b}", "shop.util", "shop.tools.util"),
    ("Relocate `{a}` to `{b}`", "shop.util", "shop.tools"),
    ("Move file {a} under {b}", "src/a.js", "src/lib/a.js"),
    ("Extract `{a}` into `{b}`", "slugify", "shop/text.py"),
    ("Extract the helper {a} into {b}", "slugify", "shop/text.py"),
    ("Move class {a} to {b}", "Cart", "shop.basket"),
]


@pytest.mark.parametrize(("template", "old", "new"), MOVES)
def test_a_move(template: str, old: str, new: str) -> None:
    lines = read(template.format(a=old, b=new))
    assert lines == [f"move {old} to {new}", "proof: none"]


def test_a_move_from_one_file_to_another() -> None:
    assert read("Move parse() from shop/a.py to shop/b.py")[0] == "move shop.a.parse to shop.b"
    assert read("Move `parse` from `shop.a` into `shop.b`")[0] == "move shop.a.parse to shop.b"


def test_a_place_of_its_own_is_what_it_is_called() -> None:
    assert read("Move `money` into a module of its own, shop/money.py")[0] == "move money to shop/money.py"
    assert read("Move parse_row to its own module parse.py")[0] == "move parse_row to parse.py"
    assert read("Move `money` to a file of its own called cash.py")[0] == "move money to cash.py"
    assert not any(one.startswith("move") for one in read("Move `money` into a module of its own"))


def test_what_is_needed_nowhere_and_told_to_go() -> None:
    assert read("Row.Even is used nowhere, remove it")[0] == "delete Row.Even"
    assert read("`old_sum` is unused: delete it")[0] == "delete old_sum"
    assert not any(one.startswith("delete") for one in read("the limit is never used, remove it"))


def test_what_a_tool_is_made_to_do_is_its_setting() -> None:
    assert "configure pytest" in read("make pytest fail on DeprecationWarnings")


DELETES = ["Delete {}", "Remove {}", "Drop {}", "Get rid of {}", "Delete the module {}", "Retire {}"]
DELETES += ["Remove the deprecated function {}"]
THINGS = ["old_sum", "`legacy`", "shop.legacy", "Cart.clear()", "shop/legacy.py", "getUserName"]


@pytest.mark.parametrize(("template", "name"), itertools.product(DELETES, THINGS))
def test_a_deletion_of_code(template: str, name: str) -> None:
    lines = read(template.format(name))
    assert f"delete {name.strip('`').removesuffix('()')}" in lines and "proof: none" in lines


@pytest.mark.parametrize(
    "title",
    [
        "Remove trailing whitespace from the output",
        "Remove the limit of ten items",
        "Delete duplicates from the result",
        "Drop support for Python 3.8",
        "Remove the user from the group when it leaves",
        "Drop every second line",
        "Deleting a cart deletes its items",
        "Users can delete their account",
        "Remove items with a price of zero",
        "Remove the option value from the answer",
    ],
)
def test_deleting_at_run_time_is_no_deletion_of_code(title: str) -> None:
    assert not [line for line in read(title) if line.startswith("delete")]
    assert "proof: none" not in read(title)


BEHAVIOUR = [
    "{f} returns a Decimal instead of a float",
    "Change the output of {f} to JSON",
    "Change the default timeout of {f}",
    "{f} should now raise KeyError",
    "{f} no longer strips blanks",
    "{f} now returns None for an empty cart",
    "Raise TypeError rather than ValueError in {f}",
    "Show prices with two decimals in {f}",
    "Make {f} case-insensitive",
    "Switch {f} from commas to semicolons",
    "Increase the default limit of {f}",
    "Replace the comma with a semicolon in {f}",
    "{f}: round half up instead of to even",
    "Return the result of {f} as a tuple",
]


@pytest.mark.parametrize(
    ("template", "name"), itertools.product(BEHAVIOUR, ["total", "`total()`", "shop.cart.total", "the report"])
)
def test_a_change_of_behaviour(template: str, name: str) -> None:
    lines = read(template.format(f=name))
    assert "change behaviour" in lines
    assert "proof: none" not in lines, "a change of behaviour can be shown"
    assert all(parse_entry(line)[0].kind is GrantKind.CHANGE_BEHAVIOUR for line in lines)


FIXES = [
    "Fix the crash of {f} on empty input",
    "{f} fails for negative numbers",
    "Handle None in {f}",
    "Add a --verbose option to {f}",
    "Implement {f}",
    "Validate the arguments of {f}",
    "Support YAML in {f}",
    "Add {f}",
    "Speed up {f}",
    "Cache the results of {f}",
    "Prevent two runs of {f} at once",
]


@pytest.mark.parametrize(("template", "name"), itertools.product(FIXES, ["total", "`total()`", "shop.cart.total"]))
def test_work_with_something_to_show_gets_nothing(template: str, name: str) -> None:
    assert read(template.format(f=name)) == []


NOTHING = [
    "Document the command line",
    "Fix typos in the README",
    "Add docstrings to {f}",
    "Update the changelog",
    "Refactor {f}",
    "Refactoring: split {f} in two",
    "Clean up {f}",
    "Simplify {f}",
    "Restructure the module of {f}",
    "Extract a helper out of {f}",
    "Reformat the code",
    "Sort the imports",
    "Add type hints to {f}",
    "Annotate {f}",
    "Bump requests to 2.32.1",
    "Upgrade the dependencies",
    "Add tests for {f}",
    "Increase test coverage of {f}",
    "Remove dead code in {f}",
    "Fix broken links in the documentation",
    "Update the CI workflow",
    "Deduplicate {f}",
]


@pytest.mark.parametrize(
    ("title", "moves"),
    [
        ("Move Parse and parseLine into parse.go", True),
        ("Move load(), save() and `check` to src/store.py", True),
        ("Move Parse and fix the crash in parse.go", False),
        ("Move money and goods to the till", False),
    ],
)
def test_several_names_that_move_to_a_file(title: str, moves: bool) -> None:
    assert ("proof: none" in read(title)) is moves


@pytest.mark.parametrize(("title", "name"), itertools.product(NOTHING, ["cart.py", "the parser"]))
def test_work_with_nothing_to_show(title: str, name: str) -> None:
    assert "proof: none" in read(title.format(f=name))


@pytest.mark.parametrize(
    "nothing", ["Refactor the parser", "Document the parser", "Add type hints", "Bump requests to 2.3"]
)
@pytest.mark.parametrize(
    "something",
    ["fix the crash on empty input", "implement retries", "handle None", "add a new option", "return early on errors"],
)
@pytest.mark.parametrize("joint", ["{} and {}", "{}, then {}", "{}; {}"])
def test_a_second_wish_wants_its_proof(nothing: str, something: str, joint: str) -> None:
    assert "proof: none" not in read(joint.format(nothing, something))
    assert "proof: none" not in read(joint.format(something.capitalize(), nothing[0].lower() + nothing[1:]))


def test_a_description_that_asks_for_more_wants_its_proof() -> None:
    assert "proof: none" not in read("Refactor the parser", "While there, fix the bug with empty input.")
    assert "proof: none" not in read("Clean up", accept=("must now return 401",))
    assert "proof: none" in read("Refactor the parser", "All tests pass as before.")


@pytest.mark.parametrize(
    ("title", "accept", "granted"),
    [
        ("Add take_last(n, iterable)", "take_last returns the last n items as a list", False),
        ("Add aiofiles.os.chmod", "aiofiles.os.chmod changes the mode of a file", False),
        ("Add `tail`", "`tail` returns the last items as a list", False),
        ("Add take_last(n, iterable)", "tail returns the last n items as a list", True),
        ("Make take_last a list", "take_last returns the last n items as a list", True),
    ],
)
def test_what_is_new_needs_no_permission_to_behave(title: str, accept: str, granted: bool) -> None:
    assert ("change behaviour" in read(title, accept=(accept,))) is granted


@pytest.mark.parametrize(
    ("accept", "granted"),
    [
        ("save indents by 2; the tests follow", True),
        ("its tests are adapted", True),
        ("the test changes with it", True),
        ("the tests pass", False),
        ("the tests are not changed", False),
        ("the tests are green", False),
    ],
)
def test_tests_that_follow_are_a_permission(accept: str, granted: bool) -> None:
    assert ("change behaviour" in read("JSON is indented by two", accept=(accept,))) is granted


@pytest.mark.parametrize(
    ("accept", "none"),
    [
        ("save(path, padding=0) pads each cell by that many blanks; without it nothing changes", False),
        ("Existing callers: nothing changes for them", False),
        ("nothing changes for existing callers", False),
        ("by default the output stays the same", False),
        ("the result is unchanged unless a limit is named", False),
        ("every path through it does what it did; nothing changes", True),
        ("Output stays byte for byte the same", True),
        ("the results must be the same", True),
        ("the results must be the same if there is no padding", False),
    ],
)
def test_nothing_changes_in_one_case_means_that_something_does_in_another(accept: str, none: bool) -> None:
    assert ("proof: none" in read("Let the writer take a padding", accept=(accept,))) is none


FILES = [
    "tests/golden/report.json",
    "tests/data/users.csv",
    "Makefile",
    "scripts/check.sh",
    "config/app.yaml",
    "ci.mk",
    "go.mod",
]
EDITS = ["Update {}", "Regenerate {}", "Edit {} so that it has the new field", "Add the new key to {}", "Adjust `{}`"]


@pytest.mark.parametrize(("template", "path"), itertools.product(EDITS, FILES))
def test_a_file_that_is_named_to_be_changed(template: str, path: str) -> None:
    assert f"edit {path}" in read(template.format(path))
    assert f"edit {path}" in read("Some title", template.format(path) + ".")
    assert f"edit {path}" in read("Some title", accept=(template.format(path),))


MENTIONS = [
    "Make the parser read {} as before",
    "Do not change {}",
    "Fix the parser without touching {}",
    "The format is described in {}",
    "Keep {} as it is",
    "Must not edit {}",
    "See {}",
    "Speed up what {} runs",
]


@pytest.mark.parametrize(("template", "path"), itertools.product(MENTIONS, FILES))
def test_a_file_that_is_only_mentioned(template: str, path: str) -> None:
    assert f"edit {path}" not in read(template.format(path))


def test_a_file_of_the_scope_is_named() -> None:
    assert read("Something", scope=("src/**", "tests/golden/a.json", "src/a.py")) == ["edit tests/golden/a.json"]


CONFIG = [
    ("Add a ruff rule for print statements", "ruff"),
    ("Enable mypy strict mode", "mypy"),
    ("Turn on the eslint rule no-console", "eslint"),
    ("Set ruff's line length to 120", "ruff"),
    ("Configure pytest markers", "pytest"),
    ("Raise the coverage threshold to 90", "coverage"),
    ("Adopt the strict preset of typescript", "typescript"),
    ("Make pyright strict", "pyright"),
    ("Add a rule to golangci-lint", "golangci-lint"),
]


@pytest.mark.parametrize(("title", "tool"), CONFIG)
def test_settings_of_a_tool(title: str, tool: str) -> None:
    assert f"configure {tool}" in read(title)


@pytest.mark.parametrize(
    "title",
    ["Fix the ruff warnings", "Make the tests pass under pytest 9", "Resolve mypy errors", "Use black on the code"],
)
def test_using_a_tool_is_not_configuring_it(title: str) -> None:
    assert not [line for line in read(title) if line.startswith("configure")]


@pytest.mark.parametrize(
    ("title", "entry"),
    [
        ("Silence E501 in shop/long.py", "suppress E501 in shop/long.py"),
        ("Ignore F401 in shop/__init__.py", "suppress F401 in shop/__init__.py"),
        ("Add a noqa for S603", "suppress S603"),
        ("Bump requests to 2.32", "change dependencies"),
        ("Upgrade the dependencies", "change dependencies"),
        ("Pin numpy to 1.26.4", "change dependencies"),
        ("Update requirements.txt", "change dependencies"),
        ("Add httpx to the dependencies", "change dependencies"),
        ("Regenerate the snapshots", "edit **/*.snap"),
        ("Update the golden files and tests", "edit **/golden/**"),
        ("Regenerate the expected output", "edit **/*expected*"),
        ("The stock.txt golden file shows the price on the right", "edit stock.txt"),
        ("Rework the tests in tests/test_cart.py", "edit tests tests/test_cart.py"),
        ("Delete tests/test_old.py", "delete tests tests/test_old.py"),
        ("Remove the test tests/test_a.py::test_x", "delete tests tests/test_a.py::test_x"),
        ("Remove the flag value (unknown from now on) and report.ByHost", "delete report.ByHost"),
        ("Rename test_a to test_b", "rename test test_a to test_b"),
    ],
)
def test_other_wordings(title: str, entry: str) -> None:
    assert entry in read(title)


@pytest.mark.parametrize(
    ("title", "description", "none"),
    [
        ("Check wrap with many texts", "A property test: no word is lost.", True),
        ("Two dashes inside a value stay as they are", "Add a test: --a=b--c gives b--c.", True),
        ("Show that amounts add up", "", True),
        ("The sum is wrong", "Add a test for it.", False),
        ("Splitting", "The test fails for 3.", False),
        ("Splitting", "It should give 34. Add tests for other amounts.", False),
    ],
)
def test_tests_alone_by_the_description(title: str, description: str, none: bool) -> None:
    assert ("proof: none" in read(title, description)) is none


DOMAIN = [
    "Money goes missing when a bill is {}",
    "The rover {}s the wrong way round",
    "Lines lose their indentation when they are {}ed",
    "{} bills evenly",
    "Users cannot {} a page",
    "tests/test_{}.py is red",
]


@pytest.mark.parametrize(("title", "word"), itertools.product(DOMAIN, ["split", "move", "extract", "format"]))
def test_the_words_of_a_program_order_nothing(title: str, word: str) -> None:
    """What the change itself cannot be held to has to be an order; in a bug report the same words are its subject."""
    task = TaskSpec(id="1.1", title=title.format(word), description="The sum must come out as 100.")
    assert [one.line() for one in derive_task(task) if not one.entry] == []


ALL = (
    [t.format(a=a, b=b) for t, (a, b) in itertools.product(RENAMES, NAMES)]
    + [t.format(n) for t, n in itertools.product(DELETES, THINGS)]
    + [t.format(f=n) for t, n in itertools.product([*BEHAVIOUR, *FIXES, *NOTHING], ["total", "the report"])]
    + [title for title, _ in CONFIG]
)


def test_every_line_is_an_entry_and_no_word_covers_a_script_it_does_not_name() -> None:
    for title in ALL:
        for line in read(title):
            if line == "proof: none":
                continue
            for grant in parse_entry(line):
                named = grant.kind is GrantKind.EDIT
                assert not named or grant.target in title or "snap" in grant.target
    assert is_script("Makefile")
    assert len(ALL) > 150


def plan(*tasks: TaskSpec) -> Plan:
    return Plan(title="P", phases=(PhaseSpec(id="1", title="T", tasks=tasks),))


def test_what_the_plan_says_stays_and_what_is_done_is_left_alone() -> None:
    made = plan(
        TaskSpec(id="1.1", title="Rename add to plus", allow=("rename add to plus",), proof="required"),
        TaskSpec(id="1.2", title="Rename add to plus", done=True),
        TaskSpec(id="1.3", title="Refactor the parser"),
    )
    assert derive(made) == (Derived(task="1.3", because="refactoring", kinds=(HarmlessKind.REFACTORING,)),)
    filled = with_derived(made, derive(made))
    assert [task.proof for task in filled.tasks()] == ["required", "", "none (refactoring)"]
    assert derive(filled) == ()


NATIVE_PLAN = """# P

- [ ] 1.1 Rename add to plus
  description: |
    Some text that goes on
      and is indented.
- [ ] 1.2 Refactor the parser
      deeper text without a field
      ```
      a fence
      ```

Prose at the margin.

- [ ] Update the docs\r
  accept:\r
    - fine\r
- [x] 1.9 Rename a to b
* [ ] 2.1 Remove `old_sum`"""


def test_the_lines_are_put_into_the_plan_in_place() -> None:
    read_plan = NATIVE.read(NATIVE_PLAN, "plan.md")
    lines = derive(read_plan)
    made = with_lines(NATIVE_PLAN, "plan.md", lines)
    assert NATIVE.read(made, "plan.md") == with_derived(read_plan, lines)
    shown = [task.proof for task in NATIVE.read(made, "plan.md").tasks()]
    assert shown == ["none (move)", "none (refactoring)", "none (docs)", "", "none (removal)"]
    written = made.replace("\r\n", "\n").split("\n")
    left = [line for line in written if not line.strip().startswith(("allow:", "proof:"))]
    assert [line for line in left if line] == [line for line in NATIVE_PLAN.replace("\r\n", "\n").split("\n") if line]
    assert derive(NATIVE.read(made, "plan.md")) == ()


@settings(max_examples=examples(60), deadline=None)
@given(plans())
def test_any_plan_takes_any_line(made: Plan) -> None:
    text = render(made)
    open_tasks = [task for task in made.tasks() if not task.done and not task.skipped]
    lines = [Derived(task=task.id, entry="edit tests/data.json") for task in open_tasks]
    kinds = tuple(HarmlessKind)
    lines += [Derived(task=task.id, kinds=kinds[:number]) for number, task in enumerate(open_tasks) if not task.proof]
    assert NATIVE.read(with_lines(text, "plan.md", lines), "plan.md") == with_derived(
        NATIVE.read(text, "plan.md"), lines
    )


OTHERS = {
    "format should be called humanize": ["rename format to humanize", "proof: none"],
    "call mkrev mkptr, people take it for another": ["rename mkrev to mkptr", "proof: none"],
    "tariff.Zone reads like a type, call it ZoneOf": ["rename tariff.Zone to ZoneOf", "proof: none"],
    "Call show what it is: format_amount": ["rename show to format_amount", "proof: none"],
    "Distance is the Manhattan distance: rename it to Manhattan": ["rename Distance to Manhattan", "proof: none"],
    "src/duration.js becomes src/time/duration.js": ["move src/duration.js to src/time/duration.js", "proof: none"],
    "test_sometimes fails now and then": ["edit tests test_sometimes"],
    "Depend on babel": ["change dependencies", "proof: none"],
    "The user should be called by name": ["change behaviour"],
    "Users should be called customers in the mail": ["change behaviour"],
    "A caterpillar becomes a butterfly": [],
    "Undo returns a text such as food": [],
    "Show that the cache is safe": [],
}  # fmt: skip


@pytest.mark.parametrize("title", OTHERS)
def test_looser_wordings(title: str) -> None:
    assert read(title) == OTHERS[title]


def test_a_golden_file_is_one_by_its_name() -> None:
    assert "edit guide.golden.md" in read("Tight tables", "Write it between the markers; regenerate guide.golden.md.")
    assert "edit guide.md" not in read("Tight tables", "Write it between the markers; regenerate guide.md.")


def test_a_golden_file_that_changes_along_is_named() -> None:
    assert "edit tests/golden/report.txt" in read(
        "The report ends with a total", "tests/golden/report.txt changes with it."
    )
    assert "edit tests/merged.json" in read("Sort the keys", "tests/merged.json has to be adapted.")
    assert read("The report ends with a total", "It is compared with tests/golden/report.txt in a test.") == []


def test_words_that_say_nothing_changes() -> None:
    assert read("Keep the balances in a dict", "Nothing that a user sees changes.") == ["proof: none"]
    assert read("Keep the balances in a dict", "Nothing else changes. An empty account should raise LookupError.") == []


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("The existing tests have to follow.", True),
        ("Adapt the old tests.", True),
        ("Some tests need to be adjusted", True),
        ("Do not change the existing tests.", False),
        ("Update tests for the parser", False),
        ("There are tests in tests/.", False),
    ],
)
def test_old_tests_may_follow_where_the_task_says_so(words: str, given: bool) -> None:
    assert ("change behaviour" in read("Totals with tax", words)) is given


@pytest.mark.parametrize(
    ("title", "about", "kind"),
    [
        ("refactor: total in one pass", "", True),
        ("perf(report): cache the rates", "", True),
        ("style: f-strings", "", True),
        ("perf: cache the rates", "It should return the old rate for an hour.", False),
        ("fix: total in one pass", "", False),
        ("feat: cache the rates", "", False),
    ],
)
def test_work_that_its_author_calls_work(title: str, about: str, kind: bool) -> None:
    assert ("proof: none" in read(title, about)) is kind


@pytest.mark.parametrize(
    ("title", "description", "waived"),
    [
        (
            "duration shows days",
            'From 24 hours on: `duration 90000` is "1d 1:00:00". Below that nothing changes.',
            False,
        ),
        ("round_time does not do what its docstring says", "round_time(62, 5) is 65, and 60 stays 60.", False),
        ("Refactor the parser", "parse('a') gives [1]", False),
        ("Refactor the parser", "parse('a') still gives [1].", True),
        ("README does not mention the option", "", True),
        ("Document round_time", "round_time(62, 5) is 65.", True),
    ],
)
def test_what_can_be_shown_is_not_waived_by_a_word(title: str, description: str, waived: bool) -> None:
    assert ("proof: none" in read(title, description)) is waived


@pytest.mark.parametrize(
    ("title", "description", "gives"),
    [
        ("show_day writes two digits", "1.7.2026 becomes 01.07.2026, so that lists line up.", ["change behaviour"]),
        ("Two digits", '"1 h" → "1:00", and so on', ["change behaviour"]),
        ("Which file is missing", '`x` says "no such file". It should say "cannot read x".', ["change behaviour"]),
        (
            "Better error for an unknown filter",
            '"no filter what" should list the filters there are.',
            ["change behaviour"],
        ),
        ("Clearer messages for bad dates", "", ["change behaviour"]),
        ("show_weight with one decimal only", "", ["change behaviour"]),
        ("Split it", "`weights.py` becomes a package `tariff.units`", []),
        ("The fixture", "`cfg` becomes `config`", []),
        ("Fix the total", '`total` says "3".', []),
        ("Add show_day", '`show_day` should say "01.07.2026"', []),
    ],
)
def test_what_comes_out_is_to_be_another_thing(title: str, description: str, gives: list[str]) -> None:
    assert [line for line in read(title, description) if line == "change behaviour"] == gives


def test_a_date_is_no_name_that_could_be_moved() -> None:
    lines = read("Dates", "1.7.2026 becomes 01.07.2026", ())
    assert not [line for line in lines if line.startswith(("move", "rename"))]


def test_a_file_of_data_may_end_in_anything() -> None:
    assert "edit tests/data/film.vtt" in read("Numbers above each cue", "As in SRT. Update tests/data/film.vtt.")
    assert not [line for line in read("Numbers", "Update src/titles/film.py.") if line.startswith("edit")]
    assert not [line for line in read("Numbers", "See tests/data/film.vtt.") if line.startswith("edit")]


def test_files_that_have_to_follow() -> None:
    told = read("A parcel costs 5.99 instead of 5.49", "Tests and tests/golden/invoice.txt have to follow.")
    assert told == ["change behaviour", "edit tests/golden/invoice.txt"]


@pytest.mark.parametrize("title", ["Make Cue a dataclass", "Turn Point into a frozen dataclass", "Make Colour an enum"])
def test_another_form_of_the_same_class_is_a_refactoring(title: str) -> None:
    task = TaskSpec(id="1.1", title=title, description="__init__ and __eq__ are written by hand.")
    assert "proof: none (refactoring)" in [one.line() for one in derive_task(task)]


@pytest.mark.parametrize(
    ("title", "follows"),
    [
        ("Show the form oldest first", True),
        ("fuel surcharge is rounded up, not down", True),
        ("search shouldn't care about upper and lower case", True),
        ("lint should print FILE:CUE: RULE: MESSAGE", True),
        ("plain style: more than three authors -> first author et al.", True),
        ("tscheck: tell errors from warnings", True),
        ("bill tenths of an hour instead of quarters", True),
        ("Remove the projects command", False),
        ("report crashes on an empty file", False),
        ("Add an option --csv", False),
        ("ticked items are back after a restart", False),
        ("Rename take to claim", False),
        ("Move the parser to its own module", False),
        ("hm() is in two programs, put it into lib", False),
        ("More tests for the parser", False),
        ("README: explain take --waste", False),
        ("total() is slow with many keys", False),
    ],
)
def test_old_tests_follow_where_something_is_to_be_another_way(title: str, follows: bool) -> None:
    """Shown to the user like every derived line, and only constants and arguments may follow, red on the base."""
    assert ("change behaviour" in read(title)) is follows


@pytest.mark.parametrize(
    "title", ["Remove the projects command", "drop the deprecated `strip` command", "Drop the QIF importer"]
)
def test_what_goes_may_be_said_behind_its_name(title: str) -> None:
    assert "proof: none" in read(title)


def test_a_tool_before_a_colon_is_what_is_to_be_configured() -> None:
    assert "configure pytest" in read("pytest: unknown markers and warnings should be errors")
    assert "configure pytest" not in read("The tests use pytest: see the README")
