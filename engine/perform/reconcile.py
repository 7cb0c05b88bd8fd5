"""Journal against branch and logs: what one knows and the other does not, as events.

Commits of ours that the journal never heard of (it is older than the branch: a restored backup, deleted files) are
taken up; their tasks are not done twice. Commits it knows and the branch lost (the user moved it back) are gone by the
user's own word: their tasks are open again, the commits stay on a backup ref. Those that the user rewrote (a rebase,
another message) are the same work under another name. Trees it knows and the store lost are made again. Calls it never
heard of are charged as reserved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.state import State, Status
from engine.core.task_state import Step
from engine.core.wording import plural
from engine.perform.workspace.facts import LogEntry
from engine.perform.workspace.workspace import Workspace

TITLE = 20
"""Characters of a task's title that its commit's subject has to have."""


def at_start(
    workspace: Workspace, state: State, recorded: Callable[[], Collection[str]], at: float = 0.0
) -> list[ev.AnyEvent]:
    """What is to be said before a run goes on. `recorded`: every commit the journal has; asked only if it matters."""
    if not workspace.has_started():
        return _begun_anew(workspace, state, at)
    workspace.bring_back(state.head)
    return [*_branch(workspace, state, recorded), *_lost(workspace, state)]


def _branch(workspace: Workspace, state: State, recorded: Callable[[], Collection[str]]) -> list[ev.AnyEvent]:
    head = workspace.head()
    if state.head and head == state.head:
        return []
    entries = workspace.since_base()
    back = _unheard_of(state, entries, recorded)
    gone = _gone(workspace, state, entries)
    if not back and not gone:
        return []
    moved = _moved(workspace, state, head, gone, back, entries)
    if state.base:
        return [moved]
    base = workspace.started().base  # the journal does not even know where the sprint began
    ready = ev.WorkspaceReady(id="", task="", lane=-1, tree=workspace.tree_of(base), base=base)
    return [ready, moved]


def _lost(workspace: Workspace, state: State) -> list[ev.AnyEvent]:
    """Tasks under way whose trees are gone with the state folder, or never reached its disk."""
    named = {
        task.id: {one for one in (task.tree, task.base, task.good_tree, task.rollback) if one}
        for task in state.tasks.values()
        if task.status is Status.RUNNING
    }
    gone = workspace.missing(set().union(*named.values()))
    said = "what it had made is gone from the state folder (deleted, or a power cut): it is done again, at no charge"
    return [ev.WorkLost(task=name, reason=f"{said} to its iterations") for name, trees in named.items() if trees & gone]


def _begun_anew(workspace: Workspace, state: State, at: float) -> list[ev.AnyEvent]:
    """A landed sprint whose refs were cleaned away has work again: it begins where the user's files are now."""
    left = any(not task.ended for task in state.tasks.values())
    if not state.head or not left or not workspace.in_users_history(state.head):
        return []
    base = workspace.start_sprint(at).base
    said = "it had landed and was cleaned up; it goes on from your files as they are now"
    return [ev.BranchMoved(commit=base, tree=workspace.tree_of(base), backup="", reason=said)]


def before_moving(workspace: Workspace, state: State) -> ev.BranchMoved | None:
    """The branch lost commits while the run was on: that is known before anything is put on it or proven of it."""
    head = workspace.head()
    if not state.head or head == state.head:
        return None
    entries = workspace.since_base()
    gone = _gone(workspace, state, entries)
    return _moved(workspace, state, head, gone, {}, entries) if gone else None


def _unheard_of(state: State, entries: Iterable[LogEntry], recorded: Callable[[], Collection[str]]) -> dict[str, str]:
    """Tasks that are not complete by the journal and have a commit of their own that it never recorded."""
    found: dict[str, str] = {}
    for name, own in _of_tasks(state, entries).items():
        task = state.tasks[name]
        if task.status is Status.COMPLETE:
            continue
        if task.status is Status.RUNNING and task.step is Step.COMMIT:
            continue  # killed between the commit and its record: the commit finds itself
        found[name] = own.commit
    if not found:
        return {}
    known = recorded()
    return {name: commit for name, commit in found.items() if commit not in known}


def _of_tasks(state: State, entries: Iterable[LogEntry]) -> dict[str, LogEntry]:
    """The newest commit of ours for each task; a title of its own tells it from a sprint that once had this name."""
    newest: dict[str, LogEntry] = {}
    for entry in entries:
        newest.setdefault(entry.task, entry)
    return {
        name: own
        for name, task in state.tasks.items()
        if (own := newest.get(name)) is not None and own.effect and clean_line(task.spec.title)[:TITLE] in own.subject
    }


def _rewritten(
    workspace: Workspace, state: State, gone: Collection[str], entries: Iterable[LogEntry]
) -> dict[str, str]:
    """Of the tasks whose commits are gone, those with another one that the old branch did not have: it was rebased."""
    own = _of_tasks(state, entries)
    at = {name: own[name].commit for name in gone if name in own}
    return {name: commit for name, commit in at.items() if not workspace.was_before(commit, state.head)}


def _gone(workspace: Workspace, state: State, entries: Iterable[LogEntry]) -> tuple[str, ...]:
    there = {entry.commit for entry in entries}
    return tuple(
        task.id
        for task in state.tasks.values()
        if task.on_branch and task.commit not in there and not workspace.is_reachable(task.commit)
    )


def _moved(
    workspace: Workspace,
    state: State,
    head: str,
    gone: tuple[str, ...],
    back: dict[str, str],
    entries: Iterable[LogEntry],
) -> ev.BranchMoved:
    again = _rewritten(workspace, state, gone, entries)
    lost = tuple(name for name in gone if name not in again)
    said = []
    if lost:
        said.append(f"the branch was moved back by hand to {head[:10]}: {', '.join(lost)} open again")
    if again:
        said.append(f"the branch was rewritten by hand: {', '.join(again)} stand at commits of other names")
    if back:
        said.append(f"the branch has commits that the journal had lost: {', '.join(back)} taken up")
    return ev.BranchMoved(
        commit=head,
        tree=workspace.tree_of(head),
        backup=workspace.back_up_tip() if gone else "",
        reason="; ".join(said),
        reopened=lost,
        restored={**back, **again},
    )


def unheard_calls(
    logs: Path, state: State, last: float, recorded: Callable[[], Collection[str]]
) -> ev.SpendFound | None:
    """Calls with a log from after the journal's last event: it is older than they are, and their cost went with it."""
    late = [path.stem for path in logs.glob("*.raw") if last and _written(path) > last]
    known = recorded() if late else ()  # a clock that ran ahead makes known ones look late
    calls = [name for name in late if name not in known]
    if not calls:
        return None
    reserve = max((rung.reserve_usd for rung in state.policy.ladder.rungs), default=0.0)
    said = f"{plural(len(calls), 'agent call')} made after the last event of the journal: charged as reserved"
    return ev.SpendFound(calls=len(calls), charged_usd=len(calls) * reserve, reason=said)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
