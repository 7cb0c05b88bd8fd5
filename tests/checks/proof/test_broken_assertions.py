"""Every assertion of a new test, made to fail, turns its test red: which ones are found, and what the judge says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.proof.broken_assertions import WORDS, broken, broken_shell
from engine.perform.checks.proof.unheard import test_of as name_of
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import NODE, judged

HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\n"


def js(body: str) -> bytes:
    return f"{HEAD}test('it', async () => {{\n{body}\n}});\n".encode()


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        pytest.param("  assert.equal(1, 1);\n  assert.equal(2, 2);", [5], id="the last of those in a row"),
        pytest.param("  for (const n of [1]) {\n    assert.ok(n);\n  }", [5], id="in a loop"),
        pytest.param("  [1].forEach((n) => assert.ok(n));", [4], id="in a callback"),
        pytest.param(
            "  [1].forEach((n) => {\n    assert.ok(n);\n  });\n  assert.ok(1)", [5, 7], id="a callback, then the last"
        ),
        pytest.param("  const a = 1\n  await assert.rejects(f())", [5], id="no semicolons"),
        pytest.param("  if (process.platform === 'win32') {\n    assert.ok(1);\n  }", [], id="a branch"),
        pytest.param(
            "  try {\n    f();\n    assert.fail();\n  } catch (e) {\n    assert.ok(e);\n  }",
            [],
            id="what must not come",
        ),
        pytest.param("  if (x)\n    assert.ok(1);", [], id="a branch without braces"),
        pytest.param("  const text = `assert.ok(1)`; // assert.ok(2);", [], id="no code"),
    ],
)
def test_which_assertions_of_javascript_are_made_to_fail(body: str, lines: list[int]) -> None:
    source = js(body)
    made = [broken("a.test.js", source, {"it"}, layer) for layer in range(4)]
    assert [one.lines["it"] for one in made if one is not None] == lines
    assert broken("a.test.js", source, {"other"}, 0) is None


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    "body", ["  [1].forEach((n) => assert.ok(n));", "  const a = 1\n  await assert.rejects(Promise.reject(a))"]
)
def test_the_file_still_runs_and_the_assertion_fails(tmp_path: Path, body: str) -> None:
    made = broken("a.test.mjs", js(body), {"it"}, 0)
    assert made is not None
    (tmp_path / "a.test.mjs").write_bytes(made.source)
    done = subprocess.run(["node", "a.test.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and WORDS in done.stdout


GO = """package a

import "testing"

func TestIt(t *testing.T) {
@
}
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        pytest.param('\tif got := f(1); got != 2 {\n\t\tt.Errorf("got %d", got)\n\t}', [6], id="in a row"),
        pytest.param(
            "\tfor _, n := range []int{} {\n\t\tif f(n) != n {\n\t\t\tt.Error(n)\n\t\t}\n\t}", [7], id="in a loop"
        ),
        pytest.param("\tgo func() {\n\t\tif f(1) != 2 {\n\t\t\tt.Error()\n\t\t}\n\t}()", [7], id="in a goroutine"),
        pytest.param('\tt.Run("x", func(t *testing.T) {\n\t\trequire.Equal(t, 1, f(1))\n\t})', [7], id="a library's"),
        pytest.param("\tif err == nil {\n\t\tif f(1) != 2 {\n\t\t\tt.Error()\n\t\t}\n\t}", [], id="a branch"),
        pytest.param('\tt.Fatal("not reached")', [], id="what must not come"),
    ],
)
def test_which_assertions_of_go_are_made_to_fail(body: str, lines: list[int]) -> None:
    source = GO.replace("@", body).encode()
    made = [broken("a_test.go", source, {"TestIt"}, layer) for layer in range(4)]
    assert [one.lines["TestIt"] for one in made if one is not None] == lines
    assert all(f'panic("{WORDS}"); '.encode() in one.source for one in made if one is not None)


SHELL = '#!/bin/sh\neq() { [ "$2" = "$3" ] || bad=1; }\neq one "$(echo 1)" 1\n@\nexit $bad\n'


@pytest.mark.parametrize(
    ("line", "now"),
    [
        pytest.param("eq two \"$(echo 2)\" '2'", "eq two \"$(echo 2)\" '2'ZZ", id="a function of the tests"),
        pytest.param('echo a | while read x; do\n  eq it "$x" "$y"\ndone', '  eq it "$x" "$y"ZZ', id="behind a pipe"),
        pytest.param("echo eq is fine", None, id="no assertion"),
        pytest.param('eq two "$(echo 2)" 2 || exit 1', None, id="not whole"),
        pytest.param("check_it all", None, id="a word that nobody defined"),
    ],
)
def test_which_lines_of_a_shell_test_are_made_to_fail(line: str, now: str | None) -> None:
    before, after = SHELL.replace("@\n", "").encode(), SHELL.replace("@", line).encode()
    made = broken_shell("tests/run.sh", before, after, 0)
    assert (now is None) is (made is None)
    assert made is None or now in made.source.decode().splitlines()
    assert broken_shell("tests/run.sh", after, after, 0) is None


