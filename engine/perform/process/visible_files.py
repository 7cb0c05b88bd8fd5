"""What a confined process sees of the machine: what is hidden, which programs are put back, how paths are called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from engine.core.model import Struct
from engine.perform.process.home_caches import home_caches
from engine.perform.process.installs import install_roots, interpreter_roots
from engine.perform.process.spawning import Confinement, Mount, ProcessSpec

_SECRETS = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/krb5.keytab")
_ROOT = Path("/")
LONGEST_PATH = 4096
PASSING = tuple(Path(name) for name in ("/run", "/tmp", "/var/tmp"))  # noqa: S108
"""Places of sockets and temporary files: inside they are empty, but for programs that lie there."""
_SYSTEM = frozenset(Path(name) for name in ("/", "/usr", "/opt", "/var", "/etc", "/tmp", "/var/tmp"))  # noqa: S108


class Ground(Struct, frozen=True, kw_only=True):
    """What the machine gives: the user's real HOME, a folder for temporary files."""

    home: Path
    scratch: Path


def real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def under(path: Path, top: Path) -> bool:
    """Is it there or beneath? As is_relative_to, without taking both apart: asked often for every process."""
    return path == top or str(path).startswith(f"{top}/" if top != _ROOT else "/")


def hidden(confine: Confinement, ground: Ground) -> list[Path]:
    """Folders of the host nobody inside shall see: all homes, what lies beside the checkout, what the caller names."""
    checkout = real(confine.checkout)
    wanted = [Path("/home"), Path("/root"), real(ground.home), *map(real, confine.hide)]
    if checkout.parent not in _SYSTEM:
        wanted.append(checkout.parent)
    # What only root may read is nothing for a program that happens to be started by root.
    wanted += [path for path in map(Path, _SECRETS) if os.access(path, os.R_OK)]
    return [path for path in dict.fromkeys(wanted) if path.exists() and path != _ROOT]


def programs(spec: ProcessSpec, confine: Confinement, ground: Ground) -> tuple[Mount, ...]:
    """Programs in hidden folders which the command, its PATH or its virtual environments need."""
    path = spec.env.get("PATH", os.defpath)
    kept = (real(confine.checkout), real(confine.clone), *map(real, confine.hide), *_some(confine.home))
    folders = (*dict.fromkeys(path.split(os.pathsep)), *(f"{mount.source}/bin" for mount in confine.mounts))
    covered = (*hidden(confine, ground), *PASSING)
    found = _programs(spec.argv[0], path, ground.home, covered, kept, confine.mounts, _stamps(folders))
    found = (*found, *_caches(ground, covered, kept, found))
    return (*found, *_scripts(spec.argv[1:], covered, kept, found))


def caches(confine: Confinement, ground: Ground, shown: tuple[Mount, ...] = ()) -> tuple[Mount, ...]:
    """What tools fetched into HOME, as far as it is hidden and not shown with a program."""
    kept = (real(confine.checkout), real(confine.clone), *map(real, confine.hide), *_some(confine.home))
    return _caches(ground, (*hidden(confine, ground), *PASSING), kept, shown)


def _caches(
    ground: Ground, covered: tuple[Path, ...], kept: tuple[Path, ...], shown: tuple[Mount, ...]
) -> tuple[Mount, ...]:
    return tuple(
        Mount(source=real(path), dest=path)
        for path in home_caches(ground.home)
        if any(under(path, folder) for folder in covered)
        and not any(under(path, mount.dest) for mount in shown)
        and not any(_touch(real(path), keep) for keep in kept)
    )


def _scripts(
    words: Iterable[str], covered: tuple[Path, ...], kept: tuple[Path, ...], found: tuple[Mount, ...]
) -> Iterator[Mount]:
    """Files that the command itself names (`python3 /tmp/agent.py`): that file, and nothing beside it."""
    for word in dict.fromkeys(words):
        if not word.startswith("/") or len(word) > LONGEST_PATH or not os.path.isfile(word):  # noqa: PTH113
            continue
        path = real(Path(word))
        seen = any(under(path, mount.dest) for mount in found) or any(_touch(path, keep) for keep in kept)
        if not seen and any(under(path, folder) for folder in covered):
            yield Mount(source=path, dest=path)
            if path != Path(word):
                yield Mount(source=path, dest=Path(word))


def _some(path: Path | None) -> tuple[Path, ...]:
    return (real(path),) if path else ()


def _stamps(folders: Iterable[str]) -> tuple[int, ...]:
    """Changes with what is installed."""
    stamps = []
    for folder in folders:
        try:
            stamps.append(os.stat(folder).st_mtime_ns)  # noqa: PTH116 - for every process, kept cheap
        except OSError:
            stamps.append(0)
    return tuple(stamps)


def _programs(
    program: str,
    path: str,
    home: Path,
    covered: tuple[Path, ...],
    kept: tuple[Path, ...],
    mounts: tuple[Mount, ...],
    stamp: tuple[int, ...],
) -> tuple[Mount, ...]:
    # Only a virtual environment brings an interpreter along; a folder that is made for this one call is none.
    environments = tuple(mount.source for mount in mounts if os.path.isfile(f"{mount.source}/pyvenv.cfg"))  # noqa: PTH113
    found, bases = _everywhere(program, path, home, covered, environments, stamp)
    if any(_touch(mount.dest, keep) for mount in found for keep in kept):
        # A root beside what is to stay hidden is chosen more narrowly; that depends on the call and is seldom.
        found = install_roots((program,), path=path, home=home, hidden=covered, kept=kept)
    known = {mount.dest for mount in found}
    more = (root for root in bases if root not in known and not any(_touch(root, keep) for keep in kept))
    return (*found, *(Mount(source=root, dest=root) for root in more))


def _touch(one: Path, other: Path) -> bool:
    return under(one, other) or under(other, one)


@lru_cache(maxsize=256)
def _everywhere(
    program: str,
    path: str,
    home: Path,
    covered: tuple[Path, ...],
    environments: tuple[Path, ...],
    _stamp: tuple[int, ...],
) -> tuple[tuple[Mount, ...], tuple[Path, ...]]:
    """What a program needs whatever folders this one call keeps to itself: the same for every task and role."""
    found = install_roots((program,), path=path, home=home, hidden=covered)
    bases = {
        root
        for environment in environments
        for root in interpreter_roots(real(environment), path=path, home=home)
        if any(under(root, folder) for folder in covered)
    }
    return found, tuple(sorted(bases))


def inner_home(spec: ProcessSpec, ground: Ground) -> Path:
    """HOME as the process sees it. Where the user has none, or the whole machine (`HOME=/` in a container), a place
    that can be made: what is bound there covers what lies below."""
    home = real(Path(spec.env.get("HOME") or ground.home))
    return home if home.is_dir() and home != _ROOT else Path("/tmp/home")  # noqa: S108 - inside, a tmpfs of its own


def inner(path: Path, confine: Confinement) -> Path:
    """A path as seen inside: the clone's own path and other spellings of the checkout's are the checkout."""
    for top in (confine.checkout, real(confine.checkout), confine.clone, real(confine.clone)):
        if under(path, top):
            return real(confine.checkout) / path.relative_to(top)
    return real(path.parent) / path.name
