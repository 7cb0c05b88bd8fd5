"""Git processes that last: what is asked often is asked of one that is already there.

A start costs three milliseconds of CPU, an answer of a lasting process a tenth of one. Five verbs can last: `cat-file
--batch`, `cat-file --batch-check`, `diff-tree --stdin`, `hash-object --stdin-paths` and `update-ref --stdin`. They are
started by the one door to git (git.py), so whatever holds for a git of ours holds for them. One that is dead, says
nothing for `SILENT` seconds, or answers out of turn is ended and replaced; a question that changes nothing is then put
once more. They end with the engine: each reads from a pipe that only we hold.

GitPython's own lasting `cat-file` processes are as quick (10 µs of our CPU for a header, 30 µs for a content; these
take 10), but they wait for ever for one that hangs, and there are none for the other verbs.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import select
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from engine import files
from engine.perform.workspace.git import GRACE, Git, GitError, executable
from engine.perform.workspace.git import end as end_process

if TYPE_CHECKING:
    from engine.perform.workspace.git import Process

SILENT = 120.0
"""Seconds without a byte after which a process counts as wedged."""
ANSWERS = 5000
"""After so many it is replaced by a fresh one: whatever it keeps in memory is bounded."""
AT_ONCE = 12
"""Processes kept; the one that was not asked for longest goes first."""
_PIECE = 1 << 16

_OBJECT = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")

Complete = Callable[[bytearray], bool]


class GoneError(GitError):
    """The process ended, hung or answered out of turn: what it was asked has no answer."""


class Found(NamedTuple):
    """An object as `cat-file --batch` has it."""

    oid: str
    kind: str
    data: bytes


class Helper:
    """One lasting process, asked by one thread at a time."""

    def __init__(self, git: Git, arguments: tuple[str, ...]) -> None:
        self._git = git.with_env(GIT_FLUSH="1")
        self._arguments = arguments
        self._process: Process | None = None
        self._answers = 0
        self._said = bytearray()
        self.lock = threading.Lock()

    def ask(self, question: bytes, complete: Complete, cap: int = 0) -> bytes:
        """Its answer, up to where `complete` says it ends. With `cap` no more than that is read.

        Only for what changes nothing: where a process that was there already has no answer, a new one is asked. Raises
        GoneError where that has none either.
        """
        with self.lock:
            fresh = self._process is None
            try:
                return self.exchange(question, complete, cap)
            except GoneError:
                if fresh:
                    raise
            return self.exchange(question, complete, cap)

    def exchange(self, question: bytes, complete: Complete, cap: int = 0) -> bytes:
        """One question to the process there is. The caller holds the lock."""
        process = self._running()
        whole = False
        try:
            answer = self._talk(process, question, complete, cap)
            whole = complete(answer)
            self._answers += 1
            return bytes(answer)
        finally:
            if not whole or self._answers >= ANSWERS:
                self.close()

    def is_old(self) -> bool:
        """Whether the process answered others before this."""
        return self._answers > 1

    def complaint(self) -> str:
        """What it wrote on the side since the last time; it goes on."""
        with self.lock:
            words = self._words(self._process) if self._process is not None else ""
            self._said.clear()
            return words

    def renew(self) -> None:
        """The next question is put to a new process."""
        with self.lock:
            self.close()

    def close(self) -> None:
        """End the process: it goes by itself when nobody can ask any more."""
        process, self._process, self._answers = self._process, None, 0
        if process is not None:
            end_process(process)

    def _running(self) -> Process:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._said.clear()
            self._process = self._git.start(*self._arguments)
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                os.set_blocking(cast("IO[bytes]", pipe).fileno(), False)
        return self._process

    def _talk(self, process: Process, question: bytes, complete: Complete, cap: int) -> bytearray:
        into, out, err = (cast("IO[bytes]", pipe).fileno() for pipe in (process.stdin, process.stdout, process.stderr))
        answer, left = bytearray(), memoryview(question)
        poll = select.poll()
        poll.register(out, select.POLLIN)
        poll.register(err, select.POLLIN)
        if left:
            poll.register(into, select.POLLOUT)
        while True:
            ready = poll.poll(SILENT * 1000)
            if not ready:
                raise GoneError(self._arguments, -1, f"no answer for {SILENT:.0f} s")
            for descriptor, _ in ready:
                if descriptor == into:
                    try:
                        left = left[os.write(into, left[:_PIECE]) :]
                    except BlockingIOError:
                        continue
                    except OSError:  # it is gone: its last words follow
                        left = left[:0]
                    if not left:
                        poll.unregister(into)
                elif descriptor == err:
                    with contextlib.suppress(BlockingIOError):
                        piece = os.read(err, _PIECE)
                        self._said = (self._said + piece)[-_PIECE:]
                        if not piece:
                            poll.unregister(err)
                else:
                    with contextlib.suppress(BlockingIOError):
                        piece = os.read(out, _PIECE)
                        answer += piece
                        if not piece:
                            raise GoneError(self._arguments, self._last(process), self._words(process))
            if (cap and len(answer) >= cap) or (not left and complete(answer)):
                return answer

    def _last(self, process: Process) -> int:
        limit = time.monotonic() + GRACE
        while process.poll() is None and time.monotonic() < limit:
            time.sleep(0.002)
        return process.returncode if process.returncode is not None else -1

    def _words(self, process: Process) -> str:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(cast("IO[bytes]", process.stderr).fileno(), _PIECE):
                self._said += piece
        return self._said.decode("utf-8", "replace")


_helpers: OrderedDict[tuple[object, ...], Helper] = OrderedDict()
_lock = threading.Lock()


def helper(git: Git, *arguments: str) -> Helper:
    """The lasting process for these arguments in this repository; made when it is first asked."""
    key = (os.getpid(), executable(), git.git_dir, tuple(sorted(git.env.items())), git.config, arguments)
    with _lock:
        found = _helpers.get(key)
        if found is None:
            found = _helpers[key] = Helper(git, arguments)
        _helpers.move_to_end(key)
        for one in list(_helpers)[: max(0, len(_helpers) - AT_ONCE)]:
            old = _helpers[one]
            if old is not found and old.lock.acquire(blocking=False):  # one that is asked now stays
                try:
                    del _helpers[one]
                    old.close()
                finally:
                    old.lock.release()
    return found


@atexit.register
def close_all() -> None:
    """End every lasting process of ours."""
    with _lock:
        found = list(_helpers.values())
        _helpers.clear()
    for one in found:
        with one.lock:
            one.close()


# ── the verbs ─────────────────────────────────────────────────────────────────────────────────────────────────


def read(git: Git, names: Iterable[bytes]) -> list[Found | None]:
    """Objects by name (`oid`, `tree:path`), None for one that is not there. No name holds a line break."""
    wanted = list(names)
    if not wanted:
        return []
    reader = _Reader(len(wanted))
    asked, question = helper(git, "cat-file", "--batch"), b"".join(name + b"\n" for name in wanted)
    data = asked.ask(question, reader.complete)
    missing = (name for name, place in zip(wanted, reader.places, strict=True) if not place[0])
    if asked.is_old() and any(map(_OBJECT.fullmatch, missing)):
        # Where objects lie is read once, by each process: only a new one is believed that there is none.
        asked.renew()
        data = asked.ask(question, reader.complete)
    return [None if kind is None else Found(oid.decode(), kind, data[at:end]) for oid, kind, at, end in reader.places]


def kinds(git: Git, objects: Iterable[bytes]) -> list[str]:
    """Of each object, by its name, what it is: "blob", "tree"; empty for one that is not there. None is read."""
    wanted = list(objects)
    if not wanted:
        return []
    asked, question = helper(git, "cat-file", "--batch-check=%(objecttype)"), b"".join(name + b"\n" for name in wanted)

    def answered() -> list[str]:
        said = asked.ask(question, lambda data: data.count(b"\n") == len(wanted))
        return ["" if line.endswith(b" missing") else line.decode() for line in said.splitlines()]

    found = answered()
    if asked.is_old() and not all(found):
        asked.renew()  # as in `read`
        found = answered()
    return found


class _Reader:
    """Where each answer of `cat-file --batch` lies."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.places: list[tuple[bytes, str | None, int, int]] = []
        self._at = 0
        self._data: bytearray | None = None

    def complete(self, data: bytearray) -> bool:
        if data is not self._data:  # a new process answers
            self._data, self._at, self.places = data, 0, []
        while len(self.places) < self.count:
            stop = data.find(b"\n", self._at)
            if stop < 0:
                return False
            head = bytes(data[self._at : stop])
            words = head.rsplit(b" ", 2)
            if len(words) == 3 and words[2].isdigit():
                begin = stop + 1
                after = begin + int(words[2])
                if len(data) < after + 1:
                    return False
                self.places.append((words[0], words[1].decode(), begin, after))
                self._at = after + 1
            elif head.endswith((b" missing", b" ambiguous")):
                self.places.append((b"", None, 0, 0))
                self._at = stop + 1
            else:
                raise GoneError(("cat-file",), 0, f"it said {head[:80]!r}")
        if len(data) > self._at:
            raise GoneError(("cat-file",), 0, "it said more than it was asked")
        return True


