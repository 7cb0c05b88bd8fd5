"""Lasting gits: the same answers as one that is started for the question, and replaced when they die or hang."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.perform.workspace import git_service, tree_writing, trees
from engine.perform.workspace.git import HARDENED, SETTINGS, Git, GitError
from engine.perform.workspace.repository import STEP
from engine.perform.workspace.workspace import Workspace
from tests.depth import examples
from tests.patience import slowed
from tests.workspace.repos import git, make_repo, open_workspace, write

CAT = ("cat-file", "--batch")


def running(asked: git_service.Helper) -> subprocess.Popen[bytes]:
    assert asked._process is not None
    return asked._process


def test_a_dead_one_is_replaced_and_the_question_put_again(work: Workspace) -> None:
    head = work.head()
    asked = git_service.helper(work.store.git, *CAT)
    expected = git_service.read(work.store.git, [head.encode()])
    first = running(asked)
    first.kill()
    first.wait()
    assert git_service.read(work.store.git, [head.encode()]) == expected
    assert running(asked).pid != first.pid


def test_one_that_dies_while_it_is_asked_is_replaced(work: Workspace) -> None:
    """Stopped, it takes the question and says nothing; killed then, the answer has to come from another."""
    head = work.head()
    asked = git_service.helper(work.store.git, *CAT)
    expected = git_service.read(work.store.git, [head.encode()])
    first = running(asked)
    first.send_signal(signal.SIGSTOP)
    killer = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", f"import os,time; time.sleep(.2); os.kill({first.pid}, 9)"]
    )
    assert git_service.read(work.store.git, [head.encode()]) == expected
    assert killer.wait() == 0
    assert running(asked).pid != first.pid


def test_a_wedged_one_is_noticed_and_replaced(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    head = work.head()
    asked = git_service.helper(work.store.git, *CAT)
    expected = git_service.read(work.store.git, [head.encode()])
    first = running(asked)
    first.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(git_service, "SILENT", slowed(0.5))
    monkeypatch.setattr("engine.perform.workspace.git.GRACE", slowed(0.2))
    assert git_service.read(work.store.git, [head.encode()]) == expected
    assert running(asked).pid != first.pid
    assert first.returncode is not None, "the wedged one is still there"


def test_one_that_answers_out_of_turn_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    liar = write(tmp_path / "git", '#!/bin/sh\nwhile read line; do echo "$line is what you asked"; done\n')
    liar.chmod(0o755)
    monkeypatch.setattr(git_service, "executable", lambda: str(liar))
    monkeypatch.setattr("engine.perform.workspace.git.executable", lambda: str(liar))
    with pytest.raises(git_service.GoneError):
        git_service.read(Git(tmp_path, tmp_path), [b"HEAD"])


def test_it_is_as_hardened_as_any_other(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/evil")
    git_service.close_all()
    head = work.head()
    git_service.read(work.store.git, [head.encode()])
    pid = running(git_service.helper(work.store.git, *CAT)).pid
    argv = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    assert [part for part in HARDENED if part not in argv] == []
    values = [one.partition("=")[2] for one in environment if one.startswith("GIT_CONFIG_VALUE_")]
    assert [setting for setting in SETTINGS if setting.partition("=")[2] not in values] == []
    assert not [one for one in environment if one.startswith("GIT_EXTERNAL_DIFF")]
    assert "GIT_CONFIG_GLOBAL=/dev/null" in environment


def test_they_end_when_they_are_closed_and_are_never_many(work: Workspace) -> None:
    processes = []
    for number in range(git_service.AT_ONCE + 3):
        other = work.store.git.with_env(LC_ALL=f"C{number}")
        git_service.read(other, [work.head().encode()])
        processes.append(running(git_service.helper(other, *CAT)))
    assert len([one for one in processes if one.poll() is None]) <= git_service.AT_ONCE
    git_service.close_all()
    assert [one.pid for one in processes if one.poll() is None] == []


def test_objects_made_after_it_started_are_seen(work: Workspace) -> None:
    git_service.read(work.store.git, [work.head().encode()])
    blob = git_service.write_object(work.store.git, b"later\n", work.store.scratch)
    assert trees.blobs(work.store.git, [blob]) == {blob: b"later\n"}
    packed = work.store.git.run("hash-object", "-w", "--stdin", stdin=b"packed\n").strip()
    folder = work.store.git_objects / "pack" / "pack"
    work.store.git.run("pack-objects", "-q", str(folder), stdin=packed + b"\n")
    (work.store.git_objects / packed.decode()[:2] / packed.decode()[2:]).unlink()
    assert trees.blobs(work.store.git, [packed]) == {packed: b"packed\n"}


def test_an_old_one_is_not_believed_that_an_object_is_missing(work: Workspace, repo: Path) -> None:
    """The user's repository was moved: where its objects lie was read when the process began."""
    head = work.head()
    git_service.read(work.store.git, [head.encode()])
    moved = repo.rename(repo.with_name("elsewhere"))
    later = git(moved, "hash-object", "-w", "--stdin", "-t", "blob", env={"GIT_DIR": str(moved / ".git")}).strip()
    (work.store.git_objects / "info" / "alternates").write_text(f"{moved}/.git/objects\n")
    (found,) = git_service.read(work.store.git, [later.encode()])
    assert found is not None and found.kind == "blob"


