"""Which sandbox this machine really has: the recipe is run, and what it must refuse is tried."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import assert_never

from engine.core.sandboxes import AUTO, SandboxName
from engine.perform.process import landlock_exec, seccomp
from engine.perform.process.sandbox import SandboxMode
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Confinement, ProcessSpec
from engine.perform.process.visible_files import real

PREFERENCES = (AUTO, *SandboxName)
INSTALL_HINT = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap) or choose another mode with --sandbox"

LOST_LANDLOCK = (
    "the host's processes can be seen",
    "the clone lies at its own path: an editable install of the checkout is not found",
    "programs inside cannot change modes, owners and times of files",
    "programs inside have no unix sockets, no terminals and no shared memory, checks no loopback network either",
)
LOST_SIGNALS = "processes of the same user can be signalled (needs Landlock 6, Linux 6.12)"
LOST_NONE = (
    "nothing is enforced: everything the user may read and write is open",
    "processes of the same user can be signalled",
    "unix sockets with a path (docker, ssh-agent) can be connected to",
    "checks have the network",
    "an editable install in a shared .venv imports the user's checkout, not the clone",
)
NO_SANDBOX = "no sandbox works here"


class SandboxUnavailableError(Exception):
    """The mode that was asked for does not work here; the words say why and what to type."""


async def probe(preferred: str = "auto", *, scratch: Path, home: Path) -> SandboxMode:
    """The mode in force. `auto` takes the strongest that works, at worst "none", and says in `detail` why.

    A mode that is named must work: else SandboxUnavailableError. Whether "none" is good enough is the caller's
    question; an unattended run refuses it unless the user asked for it.
    """
    if preferred not in (AUTO, *SandboxName):
        raise SandboxUnavailableError(f"sandbox mode {preferred!r} is unknown; use one of {', '.join(PREFERENCES)}")
    if preferred == SandboxName.NONE:
        return SandboxMode(name=SandboxName.NONE, detail="no sandbox, as asked", lost=LOST_NONE, unattended=False)
    refusals: list[str] = []
    for name in SandboxName if preferred == AUTO else (SandboxName(preferred),):
        for mode in _candidates(name):
            why = await _tried(mode, scratch, home)
            if not why:
                return mode
            refusals.append(f"{name}: {why}")
    said = "; ".join(dict.fromkeys(refusals))
    if preferred != AUTO:
        raise SandboxUnavailableError(f"the sandbox {preferred} does not work here ({said}); {INSTALL_HINT}")
    detail = f"{NO_SANDBOX} ({said}); {INSTALL_HINT}"
    return SandboxMode(name=SandboxName.NONE, detail=detail, lost=LOST_NONE, unattended=False)


def run_id_of(scratch: Path) -> str:
    """The probe comes before there is a run: its processes carry this, so that the next engine here can end them."""
    return f"probe {real(scratch)}"


def _candidates(name: SandboxName) -> tuple[SandboxMode, ...]:
    """The ways to try a mode, best first; none for one that is never found out but only asked for."""
    match name:
        case SandboxName.BWRAP:
            detail = "bubblewrap: own processes, files and, for checks, network"
            full = SandboxMode(name=name, detail=detail)
            # Older versions do not know the flag; a nested user namespace is then possible but has no capabilities
            # outside.
            return (full, SandboxMode(name=name, detail=f"{detail} (nested user namespaces allowed)", flags=()))
        case SandboxName.NAMESPACES:
            detail = "the kernel's namespaces, without bubblewrap: own processes, files and, for checks, network"
            return (SandboxMode(name=name, detail=detail),)
        case SandboxName.LANDLOCK:
            return (_landlock(),)
        case SandboxName.NONE:
            return ()
        case _:
            assert_never(name)


def _landlock() -> SandboxMode:
    version = landlock_exec.abi() if os.uname().sysname == "Linux" else 0
    keeps = version >= landlock_exec.SIGNALS_KEPT_IN
    return SandboxMode(
        name=SandboxName.LANDLOCK,
        detail=f"Landlock version {version} and seccomp, without bubblewrap",
        lost=LOST_LANDLOCK if keeps else (LOST_SIGNALS, *LOST_LANDLOCK),
        unattended=keeps,
    )


def _missing(name: SandboxName) -> str:
    """What is plainly not there, before anything is tried."""
    linux = os.uname().sysname == "Linux"
    match name:
        case SandboxName.BWRAP:
            return "" if shutil.which("bwrap") else "not installed"
        case SandboxName.NAMESPACES:
            return "" if linux else "only Linux has them"
        case SandboxName.LANDLOCK:
            if not linux or landlock_exec.abi() < 1:
                return "this kernel has none"
            return "" if seccomp.known() else f"the system calls of {os.uname().machine} are not known here"
        case SandboxName.NONE:
            return ""
        case _:
            assert_never(name)


async def _tried(mode: SandboxMode, scratch: Path, home: Path) -> str:
    """Empty when the sandbox runs a program, lets it write its clone and refuses the rest; else what went wrong."""
    if missing := _missing(mode.name):
        return missing
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
