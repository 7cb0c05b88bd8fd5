"""The scripted agent's program: reads one step from stdin, edits files, streams JSON lines, misbehaves.

It runs as a process of its own, confined like any agent. Every fault is a real one. What it says was put into JSON by
the adapter, and what few steps need is imported there: an agent that does nothing costs the start of an interpreter.
"""

import marshal
import os
import sys
from time import sleep


def say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib alone costs half as much as the interpreter
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def edit(change: dict[str, str]) -> None:
    path = change["path"]
    if change.get("delete"):
        if os.path.lexists(path):
            os.unlink(path)  # noqa: PTH108
        return
    if "find" in change:
        text = read(path)
        if change["find"] not in text:
            raise SystemExit(f"scenario: {path} has no {change['find']!r}")
        write(path, text.replace(change["find"], change["replace"]))
        return
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)  # noqa: PTH103, PTH120
    if "link" in change:
        os.symlink(change["link"], path)  # noqa: PTH211
    else:
        write(path, change["content"])


def patch(text: str) -> None:
    import subprocess

    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],  # noqa: S607
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"scenario: the patch does not apply: {done.stderr.decode(errors='replace').strip()}")


def orphan() -> None:
    """Leave a child that outlives us in a session of its own, holding our stdout."""
    import signal

    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sleep(3600)
        os._exit(0)


def misbehave(fault: str, code: int) -> None:
    import signal

    match fault:
        case "hang":
            sleep(3600)
        case "ignore_sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            sleep(3600)
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            sys.exit(code)
        case "no_result":
            sys.exit(0)
        case "garbage":
            sys.stdout.buffer.write(os.urandom(65536) + b'\n{"type":"result",\n\xff\xfe[[[[\n')
            sys.stdout.flush()
            sys.exit(0)
        case "endless_line":
            block = b"x" * 65536
            while True:
                sys.stdout.buffer.write(block)
        case "flood":
            line = b'{"type":"text","text":"' + b"flood " * 1500 + b'"}\n'
            while True:
                sys.stdout.buffer.write(line)
        case "orphan":
            orphan()
        case _:
            raise SystemExit(f"scenario: unknown fault {fault!r}")


def main() -> None:
    step = marshal.load(sys.stdin.buffer)  # noqa: S302 - written by the adapter
    delay = step["delay"]
    say(step["start"])
    for line in step["output"]:
        sleep(delay)
        say(line)
    for change, line in step["edit"]:
        sleep(delay)
        edit(change)
        say(line)
    if step["patch"]:
        patch(step["patch"])
        for line in step["patched"]:
            say(line)
    if step["fault"]:
        misbehave(step["fault"], step["exit"])
    say(step["result"])
    sys.exit(0 if step["ok"] else 1)


if __name__ == "__main__":
    main()
