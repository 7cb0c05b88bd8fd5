"""Checkpoints, baselines and rollback: records of places on the branch, a backup ref before every move back of it, the
user's work never touched."""

from __future__ import annotations

import hashlib
import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine.core.clean import clean_line
from engine.files import write
from engine.perform.workspace import leaks, one_commit, packs, trees
from engine.perform.workspace.branch import branch_of, heads, move, ref_of
from engine.perform.workspace.branch import head as sprint_head
from engine.perform.workspace.facts import Baseline, Checkpoint, Refused, Rollback, WorkspaceError
from engine.perform.workspace.putback import clean_name
from engine.perform.workspace.repository import STEP
from engine.perform.workspace.store import Store

SEARCHED = 10
"""Commits looked at for a good one, unless the configuration says otherwise."""
FAR = 10_000
"""Further than any sprint goes."""


def save_checkpoint(
    store: Store, sprint: str, checkpoint: str, reason: str, at: float, files: Mapping[str, Path | bytes]
) -> Checkpoint:
    """Remember the branch's place, and the given files (name → path or content) by their content.

    A content is kept once, however many checkpoints name it. No ref is needed: the commit is on the branch, and what
    moves the branch back keeps it under a backup ref."""
    name = clean_name(checkpoint)
    commit = sprint_head(store, sprint)
    contents: dict[str, str] = {}
    for given, source in files.items():
        if isinstance(source, bytes):
            contents[clean_name(given)] = _keep(store, sprint, source)
        elif source.is_file():
            contents[clean_name(given)] = _keep(store, sprint, source.read_bytes())
    point = Checkpoint(
        id=name, commit=commit, at=at, reason=clean_line(reason), files=tuple(sorted(contents)), contents=contents
    )
    # last: without it there is no checkpoint
    write(store.folder("checkpoints", sprint) / f"{name}.json", msgspec.json.encode(point))
    return point


