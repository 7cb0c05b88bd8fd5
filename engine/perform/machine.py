"""The machine's faults, told from everybody else's: which one an error speaks of, and whether it is over.

Wraps the performers: an effect that failed because the disk is full or no process can be started is the machine's
failure, so that no task ends and no agent is charged for it.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, assert_never

from engine.core import events as ev
from engine.core.effects import AnyEffect, Probe
from engine.core.model import MachineFault, ResultKind, Verdict
from engine.core.state import State
from engine.machine_words import ERRNOS, fault_in
from engine.perform.process.spawning import PerformError, ProcessSpec, Spawner
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.git import GitError

FLOOR_BYTES = 4 << 20
"""Less room than this on a file system we write to is a full disk, whatever a check says about the code."""
SPARE_BYTES = 32 << 20
SPARE_FILES = 24

STUBBORN = 5
"""An effect that fails so often while every probe finds the machine well has another cause."""


class Performs(Protocol):
    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]: ...


def fault_of(error: BaseException) -> MachineFault | None:
    """The machine's fault behind an error of our own parts, through all its causes; None: it is something else."""
    for one in _causes(error):
        if isinstance(one, PerformError | WorkspaceError) and one.fault is not None:
            return one.fault
        if isinstance(one, MemoryError):
            return MachineFault.NO_MEMORY
        if isinstance(one, OSError) and one.errno in ERRNOS:
            return ERRNOS[one.errno]
        # git's own words: it ends with 128 whatever happened
        if said := str(getattr(one, "stderr", "") or (one if isinstance(one, RuntimeError) else "")):
            return fault_in(said)
    return None


def _cure(error: BaseException) -> str:
    """What to type, where who met the fault knows it better than the fault's own words."""
    named = (one for one in _causes(error) if isinstance(one, PerformError | WorkspaceError) and one.fault is not None)
    return next((one.hint for one in named if one.hint), "")


def of_git(error: BaseException) -> bool:
    """A git of the engine's own that failed. No agent has a hand in it, so it is no task's fault, whatever it says."""
    return any(isinstance(one, GitError) for one in _causes(error))


