"""A repository's state goes with it: renamed, moved, copied, cloned anew in the same place."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine import state_folder
from engine.journal import EngineLock, EngineRunning
from engine.paths import make_state, state_paths


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return made(tmp_path / "repo")


def made(path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


def root_of(repo: Path) -> Path:
    return state_paths(repo, {}, repo.parent / "home").root


def used(repo: Path) -> Path:
    """Where the state lies once something was written there."""
    return make_state(state_paths(repo, {}, repo.parent / "home")).root


def test_looking_for_it_writes_nothing(repo: Path) -> None:
    before = sorted(path.name for path in (repo / ".git").iterdir())
    assert root_of(repo) == root_of(repo)
    assert sorted(path.name for path in (repo / ".git").iterdir()) == before
    assert not (repo.parent / "home").exists()


def test_a_renamed_repository_keeps_its_state(repo: Path) -> None:
    state = used(repo)
    moved = repo.rename(repo.parent / "Another Name")
    assert root_of(moved) == state
    assert state_folder.moved_from(state, moved) == repo
    assert used(moved) == state
    assert state_folder.moved_from(state, moved) is None


def test_a_copy_gets_a_state_of_its_own_and_the_original_keeps_its(repo: Path) -> None:
    state = used(repo)
    copy = repo.parent / "copy"
    shutil.copytree(repo, copy)
    assert root_of(copy) != state
    own = used(copy)
    assert used(repo) == state != own
    assert used(copy) == own


def test_copies_that_start_at_the_same_moment_never_look_at_one_folder(repo: Path) -> None:
    """All look before any of them has claimed what it found."""
    state = used(repo)
    copies = [repo.parent / name / "repo" for name in ("a", "b", "c")]
    for copy in copies:
        shutil.copytree(repo, copy)
    home = repo.parent / "home"
    found = [state_paths(copy, {}, home) for copy in copies]
    assert len({state, *(paths.root for paths in found)}) == 4
    for paths in found:
        make_state(paths)
    assert [state_paths(copy, {}, home).root for copy in copies] == [paths.root for paths in found]
    assert used(repo) == state


def test_a_copy_whose_original_is_gone_is_the_repository(repo: Path) -> None:
    """Copied to another disk, and the old one removed: that is a move."""
    state = used(repo)
    copy = repo.parent / "copy"
    shutil.copytree(repo, copy)
    shutil.rmtree(repo)
    assert used(copy) == state


def test_a_new_repository_in_the_place_of_one_that_moved_away_takes_nothing_of_it(repo: Path) -> None:
    state = used(repo)
    moved = repo.rename(repo.parent / "moved")
    new = made(repo)
    assert used(new) != state, "the state of the one that moved away is not the newcomer's"
    assert used(moved) == state


def test_a_copy_back_into_the_old_place(repo: Path) -> None:
    state = used(repo)
    moved = repo.rename(repo.parent / "moved")
    assert used(moved) == state
    shutil.copytree(moved, repo)
    assert used(repo) != state
    assert used(moved) == state


def test_a_restored_backup_of_the_repository_finds_its_state(repo: Path) -> None:
    state = used(repo)
    shutil.copytree(repo, repo.parent / "backup")
    shutil.rmtree(repo)
    shutil.copytree(repo.parent / "backup", repo)
    assert used(repo) == state


def test_a_linked_worktree_has_its_own(repo: Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=u", "-c", "user.email=u@localhost", "commit", "-q", "--allow-empty", "-m", "x"],
        cwd=repo,
        check=True,
    )
    subprocess.run(["git", "worktree", "add", "-q", str(repo.parent / "beside")], cwd=repo, check=True)
    state, beside = used(repo), used(repo.parent / "beside")
    assert state != beside
    subprocess.run(
        ["git", "worktree", "move", str(repo.parent / "beside"), str(repo.parent / "away")], cwd=repo, check=True
    )
    assert used(repo.parent / "away") == beside


@pytest.mark.parametrize("text", ["../../etc", "", "a/b", ".", "x" * 200, "A\n"], ids=repr)
def test_an_id_that_is_no_name_is_none(repo: Path, text: str) -> None:
    plain = root_of(repo)
    (repo / ".git" / state_folder.ID).write_text(text)
    assert root_of(repo) == plain


def test_a_state_folder_from_before_there_were_ids_is_taken_up(repo: Path) -> None:
    old = root_of(repo)
    old.mkdir(parents=True)
    (old / "backups").mkdir()
    assert used(repo) == old
    assert state_folder.carried_id(repo) == old.name


def test_the_state_of_an_engine_at_work_is_found_with_another_state_home(repo: Path) -> None:
    theirs = make_state(state_paths(repo, {"XDG_STATE_HOME": str(repo.parent / "theirs")}, repo.parent / "home"))
    with EngineLock.acquire(theirs.lock, lambda: 1.0, state_folder.sign_of(repo)):
        assert root_of(repo) == theirs.root
        copy = repo.parent / "copy"
        shutil.copytree(repo, copy)
        assert root_of(copy) != theirs.root, "a copy has no engine"
        with pytest.raises(EngineRunning, match=r"with its state in .*/theirs/"):
            EngineLock.acquire(repo.parent / "mine" / "lock", lambda: 1.0, state_folder.sign_of(repo))
    assert root_of(repo) != theirs.root
    EngineLock.acquire(repo.parent / "mine" / "lock", lambda: 1.0, state_folder.sign_of(repo)).release()


def test_a_sign_that_names_anothers_folder_is_not_followed(repo: Path) -> None:
    """Held by somebody, and in it a folder that no engine of this repository used."""
    strange = repo.parent / "strange" / "state"
    with EngineLock.acquire(strange / "lock", lambda: 1.0, state_folder.sign_of(repo)):
        assert root_of(repo) != strange
