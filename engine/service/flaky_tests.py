"""`devteam flaky`: tests that were seen to flip on one tree, in one order; only those are ever excused."""

from __future__ import annotations

from engine.perform.checks.proof.flaky import Flip, history
from engine.service.local import Desk

__all__ = ["Flip", "flips"]


def flips(desk: Desk) -> tuple[Flip, ...]:
    """Newest first."""
    return tuple(sorted(history(desk.project.state.root / "scratch"), key=lambda flip: -flip.at))
