"""A lane holds exactly the tree it was given, whatever was done to it before, and hides nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace, write


def content(folder: Path) -> dict[str, object]:
    """What is in a folder, .git aside."""
    found: dict[str, object] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git" or root != str(folder)]
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(root, name)))]:
            path = Path(root) / name
            key = str(path.relative_to(folder))
            found[key] = os.readlink(path) if path.is_symlink() else path.read_bytes()
    return found


def test_the_clone_has_no_origin_no_hardlinks_and_looks_sane_to_the_agent(work: Workspace, repo: Path) -> None:
    git(repo, "tag", "v1")
    lane = work.prepare(0).path
    assert git(lane, "remote") == ""
    assert git(lane, "status", "--porcelain") == ""
    assert git(lane, "symbolic-ref", "HEAD").strip() == "refs/heads/devteam/work"
    assert git(lane, "rev-parse", "HEAD").strip() == work.head()
    assert git(lane, "tag").strip() == "v1"
    assert git(lane, "fsck", "--strict") == ""
    write(lane / "x.txt")
    git(lane, "add", "-A")
    git(lane, "commit", "-qm", "the agent's own")
    assert all(path.stat().st_nlink == 1 for path in (lane / ".git/objects").rglob("*") if path.is_file())


def test_ignored_dependency_folders_stay_and_everything_else_goes(work: Workspace) -> None:
    lane = work.prepare(0).path
    write(lane / ".venv/lib/x.py", "kept\n")
    write(lane / "src/node_modules/p/index.js", "kept\n")
    for name in ("junk.txt", "new/dir/f", "a.log", "build/out", "src/__pycache__/app.pyc", "vendor/not-ignored.go"):
        write(lane / name, "gone\n")
    before = work.prepare(0)
    left = content(before.path)
    assert left.pop(".venv/lib/x.py") == b"kept\n"
    assert left.pop("src/node_modules/p/index.js") == b"kept\n"
    assert sorted(left) == [".gitignore", "a.txt", "src/app.py", "src/lib.py"]


def test_preparing_moves_from_tree_to_tree(work: Workspace) -> None:
    lane = work.prepare(0).path
    write(lane / "src/app.py", "x = 2\n")
    write(lane / "deep/er/new.py", "n\n")
    (lane / "a.txt").unlink()
    other = work.snapshot(0)
    work.prepare(0)
    assert work.snapshot(0) == work.tree_of(work.head())
    assert (lane / "a.txt").exists() and not (lane / "deep").exists()
    assert work.prepare(0, other).tree == other
    assert work.snapshot(0) == other
    assert content(lane)["deep/er/new.py"] == b"n\n"
    assert "src/app.py" in git(lane, "diff", "--cached", "--name-only", "HEAD")  # the agent sees its own earlier work


def _symlink_for_folder(lane: Path, outside: Path) -> None:
    shutil.rmtree(lane / "src")
    (lane / "src").symlink_to(outside)


def _symlink_for_git(lane: Path, outside: Path) -> None:
    shutil.rmtree(lane / ".git")
    (lane / ".git").symlink_to(outside)


def _symlink_for_objects(lane: Path, outside: Path) -> None:
    shutil.rmtree(lane / ".git" / "objects")
    (lane / ".git" / "objects").symlink_to(outside)


def _locked(lane: Path, _: Path) -> None:
    write(lane / "locked" / "deep" / "f").chmod(0)
    (lane / "locked" / "deep").chmod(0)
    (lane / "locked").chmod(0)
    (lane / "src").chmod(0)


def _nested(lane: Path, _: Path) -> None:
    git(lane / "src", "init", "-q")
    (lane / "in").mkdir()
    git(lane / "in", "init", "-q")
    write(lane / "in" / "f")
    git(lane / "in", "add", "-A")
    git(lane / "in", "commit", "-qm", "x")


def _special(lane: Path, _: Path) -> None:
    os.mkfifo(lane / "pipe")
    (lane / "a.txt").unlink()
    os.mkfifo(lane / "a.txt")
    here = os.getcwd()
    os.chdir(lane)  # a socket's path must be short
    try:
        socket.socket(socket.AF_UNIX).bind("sock")
    finally:
        os.chdir(here)


def _swapped(lane: Path, _: Path) -> None:
    (lane / "a.txt").unlink()
    write(lane / "a.txt" / "now" / "a-folder")
    shutil.rmtree(lane / "src")
    write(lane / "src", "now a file\n")


def _corrupt_objects(lane: Path, _: Path) -> None:
    for path in (lane / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"rubbish")


def _collected(lane: Path, _: Path) -> None:
    git(lane, "gc", "-q", "--prune=now")


def _deep(lane: Path, _: Path) -> None:
    """Deeper than a path can be long."""
    here = os.open(lane, os.O_RDONLY)
    for _step in range(40):
        os.mkdir("d" * 120, dir_fd=here)
        below = os.open("d" * 120, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def _bad_index(lane: Path, _: Path) -> None:
    write(lane / ".git" / "index", b"not an index")
    write(lane / ".git" / "index.lock", b"")
    write(lane / ".git" / "HEAD", "ref: refs/heads/none\n")


VANDALS: list[tuple[str, Callable[[Path, Path], object]]] = [
    ("git-deleted", lambda lane, _: shutil.rmtree(lane / ".git")),
    ("all-deleted", lambda lane, _: shutil.rmtree(lane)),
    ("emptied", lambda lane, _: [shutil.rmtree(p) if p.is_dir() else p.unlink() for p in lane.iterdir()]),
    ("folder-is-a-link-out", _symlink_for_folder),
    ("git-is-a-link-out", _symlink_for_git),
    ("objects-is-a-link-out", _symlink_for_objects),
    ("git-is-a-file", lambda lane, _: (shutil.rmtree(lane / ".git"), write(lane / ".git", "gitdir: /etc"))),
    ("locked", _locked),
    ("nested-repositories", _nested),
    ("special-files", _special),
    ("file-and-folder-swapped", _swapped),
    ("objects-corrupt", _corrupt_objects),
    ("objects-collected", _collected),
    ("very-deep", _deep),
    ("index-broken", _bad_index),
]


@pytest.mark.parametrize(("vandal"), [pytest.param(act, id=name) for name, act in VANDALS])
def test_a_vandalised_clone_is_made_whole(
    vandal: Callable[[Path, Path], None], work: Workspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside / "app.py", "the user's own\n")
    write(outside / "pack" / "precious", "the user's own\n")
    before = content(outside)
    lane = work.prepare(0).path
    good = content(lane)
    vandal(lane, outside)
    work.prepare(0)
    assert content(lane) == good
    assert content(outside) == before
    assert git(lane, "status", "--porcelain") == ""
    assert git(lane, "fsck") == ""
    assert work.snapshot(0) == work.tree_of(work.head())


def test_an_immutable_file_costs_a_new_clone_and_nothing_else(work: Workspace) -> None:
    lane = work.prepare(0).path
    stuck = write(lane / "stuck")
    if subprocess.run(["chattr", "+i", str(stuck)], check=False, capture_output=True).returncode:
        pytest.skip("no immutable files on this file system")
    try:
        work.prepare(0)
        assert not (lane / "stuck").exists()
        assert git(lane, "status", "--porcelain") == ""
    finally:
        subprocess.run(["chattr", "-R", "-i", str(work.store.root)], check=False, capture_output=True)


HIDDEN: list[tuple[str, Callable[[Path], object]]] = [
    ("info-exclude", lambda lane: (lane / ".git/info/exclude").write_text("*\n")),
    ("gitignore", lambda lane: write(lane / ".gitignore", "*\n")),
    ("assume-unchanged", lambda lane: git(lane, "update-index", "--assume-unchanged", "src/app.py")),
    ("skip-worktree", lambda lane: git(lane, "update-index", "--skip-worktree", "src/app.py")),
    ("core-worktree", lambda lane: git(lane, "config", "core.worktree", "/tmp")),
    ("sparse", lambda lane: git(lane, "sparse-checkout", "set", "--no-cone", "/a.txt")),
    ("ignore-stat", lambda lane: git(lane, "config", "core.ignoreStat", "true")),
    ("attributes", lambda lane: write(lane / ".gitattributes", "* text eol=crlf ident\n")),
]


@pytest.mark.parametrize("hide", [pytest.param(act, id=name) for name, act in HIDDEN])
def test_hidden_changes_are_seen(hide: Callable[[Path], None], work: Workspace) -> None:
    lane = work.prepare(0).path
    hide(lane)
    write(lane / "src/app.py", b"x = 666\r\n$Id$\n")
    write(lane / "src/hidden.py", "h\n")
    tree = work.snapshot(0)
    assert work.show(tree, "src/app.py") == b"x = 666\r\n$Id$\n"
    assert work.show(tree, "src/hidden.py") == b"h\n"


def test_what_the_agent_committed_is_seen(work: Workspace) -> None:
    lane = work.prepare(0).path
    write(lane / "src/app.py", "x = 7\n")
    git(lane, "commit", "-aqm", "mine")
    assert work.show(work.snapshot(0), "src/app.py") == b"x = 7\n"


def test_times_set_back_do_not_hide_a_change(work: Workspace) -> None:
    lane = work.prepare(0).path
    path = lane / "src/app.py"
    times = path.stat()
    path.write_text("x = 9\n")  # the same size
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert work.show(work.snapshot(0), "src/app.py") == b"x = 9\n"


def test_litter_and_base_ignores_are_not_part_of_a_tree(work: Workspace) -> None:
    lane = work.prepare(0).path
    for name in ("a.log", "build/x", "src/__pycache__/app.cpython-311.pyc", "node_modules/p/i.js", ".pytest_cache/v"):
        write(lane / name)
    assert work.snapshot(0) == work.tree_of(work.head())


ODD = [b"new\nline", b"esc\x1b[2J", b"bad\xff\xfeutf8", b"-rf", b":(top)*", b" -> ", b'"quoted"', b"tab\t",
       b"\xe2\x80\xaebidi",
       b"--", b"*", b"back\\slash", b".hidden", b"sp ace/in dir"]  # fmt: skip


def test_odd_names_go_all_the_way(tmp_path: Path) -> None:
    """From the user's checkout to the lane, the scope, the commit, the clean room and back on land."""
    repo = make_repo(tmp_path / "repo")
    for name in ODD:
        path = os.path.join(os.fsencode(repo), b"odd", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(name)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "odd")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    made = work.prepare(0)
    lane = os.fsencode(made.path)
    for name in ODD:
        with open(os.path.join(lane, b"odd", name), "ab") as file:
            file.write(b"!")
        with open(os.path.join(lane, b"odd", name) + b".new", "wb") as file:
            file.write(b"new")
        with open(os.path.join(lane, name.replace(b"/", b"_")), "wb") as file:
            file.write(b"out of scope")
    report = work.check_scope(0, made.tree, made.base, ("odd/**",), "e")
    assert len(report.attempt_changes) == 2 * len(ODD)
    assert len(report.reverted) == len(ODD)
    assert all(change.path.isprintable() for change in report.changes)
    for change in report.attempt_changes:
        assert work.show(report.tree, change.path)
        assert work.diff(made.tree, report.tree, change.path).count("diff --git") == 1
    work.commit("1", report.tree, made.base, "impl(t): T1 — odd", "", "e1", 2.0)
    room = work.export(report.tree)
    assert work.hash_room() == report.tree
    assert work.land().landed
    for name in ODD:
        with open(os.path.join(os.fsencode(repo), b"odd", name), "rb") as file:
            assert file.read() == name + b"!"
        assert os.path.exists(os.path.join(os.fsencode(room), b"odd", name))
    assert git(repo, "status", "--porcelain") == ""


