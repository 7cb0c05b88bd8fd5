"""From a ProcessSpec to the command that is really started: bubblewrap, Landlock, or only a private place to work.

bubblewrap: the clone is mounted at the path of the checkout, HOME and sockets are hidden, programs under HOME are put
back read-only. The other modes cannot mount: the clone stays where it is, and paths of the checkout in argv,
environment and working directory are rewritten to it. The caller sees `mode` and knows.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.core.model import Struct
from engine.perform import landlock_exec
from engine.perform.contract import Confinement, ProcessSpec
from engine.perform.placement import Place
from engine.perform.view import PASSING, Ground, hidden, inner, inner_home, programs, real, under

KERNEL = ("/proc/sys", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr")
OPEN_FILES = 65_536
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")


class SandboxMode(Struct, frozen=True, kw_only=True):
    """What protects the machine from agents and checks."""

    name: str
    """bwrap, landlock or none."""
    detail: str = ""
    """Why this one, in words for the screen."""
    lost: tuple[str, ...] = ()
    """What this mode cannot stop."""
    flags: tuple[str, ...] = ("--disable-userns",)
    """Flags of bubblewrap beyond the oldest version, as far as this one knows them."""


class Launch(Struct, frozen=True, kw_only=True):
    """The command as it is given to the kernel."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    places: tuple[Place, ...] = ()
    namespace: bool = False
    """The child is bubblewrap: its first grandchild is the program."""


class CannotStartError(Exception):
    """The process cannot be started; the words go to the user."""


def plan(spec: ProcessSpec, mode: SandboxMode, ground: Ground, status_fd: int) -> Launch:
    """How to start it under this mode."""
    if not spec.argv:
        raise CannotStartError("an empty command was given")
    if spec.confine is None:
        return _bare(spec, spec.argv, dict(spec.env), spec.cwd, ())
    match mode.name:
        case "bwrap":
            return _bubblewrap(spec, spec.confine, mode, ground, status_fd)
        case "landlock":
            return _landlock(spec, spec.confine, ground)
        case _:
            argv, env, cwd, places = _moved(spec, spec.confine, ground)
            return _bare(spec, argv, env, cwd, places)


def bwrap_argv(
    spec: ProcessSpec, confine: Confinement, mode: SandboxMode, ground: Ground, status_fd: int | None = None
) -> list[str]:
    """The command up to and with `--`. Later mounts cover earlier ones: by depth, hiding before putting back."""
    home = inner_home(spec, ground)
    argv = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    # Started by root it would keep every capability and could remount the root writable.
    argv += [*mode.flags, "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    if not confine.network:
        argv.append("--unshare-net")
    if status_fd is not None:
        argv += ["--json-status-fd", str(status_fd)]
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if os.geteuid() == 0:
        # Root owns the kernel's settings even without capabilities: core_pattern alone would run a program on the host.
        argv += [word for path in KERNEL for word in ("--ro-bind-try", path, path)]

    shown = _shown(spec, confine, ground, home)
    covered = [*hidden(confine, ground), *PASSING]
    steps: dict[tuple[int, int, Path], list[str]] = {}
    for path in covered:
        if _needs_hiding(path, covered, shown):
            cover = ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
            steps[len(path.parts), 0, path] = cover
    for dest, (source, writable) in shown.items():
        steps[len(dest.parts), 1, dest] = ["--bind" if writable else "--ro-bind", str(source), str(dest)]
    for key in sorted(steps):
        argv += steps[key]
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


def _bubblewrap(spec: ProcessSpec, confine: Confinement, mode: SandboxMode, ground: Ground, status_fd: int) -> Launch:
    env = {**spec.env, "HOME": str(inner_home(spec, ground)), "TMPDIR": "/tmp"}  # noqa: S108 - inside, a tmpfs of its own
    env.pop("PWD", None)  # bubblewrap sets it
    checkout, clone = real(confine.checkout), real(confine.clone)
    places = tuple(
        Place(root=clone, relative=dest.relative_to(checkout), source=real(mount.source))
        for mount in confine.mounts
        if (dest := inner(mount.dest, confine)).is_relative_to(checkout) and dest != checkout and mount.source.exists()
    )
    argv = [*bwrap_argv(spec, confine, mode, ground, status_fd), *spec.argv]
    return Launch(argv=_limited(argv, spec.memory_bytes), env=env, cwd="/", places=places, namespace=True)


def _landlock(spec: ProcessSpec, confine: Confinement, ground: Ground) -> Launch:
    argv, env, cwd, places = _moved(spec, confine, ground)
    _must_exist(argv, env, cwd, places)
    write = [env["HOME"], env["TMPDIR"], *(f"/dev/{name}" for name in DEVICES)]
    read = [
        str(real(mount.source)) for mount in (*confine.mounts, *programs(spec, confine, ground)) if not mount.writable
    ]
    (write if confine.writable else read).append(str(real(confine.clone)))
    write += [str(real(mount.source)) for mount in confine.mounts if mount.writable]
    rules = [f"w{path}" for path in write]
    # Of /dev only the harmless ones: root could read everything from the disk's own device.
    rules += [
        f"r{path}"
        for path in (*read, *_visible(Path("/"), [*hidden(confine, ground), real(confine.checkout), Path("/dev")]))
    ]
    rules += ["d", f"n{_open_files()}", *([f"m{spec.memory_bytes}"] if spec.memory_bytes else [])]
    wrapper = (sys.executable, "-I", "-S", landlock_exec.__file__, *rules, "--")
    return Launch(argv=(*wrapper, *argv), env=env, cwd=str(cwd), places=places)


def _visible(folder: Path, covered: list[Path]) -> list[Path]:
    """The largest folders that hold nothing of what shall be hidden."""
    if folder in covered:
        return []
    if not any(under(path, folder) for path in covered):
        return [folder]
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for entry in entries if not entry.is_symlink() for path in _visible(entry, covered)]


