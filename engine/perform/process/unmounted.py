"""The modes that cannot mount: Landlock, or only a private place to work.

The clone stays where it is, and paths of the checkout in argv, environment and working directory are rewritten to it.
What would be mounted is linked to. The caller sees `mode` and knows.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.perform.process import landlock_exec
from engine.perform.process.launching import CannotStartError, Launch, alone, limited
from engine.perform.process.placement import Place
from engine.perform.process.spawning import Confinement, ProcessSpec
from engine.perform.process.visible_files import (
    PASSING,
    Ground,
    caches,
    hidden,
    inner,
    inner_home,
    programs,
    real,
    under,
)

DEVICES = ("null", "zero", "full", "random", "urandom")
"""No terminal and no shared memory: those are the user's own."""


def landlock(spec: ProcessSpec, confine: Confinement, ground: Ground, mark: int) -> Launch:
    """Landlock and seccomp: what is not named cannot be opened, and what Landlock does not know is refused by call."""
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
    covered = [*hidden(confine, ground), *PASSING, real(confine.checkout), Path("/dev")]
    read.append(str(real(Path("/etc/resolv.conf"))))  # often a link into /run
    rules += [f"r{path}" for path in (*read, *_visible(Path("/"), covered))]
    rules += ["d", *(["i"] if confine.network else [])]
    wrapper = (*alone(landlock_exec.__name__), *rules, "--")
    return Launch(argv=limited((*wrapper, *argv), spec.memory_bytes, mark), env=env, cwd=str(cwd), places=places)


def bare(spec: ProcessSpec, confine: Confinement, ground: Ground, mark: int) -> Launch:
    """Nothing is enforced: only a private place to work."""
    argv, env, cwd, places = _moved(spec, confine, ground)
    return _lifeline(spec, argv, env, cwd, places, mark)


def free(spec: ProcessSpec, mark: int) -> Launch:
    """A process of our own that needs no place."""
    return _lifeline(spec, spec.argv, dict(spec.env), spec.cwd, (), mark)


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
    for mount in (*caches(confine, ground), *confine.mounts):
        dest, source = inner(mount.dest, confine), real(mount.source)
        if not source.exists():
            continue
        for top, root in ((checkout, clone), (home, home), (outer_home, home)):
            if under(dest, top) and dest != top:
                relative = dest.relative_to(top)
                place = Place(root=root, relative=relative, source=source, writable=mount.writable)
                places += [place] if root / relative != source else []
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


def _lifeline(
    spec: ProcessSpec, argv: tuple[str, ...], env: dict[str, str], cwd: Path, places: tuple[Place, ...], mark: int
) -> Launch:
    _must_exist(argv, env, cwd, places)
    lifeline = shutil.which("setpriv")
    # Only the direct child ends with the engine this way; the rest is found again by its mark.
    prefix = (lifeline, "--pdeathsig", "KILL", "--") if lifeline else ()
    return Launch(argv=(*prefix, *limited(argv, spec.memory_bytes, mark)), env=env, cwd=str(cwd), places=places)


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
