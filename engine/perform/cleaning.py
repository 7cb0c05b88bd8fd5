"""Removal of what ended sprints left: their folders, their refs, evidence that no kept sprint and no landed commit
names, and, where nothing is unfinished, clones, rooms and the engine's own objects.

Only while no other engine is at work: the caller holds the lock."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from engine.core import events as ev
from engine.core.effects import Commit
from engine.core.model import Struct
from engine.core.retention import Trace, Use, leaving, use_of
from engine.core.state import State
from engine.paths import StatePaths
from engine.perform.workspace import replaced
from engine.perform.workspace.old_sprints import (
    compact,
    drop_refs,
    ends_of,
    holds_the_users,
    in_users_history,
    is_checked_out,
    refs_of,
    size_of,
)
from engine.perform.workspace.store import Store

NAMED = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
"""Objects and evidence in a JSON text: whatever looks like one is taken for one."""
BY_SPRINT = ("checkpoints", "aside", "baselines", "rules", "sprints", "logs")
"""Folders of the state directory with a folder for each sprint."""
WORN = ("lanes/*", "room/*", "scratch/*", "tmp/*", "index/lane-*", "index/room-*")
"""What every run makes anew."""
REPLACED = "replaced"
"""Landings whose replaced files move to the one ref that has those of all older ones."""
RECENT = 3600.0
"""Seconds: evidence so young may belong to something that is not recorded yet."""


class History(Protocol):
    """What is asked of the journal."""

    def streams(self) -> list[str]: ...

    def read(self, stream: str | None = None) -> Iterator[ev.Envelope]: ...


class Removed(Struct, frozen=True, kw_only=True):
    """One thing that went, or would."""

    what: str
    sprint: str = ""
    files: int = 0
    bytes: int = 0


class Cleaning(Struct, frozen=True, kw_only=True):
    """What was looked at, and what came of it."""

    traces: tuple[Trace, ...]
    leaving: tuple[str, ...]
    removed: tuple[Removed, ...]

    def kept(self) -> dict[Use, int]:
        stay = [trace.use for trace in self.traces if trace.sprint not in self.leaving]
        return {use: stay.count(use) for use in Use if use in stay}


class Cleaner:
    """One cleaning of one repository's state."""

    def __init__(
        self,
        places: StatePaths,
        store: Store,
        journal: History,
        state_of: Callable[[str], State],
        *,
        now: float,
        current: str = "",
    ) -> None:
        """`current`: a sprint that is about to run."""
        self._places = places
        self._store = store
        self._journal = journal
        self._state_of = state_of
        self._now = now
        self._current = current

    def clean(self, keep: int, *, dry_run: bool, worn: bool) -> Cleaning:
        """`worn`: also clones and rooms, where no sprint is unfinished."""
        traces = tuple(Trace(sprint, self._use(sprint)) for sprint in self._sprints())
        going = leaving(traces, keep)
        removed = [one for sprint in going for one in self._sprint(sprint, traces, dry_run)]
        removed += self._evidence(going, dry_run)
        idle = not any(trace.use in (Use.RUNNING, Use.UNFINISHED) for trace in traces)
        if worn and idle:
            removed += self._worn(going, dry_run)
        return Cleaning(traces=traces, leaving=going, removed=tuple(removed))

    # ── which ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _sprints(self) -> list[str]:
        """Sprints that have left something, oldest first."""
        found = {path.name for name in BY_SPRINT for path in (self._places.root / name).glob("*/")}
        found |= {name.split("/")[2] for name in self._store.repo.refs("refs/devteam")}
        return sorted(found & set(self._journal.streams()), key=_age)

    def _use(self, sprint: str) -> Use:
        state = self._state_of(sprint)
        current = sprint == self._current
        return use_of(
            state,
            current=current,
            landed=not current and self._landed(sprint),
            checked_out=not current and is_checked_out(self._store, sprint),
        )

    def _landed(self, sprint: str) -> bool:
        """By the history, or by the journal where landing wrote the commits anew."""
        commits, landing = 0, ""
        for envelope in self._journal.read(sprint):
            match envelope.event:
                case ev.Committed():
                    commits, landing = commits + 1, ""
                case ev.Landed(ok=True) as event:
                    landing = event.commit
                case _:
                    pass
        ends = ends_of(self._store, sprint)
        if all(in_users_history(self._store, end) for end in ends) and (ends or not commits):
            return True
        return len(ends) < 2 and (not commits or (bool(landing) and in_users_history(self._store, landing)))

    # ── what ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _sprint(self, sprint: str, traces: Sequence[Trace], dry_run: bool) -> Iterator[Removed]:
        root = self._places.root
        paths = [root / name / sprint for name in BY_SPRINT]
        paths += (root / "index").glob(f"base-{sprint}*")
        number = sprint.partition("-")[0]
        if not any(t.sprint != sprint and t.sprint.partition("-")[0] == number for t in traces):
            paths.append(self._places.homes_of(sprint))
        for path in paths:
            yield from self._gone(path, sprint, dry_run)
        found = refs_of(self._store, sprint)
        landed = {name: oid for name, oid in found.items() if holds_the_users(name)}
        refs = {name: oid for name, oid in found.items() if name not in landed}
        # What landings replaced first: the files are told apart by what the rest of the repository has.
        gone, folded = self._landings(landed, dry_run)
        if refs and not dry_run:
            drop_refs(self._store, refs)
        if refs or gone:
            yield Removed(what="refs", sprint=sprint, files=len(refs) + gone)
        if folded:
            yield Removed(what=REPLACED, sprint=sprint, files=folded)

    def _landings(self, refs: dict[str, str], dry_run: bool) -> tuple[int, int]:
        if not refs:
            return 0, 0
        return (len(refs), len(replaced.only_there(self._store, refs))) if dry_run else replaced.fold(self._store, refs)

    def _evidence(self, going: Sequence[str], dry_run: bool) -> Iterator[Removed]:
        if not going:
            return
        folder = self._places.evidence
        needed = self._with_what_they_name(self._evidence_named(set(going)))
        count = total = 0
        for path in (*folder.glob("*.json"), *(folder / "artefacts").glob("*")):
            if path.stem in needed or self._now - path.stat().st_mtime < RECENT:
                continue
            files, size = size_of(path)
            count, total = count + files, total + size
            if not dry_run:
                self._store.grave.remove(path)
        if count:
            yield Removed(what="evidence of attempts that did not land", files=count, bytes=total)

    def _evidence_named(self, going: set[str]) -> set[str]:
        """By everything of the sprints that stay, and by the commits of all."""
        named: set[str] = set()
        for envelope in self._journal.read():
            event = envelope.event
            committing = isinstance(event, ev.EffectStarted) and isinstance(event.effect, Commit)
            if envelope.stream not in going or committing:
                named |= _names_in(msgspec.json.encode(event))
        return named

    def _with_what_they_name(self, names: set[str]) -> set[str]:
        """Records name the records and artefacts they rest on."""
        todo, seen = list(names), set(names)
        while todo:
            path = self._places.evidence / f"{todo.pop()}.json"
            if path.is_file():
                more = _names_in(path.read_bytes()) - seen
                seen |= more
                todo += more
        return seen

    def _worn(self, going: Sequence[str], dry_run: bool) -> Iterator[Removed]:
        for pattern in WORN:
            for path in self._places.root.glob(pattern):
                yield from self._gone(path, "", dry_run)
        before = size_of(self._store.git_objects)
        if not dry_run and compact(self._store, self._objects_named(set(going))):
            after = size_of(self._store.git_objects)
            yield Removed(what="objects", files=max(0, before[0] - after[0]), bytes=max(0, before[1] - after[1]))

    def _objects_named(self, going: set[str]) -> set[str]:
        """By the sprints that stay, in the journal and in their records."""
        named: set[str] = set()
        for envelope in self._journal.read():
            if envelope.stream not in going:
                named |= _names_in(msgspec.json.encode(envelope.event))
        for path in self._records():
            named |= _names_in(path.read_bytes())
        return named

    def _records(self) -> Iterable[Path]:
        root = self._places.root
        for name in ("sprints", "baselines", "checkpoints"):
            yield from (root / name).glob("*/*.json")

    def _gone(self, path: Path, sprint: str, dry_run: bool) -> Iterator[Removed]:
        if not (path.exists() or path.is_symlink()):
            return
        files, size = size_of(path)
        if not dry_run:
            self._store.grave.discard(path)
        what = path.relative_to(self._places.root).parts[0]
        yield Removed(what=what, sprint=sprint, files=files, bytes=size)


def _age(sprint: str) -> tuple[int, str]:
    """Sprints are numbered; the thousandth is younger than the 999th."""
    number = sprint.partition("-")[0]
    return (int(number) if number.isascii() and number.isdigit() else 0), sprint


def _names_in(text: bytes) -> set[str]:
    return {found.decode() for found in NAMED.findall(text)}
