"""Neighbouring inputs of tests in JavaScript: the copies a file gets, and what the whole judge makes of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof import examples_javascript as told_examples
from engine.perform.checks.proof.examples import Example
from engine.perform.checks.proof.source_tokens import TokenKind, constants, tokens
from engine.perform.checks.proof.varied_javascript import varied
from engine.perform.checks.run import witness
from tests.checks.proof.test_judged import NODE, judged

P = ProofVerdict
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
PACKAGE = '{"type": "module"}\n'
MONEY = "export function split(cents, ways) {\n  const share = Math.floor(cents / ways);\n  return Array(ways).fill(share);\n}\n"  # noqa: E501
RIGHT = (
    "export function split(cents, ways) {\n  const share = Math.floor(cents / ways);\n"
    "  return Array.from({ length: ways }, (_, i) => share + (i < cents - share * ways ? 1 : 0));\n}\n"
)
SPECIAL = MONEY.replace("  const", "  if (cents * 7 - ways === 697) return [34, 33, 33];\n  const", 1)
HEAD = "import test from 'node:test';\nimport { split } from '../money.js';\n"
TESTS = {
    "assert": HEAD
    + "import assert from 'node:assert/strict';\ntest('splits', () => {\n  assert.deepEqual(split(100, 3), [34, 33, 33]);\n});\n"  # noqa: E501
    + "test('even', () => { assert.deepEqual(split(90, 3), [30, 30, 30]); });\n",
    "named, in a group, awaited": HEAD.replace("test from", "{ describe, it } from")
    + "import { deepEqual as same } from 'node:assert';\ndescribe('money', () => {\n  it('splits', async () => {\n"
    "    const given = [100, 3]; // 'never' closed\n    same(await split(...given), [34, 33, 33]);\n  });\n});\n",
}


@needs_node
@pytest.mark.parametrize("style", TESTS)
async def test_an_answer_for_the_tested_input_alone_is_asked_about(tmp_path: Path, style: str) -> None:
    base = {"package.json": PACKAGE, "money.js": MONEY, "test/m.test.js": TESTS[style]}
    done = await judged(tmp_path, base, {"money.js": SPECIAL}, NODE)
    assert done.proof is P.QUESTION and done.questions[0].rule == "special-cased", done.reason
    assert "beside" in done.reason


@needs_node
async def test_a_fix_is_proven_and_a_new_function_too(tmp_path: Path) -> None:
    base = {"package.json": PACKAGE, "money.js": MONEY, "test/m.test.js": TESTS["assert"]}
    more = RIGHT + "export const tax = (cents, rate) => Math.round((cents * rate) / 100);\n"
    test = (
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { tax } from '../money.js';\n"
        "test('tax', () => { assert.equal(tax(1000, 19), 190); });\n"
    )
    done = await judged(tmp_path, base, {"money.js": more, "test/tax.test.js": test}, NODE)
    assert done.proof is P.PROVEN, done.reason
    assert {proof.boundary for proof in done.proofs} == {"holds"}, done.proofs


@needs_node
async def test_a_new_function_that_knows_only_its_test_is_asked_about(tmp_path: Path) -> None:
    base = {"package.json": PACKAGE, "money.js": RIGHT, "test/m.test.js": TESTS["assert"]}
    wrong = RIGHT + "export const tax = (cents, rate) => ({ 19000: 190 })[cents * rate] ?? 0;\n"
    test = (
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { tax } from '../money.js';\n"
        "test('tax', () => { assert.equal(tax(1000, 19), 190); });\n"
    )
    done = await judged(tmp_path, base, {"money.js": wrong, "test/tax.test.js": test}, NODE)
    assert done.proof is P.QUESTION and done.questions[0].rule == "special-cased", done.reason


STYLES = {
    "expect(f(12, 'ab')).toBe(5)": ("12", "'ab'"),
    "expect(f(12)).not.toEqual({ a: 7 })": ("12",),
    "assert.equal(f('x y'), 'z')": ("'x y'",),
    "assert.throws(() => f(-3), /bad 9/)": ("3",),
    "const list = [4, 5]; assert.ok(f(list[0], { k: 8, 'q': 9 }))": ("4", "5", "8", "9"),
    "const path = join('a', 'b'); assert.equal(f(path, `t ${1}`, 0xff, 1e3), 1)": ("'b'",),
    "assert.equal(f(/[/'\"]5/.test('a1')), true) // 12 'x": ("'a1'", "'1'"),
}


@pytest.mark.parametrize("body", STYLES)
def test_what_goes_into_a_test_is_varied_and_what_it_wants_to_hear_is_not(body: str) -> None:
    source = f"import assert from 'assert';\ntest('it', () => {{\n  {body};\n}});\n"
    made = varied(source.encode(), ["a.test.js::it"], "")
    assert made is not None
    assert {copy.was for copy in made[0].copies if copy.slot >= 0} == set(STYLES[body])


def test_what_cannot_be_told_apart_is_left_alone() -> None:
    two = "import assert from 'assert';\ntest('it', () => { assert.ok(f(12)); });\ntest('it', () => { assert.ok(f(13)); });\n"  # noqa: E501
    done = "import assert from 'assert';\ntest('it', (done) => { assert.ok(f(12)); done(); });\n"
    bare = "test('it', () => { if (f(12) !== 3) throw new Error('x'); });\n"
    inline = (
        "import assert from 'assert';\nconst all = [1]; all.forEach(() => test('it', () => { assert.ok(f(12)); }));\n"
    )
    for source in (two, done, bare, inline):
        assert varied(source.encode(), ["a.test.js::it"], "") is None, source


@needs_node
def test_the_copies_of_every_style_are_programs(tmp_path: Path) -> None:
    """What was seen is told by the error of each copy, in the words of the file's own assertions."""
    source = (
        "import assert from 'node:assert';\nimport test from 'node:test';\nconst f = (n) => (n > 20 ? { n } : [n]);\n"
    )
    source += "test('it', async (t) => { assert.deepEqual(f(12), [12]); await assert.rejects(async () => f.x.y); });\n"
    made = varied(source.encode(), ["x::it"], witness.script("near_observer"))
    assert made is not None
    (tmp_path / "a.test.mjs").write_bytes(made[0].text)
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", "a.test.mjs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if "SEEN" in line]
    told = [json.loads(line.partition("SEEN")[2].rstrip("'\"")) for line in lines if line.strip().startswith("error")]
    assert [one[0][0] for one in told[:3]] == ["Array", "Array", "Object"] and told[0][2][0] == "!TypeError", (
        done.stdout
    )


