"""Mutants of JavaScript and Go stay programs, and tests of these languages weigh a refactoring with them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof import weigh_edits
from engine.perform.checks.proof.mutants_text import mutants_text, named_lines, touched_lines
from engine.perform.checks.proof.mutate import Mutant
from engine.perform.checks.proof.strength import pool
from tests.checks.proof.test_gutted_text import GO as GO_TEST
from tests.checks.proof.test_judged import NODE, judged

P = ProofVerdict
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not there")
JAVASCRIPT = """import { join } from 'node:path';
export { join };

const SIZES = { 'small': 3, big: 12 };
export const half = (n) => n / 2;
export const words = (text) => text.split(/[,;] */);

export async function* lines(source, { most = 7, keep = false } = {}) {
  for await (const line of source) {
    if (!keep && line.startsWith("#")) continue;
    if (line.length > most || line === `${most} ${join("a", "b")}`) yield line.slice(0, most);
    else yield line;
  }
}

export class Box {
  #count = 0;
  get size() { return this.#count << 1; }
  add(one) {
    console.log('added', one);
    this.#count += one - 1;
    return () => this.add(one);
  }
  pair = async () => { return (a) => ({ a }); };
  deep() { if ((this.size) > 3) { return { deep: true }; } return; }
}
"""
GO = """package shop

import (
	"errors"
	"fmt"
	str "strings"
)

import "time"

var ErrNone = errors.New("none")
var sizes = map[string]int{"small": 3, "big": 12}

type Item struct {
	Name string `json:"name"`
	Tags [4]string
}

func (i Item) Label(most int, keep bool) (string, error) {
	if n := len(i.Name); n == 0 && !keep {
		return "", fmt.Errorf("item %q: %w", i.Name, ErrNone)
	}
	mask := uint8(1 << 7)
	var room [4]int
	for at := 0; at < len(room) && at <= most; at++ {
		room[at] = at*2 + int(mask)
	}
	switch room[1] {
	case 1:
		return "one", nil
	case 2:
		return "two" + str.Repeat("-", 2), nil
	}
	done := make(chan bool, 1)
	done <- true
	if <-done && (most > 3 || Item{Name: "x"} == i) {
		return fmt.Sprintf("%d %c", most-1, 'a'), nil
	}
	return i.Name + " " + time.Duration(most).String(), nil
}
"""


def every(path: str, source: str) -> list[str]:
    return [one.source for one in mutants_text(path, source.encode(), set(range(1, 200)))]


@needs_node
def test_each_mutant_of_javascript_can_be_loaded(tmp_path: Path) -> None:
    made = every("box.js", JAVASCRIPT)
    assert len(made) == len(set(made)) > 15 and JAVASCRIPT not in made
    for number, source in enumerate(made):
        (tmp_path / f"{number}.mjs").write_text(source)
    lines = "".join(f"await import('./{number}.mjs');\n" for number in range(len(made)))
    (tmp_path / "all.mjs").write_text(lines)
    done = subprocess.run(["node", "all.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_go
def test_each_mutant_of_go_is_taken_by_the_compiler_and_by_vet(tmp_path: Path) -> None:
    made = every("shop.go", GO)
    assert len(made) == len(set(made)) > 10 and GO not in made
    for number, source in enumerate(made):
        (tmp_path / f"p{number}").mkdir()
        (tmp_path / f"p{number}" / "shop.go").write_text(source)
    (tmp_path / "go.mod").write_text("module shop\n\ngo 1.19\n")
    env = {"PATH": "/usr/local/go/bin:/usr/bin:/bin", "HOME": str(tmp_path), "GOPROXY": "off", "GOFLAGS": ""}
    done = subprocess.run(["go", "vet", "./..."], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_logged_and_what_is_imported_is_left_alone() -> None:
    whats = [one.what for one in mutants_text("box.js", JAVASCRIPT.encode(), set(range(1, 200)))]
    assert not any("added" in what or "node:path" in what for what in whats)
    whats = [one.what for one in mutants_text("shop.go", GO.encode(), set(range(1, 200)))]
    assert not any(word in what for what in whats for word in ('"fmt"', '"strings"', '"time"'))


def test_whole_functions_that_a_change_touches_or_that_words_name() -> None:
    after = JAVASCRIPT.replace("most = 7", "most = 8").encode()
    assert touched_lines("box.js", JAVASCRIPT.encode(), after) >= set(range(8, 15))
    assert 18 not in touched_lines("box.js", JAVASCRIPT.encode(), after)
    assert named_lines("shop.go", GO.encode(), frozenset({"Label"})) == set(range(19, 41))
    test = b"package shop\n\nfunc TestLabel(t *testing.T) { Item{}.Label(1, true) }\n"
    found = pool({"shop.go": GO.encode(), "shop_test.go": test}, ["shop_test.go"], frozenset({"Label"}), "seed")
    assert found and {one.path for one in found} == {"shop.go"}
    assert pool({"shop.go": GO.encode()}, ["shop_test.go"], frozenset({"Other"}), "seed") == []


SUM = "export function sum(list) {\n  let all = 0;\n  for (const one of list) {\n    if (one > 2) all = all + one;\n  }\n  return all;\n}\n"  # noqa: E501
REDUCED = "export const sum = (list) => list.filter((one) => one > 2).reduce((all, one) => all + one, 0);\n"
HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../sum.js';\n"
SHARP = HEAD + "test('sum', () => { assert.equal(sum([1, 2, 3, 4]), 7); });\n"
BLUNT = HEAD + "test('sum', () => { assert.ok(sum([]) < 1); });\n"


@needs_node
@pytest.mark.parametrize(("test", "proof"), [(SHARP, P.HARMLESS), (BLUNT, P.UNPROVEN)], ids=["sharp", "blunt"])
async def test_a_refactoring_that_the_old_tests_watch_over_needs_none_of_its_own(
    tmp_path: Path, test: str, proof: ProofVerdict
) -> None:
    base = {"package.json": '{"type": "module"}\n', "sum.js": SUM, "test/sum.test.js": test}
    words = {"title": "Simplify sum() with filter and reduce", "description": "It reads better without a loop."}
    done = await judged(tmp_path, base, {"sum.js": REDUCED}, NODE, **words)
    assert done.proof is proof, done.reason


TWO = (
    SHARP
    + "test('none', () => { assert.equal(sum([1, 2]), 0); });\ntest('one', () => { assert.equal(sum([5]), 5); });\n"
)
TABLE = HEAD + (
    "for (const [given, wanted] of [[[1, 2, 3, 4], 7], [[1, 2], 0], [[5], 5]]) {\n"
    "  test(`sum of ${given}`, () => { assert.equal(sum(given), wanted); });\n}\n"
)


@needs_node
@pytest.mark.parametrize(
    ("now", "proof"),
    [(TABLE, P.HARMLESS), (TABLE.replace("equal(sum(given), wanted)", "ok(sum(given) < 9)"), P.QUESTION)],
    ids=["as sharp", "blunt"],
)
async def test_tests_that_became_a_table_are_weighed_by_what_they_notice(
    tmp_path: Path, now: str, proof: ProofVerdict
) -> None:
    base = {"package.json": '{"type": "module"}\n', "sum.js": SUM, "test/sum.test.js": TWO}
    done = await judged(tmp_path, base, {"test/sum.test.js": now}, NODE, title="One table for the tests of sum()")
    assert done.proof is proof, done.reason


CALC = "package shop\n\nfunc Most(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n"
CALC_TEST = (
    'package shop\n\nimport "testing"\n\nfunc TestMost(t *testing.T) {\n'
    "\tfor _, c := range [][3]int{{1, 2, 2}, {3, 2, 3}} {\n"
    '\t\tif got := Most(c[0], c[1]); got != c[2] {\n\t\t\tt.Errorf("got %d", got)\n\t\t}\n\t}\n}\n'
)


SAME = CALC.replace(
    "if a > b {\n\t\treturn a\n\t}\n\treturn b", "most := b\n\tif a > b {\n\t\tmost = a\n\t}\n\treturn most"
)


@needs_go
@pytest.mark.parametrize(
    ("mutant", "proof"),
    [(SAME.replace("a > b", "a < b"), P.HARMLESS), (SAME.replace("a > b", "a.b"), P.UNPROVEN)],
    ids=["noticed", "refused by the compiler"],
)
async def test_a_mutant_that_the_compiler_refuses_is_noticed_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: str, proof: ProofVerdict
) -> None:
    """It would make every test look sharp."""
    only = Mutant(path="shop.go", line=5, what="it", source=mutant)
    monkeypatch.setattr(weigh_edits, "pool_of_change", lambda *_: [only])
    base = {"go.mod": "module shop\n\ngo 1.19\n", "shop.go": CALC, "shop_test.go": CALC_TEST}
    done = await judged(tmp_path, base, {"shop.go": SAME}, GO_TEST, title="Refactor Most to a single return")
    assert done.proof is proof, done.reason
