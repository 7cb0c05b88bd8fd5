"""jest, vitest and mocha before the whole judge: neighbouring inputs, the boundary, examples, assertions reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import judged
from tests.checks.proof.test_judged_javascript import MONEY, PEEKS, RIGHT, SPECIAL
from tests.checks.runners.test_javascript import TOOLS, needs

pytestmark = [pytest.mark.foreign, pytest.mark.timeout(600)]
P = ProofVerdict
COMMANDS = {"jest": ("jest",), "vitest": ("vitest", "run", "--globals"), "mocha": ("mocha", "test")}
RUNNERS = [pytest.param(name, marks=needs(name)) for name in COMMANDS]
BODY = "it('splits', () => {\n  expect(split(100, 3)).toEqual([34, 33, 33]);\n});\n"
ASSERTS = BODY.replace("expect(split(100, 3)).toEqual(", "assert.deepEqual(split(100, 3), ")
EXAMPLE = "`split(10, 4)` gives 3, 3, 2, 2"


def check(name: str) -> CheckSpec:
    program, *more = COMMANDS[name]
    command = (str(TOOLS / "node_modules/.bin" / program), *more)
    return CheckSpec(name=name, kind=CheckKind.TESTS, command=command, runner=name)


def old(source: str) -> str:
    return source.replace("export function split", "exports.split = function split").rstrip()[:-1] + "};\n"


def tree(name: str, source: str) -> dict[str, str]:
    if name == "vitest":
        return {
            "package.json": '{"type": "module"}\n',
            "money.js": source,
            "test/m.test.js": "import { split } from '../money.js';\n" + BODY,
        }
    head = "const { split } = require('../money.js');\n"
    text = head + BODY if name == "jest" else "const assert = require('assert');\n" + head + ASSERTS
    return {"package.json": "{}\n", "money.js": old(source), "test/m.test.js": text}


@pytest.mark.parametrize("name", RUNNERS)
async def test_an_answer_for_the_tested_input_alone_is_asked_about(tmp_path: Path, name: str) -> None:
    done = await judged(tmp_path, tree(name, MONEY), tree(name, SPECIAL), check(name))
    assert done.proof is P.QUESTION and done.questions[0].rule == "special-cased", done.reason


@pytest.mark.parametrize("name", RUNNERS)
async def test_a_fix_is_proven_across_and_keeps_the_example(tmp_path: Path, name: str) -> None:
    done = await judged(tmp_path, tree(name, MONEY), tree(name, RIGHT), check(name), accept=(EXAMPLE,))
    assert done.proof is P.PROVEN and [one.boundary for one in done.proofs] == ["holds"], (done.reason, done.proofs)


@pytest.mark.parametrize("name", RUNNERS)
async def test_who_looks_for_the_test_and_who_denies_the_example(tmp_path: Path, name: str) -> None:
    granted = ("accept special-cased", "accept detects-tests")
    done = await judged(tmp_path, tree(name, MONEY), tree(name, PEEKS), check(name), allow=granted)
    assert "differs-across" in [one.rule for one in done.questions], (done.reason, done.proofs)
    wrong = RIGHT.replace("cents - share * ways", "cents % 3")  # the rest of a third, whatever the ways
    done = await judged(tmp_path / "other", tree(name, MONEY), tree(name, wrong), check(name), accept=(EXAMPLE,))
    assert done.proof is P.QUESTION and "split(10, 4)" in done.reason, done.reason
