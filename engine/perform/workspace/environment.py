"""The user's ignored environment: what is bound read-only beneath the clone, what is copied, what init proposes."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlparse

from engine.core.model import Struct
from engine.globs import matcher
from engine.perform.process.spawning import Mount
from engine.perform.workspace.git import nul_split
from engine.perform.workspace.names import shown
from engine.perform.workspace.repository import Repository

FOLDERS = frozenset((".venv", "venv", "env", "node_modules", "target", "vendor", ".bundle", "__pypackages__", ".yarn",
                     "bower_components", "deps", "Pods", ".eggs"))  # fmt: skip
"""Ignored folders that hold dependencies."""
_INPUTS = matcher((".env", ".env.*", "*.local", "config/*.local.*", "local_settings.py", "*.sqlite3", "secrets.*"))
_SETUP = (
    ("uv.lock", "uv sync --frozen"), ("poetry.lock", "poetry install"), ("requirements.txt", "python -m venv .venv && "
     ".venv/bin/pip install -r requirements.txt"), ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --immutable"), ("package-lock.json", "npm ci"), ("go.mod", "go mod download"),
    ("Cargo.toml", "cargo fetch"), ("Gemfile.lock", "bundle install"),
)  # fmt: skip
_COMMON_IN = ("site-packages", "dist-packages")


class Proposal(Struct, frozen=True, kw_only=True):
    """What `devteam init` may write into the configuration."""

    mounts: tuple[Mount, ...] = ()
    copy: tuple[str, ...] = ()
    """Ignored inputs found, for workspace.copy: to be confirmed one by one, they may hold secrets."""
    setup: str = ""
    """A command that makes the environment, for workspace.setup; empty when one is there."""


def find(repo: Repository, home: Path | None = None) -> tuple[Mount, ...]:
    """Every ignored dependency folder of the checkout, and the other checkouts installed into it in editable mode."""
    found: dict[Path, Mount] = {}
    for relative in ignored(repo):
        bare = relative.rstrip(b"/")
        name = os.fsdecode(bare.rpartition(b"/")[2])
        path = repo.checkout / os.fsdecode(bare)
        if name not in FOLDERS and not (path / "pyvenv.cfg").is_file():
            continue
        if path.is_symlink() or not path.is_dir():
            target = Path(os.path.realpath(path))
            if target.is_dir():
                found[path] = Mount(source=target, dest=path)
            continue
        found[path] = Mount(source=path, dest=path)
        if (path / "pyvenv.cfg").is_file():
            for other in (*editable(path, repo.checkout, home or Path.home()), *interpreter(path, home or Path.home())):
                found.setdefault(other, Mount(source=other, dest=other))
    return tuple(found.values())


def ignored(repo: Repository) -> list[bytes]:
    """Ignored paths of the checkout, whole folders as one; environments that nobody thought of ignoring among them."""
    listing = ("ls-files", "-z", "--others", "--directory", "--no-empty-directory")
    out = repo.git().run(*listing, "--ignored", "--exclude-standard", "--")
    return [*nul_split(out), *unignored(repo)]


def unignored(repo: Repository) -> list[bytes]:
    """Folders of dependencies that no rule of the user's ignores: never part of a tree, so they are carried."""
    listing = ("ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "--")
    found = []
    for path in nul_split(repo.git().run(*listing)):
        if not path.endswith(b"/"):
            continue
        name = path.rstrip(b"/").rpartition(b"/")[2]
        if name in (b".venv", b"node_modules") or is_environment(repo.checkout / os.fsdecode(path)):
            found.append(path)
    return found


def is_environment(folder: Path) -> bool:
    """A virtual environment, whatever it is called."""
    return (folder / "pyvenv.cfg").is_file()


def editable(venv: Path, checkout: Path, home: Path) -> tuple[Path, ...]:
    """Folders outside the checkout that this virtual environment imports code from, below HOME."""
    found: dict[Path, None] = {}
    roots = [path for name in _COMMON_IN for path in venv.glob(f"lib*/python*/{name}")]
    for root in roots:
        for path in _named_in(root):
            real = Path(os.path.realpath(path))
            outside = checkout not in (real, *real.parents)
            if outside and home in real.parents and real.is_dir() and venv not in real.parents:
                found[real] = None
    return tuple(found)


def _named_in(site: Path) -> Iterable[Path]:
    for file in (*site.glob("*.pth"), *site.glob("__editable__*")):
        for text in _lines(file):
            if text.startswith("/"):
                yield Path(text)
            else:
                yield from (Path(match) for match in re.findall(r"""['"](/[^'"\n]+)['"]""", text))
    for file in site.glob("*.dist-info/direct_url.json"):
        try:
            told = json.loads(file.read_bytes()[:100_000])
        except (OSError, ValueError):
            continue
        url = told.get("url", "") if isinstance(told, dict) else ""
        editable_install = (
            isinstance(told, dict) and isinstance(told.get("dir_info"), dict) and told["dir_info"].get("editable")
        )
        if editable_install and isinstance(url, str) and url.startswith("file://"):
            yield Path(unquote(urlparse(url).path))


def _lines(file: Path) -> list[str]:
    try:
        return [line.strip() for line in file.read_bytes()[:200_000].decode("utf-8", "replace").splitlines()]
    except OSError:
        return []


def interpreter(venv: Path, home: Path) -> tuple[Path, ...]:
    """The interpreter's own folder when it lies below HOME (uv, pyenv): hidden in the sandbox otherwise."""
    python = Path(os.path.realpath(venv / "bin" / "python"))
    root = python.parent.parent
    return (root,) if home in root.parents and python.is_file() and venv not in root.parents else ()


def make_mount_points(mounts: Iterable[Mount], checkout: Path, clone: Path) -> None:
    """Empty folders in the clone where the user's are bound; a link in the way is left alone and nothing is bound."""
    for mount in mounts:
        try:
            relative = mount.dest.relative_to(checkout)
        except ValueError:
            continue
        here = clone
        for part in relative.parts:
            here = here / part
            try:
                if not stat.S_ISDIR(here.lstat().st_mode):
                    break
            except FileNotFoundError:
                here.mkdir(mode=0o755)


def copy_inputs(checkout: Path, clone: Path, copy: Iterable[str]) -> tuple[str, ...]:
    """Copy the configured inputs (paths or globs relative to the checkout) into the clone, where they differ."""
    done = []
    for pattern in copy:
        for source in sorted(checkout.glob(pattern.lstrip("/"))):
            relative = source.relative_to(checkout)
            if ".git" in relative.parts or source.is_symlink() or not source.is_file():
                continue
            target = clone / relative
            if _clear(clone, relative) and not _same(source, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                temporary = target.with_name(f".{target.name}.devteam-copy")
                shutil.copyfile(source, temporary, follow_symlinks=False)
                shutil.copystat(source, temporary)
                temporary.replace(target)
            done.append(shown(os.fsencode(relative)))
    return tuple(done)


def _clear(clone: Path, relative: Path) -> bool:
    """No link on the way: a copy never leaves the clone."""
    here = clone
    for part in relative.parts[:-1]:
        here = here / part
        if here.is_symlink() or (here.exists() and not here.is_dir()):
            return False
    return not (clone / relative).is_dir() or (clone / relative).is_symlink()


def _same(source: Path, target: Path) -> bool:
    try:
        here, there = source.stat(), target.lstat()
    except OSError:
        return False
    return stat.S_ISREG(there.st_mode) and (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns)


def map_path(text: str, clone: Path, checkout: Path) -> str:
    """Output in which the clone's paths stand as the user's."""
    return re.sub(re.escape(str(clone)) + r"(?=[/\s:'\"),;\]]|$)", lambda _: str(checkout), text)


def propose(repo: Repository, home: Path | None = None) -> Proposal:
    """What init may suggest for this checkout."""
    mounts = find(repo, home)
    inputs = [shown(path) for path in ignored(repo) if not path.endswith(b"/") and _INPUTS(path)]
    setup = "" if mounts else next((command for name, command in _SETUP if (repo.checkout / name).is_file()), "")
    return Proposal(mounts=mounts, copy=tuple(inputs), setup=setup)