def diff(git: Git, arguments: tuple[str, ...], before: str, after: str, cap: int = 0) -> bytes:
    """`diff-tree` of two trees (not commits). With `cap` no more than about that much of it."""
    mark = f"end {secrets.token_hex(12)}\n".encode()
    head = f"{before} {after}\n".encode()
    asked = helper(git, "diff-tree", "--stdin", *arguments)

    def answered() -> bytes:
        return asked.ask(head + mark, lambda data: data.endswith(mark), cap + len(head) if cap else 0)

    data = answered()
    if data == mark and asked.is_old():
        asked.renew()  # it knows one of the trees not: as in `read`
        data = answered()
    if data == mark:
        raise GitError(("diff-tree",), 128, asked.complaint() or f"{before} or {after} is not there, or is no tree")
    if not data.startswith(head):
        raise GoneError(("diff-tree",), 0, f"it said {data[:80]!r}")
    return data[len(head) :].removesuffix(mark)


def write_object(git: Git, data: bytes, scratch: Path, kind: str = "blob") -> bytes:
    """Write one content as it is, whatever the attributes say; a commit that is none is refused. Returns its name."""
    path = scratch / f"blob-{secrets.token_hex(8)}"
    if "\n" in str(path):  # a lasting process is asked by lines
        return git.run("hash-object", "-w", "-t", kind, "--stdin", stdin=data).strip()
    files.write(path, data, durable=False)
    try:
        asked = helper(git, "hash-object", "-w", "-t", kind, "--no-filters", "--stdin-paths")
        return asked.ask(os.fsencode(path) + b"\n", lambda said: said.endswith(b"\n")).strip()
    finally:
        path.unlink(missing_ok=True)


def move_refs(git: Git, changes: Iterable[bytes], why: str) -> None:
    """`update-ref`: all of them or none. Raises GitError with git's own words for a ref that is not where it should be.

    Before the commit is asked for a dead process is replaced; after that nobody asks twice.
    """
    asked = helper(git, "update-ref", "--no-deref", "-m", why, "-z", "--stdin")
    prepare = b"start\0" + b"".join(changes) + b"prepare\0"
    asked_for = b"start: ok\nprepare: ok\n"
    with asked.lock:
        try:
            asked.exchange(prepare, lambda data: data == asked_for)
        except GoneError as gone:
            if gone.status > 0:  # git's own refusal
                raise
            asked.exchange(prepare, lambda data: data == asked_for)
        asked.exchange(b"commit\0", lambda data: data == b"commit: ok\n")
