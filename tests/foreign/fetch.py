"""Real projects by name and version, fetched by their ordinary clients and kept in a cache; nothing of them is in here."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

CACHE = Path(os.environ.get("DEVTEAM_FOREIGN_CACHE") or Path.home() / ".cache" / "devteam-foreign")


class Unreachable(Exception):
    """The registry or a tool is not there: the project cannot be tried here."""


def unpacked(kind: str, what: str, dest: Path) -> Path:
    """`dest` with the files of pip:NAME==VERSION, npm:NAME@VERSION or deb:PACKAGE."""
    match kind:
        case "pip":
            _extract(_sdist(what), dest)
        case "npm":
            _extract(_tarball(what), dest)
        case "deb":
            _debian(what, dest)
        case _:
            raise ValueError(kind)
    return dest


def _sdist(what: str) -> Path:
    folder = CACHE / "sdist"
    name, _, version = what.replace("-", "_").lower().partition("==")
    name = name.replace(".", "_")
    if not (found := _cached(folder, f"{name}-{version}")):
        own = ["pip"] if shutil.which("pip") else [sys.executable, "-m", "pip"]
        # only itself from source: what builds it may come as it is
        argv = [*own, "download", "-q", "--no-deps", "--no-binary", what.partition("==")[0], "-d", str(folder), what]
        _run(argv, CACHE)
        found = _cached(folder, f"{name}-{version}")
    return _there(found, what)


def _tarball(what: str) -> Path:
    folder = CACHE / "npm"
    name, _, version = what.rpartition("@")
    name = name.lstrip("@").replace("/", "-")  # as npm calls the file of a scoped package
    if not (found := _cached(folder, f"{name}-{version}")):
        folder.mkdir(parents=True, exist_ok=True)
        _run(["npm", "pack", "-s", what], folder)
        found = _cached(folder, f"{name}-{version}")
    return _there(found, what)


def _cached(folder: Path, start: str) -> Path | None:
    def plain(name: str) -> str:
        return re.sub(r"[-_.]", "_", name).lower()

    found = [path for path in folder.glob("*.t*gz") if plain(path.name).startswith(plain(start))]
    return found[0] if found else None


def _there(found: Path | None, what: str) -> Path:
    if found is None:
        raise Unreachable(f"{what} could not be fetched")
    return found


def _extract(archive: Path, dest: Path) -> None:
    with tarfile.open(archive) as tar:
        names = {name.split("/")[0] for name in tar.getnames()}
        beside = dest.with_name(dest.name + "-unpacked")
        tar.extractall(beside, filter="data")
    (beside / names.pop()).rename(dest)
    shutil.rmtree(beside)


def _debian(what: str, dest: Path) -> None:
    """PACKAGE:PATH: the folder PATH of a Debian package."""
    package, _, path = what.partition(":")
    folder = CACHE / "deb"
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{package}_*.deb")):
        _run(["apt-get", "download", "-q", package], folder)
    found = list(folder.glob(f"{package}_*.deb"))
    if not found:
        raise Unreachable(f"{package} could not be fetched")
    beside = dest.with_name(dest.name + "-unpacked")
    _run(["dpkg", "-x", str(found[0]), str(beside)], folder)
    shutil.copytree(beside / path, dest)
    shutil.rmtree(beside)


def _run(argv: list[str], cwd: Path) -> None:
    cwd.mkdir(parents=True, exist_ok=True)
    if shutil.which(argv[0]) is None:
        raise Unreachable(f"{argv[0]} is not installed")
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise Unreachable(f"{' '.join(argv[:4])}: {(done.stderr or done.stdout).strip()[-300:]}")


def environment(
    folder: Path, *wanted: str, editable: bool = True, name: str = ".venv", version: str = "", extras: str = ""
) -> None:
    """A virtual environment in the project with its own package and pytest."""
    env = {**os.environ, "SETUPTOOLS_SCM_PRETEND_VERSION": version or "1.6.0"}
    own = ["-e", f".[{extras}]" if extras else "."] if editable else []
    if shutil.which("uv"):
        steps = [
            ["uv", "venv", "-q", name],
            ["uv", "pip", "install", "-q", "--python", f"{name}/bin/python", *own, *wanted],
        ]
    else:
        steps = [
            [sys.executable, "-m", "venv", name],
            [f"{name}/bin/python", "-m", "pip", "install", "-q", *own, *wanted],
        ]
    made = (folder / name / "bin" / "python").exists()
    for argv in steps[made:]:
        done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=900)
        if done.returncode:
            raise Unreachable(f"{' '.join(argv)}: {done.stderr.strip()[-400:]}")


def node_modules(folder: Path, *wanted: str) -> None:
    argv = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--no-save",
        "--no-package-lock",
        *wanted,
    ]
    _run(argv, folder)
