"""How much one attempt may add: who exceeds that and is told, and does it again, is no matter for a stronger model.

Whether the limit or the change is wrong only the user can say, so the second time in a row is theirs: two calls are
paid for it, on no rung but the first.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.model import Finding
from engine.core.state import TaskState

SETTINGS = {
    "too-many": "workspace.max_files",
    "too-large": "workspace.max_file_bytes or workspace.max_total_bytes",
}
"""Rules of the scope check that are about an amount, and the settings that say it."""
TIMES = 2
"""Attempts in a row over a bound before the user is asked: one that was not told, one that was."""


def exceeded(findings: Iterable[Finding]) -> Finding | None:
    """The first bound that was exceeded."""
    return next((one for one in findings if one.severity == "error" and one.rule in SETTINGS), None)


def counted(task: TaskState, findings: Iterable[Finding]) -> int:
    """Attempts in a row that exceeded a bound, the present one with these findings included."""
    return task.over_bound + 1 if exceeded(findings) else 0


def reason(task: TaskState) -> str:
    """Why the task stops here; empty while it does not."""
    found = exceeded(task.scope_findings)
    if found is None or task.over_bound < TIMES:
        return ""
    return f"{task.over_bound} attempts in a row added more than a change may: {found.text}"


def action(task: TaskState) -> str:
    found = exceeded(task.scope_findings)
    setting = SETTINGS[found.rule] if found else "[workspace]"
    return (
        f"raise {setting} in .devteam/config.toml if the task needs that much, or name what its tools make in"
        f" .gitignore; then: devteam retry {task.id}"
    )
