"""Objects of the subject in another process: what a test can do with them there, and what the boundary gives away."""

# ruff: noqa: E501

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from engine.core.model import CheckKind, Proof
from engine.perform.checks.proof import boundary
from engine.perform.checks.run import witness
from engine.perform.checks.run.measure import Case, Measurement, Report
from tests.checks.ground import PYTHON
from tests.patience import patience

SUBJECT = """
import dataclasses, enum, typing


class Account:
    rate = 3

    def __init__(self, owner, cents=0):
        self.owner, self.cents, self.log = owner, cents, []

    def add(self, cents):
        if cents < 0:
            raise Refused("no", cents)
        self.cents += cents
        self.log.append(cents)
        return self

    @property
    def euros(self):
        return self.cents / 100

    @classmethod
    def empty(cls):
        return cls("nobody")

    def __len__(self):
        return len(self.log)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.cents = 0

    def __iter__(self):
        return iter(self.log)


class Savings(Account):
    def add(self, cents):
        return super().add(cents * 2)


class Refused(ValueError):
    def __init__(self, text, cents):
        super().__init__(text)
        self.cents = cents


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 0

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


Pair = typing.NamedTuple("Pair", [("left", int), ("right", int)])


def count(limit):
    yield from range(limit)


async def later(value):
    return value + 1


def pair(a, b):
    return Pair(a, b)


def adder(n):
    return lambda m: n + m


def twice(function, value):
    return function(function(value))


def leave(code):
    raise SystemExit(code)


def logged(function):
    import functools

    @functools.wraps(function)
    def inner(*args):
        return ("logged", function(*args))

    return inner
"""
TESTS = """
import asyncio
import pytest
from subject import *
from subject import later, adder
import subject


def test_state():
    one = Account("ada")
    assert one.add(5).add(6) is one and one.cents == 11 and one.log == [5, 6] and one.euros == 0.11
    one.cents = 7
    assert one.cents == 7 and len(one) == 2 and list(one) == [5, 6] and bool(one)


def test_classes():
    assert isinstance(Savings("x"), Account) and not isinstance(Account("x"), Savings)
    assert Savings("x").add(2).cents == 4 and Account.empty().owner == "nobody" and Account.rate == 3
    assert type(Account("x")) is Account and Account("x") != Account("x")


def test_errors():
    with pytest.raises(Refused) as caught:
        Account("x").add(-1)
    assert caught.value.cents == -1 and str(caught.value) == "no"
    with pytest.raises(AttributeError):
        Account("x").nothing
    with pytest.raises(SystemExit) as left:
        leave(2)
    assert left.value.code == 2


def test_values():
    assert Point(1, 2) == Point(1, 2) != Point(1, 3) and Point(1) < Point(2) and Point(1, 2) + Point(1, 1) == Point(2, 3)
    assert repr(Point(1)) == "Point(x=1, y=0)" and {Point(1): 2}[Point(1)] == 2 and sorted([Point(2), Point(1)])[0].x == 1
    assert Color.RED is Color.RED and Color.RED != Color.BLUE and Color.RED.value == 1 and Color(2) is Color.BLUE
    assert pair(1, 2) == (1, 2) and pair(1, 2).left == 1 and pair(3, 4)[1] == 4


def test_lazy():
    assert list(count(3)) == [0, 1, 2] and asyncio.run(later(1)) == 2 and adder(2)(3) == 5
    with Account("x", 5) as one:
        assert one.cents == 5
    assert one.cents == 0


class Clock:
    now = 3

    def __call__(self):
        return self.now


def test_functions_of_the_tests():
    calls = []
    assert twice(lambda n: calls.append(n) or n + 1, 1) == 3 and calls == [1, 2]
    assert logged(lambda: 5)() == ("logged", 5) and logged(Clock())() == ("logged", 3)
    assert twice(adder(2), 1) == 5 and twice(lambda n: twice(adder(1), n), 0) == 4

    def bad(value):
        raise KeyError(value)

    with pytest.raises(KeyError):
        twice(bad, 1)


def test_stops():
    class Mine(Account):
        pass
"""


def across(tmp_path: Path, subject: str, tests: str, fork: bool) -> Report:
    room, reports = tmp_path / "room", tmp_path / f"reports{fork}"
    room.mkdir(exist_ok=True)
    reports.mkdir()
    (room / "subject.py").write_text(subject)
    (room / "test_it.py").write_text(tests)
    (reports / "w.py").write_bytes(witness.source("pytest_witness"))
    orders = {
        "checkout": "", "canaries": "", "rewrite": [], "here_first": True, "plugins": [], "coverage": False, "disguise": "",
        "boundary": {
            **{part: witness.source(f"boundary_{part}").decode() for part in ("server", "codec")},
            "source": witness.source("boundary_proxy").decode(),
            "subject": ["subject.py"],
            "fork": fork,
        },
    }  # fmt: skip
    command = [PYTHON, str(reports / "w.py"), str(reports / "account"), "-p", "no:cacheprovider", "-q", "test_it.py"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    told = b"k" * 32 + json.dumps(orders).encode()
    done = subprocess.run(
        command, cwd=room, input=told, env=env, capture_output=True, timeout=patience(30), check=False
    )
    report = witness.read_account(reports / "account", b"k" * 32)
    assert report.complete, done.stdout.decode()[-3000:] + done.stderr.decode()[-3000:]
    return report


@pytest.mark.parametrize("fork", [False, True])
def test_objects_cross_by_their_handles(tmp_path: Path, fork: bool) -> None:
    report = across(tmp_path, SUBJECT, TESTS, fork)
    bad = {case.id: case.text[-300:] for case in report.cases if case.outcome != "passed"}
    assert list(bad) == ["test_it.py::test_stops"], (bad, report.crossing)
    stopped = [words for words in report.crossing if not words.startswith("objects in")]
    assert stopped == ["test_it.py::test_stops: a class that is subclassed"]


NOTICES = """
import sys


class Meter:
    def read(self):
        return 2 if "py" + "test" in sys.modules else 1
"""


def test_a_class_that_looks_for_the_runner_differs_only_in_a_process_of_its_own(tmp_path: Path) -> None:
    tests = "from subject import Meter\n\n\ndef test_read():\n    assert Meter().read() == 2\n"
    outcomes = [across(tmp_path, NOTICES, tests, fork).cases[0].outcome for fork in (False, True)]
    assert outcomes == ["failed", "passed"]


def test_a_fixture_that_cannot_cross_stops_every_test_that_shares_it() -> None:
    """Only the first test says so. pytest 9 then ends the others in an assertion of its own: no word on the subject."""
    first = Case(id="t.py::one", outcome="error", error="CannotCross")
    later = Case(id="t.py::two", outcome="error", error="AssertionError")
    wrong = Case(id="t.py::three", outcome="failed", error="AssertionError")

    def answers(*crossing: str) -> list[str]:
        report = Report(source="junit", counts_tests=True, cases=(first, later, wrong), crossing=crossing)
        runs = [Measurement(check="pytest", kind=CheckKind.TESTS, argv=(), ended="exited", report=report)]
        proofs = [Proof(kind="new", name=case.id, check="pytest", path="t.py") for case in report.cases]
        return [boundary._answer(proof, runs) for proof in proofs]

    assert answers("t.py::one: a module that is patched (rate)") == ["cannot cross", "cannot cross", "differs"]
    assert answers("objects in t.py::one") == ["cannot cross", "differs", "differs"]
