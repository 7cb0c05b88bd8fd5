"""In a monorepo a change is judged by the checks of the packages it touches, and by all where nobody can tell."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, ProofVerdict, TaskSpec
from engine.perform.checks.proof.judge import judge
from engine.perform.checks.run.packages import needed
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import GitTrees, plain_spawner, setting


def spec(name: str, *paths: str, required: bool = True) -> CheckSpec:
    return CheckSpec(name=name, kind=CheckKind.TESTS, command=("x",), paths=paths, required=required)


API, WEB, TOP = spec("api", "services/api/**", "shared/**"), spec("web", "web/**"), spec("top")


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        (["services/api/a.py"], ["api", "top"]),
        (["web/src/deep/x.ts"], ["web", "top"]),
        (["web/x.ts", "shared/a.py"], ["api", "web", "top"]),
        (["README.md"], ["api", "web", "top"]),
        (["web/x.ts", "Makefile"], ["api", "web", "top"]),
        ([], ["api", "web", "top"]),
    ],
)
def test_the_checks_of_what_is_touched(changed, names):
    assert [one.name for one in needed([API, WEB, TOP], changed)] == names


def test_never_only_what_nobody_has_to_pass():
    optional = spec("docs", "docs/**", required=False)
    assert needed([API, optional], ["docs/a.md"]) == (API, optional)
    assert needed([TOP], ["x"]) == (TOP,)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
async def test_a_new_test_is_run_by_the_check_of_its_own_package(tmp_path: Path) -> None:
    """Each runner works in its package's folder: another one would not even find the file."""
    case = "const test = require('node:test');\nconst assert = require('node:assert');\n"
    base, specs = {}, []
    for name in ("app", "core"):
        base[f"packages/{name}/index.js"] = "exports.two = () => 2;\n"
        base[f"packages/{name}/test/a.test.js"] = case + "test('two', () => assert.equal(require('..').two(), 2));\n"
        node = CheckSpec(name=f"node ({name})", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")
        specs.append(replace(node, folder=f"packages/{name}", paths=(f"packages/{name}/**",)))
    change = {
        "packages/core/index.js": "exports.two = () => 2;\nexports.three = () => 3;\n",
        "packages/core/test/b.test.js": case + "test('three', () => assert.equal(require('..').three(), 3));\n",
    }
    trees = GitTrees(tmp_path / "git")
    done = await judge(
        tree=trees.write({**base, **change}),
        base=trees.write(base),
        specs=specs,
        trees=trees,
        spawner=plain_spawner(tmp_path),
        setting=setting(tmp_path, mutants=0),
        clock=time.time,
        task=TaskSpec(id="1.1", title="Add three"),
    )
    assert done.proof is ProofVerdict.PROVEN, done.reason
