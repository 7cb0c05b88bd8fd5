"""Events and state in words, for people who read lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.effects import CallAgent, Wait
from engine.core.evidence import EvidenceRecord
from engine.core.gates import MAY_BE_AUTO, waiting_questions
from engine.core.model import Role
from engine.core.planning import comes_first
from engine.core.planning_state import Stage
from engine.core.state import State, Status
from engine.core.status_words import of_sprint
from engine.core.wording import plural
from tui.cli.printing import clock_text
from tui.kit.glyphs import UNICODE, of_status
from tui.kit.view import NOT_STARTED, health_reason

PLANNING_WORDS = {
    Stage.GATHER: "the repository is looked at",
    Stage.PRD: "the PRD is being written",
    Stage.PRD_GATE: "the PRD waits for you",
    Stage.DRAFT: "the planner is at it",
    Stage.QUESTIONS: "it needs your answers",
    Stage.CHECK: "its draft is checked",
    Stage.REVIEW: "its draft is reviewed",
    Stage.GATE: "it waits for your approval",
    Stage.APPROVED: "approved",
    Stage.DROPPED: "dropped",
}


def status_lines(state: State, engine: str, viewers: int | None = None, told: str = "") -> Iterator[str]:
    """`told`: what a command needs besides to reach this sprint."""
    done, total = state.progress()
    planning = state.planning
    title = state.plan.title if state.plan else planning.request.split("\n", 1)[0] if planning else ""
    yield f"{state.sprint}  {clean_line(title, 200)}"
    if engine:
        yield f"engine    {engine}; sandbox {state.sandbox or '?'}; {'attended' if state.attended else 'unattended'}"
        if viewers is not None:
            left = f"gates.detached = {state.policy.gates.detached.value}"
            yield f"watching  {viewers or 'nobody'}; {'when nobody is' if viewers else 'now'}: {left}"
    elif state.running:
        again = "devteam plan" if comes_first(state) else "devteam run"
        yield f"engine    gone in the middle of a run; {again} takes it up again, nothing is lost"
    else:
        yield f"engine    not running{': ' + word if (word := of_sprint(state)) else ''}"
    if state.outcome_reason and not engine:
        yield f"ended     {clean_line(state.outcome_reason)}"
    if planning is not None and planning.under_way:
        about = f"another plan for task {planning.task}" if planning.task else "the plan"
        waits = not engine and not state.running and not state.open_gates()
        now = "goes on with: devteam plan" if waits else PLANNING_WORDS[planning.stage]
        yield f"planning  {about}: {now}" + (f", draft {planning.version}" if planning.version else "")
    if total:
        yield f"tasks     {done} of {total} complete, {plural(state.iterations, 'iteration')}"
    health = clean_line(health_reason(state))
    yield f"health    {health if health == NOT_STARTED else f'{state.health.value}: {health}'}"
    yield f"spent     ${state.spent_usd:.2f} of ${state.policy.budget.session_usd:.2f} in {plural(state.calls, 'call')}"
    autos = [kind for kind in MAY_BE_AUTO if state.auto_mode(kind)]
    if autos:
        yield f"auto      {', '.join(autos)} gate (devteam auto {autos[0]} off takes it back)"
    yield ""
    for task in state.tasks.values():
        detail = ""
        if task.status is Status.RUNNING:
            rung = state.policy.ladder.rungs[min(task.rung, len(state.policy.ladder.rungs) - 1)].name
            detail = f"  iteration {task.iteration}, {task.step.value}, {rung}"
        elif task.ended and task.status is not Status.COMPLETE:
            detail = f"  {task.status.value}: {clean_line(task.reason)}"
        elif task.unwatched:
            detail = "  (completed while nobody looked; devteam retry opens it again)"
        yield f"  {of_status(task.status, UNICODE)[0]} {task.id:<5} {clean_line(task.spec.title)}{detail}"
    yield from _waited_for(state)
    for gate in state.open_gates():
        yield ""
        yield f"{gate.id}  {gate.kind} gate: {clean_line(gate.title)}"
        yield f"    waits since {clock_text(gate.opened_at)}; devteam gate {gate.id}{told} shows all of it"
        yield f"    devteam answer {gate.id} {'|'.join(gate.choices)}{told}"


def _waited_for(state: State) -> Iterator[str]:
    """What holds the run up, and since when: waits, suspension, questions of finished work."""
    for effect in state.inflight.values():
        if isinstance(effect, Wait):
            owner = f" ({effect.task})" if effect.task else ""
            yield f"waits     {clean_line(effect.reason)}{owner}, until {clock_text(effect.until)}"
    if state.paused:
        yield "paused    nothing new is started until: devteam resume"
    if state.suspended is not None:
        again = f"; looked at again at {clock_text(state.sprint_not_before)}"
        yield f"suspended {clean_line(state.suspended_reason)}, since {clock_text(state.suspended_since)}{again}"
    if found := waiting_questions(state):
        tasks = sorted({task.id for task, _question in found})
        yield f"questions {plural(len(found), 'question')} for you about {', '.join(tasks)}: devteam questions"


def event_line(envelope: ev.Envelope) -> str:
    """One line for an event that people care about; empty for the others."""
    line = _words(envelope.event)
    # What is only said here is said whole: where a damaged journal was put, what to type.
    return clean_line(line, 1000 if isinstance(envelope.event, ev.Noted) else 240) if line else ""


def _words(event: ev.Fact) -> str:
    match event:
        case ev.SprintCreated():
            return f"sprint {event.sprint}: {event.plan.title} ({plural(len(event.plan.tasks()), 'task')})"
        case ev.RunStarted():
            who = "attended" if event.attended else "unattended"
            return f"run started ({who}, sandbox {event.sandbox}, checks: {', '.join(event.checks) or 'none'})"
        case ev.RunEnded():
            return f"run ended: {event.outcome}: {event.reason}"
        case ev.TaskStarted():
            return f"task {event.task} started ({event.reason})"
        case ev.IterationStarted():
            return f"task {event.task} iteration {event.iteration}"
        case ev.EffectStarted(effect=CallAgent() as call):
            seat = f" ({call.seat})" if call.seat else ""
            return f"{_owner(call.task, call.role)} {call.role.value}{seat} at {call.rung.name}"
        case ev.EffectStarted(effect=Wait() as wait):
            return f"waiting: {wait.reason}"
        case ev.AgentFinished():
            cost = f"${event.charged_usd:.3f}"
            said = event.result.error or event.result.text
            return f"{_owner(event.task, event.role)} {event.role.value}: {event.result.kind.value} {cost} {said}"
        case ev.ScopeChecked():
            put_back = f", put back: {', '.join(event.reverted)}" if event.reverted else ""
            return f"task {event.task} scope {event.verdict.value}: {len(event.changes)} files{put_back}"
        case ev.ChecksFinished():
            owner = f"task {event.task}" if event.task else event.purpose
            found = "  ".join(f"{result.name} {result.verdict.value}" for result in event.results)
            shown = f" → {event.proof.value}: {event.proof_reason}" if event.proof else ""
            return f"{owner} checks: {found}{shown}"
        case ev.ReviewFinished():
            word = "approved" if event.review.approved else "needs changes"
            return f"task {event.task} review: {word}. {event.review.summary}"
        case ev.CouncilFinished():
            return f"task {event.task} Bug Council: {event.diagnosis.root_cause}"
        case ev.Decided():
            return f"task {event.task} {event.decision.value}: {event.reason}"
        case ev.HealthChanged():
            return f"task {event.task} health {event.health.value}: {event.reason}"
        case ev.Committed():
            return f"task {event.task} committed {event.commit[:10]}: {event.message}"
        case ev.TaskEnded():
            todo = f" → {event.action}" if event.action else ""
            return f"task {event.task} ended {event.decision.value}: {event.reason}{todo}"
        case ev.GateOpened():
            return f"{event.gate} {event.kind} gate: {event.title} [{'/'.join(event.choices)}]"
        case ev.GateAnswered():
            return f"{event.gate} answered {event.choice} by {event.by or 'you'} {event.text}"
        case ev.GateAsked():
            return f"{event.gate} asked: {event.question}"
        case ev.GateReplied():
            return f"{event.gate} answer: {event.answer}"
        case ev.BudgetWarned():
            return f"${event.spent_usd:.2f} of the {event.scope} budget ${event.limit_usd:.2f} are spent"
        case ev.EffectFailed():
            return f"failed: {event.message}" + (f" → {event.hint}" if event.hint else "")
        case ev.EffectInterrupted():
            return f"interrupted: {event.id}"
        case ev.WorkLost():
            return f"task {event.task} starts again: {event.reason}"
        case ev.RolledBack():
            return f"task {event.task} rolled back ({event.reason}); backup {event.backup}"
        case ev.Landed():
            return f"landed {event.commit[:10]}" if event.ok else f"not landed: {event.detail}"
        case ev.PlanRequested():
            return f"planning: {event.request}"
        case ev.QuestionAnswered():
            return f"plan: {event.question} → {event.answer or '(nothing)'} ({event.by})"
        case ev.PlanDrafted():
            who = f" by {event.by}" if event.by else ""
            return f"plan: draft{who}: {event.plan.title} ({plural(len(event.plan.tasks()), 'task')})"
        case ev.PlanChecked() if event.issues:
            return f"plan: the checks object: {'; '.join(issue.words() for issue in event.issues)}"
        case ev.PlanReviewed():
            word = "approved" if event.approved else "objects: " + "; ".join(issue.words() for issue in event.issues)
            return f"plan review: {word} {event.summary}"
        case ev.SprintReviewed():
            wanted = "; ".join(f"{one.task} {one.issue.text}".strip() for one in event.issues)
            open_ends = [one for one in event.criteria if not one.criterion.met]
            unmet = "; ".join(f"{one.task} unmet: {one.criterion.text}" for one in open_ends)
            said = "approved" if event.approved else f"changes wanted: {wanted or unmet}"
            return f"final review: {said} {event.summary}"
        case ev.TasksReopened():
            return f"opened again by the final review: {', '.join(event.tasks)} {event.text}"
        case ev.PlanApproved():
            return f"plan approved by {event.by}"
        case ev.PlanChanged():
            return f"the plan was edited: {event.summary}"
        case ev.PolicyChanged():
            return f"the configuration was edited: {event.summary}"
        case ev.Noted():
            return f"{event.level}: {event.text}" + (f" → {event.hint}" if event.hint else "")
        case ev.CommandHandled(ok=False):
            return f"refused {event.name}: {event.detail}"
        case ev.Paused():
            return "paused"
        case ev.Resumed():
            return "going on"
        case ev.StopRequested():
            return "stopping"
        case _:
            return ""


def _owner(task: str, role: Role) -> str:
    """Whose call it is: a task's, the sprint's, or the plan's."""
    return f"task {task}" if task else "sprint" if role is Role.SPRINT_REVIEWER else "plan"


