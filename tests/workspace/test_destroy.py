"""The audited module removes below its root, follows no link, and stops everywhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.perform.workspace.destroy import Grave, unlink_in_checkout
from engine.perform.workspace.facts import WorkspaceError
from tests.workspace.repos import write


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    write(tmp_path / "user/precious.txt", "p\n")
    return tmp_path / "state"


def test_a_folder_goes_with_all_that_is_in_it_and_links_are_not_followed(state: Path) -> None:
    user = state.parent / "user"
    write(state / "lane/deep/er/f")
    (state / "lane/link").symlink_to(user)
    (state / "lane/deep/link").symlink_to(user / "precious.txt")
    os.mkfifo(state / "lane/pipe")
    write(state / "lane/locked/x").chmod(0)
    (state / "lane/locked").chmod(0)
    Grave(state).remove(state / "lane")
    assert not (state / "lane").exists()
    assert (user / "precious.txt").read_text() == "p\n"


@pytest.mark.parametrize(
    "path", ["../user/precious.txt", "../user", ".", "", "lane/../../user", "link/precious.txt", "link/../../user"]
)
def test_nothing_outside_is_removed(path: str, state: Path) -> None:
    (state / "link").symlink_to(state.parent / "user")
    try:
        Grave(state).remove(state / path)
    except WorkspaceError as problem:
        assert "not below" in problem.message
    assert (state.parent / "user/precious.txt").exists()
    assert state.exists()


@pytest.mark.parametrize("relative", [b"../user", b"a/../../user", b"..", b"."])
def test_a_path_from_git_cannot_climb(relative: bytes, state: Path) -> None:
    with pytest.raises(WorkspaceError):
        Grave(state).remove_below(state / "lane", relative)


def test_a_tree_deeper_than_descriptors_and_stack(state: Path) -> None:
    here = os.open(state, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    Grave(state).remove(state / "d")
    assert os.listdir(state) == []


@pytest.mark.parametrize("root", [Path("/"), Path.home()])
def test_some_places_are_no_state_directory(root: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be a state directory"):
        Grave(root)


@pytest.mark.parametrize("locked", ["lane/.git", "lane", "lane/.git/hooks"])
def test_what_an_agent_locked_is_discarded(locked: str, state: Path) -> None:
    """Root passes through every mode: an ordinary user is who this is for (`make test-ordinary`)."""
    folder = state / "lane/.git"
    write(folder / "hooks/pre-commit", "x")
    (state / locked).chmod(0)
    Grave(state).discard(folder)
    assert not folder.exists() and not any((state / "trash").iterdir())


def test_missing_is_fine(state: Path) -> None:
    Grave(state).remove(state / "none/at/all")
    Grave(state).discard(state / "none")


def test_one_landed_file_leaves_the_checkout_and_only_that(state: Path) -> None:
    user = state.parent / "user"
    write(user / "a/b/gone.txt")
    write(user / "a/kept.txt")
    unlink_in_checkout(user, b"a/b/gone.txt")
    assert not (user / "a/b").exists() and (user / "a/kept.txt").exists()
    (user / "link").symlink_to(state)
    write(state / "x")
    unlink_in_checkout(user, b"link/x")
    assert (state / "x").exists()
    for bad in (b"../state/x", b".git/config", b"/etc/passwd"):
        with pytest.raises(WorkspaceError):
            unlink_in_checkout(user, bad)
