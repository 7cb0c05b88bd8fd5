"""The property people choose us for: whatever the repository, the agent and the ending, the user's work is untouched.

A random repository state × a random agent × a random ending; then files, index bytes, HEAD, stash, configuration and
every ref outside devteam/ are compared. 25 in the suite, 500 under `make torture`; a failing seed is in the test's id.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace
from tests.workspace.payloads import PAYLOADS, script
from tests.workspace.repos import differences, fingerprint, git, make_repo, open_workspace, write

# ── what the user may have ─────────────────────────────────────────────────────────────────────────────────────────


def _stash(repo: Path) -> None:
    write(repo / "a.txt", "stashed\n")
    git(repo, "stash", "push", "-q")


def _staged(repo: Path) -> None:
    write(repo / "src/app.py", "staged\n")
    git(repo, "add", "src/app.py")


def _partly_staged(repo: Path) -> None:
    _staged(repo)
    write(repo / "src/app.py", "staged and edited\n")


def _odd_names(repo: Path) -> None:
    for name in (b"new\nline", b"\xff\xfe", b"-rf", b":(top)*"):
        with open(os.path.join(os.fsencode(repo), name), "wb") as file:
            file.write(name)


def _links(repo: Path) -> None:
    (repo / "link").symlink_to("/etc/hostname")
    (repo / "src/up").symlink_to("..")


def _branches(repo: Path) -> None:
    git(repo, "branch", "other")
    git(repo, "tag", "v1")
    git(repo, "update-ref", "refs/notes/x", "HEAD")


def _assume(repo: Path) -> None:
    git(repo, "update-index", "--assume-unchanged", "a.txt")
    write(repo / "a.txt", "quietly changed\n")


USER: dict[str, Callable[[Path], object]] = {
    "clean": lambda repo: None,
    "edited": lambda repo: write(repo / "a.txt", "edited\n"),
    "deleted": lambda repo: (repo / "src/lib.py").unlink(missing_ok=True),
    "untracked": lambda repo: write(repo / "notes/todo.txt", "mine\n"),
    "ignored": lambda repo: write(repo / "build/data.db", "precious\n"),
    "secret": lambda repo: write(repo / ".env", "S=1\n"),
    "staged": _staged,
    "partly-staged": _partly_staged,
    "stash": _stash,
    "odd-names": _odd_names,
    "links": _links,
    "branches": _branches,
    "detached": lambda repo: git(repo, "switch", "-q", "--detach"),
    "mode": lambda repo: (repo / "src/app.py").chmod(0o755),
    "nested": lambda repo: make_repo(repo / f"nested{random.random()}"),
    "ours": lambda repo: write(repo / ".devteam/progress.txt", "p\n"),
    "assume": _assume,
    "venv": lambda repo: write(repo / ".venv/pyvenv.cfg", "home = /usr\n"),
}

# ── what an agent may do ───────────────────────────────────────────────────────────────────────────────────────────


def _wipe(lane: Path) -> None:
    for path in lane.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _commits(lane: Path) -> None:
    write(lane / "src/app.py", "committed\n")
    git(lane, "add", "-A", check=False)
    git(lane, "commit", "-qm", "agent", check=False)
    git(lane, "update-ref", "refs/heads/main", "HEAD", check=False)


def _destroys(lane: Path) -> None:
    git(lane, "stash", "-u", check=False)
    git(lane, "clean", "-fdx", check=False)
    git(lane, "reset", "--hard", check=False)
    git(lane, "gc", "--prune=now", "-q", check=False)
    git(lane, "push", "--force", "origin", "HEAD:main", check=False)


def _link_to_user(lane: Path) -> None:
    checkout = next(parent for parent in lane.parents if parent.name == "state").parent / "repo"
    shutil.rmtree(lane / "src", ignore_errors=True)
    with contextlib.suppress(OSError):
        (lane / "src").symlink_to(checkout / "src")
        (lane / "all").symlink_to(checkout)


def _git_is_the_users(lane: Path) -> None:
    shutil.rmtree(lane / ".git", ignore_errors=True)
    write(lane / ".git", f"gitdir: {lane.parents[2] / 'repo/.git'}\n")


def _git_links_to_the_users(lane: Path) -> None:
    shutil.rmtree(lane / ".git", ignore_errors=True)
    with contextlib.suppress(OSError):
        (lane / ".git").symlink_to(lane.parents[2] / "repo/.git")


def _alternates(lane: Path) -> None:
    with contextlib.suppress(OSError):
        write(lane / ".git/objects/info/alternates", f"{lane.parents[2]}/repo/.git/objects\n")


AGENT: dict[str, Callable[[Path], object]] = {
    "works": lambda lane: write(lane / "src/new.py", "n\n"),
    "edits": lambda lane: write(lane / "a.txt", "agent\n"),
    "deletes": lambda lane: (lane / "a.txt").unlink(missing_ok=True),
    "wipes": _wipe,
    "commits": _commits,
    "destroys": _destroys,
    "links-to-user": _link_to_user,
    "git-is-the-users": _git_is_the_users,
    "git-links-to-the-users": _git_links_to_the_users,
    "alternates": _alternates,
    "locks": lambda lane: [path.chmod(0) for path in lane.iterdir() if not path.is_symlink()],
    "floods": lambda lane: [write(lane / f"flood/{n}") for n in range(50)],
}


LINKS = ("links-to-user", "git-is-the-users", "git-links-to-the-users", "alternates")


def _payload(lane: Path, rng: random.Random) -> None:
    payload = rng.choice([one for one in PAYLOADS if not one.env("x")])
    with contextlib.suppress(AssertionError, OSError, StopIteration):
        payload.plant(lane, script(lane.parent, lane.parents[2] / "marker"))


# ── how it may end ─────────────────────────────────────────────────────────────────────────────────────────────────


def _commit(work: Workspace, rng: random.Random) -> None:
    base = work.head()
    report = work.check_scope(0, work.tree_of(base), base, rng.choice(((), ("src/**",))), "e")
    work.commit("1", report.tree, base, "impl(t): x", "", f"e{rng.random()}", 5.0)


def _rollback(work: Workspace, rng: random.Random) -> None:
    _commit(work, rng)
    base = work.started().base
    work.roll_back_smart(6.0, lambda commit: commit == base)
    work.roll_back_undo(7.0) if work.head() != base else None


def _checkpoint(work: Workspace, rng: random.Random) -> None:
    work.save_checkpoint("c", "why", 5.0, {"x": b"y"})
    _commit(work, rng)
    work.restore_checkpoint("c", 6.0)


def _room(work: Workspace, rng: random.Random) -> None:
    room = work.export(work.snapshot(0))
    _link_to_user(room) if rng.random() < 0.5 else None
    work.hash_room()
    work.export(work.head())


def _reopen(work: Workspace, rng: random.Random) -> None:
    again = open_workspace(work.checkout)
    again.start_sprint(50.0)
    again.prepare(0)


ENDING: dict[str, Callable[[Workspace, random.Random], object]] = {
    "stopped": lambda work, rng: None,
    "prepared-again": lambda work, rng: work.prepare(0),
    "committed": _commit,
    "rolled-back": _rollback,
    "checkpoint": _checkpoint,
    "baseline": lambda work, rng: (work.create_baseline("x", 1.0), work.roll_back_to_baseline("x", 2.0)),
    "backed-up": lambda work, rng: work.back_up_lane(0, "x", 5.0),
    "room": _room,
    "reopened": _reopen,
    "looked-at-landing": lambda work, rng: (_commit(work, rng), work.land(apply=False)),
    "lanes": lambda work, rng: (work.prepare(1), work.prepare(2), work.snapshot(1)),
}


def play(folder: Path, seed: int) -> str:
    """One random case. Returns what it was, for the message."""
    rng = random.Random(seed)
    repo = make_repo(folder / "repo", commit=rng.random() > 0.1)
    state = rng.sample(sorted(USER), rng.randint(1, 4))
    for name in state:
        with contextlib.suppress(AssertionError):  # e.g. a stash in a repository without a commit
            USER[name](repo)
    before = fingerprint(repo)
    work = open_workspace(repo, copy=(".env",) if rng.random() < 0.3 else ())
    work.start_sprint(1.0)
    acts = []
    for _ in range(rng.randint(1, 2)):
        lane = work.prepare(0).path
        acts = rng.sample(sorted(AGENT), rng.randint(1, 3))
        if rng.random() < 0.4:
            _payload(lane, rng)
        # The test's agent has no sandbox: it plants a way into the user's files last, and does not walk through it.
        planting = [name for name in acts if name in LINKS][:1]
        for name in [*(name for name in acts if name not in LINKS), *planting]:
            with contextlib.suppress(AssertionError, OSError):
                AGENT[name](lane)
    ending = rng.choice(sorted(ENDING))
    with contextlib.suppress(WorkspaceError):  # it may be refused; it may not do harm
        ENDING[ending](work, rng)
    case = f"seed {seed}: {state} × {acts} × {ending}"
    assert differences(before, fingerprint(repo)) == [], case
    return case


@pytest.mark.parametrize("seed", range(25))
def test_the_users_work_is_untouched(seed: int, tmp_path: Path) -> None:
    play(tmp_path, seed)


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_the_users_work_is_untouched_500_times(tmp_path: Path) -> None:
    start = random.SystemRandom().randrange(1_000_000)
    print(f"fresh seeds from {start}")
    for seed in [*range(250), *range(start, start + 250)]:
        folder = tmp_path / str(seed)
        play(folder, seed)
        shutil.rmtree(folder, ignore_errors=True)
