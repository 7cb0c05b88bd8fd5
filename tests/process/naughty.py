"""A child that misbehaves in one of many ways: `python -c SOURCE KIND MARKER [exit]`. All it makes shows MARKER."""

import os
import signal
import sys
import time

kind, leaving = sys.argv[1], sys.argv[3:] == ["exit"]


def forever():
    while True:
        time.sleep(3600)


def fork(then):
    if os.fork() == 0:
        then()
        forever()


def detached():
    os.setsid()
    fork(lambda: None)
    if kind == "double_fork":
        os._exit(0)


def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)


def silent():
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def daemon():
    os.setsid()
    deaf()
    silent()


if kind != "silent":
    os.write(1, b"ready\n")
match kind:
    case "setsid" | "double_fork":
        fork(detached)
    case "ignores_sigterm":
        fork(deaf)
        deaf()
    case "stopped":
        fork(stopped)
        if not leaving:
            time.sleep(0.05)
            stopped()
    case "holds_pipe":
        fork(deaf)
    case "leaves_daemon":
        fork(daemon)
    case "zombie":
        for _ in range(3):
            if os.fork() == 0:
                os._exit(0)
    case "waits_on_stdin":
        if not leaving:
            sys.stdin.buffer.read()
    case "closes_stdout":
        silent()
    case "floods":
        while not leaving:
            os.write(1, b"flood, flood, flood\n" * 3000)
    case "endless_line":
        while not leaving:
            os.write(1, b"x" * 60000)
    case "drips":
        while not leaving:
            os.write(1, b".")
            time.sleep(0.03)
    case "clears_environment" | "runs_from_memory":
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                silent()
                deaf()
                program = sys.executable
                if kind == "runs_from_memory":
                    memory = os.memfd_create("innocent", 0)
                    with open("/bin/sleep", "rb") as file:
                        os.write(memory, file.read())
                    program = f"/proc/self/fd/{memory}"
                    os.execve(program, [sys.argv[2], "999"], {})
                os.execve(program, [program, "-I", "-S", "-c", "import time; time.sleep(999)", sys.argv[2]], {})
            os._exit(0)
if leaving:
    time.sleep(0.1)
    os._exit(0)
forever()
