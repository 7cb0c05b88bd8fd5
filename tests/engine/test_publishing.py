"""`devteam land --pr` against a real bare remote and a `gh` that only writes down what it is asked."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.clock import SystemClock
from engine.service.local import Desk
from engine.service.publishing import publish
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

GH = """#!/bin/sh
printf '%s\\n' "$@" >> "$HOME/asked"
[ "$2" = create ] && [ -e "$HOME/there" ] && { echo 'a pull request for branch already exists' >&2; exit 1; }
[ -e "$HOME/broken" ] && { printf 'no \\033[31mlogin\\033[0m\\n' >&2; exit 4; }
echo https://github.example/pull/7
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose sprint is done, made once; each test takes a copy."""
    root = tmp_path_factory.mktemp("done")
    plan = small.PLAN.replace("# Make it good", "# --Make it “good” $(touch x)")

    async def run() -> None:
        sprint = small.make(root / "repo", plan=plan)
        options = Options(trust="all", speed=1e6, waits=False, attended=False)
        async with Session.open(small.project_of(root / "repo", root / "state"), sprint, SystemClock(), options) as one:
            assert (await one.run()).outcome == "done"

    asyncio.run(run())
    return root


@pytest.fixture
def desk(done: Path, tmp_path: Path) -> Desk:
    """With a remote called origin and gh on PATH."""
    shutil.copytree(done / "repo", tmp_path / "repo", symlinks=True)
    small.git(tmp_path, "init", "-q", "--bare", "remote.git")
    small.git(tmp_path / "repo", "remote", "add", "origin", str(tmp_path / "remote.git"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(GH)
    (tmp_path / "bin/gh").chmod(0o755)
    found = Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state"))
    env = {**found.project.env, "PATH": f"{tmp_path / 'bin'}:{found.project.env['PATH']}"}
    return Desk(project=replace(found.project, env=env))


def without_gh(desk: Desk) -> Desk:
    only = desk.root.parent / "only"
    only.mkdir()
    (only / "git").symlink_to(shutil.which("git") or "/usr/bin/git")
    return Desk(project=replace(desk.project, env={**desk.project.env, "PATH": str(only)}))


def asked(desk: Desk) -> list[str]:
    path = desk.project.home / "asked"
    return path.read_text().splitlines() if path.is_file() else []


def remote_heads(desk: Desk) -> str:
    return small.git(desk.root.parent / "remote.git", "for-each-ref", "--format=%(refname) %(objectname)")


def test_the_branch_is_pushed_and_the_request_opened(desk: Desk) -> None:
    before = small.user_side(desk.root)
    ok, lines = publish(desk, "")
    assert ok and lines[-1] == "  https://github.example/pull/7", lines
    head = small.git(desk.root, "rev-parse", "refs/heads/devteam/001-make-good-touch-x").strip()
    assert remote_heads(desk) == f"refs/heads/devteam/001-make-good-touch-x {head}\n", "that branch and no other"
    said = asked(desk)
    assert said[:4] == ["pr", "create", "--head=devteam/001-make-good-touch-x", "--base=main"]
    assert said[4] == "--title=--Make it “good” $(touch x)" and not (desk.root / "x").exists()
    text = Path(said[5].removeprefix("--body-file=")).read_text()
    assert text.startswith("# --Make it") and "- [x] 1.1 Write a good word" in text
    after = small.user_side(desk.root)
    assert {**after, "refs": before["refs"]} == before, "nothing of the user's changed but the remote's own ref"


def test_a_request_that_is_there_is_brought_up_to_date(desk: Desk) -> None:
    (desk.project.home / "there").touch()
    ok, lines = publish(desk, "")
    assert ok and lines[-1].endswith("/pull/7") and asked(desk)[6:9] == ["pr", "edit", "devteam/001-make-good-touch-x"]


def test_without_gh_or_a_remote_it_says_what_to_type(desk: Desk) -> None:
    ok, lines = publish(without_gh(desk), "")
    assert ok and "gh is not on PATH, so nothing was sent" in lines[0] and remote_heads(desk) == ""
    assert lines[1].startswith("  git push --set-upstream origin refs/heads/devteam/001-make-good-touch-x:")
    assert lines[2].startswith("  gh pr create --head=devteam/001-make-good-touch-x --base=main '--title=--Make")
    small.git(desk.root, "remote", "remove", "origin")
    ok, lines = publish(desk, "")
    assert ok and "there is no remote, so nothing was sent" in lines[0] and not asked(desk)


def test_what_fails_is_said_and_cleaned(desk: Desk) -> None:
    (desk.project.home / "broken").touch()
    ok, lines = publish(desk, "")
    assert not ok and "gh opened no pull request" in lines[0] and "  no login" in lines
    small.git(desk.root, "remote", "set-url", "origin", str(desk.root.parent / "nowhere.git"))
    ok, lines = publish(desk, "")
    assert not ok and lines[0] == "origin did not take the branch:" and len(asked(desk)) == 6, "gh is not asked then"


def test_nothing_to_land(tmp_path: Path) -> None:
    small.make(tmp_path / "repo")
    assert publish(Desk(project=small.project_of(tmp_path / "repo", tmp_path / "state")), "") == (
        False,
        ["there is nothing to land yet"],
    )