def _moved(
    spec: ProcessSpec, confine: Confinement, ground: Ground
) -> tuple[tuple[str, ...], dict[str, str], Path, tuple[Place, ...]]:
    """The command with the clone's path for the checkout's, private HOME and TMPDIR, and links for the mounts."""
    checkout, clone = real(confine.checkout), real(confine.clone)
    home = real(confine.home) if confine.home else ground.scratch / "home"
    tmp = home / ".tmp" if confine.home else ground.scratch / "tmp"
    for folder in (home, tmp):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    outer_home = inner_home(spec, ground)
    places: list[Place] = []
    moves = [(confine.checkout, clone), (checkout, clone)]
    for mount in confine.mounts:
        dest, source = inner(mount.dest, confine), real(mount.source)
        if not source.exists():
            continue
        for top, root in ((checkout, clone), (home, home), (outer_home, home)):
            if under(dest, top) and dest != top:
                relative = dest.relative_to(top)
                places += [Place(root=root, relative=relative, source=source)] if root / relative != source else []
                break
        else:
            moves.append((dest, source))
    move = _mover(moves)
    env = {name: move(value) for name, value in spec.env.items()}
    cwd = Path(move(str(real(spec.cwd))))
    env |= {"HOME": str(home), "TMPDIR": str(tmp), "CLAUDE_CODE_TMPDIR": str(tmp), "PWD": str(cwd)}
    return tuple(map(move, spec.argv)), env, cwd, tuple(places)


def _mover(moves: list[tuple[Path, Path]]) -> Callable[[str], str]:
    """Rewrites whole paths only: /src/app is not touched by a rule for /src/ap, nor is /x/src/app."""
    table = {str(old): str(new) for old, new in moves if old != new}
    if not table:
        return lambda text: text
    names = "|".join(re.escape(old) for old in sorted(table, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w./~-])(?:{names})(?![\w.-])")
    return lambda text: pattern.sub(lambda found: table[found[0]], text)


def _bare(
    spec: ProcessSpec, argv: tuple[str, ...], env: dict[str, str], cwd: Path, places: tuple[Place, ...]
) -> Launch:
    _must_exist(argv, env, cwd, places)
    lifeline = shutil.which("setpriv")
    # Only the direct child ends with the engine this way; the rest is found again by its run id.
    prefix = (lifeline, "--pdeathsig", "KILL", "--") if lifeline else ()
    return Launch(argv=(*prefix, *_limited(list(argv), spec.memory_bytes)), env=env, cwd=str(cwd), places=places)


def _limited(argv: list[str], memory_bytes: int) -> tuple[str, ...]:
    """Limits set by a shell that then becomes the program: no code between fork and exec, no moment without limits."""
    script = f"ulimit -c 0; ulimit -n {_open_files()}; "
    if memory_bytes:
        script += f"ulimit -v {max(1, memory_bytes // 1024)} || exit 126; "
    return ("/bin/sh", "-c", script + 'exec "$@"', "sh", *argv)


def _open_files() -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)


def _must_exist(argv: tuple[str, ...], env: Mapping[str, str], cwd: Path, places: tuple[Place, ...]) -> None:
    """Without a sandbox what we see is what the child sees: say it now and in our words."""
    if not cwd.is_dir():
        raise CannotStartError(f"{cwd}: no such folder to start {argv[0]} in")
    path = env.get("PATH", os.defpath)
    name = str(cwd / argv[0]) if "/" in argv[0] else argv[0]
    for place in places:  # links that are not made yet
        if under(Path(name), place.root / place.relative):
            name = str(place.source / Path(name).relative_to(place.root / place.relative))
    if shutil.which(name, path=path) is None:
        raise CannotStartError(f"{argv[0]}: no such program (PATH is {path})")
