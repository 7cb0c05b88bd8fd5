"""The registry of test runners, by CheckSpec.runner. Another ecosystem is another file and another entry here."""

from __future__ import annotations

from engine.perform.checks.run.command_runner import CommandRunner
from engine.perform.checks.run.compiled_runners import CargoRunner
from engine.perform.checks.run.go_runner import GoRunner
from engine.perform.checks.run.java_runner import JavaRunner
from engine.perform.checks.run.javascript_runners import JestRunner, TapeRunner, VitestRunner
from engine.perform.checks.run.mocha_runner import MochaRunner
from engine.perform.checks.run.node_runner import NodeRunner
from engine.perform.checks.run.python_runners import DjangoRunner, PytestRunner, UnittestRunner
from engine.perform.checks.run.runner import TestRunner
from engine.perform.checks.run.spec import CheckSpec

PLAIN = CommandRunner()
ALL: tuple[TestRunner, ...] = (
    PytestRunner(),
    UnittestRunner(),
    DjangoRunner(),
    NodeRunner(),
    TapeRunner(),
    MochaRunner(),
    JestRunner(),
    VitestRunner(),
    GoRunner(),
    CargoRunner(),
    JavaRunner(),
)
RUNNERS: dict[str, TestRunner] = {runner.name: runner for runner in ALL}


def runner_of(spec: CheckSpec) -> TestRunner:
    return RUNNERS.get(spec.runner, PLAIN)
