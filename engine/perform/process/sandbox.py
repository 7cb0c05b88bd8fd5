"""From a ProcessSpec to the command that is really started, for the modes that can mount; the others: `unmounted.py`.

The clone is mounted at the path of the checkout, HOME and sockets are hidden, programs under HOME are put back
read-only. bubblewrap follows this recipe, or our own `namespace_exec.py`, which reads the same command line.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import assert_never

from engine.core.model import Struct
from engine.core.sandboxes import SandboxName
from engine.perform.process import namespace_exec, unmounted
from engine.perform.process.launching import CannotStartError, Launch, alone, limited
from engine.perform.process.loose_folder import loose_folder
from engine.perform.process.placement import Place
from engine.perform.process.spawning import Confinement, ProcessSpec
from engine.perform.process.visible_files import PASSING, Ground, hidden, inner, inner_home, programs, real, under

KERNEL = ("sys", "fs", "acpi", "scsi", "mtrr", "irq", "bus", "sysrq-trigger")
NAMESPACES = alone(namespace_exec.__name__)


class SandboxMode(Struct, frozen=True, kw_only=True):
    """What protects the machine from agents and checks."""

    name: SandboxName
    detail: str = ""
    """Why this one, in words for the screen."""
    lost: tuple[str, ...] = ()
    """What this mode cannot stop."""
    flags: tuple[str, ...] = ("--disable-userns",)
    """Flags of bubblewrap beyond the oldest version, as far as this one knows them."""
    unattended: bool = True
    """Good enough for work nobody watches."""


def plan(spec: ProcessSpec, mode: SandboxMode, ground: Ground, status_fd: int, mark: int = 0) -> Launch:
    """How to start it under this mode. `mark` is the limit by which its processes are known (`reaper.py`)."""
    if not spec.argv:
        raise CannotStartError("an empty command was given")
    if spec.confine is None:
        return unmounted.free(spec, mark)
    match mode.name:
        case SandboxName.BWRAP:
            return _mounted(("bwrap",), spec, spec.confine, mode, ground, status_fd, mark)
        case SandboxName.NAMESPACES:
            return _mounted(NAMESPACES, spec, spec.confine, mode, ground, status_fd, mark)
        case SandboxName.LANDLOCK:
            return unmounted.landlock(spec, spec.confine, ground, mark)
        case SandboxName.NONE:
            return unmounted.bare(spec, spec.confine, ground, mark)
        case _:
            assert_never(mode.name)


def recipe(
    spec: ProcessSpec, confine: Confinement, mode: SandboxMode, ground: Ground, status_fd: int | None = None
) -> list[str]:
    """The options up to and with `--`. Later mounts cover earlier ones: by depth, hiding before putting back."""
    home = inner_home(spec, ground)
    argv = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    # Started by root it would keep every capability and could remount the root writable.
    argv += [*mode.flags, "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    if not confine.network:
        argv.append("--unshare-net")
    if status_fd is not None:
        argv += ["--json-status-fd", str(status_fd)]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if os.geteuid() == 0:
        # Root owns the kernel's settings even without capabilities: core_pattern alone would run a program on the host.
        argv += [word for name in KERNEL for word in ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")]

    shown = _shown(spec, confine, ground, home)
    covered = [*hidden(confine, ground), *PASSING]
    steps: dict[tuple[int, int, Path], list[str]] = {}
    for path in covered:
        if _needs_hiding(path, covered, shown):
            cover = ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
            steps[len(path.parts), 0, path] = cover
    for dest, (source, writable) in shown.items():
        steps[len(dest.parts), 1, dest] = ["--bind" if writable else "--ro-bind", str(source), str(dest)]
    links: list[str] = []
    for mount in confine.mounts:
        dest = inner(mount.dest, confine)
        if mount.loose and (len(dest.parts), 1, dest) in steps:
            below, links_there = loose_folder(real(mount.source), dest)
            steps[len(dest.parts), 1, dest] = ["--tmpfs", str(dest)]
            steps[len(below.parts), 1, below] = ["--ro-bind", str(real(mount.source)), str(below)]
            links += links_there
    for key in sorted(steps):
        argv += steps[key]
    argv += links
    if home not in shown:
        argv += ["--dir", str(home)]
    given = Path(os.path.normpath(confine.checkout))
    if given.is_symlink() and any(under(given, path) for path in covered):
        argv += ["--symlink", str(real(given)), str(given)]
    return [*argv, "--chdir", str(inner(spec.cwd, confine)), "--"]


def _shown(spec: ProcessSpec, confine: Confinement, ground: Ground, home: Path) -> dict[Path, tuple[Path, bool]]:
    """What is put back: programs first, then the private HOME, the clone and the caller's mounts; the last one wins."""
    shown: dict[Path, tuple[Path, bool]] = {
        mount.dest: (mount.source, False) for mount in programs(spec, confine, ground)
    }
    resolver = real(Path("/etc/resolv.conf"))  # often a link into /run, which is hidden
    if confine.network and under(resolver, Path("/run")) and resolver.exists():
        shown[resolver] = (resolver, False)
    private = real(confine.home) if confine.home else None
    if private:
        shown[home] = shown[private] = (private, True)
    shown[real(confine.checkout)] = (real(confine.clone), confine.writable)
    for mount in confine.mounts:
        source, dest = real(mount.source), inner(mount.dest, confine)
        if not source.exists():
            continue
        shown[dest] = (source, mount.writable)
        if private and under(dest, private):  # the private HOME is seen at two places
            shown[home / dest.relative_to(private)] = (source, mount.writable)
    return shown


def _needs_hiding(path: Path, covered: list[Path], shown: dict[Path, tuple[Path, bool]]) -> bool:
    """Not when it is hidden already with what lies above, and not where nothing is seen at that place."""
    for above in path.parents:  # the nearest first
        if above in shown:
            return (shown[above][0] / path.relative_to(above)).exists()
        if above in covered:
            return False
    return True


def _mounted(
    program: tuple[str, ...],
    spec: ProcessSpec,
    confine: Confinement,
    mode: SandboxMode,
    ground: Ground,
    status_fd: int,
    mark: int,
) -> Launch:
    env = {**spec.env, "HOME": str(inner_home(spec, ground)), "TMPDIR": "/tmp"}  # noqa: S108 - inside, a tmpfs of its own
    env.pop("PWD", None)  # set inside
    checkout, clone = real(confine.checkout), real(confine.clone)
    places = tuple(
        Place(root=clone, relative=dest.relative_to(checkout), source=real(mount.source))
        for mount in confine.mounts
        if (dest := inner(mount.dest, confine)).is_relative_to(checkout) and dest != checkout and mount.source.exists()
    )
    argv = [*program, *recipe(spec, confine, mode, ground, status_fd), *spec.argv]
    return Launch(argv=limited(argv, spec.memory_bytes, mark), env=env, cwd="/", places=places, namespace=True)
