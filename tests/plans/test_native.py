"""plan.md: what a hand writes is understood, what is wrong is named with its line, and marking keeps every byte."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.model import TaskSpec
from engine.plans import PlanRefused
from engine.plans.native import BOX, NATIVE, _named
from engine.plans.outline import outline
from tests.depth import examples

FULL = """\
# Add login

Status: APPROVED
Topic: User auth

Why we do this.

## Phase 1: Models (scaffold)

- [x] 1.1 User model
  description: A user has an email
    and a password hash.

    ```python
    - [ ] 9.9 not a task
    ## Phase 9: not a phase
    ```
  accept:
    - emails are unique
    - [ ] hashes use argon2
      and nothing else
  scope: src/{a,b}/**, `tests/`
  verify: `pytest -q`
  priority: high
  complexity: 5/14
  agent: sonnet
  allow: delete-tests

## Phase 2: Login
- [ ] 2.1 Login page
  depends: 1.1
"""


def one(text: str) -> TaskSpec:
    return NATIVE.read(text, "plan.md").tasks()[0]


def test_a_full_plan_is_read():
    plan = NATIVE.read(FULL, "plan.md")
    assert (plan.title, plan.status, plan.topic, plan.summary) == (
        "Add login",
        "APPROVED",
        "user-auth",
        "Why we do this.",
    )
    assert [(phase.id, phase.title, phase.scaffold) for phase in plan.phases] == [
        ("1", "Models", True),
        ("2", "Login", False),
    ]
    first, second = plan.tasks()
    assert first.description == (
        "A user has an email\nand a password hash.\n\n```python\n- [ ] 9.9 not a task\n## Phase 9: not a phase\n```"
    )
    assert first.accept == ("emails are unique", "hashes use argon2 and nothing else")
    assert first.scope == ("src/{a,b}/**", "tests/**")
    assert (first.verify, first.priority, first.complexity) == (("pytest -q",), 10, 5)
    assert (first.agent, first.allow, first.done) == ("sonnet", ("delete-tests",), True)
    assert (second.depends_on, second.done) == (("1.1",), False)


FORGIVEN = [
    pytest.param("- [ ] 1.2 Title", "1.2", "Title", id="plain"),
    pytest.param("* [ ] **1.2** Title", "1.2", "Title", id="bold id, star"),
    pytest.param("+ [ ] **1.2:** Title", "1.2", "Title", id="bold id with colon"),
    pytest.param("- [ ] **1.2 Title**", "1.2", "Title", id="all bold"),
    pytest.param("- [ ] `1.2` Title", "1.2", "Title", id="code id"),
    pytest.param("- [ ] T1.2: Title", "1.2", "Title", id="T prefix"),
    pytest.param("- [ ] Task 1.2 — Title", "1.2", "Title", id="Task prefix and dash"),
    pytest.param("1. [ ] 1.2) Title", "1.2", "Title", id="numbered bullet"),
    pytest.param("- [ ] 3. Title", "3", "Title", id="whole number with a dot"),
    pytest.param("- [ ] US-007: Title", "US-007", "Title", id="key"),
    pytest.param("- [ ] UTF-8 in names", "1.1", "UTF-8 in names", id="a word that looks like a key"),
    pytest.param("- [ ] 3 retries on failure", "1.1", "3 retries on failure", id="a title that starts with a number"),
    pytest.param("- [] Title", "1.1", "Title", id="empty box"),
    pytest.param("-\t[ ]\t1.2\tTitle", "1.2", "Title", id="tabs"),
    pytest.param("  - [ ] 1.2 Title  ", "1.2", "Title", id="indented, trailing blanks"),
    pytest.param("- [ ] `code` first", "1.1", "`code` first", id="code in title"),
    pytest.param("- [ ] 1.2 Evil \x1b[31mred\u202e", "1.2", "Evil red", id="escape sequences go"),
]


@pytest.mark.parametrize(("line", "task_id", "title"), FORGIVEN)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["", "bom"])
def test_tasks_are_read_forgivingly(line, task_id, title, end, bom):
    task = one(f"{bom}# X{end}{end}{line}{end}")
    assert (task.id, task.title) == (task_id, title)


FIELDS = [
    pytest.param("  scope: a/**", {"scope": ("a/**",)}, id="plain"),
    pytest.param("\tscope:\ta/**", {"scope": ("a/**",)}, id="tab"),
    pytest.param("  - **Scope:** a/**", {"scope": ("a/**",)}, id="bullet and bold"),
    pytest.param("  **scope**: `a/**` , b", {"scope": ("a/**", "b")}, id="bold name, commas"),
    pytest.param("scope: a/**", {"scope": ("a/**",)}, id="not indented"),
    pytest.param("  Depends On: none", {"depends_on": ()}, id="depends none"),
    pytest.param("  accept: one\n    goes on", {"accept": ("one goes on",)}, id="criterion on two lines"),
    pytest.param("  accept:\n  - one\n  - two", {"accept": ("one", "two")}, id="list not deeper than its field"),
    pytest.param("  accept:\n    one\n    two", {"accept": ("one", "two")}, id="criteria without bullets"),
    pytest.param("  accept:\n    - scope: x", {"accept": ("scope: x",)}, id="an item that looks like a field"),
    pytest.param("accept:\n- one\n- two", {"accept": ("one", "two")}, id="field and list at the margin"),
    pytest.param(
        "  verify:\n    ```\n    make a\n    make b\n    ```", {"verify": ("make a", "make b")}, id="fenced commands"
    ),
    pytest.param(
        "  verify: make a\n  Words after.",
        {"verify": ("make a",), "description": "Words after."},
        id="prose is no command",
    ),
    pytest.param("  accept:\n    - [ ] one\n    - [x] two", {"accept": ("one", "two")}, id="criteria with boxes"),
    pytest.param(
        "  verify:\n    - []\n    - [ 1 ] && make", {"verify": ("[]", "[ 1 ] && make")}, id="brackets, no box"
    ),
    pytest.param("  Some words.\n\n  More.", {"description": "Some words.\n\nMore."}, id="text without a name"),
    pytest.param("  description: |\n    scope: x\n    ```", {"description": "scope: x\n```", "scope": ()}, id="block"),
    pytest.param(
        "  - [ ] a step\n  - [x] another", {"description": "- [ ] a step\n- [x] another"}, id="steps below a task"
    ),
    pytest.param("  Note: mind the gap", {"description": "Note: mind the gap"}, id="a sentence with a colon"),
    pytest.param("  priority: P1", {"priority": 10}, id="P1"),
    pytest.param("  priority: -3", {"priority": -3}, id="number"),
    pytest.param("  complexity: complex", {"complexity": 11}, id="tier"),
    pytest.param("  <!-- scope: x -->", {"scope": (), "description": ""}, id="commented out"),
    pytest.param("  <!--\n  scope: x\n  -->\n  priority: low", {"scope": (), "priority": -10}, id="commented lines"),
    pytest.param("\n  scope: a/**", {"scope": ("a/**",)}, id="after an empty line"),
]


@pytest.mark.parametrize(("text", "values"), FIELDS)
def test_fields_are_read_forgivingly(text, values):
    task = one(f"# X\n- [ ] 1.1 Title\n{text}\n")
    assert {name: getattr(task, name) for name in values} == values


def test_phase_dependencies_mean_its_tasks():
    plan = NATIVE.read(
        "# X\n## Phase 1: A\n- [ ] 1.1 a\n- [ ] 1.2 b\n## Phase 2: B\n- [ ] 2.1 c\n  depends: Phase 1\n", "p"
    )
    assert plan.tasks()[2].depends_on == ("1.1", "1.2")


def test_ids_are_given_by_place_and_leave_the_written_ones_alone():
    plan = NATIVE.read("# X\n## Phase 1: A\n- [ ] a\n- [ ] 1.2 b\n- [ ] c\n## More\n- [ ] d\n", "p")
    assert [task.id for task in plan.tasks()] == ["1.1", "1.2", "1.3", "2.1"]


def test_prose_headings_are_no_phases():
    plan = NATIVE.read(
        "# X\n## Background\n- 3.11 is needed\n## Phase 1: A\n### Notes\n- [ ] 1.1 a\n## Risks\ntext\n", "p"
    )
    assert [(phase.id, phase.title) for phase in plan.phases] == [("1", "A")]


REFUSED = [
    pytest.param("", 0, "no tasks", id="nothing"),
    pytest.param("# X\n\nonly prose\n", 0, "no tasks", id="no tasks"),
    pytest.param("# X\n- [ ] 1.1\n", 2, "has no title", id="no title"),
    pytest.param("# X\n- [?] 1.1 a\n", 2, "unknown mark [?]", id="mark"),
    pytest.param("# X\nStatus: soon\n- [ ] 1.1 a\n", 2, "unknown status soon", id="status"),
    pytest.param("# X\n- [ ] 1.1 a\n  complexity: 15\n", 3, "complexity 15", id="complexity too high"),
    pytest.param("# X\n- [ ] 1.1 a\n  complexity: -1\n", 3, "complexity -1", id="complexity negative"),
    pytest.param("# X\n- [ ] 1.1 a\n  complexity: nan\n", 3, "complexity nan", id="complexity nan"),
    pytest.param("# X\n- [ ] 1.1 a\n  complexity:\n", 3, "complexity is empty", id="complexity empty"),
    pytest.param("# X\n- [ ] 1.1 a\n  priority: soon\n", 3, "priority soon", id="priority"),
    pytest.param("# X\n- [ ] 1.1 a\n  priority: 1\n  priority: 2\n", 4, "priority: twice", id="twice"),
    pytest.param("# X\n- [ ] 1.1 a\n  acept: x\n", 3, "unknown field acept:", id="misspelt field"),
    pytest.param("# X\n- [ ] 1.1 a\n  scope: ../x\n", 3, "leads out of the repository", id="scope up"),
    pytest.param("# X\n- [ ] 1.1 a\n  scope: /etc\n", 3, "leads out of the repository", id="scope absolute"),
    pytest.param("# X\n- [ ] 1.1 a\n  verify: make\n    and look\n", 4, "a loose line below verify:", id="loose line"),
    pytest.param("# X\n- [ ] 1.1 a\n  - [ ] 1.1.1 b\n", 3, "a task below another task", id="nested task"),
    pytest.param("# X\n## Phase 1: A\n- 1.1 a\n- [ ] 1.2 b\n", 3, "a task without its checkbox", id="no checkbox"),
    pytest.param("# X\n## Phase 1: A\n## Phase 2: B\n- [ ] 2.1 b\n", 2, "phase 1 has no tasks", id="empty phase"),
    pytest.param(
        "# X\n## Phase 1: A\n- [ ] a\n## Phase 1: B\n- [ ] b\n", 4, "phase 1 is there already", id="phase twice"
    ),
    pytest.param("# X\n```\n- [ ] 1.1 a\n", 2, "fence is never closed", id="open fence"),
    pytest.param("# X\n- [ ] 1.1 a\n<!-- foo\n", 3, "comment is never closed", id="open comment"),
]


@pytest.mark.parametrize(("text", "line", "words"), REFUSED)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_is_wrong_is_named_with_its_line(text, line, words, end):
    with pytest.raises(PlanRefused) as refused:
        NATIVE.read(text.replace("\n", end), "my/plan.md")
    error = next(error for error in refused.value.errors if words in error.what)
    assert (error.line, error.source) == (line, "my/plan.md")
    assert error.expected and error.what in str(refused.value)


def test_an_unknown_dependency_names_the_nearest_id():
    with pytest.raises(PlanRefused) as refused:
        NATIVE.read("# X\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] AUTH-12: c\n  depends: AUTH-21\n", "p")
    assert refused.value.errors[0].fix == "depends: AUTH-12"


LINES = [
    "# Title", "Status: DRAFT", "**Status**: in progress", "Topic: x", "## Phase 1: A", "## Phase 2: B (scaffold)",
    "## Notes", "- [ ] 1.1 One", "- [x] 1.2 Two", "* [-] **2.1** Three", "1. [~] Four", "- [] Five", "-\t[!] Six é漢",
    "  - [ ] nested", "\tscope: a/**", "  accept:", "    - crit", "  depends: 1.1", "  description: |",
    "    - [ ] 1.1 fake",
    "  verify: `make`", "```", "  ```py", "<!-- x", "-->", "", "   ", "prose  ", "- plain", "\u2028- [ ] odd",
    "\x0b", "- [ ]",
]  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\r\n", "\r", "  \n"])), max_size=25),
    st.booleans(),
    st.booleans(),
    st.sampled_from(sorted(BOX)),
)
@settings(max_examples=examples(400), deadline=None)
def test_marking_changes_the_box_and_no_other_byte(lines, bom, cut, status):
    text = ("\ufeff" if bom else "") + "".join(line + end for line, end in lines)
    text = text.rstrip("\r\n") if cut else text
    named = list(_named(outline(text, "p")))
    ids = [task_id for _, _, task_id, _ in named]
    for _, item, task_id, _ in named:
        if ids.count(task_id) > 1:
            continue
        marked = NATIVE.mark(text, {task_id: status})
        start, end = item.box
        assert text[start - 1] == "[" and text[end] == "]" and "[" not in text[start:end]
        assert marked[:start] == text[:start] and marked[start + 1 :] == text[end:]
        assert marked[start] == BOX[status]
        again = list(_named(outline(marked, "p")))
        assert [task_id for _, _, task_id, _ in again] == ids
        assert [t.status for _, t, found, _ in again if found == task_id] == [status]
        assert [t.status for _, t, found, _ in again if found != task_id] == [
            t.status for _, t, found, _ in named if found != task_id
        ]


@given(st.text(st.sampled_from("#-*[]x ~!`\n\r\t:.1aT|<>é\ufeff"), max_size=80))
@settings(max_examples=examples(500), deadline=None)
def test_any_text_is_read_or_refused(text):
    try:
        plan = NATIVE.read(text, "p.md")
    except PlanRefused as refused:
        assert refused.errors and all(error.expected or error.what for error in refused.errors)
    else:
        assert plan.tasks() and NATIVE.read(text, "p.md") == plan


STATUS_LINES = [
    pytest.param("Status: DRAFT", "Status: COMPLETE", id="plain"),
    pytest.param("**Status**: in progress (soon)  ", "**Status**: COMPLETE (soon)  ", id="two words, a remark, blanks"),
    pytest.param("status:draft", "status:COMPLETE", id="no blank"),
    pytest.param("- Status: `Approved`", "- Status: `COMPLETE`", id="code in a list"),
    pytest.param("no status here", "no status here", id="none"),
]


@pytest.mark.parametrize(("line", "wanted"), STATUS_LINES)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_the_status_word_alone_changes(line, wanted, end):
    text = f"\ufeff# X{end}{line}{end}{end}- [ ] 1.1 a  {end}  Status: DRAFT"
    marked = NATIVE.mark_plan(text, "COMPLETE")
    assert marked == text.replace(line, wanted, 1)
    assert NATIVE.read(marked, "p").status == ("COMPLETE" if line != wanted else "APPROVED")


def test_a_commented_task_is_no_task():
    plan = NATIVE.read("# X\n- [ ] 1.1 a\n<!--\n- [ ] 1.2 b\n-->\n<!-- - [ ] 1.3 c -->\n", "p")
    assert [task.id for task in plan.tasks()] == ["1.1"]
