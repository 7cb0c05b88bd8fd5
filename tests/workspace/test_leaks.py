"""Secrets of the user's never reach a commit: known values are refused with file and line, shapes are asked about."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.model import Verdict
from engine.perform.secrets.in_trees import detector
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace, write

SECRET = "hunter2-Zq9/xx+tail of it"
WRITTEN = {
    "plain": SECRET,
    "in JSON": json.dumps(SECRET),
    "in an address": quote(SECRET, safe=""),
    "base64": base64.b64encode(f"user:{SECRET}:more".encode()).decode(),
    "hexadecimal": SECRET.encode().hex(),
}


def opened(repo: Path, *values: str) -> Workspace:
    work = open_workspace(repo, detect=detector(lambda: values))
    work.start_sprint(1.0)
    return work


@pytest.mark.parametrize("how", WRITTEN)
def test_a_known_value_is_put_back_with_file_and_line(repo: Path, how: str) -> None:
    work = opened(repo, SECRET)
    lane = work.prepare(0)
    write(lane.path / "src/app.py", f"x = 1\ny = 2\nTOKEN = '''{WRITTEN[how]}'''\n")
    write(lane.path / "src/new.py", "fine = 1\n")
    report = work.check_scope(0, lane.tree, lane.base, (), "e")
    assert report.verdict is Verdict.FAIL and report.reverted == ("src/app.py",)
    (finding,) = report.findings
    assert (finding.rule, finding.path) == ("secret", "src/app.py") and "line 3" in finding.text
    everything = repr(report) + "".join(
        path.read_text("utf-8", "replace") for path in Path(report.kept_aside).rglob("*") if path.is_file()
    )
    assert SECRET not in everything and WRITTEN[how] not in everything
    objects = git(work.store.root / "git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert WRITTEN[how] not in objects, "nor does it stay in the engine's store"
    work.commit("1", report.tree, lane.base, "impl(t): x", "", "e1", 5.0)
    assert "fine" in git(repo, "show", "devteam/001-test:src/new.py")


def test_the_commit_looks_by_itself(repo: Path) -> None:
    """Whatever way a tree came to be: a merge of two lanes, a file too large to be looked at before."""
    work = opened(repo, SECRET)
    lane = work.prepare(0)
    write(lane.path / "big.txt", "a line\n" * 300_000 + SECRET + "\n")
    tree = work.check_scope(0, lane.tree, lane.base, (), "e").tree
    with pytest.raises(WorkspaceError, match=r"big\.txt:300001 holds a secret of yours") as said:
        work.commit("1", tree, lane.base, "impl(t): x", "", "e1", 5.0)
    assert SECRET not in str(said.value) + said.value.hint
    assert work.head() == work.started().base


def test_work_that_is_only_put_aside_is_a_commit_too(repo: Path) -> None:
    work = opened(repo, SECRET)
    lane = work.prepare(0)
    write(lane.path / "src/app.py", f"TOKEN = {SECRET!r}\n")
    write(lane.path / "src/new.py", "fine = 1\n")
    tree = work.snapshot(0)
    refs = [work.back_up_lane(0, "given-up", 5.0), work.keep_tree("1", "iteration-1", tree, lane.base, "why", "", 5.0)]
    for ref in refs:
        assert "fine" in git(repo, "show", f"{ref}:src/new.py")
        assert "src/app.py" in git(repo, "log", "-1", "--format=%B", ref)
    assert SECRET not in git(repo, "cat-file", "--batch-all-objects", "--batch", "--unordered")


@pytest.mark.parametrize("where", ["same file", "other file", "moved"])
def test_a_base_that_has_it_already_is_not_the_changes_fault(tmp_path: Path, where: str) -> None:
    files = {"a.txt": "a\n", "conf.ini": f"password = {SECRET}\n", "src/app.py": "x = 1\n"}
    repo = make_repo(tmp_path / "repo", files)
    work = opened(repo, SECRET)
    lane = work.prepare(0)
    name = {"same file": "conf.ini", "other file": "src/app.py", "moved": "new/conf.ini"}[where]
    write(lane.path / name, f"# changed\npassword = {SECRET}\n")
    if where == "moved":
        (lane.path / "conf.ini").unlink()
    report = work.check_scope(0, lane.tree, lane.base, (), "e")
    assert report.verdict is Verdict.PASS and not report.findings
    work.commit("1", report.tree, lane.base, "impl(t): x", "", "e1", 5.0)


def test_a_word_that_is_also_a_password_is_asked_about(repo: Path) -> None:
    work = opened(repo, "development")
    lane = work.prepare(0)
    write(lane.path / "src/app.py", "MODE = 'development'\n")
    report = work.check_scope(0, lane.tree, lane.base, (), "e")
    assert report.verdict is Verdict.PASS
    assert [finding.severity for finding in report.findings] == ["human"]
    work.commit("1", report.tree, lane.base, "impl(t): x", "", "e1", 5.0)


REAL = "ghp_" + "kT9wQz3LmN8vB2xC7rY5uE1oP4sD6fG0hJaK"
FAKES = ["AKIAIOSFODNN7EXAMPLE", "ghp_" + "x" * 36, "sk-ant-api03-" + "0" * 40, "glpat-" + "example-token-0001234"]


def test_a_shape_is_asked_about_and_a_made_up_one_is_not(repo: Path) -> None:
    work = opened(repo)
    lane = work.prepare(0)
    write(lane.path / "tests/test_auth.py", "\n".join(f"KEY_{n} = {fake!r}" for n, fake in enumerate(FAKES)) + "\n")
    assert work.check_scope(0, lane.tree, lane.base, (), "e").findings == ()
    write(lane.path / "src/app.py", f"x = 1\nKEY = {REAL!r}\n")
    write(lane.path / "tests/data.txt", "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n")
    report = work.check_scope(0, lane.tree, lane.base, (), "e2")
    assert report.verdict is Verdict.PASS
    assert {(f.path, f.severity) for f in report.findings} == {("src/app.py", "human"), ("tests/data.txt", "human")}
    assert all(REAL not in f.text for f in report.findings) and "line 2" in report.findings[0].text


@pytest.mark.parametrize("looked_at", [True, False], ids=["judged", "never judged"])
def test_a_shape_nobody_was_asked_about_stays_out_of_what_is_put_aside(repo: Path, looked_at: bool) -> None:
    """The kept work of a refused task is a commit in the user's repository, which may be pushed with all its refs."""
    work = opened(repo)
    lane = work.prepare(0)
    write(lane.path / "src/app.py", f"x = 1\nKEY = {REAL!r}\n")
    write(lane.path / "src/new.py", "fine = 1\n")
    tree = work.check_scope(0, lane.tree, lane.base, (), "e").tree if looked_at else work.snapshot(0)
    refs = [work.back_up_lane(0, "given-up", 5.0), work.keep_tree("1", "iteration-1", tree, lane.base, "why", "", 5.0)]
    for ref in refs:
        assert "fine" in git(repo, "show", f"{ref}:src/new.py")
        assert "src/app.py (line 2 holds something like an access token)" in git(repo, "log", "-1", "--format=%B", ref)
    assert REAL not in git(repo, "cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert REAL in (work.prepare(1, tree, lane.base).path / "src/app.py").read_text(), "the work itself can go on"
    work.commit("1", tree, lane.base, "impl(t): x", "", "e1", 5.0)  # a human said that it is one for a test
    assert REAL in git(repo, "show", "devteam/001-test:src/app.py")


def test_a_refreshed_token_is_known_and_the_old_one_too() -> None:
    now = ["first-token-of-the-login"]
    find = detector(lambda: tuple(now), lambda: now[0])
    assert find(b"x first-token-of-the-login")
    now[0] = "second-token-of-the-login"
    assert find(b"x second-token-of-the-login") and find(b"\nfirst-token-of-the-login")[0].line == 2


@settings(deadline=None)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="‹›", exclude_categories=("Cs", "Cc", "Zs")), min_size=16),
    st.binary(max_size=40),
    st.binary(max_size=40),
)
def test_a_value_is_found_wherever_it_lies(value: str, before: bytes, after: bytes) -> None:
    find = detector(lambda: (value,))
    for form in (value.encode(), value.encode().hex().encode(), base64.b64encode(before + value.encode() + after)):
        assert find(before + form + after), form


