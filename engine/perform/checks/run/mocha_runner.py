"""mocha with the engine's reporter: its own files, its options, its configured specs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from engine import files
from engine.perform.checks.run import node_files
from engine.perform.checks.run.javascript_results import (
    STATUS,
    WHOLE,
    birds,
    line_in,
    relative,
    roots_of,
    unstarted,
)
from engine.perform.checks.run.limits import (
    UnreadableError,
    dict_of,
    list_of,
    load_json,
    read_bounded,
    text_of,
)
from engine.perform.checks.run.measure import ERROR, Case, Report
from engine.perform.checks.run.node_boundary import prepared_preload, with_crossing
from engine.perform.checks.run.node_files import program
from engine.perform.checks.run.node_runner import HERE, preload_for
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.checks.run.witness import script
from engine.perform.process.spawning import Finished


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
        argv = [program(words[0], request), *options, "--reporter", str(reporter)]
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
            return unstarted("mocha", request, stdout, finished)
        roots = roots_of(request)
        cases: dict[str, Case] = {}
        marks = {text_of(mark.get("test"), 2000): mark for mark in map(dict_of, list_of(data.get("marks")))}
        for row in map(dict_of, list_of(data.get("rows"))):
            path = relative(text_of(row.get("file"), 1000), roots)
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
                else line_in(path, text_of(row.get("stack"), 3000)),
                reached=tuple(sorted(text_of(one, 200) for one in list_of(mark.get("reached")))),
            )
        canaries = birds(request.reports / "birds", 1) if request.canaries else None
        report = Report(source="mocha", cases=tuple(cases.values()), canaries=canaries, counts_tests=True)
        return with_crossing(report, request) if request.subject else report


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
