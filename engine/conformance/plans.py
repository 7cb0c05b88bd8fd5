"""The suite of plan formats: what is read, marked and refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from engine.plans.plan_format import PLAN_STATUSES, TASK_STATUSES, PlanFormat, PlanRefused

HOSTILE = ("", "\0", "\n\n\n", "{", "[]", "- [ ]", "\ufeff", "# x\n" * 2000, "\x1b[2J", "null", "1.1")


def plan_format_problems(form: PlanFormat, sample: str, name: str) -> list[str]:
    """`sample`: a plan in this format with at least two tasks, none done; `name`: the file name it would have."""
    return list(_problems(form, sample, name))


def _problems(form: PlanFormat, sample: str, name: str) -> Iterator[str]:
    if not form.name or form.name != form.name.strip().lower():
        yield f"its name is {form.name!r}: use one lower-case word"
    if not form.matches(PurePath(name), sample):
        yield f"it does not match its own sample {name}"
    try:
        plan = form.read(sample, name)
    except PlanRefused as refused:
        yield f"it refuses its own sample: {refused}"
        return
    ids = [task.id for task in plan.tasks()]
    if len(ids) < 2 or len(set(ids)) != len(ids):
        yield f"the sample's tasks are {ids}: at least two, each with an id of its own"
        return
    if form.read(sample, name) != plan:
        yield "the same text does not give the same plan"
    yield from _marking(form, sample, name, ids)
    yield from _refusing(form, sample, name)


def _marking(form: PlanFormat, sample: str, name: str, ids: list[str]) -> Iterator[str]:
    before = {task.id: task for task in form.read(sample, name).tasks()}
    for status in TASK_STATUSES:
        text = form.mark(sample, {ids[0]: status})
        after = {task.id: task for task in form.read(text, name).tasks()}
        if list(after) != ids:
            yield f"marking {ids[0]} as {status} changes which tasks there are"
        elif after[ids[0]].done is not (status in ("done", "skipped")) and status == "done":
            yield f"{ids[0]} marked as done does not read as done"
        elif any(after[one] != before[one] for one in ids[1:]):
            yield f"marking {ids[0]} as {status} changes another task"
        if form.mark(text, {ids[0]: status}) != text:
            yield f"marking {ids[0]} as {status} twice is not marking it once"
        kept = sum(1 for line in sample.splitlines() if line in text.splitlines())
        if kept < len(sample.splitlines()) - 2:
            yield f"marking {ids[0]} as {status} rewrites lines that are the user's"
    both = form.mark(sample, {ids[0]: "done", ids[1]: "done"})
    if form.mark(form.mark(sample, {ids[0]: "done"}), {ids[1]: "done"}) != both:
        yield "marking two tasks at once is not marking each"
    for status in PLAN_STATUSES:
        marked = form.read(form.mark_plan(sample, status), name)
        if [task.id for task in marked.tasks()] != ids:
            yield f"marking the plan {status} changes its tasks"


def _refusing(form: PlanFormat, sample: str, name: str) -> Iterator[str]:
    try:
        form.mark(sample, {"no such task": "done"})
        yield "marking a task that is not there is not refused"
    except PlanRefused:
        pass
    for text in HOSTILE:
        try:
            form.matches(PurePath(name), text)
            form.read(text, name)
        except PlanRefused as refused:
            if not str(refused):
                yield f"it refuses {text[:12]!r} without a word"
        except Exception as error:  # noqa: BLE001  the suite's finding
            yield f"{text[:12]!r} makes it fail with {type(error).__name__} instead of PlanRefused"
