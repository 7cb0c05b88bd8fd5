"""node:test by the engine's own driver: ids, outcomes, files alone, canaries, and the ways to end too early."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.perform.checks.run.node_files import expanded, is_test, node_options, own_words
from engine.perform.checks.run.node_runner import NodeRunner
from tests.checks.runners.drive import drive, fill, outcomes, spec_of

RUNNER = NodeRunner()
SPEC = spec_of(RUNNER, ("node", "--test"))
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

HEAD = "const test = require('node:test');\nconst { describe, it } = test;\nconst assert = require('node:assert');\n"
CART = "exports.add = (a, b) => a + b;\n"
A = (
    HEAD
    + "const { add } = require('../cart');\n"
    + "test('adds', () => { assert.strictEqual(add(1, 2), 3); });\n"
    + "describe('group', () => {\n  it('one', () => {});\n  it('two', () => { assert.equal(add(1, 1), 5); });\n"
    + "  it.skip('three', () => {});\n  it.todo('four');\n});\n"
    + "test('outer', async (t) => { await t.test('inner', () => { assert.ok(true); }); });\n"
)


@needs_node
def test_ids_and_outcomes(tmp_path: Path) -> None:
    room = fill(
        tmp_path / "room",
        {
            "cart.js": CART,
            "test/a.test.js": A,
            "test/esm.mjs": "import test from 'node:test';\nimport { equal } from 'node:assert/strict';\n"
            "test('esm', () => { equal(1, 1); });\n",
            "test/plain.js": "require('assert').ok(true);\n",
            "node_modules/x/test/y.test.js": "throw 1;\n",
        },
    )
    code, report = drive(RUNNER, SPEC, room)
    assert outcomes(report) == {
        "test/a.test.js::adds": "passed",
        "test/a.test.js::group > one": "passed",
        "test/a.test.js::group > two": "failed",
        "test/a.test.js::group > three": "skipped",
        "test/a.test.js::group > four": "skipped",
        "test/a.test.js::outer > inner": "passed",
        "test/a.test.js::outer": "passed",
        "test/esm.mjs::esm": "passed",
        "test/plain.js": "passed",
    }
    two = next(case for case in report.cases if case.id.endswith("two"))
    assert (two.error, two.path, two.place) == ("AssertionError", "test/a.test.js", "8:assert ")
    reached = {case.id.partition("::")[2]: case.reached for case in report.cases if case.reached}
    assert reached == {"adds": ("5:strictEqual",), "esm": ("3:equal",)}
    assert code == 1 and report.complete and not report.problems and report.version.startswith("node v")
    assert report.canaries is not None and report.canaries.planted == report.canaries.failed > 30


@needs_node
def test_one_file_alone(tmp_path: Path) -> None:
    room = fill(
        tmp_path / "room", {"cart.js": CART, "test/a.test.js": A, "test/b.test.js": HEAD + "test('b', () => {});\n"}
    )
    code, report = drive(RUNNER, SPEC, room, files=("test/b.test.js",))
    assert (code, outcomes(report)) == (0, {"test/b.test.js::b": "passed"})


BROKEN = {
    "equal": "require('node:assert').equal = () => {};",
    "strictEqual": "require('assert').strictEqual = () => {};",
    "strict": "require('assert').strict.equal = () => {};",
    "deepStrictEqual": "const a = require('assert'); a.deepStrictEqual = function () {};",
    "throws": "require('assert').throws = () => {};",
    "ok": "require('assert').ok = () => {};",
    "match": "require('assert').match = () => {};",
    "includes": "Array.prototype.includes = () => true;",
    "sort": "Array.prototype.sort = function () { return this; };",
    "every": "Array.prototype.every = () => true;",
    "stringify": "const s = JSON.stringify; JSON.stringify = () => 'x';",
    "lower": "String.prototype.toLowerCase = () => 'x';",
    "isnan": "Number.isNaN = () => false;",
    "listeners removed": "process.removeAllListeners('exit');",
    "killed": "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 30); setTimeout(() => {}, 500);",
}


@needs_node
@pytest.mark.parametrize("name", BROKEN)
def test_a_canary_sees_a_changed_judge(name: str, tmp_path: Path) -> None:
    source = BROKEN[name] + "\n" + CART
    test = HEAD + "const { add } = require('../cart');\ntest('adds', async () => { await null; });\n"
    room = fill(tmp_path / "room", {"cart.js": source, "test/a.test.js": test})
    _, report = drive(RUNNER, SPEC, room)
    birds = report.canaries
    assert birds is not None
    bad = any(case.outcome == "error" for case in report.cases)
    assert birds.passed or birds.planted != birds.failed or bad


ENDS = {
    "exit 0 while loading": ("process.exit(0);\n", "throw"),
    "exit 0 in a call": ("exports.add = () => process.exit(0);\n", ""),
    "reallyExit": ("exports.add = () => process.reallyExit(0);\n", ""),
    "abort": ("exports.add = () => process.abort();\n", ""),
    "cannot be loaded": ("throw new TypeError('no');\n", ""),
    "syntax": ("exports.add = (;\n", ""),
}


@needs_node
@pytest.mark.parametrize("name", ENDS)
def test_a_file_that_ends_before_its_tests_do_is_no_pass(name: str, tmp_path: Path) -> None:
    test = HEAD + "const { add } = require('../cart');\ntest('adds', () => { assert.strictEqual(add(1, 2), 3); });\n"
    room = fill(tmp_path / "room", {"cart.js": ENDS[name][0], "test/a.test.js": test})
    _, report = drive(RUNNER, SPEC, room)
    birds = report.canaries
    silent = birds is not None and birds.planted != birds.failed
    assert silent or any(case.outcome in ("error", "failed") for case in report.cases), outcomes(report)


@needs_node
def test_a_plain_script_ends_itself_or_is_no_pass(tmp_path: Path) -> None:
    room = fill(
        tmp_path / "room",
        {
            "a.js": "process.exit(0);\n",
            "b.js": "exports.x = 1;\n",
            "test/one.js": "require('../a'); throw new Error('never');\n",
            "test/two.js": "require('assert').ok(require('../b').x); process.exit(0);\n",
        },
    )
    _, report = drive(RUNNER, SPEC, room)
    assert outcomes(report) == {"test/one.js": "error", "test/two.js": "passed"}


@needs_node
def test_a_meddled_account_is_not_believed(tmp_path: Path) -> None:
    from engine.perform.checks.run.node_runner import read_account

    account = tmp_path / "account"
    account.write_bytes(b"0" * 64 + b'\n{"results": []}')
    assert read_account(account, b"k", True).problems
    assert not read_account(tmp_path / "nothing", b"k", True).complete


def test_the_command_is_taken_apart() -> None:
    line = 'PATH="$PWD/node_modules/.bin:$PATH"; exec node --test-reporter=junit --test-reporter-destination=x '
    line += "--test t/*.js"
    assert own_words(("sh", "-c", line)) == [
        "node",
        "--test-reporter=junit",
        "--test-reporter-destination=x",
        "--test",
        "t/*.js",
    ]
    assert own_words(("sh", "-c", "npm run build && node --test")) is None
    assert node_options(["--import", "tsx", "--test", "--test-reporter", "spec", "test/"]) == (
        ["--import", "tsx"],
        ["test/"],
    )
    assert expanded("test/**/*.{test,spec}.?(c|m)js")[0] == "test/**/*.test.cjs"
    assert is_test("test/x.js") and is_test("src/a.test.mjs") and is_test("a_test.cjs") and not is_test("src/a.js")


@needs_node
def test_an_assertion_that_is_not_reached_any_more_is_missed(tmp_path: Path) -> None:
    text = (
        HEAD + "const { items } = require('../cart');\n"
        "test('each', () => {\n  for (const item of items()) assert.equal(item, 1);\n  assert.ok(true);\n});\n"
        "for (const n of [1, 2]) test(`made ${n}`, () => { assert.equal(n, n); });\n"
    )
    seen = []
    for number, items in enumerate(("[1, 1]", "[]")):
        files = {"cart.js": f"exports.items = () => {items};\n", "test/a.test.js": text}
        _, report = drive(RUNNER, SPEC, fill(tmp_path / f"room{number}", files))
        seen.append({case.id.partition("::")[2]: case.reached for case in report.cases})
    assert seen[0]["each"] == ("6:equal", "7:ok") and seen[1]["each"] == ("7:ok",)
    assert seen[0]["made 1"] == ()  # two tests of one line cannot be told apart


@needs_node
def test_a_loader_with_a_thread_of_its_own_finds_what_it_asks_for(tmp_path: Path) -> None:
    """tsx and its kin register hooks: their thread loads every --require of the command line again."""
    case = "import test from 'node:test';\nimport { ok } from 'node:assert';\ntest('a', () => ok(1));\n"
    files = {
        "hooks.mjs": "import { register } from 'node:module';\nregister('data:text/javascript,export const x = 1;');\n",
        "a.test.mjs": case,
    }
    spec = spec_of(RUNNER, ("node", "--import", "./hooks.mjs", "--test"))
    _, report = drive(RUNNER, spec, fill(tmp_path / "room", files))
    assert outcomes(report) == {"a.test.mjs::a": "passed"}, report.cases
    assert report.canaries is not None and report.canaries.failed == report.canaries.planted > 1
