"""What tools keep in HOME and need offline: downloaded packages and the like. Shown read-only where HOME is hidden.

A check in a clean room has no network; in the user's checkout the same command reads these. Nothing here holds
credentials: of folders that do, only the other parts are named.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.core.model import Struct


class Cache(Struct, frozen=True, kw_only=True):
    """One place of one tool."""

    default: str
    """Beneath HOME."""
    variable: str = ""
    """Names the place, or the folder above `below`."""
    below: str = ""
    java: bool = False
    """Java asks the system for the account's folder and not HOME, which may be another one."""


CACHES = (
    Cache(default="go/pkg/mod", variable="GOMODCACHE"),
    Cache(default="go/pkg/mod", variable="GOPATH", below="pkg/mod"),
    *(Cache(default=f".cargo/{part}", variable="CARGO_HOME", below=part) for part in ("registry", "git")),
    *(Cache(default=f".cargo/{part}", variable="CARGO_HOME", below=part) for part in ("config.toml", "config")),
    Cache(default=".rustup", variable="RUSTUP_HOME"),
    Cache(default=".m2/repository", java=True),
    Cache(default=".m2/wrapper", java=True),
    Cache(default=".gradle/caches/modules-2", variable="GRADLE_USER_HOME", below="caches/modules-2", java=True),
    Cache(default=".gradle/wrapper/dists", variable="GRADLE_USER_HOME", below="wrapper/dists", java=True),
    Cache(default=".ivy2/cache", java=True),
    Cache(default=".nuget/packages", variable="NUGET_PACKAGES"),
    Cache(default=".cache/ms-playwright", variable="PLAYWRIGHT_BROWSERS_PATH"),
    Cache(default=".cache/puppeteer", variable="PUPPETEER_CACHE_DIR"),
    Cache(default=".cache/Cypress", variable="CYPRESS_CACHE_FOLDER"),
    Cache(default=".cache/deno", variable="DENO_DIR"),
    Cache(default=".cache/huggingface/hub"),
    Cache(default=".cache/torch"),
    Cache(default="nltk_data", variable="NLTK_DATA"),
    Cache(default=".local/lib", variable="PYTHONUSERBASE", below="lib"),
)
SECRETIVE = re.compile(rb"token|password|secret|credential|://[^/\s]*@", re.IGNORECASE)
SMALL = 100_000


def home_caches(home: Path, env: Mapping[str, str] | None = None, account: Path | None = None) -> tuple[Path, ...]:
    """Those that are there, for this HOME and the user's own environment.

    Never a check's or an agent's: what a repository's settings say there would open any folder of HOME to it.
    """
    found = dict.fromkeys(_places(home, os.environ if env is None else env, account or _account()))
    closed = {home, *home.parents}
    return tuple(path for path in found if path not in closed and (path.is_dir() or _harmless(path)))


def _account() -> Path | None:
    """The folder that the system knows for this user."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None


def _places(home: Path, env: Mapping[str, str], account: Path | None) -> Iterator[Path]:
    for cache in CACHES:
        given = env.get(cache.variable, "") if cache.variable else ""
        if given.startswith("/"):
            yield Path(os.path.normpath(Path(given.partition(os.pathsep)[0]) / cache.below))
        else:
            yield home / cache.default
            if cache.java and account is not None:
                yield account / cache.default


def _harmless(path: Path) -> bool:
    """A file of settings without anything that looks like a key."""
    try:
        if not path.is_file() or path.stat().st_size > SMALL:
            return False
        return SECRETIVE.search(path.read_bytes()) is None
    except OSError:
        return False


def stamps(home: Path) -> list[tuple[str, int]]:
    """Changes when something is fetched: the time of each place and of the folders right below it."""
    found = []
    for path in home_caches(home):
        found.append((str(path), path.stat().st_mtime_ns))
        if path.is_dir():
            found += [(entry.path, entry.stat().st_mtime_ns) for entry in os.scandir(path) if entry.is_dir()]
    return sorted(found)
