"""The one door to git: what it drops, what it pins, and how it ends a git that hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.perform.workspace import git as module
from engine.perform.workspace.git import HARDENED, Git, GitError
from engine.perform.workspace.workspace import Workspace
from tests.patience import slowed
from tests.workspace.repos import git, open_workspace, write


def fake(tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "fake-git", f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setattr(module, "executable", lambda: str(path))


def test_no_inherited_git_variable_reaches_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/evil")
    monkeypatch.setenv("GIT_INDEX_FILE", "/elsewhere/index")
    fake(tmp_path, "env", monkeypatch)
    out = Git(None, tmp_path).with_index(tmp_path / "mine").run("x").decode()
    found = dict(line.split("=", 1) for line in out.splitlines() if line.startswith(("GIT_", "HOME=", "LC_ALL=")))
    assert found["GIT_INDEX_FILE"] == str(tmp_path / "mine")
    assert "GIT_DIR" not in found and "GIT_EXTERNAL_DIFF" not in found
    assert (found["GIT_CONFIG_GLOBAL"], found["HOME"], found["LC_ALL"]) == ("/dev/null", "/dev/null", "C")


def test_a_hanging_git_is_asked_to_end_not_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "asked"
    ready = tmp_path / "ready"
    asked = f"trap 'touch {marker}; kill $child; exit 7' TERM\nsleep 60 & child=$!\ntouch {ready}\nwait"
    fake(tmp_path, asked, monkeypatch)
    given = slowed(0.3)
    while not ready.exists():  # a program that was not there yet cannot be asked
        with pytest.raises(GitError) as ended:
            Git(None, tmp_path).run("x", timeout=given)
        given *= 2
    assert ended.value.status == 7
    assert marker.exists()


def test_errors_are_one_line_of_gits_own(repo: Path) -> None:
    with pytest.raises(GitError) as problem:
        Git(repo / ".git", repo).run("rev-parse", "--verify", "none")
    assert problem.value.message == "git rev-parse: Needed a single revision"


def test_pathspec_magic_is_off(repo: Path) -> None:
    assert "--literal-pathspecs" in HARDENED
    assert Git(repo / ".git", repo, repo).run("ls-files", "-z", "--", ":(top)*") == b""


def test_engine_overhead_beyond_git_is_small(work: Workspace) -> None:
    """A count, not a time: one attempt's worth of workspace calls starts few git processes."""
    started: list[str] = []
    original = Git._started

    def counted(self: Git, arguments: tuple[str, ...], *more: object) -> object:
        started.append(arguments[0])
        return original(self, arguments, *more)  # type: ignore[arg-type]

    def attempt(number: int) -> None:
        made = work.prepare(0)
        write(made.path / "src/app.py", f"x = {number}\n")
        report = work.check_scope(0, made.tree, made.base, ("src/**",))
        work.export(report.tree)
        work.hash_room()
        work.commit(str(number), report.tree, made.base, "impl(t): x", "", f"e{number}", 1.0)

    attempt(7)
    Git._started = counted  # type: ignore[method-assign,assignment]
    try:
        attempt(8)
    finally:
        Git._started = original  # type: ignore[method-assign]
    assert len(started) <= 13, started


def test_state_is_private(work: Workspace) -> None:
    assert os.stat(work.store.root).st_mode & 0o077 == 0


def test_two_sprints_share_a_repository(repo: Path) -> None:
    for name in ("001-one", "002-two"):
        work = open_workspace(repo, sprint=name)
        work.start_sprint(1.0)
        made = work.prepare(0)
        write(made.path / name)
        work.commit("1", work.snapshot(0), made.base, "impl(t): x", "", "e", 1.0)
    assert git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split() == [
        "devteam/001-one", "devteam/002-two", "main"
    ]  # fmt: skip
