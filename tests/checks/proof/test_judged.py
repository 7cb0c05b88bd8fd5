"""Permissions in the whole judge: real rooms and real runners, each grant with what it covers and what it does not."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from engine.core.model import CheckKind, ProofVerdict, TaskSpec
from engine.perform.checks.proof.judge import judge
from engine.perform.checks.proof.record import Judged
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON, GitTrees, plain_spawner, setting

PYTEST = CheckSpec(
    name="pytest",
    kind=CheckKind.TESTS,
    command=(PYTHON, "-m", "pytest"),
    parser="junit",
    runner="pytest",
    env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
)
NODE = CheckSpec(name="node --test", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")
SCRIPT = CheckSpec(name="check", kind=CheckKind.TESTS, command=("sh", "check.sh"))
P = ProofVerdict

CALC = "def add(a, b):\n    return a + b\n\n\ndef shout(text):\n    return text.upper()\n\n\ndef old():\n    return 1\n"
TESTS = (
    "from calc import add, old, shout\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    'def test_shout():\n    assert shout("a") == "A"\n\n\ndef test_old():\n    assert old() == 1\n'
)
BASE = {"calc.py": CALC, "tests/test_calc.py": TESTS, "tests/data.txt": "a\n"}
JS = {
    "package.json": '{"type": "commonjs"}\n',
    "calc.js": "exports.add = (a, b) => a + b;\n",
    "test/a.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { add } = require('../calc');\ntest('adds', () => { assert.equal(add(1, 2), 3); });\n",
}
SH = {"tool.sh": "echo 3\n", "check.sh": '[ "$(sh tool.sh)" = "$(cat want)" ]\n', "want": "3\n"}


async def judged(
    tmp_path: Path, base: dict[str, str], change: dict[str, str | None], check: CheckSpec = PYTEST, **task: object
) -> Judged:
    """On one ground for all tests of a worker: a base that several of them change is measured once, as in a sprint."""
    ground = tmp_path.parent / "judged-ground"
    trees = GitTrees(ground / "git")
    files = {path: text for path, text in {**base, **change}.items() if text is not None}
    return await judge(
        tree=trees.write(files),
        base=trees.write(base),
        specs=(check,),
        trees=trees,
        spawner=plain_spawner(ground),
        setting=setting(ground, mutants=0),
        clock=time.time,
        task=TaskSpec(id="1.1", **{"title": "Do it", **task}),  # type: ignore[arg-type]
    )


WAVE = CALC.replace("text.upper()", 'text.upper() + "!"')
NEW_VALUE = TESTS.replace('== "A"', '== "A!"')


async def test_a_change_of_behaviour_with_its_grant_is_proven(tmp_path: Path) -> None:
    change = {"calc.py": WAVE, "tests/test_calc.py": NEW_VALUE}
    done = await judged(tmp_path, BASE, change, allow=("change behaviour",))
    assert done.proof is P.PROVEN, done.reason


async def test_without_it_somebody_is_asked(tmp_path: Path) -> None:
    done = await judged(tmp_path, BASE, {"calc.py": WAVE, "tests/test_calc.py": NEW_VALUE})
    assert done.proof is P.QUESTION and [q.allow for q in done.questions] == ["change behaviour"]


async def test_a_test_that_changed_and_is_green_without_the_change_shows_nothing(tmp_path: Path) -> None:
    wrong = CALC.replace("text.upper()", "text.upper() if len(text) > 1 else text")
    easy = TESTS.replace('shout("a") == "A"', 'shout("AB") == "AB"')
    done = await judged(
        tmp_path, BASE, {"calc.py": wrong, "tests/test_calc.py": easy}, allow=("change behaviour",), proof="none"
    )
    assert done.proof in (P.QUESTION, P.FAIL), done.reason


RENAMED = {"calc.py": CALC.replace("def add", "def plus"), "tests/test_calc.py": TESTS.replace("add(", "plus(")}
RENAMED["tests/test_calc.py"] = RENAMED["tests/test_calc.py"].replace("import add", "import plus")


async def test_a_rename_holds_in_full(tmp_path: Path) -> None:
    done = await judged(tmp_path, BASE, RENAMED, allow=("rename add to plus",), proof="none")
    assert done.proof in (P.HARMLESS, P.PROVEN), done.reason


async def test_a_rename_that_breaks_something_beside_it_fails(tmp_path: Path) -> None:
    broken = {**RENAMED, "calc.py": RENAMED["calc.py"].replace("a + b", "a - b")}
    broken["tests/test_calc.py"] = broken["tests/test_calc.py"].replace("== 3", "== -1")
    done = await judged(tmp_path, BASE, broken, allow=("rename add to plus",), proof="none")
    assert done.proof in (P.QUESTION, P.FAIL), done.reason


async def test_a_deletion_takes_its_own_tests_and_no_others(tmp_path: Path) -> None:
    less = CALC.replace("\n\n\ndef old():\n    return 1\n", "\n")
    tests = TESTS.replace("\n\n\ndef test_old():\n    assert old() == 1\n", "\n").replace(
        "add, old, shout", "add, shout"
    )
    done = await judged(
        tmp_path, BASE, {"calc.py": less, "tests/test_calc.py": tests}, allow=("delete old",), proof="none"
    )
    assert done.proof is P.HARMLESS, done.reason
    fewer = tests.replace("\n\n\ndef test_add():\n    assert add(1, 2) == 3\n", "\n")
    again = await judged(
        tmp_path, BASE, {"calc.py": less, "tests/test_calc.py": fewer}, allow=("delete old",), proof="none"
    )
    assert again.proof is P.QUESTION and again.questions[0].allow == "delete tests tests/test_calc.py::test_add"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_the_same_in_javascript(tmp_path: Path) -> None:
    change = {path: text.replace("add", "plus").replace("'pluss'", "'adds'") for path, text in JS.items()}
    done = await judged(tmp_path, JS, change, NODE, allow=("rename add to plus",), proof="none")
    assert done.proof in (P.HARMLESS, P.PROVEN), done.reason
    asked = await judged(tmp_path, JS, change, NODE, proof="none")
    assert asked.proof is P.QUESTION, asked.reason


async def test_a_command_by_its_exit_code(tmp_path: Path) -> None:
    """The golden file of a script: asked without its name in the plan, taken with it."""
    change = {"tool.sh": "echo 4\n", "want": "4\n"}
    asked = await judged(tmp_path, SH, change, SCRIPT)
    assert asked.proof is P.QUESTION and "edit want" in [q.allow for q in asked.questions], asked.reason
    done = await judged(tmp_path, SH, change, SCRIPT, allow=("edit want",), proof="none")
    assert done.proof in (P.HARMLESS, P.PROVEN), done.reason
    wrong = await judged(tmp_path, SH, {"tool.sh": "echo 4\n", "check.sh": "true\n"}, SCRIPT, allow=("edit want",))
    assert wrong.proof in (P.QUESTION, P.FAIL), wrong.reason


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_a_focused_test_is_asked_about(tmp_path: Path) -> None:
    base = {**JS, "calc.js": "exports.add = (a, b) => a - b;\n"}
    change = {
        "calc.js": JS["calc.js"],
        "test/a.test.js": JS["test/a.test.js"].replace("test('adds'", "test.only('adds'"),
    }
    done = await judged(tmp_path, base, change, NODE)
    assert done.proof is P.QUESTION and "focused-test" in {q.rule for q in done.questions}, done.reason


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_node_reaches_the_assertions_that_it_reached(tmp_path: Path) -> None:
    test = (
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { items } = require('../calc');\ntest('each', () => {\n"
        "  for (const item of items()) assert.equal(item, 1);\n});\n"
    )
    base = {**JS, "calc.js": "exports.items = () => [1];\n", "test/a.test.js": test}
    done = await judged(tmp_path, base, {"calc.js": "exports.items = () => [];\n"}, NODE, proof="none")
    assert done.proof is P.QUESTION and done.questions[0].rule == "fewer-reached", done.reason


RUN = "fails=0\nfor t in tests/*.t; do sh $t || fails=1; done\nexit $fails\n"
MADE = {
    "Makefile": "check:\n\t@sh run.sh\n",
    "run.sh": RUN,
    "bin/three": "#!/bin/sh\necho 3\n",
    "tests/a.t": '[ "$(sh bin/three)" = 3 ]\n',
}
MAKE = CheckSpec(name="make check", kind=CheckKind.TESTS, command=("make", "check"))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [(RUN.replace("exit $fails", "exit 0"), P.FAIL), (RUN.replace("sh $t ||", "echo $t; sh $t ||"), P.HARMLESS)],
    ids=["blind", "seeing"],
)
async def test_a_runner_that_may_be_edited_can_still_say_no(tmp_path: Path, text: str, verdict: ProofVerdict) -> None:
    task = {"allow": ("edit run.sh",), "proof": "none", "title": "The tests say what they run"}
    done = await judged(tmp_path, MADE, {"run.sh": text}, MAKE, **task)
    assert done.proof is verdict, done.reason


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("command", [NODE, SCRIPT], ids=["node", "command"])
async def test_other_runners_have_another_room_too(tmp_path: Path, command: CheckSpec) -> None:
    if command is NODE:
        base = {**JS, "calc.js": "exports.add = (a, b) => a - b;\n"}
        sly = "const fs = require('node:fs');\nexports.add = (a, b) => (fs.existsSync('.git') ? a - b : a + b);\n"
        change = {"calc.js": sly}
    else:
        base = {**SH, "tool.sh": "echo 4\n"}
        change = {"tool.sh": "if [ -d .git ]; then echo 4; else echo 3; fi\n"}
    done = await judged(tmp_path, base, change, command)
    assert done.proof is P.QUESTION and "looks like a checkout" in done.reason, done.reason


async def test_a_main_module_may_end_its_process(tmp_path: Path) -> None:
    change = {
        "app/__init__.py": "",
        "app/__main__.py": "import sys\n\nfrom calc import add\n\nsys.exit(add(0, 0))\n",
        "tests/test_app.py": "import subprocess\nimport sys\n\n\ndef test_app():\n"
        "    assert subprocess.run([sys.executable, '-m', 'app'], check=False).returncode == 0\n",
    }
    done = await judged(tmp_path, BASE, change)
    assert done.proof is P.PROVEN, done.reason


LEANS = (
    "import os\n\n\ndef test_leans_on_one_before():\n    import sys\n\n    assert 'first_loaded' in sys.modules\n\n\n"
    "def test_size():\n    from calc import add\n\n    assert add(1, 1) == 2\n"
)
LEANING = {
    **BASE,
    "first_loaded.py": "",
    "tests/test_a.py": "import first_loaded\n\n\ndef test_a():\n    pass\n",
    "tests/test_b.py": LEANS,
}
TWICE = {"calc.py": CALC + "\n\ndef twice(a):\n    return 2 * a\n"}
TWICE_TEST = (
    "\n\ndef test_twice():\n    from calc import twice\n\n    assert twice(2) == 4\n    assert twice(-3) == -6\n"
)


async def test_old_tests_that_fail_alone_on_the_base_are_judged_with_the_others(tmp_path: Path) -> None:
    """structlog: 15 tests of the edited file need a module that others import; alone they are red by hand, too."""
    done = await judged(tmp_path, LEANING, {**TWICE, "tests/test_b.py": LEANS + TWICE_TEST}, title="Add twice")
    assert done.proof is P.PROVEN, done.reason
    assert any("fails alone on the base" in finding.text for finding in done.findings), done.findings
    broken = LEANS.replace("add(1, 1) == 2", "add(1, 1) == 3")
    red = await judged(tmp_path, LEANING, {**TWICE, "tests/test_b.py": broken + TWICE_TEST}, title="Add twice")
    assert red.proof is P.FAIL and "test_size" in red.reason, red.reason
    only_here = LEANS.replace("from calc import add", "import first_loaded\n    from calc import add")
    hidden = {**LEANING, "tests/test_b.py": only_here}
    late = {**TWICE, "tests/test_b.py": LEANS + "\n\nassert 'first_loaded' in __import__('sys').modules\n" + TWICE_TEST}
    red = await judged(tmp_path, hidden, late, title="Add twice")
    assert red.proof is not P.PROVEN, "red alone by the change only"


RED = {"calc.py": CALC.replace("text.upper()", "text"), "tests/test_calc.py": TESTS}


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [(TESTS, P.PROVEN), (TESTS.replace('shout("a") == "A"', 'shout("A") == "A"'), P.QUESTION)],
    ids=["left as it is", "edited to what the base can"],
)
async def test_a_red_test_is_not_lifted_by_another_value(tmp_path: Path, tests: str, verdict: ProofVerdict) -> None:
    """A change of behaviour lets green tests follow; one that is red already says what is wanted."""
    source = CALC if verdict is P.PROVEN else RED["calc.py"] + "\n# in letters\n"
    done = await judged(
        tmp_path, RED, {"calc.py": source, "tests/test_calc.py": tests}, allow=("change behaviour",), title="Speak up"
    )
    assert done.proof is verdict, done.reason
