"""Where programs live: the folders that must stay readable when HOME is hidden, found by following executables."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from engine.perform.process.spawning import Mount

_WHOLE = frozenset(
    [
        ".pyenv",
        ".nvm",
        ".rustup",
        ".volta",
        ".asdf",
        ".rbenv",
        ".nodenv",
        ".goenv",
        ".jenv",
        ".sdkman",
        ".bun",
        ".deno",
        ".fnm",
        ".npm-global",
        ".opencode",
        ".dotnet",
        ".nix-profile",
        ".pnpm",
        ".proto",
        ".rye",
        ".pixi",
        ".juliaup",
        ".ghcup",
        "miniconda3",
        "anaconda3",
        "miniforge3",
        "mambaforge",
        "micromamba",
    ]
)
"""Folders of HOME that hold one tool and nothing private."""

_PARTS = {
    ".cargo": (".cargo/bin", ".cargo/registry", ".cargo/git", ".rustup"),
    ".local": (".local/bin", ".local/lib"),
    ".yarn": (".yarn/bin", ".yarn/berry"),
    "go": ("go/bin", "go/pkg"),
}
"""Folders of HOME that hold programs beside credentials: only these parts of them."""

_BINARIES = frozenset({"bin", "sbin", "shims", "Scripts", "condabin"})
_MAX_HOPS = 40


def install_roots(
    argv: Sequence[str],
    extra_executables: Iterable[str] = (),
    *,
    path: str,
    home: Path,
    hidden: Sequence[Path],
    kept: Sequence[Path] = (),
) -> tuple[Mount, ...]:
    """Read-only mounts, each at its own place, that argv[0], the extras and the programs on `path` need.

    Only what lies beneath a `hidden` folder is named, nothing that would uncover a hidden folder as a whole, or that
    lies in or above one of `kept` (the checkout, the private HOME, the state directory).
    """
    home = Path(os.path.realpath(home))
    # No root may uncover what is to stay hidden.
    closed = frozenset(above for path in (*hidden, *kept, home) for above in (path, *path.parents))
    wanted: dict[Path, None] = {}
    for name in (*argv[:1], *extra_executables):
        located = shutil.which(name, path=path)
        if located:
            for place in _trail(Path(located), path):
                wanted.update(dict.fromkeys(_roots(place, home, closed)))
    for folder in dict.fromkeys(path.split(os.pathsep)):
        if folder.startswith("/") and _under(Path(folder), hidden):
            wanted.update(dict.fromkeys(_folder_roots(Path(folder), home, path, closed)))
    found = sorted(
        root
        for root in wanted
        if root not in closed and _under(root, hidden) and not _under(root, kept) and root.exists()
    )
    # A root beneath another one comes with it.
    top = [root for root in found if not any(root != other and root.is_relative_to(other) for other in found)]
    return tuple(Mount(source=root, dest=root) for root in top)


def interpreter_roots(environment: Path, *, path: str, home: Path) -> tuple[Path, ...]:
    """Where the interpreter of a virtual environment lives; empty for any other folder."""
    found: dict[Path, None] = {}
    real_home = Path(os.path.realpath(home))
    for program in ("bin/python", "bin/python3"):
        if (environment / "pyvenv.cfg").is_file() and (environment / program).exists():
            for place in _trail(environment / program, path):
                if not place.is_relative_to(environment):
                    found.update(dict.fromkeys(_roots(place, real_home, frozenset())))
    return tuple(root for root in found if root.exists())


def _under(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _trail(program: Path, path: str) -> tuple[Path, ...]:
    """Each link on the way to the real file, the interpreter of a script, the base of a virtual environment."""
    try:
        found = program.lstat()
    except OSError:
        return (program,)
    return _walked(program, path, found.st_mtime_ns, found.st_ino)


@lru_cache(maxsize=4096)
def _walked(program: Path, path: str, _changed: int, _inode: int) -> tuple[Path, ...]:
    """The trail, walked once as long as its first step is the same file: every process started asks for it."""
    waiting = [program]
    seen: dict[Path, None] = {}
    while waiting and len(seen) < _MAX_HOPS:
        place = Path(os.path.normpath(waiting.pop()))
        if place in seen:
            continue
        seen[place] = None
        real = Path(os.path.realpath(place))
        if place.is_symlink():
            waiting.append(place.parent / place.readlink())
        if real != place:
            waiting.append(real)
        else:
            waiting.extend(_interpreters(place, path))
        base = _base_of(place.parent.parent)
        if base:
            waiting.extend(base / name for name in ("python3", "python") if (base / name).exists())
    return tuple(seen)


def _interpreters(script: Path, path: str) -> Iterator[Path]:
    """Programs that the first line of a script names."""
    try:
        with script.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return
    if not first.startswith(b"#!"):
        return
    words = os.fsdecode(first[2:]).split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if words:
        located = shutil.which(words[0], path=path)
        if located:
            yield Path(located)


def _base_of(environment: Path) -> Path | None:
    """The `home` line of a virtual environment."""
    try:
        text = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            return Path(value.strip())
    return None


def _roots(place: Path, home: Path, closed: frozenset[Path]) -> Iterator[Path]:
    """The folder to show so that this program works."""
    parts = place.relative_to(home).parts if place.is_relative_to(home) else ()
    if len(parts) > 1 and parts[0] in _WHOLE:
        yield home / parts[0]
    elif len(parts) > 2 and parts[:2] == (".local", "share"):
        yield home.joinpath(*parts[:3])
    elif len(parts) > 1 and parts[0] in _PARTS:
        yield from (home / part for part in _PARTS[parts[0]])
    elif "node_modules" in place.parts:
        cut = place.parts.index("node_modules")
        yield Path(*place.parts[: cut + 1])
    elif place.parent.name in _BINARIES and place.parent.parent not in closed:
        yield place.parent.parent
    else:
        yield place.parent if place.parent not in closed else place


def _folder_roots(folder: Path, home: Path, path: str, closed: frozenset[Path]) -> Iterator[Path]:
    """What a folder of PATH needs: itself, and whatever its links lead to."""
    yield from _roots(folder / "any", home, closed)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink():
            for place in _trail(Path(entry.path), path):
                yield from _roots(place, home, closed)
