"""A plan as plan.md text. Reading it gives the same plan again; whatever a title or a description contains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.core.model import PhaseSpec, Plan, TaskSpec


def render(plan: Plan) -> str:
    """plan.md for a plan that came from another format or from a planner."""
    lines = [f"# {plan.title}", "", f"Status: {plan.status}"]
    if plan.topic:
        lines.append(f"Topic: {plan.topic}")
    if plan.summary:
        lines += ["", *(f"> {line}".rstrip() for line in plan.summary.split("\n"))]
    for phase in plan.phases:
        lines += ["", *_phase(phase)]
    return "\n".join(lines) + "\n"


def _phase(phase: PhaseSpec) -> Iterator[str]:
    yield f"## Phase {phase.id}: {phase.title}" + (" (scaffold)" if phase.scaffold else "")
    for task in phase.tasks:
        yield ""
        yield from _task(task)


def _task(task: TaskSpec) -> Iterator[str]:
    mark = "x" if task.done else "-" if task.skipped else " "
    name = task.id if "." in task.id else f"{task.id}:"
    yield f"- [{mark}] {name} {task.title}"
    if task.description:
        yield "  description: |"
        yield from (f"    {line}".rstrip() for line in task.description.split("\n"))
    yield from _list("accept", task.accept)
    yield from _list("scope", task.scope)
    if task.depends_on:
        yield f"  depends: {', '.join(task.depends_on)}"
    yield from _list("verify", task.verify)
    if task.priority:
        yield f"  priority: {task.priority}"
    if task.complexity is not None:
        yield f"  complexity: {task.complexity}"
    if task.agent:
        yield f"  agent: {task.agent}"
    yield from _list("allow", task.allow)
    if task.proof:
        yield f"  proof: {task.proof}"


def _list(name: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"  {name}:"
        yield from (f"    - {item}" for item in items)
