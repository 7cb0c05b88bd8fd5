"""Other gits in the user's repository: their locks are waited for and then named, their gc takes nothing of ours."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from engine.core.model import MachineFault
from engine.perform.machine import fault_of
from engine.perform.workspace import git as git_module
from engine.perform.workspace import packs, repository
from engine.perform.workspace.facts import Committed, WorkspaceError
from engine.perform.workspace.git import GitError
from engine.perform.workspace.repository import Repository
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace, write

BRANCH = ".git/refs/heads/devteam/001-test.lock"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo")


@pytest.fixture
def work(repo: Path) -> Workspace:
    made = open_workspace(repo)
    made.start_sprint(1.0)
    return made


def one_commit(work: Workspace, number: int) -> Committed:
    lane = work.prepare(0)
    write(lane.path / f"new{number}.py", f"x = {number}\n")
    made = work.commit(f"1.{number}", work.snapshot(0), lane.base, f"impl(t): {number}", "", f"e{number}", 5.0)
    assert isinstance(made, Committed)
    return made


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits ten seconds in a test for a lock that stays."""
    short = tuple(part.replace("Timeout=10000", "Timeout=50") for part in git_module.SETTINGS)
    monkeypatch.setattr(git_module, "SETTINGS", short)
    monkeypatch.setattr(repository, "LOCK_SECONDS", 0.1)


@pytest.mark.parametrize("lock", [BRANCH, ".git/packed-refs.lock", ".git/refs/devteam/001-test/tip.lock"])
def test_a_momentary_lock_is_waited_for(work: Workspace, repo: Path, lock: str) -> None:
    if "packed" in lock:
        git(repo, "pack-refs", "--all")
        work.repo.update_refs([("refs/devteam/x", work.head(), work.repo.null)], "test")
        git(repo, "pack-refs", "--all")
    write(repo / lock, "")
    letting_go = threading.Timer(0.7, os.unlink, [repo / lock])
    letting_go.start()
    if "packed" in lock:  # only a deletion has to rewrite the packed refs
        work.repo.update_refs([("refs/devteam/x", work.repo.null, work.head())], "test")
    else:
        one_commit(work, 1)
    assert not (repo / lock).exists(), "it had waited"
    letting_go.join()


@pytest.mark.parametrize("lock", [BRANCH, ".git/refs/devteam/001-test/tip.lock"])
def test_a_lock_that_stays_is_named_and_is_the_machines_fault(
    work: Workspace, repo: Path, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    write(repo / lock, "")
    with pytest.raises(WorkspaceError) as caught:
        one_commit(work, 1)
    assert str(repo / lock) in caught.value.message
    assert f"rm {repo / lock}" in caught.value.hint
    assert fault_of(caught.value) is MachineFault.GIT_LOCKED
    with pytest.raises(WorkspaceError):
        work.stands()
    (repo / lock).unlink()
    work.stands()
    one_commit(work, 1)


def test_landing_waits_for_a_git_at_work_and_names_one_that_stays(
    work: Workspace, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_commit(work, 1)
    lock = write(repo / ".git/index.lock", "")
    letting_go = threading.Timer(0.5, os.unlink, [lock])
    letting_go.start()
    assert work.land(apply=False).ok
    letting_go.join()
    impatient(monkeypatch)
    write(lock, "")
    report = work.land()
    assert not report.landed
    assert "index.lock" in report.detail
    lock.unlink()
    assert work.land().landed


def test_a_deleted_branch_and_a_checked_out_one_are_said(work: Workspace, repo: Path) -> None:
    made = one_commit(work, 1)
    git(repo, "branch", "-q", "-D", "devteam/001-test")
    assert work.head() == made.commit
    assert "had been deleted" in " ".join(work.heard())
    assert work.heard() == []
    git(repo, "switch", "-q", "devteam/001-test")
    one_commit(work, 2)
    said = " ".join(work.heard())
    assert "is checked out" in said
    assert "git merge refs/devteam/001-test/tip" in said
    assert git(repo, "rev-parse", "HEAD").strip() == made.commit, "not moved under them"


def test_both_refs_gone_is_the_machines_fault(work: Workspace, repo: Path) -> None:
    one_commit(work, 1)
    git(repo, "branch", "-q", "-D", "devteam/001-test")
    git(repo, "update-ref", "-d", "refs/devteam/001-test/tip")
    with pytest.raises(WorkspaceError) as caught:
        work.head()
    assert fault_of(caught.value) is MachineFault.BRANCH_LOST


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"12" * 20 + b"\n"], ids=["empty", "zeros", "no such object"])
@pytest.mark.parametrize("which", [("heads",), ("tip",), ("heads", "tip")], ids="+".join)
def test_a_ref_that_names_nothing_is_made_anew(
    work: Workspace, repo: Path, which: tuple[str, ...], content: bytes
) -> None:
    """A power cut empties files that were just written. Git reads, moves and deletes none of these."""
    made = one_commit(work, 1)
    places = {"heads": "refs/heads/devteam/001-test", "tip": "refs/devteam/001-test/tip"}
    for name in which:
        (repo / ".git" / places[name]).write_bytes(content)
    work.stands(made.commit)
    assert work.head() == made.commit
    second = one_commit(work, 2)
    for name in places.values():
        assert git(repo, "rev-parse", name).strip() == second.commit
    assert sum("named no commit" in words for words in work.heard()) == len(which)
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""