@pytest.mark.parametrize(
    ("id", "path", "name"),
    [
        ("a/a_test.go::TestIt/sub#01", "a/a_test.go", "TestIt"),
        ("t/a.test.js::group > it''", "t/a.test.js", "group > it"),
        ("t/a.test.js", "t/a.test.js", "t/a.test.js"),
    ],
)
def test_the_test_that_a_case_belongs_to(id: str, path: str, name: str) -> None:
    assert name_of(id, path) == name


BASE = {
    "package.json": '{"type": "module"}\n',
    "a.js": "export const g = (n) => n;\n",
    "test/g.test.js": HEAD + "import { g } from '../a.js';\ntest('g', () => assert.equal(g(1), 1));\n",
}
UNHEARD = "test('f', () => {\n  assert.equal(f(1), 2);\n  for (const [a, b] of Object.entries([])) {\n    assert.equal(f(a), b);\n  }\n});\n"  # noqa: E501
HEARD = UNHEARD.replace("Object.entries([])", "[[3, 4], [5, 6]]")


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(("test", "verdict"), [(UNHEARD, "UNPROVEN"), (HEARD, "PROVEN")], ids=["unheard", "heard"])
async def test_an_assertion_that_nobody_hears(tmp_path: Path, test: str, verdict: str) -> None:
    more = {"a.js": BASE["a.js"] + "export function f(n) {\n  return n + 1;\n}\n"}
    more["test/f.test.js"] = HEAD + "import { f } from '../a.js';\n" + test
    done = await judged(tmp_path, BASE, {**BASE, **more}, NODE, title="Add f(n)")
    assert done.proof == verdict, done.reason
    assert verdict == "PROVEN" or "nobody hears" in done.reason


RUN = CheckSpec(name="run.sh", kind=CheckKind.TESTS, command=("sh", "tests/run.sh"))


async def test_a_count_that_is_lost_behind_a_pipe(tmp_path: Path) -> None:
    test = 'bad=0\neq() { [ "$2" = "$3" ] || bad=1; }\neq one "$(sh tool.sh 1)" 1\n@exit $bad\n'
    base = {"tool.sh": 'echo "$1"\n', "tests/run.sh": test.replace("@", "")}
    lost = 'printf \'%s\\n\' 2:4 3:6 | while IFS=: read -r a b; do\n  eq more "$(sh tool.sh -d "$a")" "$b"\ndone\n'
    lost += 'eq two "$(sh tool.sh -d 2)" 4\n'
    kept = 'eq two "$(sh tool.sh -d 2)" 4\neq three "$(sh tool.sh -d 3)" 6\n'
    tool = 'if [ "$1" = -d ]; then echo $(($2 * 2)); else echo "$1"; fi\n'
    for place, (lines, verdict) in enumerate(((lost, ProofVerdict.UNPROVEN), (kept, ProofVerdict.PROVEN))):
        change = {"tool.sh": tool, "tests/run.sh": test.replace("@", lines)}
        done = await judged(tmp_path / str(place), base, change, RUN, title="-d doubles")
        assert done.proof is verdict, done.reason


GO_CHECK = CheckSpec(name="go test", kind=CheckKind.TESTS, command=("go", "test", "./..."), runner="go")


@pytest.mark.torture
@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
async def test_a_goroutine_that_nobody_waits_for(tmp_path: Path) -> None:
    base = {"go.mod": "module x.org/a\n\ngo 1.19\n", "a.go": "package a\n\nfunc G(n int) int { return n }\n"}
    base["a_test.go"] = GO.replace("TestIt", "TestG").replace("@", "\tif G(1) != 1 {\n\t\tt.Error()\n\t}")
    alone = "\tgo func() {\n\t\t<-make(chan int)\n\t\tif F(2) != 5 {\n\t\t\tt.Error()\n\t\t}\n\t}()"
    test = GO.replace("@", f"\tif F(1) != 2 {{\n\t\tt.Error()\n\t}}\n{alone}")
    change = {"a.go": base["a.go"] + "\nfunc F(n int) int { return n + 1 }\n", "f_test.go": test}
    done = await judged(tmp_path, base, {**base, **change}, GO_CHECK, title="Add F(n)")
    assert done.proof is ProofVerdict.UNPROVEN and "f_test.go:11" in done.reason, done.reason
