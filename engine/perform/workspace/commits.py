"""One commit per completed task, on the sprint branch, once: however often it is asked for, and whoever came first."""

from __future__ import annotations

import difflib

from engine.core.clean import clean, clean_line
from engine.perform.workspace import branch as sprint_branch
from engine.perform.workspace import leaks, one_commit, packs, trees
from engine.perform.workspace.branch import branch_of
from engine.perform.workspace.facts import Committed, Conflict, LogEntry, Moved
from engine.perform.workspace.git import GitError
from engine.perform.workspace.names import shown
from engine.perform.workspace.progress import Progress, but_pages, with_pages
from engine.perform.workspace.store import Store

DIFFERENCE = 4_000
"""Characters of a difference that are kept for the gate."""


def commit(
    store: Store,
    sprint: str,
    task: str,
    tree: str,
    base: str,
    message: str,
    evidence: str,
    effect: str,
    at: float,
    override: str = "",
    progress: Progress | None = None,
) -> Committed | Moved | Conflict:
    """Commit a judged tree on top of `base`; if the branch has moved, say how the two fit together.

    A repetition after kill -9 finds the commit by its trailer. With `progress` the commit carries plan and progress as
    well; what was judged is the rest of it.
    """
    branch = branch_of(sprint)
    with store.lock:
        head = sprint_branch.head(store, sprint)
        text = _message(sprint, task, message, evidence, effect, override)
        if head != base:
            done = _found(store, sprint, trees.log(store.git, head, f"^{base}"), task, effect, base, tree)
            if done is not None:
                return Committed(commit=done.commit, tree=done.tree, message=done.subject, branch=branch, already=True)
            if not trees.is_ancestor(store.git, base, head):  # moved back: a merge would bring what it lost along
                paths = tuple(shown(change.path) for change in trees.diff(store.git, base, tree, lines=False))
                return Conflict(base=head, paths=paths)
            return _beside(store, head, base, tree, text, at)
        if (half := _half_done(store, sprint, task, effect, base, tree)) is not None:
            return half
        leaks.refuse(store, trees.tree_of(store.git, base), tree)
        whole = with_pages(store, sprint, progress, tree, task) if progress is not None else tree
        new = _write(store, whole, base, text, at)
        try:
            with packs.taken(store, new, (base,)):
                branch = sprint_branch.move(store, sprint, new, head)
        except GitError:
            if sprint_branch.head(store, sprint) == head:
                raise
            return commit(store, sprint, task, tree, base, message, evidence, effect, at, override, progress)
    return Committed(commit=new, tree=whole, message=clean_line(message), branch=branch)


def _half_done(store: Store, sprint: str, task: str, effect: str, base: str, tree: str) -> Committed | None:
    """The mirror has this very commit and the branch does not: the move of both was cut short between the two, for git
    moves several refs one after another. Had the user moved the branch back, the task would be open again by now."""
    now = sprint_branch.heads(store.repo, sprint)
    if now.branch != base or now.tip in ("", base) or not trees.is_ancestor(store.git, base, now.tip):
        return None
    done = _found(store, sprint, trees.log(store.git, now.tip, f"^{base}"), task, effect, base, tree)
    if done is None or done.commit != now.tip:
        return None
    branch = sprint_branch.follow(store, sprint)
    return Committed(commit=done.commit, tree=done.tree, message=done.subject, branch=branch, already=True)


def _found(
    store: Store, sprint: str, entries: list[LogEntry], task: str, effect: str, base: str, tree: str
) -> LogEntry | None:
    """The task's own commit, by its effect, its tree, its files or its patch. Another task's is never it, whatever its
    effect is called: a journal that was put back numbers its effects anew."""
    own = [entry for entry in entries if entry.task == clean_line(task)]
    for entry in own:
        if entry.effect == clean_line(effect) or entry.tree == tree:
            return entry
    for entry in own:
        if _files(store, sprint, entry.parent, entry.tree) == _files(store, sprint, base, tree):
            return entry
        patch = trees.patch_id(store.git, base, tree)
        if patch and patch == trees.patch_id(store.git, entry.parent, entry.tree):
            return entry
    return None


def _files(store: Store, sprint: str, before: str, after: str) -> list[tuple[bytes, bytes, bytes]]:
    """What a change makes of each file, plan and progress aside: those are written as the sprint goes on."""
    changes = but_pages(trees.diff(store.git, before, after, lines=False), sprint)
    return [(change.path, change.new_mode, change.new) for change in changes]


def _beside(store: Store, head: str, base: str, tree: str, text: str, at: float) -> Moved | Conflict:
    """The branch has moved: the task's change on top of it, if the two do not touch the same lines."""
    mine = _write(store, tree, base, text, at)
    merged, conflicts = trees.merge(store.git, head, mine)
    landed = tuple(clean_line(entry.subject) for entry in trees.log(store.git, head, f"^{base}"))[::-1]
    if not merged:
        return Conflict(base=head, paths=conflicts, landed=landed)
    before, after = trees.patch_id(store.git, base, tree), trees.patch_id(store.git, head, merged)
    if before == after:
        return Moved(base=head, tree=merged, same_patch=True, landed=landed)
    difference = _interdiff(trees.patch(store.git, base, tree), trees.patch(store.git, head, merged))
    return Moved(base=head, tree=merged, landed=landed, difference=difference)


def _interdiff(old: str, new: str) -> str:
    """What is different between two forms of one change: only its own lines, without places and context."""
    lines = difflib.unified_diff(_own_lines(old), _own_lines(new), "before", "now", lineterm="", n=1)
    return clean("\n".join(lines))[:DIFFERENCE]


def _own_lines(patch: str) -> list[str]:
    return [line for line in patch.splitlines() if line.startswith(("+", "-", "diff "))]


def _write(store: Store, tree: str, parent: str, text: str, at: float) -> str:
    return one_commit.write(store.git, store.repo.identity, store.scratch, tree, parent, text, at)


def _message(sprint: str, task: str, message: str, evidence: str, effect: str, override: str) -> str:
    """Subject, body and trailers. A line that looks like a trailer of ours is not taken from anybody else."""
    subject, _, body = clean(message).strip().partition("\n")
    lines = [
        " " + line if line.lstrip().lower().startswith("devteam-") else line.rstrip() for line in body.splitlines()
    ]
    trailers = [("Sprint", sprint), ("Task", task), ("Effect", effect), ("Evidence", evidence), ("Override", override)]
    tail = [f"Devteam-{name}: {clean_line(value)}" for name, value in trailers if value]
    head = clean_line(subject) or clean_line(f"devteam: {task}")
    middle = "\n".join(lines).strip()
    return "\n\n".join(part for part in (head, middle, "\n".join(tail)) if part) + "\n"
