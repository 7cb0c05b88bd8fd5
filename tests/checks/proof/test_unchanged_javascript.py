"""A refactoring in JavaScript, asked about inputs beside those of the old tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.proof.test_judged import judged

NODE = CheckSpec(name="node --test", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")
BODY = "list.filter((one, at) => list.indexOf(one) === at)"
BASE = {
    "package.json": '{"type": "module"}\n',
    "list.js": f"export function uniq(list) {{\n  return {BODY};\n}}\n",
    "test/list.test.js": "import test from 'node:test';\nimport assert from 'node:assert/strict';\n"
    "import { uniq } from '../list.js';\n\n"
    "test('uniq', () => {\n  assert.deepEqual(uniq([1, 2, 1, 3]), [1, 2, 3]);\n});\n",
}


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        pytest.param("[...new Set([...list].sort())]", ProofVerdict.QUESTION, id="sorts as well"),
        pytest.param("[...new Set(list)]", ProofVerdict.HARMLESS, id="the same", marks=pytest.mark.torture),
    ],
)
async def test_answers_beside_the_old_tests(tmp_path: Path, body: str, verdict: ProofVerdict) -> None:
    change = {**BASE, "list.js": BASE["list.js"].replace(BODY, body)}
    done = await judged(tmp_path, BASE, change, NODE, title="Simplify uniq with a Set", proof="none")
    assert done.proof is verdict, done.reason
