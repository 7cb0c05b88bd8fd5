"""What `make test` runs: the suite, side by side; then whatever failed there once more, alone.

A test of real processes can lose a race on a crowded machine that has nothing to do with what it shows. Such a test is
named at the end, so that it is mended; a test that also fails alone fails the suite, and so do more than a few.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FEW = 5
"""More failures than this are no accident, and nobody waits for them to be repeated."""
WORKERS = 2 * max(2, os.cpu_count() or 2)
"""Twice as many workers as cores: half of what these tests do is wait for a process, a timer or a disk."""


def run(words: list[str], environment: Mapping[str, str], root: Path = ROOT, workers: int = WORKERS) -> int:
    """The exit code of the tests that `words` select."""
    kept = root / ".pytest_cache" / "v" / "cache" / "lastfailed"
    kept.unlink(missing_ok=True)

    def tests(*more: str) -> int:
        command = [sys.executable, "-m", "pytest", *words, *more]
        return subprocess.run(command, cwd=root, env=environment, check=False).returncode

    code = tests("-n", str(workers), "--dist", "loadgroup")
    failed = sorted(json.loads(kept.read_text())) if kept.is_file() else []
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= FEW:
        return code
    print(f"\n{len(failed)} failed among the others; once more, alone:", *failed, sep="\n  ", flush=True)
    again = tests("-n", "0", "--last-failed", "--last-failed-no-failures", "none")
    if again == pytest.ExitCode.OK:
        print("\nPassed alone, failed among others: a race of the test or of the product, to be mended:", flush=True)
        print(*(f"  {name}" for name in failed), sep="\n", flush=True)
    return again


if __name__ == "__main__":
    sys.exit(run(["-m", "not torture and not real and not foreign", *sys.argv[1:]], os.environ))
