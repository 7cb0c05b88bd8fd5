"""The front door: rooms, runs, verdicts and the record, with real git and real pytest."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, ProofVerdict, TaskSpec, Verdict
from engine.perform.checks.proof.flaky import flips_on_base, history
from engine.perform.checks.proof.judge import judge, judge_whole, measure_baseline
from engine.perform.checks.proof.proof_places import line_of_test
from engine.perform.checks.run.baseline import keep
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.evidence import Store
from engine.perform.checks.run.execute import Tools
from engine.perform.checks.run.spec import CheckSpec, HeldOut, IntegrityPolicy
from tests.checks.ground import PYTHON, GitTrees, plain_spawner, setting

QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PYTEST = CheckSpec(
    name="pytest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "pytest"), parser="junit", runner="pytest", env=QUICK
)
BASE = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a\n",
    "tests/test_calc.py": "from calc import add, half\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_half():\n    assert half(4) == 2\n",
}
FIX = BASE["calc.py"].replace("return a\n", "return a // 2\n")
GREEN = {**BASE, "calc.py": FIX}
P = ProofVerdict


class Bench:
    """judge() on one ground; files by name, what is not given is as in the base."""

    mode = "none"

    def __init__(self, trees, spawner, place):
        self.trees, self.spawner, self.place = trees, spawner, place
        self.calls: list[tuple[str, ...]] = []

    async def run(self, spec, on_line=None, on_stderr=None):
        self.calls.append(spec.argv)
        return await self.spawner.run(spec, on_line, on_stderr)

    async def __call__(
        self, changes, base=None, specs=(PYTEST,), policy=None, held_out=(), progress=None, effect="", **task
    ):
        files = {**(base or BASE), **changes}
        return await judge(
            tree=self.trees.write({k: v for k, v in files.items() if v is not None}),
            base=self.trees.write(base or BASE),
            specs=specs,
            trees=self.trees,
            spawner=self,
            setting=replace(self.place, policy=policy or IntegrityPolicy(mutants=0)),
            clock=time.time,
            task=TaskSpec(id="1.1", **{"title": "Improve", **task}),
            held_out=held_out,
            progress=progress,
            effect=effect,
        )


@pytest.fixture
def bench(trees, spawner, place):
    return Bench(trees, spawner, place)


@pytest.fixture(scope="module")
def one_bench(tmp_path_factory):
    """For rows on the same base: it is measured once, as in a sprint."""
    folder = tmp_path_factory.mktemp("one")
    return Bench(GitTrees(folder / "git"), plain_spawner(folder), setting(folder))


def result(judged, name="pytest"):
    return next(r for r in judged.results if r.name == name)


def runs(place, judged):
    return [run.run for run in Store(place.evidence).load_judgement(judged.evidence).runs]


# ── PROVEN ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_red_test_that_turns_green_is_a_proof(bench, place, trees):
    told = []
    judged = await bench({"calc.py": FIX}, title="Fix half", progress=told.append, effect="e9")
    assert (judged.proof, judged.accepted) == (P.PROVEN, True)
    assert [(p.kind, p.name, p.red) for p in judged.proofs] == [
        ("fixed", "tests/test_calc.py::test_half", "assert 4 == 2")
    ]
    assert [p.line for p in judged.proofs] == [9], "where it failed on the base"
    assert runs(place, judged) == ["R0", "R1", "R0 again", "R3", "boundary", "neighbours", "neighbours R3"], (
        "neither oracle nor tests are touched: R1 is the only full run; the red file is red once more"
    )
    assert len(bench.calls) == 3, "R0, R1, and one sitting for all that comes after: each start is most of a small run"
    done = [p for p in told if p.state == "done"]
    assert [(p.check, p.verdict, p.task, p.effect) for p in done] == [("pytest", "PASS", "1.1", "e9")]
    the_record_binds_tree_and_results(place, judged)
    await the_tree_that_was_judged_whole_is_the_next_base(bench, trees, place)


def the_record_binds_tree_and_results(place, judged):
    kept = Store(place.evidence).verify(judged.evidence)
    assert (kept.tree, kept.base, kept.results, kept.proof, kept.proofs) == (
        judged.tree,
        judged.base,
        judged.results,
        judged.proof,
        judged.proofs,
    )
    assert kept.owners == {"calc.py": "subject (source)"}
    r1 = next(run for run in kept.runs if run.run == "R1")
    assert (r1.passed, r1.tests, r1.traced) == (2, 2, "atime") and "as they must" in r1.canaries
    part = Store(place.evidence).load_check(result(judged).evidence)
    assert part.measurement.argv[0] == PYTHON and part.measurement.env_hash and part.measurement.room == judged.tree


async def the_tree_that_was_judged_whole_is_the_next_base(bench, trees, place):
    before = len(bench.calls)
    kept = await measure_baseline(
        base=trees.write(GREEN),
        specs=(PYTEST,),
        trees=trees,
        spawner=bench,
        setting=replace(place, policy=IntegrityPolicy(mutants=0)),
        clock=time.time,
    )
    assert len(bench.calls) == before, "it is measured once"
    assert "calc.py" in kept.measurements["pytest"].reads and "tests/test_calc.py" in kept.measurements["pytest"].reads


async def test_a_new_test_that_is_red_on_the_base_is_a_proof(bench, place):
    more = "from calc import half\n\n\ndef test_six():\n    assert half(6) == 3\n"
    base = {k: v for k, v in BASE.items() if k != "tests/test_calc.py"} | {
        "tests/test_calc.py": BASE["tests/test_calc.py"].partition("\n\n\ndef test_half")[0] + "\n"
    }
    judged = await bench({"calc.py": FIX, "tests/test_more.py": more}, base=base)
    assert judged.proof is P.PROVEN
    assert [(p.kind, p.name) for p in judged.proofs] == [("new", "tests/test_more.py::test_six")]
    assert runs(place, judged) == ["R0", "R1", "R2", "R3", "R4", "boundary", "neighbours", "neighbours R3"]
    assert judged.proofs[0].boundary == "holds"


async def test_a_verify_command_that_is_red_on_the_base_is_a_proof(bench):
    verify = adopt("grep -q '// 2' calc.py", name="verify-1", strict=True)
    assert (await bench({"calc.py": FIX}, base=GREEN | {"calc.py": BASE["calc.py"]}, specs=(verify,))).proofs[
        0
    ].kind == "verify"
    judged = await bench({"README.md": "x\n"}, specs=(PYTEST, verify))
    assert judged.proof is P.FAIL and result(judged, "verify-1").verdict is Verdict.FAIL


async def test_a_test_that_could_not_be_collected_and_passes_now_is_a_proof(bench):
    early = "from calc import third\n\n\ndef test_third():\n    assert third(9) == 3\n"
    base = {**GREEN, "tests/test_third.py": early}
    judged = await bench({"calc.py": FIX + "\n\ndef third(a):\n    return a // 3\n"}, base=base)
    assert judged.proof is P.PROVEN and judged.proofs[0].red.startswith("could not be collected")
    other = await bench({"README.md": "x\n"}, base=base)
    assert other.proof is P.ERROR, "a file that cannot be collected is never a test that was broken before"


# ── HARMLESS and UNPROVEN ───────────────────────────────────────────────────────────────────────────────────────────


async def test_a_new_test_that_the_runner_does_not_take_is_named(bench):
    """@fastify/error: `*.test.js` only; the agent was told that nothing was shown, and not why."""
    body = "from calc import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n"
    twice = {"calc.py": BASE["calc.py"] + "\n\ndef twice(a):\n    return 2 * a\n"}
    judged = await bench({**twice, "tests/twice_checks.py": body})
    assert judged.proof is P.UNPROVEN
    assert "no check ran tests/twice_checks.py: tests are taken from files like tests/test_calc.py" in judged.reason
    taken = await bench({**twice, "tests/test_twice.py": body})
    assert taken.proof is P.PROVEN


@pytest.mark.parametrize(
    ("changes", "task", "verdict"),
    [
        pytest.param({}, {}, P.UNPROVEN, id="nothing done"),
        pytest.param({}, {"proof": "none"}, P.UNPROVEN, id="nothing done, nothing to show"),
        pytest.param({"README.md": "x\n"}, {}, P.UNPROVEN, id="README only"),
        pytest.param({"README.md": "x\n"}, {"proof": "none"}, P.HARMLESS, id="README, the plan says so"),
        pytest.param({"README.md": "x\n"}, {"title": "Fix half of a number"}, P.QUESTION, id="README for a bug"),
        pytest.param(
            {"README.md": "x\n"}, {"description": "see tests/test_calc.py::test_half"}, P.FAIL, id="a named red test"
        ),
        pytest.param(
            {
                "calc.py": BASE["calc.py"] + "\n\ndef new():\n    return 1\n",
                "tests/test_new.py": "from calc import new\n\n\ndef test_new():\n    assert new\n",
            },
            {},
            P.UNPROVEN,
            id="a test that only imports",
        ),
        pytest.param(
            {"tests/test_new.py": "from calc import add\n\n\ndef test_new():\n    assert add(1, 1) == 2\n"},
            {},
            P.UNPROVEN,
            id="a test that is green on the base",
        ),
    ],
)
async def test_what_shows_nothing(one_bench, changes, task, verdict):
    judged = await one_bench(changes, **task)
    assert (judged.proof, judged.accepted) == (verdict, verdict is P.HARMLESS), judged.reason


# ── FAIL ────────────────────────────────────────────────────────────────────────────────────────────────────────────

POISON = "import calc\n\ncalc.add = lambda a, b: 3\n\n\ndef test_six():\n    assert calc.half(6) == 3\n"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"calc.py": FIX.replace("a + b", "a - b")}, "test_add passed on the base", id="regression"),
        pytest.param(
            {"calc.py": FIX, "tests/test_new.py": "def test_new():\n    assert 0\n"}, "fails in R2", id="R2 is red"
        ),
        pytest.param(
            {"calc.py": FIX.replace("a + b", "a - b"), "tests/test_a.py": POISON},
            "test_add passed on the base",
            id="new tests cannot mend old ones",
        ),
        pytest.param(
            {"calc.py": FIX, "tests/test_a.py": POISON.replace("lambda a, b: 3", "lambda a, b: 4")},
            "fails in the whole change",
            id="a leak is seen by R4",
        ),
        pytest.param(
            {"calc.py": FIX + "\nimport math\n\nmath.isclose = lambda *a: True\n"}, "must fail did not", id="a canary"
        ),
        pytest.param(
            {"calc.py": FIX.replace("a + b", "a - b"), "conftest.py": "collect_ignore = ['tests']\n"},
            "test_add passed on the base",
            id="a conftest cannot hide a regression",
        ),
        pytest.param(
            {"calc.py": "import os\n\nos._exit(0)\n"}, "before its report was complete", id="the process ends"
        ),
    ],
)
async def test_what_fails(one_bench, changes, says):
    judged = await one_bench(changes)
    assert judged.proof is P.FAIL and says in judged.reason, judged.reason
    assert result(judged).verdict is Verdict.FAIL


async def test_a_new_test_is_named_with_its_line(one_bench):
    new = "from calc import half\n\n\ndef test_nothing():\n    pass\n\n\ndef test_six():\n    assert half(6) == 3\n"
    judged = await one_bench({"calc.py": FIX, "tests/test_new.py": new})
    assert ("tests/test_new.py::test_six", 8) in [(p.name, p.line) for p in judged.proofs]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("tests/test_a.py::TestA::test_b[1-x]", "class TestA:\n    async def test_b(self, n):\n        ...\n", 2),
        ("tests.test_a.TestA.test_b", "import unittest\n\n\nclass TestA:\n    def test_b(self):\n        ...\n", 5),
        ("test/a.test.js > sums > adds two", "describe('sums', () => {\n  it('adds two', () => {})\n})\n", 2),
        ("pkg/TestAdd", "package pkg\n\nfunc TestAdd(t *testing.T) {\n}\n", 3),
        ("tests/test_a.py::test_gone", "def test_other():\n    ...\n", 0),
    ],
)
def test_the_line_of_a_test_is_that_of_its_definition(name, text, line):
    assert line_of_test(text, name) == line


async def test_what_is_printed_is_of_the_run_that_failed(one_bench):
    """A new test fails, the base's own pass: its assertion is what the next attempt and the human read."""
    judged = await one_bench({"calc.py": FIX, "tests/test_new.py": "def test_new():\n    assert 40 + 2 == 41\n"})
    found = result(judged)
    assert found.exit_code == 1 and "E       assert (40 + 2) == 41" in found.output
    assert "1 failed" in found.output and found.counts.total == 3


