"""Ending processes: all that one child started, and all that a dead engine left behind. The only place that signals.

Every child of the spawner is the leader of a session of its own and carries a mark: a number in a limit that the kernel
hands down to whatever it starts (`proctable.mark`). A process that clears its environment, leaves its session or runs
from memory keeps it. The engine is a child subreaper, so whatever a child started is, at any moment, beneath the engine
in the process tree; the mark only says to which of several children it belongs, and after a kill of the engine to which
run. Two variables say the same where there is no such limit (other systems, a sandbox within a sandbox).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable

from engine.core.model import Struct
from engine.perform.process import proctable

RUN_ID = "DEVTEAM_RUN_ID"
PROCESS_TAG = "DEVTEAM_PROCESS"
STRAY_SECONDS = 2.0
"""A zombie nobody has waited for this long is nobody's but ours."""

NUMBER_BITS = 20
"""The lower part of a mark counts the children of a run; the upper one is the run's."""

_PR_SET_CHILD_SUBREAPER = 36
_leaders: set[int] = set()
_tags: set[str] = set()
_marks: set[int] = set()
_unborn: set[str] = set()
_strays: dict[tuple[int, int], float] = {}


def mark_of(run_id: str, number: int) -> int:
    """The mark of one child of a run: 60 bits, never 0."""
    return _run_bits(run_id) << NUMBER_BITS | number % (1 << NUMBER_BITS)


def _run_bits(run_id: str) -> int:
    return int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:5]) | 1


def become_subreaper() -> bool:
    """Orphans of our children come to us instead of init. True when the system can do that."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def spare(pid: int) -> None:
    """A child that shall outlive us: it belongs to no family."""
    _leaders.add(pid)


def send(pid: int, number: signal.Signals) -> None:
    """Signal one process; one that is gone, or is not ours, is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def end_engine(pid: int) -> None:
    """End another engine of this user by force: whoever asks has seen that it holds its lock and does not listen."""
    send(pid, signal.SIGKILL)


def is_no_child_of_ours(pid: int) -> bool:
    """Whether a process is neither an agent nor a check, nor anything they started: as subreaper we are above them."""
    return pid == os.getpid() or os.getpid() not in proctable.ancestors(pid)


