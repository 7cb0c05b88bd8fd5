"""What the user merges by hand where landing is refused: the sprint's work, without what only devteam's branch needs.

The sprint branch also carries plan and progress, which lie untracked in the checkout, and what the user had not
committed when the sprint began. `git merge` of it fails on the first and would commit the second. So the work is
rebuilt on the commit the sprint began at, under a ref of its own. A branch that carries neither is merged as it is.
"""

from __future__ import annotations

from engine.perform.workspace import branch as sprint_branch
from engine.perform.workspace import packs, trees
from engine.perform.workspace.land_record import Anchor
from engine.perform.workspace.progress import but_pages
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT


def to_merge(store: Store, sprint: str, anchor: Anchor, tip: str) -> str:
    """The name for `git merge`: it brings the sprint's work and nothing else."""
    plain = sprint_branch.has_it(store, sprint).removeprefix("refs/heads/")
    if not anchor.head:
        return plain
    work = {change.path for change in but_pages(trees.diff(store.git, anchor.tree, tip, lines=False), sprint)}
    if all(change.path in work for change in trees.diff(store.git, anchor.head, tip, lines=False)):
        return plain
    name = sprint_branch.ref_of(sprint, "work")
    commit = _rebuilt(store, sprint, anchor, tip)
    before = store.repo.at(name).get(name, "")
    if before != commit:
        with packs.taken(store, commit, (anchor.head,)):
            store.repo.update_refs([(name, commit, before or store.repo.null)], f"devteam: to merge {sprint} by hand")
    return name


def _rebuilt(store: Store, sprint: str, anchor: Anchor, tip: str) -> str:
    head = trees.tree_of(store.git, anchor.head)
    parent, had = anchor.head, head
    for entry in reversed(trees.log(store.git, tip, f"^{anchor.base}")):
        work = but_pages(trees.diff(store.git, anchor.tree, entry.tree, lines=False), sprint)
        put = {change.path: (change.new_mode, change.new) if change.new_mode != ABSENT else None for change in work}
        tree = trees.edit(store.git, head, put)
        if tree != had:
            parent, had = rebuilt(store, entry.commit, tree, parent), tree
    return parent


def rebuilt(store: Store, commit: str, tree: str, parent: str) -> str:
    """The same commit (author, dates, message) with another tree and parent."""
    head, _, message = store.git.run("cat-file", "commit", commit).partition(b"\n\n")
    kept = [line for line in head.split(b"\n") if line.startswith((b"author ", b"committer ", b"encoding "))]
    lines = [b"tree " + tree.encode(), *([b"parent " + parent.encode()] if parent else []), *kept]
    data = b"\n".join(lines) + b"\n\n" + message
    return store.git.line("hash-object", "-t", "commit", "-w", "--stdin", stdin=data)
