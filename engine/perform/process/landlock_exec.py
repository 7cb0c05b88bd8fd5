"""Run alone (`launching.alone`) with RULE... -- COMMAND...: confines itself with Landlock and seccomp.

A rule is a letter and a value: `w/path` may be read and written beneath, `r/path` may be read, `d` end with the parent,
`i` sockets of the internet are given. It fails closed: what cannot be enforced ends it with 126, COMMAND unrun.
"""

import ctypes
import os
import struct
import sys

from engine.perform.process import seccomp
from engine.perform.process.self_confinement import (
    checked,
    die_with_parent,
    drop_capabilities,
    execute,
    libc,
    no_new_privileges,
)

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
SCOPES = 0b11  # abstract unix sockets and signals: only to processes of the same domain
SIGNALS_KEPT_IN = 6
"""The first version that has scopes: Linux 6.12."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446


def abi() -> int:
    """Version of Landlock in the kernel; below 1 there is none."""
    return int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def confine(writable: list[str], readable: list[str]) -> None:
    """From here on only the writable paths can be changed, and files and folders read only where allowed."""
    version = checked(abi(), "this kernel has no Landlock")
    # Writing, removing and making every kind of file; moving between folders and truncating where the kernel knows it.
    write = WRITE_FILE | sum(1 << bit for bit in range(4, 13))
    write |= (1 << 13 if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    read = EXECUTE | READ_FILE | READ_DIR
    attributes = struct.pack("QQQ", write | read, 0, SCOPES if version >= SIGNALS_KEPT_IN else 0)
    size = 24 if version >= SIGNALS_KEPT_IN else 8
    rules = checked(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)), "rule set")
    for path, rights in [*((path, read) for path in readable), *((path, read | write) for path in writable)]:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no right
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib costs more start-up time than all of this
            rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
        rule = struct.pack("=Qi", rights & (write | read), opened)
        checked(libc.syscall(ADD_RULE, rules, ctypes.c_int(1), rule, ctypes.c_uint32(0)), path)
        os.close(opened)
    no_new_privileges()
    checked(libc.syscall(RESTRICT_SELF, rules, ctypes.c_uint32(0)), "restrict")
    os.close(rules)


def refuse_calls(*, internet: bool) -> None:
    """What Landlock does not know: modes, owners, times, attributes, sockets, shared memory, other processes."""
    families = (seccomp.AF_INET, seccomp.AF_INET6, seccomp.AF_NETLINK) if internet else ()
    seccomp.install(
        [
            *(*seccomp.NESTING, *seccomp.TERMINALS, *seccomp.AROUND, *seccomp.MARK),
            *(*seccomp.FILE_MODES, *seccomp.SHARED, *seccomp.OTHERS, *seccomp.sockets(families)),
        ]
    )


def main() -> None:
    """Read the rules, apply them, go."""
    cut = sys.argv.index("--")
    rules, command = sys.argv[1:cut], sys.argv[cut + 1 :]
    values = {letter: [rule[1:] for rule in rules if rule[0] == letter] for letter in "wrdi"}
    code = 126
    try:
        if values["d"]:
            die_with_parent()
        confine(values["w"], values["r"])
        if not os.geteuid():
            drop_capabilities()  # with them Landlock has holes (/proc/kcore)
        refuse_calls(internet=bool(values["i"]))
        code = 127
        execute(command, os.environ)
    except OSError as error:
        sys.stderr.write(f"landlock_exec: {command[0] if code == 127 else ''} {error.strerror}\n")
        sys.exit(code)
