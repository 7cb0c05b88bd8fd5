"""The front door: baseline, attribution, second looks, the clean room and the record, with real git and real pytest."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, TaskSpec, Verdict
from engine.perform.checks.command import adopt
from engine.perform.checks.evidence import Store
from engine.perform.checks.judge import judge, measure_baseline
from engine.perform.checks.spec import CheckSpec, HeldOut, IntegrityPolicy
from tests.checks.ground import PYTHON

QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PYTEST = CheckSpec(
    name="pytest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "pytest"), parser="junit", runner="pytest", env=QUICK
)
BASE = {
    "calc.py": "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a\n",
    "tests/test_calc.py": "from calc import add, half\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_half():\n    assert half(4) == 2\n",
}


@pytest.fixture
def bench(trees, spawner, place):
    """judge() on this test's ground; files by name, what is not given is as in the base."""

    class Bench:
        setting = place
        calls: list[tuple[str, ...]] = []

        async def run(self, spec, on_line=None, on_stderr=None):
            self.calls.append(spec.argv)
            return await spawner.run(spec, on_line, on_stderr)

        mode = "none"

        async def __call__(self, changes, base=None, specs=(PYTEST,), policy=None, allow=(), title="Improve", **more):
            files = {**(base or BASE), **changes}
            setting = replace(place, policy=policy) if policy else place
            return await judge(
                tree=trees.write({k: v for k, v in files.items() if v is not None}),
                base=trees.write(base or BASE),
                specs=specs,
                trees=trees,
                spawner=self,
                setting=setting,
                clock=time.time,
                task=TaskSpec(id="1.1", title=title, allow=allow),
                **more,
            )

    made = Bench()
    made.calls = []
    return made


def result(judged, name="pytest"):
    return next(r for r in judged.results if r.name == name)


async def test_a_red_repository_can_be_worked_on(bench):
    judged = await bench({"other.py": "x = 1\n"})
    assert judged.accepted
    assert "1 were broken before" in result(judged).reason
    assert result(judged).failing == ()


async def test_the_agent_is_told_only_what_it_broke(bench):
    judged = await bench({"calc.py": BASE["calc.py"].replace("a + b", "a - b")})
    assert not judged.accepted
    assert result(judged).failing == ("tests/test_calc.py::test_add",)
    assert result(judged).counts.broken_before == 1


async def test_the_baseline_is_measured_once(bench, trees, place):
    await bench({"other.py": "x = 1\n"})
    first = len(bench.calls)
    await bench({"other.py": "x = 2\n"})
    assert (first, len(bench.calls)) == (2, 3)
    await bench({"other.py": "x = 2\n"}, specs=(replace(PYTEST, command=(PYTHON, "-m", "pytest", "-q")),))
    assert len(bench.calls) == 5, "other commands, another baseline"
    kept = await measure_baseline(
        base=trees.write(BASE), specs=(PYTEST,), trees=trees, spawner=bench, setting=place, clock=time.time
    )
    assert len(bench.calls) == 5
    assert {c.id: c.outcome for c in kept.measurements["pytest"].report.cases}[
        "tests/test_calc.py::test_half"
    ] == "failed"


async def test_an_unfinished_baseline_is_not_kept(bench):
    missing = adopt("no-such-tool", name="own")
    judged = await bench({"other.py": "x = 1\n"}, specs=(missing,))
    assert result(judged, "own").verdict is Verdict.ERROR
    await bench({"other.py": "x = 1\n"}, specs=(missing,))
    assert len(bench.calls) == 4


async def test_no_checks_is_no_pass(bench):
    judged = await bench({"other.py": "x = 1\n"}, specs=())
    assert [r.required for r in judged.results] == [False]


SHAKY = "import pathlib\n\n\ndef test_shaky():\n    p = pathlib.Path({path!r})\n    n = int(p.read_text()) if p.exists() else 0\n    p.write_text(str(n + 1))\n    assert n {when}\n"


async def test_flaky_counts_neither_way(bench, tmp_path):
    """Passes on the base, fails in the main run, then fails and passes by turns on both trees."""
    shaky = SHAKY.format(path=str(tmp_path / "n"), when="in (0, 2, 4)")
    base = {**BASE, "tests/test_shaky.py": shaky}
    judged = await bench({"other.py": "x = 1\n"}, base=base)
    assert judged.accepted, result(judged).reason
    assert result(judged).counts.flaky == 1
    assert [f.rule for f in judged.findings] == ["flaky"]


async def test_a_test_made_flaky_is_a_question(bench, tmp_path):
    base = {
        **BASE,
        "tests/test_shaky.py": "from shaky import f\n\n\ndef test_shaky():\n    assert f() == 1\n",
        "shaky.py": "def f():\n    return 1\n",
    }
    wobbly = (
        SHAKY.format(path=str(tmp_path / "n"), when="")
        .replace("def test_shaky", "def f")
        .replace("    assert n \n", "    return n % 3\n")
    )
    judged = await bench({"shaky.py": wobbly}, base=base)
    assert not judged.accepted
    assert "newly-flaky" in {f.rule for f in judged.findings} and judged.needs_human


async def test_a_check_that_writes_to_the_tree_is_noticed(bench, trees):
    formatter = adopt("echo '# more' >> calc.py; mkdir -p build; echo x > build/x; true", name="own")
    judged = await bench({"other.py": "x = 1\n"}, specs=(formatter,))
    assert [(f.rule, f.path) for f in judged.findings] == [("tree-changed", "calc.py")]
    assert not judged.accepted and judged.needs_human
    again = await bench({"other.py": "x = 2\n"}, specs=(adopt("test ! -e build && ! grep more calc.py", name="own"),))
    assert result(again, "own").verdict is Verdict.PASS, "the room is clean again"


