"""Cleaning put together: the same for `devteam clean` and for a run that begins. What goes is said."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core import events as ev
from engine.core.retention import Use
from engine.core.wording import plural
from engine.journal import Journal, JournalMissing
from engine.perform.cleaning import REPLACED, Cleaner, Cleaning, Removed
from engine.perform.workspace.old_sprints import size_of
from engine.perform.workspace.replaced import REF
from engine.perform.workspace.store import Store
from engine.project import Project, load_state

LARGE = 256_000_000
"""Bytes of the engine's own objects from which on a run that begins makes them few again."""


def cleaned(
    project: Project,
    store: Store,
    keep: int,
    now: float,
    *,
    dry_run: bool = False,
    worn: bool = True,
    current: str = "",
) -> Cleaning:
    """By a connection of its own: a thread may ask. The caller holds the engine's lock."""
    try:
        journal = Journal.open(project.repo.db, clock=lambda: now, backup_dir=project.backups, read_only=True)
    except JournalMissing:
        return Cleaning(traces=(), leaving=(), removed=())
    with journal:
        cleaner = Cleaner(
            project.state, store, journal, lambda sprint: load_state(journal, sprint), now=now, current=current
        )
        return cleaner.clean(keep, dry_run=dry_run, worn=worn)


def at_start(project: Project, store: Store, keep: int, now: float, sprint: str) -> list[ev.AnyEvent]:
    """What a run that begins has to say about what it removed. Costs one listing while there is nothing to do."""
    if not keep or len(list((project.state.root / "sprints").glob("*/"))) <= keep:
        return []
    worn = size_of(store.git_objects)[1] > LARGE
    done = cleaned(project, store, keep, now, worn=worn, current=sprint)
    if not (listed := _listed(done.removed)):
        return []
    said = f"cleaned up after {plural(len(done.leaving), 'ended sprint')}: {listed}"
    return [ev.Noted(text=said, hint="workspace.keep_sprints in config.toml says how many are kept")]


def words(done: Cleaning, *, dry_run: bool) -> list[str]:
    """What went and what stayed, a line each."""
    lines = []
    for sprint in done.leaving:
        parts = [one for one in done.removed if one.sprint == sprint]
        lines.append(f"{sprint}: {'would go' if dry_run else 'gone'}: {_listed(parts)}")
    if shared := _listed([one for one in done.removed if not one.sprint]):
        lines.append(f"of all sprints: {'would go' if dry_run else 'gone'}: {shared}")
    if not lines:
        lines.append("nothing to clean")
    total = sum(one.bytes for one in done.removed)
    if total:
        lines.append(f"{'to free' if dry_run else 'freed'}: {total / 1e6:.1f} MB")
    stayed = [
        f"{count} {'ended, among the newest' if use is Use.ENDED else use.value}" for use, count in done.kept().items()
    ]
    if stayed:
        lines.append(f"kept whole: {', '.join(stayed)}")
    if any(one.what == REPLACED for one in done.removed):
        lines.append(f"git log --first-parent {REF} lists them; git checkout COMMIT -- PATH brings a file back")
    if any(one.what == "refs" for one in done.removed):
        lines.append("kept of all: the journal, plans, reports, and the evidence of every commit")
    return lines


def _listed(removed: Sequence[Removed]) -> str:
    by_kind: dict[str, tuple[int, int]] = {}
    for one in removed:
        files, size = by_kind.get(one.what, (0, 0))
        by_kind[one.what] = files + one.files, size + one.bytes
    return ", ".join(_counted(what, files, size) for what, (files, size) in by_kind.items() if files)


def _counted(what: str, files: int, size: int) -> str:
    if what == "refs":
        return plural(files, "ref")
    if what == REPLACED:
        return f"what {plural(files, 'landing')} replaced, kept in {REF}"
    return f"{what} ({plural(files, 'file')}, {size / 1e6:.1f} MB)"
