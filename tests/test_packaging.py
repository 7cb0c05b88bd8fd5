"""What is shipped works: an sdist, the wheel made from it, installed into a clean virtual environment, runs the demo.

Offline: built with the tools that are here; the dependencies are those of the environment that runs the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.xdist_group("packaging")  # one build for both tests
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"


def build(source: Path, kind: str, into: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(into)], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return into / done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    pytest.importorskip("setuptools")
    place = tmp_path_factory.mktemp("shipped")
    source, out = place / "source", place / "out"
    out.mkdir()
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, tracked.stdout.decode().split("\0")):
        if name.startswith(("tests/", "screenshots/")) or not (ROOT / name).is_file():
            continue
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name)
    sdist = build(source, "sdist", out)
    with tarfile.open(sdist) as archive:
        archive.extractall(place / "unpacked", filter="data")
    [unpacked] = (place / "unpacked").iterdir()
    return sdist, build(unpacked, "wheel", out)


def test_the_wheel_holds_everything_and_nothing_else(shipped: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(shipped[1]) as wheel:
        names = set(wheel.namelist())
    for folder in ("engine", "tui", "themes"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                assert path.relative_to(ROOT).as_posix() in names
    assert not {name for name in names if name.startswith(("tests/", "docs/", "screenshots/", "bin/"))}
    assert {"engine/py.typed", "tui/py.typed", "themes/py.typed"} <= names


@pytest.fixture(scope="module")
def installed(shipped: tuple[Path, Path]) -> Iterator[Path]:
    """The bin folder of a clean environment, in a path with a space in it. Not below /dev, where a suite in memory has
    its files: a sandbox has a /dev of its own, and could not start this environment's interpreter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        yield _installed(shipped[1], Path(place) / "an environment")


def _installed(wheel: Path, root: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True)
    python = root / "bin" / "python"
    [packages] = root.glob("lib/python3*/site-packages")
    dependencies = Path(sysconfig.get_path("purelib"))
    if dependencies.is_relative_to(Path(tempfile.gettempdir()).resolve()):
        pytest.skip("the checkout lies in the temporary folder: a sandbox hides what this environment borrows from it")
    (packages / "dependencies.pth").write_text(f"{dependencies}\n")
    if uv := shutil.which("uv"):
        command = [uv, "pip", "install", "-q", "--offline", "--no-deps", "--python", str(python), str(wheel)]
    else:
        command = [
            sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-index", "--no-deps",
            str(wheel),
        ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return root / "bin"


def test_a_clean_environment_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    """Up to its first judged checks: real git, pytest and ruff, from the installed files alone."""
    home = tmp_path / "home"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    where = subprocess.run(
        [installed / "python", "-I", "-c", "import engine, tui, themes; print(engine.__file__)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(installed.parent), "not the checkout's files"
    version = subprocess.run(
        [installed / "devteam", "--version"], env=env, capture_output=True, text=True, cwd=tmp_path
    )
    assert version.stdout.startswith("devteam "), version.stderr
    process = subprocess.Popen(
        [installed / "devteam", "demo", "--json", "--speed", "50", "--dir", str(tmp_path / "demo")],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    try:
        heard = []
        for line in process.stdout:
            heard.append(line)
            if '"checks_finished"' in line:
                break
        assert '"checks_finished"' in heard[-1], "".join(heard[-5:])
        assert '"error"' not in heard[-1].lower(), heard[-1]
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()
