"""tape, mocha, jest and vitest with the engine's reporters: ids by file and title, files alone, canaries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine import files
from engine.perform.checks.parse.report import parse_bytes
from engine.perform.checks.run import node_files
from engine.perform.checks.run.command_runner import CommandRunner
from engine.perform.checks.run.expect_setup import VITEST_SETUP, jest_setup, vitest_config, watched
from engine.perform.checks.run.limits import (
    UnreadableError,
    dict_of,
    json_lines,
    list_of,
    load_json,
    read_bounded,
    text_of,
)
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, Canaries, Case, Report
from engine.perform.checks.run.node_boundary import prepared_preload, with_crossing
from engine.perform.checks.run.node_runner import COLLECT, HERE, driven, preload_for, read_account
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.checks.run.witness import script
from engine.perform.process.spawning import Finished

NO_BOUNDARY = ("there is no process boundary for a proof in this runner",)
STATUS = {
    "passed": PASSED,
    "failed": FAILED,
    "pending": SKIPPED,
    "skipped": SKIPPED,
    "todo": SKIPPED,
    "disabled": SKIPPED,
}
WHOLE = CommandRunner()


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


class MochaRunner:
    """mocha with the engine's reporter; canaries in its process."""

    name = "mocha"
    picks_files = True
    suffixes: tuple[str, ...] = node_files.SUFFIXES
    loads: tuple[str, ...] = ()
    weaker = "mocha: assertions of node:assert and chai alone, no mutants"

    def prepare(self, request: RunRequest) -> Prepared:
        reports = request.reports
        words = node_files.own_words(
            tuple(part for part in request.spec.command if "{reports}" not in part or " " in part)
        )
        words = [word for word in words or [] if "{reports}" not in word]
        if not words:
            return WHOLE.prepare(request)
        options, places = _mocha_words(words[1:])
        reporter, account = reports / "r.cjs", reports / "account"
        text = (HERE / "mocha_reporter.cjs.txt").read_text("utf-8").replace("@OUT@", json.dumps(str(account)))
        files.write(reporter, text, durable=False)
        argv = [_program(words[0], request), *options, "--reporter", str(reporter)]
        if request.canaries:
            own = reports / f"{request.key.hex()[:8]}.cjs"
            files.write(own, preload_for(reports / "birds", many=False), durable=False)
            marks = reports / "marks.cjs"
            files.write(marks, "\n".join((script("assertion_marks"), script("mocha_marks"))), durable=False)
            argv += ["--require", str(own), "--require", str(marks)]
        if request.subject:
            argv += ["--require", str(prepared_preload(request, ()))]
        if request.files is not None:
            argv += ["--spec", *request.files] if not _configured_spec(request.room) else [*request.files]
        else:
            argv += places
        return Prepared(argv=tuple(argv), reports=reports, account=account)

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if prepared.account is None:
            return WHOLE.read(request, prepared, finished, stdout, started)
        try:
            data = dict_of(load_json(read_bounded(prepared.account), "mocha's report"))
        except UnreadableError:
            return _unstarted("mocha", request, stdout, finished)
        roots = _roots(request)
        cases: dict[str, Case] = {}
        marks = {text_of(mark.get("test"), 2000): mark for mark in map(dict_of, list_of(data.get("marks")))}
        for row in map(dict_of, list_of(data.get("rows"))):
            path = _relative(text_of(row.get("file"), 1000), roots)
            if request.files is not None and path and path not in request.files:
                continue
            names = [text_of(name, 300) for name in list_of(row.get("path"))]
            id = f"{path}::{' > '.join(names)}"
            bad = row.get("outcome") == "failed"
            if id in cases and not bad:
                id += "'"
            mark = marks.get(json.dumps(list_of(row.get("path")), ensure_ascii=False, separators=(",", ":")), {})
            broke = int(mark.get("broke") or 0)
            cases[id] = Case(
                id=id,
                outcome=STATUS.get(text_of(row.get("outcome")), ERROR),
                error=text_of(row.get("error"), 100),
                text=text_of(row.get("text"), 600),
                path=path,
                place=""
                if not bad
                else f"{broke}:assert "
                if broke
                else _line_in(path, text_of(row.get("stack"), 3000)),
                reached=tuple(sorted(text_of(one, 200) for one in list_of(mark.get("reached")))),
            )
        canaries = _birds(request.reports / "birds", 1) if request.canaries else None
        report = Report(source="mocha", cases=tuple(cases.values()), canaries=canaries, counts_tests=True)
        return with_crossing(report, request) if request.subject else report


def _program(name: str, request: RunRequest) -> str:
    """A bare name is looked for in the package's own programs first, and in those of the folders above, as npm does.

    By the checkout's path: the room is seen there, and what is carried beneath it.
    """
    if "/" in name:
        return name
    folder = request.spec.folder
    above = [folder, *map(str, Path(folder).parents)] if folder else ["."]
    for one in above:
        for top in (request.checkout, request.room.parents[len(Path(folder).parts) - 1] if folder else request.room):
            if (top / one / "node_modules/.bin" / name).exists():
                return os.path.normpath(request.checkout / one / "node_modules/.bin" / name)
    return name


