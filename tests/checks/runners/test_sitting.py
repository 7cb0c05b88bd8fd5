"""Several runs in one process tree: each sees its own tree and nothing of the run before it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind
from engine.perform.checks.run.execute import Ask, Tools
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.sitting import Job, sit
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawner import ProcessSpawner
from tests.checks.ground import PYTHON, plain_spawner, setting
from tests.patience import patience

PYTEST = CheckSpec(
    name="pytest",
    kind=CheckKind.TESTS,
    command=(PYTHON, "-m", "pytest"),
    parser="junit",
    runner="pytest",
    env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
)
UNITTEST = CheckSpec(
    name="unittest", kind=CheckKind.TESTS, command=(PYTHON, "-m", "unittest", "discover"), runner="unittest"
)
TEST = (
    "import unittest\n\nimport calc\n\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n"
    "        calc.seen = True\n        self.assertEqual(calc.add(1, 2), 3)\n"
)
RIGHT, WRONG = b"def add(a, b):\n    return a + b\n", b"def add(a, b):\n    return a - b\n"
FILE = ("test_calc.py",)


async def sitting(tmp_path: Path, spec: CheckSpec, *jobs: Job) -> list[Measurement | None]:
    room = tmp_path / "room"
    room.mkdir()
    for name, data in {"calc.py": RIGHT, "test_calc.py": TEST.encode()}.items():
        (room / name).write_bytes(data)
    spawner: ProcessSpawner = plain_spawner(tmp_path)
    return await sit(Tools(spawner, setting(tmp_path), time.time), spec, room, jobs)


def job(**ask: object) -> Job:
    return Job(ask=Ask(files=FILE, brief=True, **ask), put={})  # type: ignore[arg-type]


def put(**files: bytes | None) -> Job:
    return replace(job(), put={f"{name}.py": data for name, data in files.items()})


def outcomes(found: list[Measurement | None]) -> list[str]:
    return ["-" if one is None else " ".join(case.outcome for case in one.report.cases) or one.ended for one in found]


@pytest.mark.parametrize("spec", [PYTEST, UNITTEST], ids=["pytest", "unittest"])
async def test_each_run_sees_its_own_tree(tmp_path: Path, spec: CheckSpec) -> None:
    """Texts of one length, put there within one second: byte code of the run before must not be taken for them."""
    found = await sitting(
        tmp_path, spec, job(), put(calc=WRONG), put(calc=RIGHT), job(canaries=False), put(calc=WRONG), put(calc=None)
    )
    assert outcomes(found)[:5] == ["passed", "failed", "passed", "passed", "failed"]
    assert outcomes(found)[5] in ("error", "failed")
    first, second = found[0], found[1]
    assert first is not None and second is not None and not first.report.problems and first.exit_code == 0
    assert first.report.canaries is not None and first.report.canaries.planted == first.report.canaries.failed > 0
    assert second.exit_code == 1 and second.report.cases[0].error == "AssertionError"


LEAVES = TEST + (
    "\n    def test_state(self):\n        import builtins, os\n\n"
    "        self.assertFalse(hasattr(builtins, 'left'))\n        builtins.left = True\n"
    "        self.assertEqual(os.read(0, 1), b'')\n"
)


@pytest.mark.parametrize("spec", [PYTEST, UNITTEST], ids=["pytest", "unittest"])
async def test_nothing_is_left_in_the_process_and_orders_of_the_next_run_are_not_there(
    tmp_path: Path, spec: CheckSpec
) -> None:
    first = replace(job(), put={"test_calc.py": LEAVES.encode()})
    assert outcomes(await sitting(tmp_path, spec, first, job(disguise=True), job())) == ["passed passed"] * 3


async def test_a_file_that_goes_takes_its_empty_folder_along(tmp_path: Path) -> None:
    """In a room that looks lived in there is a .git; in the next one there is none, not even an empty one."""
    there = b"import os\n\n\ndef test_it():\n    assert os.path.isdir('.git')\n"
    first = Job(ask=job().ask, put={"test_calc.py": there, ".git/refs/heads/.keep": b"", ".git/HEAD": b"x"})
    gone = Job(ask=job().ask, put={".git/refs/heads/.keep": None, ".git/HEAD": None})
    assert outcomes(await sitting(tmp_path, PYTEST, first, gone)) == ["passed", "failed"]


ENDS = {
    "killed": ("os.kill(os.getpid(), 9)", ["exited", "passed", "passed"]),
    "waits": ("time.sleep(600)", ["timeout", "passed", "passed"]),
    "ends all": ("os.kill(os.getppid(), 9)", ["-", "-", "-"]),
}


@pytest.mark.parametrize("how", ENDS)
async def test_a_run_that_ends_badly_takes_no_other_with_it(tmp_path: Path, how: str) -> None:
    """Where the sitting itself is ended, nothing is known of the rest: they are run by themselves then."""
    statement, wanted = ENDS[how]
    text = f"import os, time\n\n\ndef test_it():\n    {statement}\n".encode()
    first = Job(ask=Ask(files=FILE, timeout=patience(20) if how != "waits" else 3.0), put={"test_calc.py": text})
    found = await sitting(tmp_path, PYTEST, first, put(test_calc=TEST.encode()), job())
    assert outcomes(found) == wanted


async def test_what_a_runner_cannot_share_is_not_shared(tmp_path: Path) -> None:
    node = CheckSpec(name="node", kind=CheckKind.TESTS, command=("node", "--test"), runner="node")
    assert outcomes(await sitting(tmp_path, node, job(), job())) == ["-", "-"]
