"""A test runner of the engine over a folder, with the real tool and nothing around it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from engine.core.model import CheckKind
from engine.perform.checks.run.measure import Report
from engine.perform.checks.run.runner import RunRequest
from engine.perform.checks.run.runner import TestRunner as Runner
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import Finished
from tests.patience import patience

KEY = b"k" * 32


def fill(room: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        place = room / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return room


def spec_of(runner: Runner, command: tuple[str, ...], parser: str = "exit", report: str = "") -> CheckSpec:
    return CheckSpec(
        name=runner.name or "own",
        kind=CheckKind.TESTS,
        command=command,
        runner=runner.name,
        parser=parser,
        report=report,
    )


def drive(
    runner: Runner,
    spec: CheckSpec,
    room: Path,
    files: tuple[str, ...] | None = None,
    known: Report | None = None,
    canaries: bool = True,
) -> tuple[int, Report]:
    """(exit code, report)"""
    reports = room.parent / f"reports-{room.name}-{len(list(room.parent.iterdir()))}"
    reports.mkdir()
    request = RunRequest(
        spec=spec, room=room, checkout=room, reports=reports, key=KEY, files=files, known=known, canaries=canaries
    )
    prepared = runner.prepare(request)
    cache = Path(tempfile.gettempdir()) / f"devteam-test-caches-{os.getuid()}"  # compilers start slowly without one
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(room.parent),
        **{name: value.replace("{cache}", str(cache)) for name, value in spec.env.items()},
        **prepared.env,
    }
    done = subprocess.run(
        prepared.argv, input=prepared.stdin, cwd=room, env=env, capture_output=True, timeout=patience(60), check=False
    )
    finished = Finished(reason="exited", exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)
    return done.returncode, runner.read(request, prepared, finished, done.stdout, 0.0)


def outcomes(report: Report) -> dict[str, str]:
    return {case.id: case.outcome for case in report.cases}
