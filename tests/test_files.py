"""Files are whole or not at all, for their owner only, and never written through a link."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import files

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("writer", [files.write, files.write_new], ids=["write", "write_new"])
def test_private_whatever_the_umask(tmp_path: Path, writer) -> None:
    writer(tmp_path / "a", "text ü\n")
    assert (tmp_path / "a").read_bytes() == "text ü\n".encode()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    writer(tmp_path / "b", b"x", mode=0o400, durable=False)
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o400
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "a").symlink_to("mine")
    files.write(tmp_path / "a", "ours")
    assert (tmp_path / "mine").read_text() == "mine"
    assert (tmp_path / "a").read_text() == "ours" and not (tmp_path / "a").is_symlink()
    (tmp_path / "b").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        files.write_new(tmp_path / "b", "ours")
    (tmp_path / "log").symlink_to("mine")
    with pytest.raises(OSError):
        files.appending(tmp_path / "log")


def test_what_is_no_ordinary_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, words in [("pipe", "ordinary"), ("zero", "ordinary"), ("loop", "symbolic links"), (".", "directory")]:
        with pytest.raises(OSError, match=words):
            files.ordinary(tmp_path / name)
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_bytes(b"as it is\r\n")
    assert files.ordinary(tmp_path / "link") == b"as it is\r\n"


def test_a_taken_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write_new(tmp_path / "a", "one")
    with pytest.raises(FileExistsError):
        files.write_new(tmp_path / "a", "two")

    def no_links(*_: object) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(FileExistsError):
        files.write_new(tmp_path / "a", "three")
    files.write_new(tmp_path / "b", "four")
    assert [(tmp_path / name).read_text() for name in "ab"] == ["one", "four"]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write(tmp_path / "a", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    whole = {letter * 200_000 for letter in "abc"}
    files.write(tmp_path / "f", "a" * 200_000)
    done = threading.Event()

    def write(letter: str) -> None:
        while not done.is_set():
            files.write(tmp_path / "f", letter * 200_000, durable=False)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "bc"]
    for thread in threads:
        thread.start()
    try:
        assert {(tmp_path / "f").read_text() for _ in range(100)} <= whole
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert os.listdir(tmp_path) == ["f"]


def test_killed_at_any_call_the_file_is_old_or_new(tmp_path: Path) -> None:
    """The writer dies before its nth system call of writing; what is there is one of the two, and whole."""
    code = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from engine import files
left = [int(sys.argv[2])]
def dying(real):
    def call(*args, **more):
        if not left[0]:
            os._exit(9)
        left[0] -= 1
        return real(*args, **more)
    return call
for name in ("open", "fsync", "fchmod", "replace", "rename", "unlink", "close"):
    setattr(os, name, dying(getattr(os, name)))
files.write(Path(sys.argv[1]), "new" * 50_000)
"""
    seen = set()
    for number in range(14):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "f").write_text("old")
        command = [sys.executable, "-I", "-c", code, str(folder / "f"), str(number), str(ROOT)]
        done = subprocess.run(command, check=False)
        seen.add((done.returncode, (folder / "f").read_text()[:3], len((folder / "f").read_text())))
    assert {text for _, text, _ in seen} == {"old", "new"}
    assert {size for _, _, size in seen} == {3, 150_000}
    assert (0, "new", 150_000) in seen


def test_what_the_user_names_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """A run once put a regular file in the place of /dev/null: `--junit /dev/null`, as root."""
    pipe, link, kept = tmp_path / "pipe", tmp_path / "link", tmp_path / "kept"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.hand_over(pipe, "words")
    assert os.read(reader, 99) == b"words" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    kept.write_text("old and longer")
    link.symlink_to(kept)
    files.hand_over(link, b"new")
    assert link.is_symlink() and kept.read_text() == "new"
    files.hand_over(tmp_path / "fresh", "x")
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == files.SHARED
    with pytest.raises(IsADirectoryError):
        files.hand_over(tmp_path, "x")


def test_more_is_put_at_the_end_where_the_users_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("page")
    for words in ("one\n", b"two\n"):
        files.must_take(tmp_path / "link", more=True)
        files.hand_over_more(tmp_path / "link", words)
    assert (tmp_path / "page").read_text() == "one\ntwo\n"
    files.hand_over_more(Path("/dev/null"), "three")


def test_asking_whether_a_place_takes_a_file_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for name in ("file", "new", "far/away/new", "n" * 250):
        files.must_take(tmp_path / name)
    for name in (".", "file/new", "n" * 256):
        with pytest.raises(OSError):
            files.must_take(tmp_path / name)
    assert os.listdir(tmp_path) == ["file"] and (tmp_path / "file").read_text() == "mine"
