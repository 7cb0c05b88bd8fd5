"""A real disk that fills up under a run: the run waits in a named state, no task ends, and it goes on by itself."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.effects import AnyEffect, PrepareWorkspace
from engine.core.machine import CURES
from engine.core.model import MachineFault
from engine.core.state import State, Status
from engine.journal import JournalBroken, JournalFull
from engine.link.user_errors import as_user_error
from engine.perform.machine import FLOOR_BYTES, STUBBORN, OnThisMachine, fault_of
from engine.perform.process.spawning import PerformError
from engine.perform.workspace import git as git_module
from engine.perform.workspace.facts import Refused, WorkspaceError
from engine.perform.workspace.git import GitError
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    path = place / "filler"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with contextlib.suppress(OSError):
        while os.write(fd, b"\0" * 65536):
            pass
    os.close(fd)
    return path


@pytest.mark.parametrize("kind", ["PrepareWorkspace", "CallAgent", "RunChecks", "Commit", "SaveCheckpoint"])
async def test_a_full_disk_suspends_the_run_and_nothing_else(small_disk: Path, tmp_path: Path, kind: str) -> None:
    sprint = small.make(tmp_path / "repo")
    project = small.project_of(tmp_path / "repo", small_disk / "state")
    said: list[ev.AnyEvent] = []
    filled: list[Path] = []

    def boundary(where: str, effect: AnyEffect) -> None:
        if where == "before" and type(effect).__name__ == kind and effect.task in ("1.1", "") and not filled:
            filled.append(fill(small_disk))

    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options, boundary=boundary) as session:

        def hear(envelopes: object, _state: object) -> None:
            for envelope in envelopes:  # type: ignore[attr-defined]
                said.append(envelope.event)
                if isinstance(envelope.event, ev.MachineProbed) and not envelope.event.ok:
                    filled[0].unlink(missing_ok=True)

        session.watch(hear)
        async with asyncio.timeout(patience(120)):
            state = await session.run()
    assert filled
    assert state.outcome == "done", state.outcome_reason
    assert all(task.status is Status.COMPLETE for task in state.tasks.values())
    faults = [one.fault for one in said if isinstance(one, ev.EffectFailed)]
    assert set(faults) <= {MachineFault.DISK_FULL}, faults
    assert not any(isinstance(one, ev.TaskEnded) and one.decision != "COMPLETE" for one in said)


def _chained(error: BaseException) -> BaseException:
    try:
        try:
            raise error
        except BaseException as inner:
            raise PerformError("the workspace failed") from inner
    except PerformError as outer:
        return outer


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (OSError(28, "No space left on device"), MachineFault.DISK_FULL),
        (OSError(122, "Disk quota exceeded"), MachineFault.DISK_FULL),
        (OSError(5, "Input/output error"), MachineFault.STORE_FAULT),
        (OSError(30, "Read-only file system"), MachineFault.STORE_FAULT),
        (OSError(24, "Too many open files"), MachineFault.NO_DESCRIPTORS),
        (BlockingIOError(11, "Resource temporarily unavailable"), MachineFault.NO_PROCESSES),
        (RuntimeError("can't start new thread"), MachineFault.NO_PROCESSES),
        (MemoryError(), MachineFault.NO_MEMORY),
        (GitError(("add",), 128, "fatal: write error: No space left on device"), MachineFault.DISK_FULL),
        (
            GitError(("add",), 128, "cannot fork(): Resource temporarily unavailable"),
            MachineFault.NO_PROCESSES,
        ),
        (GitError(("add",), 128, "fatal: bad object HEAD"), None),
        (FileNotFoundError(2, "No such file or directory"), None),
        (ValueError("No space left on device, says a test"), None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_fault_is_known_through_all_its_causes(error: BaseException, fault: MachineFault | None) -> None:
    assert fault_of(error) is fault
    assert fault_of(_chained(error)) is fault


@pytest.mark.parametrize("said", ["fatal: unable to write new index file", "bad config line 1 in file /dev/null", ""])
async def test_a_git_that_fails_is_the_machines_fault_until_that_is_no_explanation(tmp_path: Path, said: str) -> None:
    """Git does not always say why. Found well again and again, it must be something else, and is let through."""

    class Fails:
        async def perform(self, _effect: object, _state: object) -> list[ev.AnyEvent]:
            raise GitError(("read-tree",), 128, said)

    async def repository(_head: str) -> None:
        pass

    machine = OnThisMachine(
        Fails(),
        None,  # type: ignore[arg-type]
        state_root=tmp_path,
        checkout=tmp_path,
        repository=repository,
    )
    effect, state = PrepareWorkspace(id="1", task="1.1", iteration=1), State()
    for _ in range(STUBBORN):
        with pytest.raises(PerformError) as caught:
            await machine.perform(effect, state)
        assert caught.value.fault is MachineFault.STORE_FAULT
    with pytest.raises(GitError):
        await machine.perform(effect, state)


async def test_a_probe_really_tries(small_disk: Path, tmp_path: Path) -> None:
    async def repository(_head: str) -> None:
        raise FileNotFoundError("the branch is gone")

    machine = OnThisMachine(
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        state_root=small_disk,
        checkout=tmp_path,
        repository=repository,
    )
    assert await machine.standing(MachineFault.DISK_FULL) == ""
    filler = fill(small_disk)
    assert "free on the disk" in await machine.standing(MachineFault.DISK_FULL) or "No space" in await machine.standing(
        MachineFault.DISK_FULL
    )
    os.truncate(filler, filler.stat().st_size - FLOOR_BYTES // 2)
    assert await machine.standing(MachineFault.DISK_FULL), "a little room is not enough"
    filler.unlink()
    assert await machine.standing(MachineFault.DISK_FULL) == ""
    assert "branch is gone" in await machine.standing(MachineFault.BRANCH_LOST)
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("kind", ["CallAgent", "RunChecks", "Commit"])
async def test_a_full_disk_under_the_journal_and_the_repository_holds_the_run(
    small_disk: Path, tmp_path: Path, kind: str
) -> None:
    sprint = small.make(small_disk / "repo")
    project = small.project_of(small_disk / "repo", tmp_path / "state")
    filled: list[Path] = []
    freeing: list[asyncio.Task[None]] = []

    async def free_later() -> None:
        await asyncio.sleep(1.0)
        filled[0].unlink()

    def boundary(where: str, effect: AnyEffect) -> None:
        if where == "before" and type(effect).__name__ == kind and effect.task == "1.1" and not filled:
            filled.append(fill(small_disk))
            freeing.append(asyncio.get_running_loop().create_task(free_later()))

    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options, boundary=boundary) as session:
        async with asyncio.timeout(patience(120)):
            state = await session.run()
    assert filled
    assert state.outcome == "done", state.outcome_reason
    assert all(task.status is Status.COMPLETE for task in state.tasks.values())
    assert small.git(small_disk / "repo", "log", "--oneline", sprint.branch).count("impl(") == 2


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/s"), 2, "DISK_FULL: /s: No space left on device"),
        (OSError(errno.EMFILE, "Too many open files"), 2, "NO_DESCRIPTORS: system: Too many open files"),
        (Refused("git cannot read /r: unable to map index file: Cannot allocate memory"), 2, "NO_MEMORY: git cannot"),
        (WorkspaceError("git could not be started: Resource temporarily unavailable"), 2, "NO_PROCESSES: git could"),
        (JournalFull("No space left for the journal /j.", "Free some space"), 2, "DISK_FULL: No space left for"),
        (JournalBroken("The journal /j could not be used: disk I/O error."), 2, "STORE_FAULT: The journal /j"),
        (WorkspaceError("git init: failed", fault=MachineFault.STORE_FAULT), 2, "STORE_FAULT: git init: failed"),
        (RuntimeError("can't start new thread"), 2, "NO_PROCESSES: can't start new thread"),
        (MemoryError(), 2, "NO_MEMORY: out of memory"),
        (ImportError("/x.so: failed to map segment from shared object"), 2, "NO_MEMORY: /x.so: failed to map"),
        (Refused("/r is not a git repository"), 4, "/r is not"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/s"), 4, "/s: No such file"),
    ],
)
def test_a_command_that_meets_the_machines_fault_says_which_and_what_to_free(
    error: BaseException, code: int, words: str
) -> None:
    told = as_user_error(error)
    assert told is not None
    assert (told.code, str(told)[: len(words)]) == (code, words)
    assert (told.hint in (*CURES.values(), "Free some space")) == (code == 2)


async def test_a_git_that_cannot_start_for_a_while_suspends_the_run_and_ends_no_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What every git reads is broken (a /dev/null that became a file, a bad library): no task ends for it."""
    sprint = small.make(tmp_path / "repo")
    project = small.project_of(tmp_path / "repo", tmp_path / "state")
    said: list[ev.AnyEvent] = []
    broken = tmp_path / "broken"
    broken.write_text("[nonsense")

    def hear(envelopes: object, _state: State) -> None:
        for envelope in envelopes:  # type: ignore[attr-defined]
            said.append(envelope.event)
            if isinstance(envelope.event, ev.TaskStarted):
                monkeypatch.setitem(git_module._SAID, b"GIT_CONFIG_GLOBAL", bytes(broken))
            if isinstance(envelope.event, ev.MachineProbed):
                monkeypatch.setitem(git_module._SAID, b"GIT_CONFIG_GLOBAL", b"/dev/null")

    async with asyncio.timeout(patience(60)):
        async with Session.open(
            project, sprint, SystemClock(), Options(attended=False, trust="all", speed=1e9)
        ) as session:
            session.watch(hear)
            state = await session.run()
    assert state.outcome == "done"
    assert {task.status for task in state.tasks.values()} == {Status.COMPLETE}
    faults = {event.fault for event in said if isinstance(event, ev.EffectFailed)}
    assert faults == {MachineFault.STORE_FAULT}
    assert next(event.ok for event in said if isinstance(event, ev.MachineProbed)) is False, "really tried"


