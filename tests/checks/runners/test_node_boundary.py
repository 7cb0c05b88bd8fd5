"""Tests in JavaScript with the subject in another process: what crosses, what cannot, and who sees the judge."""

# ruff: noqa: E501
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.perform.checks.run.measure import Report
from engine.perform.checks.run.node_runner import NodeRunner
from engine.perform.checks.run.runner import RunRequest
from engine.perform.checks.run.runner import TestRunner as Runner
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import Finished
from tests.checks.runners.drive import KEY, fill, spec_of
from tests.checks.runners.test_javascript import RUNNERS, needs, room_of
from tests.patience import patience

RUNNER = NodeRunner()
SPEC = spec_of(RUNNER, ("node", "--test"))
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")


def cross(
    runner: Runner, spec: CheckSpec, room: Path, file: str, subject: tuple[str, ...], *, beside: bool = False
) -> Report:
    reports = room.parent / f"reports-{beside}"
    reports.mkdir()
    request = RunRequest(
        spec=spec, room=room, checkout=room, reports=reports, key=KEY, files=(file,), canaries=False, brief=True,
        subject=subject, beside=beside,
    )  # fmt: skip
    prepared = runner.prepare(request)
    env = {"PATH": os.environ["PATH"], "HOME": str(room.parent), **prepared.env}
    done = subprocess.run(
        prepared.argv, input=prepared.stdin, cwd=room, env=env, capture_output=True, timeout=patience(60), check=False
    )
    finished = Finished(reason="exited", exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)
    return runner.read(request, prepared, finished, done.stdout, 0.0)


CART = """
class ParseError extends Error { constructor(text, at) { super(text); this.at = at; } }
class Cart {
  constructor() { this.items = []; }
  add(item) { this.items.push(item); return this; }
  get size() { return this.items.length; }
  *[Symbol.iterator]() { yield* this.items; }
}
exports.Cart = Cart;
exports.ParseError = ParseError;
exports.parse = (text) => {
  if (!text) throw new ParseError('empty', 3);
  return { text, d: new Date(5), m: new Map([[1, new Set([2])]]), u: undefined, z: -0, b: 3n, r: /x/g, t: new Uint8Array([7]) };
};
exports.sorted = (list) => { list.sort(); return list; };
exports.each = (list, f) => list.map((x, i) => f(x, i));
exports.later = (x) => new Promise((done) => setTimeout(() => done(x * 2), 5));
exports.fails = async () => { throw new TypeError('no'); };
exports.callback = (back) => { setTimeout(() => back(null, 'v'), 5); };
exports.gather = async (list, f) => { const out = []; for (const x of list) out.push(await f(x)); return out; };
exports.counter = () => { let n = 0; return { inc() { return ++n; } }; };
exports.bus = () => new (class Bus extends require('events') { go() { this.emit('x', 1, { a: 2 }); } })();
exports.stack = () => String(new Error('x').stack).includes('.test.');
exports.argv = () => process.argv.slice(1).join().includes('.test.');
exports.judge = () => { try { require('assert').strictEqual = () => {}; } catch {} return 1; };
"""
BODIES = {
    "objects": "const c = new cart.Cart(); c.add(1).add('b'); assert.equal(c.size, 2);"
    "assert.deepStrictEqual([...c], [1, 'b']); assert.ok(c instanceof cart.Cart);",
    "errors": "assert.throws(() => cart.parse(''), cart.ParseError);"
    "assert.throws(() => cart.parse(''), { message: 'empty', at: 3 });"
    "assert.throws(() => cart.parse(''), (e) => e instanceof Error && e.constructor.name === 'ParseError');",
    "data": "assert.deepStrictEqual(cart.parse('a'), { text: 'a', d: new Date(5), m: new Map([[1, new Set([2])]]),"
    " u: undefined, z: -0, b: 3n, r: /x/g, t: new Uint8Array([7]) });",
    "arguments": "const l = [3, 1]; const r = cart.sorted(l); assert.deepStrictEqual(l, [1, 3]); assert.strictEqual(r, l);",
    "functions": "assert.deepStrictEqual(cart.each([1, 2], (x, i) => x * 10 + i), [10, 21]);"
    "const e = new RangeError('mine'); try { cart.each([1], () => { throw e; }); } catch (x) { assert.strictEqual(x, e); }",
    "promises": "assert.equal(await cart.later(4), 8); await assert.rejects(cart.fails(), TypeError);",
    "later": "await new Promise((done) => cart.callback((e, v) => { assert.equal(v, 'v'); done(); }));",
    "asked back": "assert.deepStrictEqual(await cart.gather([1, 2], async (x) => x + 1), [2, 3]);",
    "more than a pipe holds": "const l = Array.from({ length: 20000 }, (_, n) => 30000 - n);"
    "assert.equal(cart.sorted(l).length, 20000); let n = 0; cart.each(l, () => { n += 1; }); assert.equal(n, 20000);",
    "closures": "const c = cart.counter(); c.inc(); assert.equal(c.inc(), 2);",
    "events": "const b = cart.bus(); const s = []; b.on('x', (...a) => s.push(...a)); b.go();"
    "assert.deepStrictEqual(s, [1, { a: 2 }]);",
}
SPIES = {"stack": "assert.ok(cart.stack());", "argv": "assert.ok(cart.argv());"}
MEDDLES = "cart.judge(); let held = false; try { assert.strictEqual(1, 2); } catch { held = true; } assert.ok(!held);"
STRANGE = "class Mine {} assert.equal(cart.each([new Mine()], (x) => x).length, 1);"
TEST = "const test = require('node:test');\nconst assert = require('node:assert');\nconst cart = require('../cart');\n"


