"""Where a sprint's work is: its branch, the mirror that the engine keeps of it, and what to do when they differ.

The branch is the user's to look at, and they may check it out, commit on it, move or delete it. The mirror
(`refs/devteam/SPRINT/tip`) is moved by the engine alone. A branch that somebody has checked out is never moved under
them: their next commit would undo ours. The mirror goes on alone then, and `held` remembers where the branch was left.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.core.clean import clean_line
from engine.core.model import MachineFault
from engine.perform.workspace import git_service, packs, trees
from engine.perform.workspace.facts import MovedBack, Started, WorkspaceError
from engine.perform.workspace.repository import STEP, Repository
from engine.perform.workspace.store import Store


def branch_of(sprint: str) -> str:
    return f"refs/heads/devteam/{sprint}"


def ref_of(sprint: str, *parts: str) -> str:
    return "/".join((f"refs/devteam/{sprint}", *parts))


@dataclass(frozen=True)
class Heads:
    """The refs of one sprint as they are now; empty: not there."""

    branch: str
    tip: str
    held: str
    """Where the branch was when it was left behind."""


def heads(repo: Repository, sprint: str) -> Heads:
    names = branch_of(sprint), ref_of(sprint, "tip"), ref_of(sprint, "held")
    found = repo.at(*names)
    return Heads(*(found.get(name, "") for name in names))


def head(store: Store, sprint: str) -> str:
    """The commit the sprint is at. A branch that was deleted comes back where it was."""
    now = heads(store.repo, sprint)
    if not now.branch:
        return _restored(store, sprint, now)
    return now.tip if _by_mirror(store, now) else now.branch


def has_it(store: Store, sprint: str) -> str:
    """The ref that has the sprint's commits."""
    return ref_of(sprint, "tip") if _by_mirror(store, heads(store.repo, sprint)) else branch_of(sprint)


def _by_mirror(store: Store, now: Heads) -> bool:
    """The branch was left behind and has not caught up: by us, or by a merge of the user's."""
    if not now.held or not now.tip or now.branch == now.tip:
        return False
    return now.branch == now.held or not trees.is_ancestor(store.git, now.tip, now.branch)


def _restored(store: Store, sprint: str, now: Heads) -> str:
    """Somebody deleted the branch: the mirror has all of it."""
    if not now.tip:
        names = ", ".join(sorted(store.repo.refs(ref_of(sprint)))[:3])
        where = f"; there is still {names}" if names else ""
        raise WorkspaceError(
            f"the branch devteam/{sprint} and its mirror are gone{where}",
            hint=f"git branch devteam/{sprint} COMMIT   (devteam log names the commits), then again",
            kind="recoverable",
            fault=MachineFault.BRANCH_LOST,
        )
    store.repo.update_refs([(branch_of(sprint), now.tip, store.repo.null)], "devteam: the branch had been deleted")
    kept = ref_of(sprint, "tip")
    store.say(f"the branch devteam/{sprint} had been deleted: it is back at {now.tip[:10]}, which {kept} had kept")
    return now.tip


def bring_back(store: Store, sprint: str, commit: str, started: Started) -> None:
    """Branch and mirror are gone, perhaps their objects too: the engine's own store has what the journal names. So it
    is for a ref that is there and names nothing (a power cut empties files); one that does is enough for both."""
    now = heads(store.repo, sprint)
    branch, tip = branch_of(sprint), ref_of(sprint, "tip")
    broken = [name for name, oid in ((branch, now.branch), (tip, now.tip)) if _names_nothing(store, name, oid)]
    sound = [name for name, oid in ((branch, now.branch), (tip, now.tip)) if oid and name not in broken]
    if not broken and sound:
        return
    whole = ("rev-list", "--objects", "--quiet", commit, f"^{started.base}")
    there = bool(commit) and store.git.status(*whole)[0] == 0
    if not sound and not there:
        return  # nothing to bring back: `head` says what is lost
    for name in broken:
        store.repo.drop(name)
        store.say(f"{name} named no commit that is there (a power cut, a damaged disk): it is made anew")
    missing = [name for name in (branch, tip) if name not in sound]
    if not there or missing == [branch]:
        return  # the other one has all of it: see `head`
    with packs.taken(store, commit, (started.head,)):
        store.repo.update_refs([(name, commit, store.repo.null) for name in missing], "devteam: every ref was gone")
    if not sound and not broken:
        store.say(f"every ref of {sprint} was gone: devteam/{sprint} is back at {commit[:10]}")


