"""One registry of test runners: the configuration's choices and the presets are its names."""

from __future__ import annotations

from typing import get_args

import pytest

from engine.core.vocabulary import RunnerName
from engine.perform.checks.run.command import adopt
from engine.perform.checks.run.runners import PLAIN, RUNNERS, runner_of


def test_the_configuration_knows_every_runner() -> None:
    assert set(get_args(RunnerName)) == {"", *RUNNERS}


@pytest.mark.parametrize("name", RUNNERS)
def test_every_runner_keeps_the_contract(name: str) -> None:
    runner = RUNNERS[name]
    assert runner.name == name and runner.suffixes and runner.picks_files
    whole = {"pytest", "unittest"}  # only these have all of docs/proof.md; every other says what its evidence lacks
    assert (runner.weaker == "") is (name in whole)
    assert not runner.weaker or runner.weaker.partition(":")[0] in (name, "java", "cargo")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pytest -q", "pytest"),
        ("python -m unittest", "unittest"),
        (".venv/bin/python manage.py test shop", "django"),
        ("node --test test/a.test.js", "node"),
        ("go test ./...", "go"),
        ("node_modules/.bin/vitest run", "vitest"),
        ("node_modules/.bin/jest x", "jest"),
        ("make test", ""),
        ("node script.js", ""),
        ("sh -c 'node --test'", ""),
    ],
)
def test_a_command_finds_its_runner(command: str, name: str) -> None:
    spec = adopt(command)
    assert spec.runner == name
    assert runner_of(spec) is (RUNNERS[name] if name else PLAIN)
