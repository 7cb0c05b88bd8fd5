"""The sprint's branch in memory, behind the part of the workspace's contract that the engine's own reconciliation and
commits ask for; and the user, who deletes it, moves it back or checks it out."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.state import State
from engine.perform.workspace.facts import LogEntry, MovedBack

BASE = "c0"


@dataclass(frozen=True)
class Began:
    base: str = BASE


@dataclass
class Store:
    """A commit made twice is one commit, found by its task and effect. `tip` is the engine's own mirror."""

    made: dict[str, LogEntry] = field(default_factory=dict)
    branch: str = BASE
    tip: str = BASE
    held: str = ""
    """Where the branch was left because it is checked out."""
    checked_out: bool = False
    backups: list[str] = field(default_factory=list)
    meddled: bool = False
    """The user moved the branch back in this life: the engine may not have seen it yet."""

    # ── what reconcile.py asks ─────────────────────────────────────────────────────────────────────────────────────

    def has_started(self) -> bool:
        return True

    def bring_back(self, commit: str) -> None:
        if not self.branch and not self.tip and commit in self.made:
            self.branch = self.tip = commit

    def head(self) -> str:
        if not self.branch:
            assert self.tip, "branch and mirror are gone"
            self.branch = self.tip
        return self.tip if self._by_mirror() else self.branch

    def _by_mirror(self) -> bool:
        if not self.held or self.branch == self.tip:
            return False
        return self.branch == self.held or not self._is_below(self.tip, self.branch)

    def since_base(self) -> list[LogEntry]:
        """Newest first."""
        return [self.made[commit] for commit in self.line() if commit != BASE]

    def is_reachable(self, commit: str) -> bool:
        return self._is_below(commit, self.head())

    def tree_of(self, commit: str) -> str:
        return "t0" if commit == BASE else self.made[commit].tree

    def missing(self, _objects: Iterable[str]) -> set[str]:
        """Trees are never lost here (tests/engine/test_reconcile.py loses them)."""
        return set()

    def started(self) -> Began:
        return Began()

    def back_up_tip(self) -> str:
        """What the branch lost is kept, and the mirror follows the branch."""
        if self.tip == self.branch:
            return ""
        self.backups.append(self.tip)
        self.tip = self.branch
        return f"backup-{len(self.backups)}"

    # ── what is performed ──────────────────────────────────────────────────────────────────────────────────────────

    def line(self, start: str = "") -> list[str]:
        """The commits below one (the head), newest first."""
        found = [start or self.head()]
        while found[-1] != BASE:
            found.append(self.made[found[-1]].parent)
        return found

    def _is_below(self, older: str, newer: str) -> bool:
        return older in self.line(newer)

    def commit(self, effect: ef.Commit, branch: str) -> ev.AnyEvent:
        """Raises MovedBack when the branch lacks commits that the mirror has."""
        head = self.head()
        if head != effect.base:
            for entry in self.since_base():
                if entry.task == effect.task and (entry.effect == effect.id or entry.tree == effect.tree):
                    return self._fact(effect, entry, branch)
            if not self._is_below(effect.base, head):
                return ev.BaseMoved(id=effect.id, task=effect.task, base=head, conflicts=("a.py",))
            return ev.BaseMoved(id=effect.id, task=effect.task, base=head, tree=f"{effect.tree}+{head}")
        mirror = self._by_mirror()
        if not mirror and self.tip != self.branch and not self._is_below(self.tip, self.branch):
            raise MovedBack("the branch was moved and lacks commits that the mirror has", kind="transient")
        entry = LogEntry(
            commit=f"c{len(self.made) + 1}", tree=effect.tree, parent=head, at=0.0,
            subject=effect.message.partition("\n")[0], task=effect.task, effect=effect.id,
        )  # fmt: skip
        self.made[entry.commit] = entry
        self.tip = entry.commit
        if self.checked_out or (mirror and self.branch != self.held):
            self.held = self.held or self.branch
        else:
            self.branch, self.held = entry.commit, ""
        return self._fact(effect, entry, branch)

    def restore(self, effect: ef.RestoreBranch, state: State, kept: int) -> ev.BranchMoved:
        """The engine moves the branch back to its `kept` oldest commits; the others stay on a backup."""
        there = self.line()[::-1]
        self.backups.append(self.tip)
        self.branch = self.tip = there[min(kept, len(there)) - 1]
        self.held = ""
        gone = tuple(
            task.id for task in state.tasks.values()
            if task.on_branch and task.commit not in self.line()
        )  # fmt: skip
        return ev.BranchMoved(
            id=effect.id, commit=self.branch, tree=self.tree_of(self.branch), backup="b", reason=effect.reason,
            reopened=gone,
        )  # fmt: skip

    @staticmethod
    def _fact(effect: ef.Commit, entry: LogEntry, branch: str) -> ev.Committed:
        return ev.Committed(
            id=effect.id, task=effect.task, commit=entry.commit, tree=entry.tree, message=effect.message, branch=branch
        )

    # ── the user ───────────────────────────────────────────────────────────────────────────────────────────────────

    def user_at_git(self, rng: random.Random) -> None:
        match rng.choice(["delete", "check out", "check in", "move back"]):
            case "delete" if not self.checked_out:
                self.branch = ""
            case "check out":
                self.checked_out = bool(self.branch)
            case "check in":
                self.checked_out = False
            case "move back" if self.branch not in ("", BASE) and not self.held:
                self.branch = rng.choice(self.line(self.branch)[1:])
                self.meddled = True
            case _:
                pass