async def test_a_test_that_skips_its_failed_assertion_is_not_fixed(bench):
    """The subject ends the test early: green, but the line that was red is never reached."""
    base = {
        "calc.py": "def half(a):\n    return a\n",
        "tests/test_calc.py": "from calc import half\n\n\ndef test_half():\n    for n in half([4, 6]):\n        assert n == 2\n",
    }
    judged = await bench({"calc.py": "def half(a):\n    return []\n"}, base=base)
    assert judged.proof is P.FAIL and "without reaching any assertion" in judged.reason


# ── QUESTION ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_an_edited_test_is_a_question_with_the_entry_that_grants_it(bench):
    edited = BASE["tests/test_calc.py"].replace("add(1, 2) == 3", "add(1, 2) == 4")
    wrong = {"calc.py": FIX.replace("a + b", "a + b + 1"), "tests/test_calc.py": edited}
    judged = await bench(wrong)
    assert judged.proof is P.QUESTION and not judged.accepted
    assert judged.questions and judged.questions[0].allow
    assert [f.severity for f in judged.findings if f.rule == judged.questions[0].rule] == ["human"]
    granted = await bench(wrong, allow=tuple(q.allow for q in judged.questions))
    assert granted.proof is P.PROVEN, granted.reason


async def test_fewer_assertions_reached_is_a_question(bench):
    base = {
        "calc.py": "def parts(a):\n    return [a, a]\n\n\ndef half(a):\n    return a\n",
        "tests/test_calc.py": "from calc import half, parts\n\n\ndef test_parts():\n    for n in parts(2):\n        assert n == 2\n\n\ndef test_half():\n    assert half(4) == 2\n",
    }
    judged = await bench({"calc.py": "def parts(a):\n    return []\n\n\ndef half(a):\n    return a // 2\n"}, base=base)
    assert judged.proof is P.QUESTION and "does not reach" in judged.reason


