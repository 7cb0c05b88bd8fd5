"""Scope: what an attempt may do, what is put back, and what the user finds aside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.model import Verdict
from engine.perform.workspace.scope import Limits
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace, write

FILES = {
    "src/app.py": "x = 1\n", "src/lib.py": "y = 1\n", "tests/test_app.py": "def test(): pass\n",
    "pyproject.toml": "[p]\n",
    ".devteam/config.toml": "a = 1\n", ".github/workflows/ci.yml": "on: push\n", "docs/a.md": "a\n",
}  # fmt: skip


@pytest.fixture
def tight(tmp_path: Path) -> Workspace:
    work = open_workspace(
        make_repo(tmp_path / "repo", FILES),
        protected=("pyproject.toml", ".github/**"),
        limits=Limits(max_file=1000, max_total=2500),
    )
    work.start_sprint(1.0)
    return work


def _link(target: str) -> Callable[[Path], object]:
    return lambda lane: (lane / "src/link").symlink_to(target)


def _nest(lane: Path) -> None:
    (lane / "src/inner").mkdir()
    git(lane / "src/inner", "init", "-q")
    write(lane / "src/inner/f")
    git(lane / "src/inner", "add", "-A")
    git(lane / "src/inner", "commit", "-qm", "x")


def _bare(lane: Path) -> None:
    for name in ("HEAD", "objects/x", "refs/y", "config"):
        write(lane / "src/bare" / name)


def _became_link(lane: Path) -> None:
    (lane / "src/lib.py").unlink()
    (lane / "src/lib.py").symlink_to("app.py")


def _became_folder(lane: Path) -> None:
    (lane / "src/lib.py").unlink()
    write(lane / "src/lib.py/inside.py")


def _became_file(lane: Path) -> None:
    shutil.rmtree(lane / "src")
    write(lane / "src", "a file now\n")


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n"
BAD: list[tuple[str, Callable[[Path], object], str, list[str]]] = [
    ("outside", lambda lane: write(lane / "docs/b.md"), "out-of-scope", ["docs/b.md"]),
    ("outside-edit", lambda lane: write(lane / "docs/a.md", "changed\n"), "out-of-scope", ["docs/a.md"]),
    ("outside-delete", lambda lane: (lane / "docs/a.md").unlink(), "out-of-scope", ["docs/a.md"]),
    ("outside-rename", lambda lane: (lane / "docs/a.md").rename(lane / "src/a.md"), "out-of-scope", ["docs/a.md"]),
    ("protected", lambda lane: write(lane / "pyproject.toml", "x\n"), "protected", ["pyproject.toml"]),
    ("protected-new", lambda lane: write(lane / ".github/workflows/x.yml"), "protected", [".github/workflows/x.yml"]),
    ("link-absolute", _link("/etc/passwd"), "symlink", ["src/link"]),
    ("link-up-and-out", _link("../../x"), "symlink", ["src/link"]),
    ("link-into-git", _link("../.git/config"), "symlink", ["src/link"]),
    ("type-link", _became_link, "type-change", ["src/lib.py"]),
    ("type-folder", _became_folder, "type-change", ["src/lib.py", "src/lib.py/inside.py"]),
    ("type-file", _became_file, "type-change", ["src", "src/app.py", "src/lib.py"]),
    ("too-large", lambda lane: write(lane / "src/big.bin", "x" * 1001), "too-large", ["src/big.bin"]),
    ("env-file", lambda lane: write(lane / "src/.env", "A=1\n"), "secret", ["src/.env"]),
    ("pem", lambda lane: write(lane / "src/server.pem"), "secret", ["src/server.pem"]),
    ("nested", _nest, "nested-repository", ["src/inner"]),
    ("bare", _bare, "nested-repository",
     ["src/bare/HEAD", "src/bare/config", "src/bare/objects/x", "src/bare/refs/y"]),
    ("fifo", lambda lane: os.mkfifo(lane / "src/pipe"), "special-file", ["src/pipe"]),
    ("git-lookalike", lambda lane: write(lane / "src/git~1/config"), "bad-name", ["src/git~1/config"]),
]  # fmt: skip


@pytest.mark.parametrize(("act", "rule", "paths"), [pytest.param(*rest, id=name) for name, *rest in BAD])
def test_what_an_attempt_may_not_do_is_put_back_and_kept_aside(
    act: Callable[[Path], object], rule: str, paths: list[str], tight: Workspace
) -> None:
    made = tight.prepare(0)
    write(made.path / "src/good.py", "g = 1\n")
    act(made.path)
    report = tight.check_scope(
        0, made.tree, made.base, ("src/**", "src", "pyproject.toml", ".github", ".devteam"), "T1/e7"
    )
    assert report.verdict is Verdict.FAIL
    assert {finding.rule for finding in report.findings if finding.path in paths} == {rule}
    assert sorted(path for path in report.reverted if path in paths) == sorted(paths)
    if rule != "special-file":
        assert any(Path(report.kept_aside).rglob("*"))
    # the lane is what the report says, and the honest part of the work is still there
    assert tight.snapshot(0) == report.tree
    if rule != "type-change" or ((made.path / "src").is_dir() and (made.path / "src/good.py").exists()):
        assert tight.show(report.tree, "src/good.py") == b"g = 1\n"
    again = tight.check_scope(0, made.tree, made.base, ("src/**",), "T1/e8")
    assert again.verdict is Verdict.PASS, again.reason
    assert again.tree == report.tree


def test_what_devteam_writes_itself_is_put_back_and_costs_nobody_an_attempt(tight: Workspace) -> None:
    made = tight.prepare(0)
    write(made.path / "src/good.py", "g = 1\n")
    write(made.path / ".devteam/config.toml", "a = 2\n")
    write(made.path / ".devteam/sprints/001-test/plan.md", "- [x] 1.1\n")
    report = tight.check_scope(0, made.tree, made.base, ("src/**",), "T1/e7")
    assert report.verdict is Verdict.PASS, report.reason
    assert [change.path for change in report.changes] == ["src/good.py"]
    assert tight.snapshot(0) == report.tree
    assert tight.show(report.tree, ".devteam/config.toml") == b"a = 1\n"
    assert "put back, because devteam writes it: .devteam/" in report.reason
    assert sorted(report.reverted)[0] == ".devteam/config.toml"
    beside = write(made.path / "docs/b.md")
    write(made.path / ".devteam/config.toml", "a = 2\n")
    both = tight.check_scope(0, made.tree, made.base, ("src/**",), "T1/e8")
    assert both.verdict is Verdict.FAIL, f"{beside} is out of scope all the same"
    assert sorted(both.reverted) == [".devteam/config.toml", "docs/b.md"]


def test_what_was_put_back_can_be_applied_again(tight: Workspace) -> None:
    made = tight.prepare(0)
    write(made.path / "docs/a.md", "lost work?\n")
    write(made.path / "docs/bin", b"\0\1\2")
    report = tight.check_scope(0, made.tree, made.base, ("src/**",), "e")
    git(made.path, "apply", str(Path(report.kept_aside) / "put-back.patch"))
    assert (made.path / "docs/a.md").read_text() == "lost work?\n"
    assert (made.path / "docs/bin").read_bytes() == b"\0\1\2"
    assert (Path(report.kept_aside) / "put-back.patch").stat().st_mode & 0o077 == 0


def test_what_is_allowed_passes_with_its_counts(tight: Workspace) -> None:
    made = tight.prepare(0)
    write(made.path / "src/app.py", "x = 2\ny = 3\n")
    write(made.path / "src/new.py", "n\n")
    (made.path / "src/lib.py").unlink()
    (made.path / "src/inside").symlink_to("app.py")
    report = tight.check_scope(0, made.tree, made.base, ("src/**",))
    assert report.verdict is Verdict.PASS and not report.reverted and not report.kept_aside
    assert [(c.path, c.change, c.added, c.removed) for c in report.changes] == [
        ("src/app.py", "modified", 2, 1),
        ("src/inside", "added", 1, 0),
        ("src/lib.py", "deleted", 0, 1),
        ("src/new.py", "added", 1, 0),
    ]
    assert report.attempt_changes == report.changes


def test_put_back_is_from_the_attempts_start_not_from_the_base(tight: Workspace) -> None:
    """An earlier attempt's allowed work in a file is not lost when a later one breaks that file's rules."""
    made = tight.prepare(0)
    write(made.path / "src/app.py", "earlier = 1\n")
    first = tight.check_scope(0, made.tree, made.base, ("src/**",))
    (made.path / "src/app.py").unlink()
    (made.path / "src/app.py").symlink_to("/etc/passwd")
    second = tight.check_scope(0, first.tree, made.base, ("src/**",))
    assert second.verdict is Verdict.FAIL
    assert tight.show(second.tree, "src/app.py") == b"earlier = 1\n"
    assert [c.path for c in second.changes] == ["src/app.py"]
    assert second.attempt_changes == ()


def test_what_an_earlier_tree_left_out_of_bounds_goes_back_to_the_base(tight: Workspace) -> None:
    made = tight.prepare(0)
    write(made.path / "docs/a.md", "slipped in\n")
    slipped = tight.snapshot(0)
    write(made.path / "src/app.py", "x = 2\n")
    report = tight.check_scope(0, slipped, made.base, ("src/**",))
    assert report.verdict is Verdict.FAIL
    assert tight.show(report.tree, "docs/a.md") == b"a\n"


def test_an_empty_scope_is_the_whole_repository_but_never_what_is_protected(tight: Workspace) -> None:
    made = tight.prepare(0)
    write(made.path / "anything/at/all.txt")
    write(made.path / "pyproject.toml", "changed\n")
    report = tight.check_scope(0, made.tree, made.base, ())
    assert report.reverted == ("pyproject.toml",)
    waived = tight.prepare(0)
    write(waived.path / "pyproject.toml", "changed\n")
    assert tight.check_scope(0, made.tree, made.base, (), waived=("pyproject.toml",)).verdict is Verdict.PASS


def test_the_total_of_an_attempt_is_capped(tight: Workspace) -> None:
    made = tight.prepare(0)
    for number in range(4):
        write(made.path / f"src/f{number}", "x" * (900 + number))
    report = tight.check_scope(0, made.tree, made.base, ("src/**",))
    assert report.reverted == ("src/f2", "src/f3")


def test_set_user_id_is_taken_off_and_said(tight: Workspace) -> None:
    made = tight.prepare(0)
    (made.path / "src/app.py").chmod(0o4755)
    report = tight.check_scope(0, made.tree, made.base, ("src/**",))
    assert [finding.rule for finding in report.findings] == ["mode"]
    assert (made.path / "src/app.py").stat().st_mode & 0o7000 == 0


def test_a_token_asks_the_human_and_a_named_secret_file_is_allowed(tight: Workspace) -> None:
    made = tight.prepare(0)
    write(made.path / "src/app.py", "T = 'ghp_kT9wQz3LmN8vB2xC7rY5uE1oP4sD6fG0hJaK'\n")
    write(made.path / "src/lib.py", f"K = '''{KEY}'''\n")
    write(made.path / "src/.env", "A=1\n")
    report = tight.check_scope(0, made.tree, made.base, ("src/*.py", "src/.env"))
    assert report.verdict is Verdict.PASS
    assert [(finding.rule, finding.severity) for finding in report.findings] == [("secret", "human")] * 2


def test_a_huge_diff_is_cut(work: Workspace) -> None:
    made = work.prepare(0)
    write(made.path / "many.txt", "line\n" * 100_000)
    tree = work.snapshot(0)
    text = work.diff(made.tree, tree, cap=10_000)
    assert len(text) < 10_100
    assert text.endswith("… diff cut at 10000 bytes\n")
