"""pytest, unittest and Django, started by the engine's own shims: options, settings and order are the engine's."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine import files
from engine.perform.checks.parse.report import parse_report
from engine.perform.checks.run import witness
from engine.perform.checks.run.measure import Report
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

VALUE_OPTIONS = (
    "-c", "-p", "-o", "-m", "-k", "-W", "-n", "-s", "-t", "--rootdir", "--confcutdir", "--ignore", "--ignore-glob",
    "--cov", "--deselect",
)  # fmt: skip
MANY_IDS = 300
SEED, OTHER_SEED = {"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "20977"}
"""The order of a set is fixed within a run, and another one where a proof has to hold once more."""


class PytestRunner:
    """All that a proof asks for: named plug-ins, the base's settings, canaries, assertions."""

    name = "pytest"
    picks_files = True
    suffixes: tuple[str, ...] = (".py",)
    loads: tuple[str, ...] = ("pytest", "unittest", "hmac", "linecache")
    weaker = ""

    def prepare(self, request: RunRequest) -> Prepared:
        reports = request.reports
        python, args, as_module = runner_arguments(request.spec.command)
        shim, account, junit = reports / "w.py", reports / "account", reports / "junit.xml"
        files.write(shim, witness.source("pytest_witness"), durable=False)
        canaries = ""
        if request.canaries:
            canaries = f"t_{secrets.token_hex(4)}"
            files.write(reports / f"{canaries}.py", witness.source("pytest_rewritten"), durable=False)
            files.write(reports / f"{canaries}_", witness.source("pytest_canaries"), durable=False)
        if request.files is not None:
            args = (*options_only(args, request.room), *(request.ids or request.files))
        elif request.ids is not None:
            chosen = list(request.ids)
            if len(chosen) > MANY_IDS:
                chosen = list(dict.fromkeys(id.partition("::")[0] for id in chosen))
            args = (*options_only(args, request.room), *chosen)
        own = [
            f"--junitxml={junit}",
            "-o", "junit_family=xunit2",
            "-o", f"enable_assertion_pass_hook={'false' if request.brief else 'true'}",
            "-p", "no:cacheprovider",
            "--continue-on-collection-errors",
            f"--maxfail={1 if request.stop_early else 0}",
            "--color=no",
            *(["--tb=line"] if request.brief else []),
        ]  # fmt: skip
        coverage = None
        if request.spec.coverage and request.files is None and request.ids is None and not request.subject:
            coverage = reports / "coverage.json"
            own += ["--cov", f"--cov-report=json:{coverage}"]
        if request.known is not None and not request.own_settings:
            own += _settings(request, reports)
        orders = {
            "checkout": os.fsdecode(request.checkout),
            "canaries": canaries,
            "rewrite": request.helpers,
            "here_first": as_module,
            "plugins": request.known.plugins if request.known is not None and request.known.settings else None,
            "coverage": coverage is not None,
            "brief": request.brief,
            "boundary": witness.boundary_orders(request) if request.subject else None,
            "disguise": witness.source("disguise").decode() if request.disguise else "",
        }
        told = request.key + json.dumps(orders).encode("utf-8", "surrogateescape")
        return Prepared(
            argv=(python, str(shim), str(account), *args, *own),
            reports=reports,
            stdin=told,
            env=OTHER_SEED if request.disguise else SEED,
            account=account,
            report=junit,
            coverage=coverage,
        )

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        account = witness.read_account(prepared.account or prepared.reports, request.key)
        if prepared.report is None or not account.complete:
            return account
        odd = witness.disagreement(account, parse_report("junit", prepared.report, started))
        problems = (*account.problems, odd) if odd else account.problems
        return replace(account, source="junit", problems=problems)


class UnittestRunner:
    """The standard library's runner, with the same account and canaries."""

    name = "unittest"
    picks_files = True
    suffixes: tuple[str, ...] = (".py",)
    loads: tuple[str, ...] = ("unittest", "hmac", "linecache", "pathlib")
    weaker = ""

    django = False

    def prepare(self, request: RunRequest) -> Prepared:
        python, args, _ = runner_arguments(request.spec.command)
        shim, account = request.reports / "w.py", request.reports / "account"
        files.write(shim, witness.source("unittest_witness"), durable=False)
        orders = {
            "checkout": os.fsdecode(request.checkout),
            "canaries": request.canaries,
            "files": request.files,
            "stop_early": request.stop_early,
            "boundary": witness.boundary_orders(request) if request.subject else None,
            "disguise": witness.source("disguise").decode() if request.disguise else "",
            "django": witness.source("django_program").decode() if self.django else "",
        }
        told = request.key + json.dumps(orders).encode("utf-8", "surrogateescape")
        given = request.ids if request.ids is not None and request.files is None else args
        return Prepared(
            argv=(python, str(shim), str(account), *given),
            reports=request.reports,
            stdin=told,
            env=OTHER_SEED if request.disguise else SEED,
            account=account,
        )

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        return witness.read_account(prepared.account or prepared.reports, request.key)


class DjangoRunner(UnittestRunner):
    """`manage.py test`: the project's own test runner with the account's loader, result and canaries."""

    name = "django"
    django = True
    weaker = "django: a proof is not run behind a process boundary, nor among its neighbours"


def runner_arguments(command: Sequence[str]) -> tuple[str, tuple[str, ...], bool]:
    """(interpreter, the runner's own arguments, started as a module) of `python -m pytest …`, `…/bin/pytest …`,
    `python manage.py test …`."""
    if len(command) >= 3 and (command[1] == "-m" or command[1].endswith(".py")):
        return command[0], tuple(command[3:]), True
    program = Path(command[0])
    beside = program.with_name("python")
    return (str(beside) if program.parent != Path() else "python3"), tuple(command[1:]), False


def options_only(args: Sequence[str], room: Path) -> list[str]:
    """The arguments without the paths they select: a run of chosen files names its own."""
    kept: list[str] = []
    for index, arg in enumerate(args):
        value_of = args[index - 1] if index else ""
        if not arg.startswith("-") and value_of not in VALUE_OPTIONS and (room / arg.partition("::")[0]).exists():
            continue
        kept.append(arg)
    return kept


def _settings(request: RunRequest, reports: Path) -> list[str]:
    """The settings file that the base's run used, and its root: nothing new in the room is looked at."""
    known = request.known.settings if request.known is not None else {}
    if "rootdir" not in known or any(arg.startswith(("-c", "--rootdir")) for arg in request.spec.command[1:]):
        return []
    root = known["rootdir"] or "."
    if known.get("ini"):
        return ["-c", known["ini"], "--rootdir", root]
    empty = reports / "empty.ini"
    files.write(empty, "[pytest]\n", durable=False)
    return ["-c", str(empty), "--rootdir", root, "--confcutdir", root]