async def test_a_red_test_that_fails_differently_is_a_question(bench):
    judged = await bench({"calc.py": BASE["calc.py"].replace("    return a\n", "    return a + 1\n")}, proof="none")
    assert judged.proof is P.QUESTION and "fails differently" in judged.reason


@pytest.mark.parametrize("more", ["", "1"], ids=["the name alone", "its answer too"])
async def test_a_red_test_that_fails_under_another_name_fails_as_it_did(bench, more):
    base = {
        "calc.py": "import dataclasses\n\n\n@dataclasses.dataclass\nclass Pair:\n    a: int\n\n\ndef pair(a):\n    return Pair(a)\n",
        "tests/test_calc.py": "from calc import pair\n\n\ndef test_pair():\n    assert pair(1) == 2\n\n\ndef test_a():\n    assert pair(3).a == 3\n",
    }
    renamed = base["calc.py"].replace("Pair", "Couple")
    if more:
        renamed = renamed.replace("(a)\n", "(a + (a == 1))\n").replace("def pair(a + (a == 1))", "def pair(a)")
    judged = await bench(
        {"calc.py": renamed}, base=base, title="Rename Pair to Couple", allow=("rename Pair to Couple",)
    )
    assert ("fails differently" in judged.reason) is bool(more), judged.reason
    assert (judged.proof is P.QUESTION) is bool(more), judged.reason


