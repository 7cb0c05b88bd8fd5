"""The scripted agent's program: reads one step as JSON from stdin, edits files, streams JSON lines, misbehaves.

It runs as a process of its own, confined like any agent, with the standard library only. Every fault is a real one.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def say(**event: object) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def edit(change: dict[str, str]) -> None:
    path = Path(change["path"])
    if change.get("delete"):
        path.unlink(missing_ok=True)
    elif "link" in change:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(change["link"])
    elif "find" in change:
        text = path.read_text()
        if change["find"] not in text:
            raise SystemExit(f"scenario: {path} has no {change['find']!r}")
        path.write_text(text.replace(change["find"], change["replace"]))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change["content"])
    say(type="file", path=str(path))


def patch(text: str) -> None:
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],  # noqa: S607
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"scenario: the patch does not apply: {done.stderr.decode(errors='replace').strip()}")
    for line in text.splitlines():
        if line.startswith("+++ b/"):
            say(type="file", path=line[6:])


def orphan() -> None:
    """Leave a child that outlives us in a session of its own, holding our stdout."""
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
        os._exit(0)


def misbehave(step: dict[str, str]) -> None:
    fault = step.get("fault", "")
    match fault:
        case "":
            return
        case "hang":
            time.sleep(3600)
        case "ignore_sigterm":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(3600)
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            sys.exit(int(step.get("exit", 3)))
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
    step = json.load(sys.stdin)
    delay = float(step.get("delay", 0.0))
    say(type="start", model=step.get("model", ""), session=step.get("session", ""))
    for line in step.get("output", []):
        if delay:
            time.sleep(delay)
        kind = line if isinstance(line, dict) else {"type": "text", "text": line}
        say(**kind)
    for change in step.get("edit", []):
        if delay:
            time.sleep(delay)
        edit(change)
    if step.get("patch"):
        patch(step["patch"])
    misbehave(step)
    result = step.get("result", {})
    say(type="result", **result)
    sys.exit(0 if result.get("kind", "ok") == "ok" else 1)


if __name__ == "__main__":
    main()