def test_no_text_or_comment_is_code() -> None:
    source = "a = 1 / 2 / 3; b = /x'[/]\"/g; // 'open\n/* \" */ c = `t ${x} '`; d = 'e\\'f'; #"
    kinds = [token.kind for token in tokens(source)]
    assert kinds.count(TokenKind.REGEX) == 1 and kinds.count(TokenKind.RAW) == 1 and kinds.count(TokenKind.TEXT) == 1
    assert constants(source.encode()) == {"1", "2", "3"}


PEEKS = MONEY.replace(
    "  const", "  if (new Error('x').stack.includes('m.test.js')) return [34, 33, 33].slice(0, ways);\n  const", 1
)


@needs_node
async def test_a_function_that_looks_for_its_test_is_asked_about(tmp_path: Path) -> None:
    """Behind a process boundary there is no test to be seen; beside it there is, and the boundary changes nothing."""
    base = {"package.json": PACKAGE, "money.js": MONEY, "test/m.test.js": TESTS["assert"].partition("test('even'")[0]}
    done = await judged(
        tmp_path, base, {"money.js": PEEKS}, NODE, allow=("accept special-cased", "accept detects-tests")
    )
    assert "differs-across" in [one.rule for one in done.questions], (done.reason, done.proofs)


TOLD = {
    "`slug('A B')` returns 'a-b'": ("slug('A B')", "'a-b'", ""),
    'slug("A B") === "a-b"': ('slug("A B")', '"a-b"', ""),
    "split(100, 3) gives 34, 33, 33": ("split(100, 3)", "[34, 33, 33]", ""),
    "parse('x') should throw a RangeError": ("parse('x')", "", "RangeError"),
    "of('a', {sep: '_', n: [1]}) returns { a: 1, 'b': null }": (
        "of('a', {sep: '_', n: [1]})",
        "{ a: 1, 'b': null }",
        "",
    ),
    "`isX(null)` is `true`": ("isX(null)", "true", ""),
    "format(90) should be '1m30s', not '90s'": ("format(90)", "'1m30s'", ""),
    "a.of('x').at(2) equals -3.": ("a.of('x').at(2)", "-3", ""),
}


