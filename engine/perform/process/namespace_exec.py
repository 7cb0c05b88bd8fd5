"""Run alone (`launching.alone`) with OPTION... -- COMMAND...: the sandbox where there is no bubblewrap.

It speaks the part of bubblewrap's command line that our recipe (`sandbox.recipe`) uses and does the same with the
kernel's own calls, so that both modes are one recipe: own user, mount, pid, ipc, uts and, where asked, network
namespace; everything read-only but what is bound; no capabilities; nothing outlives it. Three processes as there: this
one, the first of the new pid namespace, and the command. It fails closed: what cannot be done ends it, COMMAND unrun.
Needs Linux 5.12 (mount_setattr).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat
import struct
import sys

from engine.perform.process import seccomp
from engine.perform.process.self_confinement import (
    SIG_DFL,
    SIGINT,
    checked,
    die_with_parent,
    drop_capabilities,
    execute,
    is_mighty,
    libc,
    no_new_privileges,
    untouchable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    Step = tuple[str, ...]

MOUNTS, UTS, IPC, USERS, PIDS, NETWORK = (
    0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_SLAVE, MNT_DETACH = 2, 4, 8, 0x4000, 1 << 19, 2
OPEN_TREE, MOVE_MOUNT, OPENAT2, MOUNT_SETATTR = 428, 429, 437, 442
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000
OPEN_TREE_CLONE = 1
MOVE_FROM_EMPTY, MOVE_TO_EMPTY = 0x4, 0x40
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
RESOLVE_IN_ROOT, RESOLVE_NO_MAGICLINKS = 0x10, 0x02
FLAGS = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-net", "--disable-userns", "--die-with-parent", "--new-session"),
)
ONE = ("--cap-drop", "--json-status-fd", "--dev", "--proc", "--tmpfs", "--dir", "--chdir")
TWO = ("--bind", "--ro-bind", "--ro-bind-try", "--symlink")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
NAME = "devteam sandbox"
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
AF_INET, SOCK_DGRAM = 2, 2


def parsed(words: list[str]) -> tuple[set[str], dict[str, str], list[Step], list[str]]:
    """Flags, settings, steps in their order, and the command. What is not known here is not ignored."""
    flags: set[str] = set()
    settings: dict[str, str] = {}
    steps: list[Step] = []
    at = 0
    while words[at] != "--":
        word = words[at]
        if word in FLAGS:
            flags.add(word)
            at += 1
        elif word in ("--cap-drop", "--json-status-fd", "--chdir"):
            settings[word] = words[at + 1]
            at += 2
        elif word in ONE:
            steps.append((word, words[at + 1]))
            at += 2
        elif word in TWO:
            steps.append((word, words[at + 1], words[at + 2]))
            at += 3
        else:
            raise OSError(errno.EINVAL, f"unknown option {word}")
    return flags, settings, steps, words[at + 1 :]


class NewRoot:
    """The tree the command will see, built beside the machine's own while that is still in sight."""

    def __init__(self) -> None:
        self._fd = -1

    def start(self, source: str, *, writable: bool) -> None:
        """A copy of the machine's mounts, put over its root: who has the old root still sees all of that."""
        tree = _tree(source, writable=writable, devices=False)
        place = os.open("/", os.O_PATH | os.O_CLOEXEC)
        _attach(tree, place)
        self._fd = tree
        os.close(place)

    def bind(self, source: str, dest: str, *, writable: bool, devices: bool = False, must: bool = True) -> None:
        try:
            tree = _tree(source, writable=writable, devices=devices)
        except FileNotFoundError:
            if must:
                raise
            return
        folder = stat.S_ISDIR(os.fstat(tree).st_mode)
        place = self.place(dest, folder=folder)
        if folder != stat.S_ISDIR(os.fstat(place).st_mode):
            raise OSError(errno.ENOTDIR, f"cannot mount {source} on {dest}: one of them is not a folder")
        _attach(tree, place)
        os.close(place)
        os.close(tree)

    def filesystem(self, kind: str, dest: str, data: str, flags: int) -> None:
        place = self.place(dest, folder=True)
        # The place is a descriptor: no name is looked up a second time.
        target = f"/proc/self/fd/{place}".encode()
        checked(libc.mount(kind.encode(), target, kind.encode(), flags, data.encode() or None), f"{kind} on {dest}")
        os.close(place)

    def place(self, dest: str, *, folder: bool) -> int:
        """A descriptor of this path in the new tree, made where it is missing; no link leads out of the tree."""
        at = self._open("/")
        parts = [part for part in dest.split("/") if part]
        for number, part in enumerate(parts, 1):
            path = "/" + "/".join(parts[:number])
            try:
                below = self._open(path)
            except FileNotFoundError:
                if folder or number < len(parts):
                    os.mkdir(part, 0o755, dir_fd=at)
                else:
                    made = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
                    os.close(os.open(part, made, 0o644, dir_fd=at))
                below = self._open(path)
            os.close(at)
            at = below
        return at

    def link(self, target: str, dest: str) -> None:
        parent, _, name = dest.rpartition("/")
        folder = self.place(parent or "/", folder=True)
        try:
            os.symlink(target, name, dir_fd=folder)
        except FileExistsError:
            if os.readlink(name, dir_fd=folder) != target:
                raise
        os.close(folder)

    def devices(self, dest: str) -> None:
        """Harmless ones, terminals of its own, memory to share of its own."""
        self.filesystem("tmpfs", dest, "mode=0755", MS_NOSUID)
        for name in DEVICES:
            self.bind(f"/dev/{name}", f"{dest}/{name}", writable=True, devices=True, must=False)
        for name, target in LINKS.items():
            self.link(target, f"{dest}/{name}")
        os.close(self.place(f"{dest}/shm", folder=True))
        self.filesystem("devpts", f"{dest}/pts", "newinstance,ptmxmode=0666,mode=620", MS_NOSUID | MS_NOEXEC)
        self.link("pts/ptmx", f"{dest}/ptmx")

    def enter(self) -> None:
        """From here on nothing else is there."""
        os.fchdir(self._fd)
        os.close(self._fd)
        checked(libc.pivot_root(b".", b"."), "pivot_root")
        checked(libc.umount2(b".", MNT_DETACH), "leave the old root")
        os.chdir("/")

    def _open(self, path: str) -> int:
        how = struct.pack("QQQ", os.O_PATH | os.O_CLOEXEC, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)
        found = libc.syscall(OPENAT2, self._fd, path.encode(), how, ctypes.c_size_t(len(how)))
        if found < 0 and ctypes.get_errno() == errno.ENOENT:
            raise FileNotFoundError(errno.ENOENT, path)
        return checked(found, path)


