"""`devteam status`: asked most often, by prompts, scripts and phones; it has a way of its own past the parser."""

from __future__ import annotations

from tui.cli import say


def show(sprint: str, json: bool) -> None:
    """Where the sprint stands, as one JSON object or as lines for people."""
    desk = say.desk()
    state = desk.state(sprint)
    holder = desk.engine()
    if json:
        done, total = state.progress()
        say.json_line(
            {
                "sprint": state.sprint,
                "branch": state.branch,
                "running": state.running and holder is not None,
                "engine_pid": holder.pid if holder else None,
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
                "gates": [
                    {
                        "gate": gate.id,
                        "task": gate.task,
                        "kind": gate.kind,
                        "title": gate.title,
                        "choices": gate.choices,
                    }
                    for gate in state.open_gates()
                ],
                "seq": state.seq,
            }
        )
        return
    from tui.cli.words import status_lines

    for line in status_lines(state, holder.words() if holder else ""):
        say.out(line)
