"""What a clone is given besides the tree: environments nobody ignored, submodules, and the name of all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.process.spawning import Mount
from engine.perform.workspace.shape import shape
from engine.perform.workspace.submodules import fill
from tests.workspace.repos import git, make_repo, open_workspace, write


def _environment(folder: Path) -> None:
    write(folder / "pyvenv.cfg", "home = /usr/bin\n")
    write(folder / "lib/python3.11/site-packages/thing/__init__.py", "")
    write(folder / "bin/python", "")


@pytest.mark.parametrize("name", [".venv", "venv", "my-own-env", "services/api/.venv"])
def test_an_environment_nobody_ignored_is_carried_and_is_in_no_tree(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / "repo", {"a.py": "a = 1\n", "services/api/b.py": ""})
    _environment(repo / name)
    work = open_workspace(repo)
    assert [mount.dest for mount in work.mounts if mount.dest == repo / name] == [repo / name]
    started = work.start_sprint(1_700_000_000.0)
    assert not [path for path in git(repo, "ls-tree", "-r", "--name-only", started.tree).split() if name in path]
    assert not started.left_out


def test_unignored_node_modules_are_carried(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"package.json": "{}\n"})
    write(repo / "node_modules/x/index.js")
    assert [mount.dest for mount in open_workspace(repo).mounts] == [repo / "node_modules"]


def _with_submodule(tmp_path: Path) -> Path:
    inner = make_repo(tmp_path / "inner", {"data.txt": "one\n", "deep/more.txt": "two\n"})
    repo = make_repo(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner), "vendor/sub")
    git(repo, "commit", "-qm", "submodule")
    return repo


def test_a_submodule_is_filled_from_what_lies_here(tmp_path: Path) -> None:
    repo = _with_submodule(tmp_path)
    write(repo / "vendor/sub/data.txt", "dirty\n")
    work = open_workspace(repo)
    (mount,) = [mount for mount in work.mounts if mount.dest == repo / "vendor/sub"]
    assert (mount.source / "data.txt").read_text() == "one\n", "the commit that is recorded, not the user's edit"
    assert (mount.source / "deep/more.txt").read_text() == "two\n"
    assert not mount.writable
    work.start_sprint(1_700_000_000.0)
    prepared = work.prepare(0)
    assert list((prepared.path / "vendor/sub").iterdir()) == [], "shown there, never written there"


def test_an_emptied_submodule_is_filled_all_the_same(tmp_path: Path) -> None:
    """The checkout's folder is empty (`git submodule deinit`), but its objects are in .git/modules."""
    repo = _with_submodule(tmp_path)
    git(repo, "submodule", "deinit", "-f", "vendor/sub")
    filled = fill(open_workspace(repo).store)
    assert [mount.dest for mount in filled.mounts] == [repo / "vendor/sub"]
    assert not filled.empty


def test_a_submodule_that_was_never_fetched_is_named(tmp_path: Path) -> None:
    repo = _with_submodule(tmp_path)
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", str(repo), str(copy))
    filled = fill(open_workspace(copy, state=tmp_path / "state-2").store)
    assert filled.mounts == ()
    assert filled.empty == ("vendor/sub",)


def test_the_shape_changes_with_everything_that_shapes_a_room(tmp_path: Path) -> None:
    checkout = tmp_path / "c"
    _environment(checkout / ".venv")
    write(checkout / "gen/_version.py", "v = 1\n")
    mounts = (Mount(source=checkout / ".venv", dest=checkout / ".venv"),)
    seen = {shape(checkout, (), ())}

    def now(copy: tuple[str, ...] = ("gen/*.py",)) -> str:
        return shape(checkout, copy, mounts)

    for change in (
        lambda: None,
        lambda: write(checkout / "gen/_version.py", "v = 2\n"),
        lambda: write(checkout / "gen/_other.py", ""),
        lambda: write(checkout / ".venv/lib/python3.11/site-packages/more-1.0.dist-info/METADATA", ""),
        lambda: write(checkout / ".venv/pyvenv.cfg", "home = /usr/local/bin\n"),
    ):
        change()
        assert now() == now(), "the same room has the same name"
        assert now() not in seen
        seen.add(now())
    assert now(()) not in seen
    write(checkout / "elsewhere.txt", "")
    assert now() in seen, "what no room gets does not matter"