PEEK = "import sys\n\n\ndef half(a):\n    return sys._getframe(1).f_locals.get('want', a)\n"
TWO = {
    "calc.py": "def half(a):\n    return a\n",
    "tests/test_calc.py": "from calc import half\n\n\ndef test_half():\n    want = 2\n    assert half(4) == want\n",
}


async def test_a_proof_that_holds_only_in_the_judges_process_is_a_question(bench):
    judged = await bench({"calc.py": PEEK}, base=TWO)
    assert judged.proof is P.QUESTION and [p.boundary for p in judged.proofs] == ["differs"], judged.reason
    (asked,) = (one for one in judged.questions if one.rule == "differs-across")
    assert "in another process" in asked.text
    assert asked.allow == "accept differs-across in tests/test_calc.py::test_half"


async def test_what_cannot_cross_is_said_and_nothing_else(bench):
    base = {
        "calc.py": "class Half:\n    def of(self, a):\n        return a\n",
        "tests/test_calc.py": "from calc import Half\n\n\nclass Mine(Half):\n    pass\n\n\ndef test_half():\n    assert Mine().of(4) == 2\n",
    }
    judged = await bench({"calc.py": base["calc.py"].replace("return a", "return a // 2")}, base=base)
    assert judged.proof is P.PROVEN and [p.boundary for p in judged.proofs] == ["cannot cross"]
    assert any("cannot be tried" in finding.text for finding in judged.findings)


