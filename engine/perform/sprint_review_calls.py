"""What the final reviewer of a sprint is told: the whole change, every criterion, all evidence; and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.effects import CallAgent
from engine.core.model import AgentResult, Role, TaskSpec
from engine.core.sprint_review import judged
from engine.core.state import State, Status, TaskState
from engine.perform.briefing import SHORT_DIFF, Brief
from engine.prompts import parse_sprint_review
from engine.prompts.fields import AnswererFields, Fields, SprintReviewerFields


def fields(effect: CallAgent, state: State, brief: Brief, diff: str, context_file: str, role_prompt: str) -> Fields:
    """The fields of the template; what an implementer said is not among them."""
    diff_file = brief.write("sprint.diff", diff) if len(diff) > SHORT_DIFF else ""
    shown = "" if diff_file else diff
    if effect.role is Role.ANSWERER:
        gate = state.gates.get(effect.gate)
        about = TaskSpec(id="sprint", title="the final review of the sprint", description=gate.body if gate else "")
        title = gate.title if gate else ""
        return AnswererFields(
            question=effect.question, task=about, gate=title, diff=shown, diff_file=diff_file, context_file=context_file
        )
    plan = state.plan
    return SprintReviewerFields(
        title=plan.title if plan is not None else state.sprint,
        summary=plan.summary if plan is not None else "",
        tasks=tuple(task.spec for task in judged(state)),
        skipped=tuple(task.spec for task in state.tasks.values() if task.status is Status.SKIPPED),
        evidence_file=brief.write("evidence.md", evidence(state)),
        diff=shown,
        diff_file=diff_file,
        context_file=context_file,
        checks=state.final.value if state.final is not None else "not run",
        earlier=tuple(f"{one.task}: {one.issue.text}" for one in state.sprint_review.issues),
        role_prompt=role_prompt,
    )


def evidence(state: State) -> str:
    """All that was measured and judged, task by task: facts of the engine and of reviewers, no claim of an author."""
    tasks = [task for task in state.tasks.values() if task.status is Status.COMPLETE]
    return "\n".join(line for task in tasks for line in _of(task)) + "\n"


def _of(task: TaskState) -> Iterator[str]:
    yield f"## {task.id} {clean_line(task.spec.title)}"
    yield f"commit {task.commit[:12] or 'none'}; {task.iteration} iterations; evidence {task.evidence[:16] or 'none'}"
    yield f"proof: {task.proof.value if task.proof else 'not judged'} {clean_line(task.proof_reason)}".rstrip()
    yield from (f"- {proof.kind}: {clean_line(proof.name)}" for proof in task.proofs[:20])
    for check in task.checks:
        counted = f", {check.counts.passed} of {check.counts.total} tests" if check.counts else ""
        yield f"check {clean_line(check.name)}: {check.verdict.value}{counted} {clean_line(check.reason)}".rstrip()
    yield from (f"finding {clean_line(one.rule)}: {clean_line(one.text)}" for one in task.findings[:20])
    for one in task.review.criteria if task.review is not None else ():
        met = "met" if one.met else "NOT met"
        yield f"criterion {met}: {clean_line(one.text)} ({clean_line(one.reference)})"
    if task.override:
        yield f"a human overrode: {clean_line(task.override)}"
    yield from (f"changed {change.change} {clean_line(change.path)}" for change in task.changes[:60])
    yield ""


def answer(effect: CallAgent, state: State, result: AgentResult) -> Sequence[ev.AnyEvent]:
    """The facts of a valid answer; empty where a criterion is left out, for then the sprint was not judged."""
    if effect.role is Role.ANSWERER:
        return (ev.GateReplied(gate=effect.gate, id=effect.id, answer=result.text.strip() or "(no answer)"),)
    wanted = [(task.id, text) for task in judged(state) for text in task.spec.accept]
    review = parse_sprint_review(result.structured, wanted)
    if review is None:
        return ()
    return (
        ev.SprintReviewed(
            id=effect.id,
            head=effect.tree,
            approved=review.approved,
            criteria=review.criteria,
            issues=review.issues,
            summary=review.summary,
        ),
    )