# ── bounds ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_more_new_files_than_allowed_are_put_back_with_words_and_kept(repo: Path) -> None:
    from engine.perform.workspace.scope import Limits

    work = open_workspace(repo, limits=Limits(max_files=20))
    work.start_sprint(1.0)
    lane = work.prepare(0)
    for number in range(30):
        write(lane.path / f"gen/{number % 3}/{number}.txt", "x\n")
    write(lane.path / "src/app.py", "x = 2\n")
    report = work.check_scope(0, lane.tree, lane.base, (), "e")
    assert report.verdict is Verdict.FAIL
    assert "30 new files, more than 20 (workspace.max_files)" in report.reason
    assert [change.path for change in report.changes] == ["src/app.py"], "what was there already is judged as ever"
    assert not (lane.path / "gen").exists()
    assert len(list(Path(report.kept_aside).rglob("*.txt"))) == 30
    assert work.check_scope(0, lane.tree, lane.base, (), "e2").verdict is Verdict.PASS


def test_many_files_cost_few_processes(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.perform.workspace.git import Git

    def starts(count: int) -> int:
        made = work.prepare(0)
        for number in range(count):
            write(made.path / f"gen{count}/{number}.txt", f"{number}\n")
        before = len(started)
        tree = work.check_scope(0, made.tree, made.base, (), f"e{count}").tree
        work.commit(f"1.{count}", tree, made.base, "impl(t): x", "", f"e{count}", 5.0)
        work.land()
        return len(started) - before

    started: list[object] = []
    real = Git._started
    monkeypatch.setattr(Git, "_started", lambda self, *rest: (started.append(rest[0]), real(self, *rest))[1])
    work = open_workspace(repo)
    work.start_sprint(1.0)
    starts(3)
    many = starts(600)  # too many for a pack of our own making: git packs them
    assert starts(1000) <= many <= starts(5) + 6
