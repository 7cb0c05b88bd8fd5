"""Checks run for real: pytest, unittest, ruff, mypy, bandit, node, shell; and the ways they end badly."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, Verdict
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.evidence import Store
from engine.perform.checks.run.execute import Ask, Tools, run_check, run_checks
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON, which
from tests.patience import longer

QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PYTEST = CheckSpec(
    name="pytest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "pytest"), parser="junit", runner="pytest", env=QUICK
)
GOOD = "def test_a():\n    assert True is not False\n"


@pytest.fixture
def tools(spawner, place) -> Tools:
    return Tools(spawner, place, time.time)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


MIXED = (
    "import pytest\n\n\ndef test_good():\n    assert 1\n\n\ndef test_bad():\n    assert 1 == 2\n\n\n"
    "@pytest.mark.skip\ndef test_idle():\n    pass\n\n\n@pytest.mark.xfail\ndef test_known():\n    assert 0\n\n\n"
    '@pytest.mark.parametrize("x", [1, 2])\ndef test_many(x):\n    assert x\n\n\n'
    "@pytest.fixture\ndef broken():\n    raise RuntimeError('no')\n\n\ndef test_setup(broken):\n    pass\n\n\n"
    "@pytest.fixture\ndef late():\n    yield\n    raise RuntimeError('no')\n\n\ndef test_teardown(late):\n    pass\n"
)


async def test_pytest_account(tools, folder):
    write(folder, {"tests/test_mixed.py": MIXED, "tests/test_broken.py": "import nothing_like_this\n"})
    seen = await run_check(tools, PYTEST, folder)
    outcomes = {case.id.rpartition("/")[2]: case.outcome for case in seen.report.cases}
    assert outcomes == {
        "test_broken.py": "error",
        "test_mixed.py::test_good": "passed",
        "test_mixed.py::test_bad": "failed",
        "test_mixed.py::test_idle": "skipped",
        "test_mixed.py::test_known": "xfailed",
        "test_mixed.py::test_many[1]": "passed",
        "test_mixed.py::test_many[2]": "passed",
        "test_mixed.py::test_setup": "error",
        "test_mixed.py::test_teardown": "error",
    }
    assert (seen.exit_code, seen.report.problems, seen.report.source) == (1, (), "junit")
    assert "pytest 8" in seen.report.version
    assert not list(tools.setting.scratch.glob("reports/*")), "the report folder goes when it was read"
    assert Store(tools.setting.evidence).artefact(seen.artefacts["report"]).startswith(b"<?xml")


LETS_GO = (
    "import weakref\n\n\nclass Thing:\n    pass\n\n\ndef test_it_is_gone():\n    thing = Thing()\n    seen = weakref.ref(thing)\n"
    "    assert thing is not None\n    del thing\n    assert seen() is None\n\n\ndef test_its_own_locals():\n    one = 1\n"
    "    mine = locals()\n    assert one\n    assert mine['one'] == 1\n"
)


async def test_looking_at_an_assertion_keeps_nothing_alive(tools, folder):
    write(folder, {"test_lets_go.py": LETS_GO})
    seen = await run_check(tools, PYTEST, folder)
    assert {case.outcome for case in seen.report.cases} == {"passed"}, seen.output
    assert all(case.reached for case in seen.report.cases)


INSTALLED = {
    "env/site-packages/plugged.py": "def helps(x):\n    assert x\n    return x\n",
    "own.py": "def helps(x):\n    assert x\n    return x\n",
    "conftest.py": "import sys\n\nimport pytest\n\nsys.path.insert(0, 'env/site-packages')\n"
    "pytest.register_assert_rewrite('plugged', 'own')\n",
    "test_helped.py": "import own\nimport plugged\n\n\ndef test_helped():\n    assert plugged.helps(1) == own.helps(1)\n",
}


async def test_what_an_installed_plug_in_asserts_is_not_the_tests(tools, folder):
    """structlog with pytest-asyncio: heard where the plug-in was discovered, not heard where it is named."""
    write(folder, INSTALLED)
    seen = await run_check(tools, PYTEST, folder)
    (case,) = seen.report.cases
    assert case.outcome == "passed", seen.output
    assert sorted(case.reached) == ["2:x", "6:plugged.helps(1) == own.helps(1)"], case.reached


COUNTS = (
    "class Counted:\n    asked = 0\n\n    def __repr__(self):\n        Counted.asked += 1\n        return 'x'\n\n\n"
    "THING = Counted()\n\n\ndef test_nobody_printed_it():\n    thing = Counted()\n    assert thing == thing and THING\n"
    "    assert [thing] == [thing], 'the same'\n    assert Counted.asked == 0\n\n\ndef test_a_failure_is_explained():\n"
    "    thing = Counted()\n    assert thing\n    assert [thing, 1] == [thing, 2]\n"
)


async def test_looking_at_an_assertion_prints_nothing_of_what_holds(tools, folder):
    write(folder, {"test_counts.py": COUNTS})
    seen = await run_check(tools, PYTEST, folder)
    held, failed = seen.report.cases
    assert (held.outcome, len(held.reached)) == ("passed", 3), seen.output
    assert failed.outcome == "failed" and "assert [x, 1] == [x, 2]" in failed.text and len(failed.reached) == 1


async def test_only_named_tests(tools, folder):
    write(folder, {"tests/test_mixed.py": MIXED})
    chosen = Ask(ids=("tests/test_mixed.py::test_good", "tests/test_mixed.py::test_many[2]"))
    spec = replace(PYTEST, command=(PYTHON, "-m", "pytest", "tests", "-q"))
    seen = await run_check(tools, spec, folder, chosen)
    assert {case.id for case in seen.report.cases} == set(chosen.ids)


UNRUNNABLE = [
    pytest.param({"conftest.py": "import os\nos._exit(0)\n"}, Verdict.ERROR, id="os-exit-0"),
    pytest.param({"conftest.py": "import sys\nsys.exit(0)\n"}, Verdict.ERROR, id="sys-exit-0"),
    pytest.param({"conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n", "test_b.py": "def test_b():\n    assert 0\n"}, Verdict.FAIL, id="exit-status-rewritten"),
    pytest.param({"conftest.py": "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n    o = yield\n    o.get_result().outcome = 'passed'\n", "test_b.py": "def test_b():\n    assert 0\n"}, Verdict.FAIL, id="outcome-rewritten"),
    pytest.param({"conftest.py": "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n", "test_b.py": "def test_b():\n    assert 0\n"}, Verdict.FAIL, id="runner-patched"),
    pytest.param({"conftest.py": "import sys\nfor a in sys.argv:\n    if 'junitxml' in a:\n        import atexit\n        atexit.register(lambda p=a.split('=')[1]: open(p, 'w').write('<testsuites/>'))\n"}, Verdict.PASS, id="junit-forged-after-the-truth"),
    pytest.param({"test_b.py": "import os, glob, sys\ndef test_b():\n    for f in os.listdir('/proc/self/fd'):\n        p = os.path.realpath('/proc/self/fd/' + f)\n        if p.endswith('account'):\n            open(p, 'a').write('0 {}\\n')\n    assert 0\n"}, Verdict.ERROR, id="account-meddled-with"),
    pytest.param({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}, Verdict.ERROR, id="usage-error"),
    pytest.param({"test_a.py": "x = 1\n"}, Verdict.NOT_RUN, id="no-tests"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "verdict"), UNRUNNABLE)
async def test_tricks_inside_the_process(tools, folder, files, verdict):
    write(folder, {"test_a.py": GOOD, **files})
    seen = await run_check(tools, PYTEST, folder)
    result = check_result(PYTEST, seen)
    if verdict is Verdict.PASS:  # a forged report that contradicts the account is not believed
        assert result.verdict is Verdict.ERROR and "JUnit" in result.reason
    else:
        assert result.verdict is verdict, result.reason


async def _checked(tools, seconds, folder):
    return check_result(PYTEST, await run_check(tools, replace(PYTEST, timeout=seconds), folder))


async def test_timeout_keeps_what_was_seen(tools, folder):
    write(folder, {"test_a.py": GOOD, "test_b.py": "import time\ndef test_b():\n    time.sleep(60)\n"})
    result = await longer(lambda given: _checked(tools, given, folder), 2.5, lambda result: "1 passed" in result.reason)
    assert result.verdict is Verdict.NOT_RUN
    assert "until then 1 passed" in result.reason


async def test_missing_tools_say_what_to_install(tools, folder):
    missing = CheckSpec(
        name="x", kind=CheckKind.LINT, command=("no-such-tool",), parser="ruff", install="pip install it"
    )
    result = check_result(missing, await run_check(tools, missing, folder))
    assert (result.verdict, "pip install it" in result.reason) == (Verdict.ERROR, True)
    shell = adopt("no-such-tool --now")
    assert check_result(shell, await run_check(tools, shell, folder)).verdict is Verdict.ERROR
    shell = adopt("true && no-such-tool --now")
    assert check_result(shell, await run_check(tools, shell, folder)).verdict is Verdict.ERROR
    bare = next(p for p in ("/usr/bin/python3", sys.executable) if Path(p).exists())
    if bare != sys.executable:
        spec = replace(PYTEST, command=(bare, "-I", "pytest"), install="")
        spec = replace(spec, command=(bare, "-m", "pytest"))
        result = check_result(spec, await run_check(tools, spec, folder))
        assert result.verdict is Verdict.ERROR and "pip install pytest" in result.reason


async def test_unittest(tools, folder):
    text = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_good(self):\n        self.assertEqual(1, 1)\n\n    def test_bad(self):\n        self.assertEqual(1, 2)\n\n    @unittest.skip('later')\n    def test_idle(self):\n        pass\n"
    write(folder, {"tests/__init__.py": "", "tests/test_t.py": text})
    spec = CheckSpec(
        name="u",
        kind=CheckKind.TESTS,
        command=(PYTHON, "-m", "unittest", "discover"),
        parser="junit",
        runner="unittest",
    )
    seen = await run_check(tools, spec, folder)
    assert {c.id.rpartition(".")[2]: c.outcome for c in seen.report.cases} == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_idle": "skipped",
    }
    result = check_result(spec, seen)
    assert (result.verdict, result.failing) == (Verdict.FAIL, ("tests.test_t.T.test_bad",))
    write(folder, {"tests/test_t.py": ""})
    assert check_result(spec, await run_check(tools, spec, folder)).verdict is Verdict.NOT_RUN


async def test_ruff_and_bandit(tools, folder):
    write(folder, {"a.py": "import re\nimport subprocess\nimport sys\n\nsubprocess.call(sys.argv[1], shell=True)\n"})
    ruff = adopt(f"{which('ruff')} check --isolated .", name="ruff", kind=CheckKind.LINT)
    result = check_result(ruff, await run_check(tools, ruff, folder))
    assert (await run_check(tools, ruff, folder)).report.version.startswith("ruff 0.")
    assert (result.verdict, [f.rule for f in result.findings], result.findings[0].path) == (
        Verdict.FAIL,
        ["F401"],
        "a.py",
    )
    bandit = CheckSpec(
        name="bandit", kind=CheckKind.SECURITY, parser="bandit", report="b.json",
        command=(str(which("bandit")), "-q", "-r", ".", "-f", "json", "-o", "{reports}/b.json"),
    )  # fmt: skip
    result = check_result(bandit, await run_check(tools, bandit, folder))
    assert result.verdict is Verdict.FAIL
    assert [f.severity for f in result.findings if f.rule == "B602"] == ["critical"]


async def test_mypy(tools, folder):
    write(folder, {"a.py": "x: int = 'no'\n"})
    spec = adopt(f"{which('mypy')} a.py", name="mypy", kind=CheckKind.TYPES)
    result = check_result(spec, await run_check(tools, spec, folder))
    assert (result.verdict, [f.rule for f in result.findings]) == (Verdict.FAIL, ["assignment"])


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_node(tools, folder):
    write(
        folder,
        {
            "a.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\ntest('good', () => {});\ntest('bad', () => assert.equal(1, 2));\n"
        },
    )
    command = (str(which("node")), "--test-reporter=junit", "--test-reporter-destination={reports}/junit.xml", "--test")
    spec = CheckSpec(name="node", kind=CheckKind.TESTS, command=command, parser="junit", report="junit.xml")
    result = check_result(spec, await run_check(tools, spec, folder))
    assert (result.verdict, result.failing, result.source) == (Verdict.FAIL, ("bad",), "junit")


async def test_coverage(tools, folder):
    write(
        folder,
        {
            "m.py": "def f(x):\n    if x:\n        return 1\n    return 2\n",
            "test_m.py": "from m import f\n\n\ndef test_f():\n    assert f(1) == 1\n",
        },
    )
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_cov.plugin"}
    seen = await run_check(tools, replace(PYTEST, coverage=True, env=env), folder)
    assert seen.report.problems == ()
    assert seen.lines["m.py"].missing == (4,)
    assert seen.coverage is not None and 0 < seen.coverage < 100


async def test_parallel_but_in_groups(tools, folder):
    log = folder / "log"
    specs = [
        replace(adopt(f"echo start {n} >> {log}; sleep 0.4; echo end {n} >> {log}", name=str(n)), group=group)
        for n, group in enumerate(["g", "g", "", ""])
    ]
    seen = await run_checks(Tools(tools.spawner, replace(tools.setting, jobs=4), time.time), specs, folder)
    assert [one.check for one in seen] == ["0", "1", "2", "3"]
    words = [line for line in log.read_text().splitlines() if line[-1] in "01"]
    assert words[:2] in (["start 0", "end 0"], ["start 1", "end 1"])
    everything = [line.split()[0] for line in log.read_text().splitlines()]
    assert everything[:2] == ["start", "start"], "independent checks overlap"


async def test_progress_is_told_and_clean(spawner, place, folder):
    told = []
    tools = Tools(
        spawner, place, time.time, told.append, "e1", "1.1", redact=lambda text: text.replace("hunter2", "***")
    )
    await run_check(tools, adopt("printf 'hello \\033[2J hunter2\\n'", name="own"), folder)
    assert told[0].check == "own" and told[0].state == "running"
    assert "hello" in told[1].detail and "\x1b" not in told[1].detail and "hunter2" not in told[1].detail
    stored = b"".join(p.read_bytes() for p in place.evidence.rglob("*") if p.is_file())
    assert b"hunter2" not in stored


async def test_the_surroundings_do_not_steer(spawner, place, folder):
    write(folder, {"test_a.py": GOOD, "test_b.py": "def test_b():\n    assert 0\n"})
    env = {**place.env, "PYTEST_ADDOPTS": "-k test_a", "PYTHONPATH": str(folder)}
    seen = await run_check(Tools(spawner, replace(place, env=env), time.time), PYTEST, folder)
    assert len(seen.report.cases) == 2


async def test_the_users_own_files_are_not_what_is_tested(spawner, place, folder):
    """The editable-install trap: the environment leads to the checkout, and the tests run the wrong code."""
    site = place.scratch / "site"
    site.mkdir(parents=True)
    write(place.checkout, {"shop.py": "x = 1\n"})
    write(
        folder,
        {
            "lib/shop.py": "x = 2\n",
            "shop.py": "x = 2\n",
            "tests/test_x.py": f"import sys\nsys.path.insert(0, {str(place.checkout)!r})\nimport shop\n\n\ndef test_x():\n    assert shop.x\n",
        },
    )
    seen = await run_check(Tools(spawner, place, time.time), PYTEST, folder)
    result = check_result(PYTEST, seen)
    assert (result.verdict, "shop" in result.reason) == (Verdict.ERROR, True)


async def test_workers_of_xdist(tools, folder):
    """A suite that is configured to run in parallel is run in one process: one order, one witness."""
    write(
        folder,
        {"pytest.ini": "[pytest]\naddopts = -n 2\n", "test_a.py": GOOD, "test_b.py": "def test_b():\n    assert 0\n"},
    )
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    seen = await run_check(tools, replace(PYTEST, env=env), folder)
    result = check_result(PYTEST, seen)
    assert (result.verdict, result.failing) == (Verdict.FAIL, ("test_b.py::test_b",)), (result.reason, result.output)
    assert result.counts.passed == 1