class Family:
    """One spawned child and all it started."""

    def __init__(self, tag: str, mark: int, clock: Callable[[], float]) -> None:
        self.tag = tag
        self.mark = mark
        self.leader = 0
        self.exited = False
        self._clock = clock
        self._start = 0
        self._session = os.getsid(0)
        self._before = set(proctable.children(os.getpid()))
        self._seen: set[tuple[int, int]] = set()
        self._init = 0
        # Known before the child exists: another family that ends meanwhile must not take it for a stranger.
        _tags.add(tag)
        _marks.add(mark)
        _unborn.add(tag)

    def born(self, leader: int) -> None:
        """The child is running."""
        self.leader = leader
        _leaders.add(leader)
        _unborn.discard(self.tag)
        started = proctable.entry(leader)
        self._start = started.start if started else 0

    def has_init(self, pid: int) -> None:
        """The first process of the child's namespace: when bubblewrap ends, its dead init is left to us."""
        self._init = pid

    def forget(self) -> None:
        """It never came to be, or nothing of it is left."""
        _tags.discard(self.tag)
        _marks.discard(self.mark)
        _unborn.discard(self.tag)

    def left(self) -> None:
        """The leader was reaped by its owner: its number may be used again from now on."""
        self.exited = True
        _leaders.discard(self.leader)

    def ask(self, *, namespace: bool) -> None:
        """Ask politely. In a namespace only the agent, for its init ignores the signal; else the whole group.

        SIGCONT after it, or a stopped process would never read its letter.
        """
        if self.exited:
            return
        if namespace:
            for init in proctable.children(self.leader):
                for agent in proctable.children(init):
                    send(agent, signal.SIGTERM)
                    send(agent, signal.SIGCONT)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, signal.SIGTERM)
            os.killpg(self.leader, signal.SIGCONT)

    def members(self) -> list[int]:
        """Everything of this family that is alive."""
        roots = [] if self.exited else [self.leader]
        for pid in proctable.children(os.getpid()):
            if pid in _leaders or pid in self._before:
                continue
            found = proctable.entry(pid)
            if found is None:
                continue
            if self._owns(found):
                roots.append(pid)
        alive = []
        for pid in proctable.descendants(roots):
            found = proctable.entry(pid)
            if found and found.alive:
                alive.append(pid)
                self._seen.add((pid, found.start))
        return alive

    async def end(self, seconds: float) -> list[int]:
        """Kill and kill again until nothing is left, and collect the dead. Returns what is alive after `seconds`."""
        deadline = self._clock() + seconds
        pause = 0.001
        quiet = 0
        while True:
            alive = self.members()
            for pid in alive:
                send(pid, signal.SIGKILL)
            # The kernel's list of children may skip one while a sibling exits: only twice empty is empty.
            quiet = 0 if alive else quiet + 1
            if (quiet > 1 and not _unborn) or self._clock() > deadline:
                self._reap()
                self.forget()
                return alive
            if alive or _unborn:
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.05)

    def _owns(self, found: proctable.Entry) -> bool:
        """Does this adopted child of the engine belong here?

        By its mark. Without one (another system, a sandbox within a sandbox) by its tag; and one without a tag of a
        living family, in a session of its own and younger than our child, can only come from something that cleared
        its environment. With several families alive it could be another's: it ends with the first of them, for a
        process that outlives its agent would write while the checks read.
        """
        if self.leader in (found.session, found.group):
            return True
        mark = proctable.mark(found.pid)
        if mark == self.mark or mark in _marks:
            return mark == self.mark
        tag = proctable.environment(found.pid).get(PROCESS_TAG, "")
        if tag == self.tag:
            return True
        # Between fork and exec a child of another family shows neither: while one is being started, strangers wait.
        if tag in _tags or _unborn or not found.alive:
            return False
        return found.session != self._session and found.start >= self._start

    def _reap(self) -> None:
        """Collect adopted dead children. Never one that asyncio or another owner may still be waiting for."""
        now = self._clock()
        waiting: dict[tuple[int, int], float] = {}
        for pid in proctable.children(os.getpid()):
            found = proctable.entry(pid)
            if found is None or found.alive or pid in _leaders or found.session == self._session:
                continue
            key = (pid, found.start)
            ours = key in self._seen or pid == self._init or (self.leader == found.session and pid != self.leader)
            since = _strays.get(key, now)
            if ours or now - since > STRAY_SECONDS:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            else:
                waiting[key] = since
        _strays.clear()
        _strays.update(waiting)


class Orphans(Struct, frozen=True, kw_only=True):
    """What was done about a dead engine's processes."""

    ended: int
    left: tuple[int, ...] = ()
    """Alive in spite of SIGKILL: another user's, or stuck in the kernel."""


def find_orphans(run_id: str) -> tuple[int, ...]:
    """Living processes of this run by mark or variable, and all beneath them; never this process or one above it."""
    spared = proctable.ancestors(os.getpid())
    bits = _run_bits(run_id)
    marked = [
        pid
        for pid in proctable.pids()
        if pid not in spared
        and (proctable.mark(pid) >> NUMBER_BITS == bits or proctable.environment(pid).get(RUN_ID) == run_id)
    ]
    found = []
    for pid in proctable.descendants(marked):
        each = proctable.entry(pid)
        if pid not in spared and each and each.alive:
            found.append(pid)
    return tuple(found)


def end_orphans(
    run_id: str,
    seconds: float = 5.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Orphans:
    """End everything of a run whose engine is dead. Called before the engine starts its first child."""
    deadline = clock() + seconds
    ended: set[int] = set()
    pause = 0.002
    while left := find_orphans(run_id):
        for pid in left:
            send(pid, signal.SIGKILL)
        ended.update(left)
        if clock() > deadline:
            return Orphans(ended=len(ended - set(left)), left=left)
        sleep(pause)
        pause = min(pause * 2, 0.05)
    return Orphans(ended=len(ended))