def test_a_lane_follows_the_sprint_branch(work: Workspace) -> None:
    for number in range(3):
        made = work.prepare(0)
        write(made.path / f"n{number}.txt")
        tree = work.check_scope(0, made.tree, made.base).tree
        work.commit(str(number), tree, made.base, "impl(t): x", "", f"e{number}", 2.0)
    made = work.prepare(0)
    assert git(made.path, "log", "--oneline").count("\n") == 4
    assert git(made.path, "status", "--porcelain") == ""
    assert git(made.path, "fsck") == ""


@pytest.mark.parametrize("damage", ["gone", "rubbish", "locked"])
def test_the_private_index_is_only_a_cache(damage: str, work: Workspace) -> None:
    lane = work.prepare(0).path
    write(lane / "src/app.py", "x = 2\n")
    expected = work.snapshot(0)
    index = work.store.index("lane-0")
    if damage == "gone":
        index.unlink()
    elif damage == "rubbish":
        index.write_bytes(b"rubbish")
    else:
        write(index.with_name("lane-0.lock"), "")
    assert work.snapshot(0) == expected


def test_leftovers_of_killed_engines_are_swept(work: Workspace) -> None:
    for name in ("tmp/clone-x/f", "trash/y/f"):
        write(work.store.root / name)
    for name in ("tmp/clone-x", "trash/y"):
        os.utime(work.store.root / name, (1, 1))
    fresh = write(work.store.root / "tmp/clone-z/f")
    work.start_sprint(fresh.stat().st_mtime)
    assert sorted(os.listdir(work.store.root / "tmp")) == ["clone-z"] and not os.listdir(work.store.root / "trash")


