"""One suite over the plans of other tools: real-world-shaped files are read, explained, and marked in place only."""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.plans.native import NATIVE
from engine.plans.plan_format import TASK_STATUSES, PlanRefused
from engine.plans.registry import FOREIGN, foreign_format
from engine.plans.write import render
from tests.depth import examples

FOLDER = Path(__file__).parent / "foreign"
SAMPLES = sorted(path for path in FOLDER.glob("*/*") if path.is_file())
EACH = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")


def form_of(path: Path):
    return next(form for form in FOREIGN if form.name == path.parent.name)


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def named(path: Path) -> Path:
    """As the tool calls it: the samples of one format lie side by side under other names."""
    fixed = {"kiro": ".kiro/specs/x/tasks.md", "openspec": "openspec/changes/two-factor/tasks.md"}
    return Path(fixed.get(path.parent.name, path.name))


def test_every_format_has_three_samples() -> None:
    assert {form.name for form in FOREIGN} == {path.parent.name for path in SAMPLES}
    for form in FOREIGN:
        assert len(list((FOLDER / form.name).iterdir())) >= 3, form.name


@EACH
def test_a_sample_is_taken_for_what_it_is_and_explained(path: Path) -> None:
    form, text = form_of(path), text_of(path)
    assert foreign_format(named(path), text) is form
    plan, said = form.parse(text, str(named(path)))
    assert plan.tasks() and said.understood and plan.title
    ids = [task.id for task in plan.tasks()]
    assert len(set(ids)) == len(ids)
    assert form.read(text, str(named(path))) == plan, "the same text gives the same plan"


@EACH
def test_plan_md_says_the_same(path: Path) -> None:
    """What a sprint is made from: the same tasks, criteria, dependencies and commands."""
    plan = form_of(path).read(text_of(path), str(named(path)))
    again = NATIVE.read(render(plan), "plan.md")
    for task, other in zip(plan.tasks(), again.tasks(), strict=True):
        assert (task.id, task.title, task.accept, task.depends_on, task.verify) == (
            other.id, other.title, other.accept, other.depends_on, other.verify,
        )  # fmt: skip
        assert (task.done, task.skipped) == (other.done, other.skipped)


@EACH
def test_marking_one_task_changes_it_and_nothing_else(path: Path) -> None:
    form, text = form_of(path), text_of(path)
    plan = form.read(text, "x")
    for task in plan.tasks():
        for status in TASK_STATUSES:
            marked = form.mark(text, {task.id: status})
            wanted = replace(task, done=status == "done", skipped=status == "skipped")
            for before, after in zip(plan.tasks(), form.read(marked, "x").tasks(), strict=True):
                assert after == (wanted if before.id == task.id else before)
            assert form.mark(marked, {task.id: status}) == marked
            assert_only_marks(path, text, marked)


def assert_only_marks(path: Path, old: str, new: str) -> None:
    """By construction of the comparison, not of the writer: every changed piece is a mark."""
    if path.suffix in (".json", ".jsonl"):
        for before, after in zip(documents(path, old), documents(path, new), strict=True):
            assert strip(before) == strip(after)
        return
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            piece = old[start:end] + new[new_start:new_end]
            assert re.fullmatch(r"[\[\] xX~!\-A-Z✅*Status:\r\n]*|[a-z_\-]*", piece), (tag, piece)
            assert len(piece) < 45


def documents(path: Path, text: str) -> list[object]:
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    return [json.loads(line) for line in lines if line.strip()]


def strip(data: object) -> object:
    """Without what may be written."""
    if isinstance(data, dict):
        gone = {"status", "state", "stateReason", "close_reason"}
        return {key: strip(value) for key, value in data.items() if key not in gone}
    return [strip(one) for one in data] if isinstance(data, list) else data


