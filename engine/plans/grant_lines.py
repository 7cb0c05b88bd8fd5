"""Lines of `allow:` and `proof:` put into the text of a plan.md, in place: every other byte stays the user's."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.model import Plan
from engine.plans.drafts import lines_of
from engine.plans.native import NATIVE, tasks_of
from engine.plans.plan_format import PlanError, PlanRefused
from engine.plans.words import Derived, with_derived


def with_lines(text: str, source: str, derived: Iterable[Derived]) -> str:
    """The plan.md with these lines below their tasks; PlanRefused where no place gives the plan that was meant."""
    for one in derived:
        text = _with_line(text, source, one)
    return text


def _with_line(text: str, source: str, one: Derived) -> str:
    wanted = with_derived(NATIVE.read(text, source), [one])
    starts = [line.start for line in lines_of(text)]
    end = "\r\n" if "\r\n" in text else "\n"
    for first, indent, last in tasks_of(text, source, one.task):
        for number in range(first, last + 1):
            at = starts[number] if number < len(starts) else len(text)
            gap = "" if text[:at].endswith(("\n", "\r")) else end
            made = f"{text[:at]}{gap}{' ' * (indent + 2)}{one.line()}{end}{text[at:]}"
            if _reads_as(made, source, wanted):
                return made
    what = f"no place for “{one.line()}” below task {one.task}"
    raise PlanRefused([PlanError(source=source, line=0, what=what, expected="a task of plan.md", fix=one.line())])


def _reads_as(text: str, source: str, wanted: Plan) -> bool:
    try:
        return NATIVE.read(text, source) == wanted
    except PlanRefused:
        return False
