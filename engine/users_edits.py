"""The user's edits of plan.md and config.toml while a sprint runs, as facts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from engine.clock import Clock
from engine.config import Config, ConfigRefused, config_hash
from engine.core import events as ev
from engine.core.model import Plan
from engine.core.policy import Policy
from engine.core.state import State
from engine.plans.change import describe_change
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import parse_plan, read_bytes
from engine.plans.sprints import SprintFolder
from engine.project import Project
from engine.view_writer import Views, as_marked

EVERY = 0.4
"""Seconds between two looks at the files."""
LONG_ENOUGH = 5
"""Looks at a file that never stands still, before it is read all the same."""


class UsersEdits:
    """Looks at the two files, and says what is new in them. Cheap enough to be asked before every task."""

    def __init__(
        self,
        project: Project,
        sprint: SprintFolder,
        *,
        views: Views,
        state: Callable[[], State],
        policy_of: Callable[[Config], Policy],
        config: Config,
    ) -> None:
        self._project = project
        self._sprint = sprint
        self._views = views
        self._state = state
        self._policy_of = policy_of
        self._config_hash = config_hash(config)
        self._seen: tuple[tuple[int, ...], ...] = ()
        self._unread: dict[Path, str] = {}
        """Files that could not be read at the last look, and what was said of it."""

    async def watch(self, tell: Callable[[list[ev.AnyEvent]], None], clock: Clock) -> None:
        """Tell of each edit as it is saved, until cancelled.

        By looking, two stats a time: a file that another was renamed over is seen like one written in place, and
        nothing is needed that a machine short of threads or descriptors refuses (a watcher that cannot have its thread
        ends the whole process). What is still being written is read once it stands still.
        """
        tell(self.look())
        last, moving = self._seen, 0
        while True:
            await clock.sleep(EVERY)
            now = self._signatures()
            moving = moving + 1 if now not in (self._seen, last) else 0
            if (now != self._seen or self._unread) and (now == last or moving >= LONG_ENOUGH):
                tell(self.look())
            last = now

    def look(self) -> list[ev.AnyEvent]:
        """What the user changed since the last look. Costs two stats when nothing was."""
        seen = self._signatures()
        was, self._seen = self._seen, seen
        if seen == was and not self._unread:
            return []
        found: list[ev.AnyEvent] = []
        for path, old, new, read in zip(self._files(), was or ((), ()), seen, self._readers(), strict=True):
            if old != new or path in self._unread:
                found += self._what_is_new(path, read)
        return found

    def _what_is_new(self, path: Path, read: Callable[[], list[ev.AnyEvent]]) -> list[ev.AnyEvent]:
        """A file that cannot be read at all (no right, no descriptor, a disk that fails) is looked at again until it
        can; one with something wrong in it, when it is saved again."""
        said = self._unread.pop(path, "")
        try:
            return read()
        except (PlanRefused, ConfigRefused) as refused:
            noted = self._folder_gone() or _not_taken_up(refused)
            if not isinstance(refused.__cause__, OSError):
                return [noted]
            self._unread[path] = noted.text
            return [noted] if noted.text != said else []

    def _folder_gone(self) -> ev.Noted | None:
        """The whole folder of the sprint was deleted: no file in it is to be mended."""
        if self._sprint.path.exists():
            return None
        said = (
            f"{self._sprint.path} was deleted: the plan that was read last holds, and is written back when the run ends"
        )
        return ev.Noted(text=said, level="warning", hint="bring it back, or let the run end")

    def _readers(self) -> tuple[Callable[[], list[ev.AnyEvent]], ...]:
        return self._plan_now, self._config_now

    def _plan_now(self) -> list[ev.AnyEvent]:
        plan = self._read_plan()
        return self.of_plan(plan) if plan is not None else []

    def _config_now(self) -> list[ev.AnyEvent]:
        config = self._project.config()
        if config_hash(config) == self._config_hash:
            return []
        if lost := _lost(self._project.repo.config):  # all would be as by default: no budget of the user's
            said = f"{self._project.repo.config} is {lost}: the settings that were in it still hold"
            return [ev.Noted(text=said, level="warning", hint="bring it back, or stop the run")]
        self._config_hash = config_hash(config)
        said = "budgets, gates, ladder and limits of the new config.toml hold from now on; checks from the next run"
        return [ev.PolicyChanged(policy=self._policy_of(config), summary=said)]

    def of_plan(self, plan: Plan) -> list[ev.AnyEvent]:
        """The user's edit of plan.md: of the plan that runs, or of a draft, which is then checked and asked about."""
        known = self._state().plan
        if known is None:
            return self._of_draft(plan)
        summary = describe_change(as_marked(known, self._state()), replace(plan, status=known.status))
        return [ev.PlanChanged(plan=plan, summary=summary)] if summary else []

    def _of_draft(self, plan: Plan) -> list[ev.AnyEvent]:
        planning = self._state().planning
        draft = planning.plan if planning is not None and planning.under_way else None
        if draft is None or not self._views.edited():
            return []
        same = not describe_change(draft, replace(plan, status=draft.status))
        return [] if same else [ev.PlanDrafted(id="", plan=plan, by="you")]

    def _signatures(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_signature(path) for path in self._files())

    def _files(self) -> tuple[Path, Path]:
        return self._sprint.plan_path, self._project.repo.config

    def _read_plan(self) -> Plan | None:
        """plan.md, where more than the engine's own marks may be new in it."""
        path = self._sprint.plan_path
        if self._sprint.unplanned():
            return None
        data = read_bytes(path)
        if self._views.read_all_of(data):
            return None
        plan = parse_plan(path, data)
        self._views.has_read(data)
        return plan


def _not_taken_up(refused: Exception) -> ev.Noted:
    said = str(refused).splitlines()[0]
    return ev.Noted(text=f"not taken up: {said}", level="warning", hint="mend it and save again")


def _lost(path: Path) -> str:
    """Why a file says nothing of what the user wants: taken away, or cut to nothing by a save that is under way or met
    a full disk. In a word; empty where it does say something."""
    try:
        return "" if path.stat().st_size else "empty"
    except OSError:
        return "gone"


def _signature(path: Path) -> tuple[int, ...]:
    """Another file, another content, or none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
