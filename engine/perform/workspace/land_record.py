"""What is remembered of a sprint's landings: where checkout and sprint last met, and one that is under way."""

from __future__ import annotations

import msgspec

from engine.perform.workspace.facts import Started
from engine.perform.workspace.repository import ours
from engine.perform.workspace.store import Store


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """Where the user's checkout and the sprint's history meet: at the start, and again after each landing."""

    head: str
    base: str
    tree: str
    index_tree: str
    branch: str


class Under(msgspec.Struct, frozen=True, kw_only=True):
    """A landing under way."""

    tip: str
    target: str
    index_tree: str
    included: bool


def anchor_of(store: Store, started: Started) -> Anchor:
    try:
        return msgspec.json.decode((store.folder("sprints", started.sprint) / "anchor.json").read_bytes(), type=Anchor)
    except (OSError, msgspec.MsgspecError):
        return Anchor(
            head=started.head,
            base=started.base,
            tree=started.tree,
            index_tree=started.index_tree,
            branch=started.branch,
        )


def under_way(store: Store, sprint: str) -> Under | None:
    try:
        return msgspec.json.decode((store.folder("sprints", sprint) / "land.json").read_bytes(), type=Under)
    except (OSError, msgspec.MsgspecError):
        return None


def own_lock(store: Store) -> bool:
    return ours(store.repo.git_dir)
