"""What can be read of a sprint by its trees, and the points to go back to: checkpoints, baselines, rollbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from engine.core.model import FileChange
from engine.globs import matcher
from engine.perform.workspace import points, trees
from engine.perform.workspace.facts import Baseline, Checkpoint, Rollback
from engine.perform.workspace.store import Store


class Restorable:
    """A sprint in the engine's own store."""

    def __init__(self, store: Store, sprint: str) -> None:
        self.store = store
        self.sprint = sprint

    # ── trees ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def tree_of(self, commit: str) -> str:
        return trees.tree_of(self.store.git, commit)

    def diff(self, before: str, after: str, path: str | None = None, cap: int = 1_000_000, *, context: int = 0) -> str:
        """`context`: lines around each change; 0: as many as git shows by itself."""
        return trees.patch(self.store.git, before, after, path, cap, context)

    def changed_files(self, before: str, after: str) -> tuple[FileChange, ...]:
        return tuple(change.as_fact() for change in trees.diff(self.store.git, before, after))

    def show(self, tree: str, path: str) -> bytes:
        return trees.show(self.store.git, tree, path)

    def overlay(self, tree: str, globs: Iterable[str], from_tree: str) -> str:
        """`tree`, with every path matching `globs` as `from_tree` has it."""
        wanted = matcher(globs)
        differing = trees.diff(self.store.git, tree, from_tree, lines=False)
        changes = {
            change.path: (change.new_mode, change.new) if change.new_mode != trees.ABSENT else None
            for change in differing
            if wanted(change.path)
        }
        return trees.edit(self.store.git, self.tree_of(tree), changes)

    # ── checkpoints, baselines, rollback ───────────────────────────────────────────────────────────────────────────

    def save_checkpoint(self, checkpoint: str, reason: str, at: float, files: Mapping[str, Path | bytes]) -> Checkpoint:
        return points.save_checkpoint(self.store, self.sprint, checkpoint, reason, at, files)

    def list_checkpoints(self) -> list[Checkpoint]:
        return points.list_checkpoints(self.store, self.sprint)

    def restore_checkpoint(self, checkpoint: str, at: float) -> tuple[Rollback, Checkpoint]:
        return points.restore_checkpoint(self.store, self.sprint, checkpoint, at)

    def create_baseline(self, milestone: str, at: float, description: str = "") -> Baseline:
        return points.create_baseline(self.store, self.sprint, milestone, at, description)

    def list_baselines(self) -> list[Baseline]:
        return points.list_baselines(self.store, self.sprint)

    def roll_back_to_baseline(self, baseline: str, at: float) -> Rollback:
        return points.roll_back_to_baseline(self.store, self.sprint, baseline, at)

    def newest_commits(self, most: int) -> list[str]:
        return points.newest_commits(self.store, self.sprint, most)

    def go_to(self, commit: str, reason: str, at: float) -> Rollback:
        return points.go_to(self.store, self.sprint, commit, reason, at)

    def roll_back_check(self, is_good: Callable[[str], bool], most: int = points.SEARCHED) -> str:
        """The commit a smart rollback would go to; the tip itself when it is good; empty when none is."""
        return points.last_good(self.store, self.sprint, is_good, most)

    def roll_back_auto(self, at: float, is_good: Callable[[str], bool]) -> Rollback:
        return points.roll_back_auto(self.store, self.sprint, at, is_good)

    def roll_back_smart(self, at: float, is_good: Callable[[str], bool], most: int = points.SEARCHED) -> Rollback:
        return points.roll_back_smart(self.store, self.sprint, at, is_good, most)

    def roll_back_undo(self, at: float) -> Rollback:
        return points.undo(self.store, self.sprint, at)
