"""What the workspace says: frozen data, and the one error it raises."""

from __future__ import annotations

from pathlib import Path

from engine.core.model import FileChange, Finding, MachineFault, Struct, Verdict
from engine.core.vocabulary import FailureKind


class WorkspaceError(Exception):
    """Something the user must know of, in one line, with what to type next. `kind` as in events.EffectFailed."""

    def __init__(
        self, message: str, hint: str = "", kind: FailureKind = "permanent", fault: MachineFault | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.kind = kind
        self.fault = fault
        """The machine's, not the task's: the run waits until it is over."""


class Refused(WorkspaceError):  # noqa: N818 — it is an answer, not a fault
    """The repository is in a state the engine does not work on; `hint` is the command that ends it."""


class MovedBack(WorkspaceError):  # noqa: N818 — it is the user's doing, not a fault
    """The sprint branch lacks commits that it had: nothing is put on top before the journal knows."""


class Identity(Struct, frozen=True, kw_only=True):
    """Author and committer of every commit the engine makes."""

    name: str = "devteam"
    email: str = "devteam@localhost"


class RepoReport(Struct, frozen=True, kw_only=True):
    """What preflight saw. `refusal` empty: the repository can be worked on."""

    refusal: str = ""
    command: str = ""
    """What to type to end the refused state."""
    notes: tuple[str, ...] = ()
    head: str = ""
    """Commit, or empty in a repository without one."""
    branch: str = ""
    """Full name of the checked-out branch; empty: detached."""
    states: tuple[str, ...] = ()
    """Short names of what is special: unborn, detached, shallow, submodules, lfs, sparse, nested, symlinks …"""
    files: int = 0
    """How many it has."""

    @property
    def ok(self) -> bool:
        return not self.refusal


class Started(Struct, frozen=True, kw_only=True):
    """The record of a sprint's start: what the user's checkout was."""

    sprint: str
    base: str
    """The commit the sprint works on: the user's HEAD, or the snapshot on top of it."""
    tree: str
    head: str = ""
    """The user's HEAD; empty: there was no commit."""
    branch: str = ""
    """The user's branch; empty: detached."""
    index_tree: str = ""
    """What the user had staged, as a tree."""
    left_out: tuple[str, ...] = ()
    """Untracked files that stay with the user: secret-looking, nested repositories."""

    @property
    def snapshot(self) -> bool:
        return self.base != self.head


class Prepared(Struct, frozen=True, kw_only=True):
    tree: str
    base: str
    path: Path


class Odd(Struct, frozen=True, kw_only=True):
    """Something in a lane that cannot be part of a tree."""

    path: str
    rule: str
    """nested-repository, special-file, too-large, too-many, too-deep, bad-name or submodule."""
    text: str
    whole: bool = False
    """The whole folder is foreign, not only the .git in it."""


class Scan(Struct, frozen=True, kw_only=True):
    """A lane's content as a tree, and what could not go into it."""

    tree: str
    odd: tuple[Odd, ...] = ()
    touched: tuple[str, ...] = ()
    """Paths that were looked at again: a superset of what changed since the last scan."""


class ScopeReport(Struct, frozen=True, kw_only=True):
    """Everything events.ScopeChecked needs."""

    verdict: Verdict
    tree: str
    changes: tuple[FileChange, ...] = ()
    attempt_changes: tuple[FileChange, ...] = ()
    reverted: tuple[str, ...] = ()
    kept_aside: str = ""
    findings: tuple[Finding, ...] = ()
    reason: str = ""


class Committed(Struct, frozen=True, kw_only=True):
    commit: str
    tree: str
    message: str
    branch: str
    already: bool = False
    """It had been made before: this call changed nothing."""


class Moved(Struct, frozen=True, kw_only=True):
    """The sprint branch went on meanwhile, and both changes fit together: `tree` on `base` is to be judged again."""

    base: str
    tree: str
    same_patch: bool = False
    """The task's own change is the same on the new base."""
    landed: tuple[str, ...] = ()
    """Subjects of the commits in between, oldest first."""
    difference: str = ""
    """Where it is not the same: what is different in it now."""


class Conflict(Struct, frozen=True, kw_only=True):
    """The sprint branch went on meanwhile, and the two changes do not fit."""

    base: str
    paths: tuple[str, ...]
    landed: tuple[str, ...] = ()


class Looked(Struct, frozen=True, kw_only=True):
    """The repository as planning sees it."""

    base: str
    tree: str
    files: tuple[str, ...]
    commits: tuple[str, ...]
    """Subjects of the latest commits."""


class LogEntry(Struct, frozen=True, kw_only=True):
    commit: str
    tree: str
    parent: str
    at: float
    subject: str
    task: str = ""
    effect: str = ""
    evidence: str = ""


class LandReport(Struct, frozen=True, kw_only=True):
    """What landing did, or why it did not."""

    ok: bool
    landed: bool = False
    commit: str = ""
    """Where the user's branch is, or would be."""
    branch: str = ""
    detail: str = ""
    differs: tuple[str, ...] = ()
    """What stands in the way, one line each."""
    offers: tuple[str, ...] = ()
    """Commands that do it another way."""
    changes: tuple[FileChange, ...] = ()
    keeps_uncommitted: bool = True
    """The user's edits from before the sprint stay uncommitted; False: they are in the snapshot commit."""
    kept: str = ""
    """The ref that has what was replaced."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    id: str
    commit: str
    at: float
    reason: str
    files: tuple[str, ...] = ()
    folder: str = ""
    """Where the files were laid out; empty until they are asked for."""
    contents: dict[str, str] = {}
    """Name to hash of its content, which is kept once."""


class Baseline(Struct, frozen=True, kw_only=True):
    milestone: str
    ref: str
    commit: str
    at: float = 0.0
    description: str = ""


class Rollback(Struct, frozen=True, kw_only=True):
    """A move of the sprint branch, and the ref that undoes it."""

    commit: str
    tree: str
    before: str
    backup: str
    reason: str
    moved: bool = True
