"""Run alone, as `python -I -S landlock_exec.py RULE... -- COMMAND...`: confines itself with Landlock, becomes COMMAND.

A rule is a letter and a value: `w/path` may be read and written beneath, `r/path` may be read, `m123` bytes of memory,
`n123` open files, `d` end with the parent. It fails closed: what cannot be enforced ends it with 126, COMMAND unrun.
"""

import ctypes
import errno
import os
import resource
import signal
import struct
import sys

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
SCOPES = 0b11  # abstract unix sockets and signals: only to processes of the same domain
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38

libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """Version of Landlock in the kernel; below 1 there is none."""
    return int(libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _check(result: int, what: str) -> int:
    if result < 0:
        sys.stderr.write(f"landlock_exec: {what}: {os.strerror(ctypes.get_errno())}\n")
        sys.exit(126)
    return result


def confine(writable: list[str], readable: list[str]) -> None:
    """From here on only the writable paths can be changed, and file contents read only where allowed."""
    version = _check(abi(), "this kernel has no Landlock")
    # Writing, removing and making every kind of file; moving between folders and truncating where the kernel knows it.
    write = WRITE_FILE | sum(1 << bit for bit in range(4, 13))
    write |= (1 << 13 if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    read = EXECUTE | READ_FILE | READ_DIR
    attributes = struct.pack("QQQ", write | read, 0, SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 8
    rules = _check(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)), "rule set")
    grants = [("/", READ_DIR), *((path, read) for path in readable), *((path, read | write) for path in writable)]
    for path, rights in grants:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there needs no right
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib costs more start-up time than all of this
            rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
        rule = struct.pack("=Qi", rights & (write | read), opened)
        _check(libc.syscall(ADD_RULE, rules, ctypes.c_int(1), rule, ctypes.c_uint32(0)), path)
        os.close(opened)
    _check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    _check(libc.syscall(RESTRICT_SELF, rules, ctypes.c_uint32(0)), "restrict")
    os.close(rules)


def drop_capabilities() -> None:
    """Root without capabilities is an ordinary user who owns much; with them Landlock has holes (/proc/kcore)."""
    if os.geteuid():
        return
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header, nothing = struct.pack("Ii", 0x20080522, 0), bytes(24)
    _check(libc.capset(header, nothing), "capabilities")


def main() -> None:
    """Read the rules, apply them, go."""
    cut = sys.argv.index("--")
    rules, command = sys.argv[1:cut], sys.argv[cut + 1 :]
    values = {letter: [rule[1:] for rule in rules if rule[0] == letter] for letter in "wrmnd"}
    if values["d"]:
        libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for value in values["n"]:
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(value), int(value)))
    for value in values["m"]:
        resource.setrlimit(resource.RLIMIT_AS, (int(value), int(value)))
    confine(values["w"], values["r"])
    drop_capabilities()
    # By hand, for os.execvp imports what may be hidden by now.
    folders = [""] if "/" in command[0] else [f"{folder}/" for folder in os.environ.get("PATH", "/bin").split(":")]
    problem = errno.ENOENT
    for folder in folders:
        try:
            os.execv(folder + command[0], command)  # noqa: S606 - the command is the whole point
        except OSError as error:
            problem = problem if error.errno in (errno.ENOENT, errno.ENOTDIR) else error.errno or problem
    sys.stderr.write(f"landlock_exec: {command[0]}: {os.strerror(problem)}\n")
    sys.exit(127)


if __name__ == "__main__":
    main()