# ── ERROR ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_base_that_cannot_be_measured_is_nobodys_fault(bench):
    missing = adopt("no-such-tool", name="own")
    judged = await bench({"calc.py": FIX}, specs=(PYTEST, missing))
    assert judged.proof is P.ERROR and result(judged, "own").verdict is Verdict.ERROR
    assert len([call for call in bench.calls if "w.py" in str(call)]) == 1, "no run on the change is paid for"


# ── flaky by history ────────────────────────────────────────────────────────────────────────────────────────────────

SHAKY = "import pathlib\n\n\ndef test_shaky():\n    p = pathlib.Path({path!r})\n    n = int(p.read_text()) if p.exists() else 0\n    p.write_text(str(n + 1))\n    assert n {when}\n"


async def test_a_test_that_flips_on_the_base_is_excused_and_remembered(bench, tmp_path, place):
    """Green in R0, red in R1, green alone, red on the base again: it flips there, in the same order."""
    base = {**GREEN, "tests/test_shaky.py": SHAKY.format(path=str(tmp_path / "n"), when="in (0, 2)")}
    judged = await bench({"calc.py": FIX + "\nX = 1\n"}, base=base, proof="none")
    assert judged.proof is P.HARMLESS, judged.reason
    assert [flip.test for flip in history(place.scratch)] == ["tests/test_shaky.py::test_shaky"]


async def test_a_test_that_flips_only_on_the_change_is_its_fault(bench, tmp_path):
    base = {
        **GREEN,
        "tests/test_shaky.py": "from shaky import f\n\n\ndef test_shaky():\n    assert f() == 1\n",
        "shaky.py": "def f():\n    return 1\n",
    }
    wobbly = (
        SHAKY.format(path=str(tmp_path / "n"), when="")
        .replace("def test_shaky", "def f")
        .replace("    assert n \n", "    return n % 2\n")
    )
    judged = await bench({"shaky.py": wobbly}, base=base, proof="none")
    assert judged.proof is P.FAIL and "test_shaky passed on the base" in judged.reason


@pytest.mark.parametrize(
    "check",
    [PYTEST, CheckSpec(name="make", kind=CheckKind.TESTS, command=("sh", "check.sh"))],
    ids=["by name", "by exit code"],
)
async def test_a_red_on_the_base_that_was_luck_proves_nothing(bench, tmp_path, place, check):
    """Red in R0, green with the change, and green on the base too when that is repeated."""
    count = tmp_path / "n"
    base = {
        **GREEN,
        "tests/test_shaky.py": SHAKY.format(path=str(count), when="!= 0"),
        "check.sh": f"grep -q return calc.py && test -e {count} || {{ touch {count}; exit 1; }}\n",
    }
    judged = await bench({"calc.py": FIX + "\nX = 1\n"}, base=base, specs=(check,))
    assert judged.proof is P.UNPROVEN, judged.reason
    assert "nothing was shown" in judged.reason
    assert [flip.check for flip in history(place.scratch)] == [check.name]


async def test_order_dependence_is_no_excuse(bench):
    """Red in order because the subject keeps state, green alone."""
    base = {
        **GREEN,
        "tests/test_a.py": "import calc\n\n\ndef test_a():\n    calc.add(1, 1)\n",
        "tests/test_z.py": "import calc\n\n\ndef test_z():\n    assert calc.add(1, 1) == 2\n",
    }
    leaky = FIX.replace(
        "    return a + b\n", "    add.n = getattr(add, 'n', 0) + 1\n    return a + b if add.n < 3 else 0\n"
    )
    judged = await bench({"calc.py": leaky}, base=base, proof="none")
    assert judged.proof is P.FAIL and "test_z" in judged.reason


# ── the rest ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_base_that_is_red_once_is_run_again_remembered_and_the_better_run_is_the_baseline(bench, trees, place):
    tree, setting = trees.write(GREEN), replace(place, policy=IntegrityPolicy(mutants=0))
    tools = Tools(bench, setting, time.time)
    given = {"specs": (PYTEST,), "trees": trees, "spawner": bench, "setting": setting, "clock": time.time}
    sound = (await measure_baseline(base=tree, **given)).measurements["pytest"]
    unlucky, *others = sound.report.cases
    cases = (replace(unlucky, outcome="failed"), *others)
    first = replace(sound, report=replace(sound.report, cases=cases))
    keep(tools, tree, [PYTEST], [first])
    assert await flips_on_base(trees, tree, PYTEST, tools, first, [unlucky.id, "gone"]) == {unlucky.id}
    assert [(flip.test, flip.how) for flip in history(setting.scratch)] == [(unlucky.id, "failed passed")]
    assert (await measure_baseline(base=tree, **given)).measurements["pytest"].report.cases == sound.report.cases


