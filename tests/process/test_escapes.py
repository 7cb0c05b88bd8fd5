"""Twenty ways out of the sandbox: bubblewrap stops all, Landlock all but those that its mode names as lost."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.perform.probe import probe
from engine.perform.sandbox import SandboxMode
from tests.process.conftest import Grounds, need, survivors

ESCAPES = (Path(__file__).parent / "escapes.py").read_text()
LOST = {
    "connect to a unix socket in /run": "unix sockets",
    "connect to the network": "network",
    "see the host's processes": "processes can be seen",
    "signal the engine": "can be signalled",
}


class Target:
    """The host's side of the attempts: what must stay unharmed, and how to see whether it did."""

    def __init__(self, grounds: Grounds, marker: str) -> None:
        self.grounds, self.marker = grounds, marker
        self.signals: list[int] = []
        self.secret = f"secret-{marker}"
        (grounds.home / ".ssh").mkdir()
        (grounds.home / ".ssh" / "id_test").write_text(self.secret)
        (grounds.state / "journal.db").write_text(self.secret)
        (grounds.checkout / ".env").write_text(self.secret)
        (grounds.checkout / ".git").mkdir()
        self.etc = Path("/etc") / f"devteam-{marker}"
        run = Path("/run") if os.access("/run", os.W_OK) else Path(tempfile.gettempdir())
        self.socket = run / f"devteam-{marker}.sock"
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(str(self.socket))
        self.unix.listen()
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", f"by-{marker}"])
        self.before = self.tree()
        signal.signal(signal.SIGUSR1, lambda number, frame: self.signals.append(number))

    def tree(self) -> dict[str, str]:
        roots = (self.grounds.home, self.grounds.state)
        return {str(p): p.read_text() for root in roots for p in sorted(root.rglob("*")) if p.is_file()}

    def goal(self) -> dict[str, Any]:
        environ = Path(f"/proc/{os.getpid()}/environ").read_bytes()
        return {
            "checkout": str(self.grounds.checkout),
            "home": str(self.grounds.home),
            "state": str(self.grounds.state),
            "etc": str(self.etc),
            "secret": self.secret,
            "real_checkout_env": str(self.grounds.checkout / ".env"),
            "engine": os.getpid(),
            "environ": hashlib.sha256(environ).hexdigest(),
            "socket": str(self.socket),
            "port": self.tcp.getsockname()[1],
            "bystander": f"by-{self.marker}",
        }

    def opened(self) -> list[str]:
        """What is seen from outside."""
        found = [name for name, now in self.tree().items() if self.before.get(name) != now]
        found += ["signal the engine"] if self.signals else []
        found += ["write /etc"] if self.etc.exists() else []
        found += ["outlive the run"] if survivors(f"sandboxed-{self.marker}") else []
        return found

    def close(self) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
        self.bystander.kill()
        self.bystander.wait()
        self.unix.close()
        self.tcp.close()
        self.socket.unlink()
        self.etc.unlink(missing_ok=True)


@pytest.fixture
def target(grounds: Grounds, marker: str) -> Iterator[Target]:
    made = Target(grounds, marker)
    yield made
    made.close()


async def attempts(grounds: Grounds, target: Target, sandbox: SandboxMode | str, **confine: Any) -> set[str]:
    mode = sandbox if isinstance(sandbox, str) else sandbox.name
    goal = json.dumps(target.goal())
    argv = (sys.executable, "-I", "-c", ESCAPES, goal, f"sandboxed-{target.marker}")
    # The command line names the checkout; without mounts it would be rewritten to the clone and nothing be tried.
    rewritten = goal if mode == "bwrap" else goal.replace(str(grounds.checkout), f"/.{grounds.checkout}")
    spec = grounds.spec(*argv[:4], rewritten, argv[5], confine=grounds.confine(**confine))
    finished = await grounds.spawner(sandbox).run(spec)
    assert finished.reason == "exited", finished
    assert finished.stdout, finished.stderr.decode()
    return {*json.loads(finished.stdout), *target.opened()}


@pytest.mark.parametrize("flags", [("--disable-userns",), ()], ids=["new", "old"])
async def test_bubblewrap_stops_everything(grounds: Grounds, target: Target, flags: tuple[str, ...]) -> None:
    """Also an old one, which cannot forbid nested user namespaces: there only dropped capabilities stop a remount."""
    assert await attempts(grounds, target, SandboxMode(name="bwrap", flags=flags)) == set()
    assert (grounds.clone / "escaped").exists(), "the attempt on the checkout went to the clone"


async def test_landlock_stops_all_but_what_it_says(grounds: Grounds, target: Target) -> None:
    need("landlock")
    mode = await probe("landlock", scratch=grounds.base / "probe", home=grounds.home)
    opened = await attempts(grounds, target, "landlock")
    said = " ".join(mode.lost)
    assert {name for name in opened if LOST.get(name, "never") not in said} == set()
    if "signalled" not in said:
        assert "signal the engine" not in opened


async def test_the_attempts_can_succeed(grounds: Grounds, target: Target) -> None:
    """Without a sandbox they do: so the two tests above can fail."""
    opened = await attempts(grounds, target, "none")
    for name in (*LOST, "read a secret in HOME", "read the state directory", "read the engine's environment"):
        assert name in opened
    assert str(grounds.home / ".bashrc") in opened
    assert str(grounds.state / "journal.db") in opened
    assert str(grounds.checkout / "escaped") in opened
    assert "outlive the run" not in opened


async def test_a_reviewer_cannot_write_the_clone(grounds: Grounds) -> None:
    for mode in ("bwrap", "landlock"):
        spawner = grounds.spawner(mode)
        writes = (
            "(echo 1 > new) 2>/dev/null && exit 1; echo x > /dev/null; echo 1 > $TMPDIR/mine && echo 1 > $HOME/mine"
        )
        spec = grounds.spec("sh", "-c", writes, confine=grounds.confine(writable=False))
        finished = await spawner.run(spec)
        assert finished.exit_code == 0, (mode, finished)
        assert not (grounds.clone / "new").exists()
        assert (grounds.private / "mine").exists()


async def test_the_network_only_where_it_is_given(grounds: Grounds, target: Target) -> None:
    assert await attempts(grounds, target, "bwrap", network=True) == {"connect to the network"}
