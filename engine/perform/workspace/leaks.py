"""No tree with a secret of the user's in it is committed: changed contents are looked at, the base is not to blame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.core.model import Struct
from engine.perform.workspace import trees
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.names import shown
from engine.perform.workspace.secrets import Hit, new_shape
from engine.perform.workspace.store import Store
from engine.perform.workspace.trees import ABSENT, GITLINK, Change

AT_ONCE = 200
"""Objects read with one process: a change may have many, and memory is not endless."""


class Leak(Struct, frozen=True, kw_only=True):
    path: bytes
    line: int
    certain: bool

    @property
    def where(self) -> str:
        return f"{shown(self.path)}:{self.line}"


def refuse(store: Store, before: str, after: str) -> None:
    """Raises WorkspaceError, with file and line, where `after` has a secret that `before` has not."""
    if (before, after) in store.clean_trees:
        return
    found = [leak for leak in leaks(store, before, trees.diff(store.git, before, after, lines=False)) if leak.certain]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise WorkspaceError(
            f"not committed: {found[0].where}{more} holds a secret of yours (environment, login or .env)",
            hint="take it out of the file, or have the code read it from the environment",
        )
    store.clean_trees.add((before, after))


def without(store: Store, before: str, tree: str) -> tuple[str, tuple[str, ...]]:
    """`tree` with the files that hold a secret, or the shape of one, as `before` has them; and which they are, and why.

    For what is only put aside: work that is given up is a commit in the user's repository too, and nobody was asked
    about the key in it. The whole tree stays in the engine's own store, for the attempt that goes on from it.
    """
    if (before, tree) in store.clean_trees:
        return tree, ()
    changes = trees.diff(store.git, before, tree, lines=False)
    found = {leak.path: leak.where for leak in leaks(store, before, changes) if leak.certain}
    found |= {path: said for path, said in _shapes(store, changes) if path not in found}
    return (trees.overlay(store.git, tree, before, tuple(found)), tuple(found.values())) if found else (tree, ())


def _shapes(store: Store, changes: Iterable[Change]) -> Iterator[tuple[bytes, str]]:
    wanted = [change for change in changes if change.new_mode not in (ABSENT, GITLINK)]
    for first in range(0, len(wanted), AT_ONCE):
        some = wanted[first : first + AT_ONCE]
        new = trees.blobs(store.git, [change.new for change in some])
        told = [change for change in some if new_shape(new.get(change.new, b""), b"")]
        old = trees.blobs(store.git, [change.old for change in told if change.old_mode not in (ABSENT, GITLINK)])
        for change in told:
            if shape := new_shape(new[change.new], old.get(change.old, b"")):
                yield change.path, f"{shown(change.path)} ({shape})"


def leaks(store: Store, before: str, changes: Iterable[Change]) -> list[Leak]:
    """Secrets in the new contents that are nowhere in `before`."""
    wanted = [change for change in changes if change.new_mode not in (ABSENT, GITLINK)]
    hits = dict(_hits(store, [change.new for change in wanted]))
    if not hits:
        return []
    told = {hit.value for found in hits.values() for hit in found}
    old = set(_told(store, {change.old for change in wanted if change.old_mode not in (ABSENT, GITLINK)}))
    if told - old:  # seldom: then it may have been moved from any other file
        old |= set(_told(store, {oid for mode, oid in trees.entries(store.git, before).values() if mode != GITLINK}))
    return [
        Leak(path=change.path, line=hit.line, certain=hit.certain)
        for change in wanted
        for hit in hits.get(change.new, ())
        if hit.value not in old
    ]


def _told(store: Store, objects: Iterable[bytes]) -> Iterator[str]:
    for _, found in _hits(store, list(objects)):
        yield from (hit.value for hit in found)


def _hits(store: Store, objects: list[bytes]) -> Iterator[tuple[bytes, tuple[Hit, ...]]]:
    for first in range(0, len(objects), AT_ONCE):
        for oid, content in trees.blobs(store.git, objects[first : first + AT_ONCE]).items():
            if found := store.detect(content):
                yield oid, found
