"""Which sandbox this machine really has: the recipe is run, and what it must refuse is tried."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from engine.perform import landlock_exec
from engine.perform.contract import Confinement, ProcessSpec
from engine.perform.process import ProcessSpawner
from engine.perform.sandbox import SandboxMode
from engine.perform.view import real

PREFERENCES = ("auto", "bwrap", "landlock", "none")
INSTALL_HINT = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap) or choose another mode with --sandbox"

LOST_LANDLOCK = (
    "names of hidden files can be listed, though not opened",
    "unix sockets with a path (docker, ssh-agent) can be connected to",
    "checks have the network",
    "the host's processes can be seen",
    "the clone lies at its own path: an editable install of the checkout is not found",
    "a process that clears its environment and detaches survives a kill -9 of the engine",
)
LOST_SIGNALS = "processes of the same user can be signalled (needs Landlock 6, Linux 6.12)"
LOST_NONE = (
    "nothing is enforced: everything the user may read and write is open",
    "processes of the same user can be signalled",
    "unix sockets with a path (docker, ssh-agent) can be connected to",
    "checks have the network",
    "an editable install in a shared .venv imports the user's checkout, not the clone",
    "a process that clears its environment and detaches survives a kill -9 of the engine",
)
NO_SANDBOX = "no sandbox works here"


class SandboxUnavailableError(Exception):
    """The mode that was asked for does not work here; the words say why and what to type."""


async def probe(preferred: str = "auto", *, scratch: Path, home: Path) -> SandboxMode:
    """The mode in force. `auto` takes the strongest that works, at worst "none", and says in `detail` why.

    A mode that is named must work: else SandboxUnavailableError. Whether "none" is good enough is the caller's
    question; an unattended run refuses it unless the user asked for it.
    """
    if preferred not in PREFERENCES:
        raise SandboxUnavailableError(f"sandbox mode {preferred!r} is unknown; use one of {', '.join(PREFERENCES)}")
    if preferred == "none":
        return SandboxMode(name="none", detail="no sandbox, as asked", lost=LOST_NONE)
    refusals: list[str] = []
    for name in ("bwrap", "landlock") if preferred == "auto" else (preferred,):
        for mode in _candidates(name):
            why = await _tried(mode, scratch, home)
            if not why:
                return mode
            refusals.append(f"{name}: {why}")
    said = "; ".join(dict.fromkeys(refusals))
    if preferred != "auto":
        raise SandboxUnavailableError(f"the sandbox {preferred} does not work here ({said}); {INSTALL_HINT}")
    return SandboxMode(name="none", detail=f"{NO_SANDBOX} ({said}); {INSTALL_HINT}", lost=LOST_NONE)


def run_id_of(scratch: Path) -> str:
    """The probe comes before there is a run: its processes carry this, so that the next engine here can end them."""
    return f"probe {real(scratch)}"


def _candidates(name: str) -> tuple[SandboxMode, ...]:
    if name == "bwrap":
        detail = "bubblewrap: own processes, files and, for checks, network"
        full = SandboxMode(name="bwrap", detail=detail)
        # Older versions do not know the flag; a nested user namespace is then possible but has no capabilities outside.
        return (full, SandboxMode(name="bwrap", detail=f"{detail} (nested user namespaces allowed)", flags=()))
    version = landlock_exec.abi() if os.uname().sysname == "Linux" else 0
    lost = LOST_LANDLOCK if version >= 6 else (LOST_SIGNALS, *LOST_LANDLOCK)
    return (SandboxMode(name="landlock", detail=f"Landlock version {version}, without bubblewrap", lost=lost),)


async def _tried(mode: SandboxMode, scratch: Path, home: Path) -> str:
    """Empty when the sandbox runs a program, lets it write its clone and refuses the rest; else what went wrong."""
    if mode.name == "bwrap" and not shutil.which("bwrap"):
        return "not installed"
    if mode.name == "landlock" and (os.uname().sysname != "Linux" or landlock_exec.abi() < 1):
        return "this kernel has none"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)  # noqa: ASYNC240 - once, at the start
    with tempfile.TemporaryDirectory(dir=scratch, prefix="probe-") as made:
        base = real(Path(made))
        checkout, clone, outside, secret = (base / name for name in ("checkout", "clone", "outside", "secret"))
        for folder in (checkout, clone, outside, secret):
            folder.mkdir()
        (secret / "file").write_text("secret\n")
        script = (
            f"echo 1 > '{checkout}/inside' || exit 11; "
            f"(echo 1 > '{outside}/written') 2>/dev/null && exit 12; "
            f"cat '{secret}/file' 2>/dev/null && exit 13; "
            "exit 0"
        )
        spec = ProcessSpec(
            argv=("/bin/sh", "-c", script),
            cwd=checkout,
            env={"PATH": os.defpath, "HOME": str(home)},
            timeout=10,
            confine=Confinement(checkout=checkout, clone=clone, hide=(secret,)),
        )
        spawner = ProcessSpawner(mode, run_id_of(scratch), time.monotonic, home=home, scratch=base)
        finished = await spawner.run(spec)
        if (outside / "written").exists() or finished.exit_code == 12:
            return "it lets a program write outside its clone"
        if finished.exit_code == 13:
            return "it shows a hidden file"
        if finished.exit_code != 0 or not (clone / "inside").exists():
            words = finished.error or finished.stderr.decode("utf-8", "replace").strip() or f"exit {finished.exit_code}"
            return words.splitlines()[-1]
    return ""
