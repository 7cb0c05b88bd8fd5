"""Sprints whose folders were deleted from .devteam/ (`git clean -fdx`, a hand that slipped): made again from the
journal, or from its backup in the state folder where the journal went with them."""

from __future__ import annotations

from msgspec.structs import replace

from engine import files
from engine.clock import SystemClock
from engine.journal import EngineRunning, Journal
from engine.link.user_errors import UserError
from engine.plans.sprints import SPRINT_FOLDER, ensure_gitignore
from engine.plans.write import render
from engine.project import Project, engine_lock, load_state
from engine.view_writer import as_marked


def bring_back(project: Project) -> UserError | None:
    """What was brought back, as words for the user, who has to look before anything runs; None: there was nothing."""
    clock = SystemClock()
    if not project.repo.db.exists() and not any(project.backups.glob("*.db")):
        return None
    try:
        with engine_lock(project, clock.now):
            back = _made_again(project, clock)
    except EngineRunning:  # it has all of it, and writes it back itself
        return None
    if not back:
        return None
    said = f"the sprints were gone from .devteam/ (deleted? git clean -fdx?): {', '.join(back)} back from the journal"
    if project.repo.config.exists():
        return UserError(said, "look at plan.md, then the same command again")
    return UserError(
        f"{said}; config.toml is not", "bring config.toml back (or: devteam init), then the same command again"
    )


def _made_again(project: Project, clock: SystemClock) -> list[str]:
    back: list[str] = []
    project.repo.folder.mkdir(exist_ok=True)
    with Journal.open(project.repo.db, clock=clock.now, backup_dir=project.backups) as journal:
        for name in journal.streams():
            path, state = project.repo.sprint(name), load_state(journal, name)
            if state.plan is None or not SPRINT_FOLDER.match(name) or (path / "plan.md").exists():
                continue
            plan = as_marked(state.plan, state)
            complete = all(task.done or task.skipped for task in plan.tasks())
            (path / "learnings").mkdir(parents=True, exist_ok=True)
            text = render(replace(plan, status="COMPLETE" if complete else "APPROVED"))
            files.write(path / "plan.md", text.encode(), mode=files.SHARED)
            back.append(name)
    if back:
        ensure_gitignore(project.root)
    return back
