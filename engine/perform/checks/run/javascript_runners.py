"""tape, mocha, jest and vitest with the engine's reporters: ids by file and title, files alone, canaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine import files
from engine.perform.checks.parse.report import parse_bytes
from engine.perform.checks.run import node_files
from engine.perform.checks.run.expect_setup import VITEST_SETUP, jest_setup, vitest_config, watched
from engine.perform.checks.run.javascript_results import (
    WHOLE,
    read_jest,
)
from engine.perform.checks.run.measure import Case, Report
from engine.perform.checks.run.node_files import program
from engine.perform.checks.run.node_runner import driven, read_account
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

NO_BOUNDARY = ("there is no process boundary for a proof in this runner",)


class TapeRunner:
    """Files that speak TAP, each in a process of its own; R4 is the project's own run of all of them in one."""

    name = "tape"
    picks_files = True
    suffixes: tuple[str, ...] = node_files.SUFFIXES
    loads: tuple[str, ...] = ()
    weaker = "tape: no neighbouring inputs, no mutants, no answers beside the old tests"

    def prepare(self, request: RunRequest) -> Prepared:
        words = node_files.own_words(request.spec.command)
        if words is None or not words or bool(getattr(request, "own_settings", False)):
            return WHOLE.prepare(request)
        options, places = _node_words(words)
        files = request.files if request.files is not None else node_files.files_to_run(request.room, places)
        return driven(request, "node", options, files, tap=True)

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if request.subject and prepared.account is None:
            return Report(source="tap", counts_tests=True, problems=NO_BOUNDARY)
        if prepared.account is not None:
            return read_account(prepared.account, request.key, request.canaries, tap=True)
        return _placed(parse_bytes("tap", stdout), request.known)


def _node_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """(options for node, places) of `node test.js` or `tape -r x test/*.js`."""
    options, places = node_files.node_options([word for word in words[1:] if word not in ("--no-only", "--strict")])
    return options, places


def _placed(report: Report, known: Report | None) -> Report:
    """A whole run does not say which file a test stands in; what R0 saw does, where the name is the only one."""
    if known is None:
        return report
    # A name that comes again has a sign behind it, in a file as in the whole: they are told apart by their order.
    by_name: dict[str, list[Case]] = {}
    for case in known.cases:
        by_name.setdefault(case.id.partition("::")[2].rstrip("'"), []).append(case)
    cases = []
    for case in report.cases:
        left = by_name.get(case.id.rstrip("'"), [])
        found = left.pop(0) if left else case
        cases.append(replace(case, id=found.id, path=found.path))
    return replace(report, cases=tuple(cases))


class JestRunner:
    """jest with its JSON, the canaries in every test file's own context where its settings can be read."""

    name = "jest"
    picks_files = True
    suffixes: tuple[str, ...] = node_files.SUFFIXES
    loads: tuple[str, ...] = ()
    weaker = "jest: no mutants"

    def prepare(self, request: RunRequest) -> Prepared:
        reports = request.reports
        words = node_files.own_words(request.spec.command)
        if words is None or not words:
            return WHOLE.prepare(request)
        dropped = (
            "--json",
            "--outputFile",
            "--ci",
            "--watch",
            "--coverage",
            "--runTestsByPath",
            "--setupFilesAfterEnv",
        )
        options = [word for word in words[1:] if not word.startswith(dropped)]
        argv = [program(words[0], request)]
        argv += [word for word in options if word.startswith("-") or request.files is None]
        # what the settings demand of the coverage is a check of its own: see presets/coverage_demands
        argv += ["--ci", "--coverage=false", "--json", f"--outputFile={reports / 'jest.json'}"]
        before = _set_up(request.room)
        if before is not None and (request.canaries or request.subject):
            own = reports / "setup.js"
            files.write(own, jest_setup(request), durable=False)
            argv += [f"--setupFilesAfterEnv={one}" for one in (*before, own)]
        if request.subject:
            argv.append("--runInBand")
        if request.files is not None:
            argv += ["--runTestsByPath", *request.files]
        return Prepared(argv=tuple(argv), reports=reports, report=reports / "jest.json")

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        planted = (request.reports / "setup.js").is_file() or (request.canaries and _had_canaries(request))
        if request.subject and not planted:
            return Report(source="jest", counts_tests=True, problems=NO_BOUNDARY)
        report, loaded = read_jest(prepared.report, request, "jest", finished, stdout)
        return watched(report, request, loaded) if planted else report