NOISE = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"], exclude_characters="`~#<-*+[]"), max_size=30
)


@given(data=st.data())
@settings(max_examples=examples(150), deadline=None)
def test_write_back_leaves_the_users_text_alone(data: st.DataObject) -> None:
    """Prose put between the lines, other line ends, many marks at once: what is no mark stays, byte by byte."""
    path = data.draw(st.sampled_from(SAMPLES))
    form, text = form_of(path), text_of(path)
    if path.suffix in (".md", ".txt"):
        lines = text.splitlines(keepends=True)
        for _ in range(data.draw(st.integers(0, 4))):
            at = data.draw(st.integers(0, len(lines)))
            lines.insert(at, data.draw(NOISE) + data.draw(st.sampled_from(["\n", "\r\n"])))
        text = "".join(lines)
    try:
        plan = form.read(text, "x")
    except PlanRefused:
        return
    ids = [task.id for task in plan.tasks()]
    chosen = data.draw(st.dictionaries(st.sampled_from(ids), st.sampled_from(TASK_STATUSES), min_size=1))
    marked = form.mark(text, chosen)
    one_by_one = text
    for task, status in chosen.items():
        one_by_one = form.mark(one_by_one, {task: status})
    assert marked == one_by_one
    after = {task.id: task for task in form.read(marked, "x").tasks()}
    assert list(after) == ids
    for task in plan.tasks():
        status = chosen.get(task.id)
        wanted = task if status is None else replace(task, done=status == "done", skipped=status == "skipped")
        assert after[task.id] == wanted
    if path.suffix in (".md", ".txt"):
        assert len(marked.splitlines()) - len(text.splitlines()) in (0, 1)
    else:
        assert [strip(one) for one in documents(path, marked)] == [strip(one) for one in documents(path, text)]


@EACH
def test_a_task_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(PlanRefused, match="no task"):
        form_of(path).mark(text_of(path), {"99.99": "done"})


def plan_of(name: str):
    path = FOLDER / name
    return {task.id: task for task in form_of(path).read(text_of(path), str(named(path))).tasks()}


def test_task_master_subtasks_are_the_work() -> None:
    tasks = plan_of("task-master/tagged.json")
    assert list(tasks) == ["1.1", "1.2.1", "1.2.2", "1.2.3", "1.3", "2.1"]
    assert tasks["1.2.2"].depends_on == ("1.2.1", "1.1") and tasks["1.2.3"].skipped
    assert tasks["1.3"].depends_on == ("1.2.1", "1.2.2", "1.2.3")
    assert tasks["1.2.1"].accept == ("A wrong password is rejected with 401.",)
    path = FOLDER / "task-master/tagged.json"
    marked = form_of(path).mark(text_of(path), {f"1.2.{n}": "done" for n in (1, 2, 3)})
    assert json.loads(marked)["master"]["tasks"][1]["status"] == "done", "the heading of done subtasks is done"


def test_beads_links_and_epics() -> None:
    path = FOLDER / "beads/issues.jsonl"
    plan, said = form_of(path).parse(text_of(path), "issues.jsonl")
    first, second = plan.tasks()
    assert (first.id, first.priority, first.accept[0]) == ("BD-2", 20, "a stored password starts with $argon2")
    assert second.depends_on == ("BD-2",)
    assert any("epic bd-1" in one for one in said.unused) and any("bd-9" in one for one in said.unused)


def test_github_issues_have_criteria_and_dependencies() -> None:
    tasks = plan_of("github-issues/list.json")
    assert tasks["GH-42"].accept == ("a session lives 30 minutes", "logout ends it at once")
    assert tasks["GH-42"].depends_on == ("GH-41",) and tasks["GH-42"].priority > 0
    assert plan_of("github-issues/closed.json")["GH-7"].skipped


def test_kiro_requirements_become_criteria() -> None:
    path = FOLDER / "kiro/tasks.md"
    form = form_of(path)
    plan = form.read(text_of(path), ".kiro/specs/x/tasks.md")
    wanted = (
        "# Requirements\n\n### Requirement 1: Users\n\n#### Acceptance Criteria\n\n1. WHEN x THEN z\n"
        "2. IF the mail is bad THEN 422\n\n### Requirement 2\n\n1. WHEN x THEN y\n"
    )
    rich, said = form.enrich(plan, {"requirements.md": wanted, "design.md": "x"})
    tasks = {task.id: task for task in rich.tasks()}
    assert list(tasks) == ["1", "2.1", "2.2", "2.3", "3"]
    assert tasks["2.2"].accept == ("IF the mail is bad THEN 422",) and tasks["2.3"].priority < 0
    assert tasks["2.1"].accept == ("WHEN x THEN y",) and any("requirement 3.3" in one for one in said.unused)


def test_spec_kit_parallel_marks() -> None:
    tasks = plan_of("spec-kit/tasks.md")
    assert tasks["002"].depends_on == ("001",) and tasks["003"].depends_on == ("002",)
    assert tasks["004"].depends_on == () and tasks["005"].depends_on == ()
    assert tasks["007"].depends_on == ("006",)


def test_a_design_keeps_its_criteria_and_its_commands() -> None:
    path = FOLDER / "design/DESIGN-20260119-143022.md"
    form, text = form_of(path), text_of(path)
    (task,) = form.read(text, path.name).tasks()
    assert len(task.accept) == 3 and task.accept[1] == "`POST /todos` without a title returns 422"
    assert task.verify == ("npm test", "npm run build", "curl -f localhost:3000/health")
    assert task.scope == ("**", "!DESIGN-20260119-143022.md")
    assert "**Status:** LOCKED ✅" in form.mark(text, {"1": "in_progress"})
    bare = text_of(FOLDER / "design/DESIGN-search.md")
    assert form.mark(bare, {"1": "in_progress"}).startswith("# Search\n**Status:** LOCKED ✅\n")


def test_task_blocks_have_files_steps_and_dependencies() -> None:
    tasks = plan_of("task-blocks/superpowers.md")
    assert tasks["1"].scope == ("src/limit/bucket.py", "tests/limit/test_bucket.py")
    assert tasks["2"].depends_on == ("1",) and tasks["3"].done
    loop = plan_of("task-blocks/loop.md")
    assert loop["1.1"].done and loop["1.2"].accept == ("a wrong password gives 401", "a right one gives a token")
    assert loop["1.2"].verify == ("pytest tests/test_login.py",) and loop["1.3"].depends_on == ("1.1", "1.2")


def test_a_plan_of_the_loop_keeps_its_scaffold_phase_and_its_status() -> None:
    text = text_of(FOLDER / "task-blocks/loop.md")
    form = form_of(FOLDER / "task-blocks/loop.md")
    plan = form.read(text, ".loop/001-add-user-auth/plan.md")
    assert [phase.scaffold for phase in plan.phases] == [True, False] and plan.status == "APPROVED"
    assert form.read(text.replace("**Status**: APPROVED", "**Status**: DRAFT"), "plan.md").status == "DRAFT"
    mixed = text.replace("## Phase 2: Execute\n", "")
    assert not any(phase.scaffold for phase in form.read(mixed, "plan.md").phases)
    assert any("scaffold tasks first: 1.1" in line for line in form.parse(mixed, "plan.md")[1].guessed)


def test_a_list_without_boxes_has_criteria_files_and_dependencies() -> None:
    first, average, receipt = plan_of("plain-list/plan.md").values()
    assert (first.id, first.title, first.accept) == (
        "1.1", "total() never falls below zero", ("total([1], discount=5) is 0",),
    )  # fmt: skip
    assert average.accept == ("average([2, 4]) is 3.0", "an empty list is a ValueError")
    assert average.depends_on == ("1.1",) and receipt.scope == ("shop/receipt.py", "tests/**")
    assert receipt.description == "It stands behind the total, in the same column."
    _, unknown, back = plan_of("plain-list/my-todo.txt").values()
    assert unknown.accept == ("the line is named", "nothing is read after it")
    assert unknown.depends_on == ("1.1",) and back.title == "write them back"
    csv, more, write, said = plan_of("plain-list/tasks.md").values()
    assert (csv.id, more.verify, write.id, said.done) == ("1.1", ("python -m pytest tests/test_json.py",), "2.1", True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan.md", "# A\n\n- [ ] 1.1 One\n- two\n"),
        ("plan.md", "# A\n\n- [ ] One\n1. two\n"),
        ("plan.md", "- 1.1 One without its box\n"),
        ("notes.md", "1. One\n2. Two\n"),
        ("plan.md", "# Only prose\n\nNothing to do.\n"),
        ("plan.json", "1. One\n"),
        ("plan.md", "1. [x] One\n2. [x] Two\n"),
        ("todo.md", "```\n1. in a fence\n```\n"),
    ],
)
def test_what_is_no_list_without_boxes(name: str, text: str) -> None:
    assert foreign_format(Path(name), text) is None
