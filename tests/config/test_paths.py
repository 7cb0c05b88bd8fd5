"""Where things lie on disk."""

from __future__ import annotations

import os
import subprocess

import pytest

from engine.paths import RepoPaths, find_repo, kebab, make_state, repo_id, state_home, state_paths


def test_the_state_directory_follows_xdg(tmp_path):
    assert state_home({"XDG_STATE_HOME": "/x/y"}, tmp_path) == state_home({"XDG_STATE_HOME": "/x/y"}, tmp_path / "z")
    assert str(state_home({"XDG_STATE_HOME": "/x/y"}, tmp_path)) == "/x/y"
    for ignored in ({}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative/dir"}):
        assert state_home(ignored, tmp_path) == tmp_path / ".local/state"


def test_state_folders_are_private_also_when_they_were_not(tmp_path):
    old = os.umask(0)
    try:
        paths = state_paths(tmp_path / "My Repo", {}, tmp_path)
        paths.lanes.mkdir(parents=True, mode=0o777)
        make_state(make_state(paths))
    finally:
        os.umask(old)
    assert paths.root.name.startswith("my-repo-") and paths.root.parent == tmp_path / ".local/state/devteam"
    for folder in (paths.root, *paths.folders()):
        assert folder.stat().st_mode & 0o777 == 0o700, folder


def test_the_same_repository_has_one_id_and_others_another(tmp_path):
    (tmp_path / "a/repo").mkdir(parents=True)
    (tmp_path / "b/repo").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a/repo")
    assert repo_id(tmp_path / "a/repo") == repo_id(tmp_path / "link") == repo_id(tmp_path / "a/../a/repo")
    assert repo_id(tmp_path / "a/repo") != repo_id(tmp_path / "b/repo")


@pytest.mark.parametrize("name", ["漢字", "-", "x" * 200, "a b/../c", os.fsdecode(b"\xff\xfe")], ids=repr)
def test_any_folder_name_gives_a_plain_id(tmp_path, name):
    found = repo_id(tmp_path / name)
    assert found.isascii() and len(found) <= 53 and kebab(found) == found


def test_the_socket_lies_beside_the_lock_whatever_the_environment(tmp_path):
    deep = str(tmp_path / ("d" * 90))
    for more in ({}, {"XDG_RUNTIME_DIR": str(tmp_path)}):
        places = state_paths(tmp_path / "repo", {"XDG_STATE_HOME": deep, **more}, tmp_path)
        assert places.socket.parent == places.lock.parent


def test_the_repo_folder_has_its_places(tmp_path):
    paths = RepoPaths(root=tmp_path)
    places = (paths.config, paths.db, paths.sprints, paths.progress, paths.features, paths.init_script)
    names = [str(path.relative_to(tmp_path)) for path in places]
    wanted = ["config.toml", "devteam.db", "sprints", "progress.txt", "features.json", "init.sh"]
    assert names == [f".devteam/{name}" for name in wanted]


def test_a_repository_is_found_from_below(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    below = tmp_path / "repo/a/b"
    below.mkdir(parents=True)
    assert find_repo(below) == find_repo(tmp_path / "repo") == (tmp_path / "repo").resolve()
    assert find_repo(tmp_path) is None


def test_worktrees_and_submodules_have_a_git_file(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w/.git").write_text("gitdir: ../elsewhere\n")
    assert find_repo(tmp_path / "w") == tmp_path / "w"


@pytest.mark.parametrize("kind", ["empty folder", "other file"])
def test_what_git_skips_is_skipped(tmp_path, kind):
    git = tmp_path / ".git"
    git.mkdir() if kind == "empty folder" else git.write_text("not a pointer")
    assert find_repo(tmp_path) is None