async def test_poisoned_leftovers_do_not_reach_the_next_run(bench):
    plant = "import pathlib\n\n\ndef test_plant():\n    pathlib.Path('planted.py').write_text('x = 1')\n    assert 0\n"
    await bench({"tests/test_plant.py": plant})
    look = "import pathlib\n\nimport calc\n\n\ndef test_look():\n    assert not pathlib.Path('planted.py').exists() and calc.half(2) == 1\n"
    judged = await bench({"calc.py": FIX, "tests/test_look.py": look})
    assert judged.proof is P.PROVEN, judged.reason


async def test_held_out_tells_counts_only(bench, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "test_secret.py").write_text(
        "from calc import half\n\n\ndef test_secret_six():\n    assert half(6) == 3\n\n\ndef test_secret_two():\n    assert half(2) == 1\n"
    )
    command = (PYTHON, "-m", "pytest", "--rootdir=.", "{folder}")
    held = HeldOut(name="held-out", folder=secret, command=command, runner="pytest", parser="junit", env=QUICK)
    cheat = BASE["calc.py"].replace("return a\n", "return a.bit_length() - 1\n")
    judged = await bench({"calc.py": cheat}, held_out=(held,))
    told = result(judged, "held-out")
    assert (judged.proof, told.verdict, told.counts.passed, told.counts.total) == (P.FAIL, Verdict.FAIL, 1, 2)
    assert "secret" not in f"{judged.reason} {told.reason} {told.output} {told.failing} {told.command}"
    assert (await bench({"calc.py": FIX}, held_out=(held,))).proof is P.PROVEN


async def test_mutants_are_advice(bench):
    changed = {
        "calc.py": FIX + "\n\ndef big(a):\n    return a > 10\n",
        "tests/test_big.py": "from calc import big\n\n\ndef test_big():\n    assert big(50)\n",
    }
    judged = await bench(changed, base=GREEN, policy=IntegrityPolicy(mutants=3, mutation_seconds=60))
    assert judged.accepted
    assert [(f.rule, f.severity) for f in judged.findings] == [("mutants", "note")]


async def test_the_final_checks_take_a_proven_tree_as_it_is(bench, trees, place):
    """A deletion that a task was allowed does not fail the sprint's last look; what is newly red does."""
    fewer = {**GREEN, "tests/test_calc.py": GREEN["tests/test_calc.py"].partition("\n\n\ndef test_half")[0] + "\n"}
    worse = {**GREEN, "calc.py": FIX.replace("a + b", "a - b")}

    async def final(files):
        return await judge_whole(
            tree=trees.write(files),
            base=trees.write(GREEN),
            specs=(PYTEST,),
            trees=trees,
            spawner=bench,
            setting=place,
            clock=time.time,
        )

    assert (await final(fewer)).accepted
    assert not (await final(worse)).accepted


MAKES = "import pathlib\nmade = pathlib.Path('table.c').read_text()\nassert 'broken' not in made\npathlib.Path('calc.py').write_text(made)\n"
BUILT = {
    "table.c": BASE["calc.py"],
    "make.py": MAKES,
    "tests/test_calc.py": BASE["tests/test_calc.py"],
}


@pytest.mark.parametrize(
    ("made", "verdict", "says"),
    [
        pytest.param(FIX, P.PROVEN, "test_half", id="mended"),
        pytest.param(FIX.replace("a + b", "a"), P.FAIL, "test_add passed on the base and fails now", id="another thing broken"),
        pytest.param("broken", P.FAIL, "", id="cannot be built"),
    ],
)  # fmt: skip
async def test_what_is_built_before_the_tests_is_of_the_tree_under_judgement(one_bench, made, verdict, says):
    spec = replace(PYTEST, name="built", build=(PYTHON, "make.py"))
    judged = await one_bench({"table.c": made}, base=BUILT, specs=(spec,), title="Fix half")
    assert judged.proof is verdict, judged.reason
    assert says in judged.reason
