"""Awkward repositories: each works from start to landing, or is refused in one line with the command that ends it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.perform.workspace.facts import Identity, Refused
from engine.perform.workspace.preflight import preflight
from engine.project import UnusablePath, open_project
from tests.workspace.repos import PLAIN, differences, fingerprint, git, make_repo, open_workspace, write


def _conflict(repo: Path, verb: str) -> None:
    git(repo, "switch", "-qc", "side")
    write(repo / "a.txt", "side\n")
    git(repo, "commit", "-qam", "side")
    git(repo, "switch", "-q", "main")
    write(repo / "a.txt", "main\n")
    git(repo, "commit", "-qam", "main")
    git(repo, verb, "side", check=False)


def _rebase(repo: Path) -> None:
    _conflict(repo, "log")
    git(repo, "rebase", "side", check=False)


def _am(repo: Path) -> None:
    _conflict(repo, "log")
    patch = repo.parent / "p.patch"
    patch.write_text(git(repo, "format-patch", "--stdout", "-1", "side"))
    git(repo, "am", str(patch), check=False)


def _revert(repo: Path) -> None:
    for text in ("1\n", "2\n", "3\n"):
        write(repo / "a.txt", text)
        git(repo, "commit", "-qam", text)
    git(repo, "revert", "--no-edit", "HEAD~1", check=False)


def _unmerged(repo: Path) -> None:
    _conflict(repo, "merge")
    (repo / ".git/MERGE_HEAD").unlink()


def _bare(repo: Path) -> None:
    git(repo.parent, "clone", "-q", "--bare", str(repo), "bare")
    shutil.rmtree(repo)
    (repo.parent / "bare").rename(repo)


def _no_repo(repo: Path) -> None:
    shutil.rmtree(repo / ".git")


def _broken(repo: Path) -> None:
    (repo / ".git/HEAD").write_text("rubbish\n")


def _missing_commit(repo: Path) -> None:
    (repo / ".git/refs/heads/main").write_text("1" * 40 + "\n")


def _bad_config(repo: Path) -> None:
    (repo / ".git/config").write_text("[core\n")


def _newer_format(repo: Path) -> None:
    git(repo, "config", "core.repositoryformatversion", "1")
    git(repo, "config", "extensions.fromTheFuture", "yes")


def _other_owner(repo: Path) -> None:
    for path in (repo, *repo.rglob("*")):
        os.lchown(path, 12345, 12345)


def _partial(repo: Path) -> None:
    git(repo, "config", "remote.origin.promisor", "true")
    git(repo, "config", "remote.origin.partialclonefilter", "blob:none")


def _core_worktree(repo: Path) -> None:
    git(repo, "config", "core.worktree", str(repo.parent))


REFUSED: list[tuple[str, Callable[[Path], object], str, str]] = [
    ("no-repository", _no_repo, "not a git repository", "git init"),
    ("bare", _bare, "bare repository", "git clone"),
    ("rebase", _rebase, "a rebase is in progress", "git rebase --continue"),
    ("merge", lambda repo: _conflict(repo, "merge"), "a merge is in progress", "git merge --continue"),
    ("cherry-pick", lambda repo: _conflict(repo, "cherry-pick"), "a cherry-pick is in progress", "git cherry-pick"),
    ("revert", _revert, "a revert is in progress", "git revert --continue"),
    ("bisect", lambda repo: git(repo, "bisect", "start"), "a bisect is in progress", "git bisect reset"),
    ("am", _am, "git am is in progress", "git am --continue"),
    ("unmerged-index", _unmerged, "unmerged files: a.txt", "git status"),
    ("index-lock", lambda repo: write(repo / ".git/index.lock", ""), "another git is at work", "rm "),
    ("broken-head", _broken, "not a git repository", "git "),
    ("missing-commit", _missing_commit, "missing", "git fsck"),
    ("broken-config", _bad_config, "bad config", "git "),
    ("newer-format", _newer_format, "fromthefuture", "git "),
    ("corrupt-index", lambda repo: write(repo / ".git/index", b"rubbish"), "index", "git "),
    ("partial-clone", _partial, "partial clone", "git fetch --refetch"),
    ("branch-in-the-way", lambda repo: git(repo, "branch", "devteam"), "a branch named devteam", "git branch -m"),
    ("core-worktree", _core_worktree, "not the top", "cd "),
]


@pytest.mark.parametrize(("make", "says", "command"), [pytest.param(*rest, id=name) for name, *rest in REFUSED])
def test_refused_in_one_line(make: Callable[[Path], object], says: str, command: str, repo: Path) -> None:
    make(repo)
    report = preflight(repo, Identity(), home=repo.parent / "home")
    assert not report.ok
    assert says in report.refusal and "\n" not in report.refusal
    assert command in report.command and "\n" not in report.command
    with pytest.raises(Refused) as refused:
        open_workspace(repo).start_sprint(1.0)
    assert refused.value.message == report.refusal


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_owner_is_refused_until_the_user_says_it_is_safe(repo: Path) -> None:
    _other_owner(repo)
    home = repo.parent / "home"
    report = preflight(repo, Identity(), home=home)
    assert "belongs to another user" in report.refusal
    assert report.command.startswith("git config --global --add safe.directory ")
    write(home / ".gitconfig", f"[safe]\n\tdirectory = {repo}\n")
    assert preflight(repo, Identity(), home=home).ok


def test_a_folder_below_the_top_is_refused_with_the_way_up(repo: Path) -> None:
    report = preflight(repo / "src", Identity(), home=repo.parent / "home")
    assert "not the top" in report.refusal and report.command == f"cd {repo}"


def test_a_state_directory_inside_the_checkout_is_refused(repo: Path) -> None:
    with pytest.raises(Refused, match="inside the checkout"):
        open_workspace(repo, repo / ".state")


def _unborn(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    git(repo, "init", "-q", "-b", "main")


def _empty(repo: Path) -> None:
    for path in repo.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    git(repo, "init", "-q", "-b", "main")


def _shallow(repo: Path) -> None:
    git(repo, "commit", "--allow-empty", "-qm", "second")
    git(repo.parent, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    shutil.rmtree(repo)
    (repo.parent / "shallow").rename(repo)


def _submodule(repo: Path) -> None:
    inner = make_repo(repo.parent / "inner")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner), "sub")
    git(repo, "commit", "-qm", "submodule")


def _dirty_submodule(repo: Path) -> None:
    _submodule(repo)
    write(repo / "sub/a.txt", "dirty\n")


def _lfs(repo: Path) -> None:
    write(repo / ".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    write(repo / "big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "pointer")
    git(repo, "config", "filter.lfs.clean", "cat")
    git(repo, "config", "filter.lfs.smudge", "cat")
    git(repo, "config", "filter.lfs.required", "true")


def _sparse(repo: Path) -> None:
    git(repo, "sparse-checkout", "set", "--cone", "src")


def _sparse_index(repo: Path) -> None:
    write(repo / "other/deep/f.txt")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "more")
    git(repo, "sparse-checkout", "set", "--cone", "--sparse-index", "src")


def _nested(repo: Path) -> None:
    make_repo(repo / "vendored")


def _symlinks(repo: Path) -> None:
    (repo / "in").symlink_to("src/app.py")
    (repo / "out").symlink_to("/etc")
    (repo / "dangling").symlink_to("nowhere")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "links")


def _linked_worktree(repo: Path) -> None:
    git(repo, "branch", "other")
    git(repo, "worktree", "add", "-q", str(repo.parent / "linked"), "other")
    main = repo.parent / "main-checkout"
    repo.rename(main)
    (repo.parent / "linked").rename(repo)
    git(main, "worktree", "repair", str(repo))


def _split_index(repo: Path) -> None:
    git(repo, "config", "core.splitIndex", "true")
    git(repo, "update-index", "--split-index")
    write(repo / "late.txt")
    git(repo, "add", "late.txt")


def _alternates(repo: Path) -> None:
    git(repo.parent, "clone", "-q", "--shared", str(repo), "shared")
    repo.rename(repo.parent / "origin-of-it")
    (repo.parent / "shared").rename(repo)
    write(repo / ".git/objects/info/alternates", f"{repo.parent}/origin-of-it/.git/objects\n")


def _sha256(repo: Path) -> None:
    shutil.rmtree(repo / ".git")
    git(repo, "init", "-q", "-b", "main", "--object-format=sha256")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "first")


def _intent_to_add(repo: Path) -> None:
    write(repo / "soon.txt")
    git(repo, "add", "-N", "soon.txt")


def _packed(repo: Path) -> None:
    git(repo, "gc", "-q")
    git(repo, "pack-refs", "--all")


def _fsmonitor_index(repo: Path) -> None:
    git(repo, "config", "core.untrackedCache", "true")
    git(repo, "update-index", "--untracked-cache")
    git(repo, "status")


def _file_modes(repo: Path) -> None:
    (repo / "a.txt").chmod(0o755)
    git(repo, "config", "core.fileMode", "false")


def _fifo(repo: Path) -> None:
    os.mkfifo(repo / "pipe")


WORKS: list[tuple[str, Callable[[Path], object], str]] = [
    ("plain", lambda repo: None, ""),
    ("unborn", _unborn, "unborn"),
    ("empty", _empty, "unborn"),
    ("detached", lambda repo: git(repo, "switch", "-q", "--detach"), "detached"),
    ("shallow", _shallow, "shallow"),
    ("submodule", _submodule, "submodules"),
    ("dirty-submodule", _dirty_submodule, "submodules"),
    ("lfs", _lfs, "lfs"),
    ("sparse", _sparse, "sparse"),
    ("sparse-index", _sparse_index, "sparse"),
    ("nested-repository", _nested, "nested"),
    ("symlinks", _symlinks, "symlinks"),
    ("linked-worktree", _linked_worktree, "worktree"),
    ("split-index", _split_index, ""),
    ("alternates", _alternates, ""),
    ("sha256", _sha256, ""),
    ("intent-to-add", _intent_to_add, ""),
    ("packed", _packed, ""),
    ("untracked-cache", _fsmonitor_index, ""),
    ("file-modes-off", _file_modes, ""),
    ("fifo", _fifo, ""),
]


@pytest.mark.parametrize(("make", "state"), [pytest.param(*rest, id=name) for name, *rest in WORKS])
def test_works_from_start_to_landing(make: Callable[[Path], object], state: str, repo: Path) -> None:
    make(repo)
    before = fingerprint(repo)
    work = open_workspace(repo)
    report = work.preflight()
    assert report.ok, report.refusal
    assert state == "" or state in report.states
    assert all("\n" not in note for note in report.notes)
    work.start_sprint(1.0)
    made = work.prepare(0)
    assert git(made.path, "status", "--porcelain") == ""
    write(made.path / "src/added.py", "n = 1\n")
    checked = work.check_scope(0, made.tree, made.base, ("src/**",))
    assert [change.path for change in checked.changes] == ["src/added.py"], checked
    work.commit("1", checked.tree, made.base, "impl(t): x", "", "e1", 2.0)
    work.export(checked.tree)
    assert work.hash_room() == checked.tree
    assert work.prepare(0).tree == checked.tree
    work.land(apply=False)
    assert differences(before, fingerprint(repo)) == []
    landed = work.land()
    assert landed.landed == (state != "detached"), landed
    assert (repo / "src/added.py").exists() == landed.landed
    assert git(repo, "fsck", "--connectivity-only", check=False) == ""


def test_the_base_holds_the_files_as_they_are_and_names_what_it_leaves_out(repo: Path) -> None:
    write(repo / "a.txt", "edited\n")
    write(repo / "untracked.txt", "u\n")
    write(repo / "noise.log", "ignored\n")
    write(repo / ".env", "SECRET=1\n")
    write(repo / "deploy/id_rsa", "k\n")
    write(repo / ".devteam/progress.txt", "p\n")
    (repo / "src/lib.py").unlink()
    write(repo / "src/app.py", "staged\n")
    git(repo, "add", "src/app.py")
    write(repo / "src/app.py", "and edited again\n")
    before = fingerprint(repo)
    work = open_workspace(repo)
    started = work.start_sprint(1.0)
    names = git(repo, "ls-tree", "-r", "--name-only", started.base).splitlines()
    assert names == [".gitignore", "a.txt", "src/app.py", "untracked.txt"]
    assert work.show(started.tree, "src/app.py") == b"and edited again\n"
    assert sorted(started.left_out) == [".env", "deploy/id_rsa"]
    assert git(repo, "log", "-1", "--format=%s %P", started.base).split(" ")[-1].strip() == started.head
    assert work.start_sprint(99.0) == started
    assert differences(before, fingerprint(repo)) == []


def test_the_users_personal_excludes_count(repo: Path) -> None:
    home = repo.parent / "home"
    write(home / ".config/git/ignore", "*.personal\n")
    write(repo / ".git/info/exclude", "*.mine\n")
    write(repo / "x.personal")
    write(repo / "y.mine")
    work = open_workspace(repo)
    assert not work.start_sprint(1.0).snapshot
    lane = work.prepare(0).path
    write(lane / "z.personal")
    write(lane / "z.mine")
    assert work.snapshot(0) == work.tree_of(work.head())


def test_a_checkout_with_an_odd_path(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "a b:'\"\\ü" / "-repo")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    made = work.prepare(0)
    write(made.path / "x.txt")
    tree = work.check_scope(0, made.tree, made.base).tree
    work.commit("1", tree, made.base, "impl(t): x", "", "e", 1.0)
    assert work.land().landed


@pytest.mark.parametrize("name", ["a\nb", "it's\\a \"b\n", "up\n/repo"])
def test_a_line_break_in_the_path_is_refused_in_one_line_with_a_cure_that_works(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / name)
    report = preflight(repo, Identity(), home=tmp_path)
    assert "line break" in report.refusal and "\n" not in report.refusal + report.command
    subprocess.run(["bash", "-c", report.command], check=True)
    (moved,) = (path.parent for path in tmp_path.rglob(".git"))
    assert "\n" not in str(moved) and not preflight(moved, Identity(), home=tmp_path).refusal


def test_a_path_that_is_no_utf8_is_refused_with_a_cure_that_works(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"r\xff\xe9po")
    repo = make_repo(folder / "inside")
    report = preflight(repo, Identity(), home=tmp_path)
    assert "UTF-8" in report.refusal and report.command.isprintable()
    with pytest.raises(
        UnusablePath, match="UTF-8"
    ):  # before the journal is looked for, whose database takes no such name
        open_project(repo, {}, tmp_path)
    subprocess.run(["bash", "-c", report.command], check=True)
    (moved,) = (path.parent for path in tmp_path.rglob(".git"))
    assert not preflight(moved, Identity(), home=tmp_path).refusal
    with pytest.raises(UnusablePath, match="state"):
        open_project(moved, {}, tmp_path / os.fsdecode(b"h\xf6me"))


def test_a_symlink_to_the_checkout_is_the_checkout(repo: Path) -> None:
    link = repo.parent / "link"
    link.symlink_to(repo)
    assert open_workspace(link, repo.parent / "state").checkout == repo


def test_git_missing_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = subprocess.run(["git", "--version"], env=PLAIN, capture_output=True, check=True)
    assert b"git version" in done.stdout
    from engine.perform.workspace import git as module

    module.executable.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(Exception, match="git is not installed"):
            module.executable()
    finally:
        module.executable.cache_clear()
