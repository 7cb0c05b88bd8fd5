"""Events and state in words, for people who read lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.effects import CallAgent, Wait
from engine.core.state import State, Status
from engine.core.wording import plural

GLYPH = {
    Status.PENDING: "·",
    Status.RUNNING: "▶",
    Status.COMPLETE: "✔",
    Status.BLOCKED: "⏸",
    Status.SKIPPED: "–",
    Status.HALTED: "✘",
    Status.BUDGET_EXHAUSTED: "$",
}


def status_lines(state: State, engine: str) -> Iterator[str]:
    done, total = state.progress()
    title = clean_line(state.plan.title) if state.plan else ""
    yield f"{state.sprint}  {title}"
    if engine:
        yield f"engine    {engine}; sandbox {state.sandbox or '?'}; {'attended' if state.attended else 'unattended'}"
    elif state.running:
        yield "engine    gone in the middle of a run; devteam run takes it up again, nothing is lost"
    else:
        yield f"engine    not running{': ' + state.outcome if state.outcome else ''}"
    if state.outcome_reason and not engine:
        yield f"ended     {clean_line(state.outcome_reason)}"
    yield f"tasks     {done} of {total} complete, {plural(state.iterations, 'iteration')}"
    yield f"health    {state.health.value}: {clean_line(state.health_reason)}"
    yield f"spent     ${state.spent_usd:.2f} of ${state.policy.budget.session_usd:.2f} in {plural(state.calls, 'call')}"
    autos = [kind for kind in ("fix", "task") if state.auto_mode(kind)]
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
        yield f"  {GLYPH[task.status]} {task.id:<5} {clean_line(task.spec.title)}{detail}"
    for gate in state.open_gates():
        yield ""
        yield f"{gate.id}  {gate.kind} gate: {clean_line(gate.title)}"
        yield f"    devteam answer {gate.id} {'|'.join(gate.choices)}"


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
            return f"task {call.task} {call.role.value}{seat} at {call.rung.name}"
        case ev.EffectStarted(effect=Wait() as wait):
            return f"waiting: {wait.reason}"
        case ev.AgentFinished():
            cost = f"${event.charged_usd:.3f}"
            said = event.result.error or event.result.text
            return f"task {event.task} {event.role.value}: {event.result.kind.value} {cost} {said}"
        case ev.ScopeChecked():
            put_back = f", put back: {', '.join(event.reverted)}" if event.reverted else ""
            return f"task {event.task} scope {event.verdict.value}: {len(event.changes)} files{put_back}"
        case ev.ChecksFinished():
            owner = f"task {event.task}" if event.task else event.purpose
            found = "  ".join(f"{result.name} {result.verdict.value}" for result in event.results)
            return f"{owner} checks: {found}"
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
        case ev.RolledBack():
            return f"task {event.task} rolled back ({event.reason}); backup {event.backup}"
        case ev.Landed():
            return f"landed {event.commit[:10]}" if event.ok else f"not landed: {event.detail}"
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


def evidence_lines(task: str, record: dict[str, Any]) -> Iterator[str]:
    if "error" in record:
        yield f"{task}: {record['error']}"
        return
    yield f"{task} iteration {record.get('iteration', '?')}  evidence {record['hash'][:16]}  tree {record['tree'][:12]}"
    for check in record.get("checks", []):
        result, measured = check.get("result", {}), check.get("measurement", {})
        counts = result.get("counts") or {}
        tests = f" {counts.get('passed', 0)}/{counts.get('total', 0)}" if counts else ""
        why = clean_line(result.get("reason", ""))
        yield f"  {result.get('verdict', '?'):<8} {result.get('name', '')}{tests}  {why}"
        argv = measured.get("argv") or []
        if argv:
            yield f"           {clean_line(' '.join(argv), 160)}"
            yield (
                f"           exit {measured.get('exit_code')} in {measured.get('seconds', 0):.1f} s, "
                f"sandbox {measured.get('sandbox') or '?'}, from {result.get('source', '?')}"
            )
    for finding in record.get("findings", []):
        yield f"  {finding.get('severity', 'error'):<8} {finding.get('rule')}: {clean_line(finding.get('text', ''))}"