def _tree(source: str, *, writable: bool, devices: bool) -> int:
    """A mount of this path that lies nowhere yet, with all that is mounted beneath, made harmless as a whole."""
    flags = OPEN_TREE_CLONE | os.O_CLOEXEC | AT_RECURSIVE
    tree = libc.syscall(OPEN_TREE, AT_FDCWD, os.fsencode(source), ctypes.c_uint(flags))
    if tree < 0 and ctypes.get_errno() == errno.ENOENT:
        raise FileNotFoundError(errno.ENOENT, f"{source}: no such file or folder")
    checked(tree, source)
    wanted = ATTR_NOSUID | (0 if writable else ATTR_RDONLY) | (0 if devices else ATTR_NODEV)
    attributes = struct.pack("QQQQ", wanted, 0, 0, 0)
    size = ctypes.c_size_t(len(attributes))
    checked(libc.syscall(MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH | AT_RECURSIVE, attributes, size), source)
    return int(tree)


def _attach(tree: int, place: int) -> None:
    checked(libc.syscall(MOVE_MOUNT, tree, b"", place, b"", MOVE_FROM_EMPTY | MOVE_TO_EMPTY), "move_mount")


def build(steps: list[Step]) -> None:
    """Follow the recipe, then make it the root."""
    checked(libc.mount(None, b"/", None, MS_REC | MS_SLAVE, None), "mounts of its own")
    root = NewRoot()
    for step in steps:
        match step:
            case ("--ro-bind" | "--bind" as how, source, "/"):
                root.start(source, writable=how == "--bind")
            case ("--ro-bind", source, dest):
                root.bind(source, dest, writable=False)
            case ("--ro-bind-try", source, dest):
                root.bind(source, dest, writable=False, must=False)
            case ("--bind", source, dest):
                root.bind(source, dest, writable=True)
            case ("--tmpfs", dest):
                root.filesystem("tmpfs", dest, "mode=0755", MS_NOSUID | MS_NODEV)
            case ("--proc", dest):
                root.filesystem("proc", dest, "", MS_NOSUID | MS_NODEV | MS_NOEXEC)
            case ("--dev", dest):
                root.devices(dest)
            case ("--dir", dest):
                os.close(root.place(dest, folder=True))
            case ("--symlink", target, dest):
                root.link(target, dest)
            case _:
                raise OSError(errno.EINVAL, f"cannot do {' '.join(step)}")
    root.enter()


