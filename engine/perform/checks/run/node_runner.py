"""node:test, started by the engine's own driver: one process a file, our reporter, canaries in each."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.files import write
from engine.perform.checks.parse.report import parse_bytes, parse_report
from engine.perform.checks.parse.tap import parse_tap
from engine.perform.checks.run import node_files
from engine.perform.checks.run.limits import UnreadableError, dict_of, list_of, load_json, read_bounded, text_of
from engine.perform.checks.run.measure import BAD, ERROR, FAILED, PASSED, SKIPPED, XFAILED, Canaries, Case, Report
from engine.perform.checks.run.node_boundary import crossing_of, notes_of, prepared_preload
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

COLLECT = "CollectError"
HERE = Path(__file__).parent / "witness"


class NodeRunner:
    """`node --test`. A command that only a shell understands is run as it is, without canaries."""

    name = "node"
    picks_files = True
    suffixes: tuple[str, ...] = node_files.SUFFIXES
    loads: tuple[str, ...] = ()
    weaker = "node: no mutants"

    def prepare(self, request: RunRequest) -> Prepared:
        reports, spec = request.reports, request.spec
        words = node_files.own_words(spec.command)
        if words is None or not words:
            command = tuple(part.replace("{reports}", str(reports)) for part in spec.command)
            return Prepared(reports=reports, argv=command, report=reports / spec.report if spec.report else None)
        options, places = node_files.node_options([word for word in words[1:] if "{reports}" not in word])
        files = request.files if request.files is not None else node_files.files_to_run(request.room, places)
        return driven(request, words[0], options, files)

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if prepared.account is None:
            spec = request.spec
            if prepared.report is not None:
                return parse_report(spec.parser, prepared.report, started)
            return parse_bytes(spec.parser, stdout) if spec.parser != "exit" else Report(source="exit code")
        return read_account(prepared.account, request.key, request.canaries)


def preload_for(out: Path, *, many: bool) -> str:
    """The canaries for a process that the engine does not start itself; their account goes to `out`."""
    text = (HERE / "node_preload.cjs.txt").read_text("utf-8")
    words = {"@OUT@": json.dumps(str(out)), "@KEY@": '"-"', "@MANY@": json.dumps(many), "@WATCH@": "false"}
    for mark, value in words.items():
        text = text.replace(mark, value)
    return text


def driven(
    request: RunRequest, program: str, options: Sequence[str], files: Sequence[str], tap: bool = False
) -> Prepared:
    """The driver over these files, each in a process of its own."""
    reports = request.reports
    driver, account = reports / "d.mjs", reports / "account"
    write(driver, (HERE / "node_driver.mjs.txt").read_bytes(), durable=False)
    write(reports / "r.mjs", (HERE / "node_reporter.mjs.txt").read_bytes(), durable=False)
    orders = {
        "key": request.key.hex(),
        "files": list(files),
        "options": list(options),
        "reports": str(reports),
        "canaries": request.canaries,
        "preload": (HERE / "node_preload.cjs.txt").read_text("utf-8"),
        "account": str(account),
        "tap": tap,
        "required": [str(prepared_preload(request, options, n)) for n in range(len(files))] if request.subject else [],
        "notes": [str(notes_of(request, number)) for number in range(len(files))] if request.subject else [],
    }
    return Prepared(argv=(program, str(driver)), reports=reports, stdin=json.dumps(orders).encode(), account=account)


def read_account(path: Path, key: bytes, canaries: bool, tap: bool = False) -> Report:
    """What the driver wrote, if it is what the driver wrote."""
    empty = Report(source="driver", counts_tests=True, complete=False)
    try:
        mac, _, body = read_bounded(path).partition(b"\n")
        if not hmac.compare_digest(mac.decode("ascii", "replace"), hmac.new(key, body, hashlib.sha256).hexdigest()):
            return Report(source="driver", counts_tests=True, problems=("the driver's account was meddled with",))
        data = dict_of(load_json(body, "the driver's account"))
    except UnreadableError:
        return empty
    cases: dict[str, Case] = {}
    planted = failed = 0
    passed: list[str] = []
    crossing: list[str] = []
    for result in map(dict_of, list_of(data.get("results"))):
        for case in _tap_cases(result) if tap else _cases(result):
            id = case.id
            while id in cases:
                id += "'"
            cases[id] = case if id == case.id else Case(id=id, outcome=case.outcome, text=case.text, path=case.path)
        file = text_of(result.get("file"), 1000)
        events = [dict_of(event) for event in list_of(result.get("events"))]
        own = {
            int(one.get("line") or 0): _case(file, one).id for one in events if "path" in one and not one.get("suite")
        }
        crossing += crossing_of(list_of(result.get("notes")), own)
        birds = dict_of(result.get("canaries"))
        planted += max(int(birds.get("planted") or 0), 1) if canaries else 0
        failed += int(birds.get("failed") or 0)
        passed += [text_of(name, 60) for name in list_of(birds.get("passed"))]
    seen = Canaries(planted=planted, failed=failed, passed=tuple(passed)) if canaries else None
    return Report(
        source="driver",
        cases=tuple(cases.values()),
        canaries=seen,
        counts_tests=True,
        crossing=tuple(dict.fromkeys(crossing)),
        version=f"node {text_of(data.get('version'), 40)}",
    )


def _cases(result: dict[str, Any]) -> list[Case]:
    """The tests of one file. A file that ends before its tests do, or cannot be loaded, is a case of its own."""
    file = text_of(result.get("file"), 1000)
    events = [dict_of(event) for event in list_of(result.get("events"))]
    ended = any("end" in event for event in events)
    own = [event for event in events if "path" in event and not event.get("suite")]
    tests = _watched(file, own, list_of(dict_of(result.get("canaries")).get("reached")))
    bad_suites = [
        _case(file, event)
        for event in events
        if event.get("suite") and not event.get("ok") and event.get("kind") not in ("subtestsFailed", "")
    ]
    found = [*tests, *bad_suites]
    code, signal = result.get("code"), result.get("signal")
    tail = text_of(result.get("tail"), 3000)
    bad = any(case.outcome in (FAILED, ERROR) for case in found)
    if not events:
        return [_script(file, result, _said(tail))]
    if not ended or signal:
        text = f"the process ended before its tests did (exit {signal or code})"
        return [*found, Case(id=file, outcome=ERROR, error=COLLECT, text=f"{text}\n{_said(tail)}", path=file)]
    if code != 0 and not bad:
        return [*found, Case(id=file, outcome=ERROR, error=COLLECT, text=_said(tail), path=file)]
    return found


def _watched(file: str, tests: Sequence[dict[str, Any]], marks: Sequence[object]) -> list[Case]:
    """Tests with the assertions that held: each belongs to the last test that begins above it.

    Tests that a loop makes share their line: what was reached is not known of any of them, nor is what failed compared.
    """
    lines = [int(test.get("line") or 0) for test in tests]
    single = sorted(line for line in lines if line and lines.count(line) == 1)

    def owner(line: int) -> int:
        above = [start for start in sorted(lines) if start and start <= line]
        return above[-1] if above and above[-1] in single else 0

    found: dict[int, set[str]] = {}
    for mark in marks:
        outer, _, inner = text_of(mark, 200).partition(" ")
        if outer.isdigit() and (line := owner(int(outer))):
            found.setdefault(line, set()).add(inner)
    cases = []
    for line, test in zip(lines, tests, strict=True):
        case = _case(file, test)
        at = case.place.partition(":")[0]
        if not (at.isdigit() and line and owner(int(at)) == line):
            case = replace(case, place=f"{at}:" if at else "")
        cases.append(replace(case, reached=tuple(sorted(found.get(line, ())))))
    return cases


_PLANNED = re.compile(r"^1\.\.[1-9]", re.MULTILINE)


def _tap_cases(result: dict[str, Any]) -> list[Case]:
    """A file that speaks TAP. Without its plan it did not come to its end, whatever its exit code says."""
    file = text_of(result.get("file"), 1000)
    report = parse_tap(text_of(result.get("stream"), 4_000_000).encode())
    code, signal = result.get("code"), result.get("signal")
    found = [replace(case, id=f"{file}::{case.id}", path=file) for case in report.cases]
    ended_by = text_of(dict_of(result.get("canaries")).get("by"), 1000)
    why = ""
    silent = not found and not report.problems and not _PLANNED.search(text_of(result.get("stream"), 4_000_000))
    if silent and code == 0 and not signal and not ended_by:  # a helper beside the tests: nothing is shown by it
        return [Case(id=file, outcome=SKIPPED, text="no tests in it", path=file)]
    if report.problems:
        why = report.problems[0]
    elif not report.complete:
        why = f"it ended before its plan{f', by {ended_by}' if ended_by else ''}"
    elif (code != 0 or signal) and not any(case.outcome in BAD for case in found):
        why = f"exit {signal or code} though no test failed"
    if not why:
        return found
    said = _said(text_of(result.get("tail"), 3000))
    return [*found, Case(id=file, outcome=ERROR, error=COLLECT, text=f"{why}\n{said}", path=file)]


def _script(file: str, result: dict[str, Any], said: str) -> Case:
    """A file without node's tests: its exit code is all there is, if the file itself is what ended it."""
    ended_by = text_of(dict_of(result.get("canaries")).get("by"), 1000)
    if result.get("code") != 0 or result.get("signal"):
        return Case(id=file, outcome=ERROR, error=COLLECT, text=said, path=file)
    if result.get("uses"):
        text = "the process ended before its tests did" + (f", by {ended_by}" if ended_by else "")
        return Case(id=file, outcome=ERROR, error=COLLECT, text=text, path=file)
    if ended_by and not ended_by.endswith(f"/{file}") and "/node_modules/" not in ended_by:
        return Case(id=file, outcome=ERROR, error=COLLECT, text=f"{ended_by} ended the process", path=file)
    return Case(id=file, outcome=PASSED, path=file)