def cost_rows(state: State) -> list[dict[str, Any]]:
    """What was spent, by rung, role, task and day. None: not counted that way."""
    rows: list[dict[str, Any]] = []
    for by, usages in (("rung", state.usage_by_rung), ("role", state.usage_by_role)):
        for name, usage in usages.items():
            rows.append(_cost(by, name, usage.calls, usage.tokens.total(), usage.cost_usd, bool(usage.estimated)))
    for task in state.tasks.values():
        if task.calls:
            rows.append(_cost("task", task.id, sum(task.calls.values()), None, task.spent_usd))
    for day, amount in state.usage_by_day.items():
        rows.append(_cost("day", _date(int(day)), None, None, amount))
    return rows


def _cost(
    by: str, name: str, calls: int | None, tokens: int | None, usd: float, estimated: bool = False
) -> dict[str, Any]:
    return {
        "by": by, "name": name, "calls": calls, "tokens": tokens, "usd": round(usd, 6), "estimated": estimated
    }  # fmt: skip


def shown_cost(row: dict[str, Any]) -> tuple[str, ...]:
    calls, tokens = row["calls"], row["tokens"]
    return (
        row["by"],
        row["name"],
        "" if calls is None else str(calls),
        "" if tokens is None else f"{tokens:,}",
        f"${row['usd']:.3f}",
        "estimated" if row["estimated"] else "",
    )


def _date(day: int) -> str:
    import datetime

    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()


def evidence_lines(record: EvidenceRecord) -> Iterator[str]:
    if record.error:
        yield f"{record.task}: {record.error}"
        return
    yield f"{record.task} iteration {record.iteration}  evidence {record.hash[:16]}  tree {record.tree[:12]}"
    ran = {check.name: check for check in record.checks}
    for result in record.results:
        tests = f" {result.counts.passed}/{result.counts.total}" if result.counts else ""
        yield f"  {result.verdict:<8} {result.name}{tests}  {clean_line(result.reason)}"
        check = ran.get(result.name)
        if check is not None and check.argv:
            yield f"           {clean_line(' '.join(check.argv), 160)}"
            yield (
                f"           exit {check.exit_code} in {check.seconds:.1f} s, "
                f"sandbox {check.sandbox or '?'}, from {result.source or '?'}"
            )
    for finding in record.findings:
        yield f"  {finding.severity:<8} {finding.rule}: {clean_line(finding.text)}"
