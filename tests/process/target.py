"""The host's side of the attempts to get out: what must stay unharmed, and how to see whether it did.

Run as `python -c "...main()" JSON` by whatever user is asked for; prints what succeeded.
"""

import asyncio
import ctypes
import hashlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

from engine.core.sandboxes import SandboxName
from engine.perform.process.probe import probe
from engine.perform.process.sandbox import SandboxMode
from tests.patience import patience
from tests.process.conftest import Grounds, survivors

ESCAPES = (Path(__file__).parent / "escapes.py").read_text()
NAMES = [part.split('"')[0] for part in ESCAPES.split('@tried("')[1:]]
SHARED_KEY = 0x64657674
libc = ctypes.CDLL(None, use_errno=True)


def _content(path: Path) -> str:
    """What a file holds; one that was closed to its own user is another one than before."""
    try:
        return path.read_text() if path.is_file() else ""
    except PermissionError:
        return "closed"


class Target:
    def __init__(self, grounds: Grounds, mode: SandboxName) -> None:
        self.grounds, self.mode = grounds, mode
        self.marker = f"mark-{uuid.uuid4().hex}"
        self.signals: list[int] = []
        self.secret = f"secret-{self.marker}"
        (grounds.home / ".ssh").mkdir()
        (grounds.home / ".ssh" / "id_test").write_text(self.secret)
        (grounds.state / "journal.db").write_text(self.secret)
        (grounds.checkout / ".env").write_text(self.secret)
        (grounds.checkout / ".git").mkdir()
        self.etc = Path("/etc") / f"devteam-{self.marker}"
        run = Path("/run") if os.access("/run", os.W_OK) else Path(tempfile.gettempdir())
        self.socket = run / f"devteam-{self.marker}.sock"
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(str(self.socket))
        self.unix.listen()
        self.abstract = socket.socket(socket.AF_UNIX)
        self.abstract.bind(f"\0{self.marker}")
        self.abstract.listen()
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", f"by-{self.marker}"])
        self.other = subprocess.Popen(["sleep", "60"])
        self.priority = os.getpriority(os.PRIO_PROCESS, self.other.pid)
        self.master, slave = os.openpty()
        self.terminal = os.ttyname(slave)
        os.set_blocking(self.master, False)
        self.memory = Path("/dev/shm") / self.marker
        self.memory.write_text("shared")
        self.key = SHARED_KEY ^ (os.getpid() << 4)
        self.segment = libc.shmget(self.key, 4096, 0o1600)
        self.queue = ctypes.CDLL("librt.so.1").mq_open(b"/" + self.marker.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        libc.syscall(248, b"user", self.marker.encode(), b"key", ctypes.c_size_t(3), -4)
        signal.signal(signal.SIGUSR1, lambda number, frame: self.signals.append(number))
        self.before = self.tree()

    def tree(self) -> dict[str, Any]:
        """Everything of the user's: contents, modes, owners, times, attributes."""
        found: dict[str, Any] = {}
        for root in (self.grounds.home, self.grounds.state):
            for path in (root, *sorted(root.rglob("*"))):
                facts = path.lstat()
                attributes = tuple(os.listxattr(path, follow_symlinks=False))
                content = _content(path)
                changes = facts.st_mtime_ns if path.is_file() or path.name == ".git" else 0
                found[str(path)] = (content, facts.st_mode, facts.st_uid, changes, attributes)
        return found

    def goal(self) -> dict[str, Any]:
        environ = Path(f"/proc/{os.getpid()}/environ").read_bytes()
        return {
            "checkout": str(self.grounds.checkout),
            "home": str(self.grounds.home),
            "state": str(self.grounds.state),
            "places": [str(self.grounds.checkout / ".git"), str(self.grounds.home / ".ssh" / "id_test")],
            "etc": str(self.etc),
            "secret": self.secret,
            "real_checkout_env": str(self.grounds.checkout / ".env"),
            "engine": os.getpid(),
            "other": self.other.pid,
            "environ": hashlib.sha256(environ).hexdigest(),
            "socket": str(self.socket),
            "port": self.tcp.getsockname()[1],
            "bystander": f"by-{self.marker}",
            "terminal": self.terminal,
            "memory": self.marker,
            "segment": self.key,
            "mark": 0,
            "keeps_mark": False,
        }

    def opened(self) -> dict[str, str]:
        """What is seen from outside, with where."""
        found: dict[str, str] = {}
        for name, now in self.tree().items():
            was = self.before.get(name)
            if was is None or was[0] != now[0]:
                what = "write the user's HOME"
                for place, word in ((".git", "write the user's .git"), ("escaped", "write the user's checkout")):
                    what = word if place in Path(name).parts else what
                what = "write the state directory" if name.startswith(str(self.grounds.state)) else what
                found[what] = name
            else:
                words = ("", "change modes", "change owners", "change times", "change attributes")
                found |= {words[at]: name for at in range(1, 5) if was[at] != now[at]}
        found |= {"signal the engine": ""} if self.signals else {}
        found |= {"write /etc": ""} if self.etc.exists() else {}
        found |= {"outlive the run": ""} if survivors(f"sandboxed-{self.marker}") else {}
        if (
            self.other.poll() is not None
            or os.getpriority(os.PRIO_PROCESS, self.other.pid) != self.priority
            or resource.prlimit(self.other.pid, resource.RLIMIT_NOFILE)[0] == 16
        ):
            found["steer another process"] = ""
        try:
            if os.read(self.master, 100):
                found["write to the user's terminal"] = ""
        except OSError:
            pass
        return found

    def close(self) -> None:
        for process in (self.bystander, self.other):
            process.kill()
            process.wait()
        for one in (self.unix, self.abstract, self.tcp):
            one.close()
        self.socket.unlink()
        self.etc.unlink(missing_ok=True)
        self.memory.unlink()
        libc.shmctl(self.segment, 0, None)
        ctypes.CDLL("librt.so.1").mq_unlink(b"/" + self.marker.encode())
        libc.syscall(250, 21, libc.syscall(250, 10, -4, b"user", self.marker.encode(), 0))


async def attempts(target: Target, sandbox: SandboxMode, **confine: Any) -> dict[str, Any]:
    grounds = target.grounds
    goal = json.dumps(target.goal())
    # The command line names the checkout; without mounts it would be rewritten to the clone and nothing be tried.
    given = goal if sandbox.name.mounts else goal.replace(str(grounds.checkout), f"/.{grounds.checkout}")
    argv = (sys.executable, "-I", "-c", ESCAPES, given, f"sandboxed-{target.marker}")
    spec = grounds.spec(*argv, timeout=patience(30), confine=grounds.confine(**confine))
    finished = await grounds.spawner(sandbox).run(spec)
    assert finished.reason == "exited", finished
    assert finished.stdout, finished.stderr.decode()
    outside = target.opened()
    return {
        "opened": sorted({*json.loads(finished.stdout), *outside}),
        "said": f"{outside} {finished.stderr.decode()}",
    }


async def found(mode: SandboxName, base: Path, flags: list[str] | None, network: bool) -> dict[str, Any]:
    grounds = Grounds(base=base / "g")
    probed = await probe(mode, scratch=base / "probe", home=grounds.home)
    sandbox = probed if flags is None else SandboxMode(name=mode, flags=tuple(flags))
    target = Target(grounds, mode)
    try:
        result = await attempts(target, sandbox, network=network)
    finally:
        target.close()
    written = (grounds.clone / "escaped").exists() or not mode.mounts
    return {**result, "lost": list(probed.lost), "names": NAMES, "clone_written": written}


def main() -> None:
    given = json.loads(sys.argv[1])
    mode, base = SandboxName(given["mode"]), Path(given["base"])
    print(json.dumps(asyncio.run(found(mode, base, given.get("flags"), given.get("network", False)))))
