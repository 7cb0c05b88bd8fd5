"""Tests in a folder that the plan moves go with it; what they ask has to stay as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.core.grant_grammar import grants_of
from engine.core.model import ProofVerdict
from engine.perform.checks.proof.moved_along import goes_along
from engine.perform.checks.proof.owned import Owned, Owner
from tests.checks.proof.test_judged import NODE, judged

P = ProofVerdict
POOL = "export const half = (n) => Math.floor(n / 2);\n"
TEST = (
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { half } from './pool.js';\n"
    "test('half', () => { assert.equal(half(7), 3); });\n"
)
MAIN = "import { half } from './pool/pool.js';\nexport const quarter = (n) => half(half(n));\n"
BASE = {
    "package.json": '{"type": "module"}\n',
    "src/main.js": MAIN,
    "src/pool/pool.js": POOL,
    "src/pool/pool.test.js": TEST,
}
MOVE = "move src/pool to src/core/pool"


def change(test: str | None = TEST, pool: str = POOL) -> dict[str, str | None]:
    return {
        "src/main.js": MAIN.replace("./pool/", "./core/pool/"),
        "src/pool/pool.js": None,
        "src/pool/pool.test.js": None,
        "src/core/pool/pool.js": pool,
        "src/core/pool/pool.test.js": test,
    }


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
@pytest.mark.parametrize(
    ("after", "allow", "fine"),
    [
        (change(), (MOVE,), True),
        (change(), (), True),
        (change(TEST.replace("half(7), 3", "half(8), 4")), (MOVE,), False),
        (change(None), (MOVE,), False),
        (change(pool=POOL.replace("floor", "ceil")), (MOVE,), False),
    ],
    ids=["as it was", "not in the plan, and the same in every piece", "another question", "gone", "broken on the way"],
)
async def test_a_folder_that_moves_takes_its_tests_along(
    tmp_path: Path, after: dict[str, str | None], allow: tuple[str, ...], fine: bool
) -> None:
    done = await judged(tmp_path, BASE, after, NODE, allow=allow, title="Tidy the folders", proof="none")
    assert (done.proof in (P.PROVEN, P.HARMLESS)) is fine, done.reason


def test_only_what_left_the_folder_goes_along() -> None:
    def owned(path: str, owner: Owner, before: bytes | None, after: bytes | None) -> Owned:
        return Owned(path=path, owner=owner, before=before, after=after)

    test = owned("a/x_test.go", Owner.TEST, b"package a\n", None)
    there = owned("b/a/x_test.go", Owner.NEW_TEST, None, b"package a\n")
    code = [owned("a/x.go", Owner.SUBJECT, b"x", None), owned("b/a/x.go", Owner.SUBJECT, None, b"x")]
    grants = grants_of(("move a to b/a",))
    assert goes_along(test, [test, there, *code], grants) == (grants[0], "b/a/x_test.go")
    assert goes_along(test, [test, there], grants) is None, "no program left the folder"
    assert goes_along(test, [test, *code], grants) is None, "it is nowhere"
    stays = owned("a/x_test.go", Owner.TEST, b"package a\n", b"package a // changed\n")
    assert goes_along(stays, [stays, there, *code], grants) is None
    assert goes_along(test, [test, there, *code], grants_of(("move other to b/a",))) is None
