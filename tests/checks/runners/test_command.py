"""A plain command: its exit code, and what a process of node's says about its own end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.perform.checks.run.command_runner import CommandRunner
from engine.perform.checks.run.measure import Canaries, Report
from tests.checks.runners.drive import drive, fill, spec_of

RUNNER = CommandRunner()
RUN = (
    "const assert = require('assert');\nconst { add } = require('../index');\nlet failed = 0;\n"
    "try { assert.equal(add(1, 2), 3); } catch (error) { failed += 1; }\nprocess.exitCode = failed ? 1 : 0;\n"
)
PACKAGE = '{"name": "x", "scripts": {"test": "node test/run.js"}}'
ADD = "exports.add = (a, b) => a + b;\n"
WRONG = "exports.add = (a, b) => a - b;\n"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def run(tmp_path: Path, source: str, command: tuple[str, ...], known: Report | None = None) -> tuple[int, Report]:
    room = fill(tmp_path / "room", {"package.json": PACKAGE, "index.js": source, "test/run.js": RUN})
    return drive(RUNNER, spec_of(RUNNER, command), room, known=known)


COMMANDS = [("node", "test/run.js"), ("sh", "-c", "node test/run.js"), ("npm", "test")]


@needs_node
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_honest_run(command: tuple[str, ...], tmp_path: Path) -> None:
    code, report = run(tmp_path, ADD, command)
    assert code == 0 and report.source == "exit code"
    assert report.canaries is not None and report.canaries.planted == report.canaries.failed > 0
    code, report = run(tmp_path / "red", WRONG, command)
    assert code == 1 and report.canaries is not None and not report.canaries.passed


CHEATS = {
    "the exit code from a handler": "process.on('exit', () => process.reallyExit(0));\n",
    "a patched assertion": "require('assert').equal = () => {};\n",
    "ends while it is loaded": "process.exit(0);\n",
    "ends in a call": "exports.add = () => process.exit(0);\n",
}


@needs_node
@pytest.mark.parametrize("name", CHEATS)
def test_a_changed_end_is_seen(name: str, tmp_path: Path) -> None:
    code, report = run(tmp_path, WRONG + CHEATS[name], ("node", "test/run.js"))
    assert code == 0 and report.canaries is not None and report.canaries.passed


@needs_node
def test_a_process_that_cannot_speak_any_more_is_missed(tmp_path: Path) -> None:
    known = Report(source="exit code", canaries=Canaries(planted=2, failed=2))
    code, report = run(tmp_path, WRONG + "process.reallyExit(0);\n", ("node", "test/run.js"), known)
    assert code == 0 and report.canaries is not None and report.canaries.planted != report.canaries.failed


def test_other_commands_are_left_alone(tmp_path: Path) -> None:
    room = fill(tmp_path / "room", {"check.sh": "exit 3\n"})
    assert drive(RUNNER, spec_of(RUNNER, ("sh", "check.sh")), room) == (3, Report(source="exit code"))
