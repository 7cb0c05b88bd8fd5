"""What a change adds in JavaScript or Go, emptied: a test that does not notice proves nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.gutted_text import NOTHING, SOMETHING, gutted_text
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import NODE, judged

P = ProofVerdict
GO = CheckSpec(name="go test", kind=CheckKind.TESTS, command=("go", "test", "./..."), parser="go", runner="go")
OLD = "export function kept(a) {\n  return a + 1;\n}\n"
FORMS = {
    "export function f(a, { b } = {}) { if (a) { return 1; } return b; }": "export function f(a, { b } = {}) EMPTY",
    "export const f = async (a) => { return await a; };": "export const f = async (a) => EMPTY;",
    "export const f = (a) => a.map((x) => x + 1).join(',');": "export const f = (a) => ANSWER;",
    "exports.f = function (a) { return a; };": "exports.f = function (a) EMPTY;",
    "class A { static f(a) { return a; } }": "class A { static f(a) EMPTY }",
    "const o = { f(a) { return a; }, g: (b) => b };": "const o = { f(a) EMPTY, g: (b) => ANSWER };",
    "function f(a: number): Map<string, number> { return x(a); }": "function f(a: number): Map<string, number> EMPTY",
    "function f(a): { b: number } { return x(a); }": "function f(a): { b: number } EMPTY",
}


@pytest.mark.parametrize("source", FORMS)
def test_every_form_of_a_function_is_emptied(source: str) -> None:
    for answer in (SOMETHING, NOTHING):
        found = gutted_text(OLD.encode(), (OLD + source).encode(), "javascript", answer)
        assert found is not None
        emptied = FORMS[source].replace("EMPTY", f"{{ return {answer}; }}").replace("ANSWER", answer)
        assert found.decode() == OLD + emptied


def test_what_is_as_it_was_stays_and_where_nothing_is_found_nothing_follows() -> None:
    assert gutted_text(OLD.encode(), OLD.encode(), "javascript", NOTHING) is None
    assert gutted_text(OLD.encode(), (OLD + "export const LIMIT = 12;\n").encode(), "javascript", NOTHING) is None
    altered = gutted_text(OLD.encode(), OLD.replace("a + 1", "a + 2").encode(), "javascript", NOTHING)
    assert altered == b"export function kept(a) { return undefined; }\n"


GO_OLD = 'package calc\n\nimport "strings"\n\nfunc Kept(a int) int {\n\treturn len(strings.Repeat("a", a))\n}\n'
GO_NEW = GO_OLD.replace('import "strings"', 'import (\n\t"fmt"\n\t"strings"\n)') + (
    "\ntype Pair struct{ A, B int }\n\nfunc Two(a int) (Pair, error) {\n\tif a < 0 {\n"
    "\t\treturn Pair{}, fmt.Errorf(`no %d`, a)\n\t}\n\treturn Pair{a, a}, nil\n}\n\n"
    "func (p Pair) Sum() (n int, err error) {\n\tn = p.A + p.B\n\treturn\n}\n\n"
    "func Names() []map[string]func(int) error { return nil }\n\nfunc Say(a ...string) {\n\tfmt.Println(a)\n}\n"
)


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not there")
def test_emptied_functions_of_go_are_a_program(tmp_path: Path) -> None:
    found = gutted_text(GO_OLD.encode(), GO_NEW.encode(), "go", NOTHING)
    assert found is not None and b"Repeat" in found and b"Errorf" not in found and b'_ "fmt"' in found, found
    (tmp_path / "go.mod").write_text("module calc\n\ngo 1.18\n")
    (tmp_path / "calc.go").write_bytes(found)
    env = {"PATH": "/usr/bin:/bin:/usr/local/go/bin", "HOME": str(tmp_path), "GOCACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        ["gofmt", "-e", "calc.go"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


JS = {"package.json": '{"type": "module"}\n', "calc.js": OLD}
JS_TEST = (
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { kept, more } from '../calc.js';\n"
    "test('kept', () => { assert.equal(kept(1), 2); });\ntest('more', () => { ASKED });\n"
)
MORE = OLD + "export function more(a) {\n  return a * 3;\n}\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
@pytest.mark.parametrize(
    ("asked", "proof"),
    [("more(2);", P.UNPROVEN), ("assert.ok(true);", P.UNPROVEN), ("assert.equal(more(2), 6);", P.PROVEN)],
)
async def test_a_new_test_that_looks_at_nothing_proves_nothing(tmp_path: Path, asked: str, proof: ProofVerdict) -> None:
    base = {**JS, "test/a.test.js": JS_TEST.replace(", more", "").replace("test('more', () => { ASKED });\n", "")}
    done = await judged(tmp_path, base, {"calc.js": MORE, "test/b.test.js": JS_TEST.replace("ASKED", asked)}, NODE)
    assert done.proof is proof, done.reason