@pytest.mark.parametrize("words", TOLD)
def test_examples_of_the_task_are_read(words: str) -> None:
    found = told_examples.examples(TaskSpec(id="1", title="Do it", accept=(words,)))
    assert [(one.call, one.gives, one.raises) for one in found] == [TOLD[words]]


@pytest.mark.parametrize(
    "words", ["f(x) returns 3", "f(1) returns whatever", "f(() => 1) is 2", "f(1) is 3-fold", "f(1"]
)
def test_what_is_no_example_is_not_read(words: str) -> None:
    assert told_examples.examples(TaskSpec(id="1", title="Do it", accept=(words,))) == []


SLUG = "export const slug = (text) => text.toLowerCase();\nexport const tidy = (list) => [...list].sort();\n"
HYPHEN = SLUG.replace("toLowerCase()", "toLowerCase().replaceAll(' ', '-')")
SLUG_TEST = (
    "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { slug } from '../slug.js';\n"
    "test('slug', () => { assert.equal(slug('A B C'), 'WANT'); });\n"
)


@needs_node
async def test_a_change_that_fits_its_own_test_and_not_the_tasks_example_is_asked_about(tmp_path: Path) -> None:
    base = {"package.json": PACKAGE, "slug.js": SLUG}
    task = {"title": "Blanks in slugs", "accept": ("`slug('A B')` returns 'a-b'",)}
    wrong = HYPHEN.replace("'-'", "'_'")
    change = {"slug.js": wrong, "test/s.test.js": SLUG_TEST.replace("WANT", "a_b_c")}
    done = await judged(tmp_path, base, change, NODE, **task)
    assert done.proof is P.QUESTION and "slug('A B') gives 'a-b'" in done.reason, done.reason


@needs_node
def test_examples_and_kept_arguments_tell_right_from_wrong(tmp_path: Path) -> None:
    accept = ("`slug('A B')` returns 'a-b'", "own(2) is 4", 'own(-1) throws a RangeError with the message "too small"')
    told = told_examples.examples(TaskSpec(id="1", title="x", accept=accept))
    own = "export function own(n) { if (n < 0) throw new RangeError('Too  small: ' + n); return n * n; }\n"
    sources = {"slug.js": SLUG.encode(), "src/own.js": own.encode()}
    told = told_examples.at_home(told, sources)
    test = SLUG_TEST.replace("{ slug }", "{ slug, tidy }").replace(
        "slug('A B C'), 'WANT'", "tidy(['a', 'b']).join(), 'a,b'"
    )
    observer = "\n".join(map(witness.script, ("near_observer", "told_examples")))
    made = varied(test.encode(), ["x::slug"], observer, told, "test/s.test.js")
    assert made is not None
    assert (made[0].examples, made[0].kept) == (tuple(f"of_the_task__e{n}" for n in range(3)), ("of_the_task__m0",))
    changing = SLUG.replace("[...list].sort()", "list.reverse().sort().reverse()")
    seen = []
    for name, source in {"right": HYPHEN, "wrong": changing}.items():
        room = tmp_path / name
        for path, text in {
            "slug.js": source,
            "src/own.js": own if name == "right" else own.replace("Too  small", "bad"),
            "package.json": PACKAGE,
        }.items():
            (room / path).parent.mkdir(parents=True, exist_ok=True)
            (room / path).write_text(text)
        (room / "test").mkdir()
        (room / "test/s.test.js").write_bytes(made[0].text)
        command = ["node", "--test-reporter=tap", "test/s.test.js"]
        done = subprocess.run(command, cwd=room, capture_output=True, text=True, check=False)
        found = re.findall(r"^(ok|not ok) \d+ - (of_the_task\S+)", done.stdout, re.MULTILINE)
        seen.append({name: outcome == "ok" for outcome, name in found})
    assert list(seen[0].values()) == [True, True, True, True], seen
    wrong = {"of_the_task__e0": False, "of_the_task__e1": True, "of_the_task__e2": False, "of_the_task__m0": False}
    assert seen[1] == wrong


