"""What landings replaced of the user's files, once its sprint leaves: one ref for all of it, however many landed.

Each landing is a commit of the ref's first-parent line, with the replaced files as its tree, so that
`git checkout COMMIT -- PATH` brings one back. What the user's own history has anyway is not kept twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.perform.workspace import packs, trees
from engine.perform.workspace.git import GitError
from engine.perform.workspace.old_sprints import drop_refs, in_users_history
from engine.perform.workspace.store import Store

REF = "refs/devteam/replaced"


def fold(store: Store, refs: dict[str, str]) -> tuple[int, int]:
    """Drop the refs of landings; returns how many went, and of how many `REF` now has what nothing else has.

    All or none: where git cannot write, they stay as they are."""
    alone = only_there(store, refs)
    if not alone:
        drop_refs(store, refs)
        return len(refs), 0
    repo = store.repo
    before = repo.at(REF).get(REF, "")
    git = store.git.with_env(GIT_AUTHOR_DATE="@0 +0000", GIT_COMMITTER_DATE="@0 +0000")
    tip = before
    try:
        for name in alone:
            parents = [word for oid in (tip, refs[name]) if oid for word in ("-p", oid)]
            text = f"devteam: your files that landing {name.split('/')[2]} replaced\n\nWas {name}"
            tip = git.line("commit-tree", trees.tree_of(store.git, refs[name]), *parents, "-m", text)
        changes = [(REF, tip, before or repo.null)]
        changes += [(name, repo.null, oid) for name, oid in sorted(refs.items())]
        with packs.taken(store, tip, (before, *(refs[name] for name in alone))):
            repo.update_refs(changes, "devteam: cleaned")
    except GitError:
        return 0, 0
    return len(refs), len(alone)


def only_there(store: Store, refs: dict[str, str]) -> Sequence[str]:
    """The refs that keep something which no branch or tag of the user's has, oldest sprint first."""
    return [name for name in sorted(refs) if not _elsewhere(store, refs[name])]


def _elsewhere(store: Store, commit: str) -> bool:
    """The place landed on, or files as that place has them."""
    if in_users_history(store, commit):
        return True
    git = store.repo.git()
    try:
        parents = git.line("rev-list", "--parents", "-1", commit).split()[1:]
        if len(parents) != 1 or not in_users_history(store, parents[0]):
            return False
        return not git.run("diff-tree", "-r", "--no-renames", "--diff-filter=d", "--name-only", parents[0], commit)
    except GitError:
        return False