async def test_poisoned_leftovers_do_not_reach_the_next_run(bench):
    """An attempt's tests plant a module and bytecode in the room; the next attempt must not find them."""
    plant = "import pathlib\n\n\ndef test_plant():\n    pathlib.Path('planted.py').write_text('x = 1')\n"
    await bench({"tests/test_plant.py": plant})
    judged = await bench(
        {
            "tests/test_look.py": "import pathlib\n\n\ndef test_look():\n    assert not pathlib.Path('planted.py').exists()\n"
        }
    )
    assert judged.accepted


async def test_red_then_green(bench):
    fixed = BASE["calc.py"].replace("return a\n", "return a // 2\n")
    vacuous = "from calc import add\n\n\ndef test_more():\n    assert add(2, 2) == 4\n"
    judged = await bench({"calc.py": BASE["calc.py"] + "\nX = 1\n", "tests/test_more.py": vacuous}, title="Fix adding")
    assert "no-red-test" in {f.rule for f in judged.findings} and not judged.accepted
    judged = await bench({"calc.py": fixed, "tests/test_more.py": vacuous}, title="Fix half")
    assert judged.accepted, "an old red test that turns green is proof enough"
    assert {f.rule: f.severity for f in judged.findings} == {"already-green": "note"}


async def test_held_out_tells_counts_only(bench, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "test_secret.py").write_text(
        "from calc import half\n\n\ndef test_secret_six():\n    assert half(6) == 3\n\n\ndef test_secret_two():\n    assert half(2) == 1\n"
    )
    held = HeldOut(
        name="held-out",
        folder=secret,
        command=(PYTHON, "-m", "pytest", "--rootdir=.", "{folder}"),
        runner="pytest",
        parser="junit",
        env=QUICK,
    )
    cheat = BASE["calc.py"].replace("return a\n", "return 2 if a == 4 else 1\n")
    judged = await bench({"calc.py": cheat}, held_out=(held,), completion=True)
    told = result(judged, "held-out")
    assert (told.verdict, told.counts.passed, told.counts.total) == (Verdict.FAIL, 1, 2)
    assert "secret" not in f"{told.reason} {told.output} {told.failing} {told.command}"
    assert not judged.accepted
    judged = await bench({"calc.py": cheat}, held_out=(held,))
    assert [r.name for r in judged.results] == ["pytest", "integrity"], "only at completion"
    honest = BASE["calc.py"].replace("return a\n", "return a // 2\n")
    assert (await bench({"calc.py": honest}, held_out=(held,), completion=True)).accepted


async def test_mutants_are_advice(bench):
    changed = {
        "calc.py": BASE["calc.py"] + "\n\ndef big(a):\n    return a > 10\n",
        "tests/test_big.py": "from calc import big\n\n\ndef test_big():\n    assert big(50)\n",
    }
    judged = await bench(
        changed,
        base={**BASE, "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"},
        policy=IntegrityPolicy(mutants=3),
        completion=True,
    )
    assert judged.accepted
    assert [(f.rule, f.severity) for f in judged.findings] == [("mutants", "note")]
    assert "went unnoticed" in judged.findings[0].text


async def test_coverage_of_changed_lines(bench):
    env = {**QUICK, "PYTEST_PLUGINS": "pytest_cov.plugin"}
    bare = {"calc.py": BASE["calc.py"] + "\n\ndef untested(a):\n    if a:\n        return 1\n    b = a\n    return b\n"}
    judged = await bench(bare, specs=(replace(PYTEST, coverage=True, env=env),))
    assert [f.rule for f in judged.findings] == ["coverage-lower"]
    assert not judged.accepted


async def test_the_record_binds_tree_and_results(bench, place):
    judged = await bench({"other.py": "x = 1\n"})
    kept = Store(place.evidence).verify(judged.evidence)
    assert (kept.tree, kept.base, kept.results, kept.findings) == (
        judged.tree,
        judged.base,
        judged.results,
        judged.findings,
    )
    part = Store(place.evidence).load_check(result(judged).evidence)
    assert part.measurement.argv[0] == PYTHON
    assert part.measurement.report.version.startswith("python 3")
    assert part.measurement.env_hash and part.measurement.sandbox == "none" and part.measurement.exit_code == 1
    other = await bench({"other.py": "x = 2\n"})
    assert other.evidence != judged.evidence


async def test_protected_files_come_from_the_base(bench, place):
    judged = await bench({"pytest.ini": "[pytest]\naddopts = -k nothing_at_all\n"})
    assert result(judged).counts.total == 2, "the base's selection was run"
    assert [f.rule for f in judged.findings] == ["config-changed"] and not judged.accepted
    kept = Store(place.evidence).load_judgement(judged.evidence)
    assert kept.tree == judged.tree != kept.room
    allowed = await bench({"pytest.ini": "[pytest]\naddopts = -k add\n"}, allow=("change-config",))
    assert result(allowed).counts.total == 1, (
        "with the plan's word the new one holds, and what it deselects is still seen"
    )
    assert "test-deselected" in {f.rule for f in allowed.findings} and not allowed.accepted


async def test_progress_names_every_verdict(bench):
    told = []
    await bench({"other.py": "x = 1\n"}, progress=told.append, effect="e9")
    done = [p for p in told if p.state == "done"]
    assert [(p.check, p.verdict, p.task, p.effect) for p in done] == [("pytest", "PASS", "1.1", "e9")]