@pytest.mark.parametrize(
    ("error", "over"),
    [
        (WorkspaceError("the branch and its mirror are gone", fault=MachineFault.BRANCH_LOST), True),
        (GitError(("rev-parse",), 128, "bad config line 1 in file /dev/null"), False),
    ],
)
@pytest.mark.parametrize("fault", [MachineFault.STORE_FAULT, MachineFault.GIT_LOCKED])
async def test_such_a_fault_is_over_when_git_answers(
    tmp_path: Path, error: WorkspaceError, over: bool, fault: MachineFault
) -> None:
    """A fault that came before the sprint had a branch would else never be over."""

    async def repository(_head: str) -> None:
        raise error

    machine = OnThisMachine(
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        state_root=tmp_path,
        checkout=tmp_path,
        repository=repository,
    )
    assert (await machine.standing(fault) == "") is over


async def test_a_state_folder_that_was_deleted_is_named_with_what_to_do(tmp_path: Path) -> None:
    place = tmp_path / "state"
    machine = OnThisMachine(
        None,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
        state_root=place,
        checkout=tmp_path,
        repository=lambda _head: asyncio.sleep(0),
    )
    fault, words = machine._ground()
    assert fault is MachineFault.STORE_FAULT and f"{place} was deleted: devteam stop, then devteam run" in words
