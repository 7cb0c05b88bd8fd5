"""`devteam status`: asked most often, by prompts, scripts and phones; it has a way of its own past the parser."""

from __future__ import annotations

from tui.cli import printing as say


def show(sprint: str, json: bool) -> None:
    """Where the sprint stands, as one JSON object or as lines for people."""
    from engine.core.effects import Wait
    from engine.core.gates import waiting_questions
    from engine.core.status_words import of_sprint

    desk = say.desk()
    state = desk.state(sprint)
    holder = desk.engine()
    viewers = desk.viewers() if holder else None
    if json:
        done, total = state.progress()
        say.json_line(
            {
                "sprint": state.sprint,
                "branch": state.branch,
                "running": state.running and holder is not None,
                "engine_pid": holder.pid if holder else None,
                "standing": of_sprint(state),
                "outcome": state.outcome,
                "reason": state.outcome_reason,
                "tasks": {task.id: task.status.value for task in state.tasks.values()},
                "done": done,
                "total": total,
                "iterations": state.iterations,
                "health": state.health.value,
                "health_reason": state.health_reason,
                "spent_usd": round(state.spent_usd, 6),
                "budget_usd": state.policy.budget.session_usd,
                "sandbox": state.sandbox,
                "attended": state.attended,
                "viewers": viewers,
                "detached": state.policy.gates.detached.value,
                "gates": [
                    {
                        "gate": gate.id,
                        "task": gate.task,
                        "kind": gate.kind,
                        "title": gate.title,
                        "choices": gate.choices,
                        "since": gate.opened_at,
                    }
                    for gate in state.open_gates()
                ],
                "waits": [
                    {"task": wait.task, "reason": wait.reason, "until": wait.until}
                    for wait in state.inflight.values()
                    if isinstance(wait, Wait)
                ],
                "paused": state.paused,
                "suspended": None
                if state.suspended is None
                else {
                    "fault": state.suspended.value,
                    "reason": state.suspended_reason,
                    "since": state.suspended_since,
                    "looked_at_again": state.sprint_not_before,
                },
                "questions": [
                    {"task": task.id, "text": question.text, "allow": question.allow}
                    for task, question in waiting_questions(state)
                ],
                "seq": state.seq,
            }
        )
        return
    from tui.cli.event_text import status_lines

    for line in status_lines(state, holder.words() if holder else "", viewers):
        say.out(line)
