"""tape, mocha, jest and vitest, as npm installed them; fetch_node_tools.sh fetches them once, nothing else does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.perform.checks.parse.report import parse_bytes
from engine.perform.checks.run.javascript_runners import JestRunner, TapeRunner, VitestRunner
from engine.perform.checks.run.measure import Case, Report
from engine.perform.checks.run.mocha_runner import MochaRunner
from engine.perform.checks.run.runner import TestRunner as Runner
from tests.checks.runners.drive import drive, fill, outcomes, spec_of

TOOLS = Path(os.environ.get("DEVTEAM_NODE_TOOLS", "/tmp/devteam-node-tools"))


def needs(tool: str) -> pytest.MarkDecorator:
    there = (TOOLS / "node_modules" / ".bin" / tool).exists() and shutil.which("node")
    return pytest.mark.skipif(not there, reason=f"{tool} is not in {TOOLS}: tests/checks/runners/fetch_node_tools.sh")


CART = "exports.add = (a, b) => a + b;\n"
TAPE = (
    "const test = require('tape');\nconst { add } = require('../cart');\n"
    "test('adds', (t) => { t.equal(add(1, 2), 3, 'three'); t.end(); });\n"
    "test('red', (t) => { t.equal(add(1, 1), 5, 'five'); t.end(); });\n"
)
MOCHA = (
    "const assert = require('assert');\nconst { add } = require('../cart');\n"
    "describe('cart', () => {\n  it('adds', () => { assert.strictEqual(add(1, 2), 3); });\n"
    "  it('red', () => { assert.strictEqual(add(1, 1), 5); });\n  it.skip('later', () => {});\n});\n"
)
JEST = (
    "const { add } = require('../cart');\n"
    "describe('cart', () => {\n  it('adds', () => { expect(add(1, 2)).toBe(3); });\n"
    "  it('red', () => { expect(add(1, 1)).toBe(5); });\n  it.skip('later', () => {});\n});\n"
)
VITEST = "import { describe, expect, it } from 'vitest';\n" + JEST.replace(
    "const { add } = require('../cart');", "import { add } from '../cart.mjs';"
)


def room_of(tmp_path: Path, files: dict[str, str]) -> Path:
    room = fill(tmp_path / "room", {"package.json": '{"name": "x"}', "cart.js": CART, **files})
    (room / "node_modules").symlink_to(TOOLS / "node_modules")
    return room


RUNNERS: dict[str, tuple[Runner, tuple[str, ...], str, str]] = {
    "tape": (TapeRunner(), ("sh", "-c", 'PATH="$PWD/node_modules/.bin:$PATH"; tape test/*.js'), "test/a.test.js", TAPE),
    "mocha": (MochaRunner(), ("node_modules/.bin/mocha", "test"), "test/a.test.js", MOCHA),
    "jest": (JestRunner(), ("node_modules/.bin/jest",), "test/a.test.js", JEST),
    "vitest": (VitestRunner(), ("node_modules/.bin/vitest", "run"), "test/a.test.mjs", VITEST),
}
CASES = [pytest.param(name, marks=needs(name)) for name in RUNNERS]


@pytest.mark.parametrize("name", CASES)
def test_ids_outcomes_files_alone_and_canaries(name: str, tmp_path: Path) -> None:
    runner, command, path, text = RUNNERS[name]
    esm = {"cart.mjs": CART.replace("exports.", "export const ")} if name == "vitest" else {}
    other = path.replace("a.test", "b.test")
    room = room_of(tmp_path, {path: text, other: text.replace("'red'", "'rot'").replace("5", "2"), **esm})
    spec = spec_of(runner, command, parser="tap" if name == "tape" else "exit")
    _, report = drive(runner, spec, room)
    group = "" if name == "tape" else "cart > "
    expected = {
        f"{path}::{group}adds": "passed",
        f"{path}::{group}red": "failed",
        f"{other}::{group}adds": "passed",
        f"{other}::{group}rot": "passed",
    }
    if name != "tape":
        expected |= {f"{path}::cart > later": "skipped", f"{other}::cart > later": "skipped"}
    assert outcomes(report) == expected, report
    assert not report.problems and report.complete
    assert report.canaries is not None and report.canaries.planted == report.canaries.failed > 0, report.canaries
    code, alone = drive(runner, spec, room, files=(other,))
    assert code == 0 and set(outcomes(alone)) == {id for id in expected if id.startswith(other)}


PATCHES = {
    "tape": "Array.prototype.includes = () => true;\n",
    "mocha": "require('assert').strictEqual = () => {};\n",
    "jest": "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
    "vitest": "import { expect } from 'vitest';\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) });\n",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in PATCHES])
def test_a_canary_sees_a_changed_judge(name: str, tmp_path: Path) -> None:
    runner, command, path, text = RUNNERS[name]
    esm = {"cart.mjs": PATCHES[name] + CART.replace("exports.", "export const ")} if name == "vitest" else {}
    room = room_of(tmp_path, {path: text, "cart.js": PATCHES[name] + CART, **esm})
    _, report = drive(runner, spec_of(runner, command, parser="tap" if name == "tape" else "exit"), room)
    assert report.canaries is not None and report.canaries.passed


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_cannot_be_loaded_or_ends_early_is_no_pass(name: str, tmp_path: Path) -> None:
    runner, command, path, text = RUNNERS[name]
    for broken in ("throw new Error('no');\n", "process.exit(0);\n"):
        esm = {"cart.mjs": broken + CART.replace("exports.", "export const ")} if name == "vitest" else {}
        room = room_of(tmp_path / str(len(broken)), {path: text, "cart.js": broken + CART, **esm})
        spec = spec_of(runner, command, parser="tap" if name == "tape" else "exit")
        _, report = drive(runner, spec, room)
        birds = report.canaries
        silent = birds is not None and birds.planted != birds.failed
        bad = any(case.outcome in ("error", "failed") for case in report.cases)
        assert silent or bad or report.problems or not report.complete, report


@needs("tape")
def test_a_helper_beside_the_tests_of_tape_is_no_test_and_no_error(tmp_path: Path) -> None:
    """It is named by the same pattern; run for itself it ends without a plan, with nothing said."""
    runner, command, path, text = RUNNERS["tape"]
    helper = "exports.three = () => 3;\n"
    cut = "const test = require('tape');\ntest('never', (t) => {});\nthrow new Error('before it began');\n"
    room = room_of(tmp_path, {path: text, "test/_helper.js": helper, "test/cut.js": cut})
    _, report = drive(runner, spec_of(runner, command, parser="tap"), room)
    found = {case.id: (case.outcome, case.text) for case in report.cases}
    assert found["test/_helper.js"] == ("skipped", "no tests in it")
    assert found["test/cut.js"][0] == "error"


@needs("tape")
def test_a_whole_run_of_tape_takes_its_files_from_the_base(tmp_path: Path) -> None:
    runner, command, path, text = RUNNERS["tape"]
    room = room_of(tmp_path, {path: text})
    spec = spec_of(runner, command, parser="tap")
    _, base = drive(runner, spec, room)
    from engine.perform.checks.run.javascript_runners import _placed

    whole = parse_bytes("tap", b"TAP version 13\n# adds\nok 1 three\n# red\nnot ok 2 five\n# new\nok 3 x\n1..3\n")
    assert [case.id for case in _placed(whole, base).cases] == [f"{path}::adds", f"{path}::red", "new"]


TAP = b"""TAP version 14
# Subtest: tests/a.js
    # Subtest: outer
        ok 1 - one
        not ok 2 - two
          ---
          ok 3 - not a test
          ...
        1..2
    not ok 1 - outer # time=3ms
    1..1
