"""The door of this room: one object per sprint. Every method blocks; callers use asyncio.to_thread."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from pathlib import Path

from engine.core.model import MachineFault
from engine.globs import matcher
from engine.perform.process.spawning import Mount
from engine.perform.workspace import branch as sprint_branch
from engine.perform.workspace import (
    checkout_copy,
    commits,
    dotgit,
    environment,
    followed,
    git_service,
    land,
    lanes,
    old_sprints,
    points,
    preflight,
    room,
    scope,
    start,
    submodules,
    trees,
)
from engine.perform.workspace.facts import (
    Committed,
    Conflict,
    Identity,
    LandReport,
    LogEntry,
    Looked,
    Moved,
    Prepared,
    Refused,
    RepoReport,
    ScopeReport,
    Started,
    WorkspaceError,
)  # fmt: skip
from engine.perform.workspace.git import GitError, nul_split
from engine.perform.workspace.ignore import Rules, rules_of
from engine.perform.workspace.progress import Progress
from engine.perform.workspace.repository import Repository, find, git_error_as_refusal, others_done
from engine.perform.workspace.restorable import Restorable
from engine.perform.workspace.scope import Bounds, Limits
from engine.perform.workspace.secrets import Detector, nothing_known
from engine.perform.workspace.shape import shape
from engine.perform.workspace.store import Store, open_store

CACHES = frozenset(("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"))
"""Ignored folders that tools write as they go: never bound."""


class Workspace(Restorable):
    """A repository as one sprint sees it."""

    def __init__(
        self, store: Store, sprint: str, protected: tuple[str, ...], copy: tuple[str, ...], limits: Limits,
        mounts: tuple[Mount, ...],
    ) -> None:  # fmt: skip
        super().__init__(store, sprint)
        self.protected = protected
        self.copy = copy
        self.limits = limits
        self.mounts = mounts
        """The user's dependency folders: bound read-only beneath the mounted clone."""
        self.branch = sprint_branch.branch_of(sprint)
        self._own_head = ""
        self.progress = Progress(on=False)
        """Whether commits carry plan and progress."""

    @classmethod
    def open(
        cls, checkout: Path, state: Path, sprint: str, identity: Identity | None = None,
        protected: tuple[str, ...] = (), copy: tuple[str, ...] = (), limits: Limits | None = None,
        home: Path | None = None, mounts: tuple[Mount, ...] | None = None, detect: Detector = nothing_known,
    ) -> Workspace:  # fmt: skip
        """Open, or make, the workspace of a sprint. Raises Refused when the repository cannot be worked on.

        `mounts` None: learnt from the checkout (environment.find). `state` lies outside the checkout.
        """
        who = identity or Identity()
        repo = find(checkout, who, home)
        if repo.checkout == Path(state).absolute() or repo.checkout in Path(state).absolute().parents:
            raise Refused(f"the state directory {state} lies inside the checkout", hint="set XDG_STATE_HOME elsewhere")
        try:
            found = environment.find(repo, home) if mounts is None else mounts
        except GitError as problem:
            raise git_error_as_refusal(problem, repo.checkout) from problem
        store = open_store(state, repo, detect)
        if mounts is None and (repo.checkout / ".gitmodules").is_file():
            found = (*found, *submodules.fill(store).mounts)
        return cls(store, sprint, protected, copy, limits or Limits(), found)

    @property
    def repo(self) -> Repository:
        return self.store.repo

    @property
    def checkout(self) -> Path:
        return self.store.repo.checkout

    # ── start ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def preflight(self) -> RepoReport:
        return preflight.inspect(self.repo)

    def start_sprint(self, at: float) -> Started:
        """The base snapshot and the sprint branch. Raises Refused for a state that preflight refuses."""
        if start.record(self.store, self.sprint) is None:
            others_done(self.repo)
            report = self.preflight()
            if not report.ok:
                raise Refused(report.refusal, hint=report.command)
        self.store.sweep(at)
        return start.start(self.store, self.sprint, at)

    def stand_on_head(self) -> None:
        """For a workspace that never becomes a sprint: its head is the user's own commit."""
        self._own_head = self.repo.head()[0]

    def started(self) -> Started:
        record = start.record(self.store, self.sprint)
        if record is None:
            raise Refused(f"sprint {self.sprint} has not started here", hint="devteam run")
        return record

    def has_started(self) -> bool:
        """Whether the sprint began here. Its record is made anew from the refs where only that was lost."""
        return start.known(self.store, self.sprint) is not None

    def since_base(self) -> list[LogEntry]:
        """The sprint's own commits, newest first."""
        return trees.log(self.store.git, self.head(), f"^{self.started().base}")

    def bring_back(self, commit: str) -> None:
        """Where every ref of the sprint is gone, the engine's own objects may still have what the journal names."""
        sprint_branch.bring_back(self.store, self.sprint, commit, self.started())

    def back_up_tip(self) -> str:
        """Keep what the mirror has and the branch lost under a ref; the mirror follows the branch. Returns the ref."""
        return points.back_up_tip(self.store, self.sprint)

    def look(self, lane: int, at: float, commits: int = 15) -> Looked:
        """Give a lane the user's files as they are now, for agents that only read. No sprint begins by it."""
        report = self.preflight()
        if not report.ok:
            raise Refused(report.refusal, hint=report.command)
        base, tree = start.look(self.store, self.sprint, at)
        self.prepare(lane, tree, base)
        head, _branch = self.repo.head()
        subjects = [entry.subject for entry in trees.log(self.store.git, head, limit=commits)] if head else []
        return Looked(base=base, tree=tree, files=self.files(tree), commits=tuple(subjects))

    def files(self, tree: str) -> tuple[str, ...]:
        """The paths of a tree, for people and globs."""
        return trees.names(self.store.git, tree)

    # ── lanes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def warm(self, lane: int) -> None:
        """Make the lane's clone ahead of its first use. Nothing depends on it: `prepare` makes what is not there."""
        lanes.ensure_clone(self.store, lane)

    def prepare(self, lane: int, tree: str | None = None, base: str | None = None) -> Prepared:
        """The lane's clone with exactly that content (default: the sprint branch's head)."""
        head = base or self.head()
        wanted = trees.tree_of(self.store.git, tree or head)
        own = start.own_excludes(self.store, self.sprint)
        made = lanes.prepare(self.store, lane, wanted, head, self._rules(head), self.copy, own)
        environment.copy_inputs(self.checkout, made.path, self.copy)
        environment.make_mount_points(self.mounts, self.checkout, made.path)
        return made

    def missing(self, objects: Iterable[str]) -> set[str]:
        """Those that neither the engine's store nor the repository has."""
        wanted = sorted(objects)
        found = git_service.read(self.store.git, [one.encode() for one in wanted])
        return {one for one, there in zip(wanted, found, strict=True) if there is None}

    def lane_path(self, lane: int) -> Path:
        return dotgit.folder_of(self.store, lane)

    def ignored_folders(self, lane: int) -> tuple[str, ...]:
        """Ignored folders with something in them, topmost only."""
        view = lanes.view_of(self.store, lane)
        followed.tell_index(self.store, view)
        listing = ("ls-files", "-z", "--others", "--ignored", "--directory", "--no-empty-directory")
        found = nul_split(view.git.run(*listing, *self._rules(self.head()).arguments(), "--"))
        names = (os.fsdecode(path.rstrip(b"/")) for path in found if path.endswith(b"/"))
        return tuple(name for name in names if Path(name).name not in CACHES)

    def snapshot(self, lane: int, base: str | None = None) -> str:
        """The lane's content as a tree."""
        limits = self.limits
        return lanes.look(self.store, lane, self._rules(base or self.head()), limits.max_file, limits.max_files).tree

    def back_up_lane(self, lane: int, name: str, at: float) -> str:
        """Pin what the lane holds now, before the next attempt starts from another tree. Returns the ref."""
        return points.back_up_tree(self.store, self.sprint, self.snapshot(lane), name, at)

    def check_scope(
        self, lane: int, before: str, base: str, globs: Iterable[str] = (), effect: str = "",
        waived: Iterable[str] = (),
    ) -> ScopeReport:  # fmt: skip
        """Judge what the attempt did, put back what it may not do, keep that aside under aside/<sprint>/<effect>/.

        The same effect asked again (a killed engine) gets the same report; without an id there is no such memory.
        """
        bounds = Bounds(tuple(globs), self.protected, tuple(waived), self.limits)
        return scope.check(
            self.store, lane, before, base, bounds, self._rules(base), f"{self.sprint}/{effect or uuid.uuid4().hex}"
        )

    def _rules(self, base: str) -> Rules:
        tree = trees.tree_of(self.store.git, base)
        own = start.own_excludes(self.store, self.sprint)
        return rules_of(self.store.git, tree, self.store.folder("rules", self.sprint), own, self.copy)

    # ── commits ────────────────────────────────────────────────────────────────────────────────────────────────────

    def commit(
        self, task: str, tree: str, base: str, message: str, evidence: str, effect: str, at: float, override: str = ""
    ) -> Committed | Moved | Conflict:
        return commits.commit(
            self.store, self.sprint, task, tree, base, message, evidence, effect, at, override, self.progress
        )

    def keep_tree(self, task: str, name: str, tree: str, base: str, reason: str, evidence: str, at: float) -> str:
        """Pin what a task had come to, on its base. Returns the ref."""
        return points.keep_tree(self.store, self.sprint, task, name, tree, base, reason, evidence, at)

    def has_it(self) -> str:
        """The ref that has the sprint's commits: its branch, or the mirror while somebody has that checked out."""
        return sprint_branch.has_it(self.store, self.sprint)

    def heard(self) -> list[str]:
        """What was found out of place and mended since this was last asked."""
        said, self.store.said[:] = list(self.store.said), []
        return said

    def stands(self, head: str = "") -> None:
        """Raises WorkspaceError, with the fault, where the repository, the sprint's commits or its refs are not to be
        had: really tried. `head`: the commit the sprint is at by the journal, brought back where no ref has it."""
        if not (self.repo.git_dir / "HEAD").exists():
            where = self.checkout
            raise WorkspaceError(f"there is no repository at {where} any more", fault=MachineFault.REPO_MOVED)
        self.store.git.run("rev-parse", "--git-dir")  # a new one: those that last do not read what a start reads
        if (folder := self.repo.unwritable()) is not None:
            said, hint = f"{folder} cannot be written", f"chown or chmod what is below {self.repo.common_dir}"
            raise WorkspaceError(f"{said}: {hint}", fault=MachineFault.STORE_FAULT)
        others_done(self.repo)
        if self.has_started():
            self.bring_back(head)
        self.repo.try_locks([self.branch, sprint_branch.ref_of(self.sprint, "tip")])
        if self.has_started():  # last: a start that was kept from making the refs by a lock has its record already
            self.tree_of(self.head())

    def head(self) -> str:
        """The sprint's commit."""
        return self._own_head or points.branch_tip(self.store, self.sprint)

    def log(self, limit: int = 20) -> list[LogEntry]:
        return trees.log(self.store.git, self.head(), limit=limit)

    def is_reachable(self, commit: str, branch: str | None = None) -> bool:
        if branch is None:
            return sprint_branch.reachable(self.store, self.sprint, commit)
        tip = self.repo.resolve(branch)
        return bool(tip) and trees.is_ancestor(self.store.git, commit, tip)

    def was_before(self, commit: str, old: str) -> bool:
        """Whether a commit stood on the branch when that was at `old`; what is gone cannot be asked, and had it."""
        return bool(self.missing({old})) or trees.is_ancestor(self.store.git, commit, old)

    def in_users_history(self, commit: str) -> bool:
        """Whether a branch or tag of the user's own has the commit."""
        return old_sprints.in_users_history(self.store, commit)

    # ── the clean room ─────────────────────────────────────────────────────────────────────────────────────────────

    def export(self, tree: str, dest: Path | None = None, paths: Iterable[str] = (), keep: Iterable[str] = ()) -> Path:
        """The clean room: `dest` (default: room/ in the state directory) holds exactly `tree`, and the mount points."""
        where = dest or self.store.root / "room"
        room.export(self.store, tree, where, paths, keep)
        if not paths:
            environment.copy_inputs(self.checkout, where, self.copy)
            environment.make_mount_points(self.mounts, self.checkout, where)
        return where

    def hash_room(self, dest: Path | None = None) -> str:
        return room.hash_room(self.store, dest or self.store.root / "room")

    # ── landing ────────────────────────────────────────────────────────────────────────────────────────────────────

    def land(self, apply: bool = True) -> LandReport:
        others_done(self.repo)
        return land.land(self.store, self.started(), apply, self.progress)

    def name_to_merge(self) -> str:
        """What `git merge` brings the sprint's work with, and nothing else."""
        return land.name_to_merge(self.store, self.started())

    def land_patch(self, target: Path) -> LandReport:
        return land.write_patch(self.store, self.started(), target)

    # ── environment ────────────────────────────────────────────────────────────────────────────────────────────────

    def user_tree(self) -> str:
        """The user's files as a tree, as a sprint started now would have them."""
        return start.user_files(self.store, self.store.index("user-tree"))[0].tree

    def copy_checkout(self, dest: Path) -> checkout_copy.Copied:
        """A copy of the checkout with what no clone has; carried folders are bound there as in a clone."""
        copied = checkout_copy.copy_checkout(self.store, dest, (mount.dest for mount in self.mounts))
        environment.make_mount_points(self.mounts, self.checkout, dest)
        return copied

    def has_more_than_a_clone(self) -> bool:
        """Whether ignored files lie in the checkout besides what is carried, copied or only a tool's cache."""
        carried = {mount.dest for mount in self.mounts}
        copied = matcher(self.copy)
        for path in environment.ignored(self.repo):
            name = os.fsdecode(path.rstrip(b"/"))
            known = self.checkout / name in carried or copied(path.rstrip(b"/")) or name.partition("/")[0] == ".devteam"
            if not known and not checkout_copy.is_cache(name):
                return True
        return False

    def empty_submodules(self) -> tuple[str, ...]:
        """Submodules of which nothing lies here."""
        return submodules.fill(self.store).empty if (self.checkout / ".gitmodules").is_file() else ()

    def shape(self) -> str:
        """Names what a room gets besides its tree, as it is now."""
        return shape(self.checkout, self.copy, self.mounts)

    def map_path(self, text: str, lane: int) -> str:
        """Paths of the lane's clone in output, as the user knows them."""
        return environment.map_path(text, self.lane_path(lane), self.checkout)