def written(bodies: dict[str, str]) -> str:
    return TEST + "".join(f"test('{name}', async () => {{ {body} }});\n" for name, body in bodies.items())


@needs_node
@pytest.mark.parametrize("beside", [False, True])
def test_what_crosses_and_who_sees_the_judge(tmp_path: Path, beside: bool) -> None:
    bodies = {**BODIES, **SPIES, "strange": STRANGE, "meddles": MEDDLES}
    room = fill(tmp_path / "room", {"cart.js": CART, "test/a.test.js": written(bodies)})
    report = cross(RUNNER, SPEC, room, "test/a.test.js", ("cart.js",), beside=beside)
    seen = {case.id.partition("::")[2]: case for case in report.cases}
    assert {name: seen[name].text for name in BODIES if seen[name].outcome != "passed"} == {}
    # beside the tests the subject sees them and reaches the judge; in its own process it does not
    for name in (*SPIES, "meddles"):
        assert (seen[name].outcome == "passed") is beside, (name, seen[name])
    assert seen["strange"].error == "CannotCross"
    assert report.crossing == ("test/a.test.js::strange: a value of type Mine",)


@needs_node
@pytest.mark.parametrize("beside", [False, True])
def test_imported_modules(tmp_path: Path, beside: bool) -> None:
    files = {
        "package.json": '{"type": "module"}',
        "src/a.js": "import { b } from './b.js';\nimport fs from 'node:fs';\nexport const a = (x) => b(x) + 1;\n"
        "export default class K { v() { return JSON.parse(fs.readFileSync(new URL('./n.json', import.meta.url))); } }\n"
        "export const N = 3;\nexport const seen = () => String(new Error('x').stack).includes('.test.');\n",
        "src/b.js": "export const b = (x) => x * 2;\n",
        "src/c.cjs": "exports.c = () => 4;\n",
        "src/n.json": "7",
        "test/a.test.js": "import test from 'node:test';\nimport assert from 'node:assert/strict';\n"
        "import K, { a, N, seen } from '../src/a.js';\nimport * as all from '../src/b.js';\nimport { c } from '../src/c.cjs';\n"
        "test('a', () => { assert.equal(a(2), 5); assert.equal(new K().v(), 7); assert.equal(N, 3); assert.equal(all.b(2), 4);"
        " assert.equal(c(), 4); });\ntest('seen', () => { assert.ok(seen()); });\n",
    }
    room = fill(tmp_path / "room", files)
    report = cross(RUNNER, SPEC, room, "test/a.test.js", ("src/a.js", "src/b.js", "src/c.cjs"), beside=beside)
    assert {case.id.partition("::")[2]: case.outcome for case in report.cases} == {
        "a": "passed",
        "seen": "passed" if beside else "failed",
    }, report.cases


SAME = {
    "tape": "const test = require('tape');\nconst cart = require('../cart');\n"
    "test('holds', (t) => { t.deepEqual(cart.sorted([2, 1]), [1, 2]); t.end(); });\n"
    "test('spies', (t) => { t.ok(cart.stack()); t.end(); });\n",
    "mocha": "const assert = require('assert');\nconst cart = require('../cart');\ndescribe('x', () => {\n"
    "  it('holds', async () => { assert.equal(await cart.later(2), 4); });\n"
    "  it('spies', () => { assert.ok(cart.stack()); });\n});\n",
    "jest": "const cart = require('../cart');\ndescribe('x', () => {\n"
    "  it('holds', async () => { expect(await cart.later(2)).toBe(4); expect(cart.sorted([2, 1])).toEqual([1, 2]); });\n"
    "  it('throws', () => { expect(() => cart.parse('')).toThrow(cart.ParseError); });\n"
    "  it('spies', () => { expect(cart.stack()).toBe(true); });\n});\n",
    "vitest": "import { describe, expect, it } from 'vitest';\nimport cart from '../cart.cjs';\ndescribe('x', () => {\n"
    "  it('holds', async () => { expect(await cart.later(2)).toBe(4); expect(cart.sorted([2, 1])).toEqual([1, 2]); });\n"
    "  it('throws', () => { expect(() => cart.parse('')).toThrow(cart.ParseError); });\n"
    "  it('spies', () => { expect(cart.stack()).toBe(true); });\n});\n",
}


@pytest.mark.foreign
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in SAME])
@pytest.mark.parametrize("beside", [False, True])
def test_the_other_runners(tmp_path: Path, name: str, beside: bool) -> None:
    runner, command, path, _ = RUNNERS[name]
    room = room_of(tmp_path, {"cart.js": CART, "cart.cjs": CART, path: SAME[name]})
    report = cross(runner, spec_of(runner, command), room, path, ("cart.js", "cart.cjs"), beside=beside)
    seen = {case.id.rpartition("::")[2].rpartition("> ")[2]: case.outcome for case in report.cases}
    assert seen.pop("spies") == ("passed" if beside else "failed"), report.cases
    assert set(seen.values()) == {"passed"}, report.cases
