"""What the fake CLIs do, whatever dialect they speak. The prompt says it: a word after `DO:`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ANSWER = '{"verdict": "pass", "n": 3}'
FAILURES = ("rate", "limit", "overloaded", "auth", "billing", "context", "model", "network")
RESET = 1794860000
"""When the usage limit of the fake providers ends."""


def wanted(prompt: str) -> str:
    found = re.search(r"DO: ([a-z_-]+)", prompt)
    return found.group(1) if found else "ok"


def act(prompt: str, speak: object) -> int:
    """Plays one behaviour through a dialect; gives the exit code."""
    what = wanted(prompt)
    say = speak
    if "could not be used" in prompt:  # the corrective retry
        what = "json-never" if "DO: json-never" in prompt else "json-good"
    say.start()
    match what:
        case "ok" | "resume":
            Path("made.txt").write_text("made by an agent\n", encoding="utf-8")
            say.tool("write", "made.txt")
            say.text("Made it.\nSTATUS: complete\nISSUES: none")
            return say.done()
        case "blocked":
            say.text("Cannot.\n**STATUS:** blocked\nISSUES: no database to talk to")
            return say.done()
        case failure if failure in FAILURES:
            return say.fail(failure)
        case "loop":
            for number in range(600):
                say.tool("run", f"step {number}")
                if say.capped(number + 1):
                    return say.cap()
                time.sleep(0.05)
            say.text("Done.")
            return say.done()
        case "hang":
            time.sleep(120)
        case "orphan":
            child = subprocess.Popen(["sleep", "987"], start_new_session=True)
            Path(os.environ["ORPHAN_FILE"]).write_text(str(child.pid), encoding="utf-8")
            say.tool("run", "sleep 987")
            time.sleep(120)
        case "crash":
            sys.stdout.write('{"type": "assist')
            sys.stdout.flush()
            os._exit(3)
        case "noresult":
            say.text("I am done, honestly. STATUS: complete")
            os._exit(0)
        case "garbage":
            sys.stdout.buffer.write(b"\xff\xfe\x00 not json\n" + b'{"half": \n' + b"[1,2]\n" + b"{" * 5000 + b"\n")
            sys.stdout.buffer.write(b'{"type":"brand_new_event","payload":{"deep":' + b"[" * 200 + b"]" * 200 + b"}}\n")
            sys.stdout.buffer.write(b'{"type":"brand_new_event","big":"' + b"x" * 3_000_000 + b'"}\n')
            sys.stdout.flush()
            say.text("Still here. STATUS: complete")
            return say.done()
        case "twice":
            say.text("Once.")
            say.done(count=2)
            say.text("And words after the end.")
            return 0
        case "huge":
            say.tool("run", "z" * 3_000_000)
            say.text("y" * 8_000_000 + "\nSTATUS: complete\nISSUES: none")
            return say.done()
        case "prose":
            say.text("Claude AI usage limit reached|1794860000 - rate limit exceeded, 429 Too Many Requests, 401")
            return say.done()
        case "json-good":
            return say.answer(ANSWER)
        case "json-broken" | "json-never":
            return say.answer('{"verdict": 7}' if what == "json-broken" else "I would rather not.")
        case "denied":
            return say.denied()
    return 9
