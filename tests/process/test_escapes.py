"""Forty ways out of the sandbox, in every mode, as this user and as an ordinary one: none leads out.

The attempts run in `escapes.py`; the host's side of them is `target.py`, which runs as the user that is asked for.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from engine.core.sandboxes import SandboxName
from tests.patience import patience
from tests.process.conftest import CONFINING, Grounds, need

ROOT = Path(__file__).parents[2]
ORDINARY = 61_234
"""A user that no machine has."""
SEEN = "see the host's processes"


def outcome(mode: str, user: str, **options: Any) -> dict[str, Any]:
    """What succeeded, found out by a process of that user.

    In a folder of its own: pytest's is made private again by any other pytest that starts meanwhile.
    """
    need(mode)
    with tempfile.TemporaryDirectory(prefix="escapes-") as folder:
        return _outcome(Path(os.path.realpath(folder)), mode, user, **options)


def _outcome(base: Path, mode: str, user: str, **options: Any) -> dict[str, Any]:
    place = base / "place"
    place.mkdir(parents=True)
    command = [sys.executable]
    if user == "ordinary":
        if os.geteuid():
            pytest.skip("not root: this user is an ordinary one")
        setpriv, python = shutil.which("setpriv"), interpreter()
        if not setpriv or not python:
            pytest.skip("no setpriv, or no interpreter that an ordinary user may read")
        os.chown(place, ORDINARY, ORDINARY)
        for folder in (base, *base.parents):
            if folder.stat().st_mode & 0o005 != 0o005:
                folder.chmod(folder.stat().st_mode | 0o005)
        command = [setpriv, f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--", python]
    path = [str(ROOT), *(entry for entry in sys.path if "site-packages" in entry)]
    script = f"import sys; sys.path[1:1] = {path!r}; from tests.process.target import main; main()"
    given = json.dumps({"mode": mode, "base": str(place), **options})
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin" if user == "ordinary" else os.environ["PATH"], "HOME": str(place)}
    run = subprocess.run(
        [*command, "-c", script, given], capture_output=True, text=True, env=env, timeout=patience(60), cwd="/"
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def interpreter() -> str:
    """A Python of this version that everybody may start, with what stands in front of it on the way."""
    for name in (sys.executable, shutil.which(f"python3.{sys.version_info[1]}", path="/usr/bin:/usr/local/bin")):
        if name and all(parent.stat().st_mode & 0o001 for parent in Path(os.path.realpath(name)).parents):
            return name
    return ""


@pytest.mark.parametrize("user", ["this", "ordinary"])
@pytest.mark.parametrize("mode", CONFINING)
def test_nothing_leads_out(mode: SandboxName, user: str) -> None:
    found = outcome(mode, user)
    allowed = {SEEN} if any("can be seen" in word for word in found["lost"]) else set()
    assert set(found["opened"]) - allowed == set(), found["said"]
    assert found["clone_written"], "the attempt on the checkout went to the clone" if mode.mounts else "it had a clone"


@pytest.mark.parametrize("mode", CONFINING)
def test_the_network_only_where_it_is_given(mode: SandboxName) -> None:
    found = outcome(mode, "this", network=True)
    # With the host's network come its abstract sockets, but for Landlock, which knows them.
    shared = {
        "connect to the network",
        *([] if mode is SandboxName.LANDLOCK else ["connect to an abstract unix socket"]),
    }
    assert set(found["opened"]) - {SEEN} == shared


@pytest.mark.skipif(os.geteuid() != 0, reason="some of the attempts need root to succeed")
def test_the_attempts_can_succeed() -> None:
    """Without a sandbox they do: so the tests above can fail."""
    found = outcome(SandboxName.NONE, "this")
    never = {"remount the root writable", "mount something", "read a disk", "outlive the run", "write kernel settings"}
    never |= {"have a namespace of its own", "read the password file", "type into the user's terminal"}
    missing = set(found["names"]) - set(found["opened"]) - never
    assert missing == set()


async def test_an_old_bubblewrap_stops_everything() -> None:
    """One that cannot forbid nested user namespaces: there only dropped capabilities stop a remount."""
    found = outcome(SandboxName.BWRAP, "this", flags=[])
    assert set(found["opened"]) <= {"have a namespace of its own"}


@pytest.mark.parametrize("mode", CONFINING)
async def test_a_reviewer_cannot_write_the_clone(grounds: Grounds, mode: SandboxName) -> None:
    spawner = grounds.spawner(mode)
    writes = "(echo 1 > new) 2>/dev/null && exit 1; echo x > /dev/null; echo 1 > $TMPDIR/mine && echo 1 > $HOME/mine"
    spec = grounds.spec("sh", "-c", writes, confine=grounds.confine(writable=False))
    finished = await spawner.run(spec)
    assert finished.exit_code == 0, finished
    assert not (grounds.clone / "new").exists()
    assert (grounds.private / "mine").exists()