def _forbidden(error: BaseException) -> bool:
    """Somebody may not do it. Who has the rights on the ground to be wrong is asked of the ground: an agent may take
    them away in its own clone."""
    return any(isinstance(one, PermissionError) for one in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            for part in one.exceptions:
                yield from _causes(part)
        one = one.__cause__ or one.__context__


class OnThisMachine:
    """A performer whose failures are told apart from the machine's."""

    def __init__(
        self,
        performer: Performs,
        spawner: Spawner,
        *,
        state_root: Path,
        checkout: Path,
        repository: Callable[[str], Awaitable[None]],
        git_dirs: Sequence[Path] = (),
    ) -> None:
        """`git_dirs`: where the user's repository keeps its HEAD. `repository` raises when the sprint's branch or the
        repository cannot be found; it is given the commit that the sprint is at by the journal."""
        self._performer = performer
        self._spawner = spawner
        self._state_root = state_root
        self._checkout = checkout
        self._repository = repository
        self._git_dirs = git_dirs
        self._began_in = _folder(checkout)
        self._failed: dict[str, int] = {}

    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]:
        if isinstance(effect, Probe):
            why = await self.standing(effect.fault, state.head)
            return [ev.MachineProbed(id=effect.id, fault=effect.fault, ok=not why, detail=why)]
        try:
            facts = await self._performer.perform(effect, state)
        except Exception as error:  # boundary: told apart, and let through
            fault, why = fault_of(error), ""
            if fault is None:  # git does not always say why it could not write
                fault, why = self._ground()
            if fault is None and _forbidden(error):
                why = await self.standing(MachineFault.STORE_FAULT, state.head)
                fault = MachineFault.STORE_FAULT if why else None
            if fault is None and of_git(error) and not self._stubborn(effect):
                fault = MachineFault.STORE_FAULT
            if fault is None:
                raise
            raise PerformError(f"{error} ({why})" if why else str(error), hint=_cure(error), fault=fault) from error
        self._failed.pop(_what(effect), None)
        if hint := _suspicion(facts):
            # A check or an agent failed: was it the code, or the ground under it?
            fault, why = self._ground()
            if fault is not None:
                raise PerformError(why, fault=fault)
            if (said := fault_in(hint)) is not None and (why := await self.standing(said, state.head)):
                raise PerformError(why, fault=said)
        return facts

    def _stubborn(self, effect: AnyEffect) -> bool:
        """Whether it failed again and again although each time the machine was found well in between."""
        what = _what(effect)
        self._failed[what] = self._failed.get(what, 0) + 1
        return self._failed[what] > STUBBORN

    async def standing(self, fault: MachineFault, head: str = "") -> str:
        """What is still wrong, in words; empty when the fault is over. Really tried, not guessed."""
        try:
            match fault:
                case MachineFault.DISK_FULL:
                    await asyncio.to_thread(_write_something, self._state_root)
                    return self._ground()[1]
                case MachineFault.STORE_FAULT:
                    await asyncio.to_thread(_write_something, self._state_root)
                    if why := self._ground()[1]:
                        return why
                    await self._git_answers(head)
                case MachineFault.NO_MEMORY:
                    bytearray(SPARE_BYTES)
                    await self._start_something()
                case MachineFault.NO_PROCESSES:
                    await self._start_something()
                case MachineFault.NO_DESCRIPTORS:
                    _open_something()
                    await self._start_something()
                case MachineFault.BRANCH_LOST | MachineFault.REPO_MOVED:
                    if why := self._moved():
                        return why
                    await self._repository(head)
                case MachineFault.GIT_LOCKED:
                    if why := self._moved():
                        return why
                    await self._git_answers(head)
                case _:
                    assert_never(fault)
        except Exception as error:  # noqa: BLE001  boundary: whatever a probe meets is its answer
            return f"{type(error).__name__}: {error}"
        return ""

    async def _git_answers(self, head: str) -> None:
        """A branch that is not there is no matter here: the fault may have come before it was made."""
        try:
            await self._repository(head)
        except WorkspaceError as error:
            if isinstance(error, GitError) or error.fault is MachineFault.STORE_FAULT:
                raise

    def _ground(self) -> tuple[MachineFault | None, str]:
        """What is wrong with the places we write to, and in words; (None, "") when nothing is."""
        if why := self._moved():
            return MachineFault.REPO_MOVED, why
        for place in (self._state_root, self._checkout):
            try:
                free = os.statvfs(place)
            except FileNotFoundError:
                said = f"{place} was deleted: devteam stop, then devteam run makes it anew from the repository"
                return MachineFault.STORE_FAULT, said
            except OSError as error:
                return MachineFault.STORE_FAULT, f"{place}: {error.strerror}"
            if free.f_bavail * free.f_frsize < FLOOR_BYTES:
                kilobytes = free.f_bavail * free.f_frsize // 1024
                return MachineFault.DISK_FULL, f"{kilobytes} kB are free on the disk of {place}"
            if free.f_files > 0 and free.f_favail == 0:
                return MachineFault.DISK_FULL, f"no file can be made on the disk of {place}: no inode is free"
        return None, ""

    def _moved(self) -> str:
        """The checkout is another folder than the one this run began in, or none; or it has no git directory."""
        now = _folder(self._checkout)
        if now != self._began_in:
            return f"{self._checkout} is {'another folder now' if now else 'not there any more'}"
        gone = next((one for one in self._git_dirs if not (one / "HEAD").exists()), None)
        return f"{gone} is not there any more" if gone is not None else ""

    async def _start_something(self) -> None:
        spec = ProcessSpec(argv=("/bin/sh", "-c", ":"), cwd=self._state_root, env={"PATH": os.defpath}, timeout=30.0)
        done = await self._spawner.run(spec)
        if done.reason != "exited" or done.exit_code != 0:
            raise OSError(errno.EAGAIN, done.error or f"a process ended: {done.reason}, exit code {done.exit_code}")


def _suspicion(facts: Sequence[ev.AnyEvent]) -> str:
    """The words of facts that say that something failed; empty when nothing did, or when it was paid for."""
    said: list[str] = []
    for fact in facts:
        match fact:
            case ev.ChecksFinished():
                said += [one.reason or one.verdict.value for one in fact.results if one.verdict is not Verdict.PASS]
            case ev.AgentFinished(result=result) if result.kind in (ResultKind.CRASH, ResultKind.NO_RESULT):
                said += [] if result.cost_usd else [result.error or result.kind.value]
            case _:
                pass
    return "\n".join(said)


def _what(effect: AnyEffect) -> str:
    return f"{type(effect).__name__}/{effect.task}"


def _folder(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino


def _write_something(folder: Path) -> None:
    path = folder / f".probe-{os.getpid()}"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.posix_fallocate(fd, 0, FLOOR_BYTES)
        os.pwrite(fd, b"probe", 0)
        os.fsync(fd)
    finally:
        os.close(fd)
        path.unlink(missing_ok=True)


def _open_something() -> None:
    held: list[int] = []
    try:
        held.extend(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) for _ in range(SPARE_FILES))
    finally:
        for fd in held:
            os.close(fd)
