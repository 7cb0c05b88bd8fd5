"""The commands people wait for bring nothing heavy with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.ground import Ground, Told
from tests.cli.shared import finished as finished

HEAVY = ("textual", "git", "rich", "pydantic", "asyncio", "engine.plans.word_patterns")
PROBE = """
import sys
sys.argv = ["devteam", *sys.argv[1:]]
from tui.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
found = sorted(set(sys.modules) & set(HEAVY))
sys.exit(f"imported: {found}" if found else 0)
"""


@pytest.mark.parametrize("words", [["--help"], ["status"], ["status", "--json"]], ids=" ".join)
def test_nothing_heavy_is_imported(finished: tuple[Ground, Told, str], tmp_path: Path, words: list[str]) -> None:
    ground, _, _ = finished
    probe = tmp_path / "probe.py"
    probe.write_text(f"HEAVY = {HEAVY!r}\n{PROBE}")
    done = subprocess.run(
        [sys.executable, str(probe), *words],
        cwd=ground.folder,
        env=ground.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
