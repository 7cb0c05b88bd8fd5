"""`devteam clean`: under the lock that an engine would hold."""

from __future__ import annotations

from engine.clock import SystemClock
from engine.perform.cleaning import Cleaning
from engine.project import engine_lock
from engine.service.local import Desk
from engine.settings import open_workspace
from engine.tidying import cleaned, words

__all__ = ["clean", "words"]

NO_SPRINT = "000-clean"
"""A name for a workspace that never becomes a sprint."""


def clean(desk: Desk, keep: int | None, *, dry_run: bool) -> Cleaning:
    """`keep` None: as configured."""
    project, now = desk.project, SystemClock().now
    config = project.config()
    with engine_lock(project, now):
        store = open_workspace(project, NO_SPRINT, config).store
        store.sweep(now())
        chosen = config.workspace.keep_sprints if keep is None else keep
        return cleaned(project, store, chosen, now(), dry_run=dry_run)