def test_lanes_do_not_see_each_other(work: Workspace) -> None:
    one, two = work.prepare(0), work.prepare(1)
    write(one.path / "a.txt", "one\n")
    assert work.snapshot(1) == two.tree
    assert work.snapshot(0) != one.tree


def test_inherited_git_variables_change_nothing(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert work.prepare(0).tree == work.snapshot(0)


def test_a_clone_made_ahead_is_filled_like_any_other(work: Workspace) -> None:
    expected = content(work.prepare(0).path)
    shutil.rmtree(work.lane_path(0))  # the private index of the old clone is still there, and knows of every file
    work.warm(0)
    assert work.lane_path(0).is_dir() and content(work.lane_path(0)) == {}
    assert content(work.prepare(0).path) == expected != {}
    write(work.lane_path(0) / "mine.txt")
    work.warm(0)
    assert "mine.txt" in content(work.lane_path(0))


def test_the_git_folder_is_as_new_whatever_was_left_in_it(work: Workspace) -> None:
    """What stays is byte for byte what would be written: links, other bytes, modes and names go."""
    dot_git = work.prepare(0).path / ".git"

    def seen() -> dict[str, tuple[int, int, bytes | str]]:
        paths = (path for path in dot_git.rglob("*") if path.relative_to(dot_git).parts[:2] != ("objects", "pack"))
        return {
            str(path.relative_to(dot_git)): (
                path.lstat().st_mode,
                path.lstat().st_nlink if path.is_file() else 0,
                str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b"",
            )
            for path in paths
        }

    clean = seen()
    (dot_git / "config").write_text("[core]\n\tpager = touch /tmp/x\n")
    (dot_git / "HEAD").rename(dot_git / "head")
    (dot_git / "HEAD").symlink_to("head")
    os.link(dot_git / "info/exclude", dot_git / "info/other")
    (dot_git / "packed-refs").chmod(0o777)
    (dot_git / "hooks/post-checkout").write_text("#!/bin/sh\n")
    (dot_git / "objects/info/alternates").write_text("/etc\n")
    (dot_git / "refs/heads/devteam/work").write_text("0" * 40 + "\n")
    (dot_git / "refs/heads/mine").mkdir()
    shutil.rmtree(dot_git / "refs/tags")
    (dot_git / "refs/tags").symlink_to("/tmp")
    (dot_git / "modules").mkdir()
    os.mkfifo(dot_git / "commondir")
    work.prepare(0)
    found = seen()
    assert {name: one for name, one in found.items() if name != "index"} == {
        name: one for name, one in clean.items() if name != "index"
    }
    kept = (dot_git / "config").stat().st_ino
    work.prepare(0)
    assert (dot_git / "config").stat().st_ino == kept