def _keep(store: Store, sprint: str, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    path = store.folder("checkpoints", sprint, "contents") / digest
    if not path.exists():
        write(path, zlib.compress(data))
    return digest


def _laid_out(store: Store, sprint: str, point: Checkpoint) -> Checkpoint:
    """The checkpoint with its files in a folder, for the caller to take up."""
    if point.folder:  # kept in the form of older versions
        return point
    folder = store.folder("checkpoints", sprint, "restored", point.id)
    for name, digest in point.contents.items():
        data = (store.folder("checkpoints", sprint, "contents") / digest).read_bytes()
        write(folder / name, zlib.decompress(data))
    return replace(point, folder=str(folder))


def list_checkpoints(store: Store, sprint: str) -> list[Checkpoint]:
    """Oldest first."""
    found = []
    folder = store.folder("checkpoints", sprint)
    for path in (*folder.glob("*.json"), *folder.glob("*/checkpoint.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Checkpoint))
        except (OSError, msgspec.MsgspecError):
            continue
    return sorted(found, key=lambda point: (point.at, point.id))


def restore_checkpoint(store: Store, sprint: str, checkpoint: str, at: float) -> tuple[Rollback, Checkpoint]:
    """Move the sprint branch back to a checkpoint; its files are in `folder` for the caller to take up."""
    point = next((item for item in list_checkpoints(store, sprint) if item.id == clean_name(checkpoint)), None)
    if point is None:
        raise Refused(f"there is no checkpoint {clean_line(checkpoint)}", hint="devteam checkpoint list")
    return go_to(store, sprint, point.commit, f"checkpoint {point.id}", at), _laid_out(store, sprint, point)


def create_baseline(store: Store, sprint: str, milestone: str, at: float, description: str = "") -> Baseline:
    """A name for the branch's place. The same milestone at the same place is the same baseline.

    A record in the state folder, as a checkpoint is: no ref, or the user's repository would have one for each task."""
    commit = sprint_head(store, sprint)
    name = next(name for name in _numbered(clean_name(milestone)) if _place(store, sprint, name) in ("", commit))
    made = Baseline(
        milestone=milestone, ref=f"baseline/{name}", commit=commit, at=at, description=clean_line(description)
    )
    write(store.folder("baselines", sprint) / f"{name}.json", msgspec.json.encode(made))
    return made


def _place(store: Store, sprint: str, name: str) -> str:
    """The commit of the baseline of this name; empty: there is none."""
    kept = _recorded(store.folder("baselines", sprint) / f"{name}.json")
    if kept is not None:
        return kept.commit
    ref = ref_of(sprint, "baseline", name)  # of an older version
    return store.repo.at(ref).get(ref, "")


def _recorded(path: Path) -> Baseline | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Baseline)
    except (OSError, msgspec.MsgspecError):
        return None


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in itertools.count(2))


def list_baselines(store: Store, sprint: str) -> list[Baseline]:
    """Oldest first; those of older versions, which were refs, too."""
    found = {}
    for ref, commit in store.repo.refs(ref_of(sprint, "baseline")).items():
        name = ref.rsplit("/", 1)[1]
        found[name] = Baseline(milestone=name, ref=ref, commit=commit)
    for path in store.folder("baselines", sprint).glob("*.json"):
        if (kept := _recorded(path)) is not None:
            found[path.stem] = kept
    return sorted(found.values(), key=lambda item: (item.at, item.ref))


def roll_back_to_baseline(store: Store, sprint: str, baseline: str, at: float) -> Rollback:
    """By milestone (the latest of that name), by its whole name, or by the last part of that."""
    found = list_baselines(store, sprint)
    named = [item for item in found if baseline in (item.milestone, item.ref, item.ref.rsplit("/", 1)[-1])]
    if not named:
        raise Refused(f"there is no baseline {clean_line(baseline)}", hint="devteam baseline list")
    return go_to(store, sprint, named[-1].commit, f"baseline {clean_line(baseline)}", at)


# ── rollback ───────────────────────────────────────────────────────────────────────────────────────────────────────


def last_good(store: Store, sprint: str, is_good: Callable[[str], bool], most: int = SEARCHED) -> str:
    """The newest of the branch's last commits that is good; the base counts. Empty: none is."""
    return next((commit for commit in newest_commits(store, sprint, most) if is_good(commit)), "")


def newest_commits(store: Store, sprint: str, most: int = SEARCHED) -> list[str]:
    """The branch's last commits, newest first, down to the sprint's base."""
    base = store.repo.resolve(ref_of(sprint, "base"))
    found = []
    for entry in trees.log(store.git, branch_tip(store, sprint), limit=most):
        found.append(entry.commit)
        if entry.commit == base:
            break
    return found


def branch_tip(store: Store, sprint: str) -> str:
    return sprint_head(store, sprint)


def roll_back_auto(store: Store, sprint: str, at: float, is_good: Callable[[str], bool]) -> Rollback:
    """If the tip is not good, back commit by commit to one that is, however far. Never past the sprint's base."""
    head = sprint_head(store, sprint)
    good = last_good(store, sprint, is_good, FAR)
    if not good:
        raise WorkspaceError("the base itself is not good: nothing to roll back to", hint="devteam rollback check")
    return _still(store, head, "the tip is good") if good == head else go_to(store, sprint, good, "back to good", at)


def roll_back_smart(
    store: Store, sprint: str, at: float, is_good: Callable[[str], bool], most: int = SEARCHED
) -> Rollback:
    """Back to the last good commit among the newest."""
    head = sprint_head(store, sprint)
    good = last_good(store, sprint, is_good, most)
    if not good:
        raise WorkspaceError(f"none of the last {most} commits is good", hint="devteam baseline list")
    if good == head:
        return _still(store, head, "the tip is good")
    return go_to(store, sprint, good, "last good commit", at)


def undo(store: Store, sprint: str, at: float) -> Rollback:
    """Back to where the branch was before its last move back. Undoing twice goes forth again."""
    backups = sorted(store.repo.refs(ref_of(sprint, "backup")).items(), key=lambda item: _number(item[0]))
    moves = [(ref, commit) for ref, commit in backups if ref.rsplit("/", 1)[1].startswith("rollback-")]
    if not moves:
        raise WorkspaceError("nothing was rolled back", hint="devteam baseline list")
    return go_to(store, sprint, moves[-1][1], "undo", at)


def go_to(store: Store, sprint: str, commit: str, reason: str, at: float) -> Rollback:
    """Move the sprint branch; where it was stays under a backup ref. Only to a commit of this sprint."""
    with store.lock:
        head = sprint_head(store, sprint)
        if commit == head:
            return _still(store, head, reason)
        if not _belongs(store, sprint, commit):
            raise Refused(f"{commit[:12]} is not a commit of sprint {sprint}", hint="devteam baseline list")
        backup = _next_backup(store, sprint)
        _set(store, backup, head)
        move(store, sprint, commit, head, f"devteam: roll back, {clean_line(reason)}")
    tree = trees.tree_of(store.git, commit)
    return Rollback(commit=commit, tree=tree, before=head, backup=backup, reason=reason)


def back_up_tip(store: Store, sprint: str) -> str:
    """The branch was moved back by hand: what it lost is kept as by any rollback, and the mirror follows."""
    with store.lock:
        now = heads(store.repo, sprint)
        if not now.tip or now.tip == now.branch:
            return ""
        backup = _next_backup(store, sprint)
        changes = [(backup, now.tip, store.repo.null), (ref_of(sprint, "tip"), now.branch, now.tip)]
        store.repo.update_refs(changes, "devteam: the branch was moved back by hand")
    return backup


def _next_backup(store: Store, sprint: str) -> str:
    number = 1 + max((_number(ref) for ref in store.repo.refs(ref_of(sprint, "backup"))), default=0)
    return ref_of(sprint, "backup", f"rollback-{number}")


def _belongs(store: Store, sprint: str, commit: str) -> bool:
    """On top of the sprint's base, and in the branch or under a ref the engine made."""
    base = store.repo.resolve(ref_of(sprint, "base"))
    if base and not trees.is_ancestor(store.git, base, commit):
        return False
    kept = store.repo.git().run("for-each-ref", "--contains", commit, "--count=1", ref_of(sprint), branch_of(sprint))
    return bool(kept.strip())


def back_up_tree(store: Store, sprint: str, tree: str, name: str, at: float) -> str:
    """Pin a lane's tree under a backup ref (events.RolledBack), so that an attempt given up can still be looked at."""
    ref = ref_of(sprint, "backup", f"tree-{clean_name(name)}")
    head = sprint_head(store, sprint)
    tree, left_out = leaks.without(store, trees.tree_of(store.git, head), tree)
    text = f"devteam: put aside, {clean_line(name)}{_left_out(left_out)}\n"
    commit = one_commit.write(store.git, store.repo.identity, store.scratch, tree, head, text, at)
    with packs.taken(store, commit, (head,)):
        _set(store, ref, commit)
    return ref


def keep_tree(
    store: Store, sprint: str, task: str, name: str, tree: str, base: str, reason: str, evidence: str, at: float
) -> str:
    """Pin a task's tree under refs/devteam/<sprint>/task/<id>/<name>: a commit on the base it was made for."""
    ref = ref_of(sprint, "task", clean_name(task), clean_name(name))
    tail = [("Sprint", sprint), ("Kept", task), ("Evidence", evidence)]
    trailers = "\n".join(f"Devteam-{word}: {clean_line(value)}" for word, value in tail if value)
    tree, left_out = leaks.without(store, trees.tree_of(store.git, base), tree)
    about = f"{clean_line(reason)}{_left_out(left_out)}"
    text = f"devteam: kept of task {clean_line(task)}, {clean_line(name)}\n\n{about}\n\n{trailers}\n"
    commit = one_commit.write(store.git, store.repo.identity, store.scratch, tree, base, text, at)
    with packs.taken(store, commit, (base,)):
        _set(store, ref, commit)
    return ref


def _left_out(places: tuple[str, ...]) -> str:
    return f"\n\nLeft out for a secret in it: {clean_line(', '.join(places))}" if places else ""


def _still(store: Store, head: str, reason: str) -> Rollback:
    tree = trees.tree_of(store.git, head)
    return Rollback(commit=head, tree=tree, before=head, backup="", reason=reason, moved=False)


def _number(ref: str) -> int:
    tail = ref.rsplit("-", 1)[-1]
    return int(tail) if tail.isdigit() else 0


def _set(store: Store, ref: str, commit: str) -> None:
    """A ref of ours: without a log of its own, so why it is moved is said nowhere."""
    old = store.repo.at(ref).get(ref, store.repo.null)
    if old != commit:
        store.repo.update_refs([(ref, commit, old)], STEP)
