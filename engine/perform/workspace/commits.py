"""One commit per completed task, on the sprint branch, once: however often it is asked for, and whoever came first."""

from __future__ import annotations

from engine.core.clean import clean, clean_line
from engine.perform.workspace import trees
from engine.perform.workspace.facts import Committed, Conflict, LogEntry, Moved, WorkspaceError
from engine.perform.workspace.git import GitError
from engine.perform.workspace.start import branch_of, ref_of
from engine.perform.workspace.store import Store


def commit(
    store: Store, sprint: str, task: str, tree: str, base: str, message: str, evidence: str, effect: str, at: float
) -> Committed | Moved | Conflict:
    """Commit a judged tree on top of `base`; if the branch has moved, say how the two fit together.

    The commit's id depends only on its arguments, so that a repetition after kill -9 makes the same one.
    """
    branch = branch_of(sprint)
    with store.lock:
        head = store.repo.resolve(branch)
        if not head:
            raise WorkspaceError(f"the branch devteam/{sprint} is gone", hint="devteam resume", kind="recoverable")
        text = _message(sprint, task, message, evidence, effect)
        if head != base:
            done = _found(trees.log(store.git, head, f"^{base}"), task, effect, tree)
            if done is not None:
                return Committed(commit=done.commit, tree=done.tree, message=done.subject, branch=branch, already=True)
            return _beside(store, head, base, tree, text, at)
        new = _write(store, tree, base, text, at)
        store.repo.take(store.git, new, (base,))
        try:
            move(store, sprint, new, head, f"devteam: {clean_line(task)}")
        except GitError:
            if store.repo.resolve(branch) == head:
                raise
            return commit(store, sprint, task, tree, base, message, evidence, effect, at)
    return Committed(commit=new, tree=tree, message=clean_line(message), branch=branch)


def move(store: Store, sprint: str, new: str, old: str, why: str) -> None:
    """Move the sprint branch and its mirror, by compare-and-swap on the branch."""
    repo = store.repo
    tip = ref_of(sprint, "tip")
    mirror = repo.refs(tip).get(tip, repo.null)
    repo.update_refs([(branch_of(sprint), new, old), (tip, new, mirror)], why)


def _found(entries: list[LogEntry], task: str, effect: str, tree: str) -> LogEntry | None:
    for entry in entries:
        if entry.effect == clean_line(effect) or (entry.task == clean_line(task) and entry.tree == tree):
            return entry
    return None


def _beside(store: Store, head: str, base: str, tree: str, text: str, at: float) -> Moved | Conflict:
    """The branch has moved: the task's change on top of it, if the two do not touch the same lines."""
    mine = _write(store, tree, base, text, at)
    merged, conflicts = trees.merge(store.git, head, mine)
    return Moved(base=head, tree=merged) if merged else Conflict(base=head, paths=conflicts)


def _write(store: Store, tree: str, parent: str, text: str, at: float) -> str:
    when = f"@{int(at)} +0000"
    git = store.git.with_env(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    return git.line("commit-tree", tree, "-p", parent, "-F", "-", stdin=text.encode("utf-8", "replace"))


def _message(sprint: str, task: str, message: str, evidence: str, effect: str) -> str:
    """Subject, body and trailers. A line that looks like a trailer of ours is not taken from anybody else."""
    subject, _, body = clean(message).strip().partition("\n")
    lines = [
        " " + line if line.lstrip().lower().startswith("devteam-") else line.rstrip() for line in body.splitlines()
    ]
    trailers = [("Sprint", sprint), ("Task", task), ("Effect", effect), ("Evidence", evidence)]
    tail = [f"Devteam-{name}: {clean_line(value)}" for name, value in trailers if value]
    head = clean_line(subject) or clean_line(f"devteam: {task}")
    middle = "\n".join(lines).strip()
    return "\n\n".join(part for part in (head, middle, "\n".join(tail)) if part) + "\n"