def _said(tail: str) -> str:
    """The line of an error in what a process printed last."""
    lines = [line for line in tail.splitlines() if line.strip()]
    named = [line.strip() for line in lines if re.match(r"\s*(?:\w*Error|Uncaught|\w+ \[ERR_)", line)]
    return (named or [line.strip() for line in lines] or [""])[-1][:600]


def _case(file: str, event: dict[str, Any]) -> Case:
    names = [text_of(name, 300) for name in list_of(event.get("path"))]
    ok, skip, todo = (bool(event.get(name)) for name in ("ok", "skip", "todo"))
    outcome = (SKIPPED if skip else XFAILED if todo and not ok else PASSED if ok else FAILED) if not skip else SKIPPED
    if todo and ok:
        outcome = SKIPPED
    return Case(
        id=f"{file}::{' > '.join(names)}",
        outcome=outcome,
        error=text_of(event.get("error"), 100) if not ok else "",
        text=text_of(event.get("text"), 600) if not ok else "",
        path=file,
        place=_place(file, text_of(event.get("stack"), 3000), event.get("asserted") is True) if not ok else "",
        seconds=float(event.get("ms") or 0) / 1000,
    )


def _place(file: str, stack: str, asserted: bool) -> str:
    """Line of the test's own file in the stack of its failure; `assert` where one of node's own assertions failed."""
    match = re.search(rf"{re.escape(file)}:(\d+):\d+", stack)
    return f"{match.group(1)}:{'assert ' if asserted else ''}" if match else ""
