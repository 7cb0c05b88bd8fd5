"""What a program does to itself before it becomes another: ends with its parent, gives up privileges, executes.

Imported by `namespace_exec` and `landlock_exec`, which run alone: the standard library only, and little of it
(`typing`, `signal`, `json`, `socket` or `collections` would each cost more than the rest of such a start).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

SIGINT, SIGKILL, SIG_DFL = 2, 9, None

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 1, 4, 24, 38, 47
CAP_SYS_ADMIN = 21

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a call of the C library, or OSError with what was tried."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def die_with_parent() -> None:
    """The kernel kills this process when the one that started it is gone."""
    checked(libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "end with the parent")


def no_new_privileges() -> None:
    """No program it starts gets more than it has, whatever bits are on the file."""
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")


def drop_capabilities() -> None:
    """Root without capabilities is an ordinary user who owns much."""
    libc.prctl(PR_CAP_AMBIENT, 4, 0, 0, 0)  # all of them; kernels that know none refuse, and have none
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    checked(libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24)), "capabilities")


def untouchable() -> None:
    """No other process of the user may look into this one or steer it."""
    checked(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable")


def is_mighty() -> bool:
    """May this process mount without a user namespace of its own?"""
    data = ctypes.create_string_buffer(24)
    header = struct.pack("Ii", 0x20080522, 0)
    return libc.capget(header, data) == 0 and bool(struct.unpack_from("I", data.raw)[0] >> CAP_SYS_ADMIN & 1)


def execute(command: list[str], env: Mapping[str, str]) -> NoReturn:
    """Become the command, found on the environment's PATH; raises OSError when there is none."""
    # By hand, for os.execvpe imports what may be hidden by now.
    folders = [""] if "/" in command[0] else [f"{folder}/" for folder in env.get("PATH", "/bin:/usr/bin").split(":")]
    problem = errno.ENOENT
    for folder in folders:
        try:
            os.execve(folder + command[0], command, dict(env))  # noqa: S606 - the command is the whole point
        except OSError as error:
            problem = problem if error.errno in (errno.ENOENT, errno.ENOTDIR) else error.errno or problem
    raise OSError(problem, os.strerror(problem))
