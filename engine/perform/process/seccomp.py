"""System calls a confined program is refused, as a filter the kernel keeps for it and all it starts.

Imported by the two programs that confine themselves (`namespace_exec`, `landlock_exec`): the standard library only,
and little of it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Instruction = tuple[int, int, int, int]
    Rule = tuple[str, Sequence[Instruction], int]
    """A call, a test on its arguments that falls through when it is refused (empty: always), and the error it gets."""

LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN, AND = 0x20, 0x15, 0x45, 0x06, 0x54
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
X32 = 0x40000000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
NEW_USER_NAMESPACE = 0x10000000
NEW_NAMESPACES = 0x7E020080 | NEW_USER_NAMESPACE
"""Every flag that asks for a namespace of its own."""
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
RLIMIT_LOCKS = 10
TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX: to type into somebody's terminal."""
FILE_FLAGS = (0x40086602, 0x40046602, 0x401C5820)
"""FS_IOC_SETFLAGS (both sizes) and FS_IOC_FSSETXATTR: attributes of files that are only open for reading."""

# (AUDIT_ARCH, {name: number}): numbers from 424 on are the same everywhere.
_NEWER = {
    "io_uring_setup": 425,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsmount": 432,
    "clone3": 435,
    "process_madvise": 440,
    "mount_setattr": 442,
    "process_mrelease": 448,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "file_setattr": 469,
}
_X86_64 = {
    "ioctl": 16,
    "shmget": 29,
    "shmat": 30,
    "shmctl": 31,
    "socket": 41,
    "clone": 56,
    "semget": 64,
    "semop": 65,
    "semctl": 66,
    "msgget": 68,
    "msgsnd": 69,
    "msgrcv": 70,
    "msgctl": 71,
    "chmod": 90,
    "fchmod": 91,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "utime": 132,
    "setpriority": 141,
    "sched_setparam": 142,
    "sched_setscheduler": 144,
    "pivot_root": 155,
    "setrlimit": 160,
    "mount": 165,
    "umount2": 166,
    "setxattr": 188,
    "lsetxattr": 189,
    "fsetxattr": 190,
    "removexattr": 197,
    "lremovexattr": 198,
    "fremovexattr": 199,
    "sched_setaffinity": 203,
    "semtimedop": 220,
    "utimes": 235,
    "mq_open": 240,
    "mq_unlink": 241,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "ioprio_set": 251,
    "migrate_pages": 256,
    "fchownat": 260,
    "futimesat": 261,
    "fchmodat": 268,
    "unshare": 272,
    "move_pages": 279,
    "utimensat": 280,
    "perf_event_open": 298,
    "prlimit64": 302,
    "setns": 308,
    "sched_setattr": 314,
    "bpf": 321,
    "userfaultfd": 323,
    **_NEWER,
}
_AARCH64 = {
    "setxattr": 5,
    "lsetxattr": 6,
    "fsetxattr": 7,
    "removexattr": 14,
    "lremovexattr": 15,
    "fremovexattr": 16,
    "ioctl": 29,
    "ioprio_set": 30,
    "umount2": 39,
    "mount": 40,
    "pivot_root": 41,
    "fchmod": 52,
    "fchmodat": 53,
    "fchownat": 54,
    "fchown": 55,
    "utimensat": 88,
    "unshare": 97,
    "sched_setparam": 118,
    "sched_setscheduler": 119,
    "sched_setaffinity": 122,
    "setpriority": 140,
    "setrlimit": 164,
    "mq_open": 180,
    "mq_unlink": 181,
    "msgget": 186,
    "msgctl": 187,
    "msgrcv": 188,
    "msgsnd": 189,
    "semget": 190,
    "semctl": 191,
    "semtimedop": 192,
    "semop": 193,
    "shmget": 194,
    "shmctl": 195,
    "shmat": 196,
    "socket": 198,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "clone": 220,
    "migrate_pages": 238,
    "move_pages": 239,
    "perf_event_open": 241,
    "prlimit64": 261,
    "setns": 268,
    "sched_setattr": 274,
    "bpf": 280,
    "userfaultfd": 282,
    **_NEWER,
}
MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}

libc = ctypes.CDLL(None, use_errno=True)


def known() -> bool:
    """Are the numbers of this machine's system calls known here?"""
    return os.uname().machine in MACHINES


def always(names: Iterable[str], error: int = errno.EPERM) -> list[Rule]:
    return [(name, (), error) for name in names]


def _low(argument: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * argument)


def _high(argument: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * argument + 4)


# Tests end in a jump over one instruction, the refusal, when the call may pass.


