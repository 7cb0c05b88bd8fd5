"""Options of plug-ins that are not installed: which words go, what stays, what to install. By pytest's own words."""

from __future__ import annotations

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.presets.pytest_plugins import needed, without
from engine.perform.checks.run.spec import CheckSpec

SPEC = CheckSpec(name="pytest", kind=CheckKind.TESTS, command=("python3", "-m", "pytest"), runner="pytest", why="x")
USAGE = "usage: w.py [options]\nw.py: error: unrecognized arguments: {}\n  inifile: /r/pytest.ini\n"
NO_PLUGIN = "ERROR: Error importing plugin \"pytest_cov\": No module named 'pytest_cov'\n"


@pytest.mark.parametrize(
    ("command", "options", "said", "left"),
    [
        (
            (),
            ("-ra", "--cov=a", "--cov-report=term-missing"),
            "--cov=a --cov-report=term-missing",
            ("-o", "addopts=-ra"),
        ),
        (("--timeout=5", "tests"), ("-ra",), "--timeout=5", ("tests",)),
        (("-n", "0"), (), "-n 0", ()),
    ],
)
def test_exactly_what_is_not_known_goes(
    command: tuple[str, ...], options: tuple[str, ...], said: str, left: tuple[str, ...]
) -> None:
    spec = CheckSpec(name="pytest", kind=CheckKind.TESTS, command=(*SPEC.command, *command), runner="pytest")
    found = without(spec, options, USAGE.format(said))
    assert found is not None and found.command == (*SPEC.command, *left)


def test_a_plug_in_by_its_name_goes_first_and_its_options_next() -> None:
    options = ("-ra", "-p", "pytest_cov", "--cov", "-p", "no:cacheprovider")
    first = without(SPEC, options, NO_PLUGIN)
    assert first is not None and first.command[-1] == "addopts=-ra --cov -p no:cacheprovider"
    second = without(first, options, USAGE.format("--cov"))
    assert second is not None and second.command[3:] == ("-o", "addopts=-ra -p no:cacheprovider")
    assert without(second, options, USAGE.format("--cov")) is None, "nothing more can go"


def test_other_words_and_other_runners_are_left_alone() -> None:
    assert without(SPEC, ("-ra",), "E   assert 1 == 2\n1 failed") is None
    assert without(SPEC, ("-ra",), USAGE.format("--from-elsewhere")) is None
    other = CheckSpec(name="t", kind=CheckKind.TESTS, command=("make", "--cov"), runner="")
    assert without(other, ("--cov",), USAGE.format("--cov")) is None


def test_what_to_install() -> None:
    assert needed(USAGE.format("--cov=a --cov-report=xml --timeout=5")) == ("pytest-cov", "pytest-timeout")
    assert needed("ERROR: Missing required plugins: pytest-django>=4, pytest-mock") == ("pytest-django", "pytest-mock")
    assert needed(USAGE.format("--nobody-knows")) == ()
