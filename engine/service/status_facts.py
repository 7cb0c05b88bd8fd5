"""Where a sprint stands, as one JSON object: for `devteam status --json` and for agents over MCP."""

from __future__ import annotations

from typing import Any

from engine.core.attendance import unwatched
from engine.core.effects import Wait
from engine.core.gates import waiting_questions
from engine.core.state import State
from engine.core.status_words import of_sprint
from engine.journal import Holder
from engine.service.local import Desk


def status_facts(state: State, holder: Holder | None, viewers: int | None) -> dict[str, Any]:
    done, total = state.progress()
    return {
        "sprint": state.sprint,
        "branch": state.branch,
        "running": state.running and holder is not None,
        "engine_pid": holder.pid if holder else None,
        "standing": of_sprint(state),
        "outcome": state.outcome,
        "reason": state.outcome_reason,
        "tasks": {task.id: task.status.value for task in state.tasks.values()},
        "done": done,
        "completed_unwatched": unwatched(state),
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


def status_of(desk: Desk, hint: str = "") -> dict[str, Any]:
    holder = desk.engine()
    return status_facts(desk.shown(hint), holder, desk.viewers() if holder else None)