not ok 1 - tests/a.js # time=5ms
ok 2 - b \\# not a directive # SKIP later
1..2
"""


def test_nested_tap() -> None:
    assert outcomes(parse_bytes("tap", TAP)) == {
        "tests/a.js > outer > one": "passed",
        "tests/a.js > outer > two": "failed",
        "tests/a.js > outer": "failed",
        "tests/a.js": "failed",
        "b \\# not a directive": "skipped",
    }


def test_tape_by_its_comments() -> None:
    tape = b"TAP version 13\n# adds\nok 1 a\nok 2 a\n# red\nnot ok 3 b\n  ---\n    at: x\n  ...\n"
    tape += b"# SKIP later\n\n1..3\n# tests 3\n"
    report = parse_bytes("tap", tape)
    assert outcomes(report) == {"adds": "passed", "red": "failed", "later": "skipped"}
    assert report.cases[0].reached == ("a", "a (2)")


@pytest.mark.parametrize(
    "tap", [b"TAP version 13\nok 1 - a\n", b"ok 1 - a\n1..2\n", b"# t\nok 1 a\n1..2\n", b"Bail out! no\n"]
)
def test_a_stream_that_was_cut_off_is_not_believed(tap: bytes) -> None:
    report: Report = parse_bytes("tap", tap)
    assert report.problems or not report.complete


def test_a_test_in_which_the_stream_breaks_off_did_not_pass() -> None:
    """tape prints the name before it runs the body: an exception there leaves a name and nothing else."""
    report = parse_bytes("tap", b"TAP version 13\n# adds\nok 1 a\n# throws\n")
    assert outcomes(report) == {"adds": "passed", "throws": "error"}
    assert not report.complete


def test_names_that_come_again_and_names_in_quotes_are_placed() -> None:
    """secure-json-parse: two tests of one name in a file; every addition to it was refused."""
    from engine.perform.checks.run.javascript_runners import _placed

    def report(*ids: str) -> Report:
        return Report(source="tap", counts_tests=True, cases=tuple(Case(id=id, outcome="passed") for id in ids))

    known = report("a.js::twice", "a.js::twice'", "a.js::uses 'x'", "b.js::twice", "b.js::once")
    whole = report("twice", "twice'", "uses 'x'", "twice''", "once", "fresh", "twice'''")
    placed = [case.id for case in _placed(whole, known).cases]
    assert placed == [*(case.id for case in known.cases), "fresh", "twice'''"]