def equal(argument: int, value: int) -> list[Instruction]:
    return [_low(argument), (JUMP_EQUAL, 0, 1, value)]


def unequal(argument: int, value: int) -> list[Instruction]:
    return [_low(argument), (JUMP_EQUAL, 1, 0, value)]


def any_bit(argument: int, bits: int) -> list[Instruction]:
    return [_low(argument), (JUMP_ANY_BIT, 0, 1, bits)]


def none_of(argument: int, values: Sequence[int]) -> list[Instruction]:
    count = len(values)
    return [_low(argument), *((JUMP_EQUAL, count - at, 0, value) for at, value in enumerate(values))]


def _sets_limits_of(test: Instruction, argument: int) -> list[Instruction]:
    """prlimit64 with new limits (its third argument is not null), and the test holds."""
    return [
        _low(2),
        (JUMP_EQUAL, 0, 2, 0),
        _high(2),
        (JUMP_EQUAL, 3, 0, 0),  # null: only asked for, passes
        _low(argument),
        test,
    ]


NESTING: list[Rule] = [
    *always(("unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsmount")),
    *always(("mount_setattr",)),
    ("clone", any_bit(0, NEW_NAMESPACES & ~0x80), errno.EPERM),  # 0x80 would be in the exit signal's byte
    *always(("clone3",), errno.ENOSYS),  # its flags lie in memory, out of a filter's sight; every libc then uses clone
]
"""No namespaces inside: with one of their own a program would have capabilities in it."""
TERMINALS: list[Rule] = [("ioctl", equal(1, request), errno.EPERM) for request in TERMINAL_INPUT]
AROUND: list[Rule] = [
    *always(("io_uring_setup",), errno.ENOSYS),  # does by itself what is refused here
    *always(("bpf", "perf_event_open", "userfaultfd", "add_key", "request_key", "keyctl")),
]
FILE_MODES: list[Rule] = [
    *always(("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat")),
    *always(("utime", "utimes", "futimesat", "utimensat", "file_setattr")),
    *always(("setxattr", "lsetxattr", "fsetxattr", "setxattrat")),
    *always(("removexattr", "lremovexattr", "fremovexattr", "removexattrat")),
    *(("ioctl", equal(1, request), errno.EPERM) for request in FILE_FLAGS),
]
"""What Landlock does not know: modes, owners, times and attributes of files that may only be read."""
SHARED: list[Rule] = [
    *always(("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop")),
    *always(("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink")),
]
"""Memory, semaphores and queues that all processes of a user share."""
OTHERS: list[Rule] = [
    *always(("migrate_pages", "move_pages", "process_madvise", "process_mrelease")),
    *((name, unequal(0, 0), errno.EPERM) for name in ("sched_setparam", "sched_setscheduler", "sched_setattr")),
    ("sched_setaffinity", unequal(0, 0), errno.EPERM),
    *((name, unequal(1, 0), errno.EPERM) for name in ("setpriority", "ioprio_set")),
    ("prlimit64", _sets_limits_of((JUMP_EQUAL, 1, 0, 0), 0), errno.EPERM),
]
"""Steering other processes of the same user: priorities, processors, limits."""
MARK: list[Rule] = [
    ("setrlimit", equal(0, RLIMIT_LOCKS), errno.EPERM),
    ("prlimit64", _sets_limits_of((JUMP_EQUAL, 0, 1, RLIMIT_LOCKS), 1), errno.EPERM),
]
"""The limit that says to which run a process belongs (`reaper.py`) can be neither changed nor lost."""


def sockets(families: Sequence[int]) -> list[Rule]:
    """Sockets of these families only (pairs of them are always there)."""
    if not families:
        return always(("socket",), errno.EACCES)
    return [("socket", none_of(0, families), errno.EACCES)]


def program(rules: Sequence[Rule]) -> bytes:
    """The filter in the kernel's form. Other personalities of the processor (32 bit, x32) are refused as a whole."""
    architecture, numbers = MACHINES[os.uname().machine]
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
        (LOAD, 0, 0, NUMBER),
        (JUMP_ANY_BIT, 0, 1, X32),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
    ]
    for name, test, error in rules:
        if name not in numbers:
            continue
        length = len(test) + 1
        code += [(LOAD, 0, 0, NUMBER), (JUMP_EQUAL, 0, length, numbers[name]), *test, (RETURN, 0, 0, ERRNO | error)]
    code.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


def install(rules: Sequence[Rule]) -> None:
    """For this process and all it will start, for good. Needs no_new_privs; raises OSError."""
    code = program(rules)
    held = ctypes.create_string_buffer(code, len(code))
    packed = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held))
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(packed), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")
