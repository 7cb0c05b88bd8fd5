"""Tries to get out: `python -c SOURCE JSON`. Prints what succeeded, as far as it can be seen from inside."""

import ctypes
import fcntl
import hashlib
import json
import os
import resource
import signal
import socket
import stat
import struct
import sys
import time

goal = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
opened = []


def tried(name):
    def run(attempt):
        try:
            if attempt():
                opened.append(name)
        except Exception as error:
            print(name, repr(error), file=sys.stderr)

    return run


def unheard(attempt):
    try:
        attempt()
    except Exception as error:
        print(repr(error), file=sys.stderr)


def write(path):
    with open(path, "a") as file:
        file.write("escaped\n")


def read(path):
    with open(path, "rb") as file:
        return goal["secret"].encode() in file.read()


@tried("write the user's checkout")
def _():
    write(goal["checkout"] + "/escaped")  # looked at from outside: with bubblewrap this is the clone


@tried("write the user's .git")
def _():
    os.makedirs(goal["checkout"] + "/.git/hooks", exist_ok=True)
    write(goal["checkout"] + "/.git/hooks/post-commit")


@tried("write the user's HOME")
def _():
    write(goal["home"] + "/.bashrc")


@tried("write the state directory")
def _():
    write(goal["state"] + "/journal.db")


@tried("write /etc")
def _():
    write(goal["etc"])
    return True


@tried("read a secret in HOME")
def _():
    return read(goal["home"] + "/.ssh/id_test")


@tried("read the state directory")
def _():
    return read(goal["state"] + "/journal.db")


@tried("read an untracked secret of the checkout")
def _():
    return read(goal["real_checkout_env"])


@tried("read the engine's environment")
def _():
    with open(f"/proc/{goal['engine']}/environ", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() == goal["environ"]


@tried("connect to a unix socket in /run")
def _():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(goal["socket"])
        return True


@tried("connect to the network")
def _():
    with socket.create_connection(("127.0.0.1", goal["port"]), timeout=2):
        return True


@tried("signal the engine")
def _():
    os.kill(goal["engine"], signal.SIGUSR1)  # looked at from outside


@tried("ptrace the engine")
def _():
    return libc.ptrace(0x4206, goal["engine"], 0, 0) == 0


@tried("remount the root writable")
def _():
    return libc.mount(None, b"/", None, 0x20 | 0x1000, None) == 0


@tried("mount something")
def _():
    return libc.mount(b"none", b"/mnt", b"tmpfs", 0, None) == 0


@tried("see the host's processes")
def _():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if goal["bystander"].encode() in file.read().split(b"\0"):
                        return True
            except OSError:
                continue  # it ended meanwhile: the next one may be the one
    return False


@tried("read a disk")
def _():
    for name in os.listdir("/dev"):
        try:
            if stat.S_ISBLK(os.stat("/dev/" + name).st_mode):
                with open("/dev/" + name, "rb") as file:
                    if file.read(16):
                        return True
        except OSError:
            continue
    return False


@tried("write kernel settings")
def _():
    with open("/proc/sys/kernel/core_pattern") as file:
        same = file.read()
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        file.write(same)
    return True


@tried("read the password file")
def _():
    with open("/etc/shadow", "rb") as file:
        return bool(file.read())


# The next ones are looked at from outside.


def each(*attempts):
    for place in goal["places"]:
        for attempt in attempts:
            unheard(lambda attempt=attempt, place=place: attempt(place))


def opened_for_reading(place):
    return os.open(place, os.O_RDONLY)


@tried("change modes")
def _():
    each(
        lambda place: os.chmod(place, 0),
        lambda place: os.fchmod(opened_for_reading(place), 0),
        lambda place: libc.syscall(452, -100, place.encode(), 0, 0),
    )


@tried("change owners")
def _():
    each(lambda place: os.chown(place, 65534, 65534), lambda place: os.lchown(place, 65534, 65534))


@tried("change times")
def _():
    each(lambda place: os.utime(place, (1, 1)), lambda place: os.utime(opened_for_reading(place), (1, 1)))


@tried("change attributes")
def _():
    each(
        lambda place: os.setxattr(place, "user.escaped", b"1"),
        lambda place: fcntl.ioctl(opened_for_reading(place), 0x40086602, struct.pack("q", 0x80)),
    )


@tried("write to the user's terminal")
def _():
    with open(goal["terminal"], "w") as file:
        file.write("escaped")
    return True


@tried("type into the user's terminal")
def _():
    for name in (goal["terminal"], "/dev/tty", "/dev/console"):
        try:
            fcntl.ioctl(os.open(name, os.O_RDONLY | os.O_NOCTTY), 0x5412, b"x")
        except OSError:
            continue
        return True
    return False


@tried("map the user's shared memory")
def _():
    with open("/dev/shm/" + goal["memory"], "rb") as file:
        return bool(file.read())


@tried("attach the user's System V memory")
def _():
    return libc.shmget(goal["segment"], 0, 0) >= 0


@tried("open the user's message queue")
def _():
    return ctypes.CDLL("librt.so.1").mq_open(b"/" + goal["memory"].encode(), os.O_RDONLY) >= 0


@tried("read the user's keyring")
def _():
    found = libc.syscall(250, 10, -4, b"user", goal["memory"].encode(), 0)  # KEYCTL_SEARCH in the user's keyring
    return found >= 0


@tried("connect to an abstract unix socket")
def _():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + goal["memory"])
        return True


@tried("look into another process")
def _():
    if libc.ptrace(0x4206, goal["other"], 0, 0) == 0:
        return True
    buffer = ctypes.create_string_buffer(8)
    with open(f"/proc/{goal['other']}/mem", "rb") as file:
        return bool(file) and bool(buffer)


@tried("steer another process")
def _():
    done = [unheard(lambda: os.setpriority(os.PRIO_PROCESS, goal["other"], 17))]
    done.append(unheard(lambda: resource.prlimit(goal["other"], resource.RLIMIT_NOFILE, (16, 16))))
    done.append(unheard(lambda: os.sched_setaffinity(goal["other"], {0})))  # as it is on many machines
    done.append(unheard(lambda: os.kill(goal["other"], signal.SIGKILL)))
    done.append(unheard(lambda: signal.pidfd_send_signal(os.pidfd_open(goal["other"]), signal.SIGKILL)))
    return False  # looked at from outside


@tried("have a namespace of its own")
def _():
    return libc.unshare(0x10000000) == 0


@tried("outlive the run")
def _():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        os._exit(0)


print(json.dumps(opened))