def _names_nothing(store: Store, name: str, oid: str) -> bool:
    if not oid:
        return store.repo.unreadable(name)
    return git_service.read(store.git, [oid.encode()])[0] is None


def move(store: Store, sprint: str, new: str, old: str, why: str = STEP) -> str:
    """Move the sprint from `old` to `new` by compare-and-swap; returns the ref that has it."""
    repo = store.repo
    now = heads(repo, sprint)
    branch, tip, held = branch_of(sprint), ref_of(sprint, "tip"), ref_of(sprint, "held")
    mirror = _by_mirror(store, now)
    if not mirror and now.tip not in ("", now.branch) and not trees.is_ancestor(store.git, now.tip, now.branch):
        raise MovedBack(f"the branch devteam/{sprint} was moved and lacks commits that {tip} has", kind="transient")
    changes = [(tip, new, now.tip or repo.null)]
    behind = mirror and now.branch != now.held  # with commits of the user's on it
    place = checked_out(repo, branch)
    if behind or place:
        if (now.tip if mirror else now.branch) != old:
            raise WorkspaceError(f"the branch devteam/{sprint} is not where it was", kind="transient")
        if not mirror:
            changes.append((held, now.branch, now.held or repo.null))
            store.say(
                f"devteam/{sprint} is checked out in {clean_line(place)} and is left where it is; the sprint goes on"
                f" at {tip}: git merge {tip} brings the checkout forward"
            )
        repo.update_refs(changes, why)
        return tip
    changes.append((branch, new, now.branch if mirror else old))
    if now.held:
        changes.append((held, repo.null, now.held))
    repo.update_refs(changes, why)
    return branch


def follow(store: Store, sprint: str) -> str:
    """The second half of a move that was cut short: the branch goes where the mirror is, or is left behind."""
    now, branch, tip = heads(store.repo, sprint), branch_of(sprint), ref_of(sprint, "tip")
    if checked_out(store.repo, branch):
        store.repo.update_refs([(ref_of(sprint, "held"), now.branch, now.held or store.repo.null)], STEP)
        return tip
    store.repo.update_refs([(branch, now.tip, now.branch)], STEP)
    return branch


def caught_up(store: Store, sprint: str) -> None:
    """A branch that was left behind because it was checked out comes forward as soon as it is not."""
    now = heads(store.repo, sprint)
    if now.held and now.branch == now.held and now.tip and not checked_out(store.repo, branch_of(sprint)):
        move(store, sprint, now.tip, now.tip, "devteam: no longer checked out")


def checked_out(repo: Repository, branch: str) -> str:
    """Where this branch is checked out: the folder, or empty."""
    places = [(repo.common_dir / "HEAD", repo.common_dir.parent)]
    for linked in sorted((repo.common_dir / "worktrees").glob("*/HEAD")):
        try:
            place = (linked.parent / "gitdir").read_text().strip().removesuffix("/.git")
        except OSError:
            place = linked.parent.name
        places.append((linked, Path(place)))
    for file, folder in places:
        try:
            text = file.read_bytes().decode("utf-8", "surrogateescape").strip()
        except OSError:
            continue
        if text == f"ref: {branch}":
            return str(folder)
        if text.endswith(".invalid"):  # kept in a way that only git knows (reftable)
            listed = repo.git().run("worktree", "list", "--porcelain").decode("utf-8", "surrogateescape")
            return str(folder) if f"branch {branch}\n" in f"{listed}\n" else ""
    return ""


def reachable(store: Store, sprint: str, commit: str) -> bool:
    """Is the commit part of the sprint's work?"""
    now = heads(store.repo, sprint)
    tip = now.tip if not now.branch or _by_mirror(store, now) else now.branch
    return bool(tip) and trees.is_ancestor(store.git, commit, tip)