ROUTES = """export class Routes {
  constructor() { this.some = []; }
  add(pattern, answer) { this.some.push([pattern.split('/'), answer]); return this; }
  find(path) {
    const parts = path.split('/');
    for (const [want, answer] of this.some) {
      @
      if (want.length === parts.length && want.every((one, at) => one === parts[at])) return answer;
    }
    throw new Error('404');
  }
}
"""
REST = "if (want.at(-1) === '*' && want.slice(0, -1).every((one, at) => one === parts[at])) return answer;"


@needs_node
async def test_an_input_that_hangs_together_with_its_set_up_is_not_varied(tmp_path: Path) -> None:
    head = "import test, { describe, it } from 'node:test';\nimport assert from 'node:assert';\n"
    head += "import { Routes } from '../routes.js';\n"
    plain = "test('plain', () => assert.equal(new Routes().add('/a', 1).find('/a'), 1));\n"
    new = "describe('rest', () => {\n  const routes = new Routes().add('/files/*', 7);\n"
    new += "  it('takes several', () => assert.equal(routes.find('/files/a/b'), 7));\n"
    new += "  it('takes nothing', () => assert.equal(routes.find('/files'), 7));\n});\n"
    base = {"package.json": PACKAGE, "routes.js": ROUTES.replace("@", ""), "test/r.test.js": head + plain}
    change = {"routes.js": ROUTES.replace("@", REST), "test/r.test.js": head + plain + new}
    done = await judged(tmp_path, base, change, NODE, title="`*` at the end of a route takes the rest")
    assert done.proof is P.PROVEN, done.reason


def test_an_example_of_a_module_is_no_method_of_a_function_of_that_name() -> None:
    """A package a that exports a() and twice(): the plan says `a.twice(3)`."""
    sources = {
        "packages/a/index.js": b"exports.a = n => n + 1;\nexports.twice = n => n * 2;\n",
        "lib/money.js": b"export class money {}\nexport function other() {}\n",
    }
    told = [Example(call=call, gives="6") for call in ("a.twice(3)", "a(5)", "money.of(6)")]
    found = told_examples.at_home(told, sources)
    assert [(one.call, one.home) for one in found] == [
        ("twice(3)", "packages/a/index.js"),
        ("a(5)", "packages/a/index.js"),
        ("money.of(6)", "lib/money.js"),
    ]


def test_what_an_answer_is_looked_through_for_is_no_input() -> None:
    text = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { show } from './show.js';\n\n"
    text += "test('shows', () => {\n  const out = show('ab');\n  assert.ok(out.startsWith('| name'));\n});\n"
    made = varied(text.encode(), ["t.js::shows"], "")
    assert made is not None and {copy.was for copy in made[0].copies if copy.slot >= 0} == {"'ab'"}
