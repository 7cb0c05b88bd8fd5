"""What the machine says about its processes: parents, sessions, environments. From /proc, elsewhere from psutil."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.core.model import Struct

_PROC = Path("/proc")
HAS_PROC = (_PROC / "self" / "stat").exists()


class Entry(Struct, frozen=True, kw_only=True):
    """One process as the table shows it."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    """The letter of /proc/PID/stat: Z and X are dead already."""
    start: int
    """Ticks since boot: with the pid it names a process for good, for pids are used again."""

    @property
    def alive(self) -> bool:
        return self.state not in "ZX"


def entry(pid: int) -> Entry | None:
    """The process, or None when it is gone."""
    if not HAS_PROC:
        return _foreign_entry(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - read for every process at every end: kept cheap
            raw = file.read()
    except OSError:
        return None
    # The name may hold blanks and brackets; the last bracket ends it.
    fields = raw[raw.rfind(b")") + 2 :].split()
    return Entry(
        pid=pid,
        state=chr(fields[0][0]),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        start=int(fields[19]),
    )


def pids() -> list[int]:
    """Every process that can be seen."""
    if HAS_PROC:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names only, no Path objects
    import psutil  # type: ignore[import-untyped]

    try:
        return list(psutil.pids())
    except IndexError as error:  # not even our own
        from engine.perform.process.spawning import PerformError

        said = "no process can be seen, so none could be ended: /proc is empty or not there"
        raise PerformError(said, hint="mount -t proc proc /proc, then again") from error


def environment(pid: int) -> dict[str, str]:
    """The environment a process was started with; empty when it may not be read (another user, a zombie)."""
    if not HAS_PROC:
        return _foreign_environment(pid)
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            raw = file.read()
    except OSError:
        return {}
    pairs = (item.partition(b"=") for item in raw.split(b"\0") if item)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


def mark(pid: int) -> int:
    """The limit on file locks a process runs with, 0 when it has none or is gone.

    The kernel looks at it nowhere since 2.4.25, hands it down through fork and exec whatever becomes of the
    environment, and lets nobody but root raise it: a place for a number that says who started a process.
    """
    if not HAS_PROC:
        return 0
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:  # noqa: PTH123
            line = next((line for line in file if line.startswith(b"Max file locks")), b"")
    except OSError:
        return 0
    hard = line.split()[4:5]
    return int(hard[0]) if hard and hard[0].isdigit() else 0


def children(pid: int) -> list[int]:
    """Direct children. The kernel's own list where it has one: only then is this cheap."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found.extend(int(child) for child in file.read().split())
    except FileNotFoundError:
        # The process is gone, or the kernel has no such list (CONFIG_PROC_CHILDREN) or no /proc at all.
        return [] if HAS_PROC and HAS_CHILDREN else [e.pid for e in map(entry, pids()) if e and e.parent == pid]
    except OSError:
        return found
    return found


HAS_CHILDREN = HAS_PROC and Path(f"/proc/self/task/{os.getpid()}/children").exists()


def descendants(roots: Iterable[int]) -> Iterator[int]:
    """The roots and everything beneath them, each once, parents first."""
    beneath: dict[int, list[int]] = {}
    if not HAS_CHILDREN:
        for each in map(entry, pids()):
            if each:
                beneath.setdefault(each.parent, []).append(each.pid)
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        pid = waiting.pop()
        if pid not in seen:
            seen.add(pid)
            yield pid
            waiting.extend(children(pid) if HAS_CHILDREN else beneath.get(pid, ()))


def ancestors(pid: int) -> set[int]:
    """The process itself and all above it."""
    seen: set[int] = set()
    while pid > 0 and pid not in seen:
        seen.add(pid)
        above = entry(pid)
        pid = above.parent if above else 0
    return seen


def _foreign_entry(pid: int) -> Entry | None:
    import psutil

    try:
        process = psutil.Process(pid)
        dead = process.status() == psutil.STATUS_ZOMBIE
        return Entry(
            pid=pid,
            parent=process.ppid(),
            group=os.getpgid(pid),
            session=os.getsid(pid),
            state="Z" if dead else "S",
            start=int(process.create_time() * 100),
        )
    except (psutil.Error, OSError):
        return None


def _foreign_environment(pid: int) -> dict[str, str]:
    import psutil

    try:
        return dict(psutil.Process(pid).environ())
    except (psutil.Error, OSError):
        return {}