def _mocha_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    options: list[str] = []
    places: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.partition("=")[0] in (
            "--reporter",
            "-R",
            "--reporter-option",
            "--reporter-options",
            "-O",
            "--watch",
            "-w",
        ):
            at += "=" not in word and word not in ("--watch", "-w")
        elif word.startswith("-"):
            options.append(word)
            if "=" not in word and at < len(words) and word in MOCHA_VALUES:
                options.append(words[at])
                at += 1
        else:
            places.append(word)
    return options, places


MOCHA_VALUES = (
    "--require", "-r", "--import", "--timeout", "-t", "--ui", "-u", "--config", "--file", "--grep", "-g", "--fgrep",
    "-f",
    "--extension", "--ignore", "--exclude", "--slow", "-s", "--retries", "--loader", "--package", "--node-option", "-n",
)  # fmt: skip


def _configured_spec(room: Path) -> bool:
    """A `spec` in mocha's settings is added to what the command names; the rows of other files are left out then."""
    return any((room / name).is_file() for name in (".mocharc.js", ".mocharc.json", ".mocharc.yml", ".mocharc.cjs"))


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
        argv = [_program(words[0], request)]
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
        report, loaded = _read_jest(prepared.report, request, "jest", finished, stdout)
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
        argv = [_program(words[0], request), "run"]
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
        report, loaded = _read_jest(prepared.report, request, "vitest", finished, stdout)
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


def _read_jest(
    path: Path | None, request: RunRequest, name: str, finished: Finished, stdout: bytes
) -> tuple[Report, int]:
    """jest's JSON (vitest writes the same), and how many files ran a test."""
    try:
        data = dict_of(load_json(read_bounded(path or request.reports), f"{name}'s report"))
    except UnreadableError:
        return _unstarted(name, request, stdout, finished), 0
    roots = _roots(request)
    cases: dict[str, Case] = {}
    loaded = 0
    for file in map(dict_of, list_of(data.get("testResults"))):
        where = _relative(text_of(file.get("name"), 1000), roots)
        if request.files is not None and where not in request.files:
            continue
        tests = [dict_of(test) for test in list_of(file.get("assertionResults"))]
        if not tests and file.get("status") == "failed":
            text = _last_line(text_of(file.get("message"), 3000))
            cases[where] = Case(id=where, outcome=ERROR, error=COLLECT, text=text, path=where)
            continue
        loaded += any(STATUS.get(text_of(test.get("status"))) != SKIPPED for test in tests)  # else no hook is called
        for test in tests:
            names = [text_of(n, 300) for n in (*list_of(test.get("ancestorTitles")), test.get("title")) if n]
            id = f"{where}::{' > '.join(names)}"
            while id in cases:
                id += "'"
            messages = [text_of(message, 3000) for message in list_of(test.get("failureMessages"))]
            outcome = STATUS.get(text_of(test.get("status")), ERROR)
            cases[id] = Case(
                id=id,
                outcome=outcome,
                error=messages[0].partition(":")[0][:100] if messages else "",
                text=messages[0][:600] if messages else "",
                path=where,
                place=_line_in(where, messages[0]) if messages else "",
            )
    problems = () if isinstance(data.get("testResults"), list) else (f"{name}'s report has no results",)
    return Report(source=name, cases=tuple(cases.values()), counts_tests=True, problems=problems), loaded


def _unstarted(name: str, request: RunRequest, stdout: bytes, finished: Finished) -> Report:
    """No report: with single files asked for, those could not be run; else nothing is known."""
    said = _last_line((finished.stderr or stdout).decode("utf-8", "replace"))
    if request.files is None:
        return Report(source=name, counts_tests=True, problems=(f"{name} gave no report: {said}",))
    cases = tuple(Case(id=file, outcome=ERROR, error=COLLECT, text=said, path=file) for file in request.files)
    return Report(source=name, cases=cases, counts_tests=True)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"(?:\w+: )?\w*Error\b|Cannot find|● ", line)]
    return (named or lines or [""])[0 if named else -1][:600]


def _roots(request: RunRequest) -> tuple[str, ...]:
    """Where the room may seem to lie: its folder, or the checkout that the sandbox mounts it at."""
    inside = request.spec.folder if hasattr(request.spec, "folder") else ""
    both = (str(request.room), str(request.room.resolve()), str(request.checkout / inside), str(request.checkout))
    return tuple(dict.fromkeys(path.rstrip("/") for path in both))


def _relative(path: str, roots: Iterable[str]) -> str:
    for root in roots:
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return path


def _line_in(path: str, stack: str) -> str:
    match = re.search(rf"{re.escape(path)}:(\d+)(?::\d+)?", stack) if path else None
    return f"{match.group(1)}:" if match else ""


def _birds(path: Path, wanted: int) -> Canaries:
    """What the canaries wrote; at least one account for every file that was loaded."""
    try:
        rows = json_lines(read_bounded(path), "the canaries' account")
    except UnreadableError:
        rows = []
    bodies: list[dict[str, Any]] = [dict_of(row.get("body")) if "body" in row else row for row in rows]
    missing = max(0, wanted - len(bodies))
    planted = sum(int(body.get("planted") or 0) for body in bodies) + missing
    failed = sum(int(body.get("failed") or 0) for body in bodies)
    passed = tuple(text_of(name, 60) for body in bodies for name in list_of(body.get("passed")))
    return Canaries(planted=planted, failed=failed, passed=passed)