def test_an_old_one_is_not_believed_that_a_tree_is_missing(work: Workspace, repo: Path) -> None:
    """The store is packed again and lies beside, as after a `git gc` of a repository that borrows its objects."""
    trees_of = git_service.read(work.store.git, [f"{work.head()}^{{tree}}".encode()])
    assert trees_of[0] is not None
    had = trees_of[0].oid
    assert git_service.diff(work.store.git, ("-r",), had, had) == b""
    assert git_service.diff(work.store.git, ("-r",), had, had) == b""
    other = repo.parent / "borrowed"
    subprocess.run(["git", "init", "-q", other], check=True)
    write(other / "new.txt", "1\n")
    subprocess.run(["git", "-C", other, "add", "."], check=True)
    made = subprocess.run(["git", "-C", other, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    (work.store.git_objects / "info").mkdir(exist_ok=True)
    with (work.store.git_objects / "info" / "alternates").open("a") as out:
        out.write(f"{other}/.git/objects\n")
    assert b"new.txt" in git_service.diff(work.store.git, ("-r",), had, made)
    with pytest.raises(GitError, match="1111111"):
        git_service.diff(work.store.git, ("-r",), had, "1" * 40)


def test_a_refused_move_says_what_git_says_and_moves_nothing(work: Workspace) -> None:
    repo, head = work.repo, work.head()
    ref = "refs/devteam/001-login/x"
    repo.update_refs([(ref, head, repo.null)], STEP)
    with pytest.raises(GitError, match="reference already exists"):
        repo.update_refs([(ref, head, repo.null), ("refs/devteam/001-login/y", head, repo.null)], STEP)
    assert repo.at(ref, "refs/devteam/001-login/y") == {ref: head}
    repo.update_refs([(ref, repo.null, head)], STEP)
    assert repo.at(ref) == {}


def test_a_ref_is_where_git_says_it_is(work: Workspace, repo: Path) -> None:
    """Loose, packed, both, deleted, below another, symbolic: read from the files as git reads them."""
    head = work.head()
    names = [f"refs/devteam/001-login/{name}" for name in ("loose", "packed", "both", "gone", "deep/er", "link")]
    for name in names[:5]:
        git(repo, "update-ref", name, head)
    git(repo, "pack-refs", "--all")
    git(repo, "commit", "-q", "--allow-empty", "-m", "next")
    second = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "update-ref", names[2], second)
    git(repo, "update-ref", "-d", names[3])
    git(repo, "update-ref", "refs/devteam/001-login/new", second)
    git(repo, "symbolic-ref", names[5], "refs/devteam/001-login/new")
    asked = (*names, "refs/devteam/001-login/new", "refs/devteam/001-login/none", "refs/devteam/001-login/deep")
    told = work.repo.refs("refs/devteam")
    assert work.repo.at(*asked) == {name: told[name] for name in asked if name in told}
    for name in asked:
        assert work.repo.at(name).get(name) == told.get(name)


def test_a_large_answer_is_cut_and_the_next_one_is_whole(work: Workspace) -> None:
    big = git_service.write_object(work.store.git, b"line\n" * 400_000, work.store.scratch)
    tree = work.tree_of(work.head())
    after = trees.edit(work.store.git, tree, {b"big.txt": (b"100644", big)})
    text = trees.patch(work.store.git, tree, after, cap=1000)
    assert len(text) < 1200 and text.endswith("… diff cut at 1000 bytes\n")
    assert trees.patch(work.store.git, after, tree, cap=20_000_000).count("\n-line") == 400_000


def test_what_differs_is_what_a_git_for_the_question_says(work: Workspace) -> None:
    made = work.prepare(0)
    write(made.path / "src/app.py", "x = 2\ny = 3\n")
    write(made.path / "ünïcode\tname.txt", "u\n")
    write(made.path / "binary", "\0\1")
    (made.path / "README.md").unlink(missing_ok=True)
    after = work.snapshot(0)
    asked = ("diff-tree", "-r", "-z", "--full-index", "--raw", "--numstat", "--no-renames", made.tree, after)
    assert trees.diff(work.store.git, made.tree, after) == trees.parse_raw(work.store.git.run(*asked))
    assert trees.diff(work.store.git, made.base, after) == trees.diff(work.store.git, made.tree, after)
    listed = trees.entries(work.store.git, after)
    assert list(listed.items()) == list(trees._listed(work.store.git, after).items())


def test_another_repository_at_the_same_place_is_read_anew(tmp_path: Path) -> None:
    """What is known of the trees of a state folder that was removed leads nowhere in the next one."""
    for name in ("a.pyc", "b.pyc"):
        git_service.close_all()
        for folder in ("repo", "state"):
            shutil.rmtree(tmp_path / folder, ignore_errors=True)
        work = open_workspace(make_repo(tmp_path / "repo", {name: "kept\n", ".gitignore": f"!{name}\n"}))
        work.start_sprint(1.0)
        made = work.prepare(0)
        assert sorted(path.name for path in made.path.iterdir() if path.name != ".git") == [".gitignore", name]
        assert trees.names(work.store.git, made.tree) == (".gitignore", name)
        assert list(trees.entries(work.store.git, made.tree)) == [b".gitignore", name.encode()]
        write(made.path / name, "changed\n")
        (change,) = trees.diff(work.store.git, made.tree, work.snapshot(0))
        assert change.path == name.encode()


@pytest.fixture(scope="module")
def module_work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    repo = make_repo(tmp_path_factory.mktemp("edit") / "repo")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    return work


NAMES = st.sampled_from(["a", "b", "a/x", "a/x/deep", "a.txt", "a-b", "b/y", "src/app.py", "src", "z/ü", "z/ü/ö"])


@settings(max_examples=examples(30), deadline=None)
@given(
    first=st.dictionaries(NAMES, st.sampled_from([b"1", b"2"]), max_size=6),
    then=st.dictionaries(NAMES, st.one_of(st.none(), st.sampled_from([b"1", b"3"])), max_size=5),
)
def test_an_edited_tree_is_what_an_index_makes_of_it(
    module_work: Workspace, first: dict[str, bytes], then: dict[str, bytes | None]
) -> None:
    """Held against read-tree, update-index and write-tree, which the edit replaces."""
    store = module_work.store
    tree = module_work.tree_of(module_work.head())
    for wanted in (first, then):
        paths = [path for path, data in wanted.items() if data is not None]
        kept = {
            os.fsencode(path): None if data is None else (b"100644", _blob(store.git, data))
            for path, data in wanted.items()
            if data is None or not any(other.startswith(f"{path}/") for other in paths)
        }
        index = store.index("held-against")
        index.unlink(missing_ok=True)
        view = store.git.with_index(index)
        view.run("read-tree", tree)
        trees.apply_entries(view, kept)
        tree, before = trees.edit(store.git, tree, kept), tree
        assert tree == view.line("write-tree"), (before, kept)


_blobs: dict[bytes, bytes] = {}


def _blob(git_: Git, data: bytes) -> bytes:
    if data not in _blobs:
        _blobs[data] = git_.run("hash-object", "-w", "--stdin", stdin=data).strip()
    return _blobs[data]


def test_a_tree_that_could_not_be_written_has_no_name(work: Workspace) -> None:
    """Whoever believed it had a task without its work."""
    git_, blob = work.store.git, git_service.write_object(work.store.git, b"new\n", work.store.folder("tmp"))
    entries = {b"new.txt": (b"100644", blob)}
    name = tree_writing.write(git_, entries, entries.values())
    folder = work.store.git_objects / name[:2]
    shutil.rmtree(folder)
    folder.write_text("no folder")
    with pytest.raises(OSError, match=name[:2]):
        tree_writing.write(git_, entries, entries.values())
    folder.unlink()
    assert tree_writing.write(git_, entries, entries.values()) == name
    assert git_service.read(git_, [name.encode()]) != [None]


@pytest.mark.parametrize(
    ("mode", "object_", "said"),
    [("100644", "0" * 39 + "1", "is missing"), ("100644", "tree", "is a tree"), ("40000", "blob", "is a blob")],
)
def test_a_tree_names_only_what_is_there(work: Workspace, mode: str, object_: str, said: str) -> None:
    git_ = work.store.git
    there = {
        "tree": tree_writing.write(git_, {}, ()),
        "blob": git_service.write_object(git_, b"new\n", work.store.scratch).decode(),
    }
    entry = (mode.encode(), there.get(object_, object_).encode())
    with pytest.raises(GitError, match=said):
        tree_writing.write(git_, {b"new": entry}, [entry])
    with pytest.raises(GitError, match=said):
        trees.edit(git_, there["tree"], {b"a/b/new": entry})


def test_a_tree_written_by_hand_is_sorted_as_git_sorts(work: Workspace, repo: Path) -> None:
    """A folder counts as if its name ended in a slash: `a.b` and `a-b` before, `a0` after it; git finds no fault."""
    git_ = work.store.git
    blob = git_service.write_object(git_, b"new\n", work.store.scratch)
    names = (b"a/x", b"a.b", b"a-b", b"a0", b"a/\xff\xfe", b"\xc3\xa4", b"\n", b"Z", b"link", b"a.b.c/y", b"ab")
    files_ = {name: (b"120000" if name == b"link" else b"100755", blob) for name in names}
    tree = trees.edit(git_, tree_writing.write(git_, {}, ()), {**files_, b"sub": (b"160000", b"1" * 40)})
    assert b"a/x" in git_.run("ls-tree", "-r", "-z", "--name-only", tree).split(b"\0")
    assert git_.status("fsck", "--strict", "--no-dangling", tree)[0] == 0
    index = git_.with_index(work.store.scratch / "index")
    index.run("read-tree", "--empty")
    trees.apply_entries(index, {**files_, b"sub": (b"160000", b"1" * 40)})
    assert index.line("write-tree", "--missing-ok") == tree


def test_one_file_of_a_large_folder_is_one_question(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an edit looks for and reads follows what changes, not how many files lie beside it."""
    git_ = work.store.git
    blob = git_service.write_object(git_, b"new\n", work.store.scratch)
    many = {f"f{number}".encode(): (b"100644", blob) for number in range(500)}
    tree = trees.edit(git_, tree_writing.write(git_, {}, ()), many)
    asked: list[bytes] = []
    ask = git_service.Helper.ask

    def counted(self: git_service.Helper, question: bytes, *more: Any) -> bytes:
        asked.append(question)
        return ask(self, question, *more)

    monkeypatch.setattr(git_service.Helper, "ask", counted)
    other = trees.edit(git_, tree, {b"f7": (b"100755", blob)})
    assert asked == [blob + b"\n"]
    again = trees.edit(git_, other, {b"f7": (b"100644", blob)})
    assert again == tree
    assert asked == [blob + b"\n"] * 2, "a folder that was just written is known"
