"""The `python` that the repositories of the tests find on PATH: a virtual environment with pytest and nothing else.

Whatever `python` the machine has (a pyenv shim is five processes, a global pytest brings its plug-ins), the tests see
this one, and a start of pytest in it costs a quarter.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def _files(package: str) -> set[Path]:
    """What a package has in its site-packages: its modules and its metadata."""
    found = importlib.metadata.distribution(package)
    names = {Path(file).parts[0] for file in found.files or ()} - {"..", "__pycache__"}
    return {Path(str(found.locate_file(name))) for name in names}


def bin_folder(environment: Path = Path(sys.prefix)) -> Path | None:
    """Its folder of programs, made once; None where the environment that runs the tests cannot be written."""
    version = importlib.metadata.version("pytest")
    place = environment / f"lean-{sys.version_info[0]}.{sys.version_info[1]}-pytest-{version}"
    if not place.is_dir():
        try:
            with (environment / "lean.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not place.is_dir():
                    _make(place)
        except OSError:
            return None
    return place / "bin"


def _make(place: Path) -> None:
    new = place.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(new)], check=True)
    [packages] = new.glob("lib/python3*/site-packages")
    for package in PACKAGES:
        for file in _files(package):
            # copies: a sandbox that shows this one need not show the one that runs the tests (a clone in /tmp)
            shutil.copytree(file, packages / file.name) if file.is_dir() else shutil.copy(file, packages / file.name)
    _put_pytest(new, place)
    new.rename(place)


def _put_pytest(new: Path, place: Path) -> None:
    program = new / "bin" / "pytest"
    program.write_text(f'#!/bin/sh\nexec "{place}/bin/python" -m pytest "$@"\n')
    program.chmod(0o755)


def without_us(environment: Path = Path(sys.prefix)) -> str:
    """A Python that has all that this environment has but devteam itself, as every project's own: what we run in it
    must not lean on our modules. The environment's own where a second one cannot be made."""
    place = environment / f"without-us-{sys.version_info[0]}.{sys.version_info[1]}"
    if not (place / "bin" / "python").exists():
        try:
            with (environment / "lean.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not place.is_dir():
                    new = place.with_suffix(".new")
                    shutil.rmtree(new, ignore_errors=True)
                    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(new)], check=True)
                    [packages] = new.glob("lib/python3*/site-packages")
                    # a folder that a .pth names is searched, and the .pth files within it (an editable devteam) are not
                    (packages / "all.pth").write_text(sysconfig.get_path("purelib") + "\n")
                    _put_pytest(new, place)
                    new.rename(place)
        except OSError:
            return sys.executable
    return str(place / "bin" / "python")


def put_on_path() -> None:
    if folder := bin_folder():
        before = os.environ.get("PATH", os.defpath)
        if before.split(os.pathsep)[0] != str(folder):
            os.environ["PATH"] = f"{folder}{os.pathsep}{before}"