def test_a_ref_that_names_nothing_stays_where_nothing_could_take_its_place(work: Workspace, repo: Path) -> None:
    """Its disk may come back: nothing is thrown away that somebody could need."""
    one_commit(work, 1)
    names = [repo / ".git" / name for name in ("refs/heads/devteam/001-test", "refs/devteam/001-test/tip")]
    for name in names:
        name.write_bytes(b"12" * 20 + b"\n")
    with pytest.raises(WorkspaceError):
        work.stands("34" * 20)
    assert [name.read_bytes() for name in names] == [b"12" * 20 + b"\n"] * 2


def test_a_git_directory_that_is_somebody_elses_is_named(work: Workspace, repo: Path, monkeypatch) -> None:
    one_commit(work, 1)
    pack, access = str(repo / ".git" / "objects" / "pack"), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != pack and access(path, mode))  # root may all
    with pytest.raises(WorkspaceError, match="objects/pack cannot be written") as caught:
        work.stands()
    assert fault_of(caught.value) is MachineFault.STORE_FAULT


def test_a_git_that_is_taken_away_is_named(
    work: Workspace, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is being updated. It came with GitPython's own words, as a bug of ours."""
    monkeypatch.setattr(git_module, "executable", lambda: str(tmp_path / "git"))
    with pytest.raises(WorkspaceError, match="no git at") as caught:
        work.repo.git().run("rev-parse", "HEAD")
    assert fault_of(caught.value) is MachineFault.STORE_FAULT


def test_a_gc_between_the_objects_and_their_ref_takes_nothing(
    work: Workspace, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment at which nothing names the new objects yet. (With unpacked objects this test loses the commit.)"""
    original = Repository.update_refs

    def late(self: Repository, changes: list[tuple[str, str, str]], why: str) -> None:
        git(repo, "gc", "-q", "--prune=now")
        git(repo, "prune", "--expire=now")
        git(repo, "repack", "-q", "-a", "-d")
        original(self, changes, why)

    monkeypatch.setattr(Repository, "update_refs", late)
    made = one_commit(work, 1)
    git(repo, "gc", "-q", "--prune=now")
    assert git(repo, "show", f"{made.commit}:new1.py") == "x = 1\n"
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""
    assert not list((repo / ".git/objects/pack").glob("*.keep")), "the user's next gc may do as it likes"


def test_packs_stay_few_and_whole_whatever_the_user_does(
    work: Workspace, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "MANY", 4)
    folder = repo / ".git/objects/pack"
    for number in range(11):
        one_commit(work, number)
        if number == 5:
            git(repo, "gc", "-q", "--prune=now")
        assert len(list(folder.glob("*.pack"))) <= 6
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""
    assert len(git(repo, "log", "--format=%h", "main..devteam/001-test").split()) == 11


def test_the_engines_own_objects_are_packed_and_none_is_lost(
    work: Workspace, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lane = work.prepare(0)
    write(lane.path / "kept.py", "nobody names this\n")
    kept = work.snapshot(0)
    monkeypatch.setattr(packs, "LOOSE", 1)
    work.start_sprint(2.0)
    assert not [path for path in work.store.git_objects.glob("??/*") if path.is_file()]
    assert work.show(kept, "kept.py") == b"nobody names this\n"
    one_commit(work, 1)


def test_pins_of_a_dead_engine_are_released_at_the_next_start(work: Workspace, repo: Path) -> None:
    folder = repo / ".git/objects/pack"
    ours = write(folder / "pack-aa.keep", packs.MESSAGE + "\n")
    theirs = write(folder / "pack-bb.keep", "mine\n")
    work.start_sprint(2.0)
    assert not ours.exists()
    assert theirs.exists()


def test_a_start_that_a_lock_kept_from_making_its_branch(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of the start is there and no ref yet: the fault is the lock, for as long as it stays."""
    impatient(monkeypatch)
    work = open_workspace(repo)
    write(repo / BRANCH, "")
    for act in (lambda: work.start_sprint(1.0), work.stands):
        with pytest.raises(GitError) as caught:
            act()
        assert caught.value.fault is MachineFault.GIT_LOCKED
    (repo / BRANCH).unlink()
    work.start_sprint(2.0)
    work.stands()
