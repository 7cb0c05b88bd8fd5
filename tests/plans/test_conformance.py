"""One suite over all plan formats: what the contract promises holds for each of them."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.plans import FORMATS, TASK_STATUSES, PlanRefused, format_of
from tests.depth import examples
from tests.plans.samples import NAMES, WRITERS, formats, plans

EACH = pytest.mark.parametrize("form", formats(), ids=lambda form: form.name)


def test_every_registered_format_is_in_this_suite():
    assert set(FORMATS) == set(formats()) and set(WRITERS) == {form.name for form in FORMATS}


@EACH
@given(plan=plans())
@settings(max_examples=examples(60), deadline=None)
def test_a_written_plan_reads_as_the_same_plan(form, plan):
    text = WRITERS[form.name](plan)
    assert form.matches(NAMES[form.name], text) and format_of(NAMES[form.name], text) is form
    assert form.read(text, "x.md") == plan


@EACH
@given(plan=plans())
@settings(max_examples=examples(25), deadline=None)
def test_mark_changes_one_task_and_nothing_else(form, plan):
    text = WRITERS[form.name](plan)
    for task in plan.tasks():
        for status in TASK_STATUSES:
            marked = form.mark(text, {task.id: status})
            assert form.read(marked, "x") == with_task(
                plan, task.id, done=status == "done", skipped=status == "skipped"
            )
            assert form.mark(marked, {task.id: status}) == marked
            assert without_marks(form, marked) == without_marks(form, text)
            assert form.name != "native" or changed_chars(text, marked) <= 1


@EACH
@given(plan=plans(), data=st.data())
@settings(max_examples=examples(25), deadline=None)
def test_marking_many_at_once_is_marking_each(form, plan, data):
    text = WRITERS[form.name](plan)
    ids = data.draw(st.lists(st.sampled_from([task.id for task in plan.tasks()]), unique=True))
    marks = {task_id: data.draw(st.sampled_from(TASK_STATUSES)) for task_id in ids}
    one_by_one = text
    for task_id, status in marks.items():
        one_by_one = form.mark(one_by_one, {task_id: status})
    assert form.mark(text, marks) == one_by_one


@EACH
@given(plan=plans())
@settings(max_examples=examples(25), deadline=None)
def test_mark_plan_changes_the_status_word_only(form, plan):
    text = WRITERS[form.name](plan)
    marked = form.mark_plan(text, "APPROVED")
    assert form.read(marked, "x") == msgspec.structs.replace(plan, status="APPROVED")
    assert marked.replace("APPROVED", plan.status, 1) == text or plan.status in text


BROKEN = [
    pytest.param([], "has no tasks", id="empty"),
    pytest.param([("1.1", ()), ("1.1", ())], "task id 1.1 is taken", id="duplicate id"),
    pytest.param([("1.1", ("1.9",))], "depends on 1.9, which is not in the plan", id="unknown dependency"),
    pytest.param([("1.1", ("1.1",))], "waits for itself", id="self"),
    pytest.param(
        [("1.1", ("1.3",)), ("1.2", ("1.1",)), ("1.3", ("1.2",))], "1.1 → 1.3 → 1.2 → 1.1", id="cycle is named"
    ),
]


@EACH
@pytest.mark.parametrize(("tasks", "words"), BROKEN)
def test_what_cannot_be_worked_on_is_refused_with_words(form, tasks, words):
    plan = Plan(title="X", phases=(phase_of(tasks),)) if tasks else Plan(title="X", phases=())
    with pytest.raises(PlanRefused) as refused:
        form.read(WRITERS[form.name](plan), "some/plan")
    assert any(words in error.what for error in refused.value.errors), str(refused.value)
    assert all(error.source == "some/plan" for error in refused.value.errors)
    assert not tasks or all(error.line > 0 for error in refused.value.errors)


@EACH
def test_all_errors_come_at_once(form):
    plan = Plan(title="X", phases=(phase_of([("1.1", ("7.7",)), ("1.1", ()), ("1.2", ("8.8",))]),))
    with pytest.raises(PlanRefused) as refused:
        form.read(WRITERS[form.name](plan), "p")
    assert len(refused.value.errors) == 3


@EACH
def test_marking_a_task_that_is_not_there_is_refused(form):
    text = WRITERS[form.name](Plan(title="X", phases=(phase_of([("1.1", ())]),)))
    with pytest.raises(PlanRefused, match=r"no task 3\.3"):
        form.mark(text, {"3.3": "done"})


@EACH
def test_a_plan_of_many_tasks_in_a_chain_is_read(form):
    chain = [(f"1.{number}", (f"1.{number - 1}",) if number > 1 else ()) for number in range(1, 1500)]
    assert len(form.read(WRITERS[form.name](Plan(title="X", phases=(phase_of(chain),))), "p").tasks()) == 1499


def phase_of(tasks):
    specs = tuple(TaskSpec(id=task_id, title=f"Do {task_id}", depends_on=needs) for task_id, needs in tasks)
    return PhaseSpec(id="1", title="One", tasks=specs)


def with_task(plan: Plan, task_id: str, **changes: bool) -> Plan:
    phases = tuple(
        msgspec.structs.replace(
            phase,
            tasks=tuple(
                msgspec.structs.replace(task, **changes) if task.id == task_id else task for task in phase.tasks
            ),
        )
        for phase in plan.phases
    )
    return msgspec.structs.replace(plan, phases=phases)


def without_marks(form, text: str) -> str:
    flags = r"(?<=^- \[)." if form.name == "native" else r'"status": "[a-z_]+",? ?|(?<="passes": )(?:true|false)'
    return re.sub(flags, "", text, flags=re.MULTILINE)


def changed_chars(old: str, new: str) -> int:
    """Size of what is left of the new text after the common beginning and the common end are taken off."""
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    old, new = old[start:], new[start:]
    end = next(
        (i for i, (a, b) in enumerate(zip(old[::-1], new[::-1], strict=False)) if a != b), min(len(old), len(new))
    )
    return max(len(old) - end, len(new) - end)