def own_users() -> None:
    """A user namespace with one user and one group in it: the same as outside."""
    user, group = os.geteuid(), os.getegid()
    checked(libc.unshare(USERS), "user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib costs more start-up time than all of this
            file.write(text)


def loopback_up() -> None:
    """A network namespace begins with its loopback down."""
    handle = checked(libc.socket(AF_INET, SOCK_DGRAM | os.O_CLOEXEC, 0), "loopback")
    request = fcntl.ioctl(handle, SIOCGIFFLAGS, struct.pack("16sh22x", b"lo", 0))
    flags = struct.unpack_from("16sh", request)[1]
    fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | 1))
    os.close(handle)


def main() -> None:
    """Make it, or say in a line why not."""
    libc.signal(SIGINT, SIG_DFL)
    try:
        _outside()
    except OSError as error:
        sys.stderr.write(f"{NAME}: {error.strerror}\n")
        sys.exit(1)


def _outside() -> None:
    """Outside: make the namespaces and wait for the first process in them."""
    flags, settings, steps, command = parsed(sys.argv[1:])
    status = int(settings.get("--json-status-fd", "-1"))
    if status >= 0:
        os.set_inheritable(status, False)
    try:
        own_users()
    except OSError:
        if not is_mighty():
            raise
    die_with_parent()
    wanted = PIDS | IPC | UTS | (NETWORK if "--unshare-net" in flags else 0)
    checked(libc.unshare(wanted), "namespaces")
    alive, lifeline = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(lifeline)
        _guarded(lambda: _first(alive, status, flags, settings, steps, command))
    os.close(alive)
    _say(status, "child-pid", first)
    _, waited = os.waitpid(first, 0)
    os._exit(_code(waited))


def _first(
    alive: int, status: int, flags: set[str], settings: dict[str, str], steps: list[Step], command: list[str]
) -> None:
    """Inside: the first process of the namespace. When it ends, the kernel ends all others there."""
    die_with_parent()
    os.set_blocking(alive, False)
    try:
        if os.read(alive, 1) == b"":
            os._exit(1)  # the parent was gone before the kernel knew our wish
    except BlockingIOError:
        pass
    checked(libc.unshare(MOUNTS), "mount namespace")
    if "--unshare-net" in flags:
        loopback_up()
    build(steps)
    os.chdir(settings.get("--chdir", "/"))
    drop_capabilities()
    no_new_privileges()
    untouchable()
    began, failed = os.pipe()
    child = os.fork()
    if child == 0:
        _guarded(lambda: _program(failed, settings, command))
    os.close(failed)
    os.close(0)
    os.dup2(2, 1)
    refused = os.read(began, 1)
    code = 1
    while True:
        pid, waited = os.wait()
        if pid == child:
            code = _code(waited)
            break
    if not refused:
        _say(status, "exit-code", code)
    os._exit(code)


def _program(failed: int, settings: dict[str, str], command: list[str]) -> None:
    """The command itself."""
    os.setsid()
    libc.prctl(4, 1, 0, 0, 0)  # its own processes may debug each other again
    if seccomp.known():
        seccomp.install([*seccomp.NESTING, *seccomp.TERMINALS, *seccomp.AROUND, *seccomp.MARK])
    env = {**os.environ, "PWD": settings.get("--chdir", "/")}
    try:
        execute(command, env)
    except OSError as error:
        os.write(failed, b"x")
        raise OSError(error.errno, f"execvp {command[0]}: {error.strerror}") from None


def _guarded(work: Callable[[], None]) -> NoReturn:
    """A forked process never goes back to where it came from."""
    try:
        work()
    except OSError as error:
        sys.stderr.write(f"{NAME}: {error.strerror}\n")
        sys.stderr.flush()
    os._exit(1)


def _say(status: int, fact: str, number: int) -> None:
    if status >= 0:
        os.write(status, f'{{"{fact}": {number}}}\n'.encode())


def _code(waited: int) -> int:
    code = os.waitstatus_to_exitcode(waited)
    return 128 - code if code < 0 else code
