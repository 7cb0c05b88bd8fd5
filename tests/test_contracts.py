"""The picture in ARCHITECTURE.md holds: wrong arrows turn the build red, each named for what it is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLANTED = {
    "performer → journal": ("engine/perform/shell.py", "from engine.journal import Journal"),
    "checks → git": ("engine/perform/checks/run/execute.py", "from engine.perform.workspace.git import Git"),
    "sandbox → config": ("engine/perform/process/sandbox.py", "from engine.config import Config"),
    "widget → screen": ("tui/kit/meter.py", "from tui.screens.help import HelpScreen"),
    "tui → clock": ("tui/app/feed.py", "from engine.clock import SystemClock"),
    "link → service": ("engine/link/attached.py", "from engine.service.local import Desk"),
}
LINT = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINT), "--no-cache"], cwd=folder, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": "/"},
        capture_output=True, text=True,
    )  # fmt: skip


pytestmark = pytest.mark.xdist_group("contracts")


def copy(folder: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", folder)
    for name in ("engine", "tui", "themes"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def red(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """All of them at once: each is a violation of its own in the report, and one run is a second of CPU."""
    folder = copy(tmp_path_factory.mktemp("red"))
    for name, line in PLANTED.values():
        path = folder / name
        future = "from __future__ import annotations\n"
        path.write_text(path.read_text("utf-8").replace(future, f"{future}{line}\n"), "utf-8")
    return lint(folder)


@pytest.mark.parametrize("what", PLANTED)
def test_a_wrong_arrow_turns_the_build_red(red: subprocess.CompletedProcess[str], what: str) -> None:
    name, line = PLANTED[what]
    assert red.returncode == 1, red.stdout + red.stderr
    module = line.split()[1]
    # That nothing else is wrong is what `make lint` shows, beside these tests.
    assert f"{name.removesuffix('.py').replace('/', '.')} -> {module}" in red.stdout
