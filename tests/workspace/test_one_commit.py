"""Commits and small packs made here are what git makes and takes, byte for byte where it can be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.workspace import one_commit, packs
from engine.perform.workspace.facts import Committed, Identity, WorkspaceError
from engine.perform.workspace.git import Git, GitError
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, make_repo, open_workspace, write

MESSAGES = (
    "one line",
    "subject\n\nbody\n",
    "umlaut ä, \udcff and ☃\n\n\n",
    "",
    "\n\nthird line\n",
    "tree x\nparent y\n",
)


@pytest.fixture(params=["sha1", "sha256"])
def work(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main", f"--object-format={request.param}")
    for name in ("a.txt", "src/app.py", "src/deep/er/lib.py", "docs/x y.md"):
        write(repo / name, f"{name}\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "first")
    made = open_workspace(repo)
    made.start_sprint(1.0)
    return made


@pytest.mark.parametrize(
    "identity",
    [
        Identity(),
        Identity(name="  Möritz <x>, Jr. ", email="<m@example.org>."),
        Identity(name="a\nb", email="'q\"@x"),
    ],
)
def test_a_commit_is_the_one_git_makes(work: Workspace, identity: Identity) -> None:
    store, head = work.store, work.head()
    tree = work.tree_of(head)
    who = {f"GIT_{role}_NAME": identity.name for role in ("AUTHOR", "COMMITTER")}
    who |= {f"GIT_{role}_EMAIL": identity.email for role in ("AUTHOR", "COMMITTER")}
    when = {"GIT_AUTHOR_DATE": "@1700000123 +0000", "GIT_COMMITTER_DATE": "@1700000123 +0000"}
    plain = store.git.with_env(**who, **when)
    for text in MESSAGES:
        message = text.encode("utf-8", "replace")
        theirs = plain.line("commit-tree", tree, "-p", head, "-F", "-", stdin=message)
        ours = one_commit.write(store.git, identity, store.scratch, tree, head, text, 1700000123.9)
        assert ours == theirs, plain.run("cat-file", "commit", ours)


def test_nobody_is_no_author(work: Workspace) -> None:
    head = work.head()
    nobody = Identity(name=" .,", email="x")
    git_of_nobody = work.store.git.with_env(GIT_AUTHOR_NAME=" .,", GIT_COMMITTER_NAME=" .,")
    with pytest.raises(GitError, match="disallowed characters"):
        one_commit.write(git_of_nobody, nobody, work.store.scratch, work.tree_of(head), head, "x", 1.0)


def changed(work: Workspace, number: int) -> str:
    """A commit that changes, adds, removes, links, and turns a file into a folder."""
    lane = work.prepare(0)
    write(lane.path / "src/deep/er/lib.py", f"changed {number}\n" * 50)
    write(lane.path / f"new/in/side/{number}.bin", bytes(range(256)) * number)
    (lane.path / "a.txt").unlink(missing_ok=True)
    write(lane.path / f"a.txt/{number}", "a folder now\n")
    link = lane.path / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(f"src/{number}")
    (lane.path / "src/app.py").chmod(0o755)
    report = work.check_scope(0, lane.tree, lane.base, (), f"e{number}")
    made = work.commit(f"1.{number}", report.tree, lane.base, f"impl: {number}", "", f"e{number}", float(number))
    assert isinstance(made, Committed)
    return made.commit


def test_the_users_repository_and_the_lane_have_every_object(work: Workspace) -> None:
    checkout = work.checkout
    for number in range(1, 4):
        commit = changed(work, number)
        assert git(checkout, "fsck", "--strict", "--connectivity-only", commit).strip() == ""
    work.prepare(0)
    for folder in (checkout / ".git", work.lane_path(0) / ".git"):
        found = sorted((folder / "objects/pack").glob("*.idx"))
        assert len(found) >= 3
        for index in found:
            git(checkout, "verify-pack", str(index))
    assert git(work.lane_path(0), "fsck", "--full", "--strict").strip() == ""
    assert git(work.lane_path(0), "log", "--format=%s", "-3").split("\n")[0] == "impl: 3"


def test_the_index_is_the_one_git_writes(work: Workspace, tmp_path: Path) -> None:
    base = work.head()
    commit = changed(work, 7)
    made = one_commit.packed(work.store.git, commit, base)
    assert made is not None
    pack = tmp_path / f"pack-{made.name}.pack"
    pack.write_bytes(made.pack)
    (work.store.git).run("index-pack", "--strict", str(pack))
    assert pack.with_suffix(".idx").read_bytes() == made.index


def test_what_is_not_one_commit_on_another_is_left_to_git(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    base = work.head()
    first, second = changed(work, 1), changed(work, 2)
    store = work.store
    assert one_commit.packed(store.git, second, base) is None
    assert one_commit.packed(store.git, first, base) is not None
    tree = work.tree_of(second)
    merge = store.git.line("commit-tree", tree, "-p", first, "-p", second, "-m", "m")
    root = store.git.line("commit-tree", tree, "-m", "r")
    assert [one_commit.packed(store.git, one, first) for one in (merge, root, tree)] == [None, None, None]
    assert one_commit.packed(store.git, root, "") is None, "a first commit, in a repository without one"
    monkeypatch.setattr(one_commit, "_made", one_commit.Kept(0))
    monkeypatch.setattr(one_commit, "MOST", 1)
    assert one_commit.packed(store.git, second, first) is None
    monkeypatch.setattr(one_commit, "MOST", 500)
    monkeypatch.setattr(one_commit, "LARGEST", 100)
    assert one_commit.packed(store.git, second, first) is None
    with packs.taken(store, second, (base,)):
        pass
    assert git(work.checkout, "cat-file", "-t", second).strip() == "commit"


def test_a_damaged_object_is_not_packed(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the store gives is hashed before it goes anywhere."""
    base = work.head()
    commit = changed(work, 1)
    real = one_commit.git_service.read

    def lying(git_: Git, names: list[bytes]) -> list[object]:
        return [
            found._replace(data=found.data + b"!") if found is not None and found.kind == "blob" else found
            for found in real(git_, names)
        ]

    monkeypatch.setattr(one_commit, "_made", one_commit.Kept(1))
    monkeypatch.setattr(one_commit.git_service, "read", lying)
    with pytest.raises(WorkspaceError, match="is damaged"):
        one_commit.packed(work.store.git, commit, base)


def test_a_shared_repository_is_laid_down_by_git(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    git(repo, "config", "core.sharedRepository", "group")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    changed(work, 1)
    modes = {path.stat().st_mode & 0o060 for path in (repo / ".git/objects/pack").glob("*.pack")}
    assert modes == {0o040}