def _set_up(room: Path) -> tuple[str, ...] | None:
    """What the project sets up there itself: the command line has to name it too. None: not known."""
    names = ("package.json", *(f"jest.config.{ending}" for ending in ("js", "cjs", "mjs", "ts", "json")))
    found: tuple[str, ...] = ()
    for name in names:
        try:
            text = (room / name).read_text("utf-8", "replace")
        except OSError:
            continue
        if re.search(r"\bprojects\b[\"']?\s*:", text) and "jest" in text:
            return None
        for match in re.finditer(r"setupFilesAfterEnv[\"']?\s*(?::\s*\[([^\]]*)\])?", text):
            words = re.sub(r"//[^\n]*", "", match[1]) if match[1] is not None else "?"
            if re.sub(r"\"[^\"\n]*\"|'[^'\n]*'|[\s,]", "", words):
                return None
            found += tuple(word[1:-1] for word in re.findall(r"\"[^\"\n]*\"|'[^'\n]*'", words))
    return found


class VitestRunner:
    """vitest with its JSON; the canaries in every test file's own context, by settings of ours around the project's."""

    name = "vitest"
    picks_files = True
    suffixes: tuple[str, ...] = node_files.SUFFIXES
    loads: tuple[str, ...] = ()
    weaker = "vitest: no mutants"

    def prepare(self, request: RunRequest) -> Prepared:
        reports = request.reports
        words = node_files.own_words(request.spec.command)
        if words is None or not words:
            return WHOLE.prepare(request)
        dropped = ("--reporter", "--outputFile", "--coverage", "--watch", "--ui")
        options = [word for word in words[1:] if not word.startswith(dropped) and word not in ("run", "watch", "dev")]
        argv = [program(words[0], request), "run"]
        argv += [word for word in options if word.startswith("-") or request.files is None]
        if (request.canaries or request.subject) and not any(word.startswith(("--config", "-c")) for word in options):
            argv += _vitest_settings(request)
        argv += ["--coverage.enabled=false"] if _measures(request.room) else []
        argv += ["--reporter=json", f"--outputFile={reports / 'vitest.json'}", *(request.files or ())]
        return Prepared(argv=tuple(argv), reports=reports, report=reports / "vitest.json")

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        planted = (request.reports / VITEST_SETUP).is_file() or (request.canaries and _had_canaries(request))
        if request.subject and not planted:
            return Report(source="vitest", counts_tests=True, problems=NO_BOUNDARY)
        report, loaded = read_jest(prepared.report, request, "vitest", finished, stdout)
        return watched(report, request, loaded) if planted else report


def _had_canaries(request: RunRequest) -> bool:
    """They were there on the base: none now is some that are missing."""
    return request.known is not None and request.known.canaries is not None


VITEST_SETTINGS = [
    f"{name}.config.{ending}" for name in ("vitest", "vite") for ending in ("ts", "mts", "cts", "js", "mjs", "cjs")
]
ELSEWHERE = re.compile(r"\b(?:projects|workspace|browser|typecheck)\b\s*:|vitest/browser")
"""Words of settings with which tests run in other places than a process of node's."""


def _own_settings(room: Path) -> tuple[str, str]:
    """Name and text of the project's settings for vitest; a file that cannot be read is none."""
    own = next((name for name in VITEST_SETTINGS if (room / name).is_file()), "")
    try:
        return own, (room / own).read_text("utf-8", "replace") if own else ""
    except OSError:
        return "", ""


def _measures(room: Path) -> bool:
    return "coverage" in _own_settings(room)[1]


def _vitest_settings(request: RunRequest) -> list[str]:
    """The project's settings and ours beside them; nothing where its tests run in other places."""
    room = request.room
    own, text = _own_settings(room)
    if any(room.glob("vitest.workspace.*")) or ELSEWHERE.search(text):
        return []
    config = request.reports / "config.mjs"
    files.write(config, vitest_config(request, own), durable=False)
    return [f"--config={config}"]
