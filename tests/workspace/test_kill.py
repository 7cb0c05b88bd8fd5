"""kill -9 at every step: the engine ends before its first, second, third … git call or file operation, again and again
on the same state, until the operation gets through; then everything is as if it had never been disturbed.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import files
from engine.core.model import Verdict
from engine.perform.workspace import destroy, git_service, land
from engine.perform.workspace import git as git_module
from engine.perform.workspace.facts import Committed
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import differences, fingerprint, git, make_repo, open_workspace, write

STEPS = (
    (git_module.Git, "_execute"),
    (git_service.Helper, "exchange"),
    (Path, "rename"),
    (os, "replace"),
    (Path, "unlink"),
    (os, "link"),
    (land, "unlink_in_checkout"),
    (files, "write"),
    (destroy.Grave, "discard"),
)


WRITING = frozenset(
    ("update-ref", "read-tree", "update-index", "commit-tree", "unpack-objects", "index-pack", "checkout-index",
     "clone",      "init", "pack-objects", "hash-object", "write-tree")
)  # fmt: skip


def until_it_gets_through(act: Callable[[], object], most: int = 300, every: int = 1) -> int:
    """Run `act` in a child that kills itself before its n-th step, for n = 1, 2, 3 … Returns the steps of the last.

    A git call that only reads is no step of its own: dying before it is dying before the next. `every` dies at one
    in so many.
    """
    for number in range(1, most, every):
        child = os.fork()
        if child == 0:
            _die_at(number)
            try:
                act()
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, f"failed at step {number}"
            return number
    raise AssertionError("it never gets through")


def _die_at(number: int) -> None:
    left = [number]

    def fatal(original: Callable[..., object]) -> Callable[..., object]:
        def step(*args: object, **more: object) -> object:
            left[0] -= not (args and _reads(args))
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **more)

        return step

    for owner, name in STEPS:
        setattr(owner, name, fatal(getattr(owner, name)))


def _reads(args: tuple[object, ...]) -> bool:
    match args:
        case (git_module.Git(), [verb, *_], *_):
            return verb not in WRITING
        case (git_service.Helper(_arguments=[verb, *_]), *_):
            return verb not in WRITING
        case _:
            return False


def test_start(repo: Path) -> None:
    write(repo / "a.txt", "dirty\n")
    before = fingerprint(repo)
    steps = until_it_gets_through(lambda: open_workspace(repo, mounts=()).start_sprint(1.0))
    assert steps > 10
    work = open_workspace(repo)
    started = work.start_sprint(2.0)
    assert work.head() == started.base
    assert git(repo, "log", "--format=%s", "devteam/001-test").splitlines()[1:] == ["first"]
    assert differences(before, fingerprint(repo)) == []


def test_prepare_and_scope(work: Workspace) -> None:
    until_it_gets_through(lambda: work.prepare(0))
    lane = work.lane_path(0)
    write(lane / "src/new.py")
    write(lane / "outside.txt")
    base = work.head()
    until_it_gets_through(lambda: work.check_scope(0, work.tree_of(base), base, ("src/**",), "e"))
    again = work.check_scope(0, work.tree_of(base), base, ("src/**",), "e")
    assert again.verdict is Verdict.FAIL and again.reverted == ("outside.txt",)  # the next attempt is still told
    assert not (lane / "outside.txt").exists() and (lane / "src/new.py").exists()
    until_it_gets_through(lambda: work.prepare(0))
    assert work.snapshot(0) == work.tree_of(base)
    assert git(lane, "status", "--porcelain") == "" and git(lane, "fsck") == ""


def test_commit(work: Workspace, repo: Path) -> None:
    made = work.prepare(0)
    write(made.path / "src/new.py")
    tree = work.snapshot(0)
    until_it_gets_through(lambda: work.commit("1", tree, made.base, "impl(t): x", "", "e1", 2.0))
    done = work.commit("1", tree, made.base, "impl(t): x", "", "e1", 9.0)
    assert isinstance(done, Committed) and done.already
    assert git(repo, "rev-list", "--count", "main..devteam/001-test").strip() == "1"
    assert git(repo, "fsck", "--strict") == ""


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.torture)])
@pytest.mark.parametrize(
    "dirty", ["beside", "same-file", *(pytest.param(one, marks=pytest.mark.torture) for one in ("clean", "unborn"))]
)
def test_land(dirty: str, every: int, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", commit=dirty != "unborn")
    if dirty == "beside":
        write(repo / "a.txt", "mine\n")
    if dirty == "same-file":
        write(repo / "src/app.py", "mine\n")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    for number, change in enumerate(({"src/app.py": "x = 2\n"}, {"n/new.py": "n\n", "src/lib.py": None})):
        made = work.prepare(0)
        for name, text in change.items():
            (made.path / name).unlink() if text is None else write(made.path / name, text)
        work.commit(str(number), work.snapshot(0), made.base, f"impl(t): {number}", "", f"e{number}", 5.0)
    steps = until_it_gets_through(lambda: _landed(work), every=every)
    assert steps > 10
    assert (repo / "src/app.py").read_text() == "x = 2\n" and (repo / "n/new.py").exists()
    assert not (repo / "src/lib.py").exists()
    expected = {"clean": "", "beside": " M a.txt\n", "same-file": ""}
    if dirty != "unborn":
        assert git(repo, "status", "--porcelain") == expected[dirty]
    assert git(repo, "fsck", "--strict") == ""
    assert not (repo / ".git/index.lock").exists() and not (repo / ".git/index.devteam").exists()
    assert open_workspace(repo).land().detail == "there is nothing to land"


def _landed(work: Workspace) -> None:
    report = work.land()
    assert report.ok, report


def test_rollback_and_checkpoint(work: Workspace) -> None:
    base = work.head()
    made = work.prepare(0)
    write(made.path / "x.txt")
    work.commit("1", work.snapshot(0), made.base, "impl(t): 1", "", "e1", 2.0)
    tip = work.head()
    until_it_gets_through(lambda: work.save_checkpoint("c", "why", 3.0, {"x": b"y"}))
    until_it_gets_through(lambda: work.roll_back_smart(4.0, lambda commit: commit == base))
    assert work.head() == base
    until_it_gets_through(lambda: work.restore_checkpoint("c", 5.0))
    assert work.head() == tip


@pytest.mark.torture
@pytest.mark.timeout(1800)
def test_random_instants_with_git_left_running(tmp_path: Path) -> None:
    """The engine alone is killed at any instant; the git it had started goes on for a moment beside the next engine."""
    rng = random.Random(7)
    for number in range(40):
        repo = make_repo(tmp_path / str(number) / "repo")
        write(repo / "a.txt", "mine\n")
        before = fingerprint(repo)

        def whole(repo: Path = repo) -> None:
            work = open_workspace(repo)
            work.start_sprint(1.0)
            made = work.prepare(0, base=work.started().base)
            write(made.path / "src/new.py", "n\n")
            tree = work.check_scope(0, made.tree, made.base, ("src/**",)).tree
            assert isinstance(work.commit("1", tree, made.base, "impl(t): x", "", "e1", 2.0), Committed)

        for _ in range(6):
            child = os.fork()
            if child == 0:
                whole()
                os._exit(0)
            time.sleep(rng.uniform(0, 0.5))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        whole()
        assert git(repo, "rev-list", "--count", "main..devteam/001-test").strip() == "2"
        assert differences(before, fingerprint(repo)) == []
