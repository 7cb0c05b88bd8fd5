"""The start of a sprint: the user's files as a commit, made without touching their files, index, stash or branches."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import msgspec

from engine import files
from engine.perform.workspace import branch as sprint_branch
from engine.perform.workspace import packs, scan, trees
from engine.perform.workspace.branch import branch_of, ref_of
from engine.perform.workspace.environment import is_environment
from engine.perform.workspace.facts import Refused, Scan, Started
from engine.perform.workspace.ignore import LITTER
from engine.perform.workspace.names import shown
from engine.perform.workspace.repository import Repository
from engine.perform.workspace.secrets import named_like_a_secret
from engine.perform.workspace.store import Store

OURS = b".devteam"
MAX_UNTRACKED = 50_000_000


def start(store: Store, sprint: str, at: float) -> Started:
    """Take the base snapshot and make the sprint branch. Called again, it only mends what is missing."""
    started = known(store, sprint)
    if started is None:
        if store.repo.resolve(branch_of(sprint)):
            raise Refused(
                f"the branch devteam/{sprint} is there, but its record in {store.root} is gone",
                hint=f"git branch -m devteam/{sprint} devteam-{sprint}-old   (or choose another sprint)",
            )
        started = _snapshot(store, sprint, at)
    packs.release(store)
    packs.tidy(store)
    _refs(store, started)
    return started


def known(store: Store, sprint: str) -> Started | None:
    """The record of a sprint that began here; where the state folder was lost, as its refs tell it.

    What only the record knew is taken as it most likely was (nothing staged, on the branch of now): a landing compares
    it byte for byte and refuses what is not so."""
    found = record(store, sprint)
    base = "" if found is not None else store.repo.resolve(ref_of(sprint, "base"))
    if not base:
        return found
    entry = trees.log(store.git, base, limit=1)[0]
    head = entry.parent if entry.subject == _subject(sprint) else base
    staged = trees.tree_of(store.git, head) if head else entry.tree
    branch = store.repo.head()[1]
    made = Started(sprint=sprint, base=base, tree=entry.tree, head=head, branch=branch, index_tree=staged, left_out=())
    files.write(_folder(store, sprint) / "excludes", _own_excludes(store))
    files.write(_folder(store, sprint) / "start.json", msgspec.json.encode(made))
    store.say(f"the record of {sprint} in {store.root} was gone: it is made anew from {ref_of(sprint, 'base')}")
    return made


def _subject(sprint: str) -> str:
    return f"devteam: your files when {sprint} started"


def foreign(state: Path, repo: Repository) -> bool:
    """Whether a state directory's sprints are all unknown to the repository: another one, or an older clone of this,
    lay in the same place. Every sprint that started here has left its refs."""
    sprints = [path.parent.name for path in (state / "sprints").glob("*/start.json")]
    names = [name for sprint in sprints for name in (branch_of(sprint), ref_of(sprint, "base"), ref_of(sprint, "tip"))]
    return bool(names) and not repo.refs(*names)


def record(store: Store, sprint: str) -> Started | None:
    try:
        return msgspec.json.decode((_folder(store, sprint) / "start.json").read_bytes(), type=Started)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as problem:
        raise Refused(f"{_folder(store, sprint)}/start.json cannot be read: {problem}") from problem


def _folder(store: Store, sprint: str) -> Path:
    return store.folder("sprints", sprint)


def _snapshot(store: Store, sprint: str, at: float) -> Started:
    repo = store.repo
    head, branch = repo.head()
    index = store.index(f"base-{sprint}")
    seen, left_out = user_files(store, index)
    index_tree = staged_tree(store, index) if seen.touched else seen.tree
    base = head
    if not head or trees.tree_of(store.git, head) != seen.tree:
        parents = ("-p", head) if head else ()
        when = f"@{int(at)} +0000"
        base = store.git.with_env(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when).line(
            "commit-tree", seen.tree, *parents, "-m", _subject(sprint)
        )
    started = Started(
        sprint=sprint, base=base, tree=seen.tree, head=head, branch=branch, index_tree=index_tree, left_out=left_out
    )
    folder = _folder(store, sprint)
    files.write(folder / "excludes", _own_excludes(store))
    files.write(folder / "start.json", msgspec.json.encode(started))
    return started


def look(store: Store, name: str, at: float) -> tuple[str, str]:
    """The user's files as they are now, as a commit and its tree. No sprint begins by it."""
    seen, _left_out = user_files(store, store.index(f"look-{name}"))
    head, _branch = store.repo.head()
    if head and trees.tree_of(store.git, head) == seen.tree:
        return head, seen.tree
    parents = ("-p", head) if head else ()
    when = f"@{int(at)} +0000"
    git = store.git.with_env(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    return git.line("commit-tree", seen.tree, *parents, "-m", "devteam: your files when the plan was made"), seen.tree


def user_files(store: Store, index: Path) -> tuple[Scan, tuple[str, ...]]:
    """The user's checkout as a tree (tracked, modified, untracked; not ignored), and what was left out of it."""
    repo = store.repo
    copy_index(repo.git_dir, index)
    git = repo.git(index, store.git_objects)
    view = scan.View(git, index, repo.checkout)
    litter = store.folder("index") / "litter"
    files.write(litter, b"\n".join(LITTER) + b"\n")
    excludes = ("--exclude-standard", f"--exclude-from={litter}")
    secret: list[bytes] = []
    environments: dict[bytes, bool] = {}

    def in_environment(path: bytes) -> bool:
        """Below a virtual environment that no rule ignores: it is carried, it is not the user's work."""
        here = path.rpartition(b"/")[0]
        if not here:
            return False
        if here not in environments:
            folder = repo.checkout / os.fsdecode(here)
            environments[here] = is_environment(folder) or in_environment(here)
        return environments[here]

    def stays(path: bytes) -> bool:
        if in_environment(path):
            return True
        if named_like_a_secret(path):
            secret.append(path)
            return True
        return path.split(b"/", 1)[0] == OURS

    seen = scan.refresh(view, excludes, MAX_UNTRACKED, submodules="dirty", leave_out=stays)
    named = [shown(path) for path in secret] + [odd.path for odd in seen.odd]
    return seen, tuple(dict.fromkeys(named))


def staged_tree(store: Store, index: Path) -> str:
    """What the user has staged, as a tree."""
    copy = index.with_name(index.name + "-staged")
    copy_index(store.repo.git_dir, copy)
    return store.repo.git(copy, store.git_objects).line("write-tree")


def copy_index(git_dir: Path, target: Path) -> None:
    """A private copy of the user's index, with its stat cache: only what changed is read again."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    target.with_name(target.name + ".lock").unlink(missing_ok=True)
    source = git_dir / "index"
    if source.is_file():
        shutil.copyfile(source, target)
        status = source.stat()
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))  # git trusts no entry younger than its index
    else:
        target.unlink(missing_ok=True)


def _own_excludes(store: Store) -> bytes:
    """The user's personal excludes: they count as the base's rules."""
    parts = []
    for path in (store.repo.setting("core.excludesfile"), str(store.repo.common_dir / "info" / "exclude")):
        try:
            parts.append(Path(path).read_bytes() if path else b"")
        except OSError:
            continue
    return b"\n".join(parts)


def own_excludes(store: Store, sprint: str) -> bytes:
    try:
        return (_folder(store, sprint) / "excludes").read_bytes()
    except FileNotFoundError:
        return b""


def _refs(store: Store, started: Started) -> None:
    """The branch, the pinned base and a mirror of the tip: a branch deleted by hand comes back where it was."""
    repo = store.repo
    branch, base, tip = branch_of(started.sprint), ref_of(started.sprint, "base"), ref_of(started.sprint, "tip")
    have = repo.refs(branch, base, tip)
    if all(name in have for name in (branch, base, tip)):
        sprint_branch.caught_up(store, started.sprint)
        return
    latest = have.get(branch) or have.get(tip) or started.base
    changes = [
        (name, value, repo.null)
        for name, value in ((branch, latest), (base, started.base), (tip, latest))
        if name not in have
    ]
    with packs.taken(store, latest, (started.head,)) if not _whole(repo, latest) else contextlib.nullcontext():
        repo.update_refs(changes, "devteam: start")


def _whole(repo: Repository, commit: str) -> bool:
    """Whether the user's repository has the commit and everything in it that is not theirs."""
    asked = ("rev-list", "--objects", "--quiet", commit, "--not", "--branches", "--tags")
    return repo.git().status(*asked)[0] == 0
