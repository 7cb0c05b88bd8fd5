"""What a run left behind, read once: its report by the repository's names, redacted, the end of what it said."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from engine.core.clean import clean
from engine.perform.checks.parse.coverage import parse_coverage_json
from engine.perform.checks.run.limits import UnreadableError, read_bounded
from engine.perform.checks.run.measure import FileCoverage, Measurement, Report
from engine.perform.checks.run.moving_names import masks_of, settled
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.checks.run.runners import runner_of
from engine.perform.process.spawning import Finished

if TYPE_CHECKING:
    from engine.perform.checks.run.execute import Start, Tools

TAIL = 6_000


def measured_of(
    tools: Tools, start: Start, finished: Finished, stdout: bytes, started: float, version: str, room: Path
) -> Measurement:
    """Everything the process left behind, read once; then its report folder goes."""
    request, prepared = start.request, start.prepared
    setting, spec = tools.setting, request.spec
    report = _report(request, prepared, finished, stdout, started)
    report = _relative(report, (str(room), str(setting.checkout)))
    report = settled(_from_the_top(report, room, spec.folder), masks_of(setting.scratch, spec.name))
    report = _redacted(report, tools.redact)
    if version and not report.version:
        report = replace(report, version=version)
    out, err = (tools.redact(said.decode("utf-8", "replace")) for said in (stdout, finished.stderr))  # once, for all
    artefacts = _artefacts(tools, prepared, out, err)
    percent: float | None = None
    files: dict[str, FileCoverage] = {}
    if prepared.coverage is not None:
        try:
            percent, files = parse_coverage_json(read_bounded(prepared.coverage))
        except UnreadableError as error:
            report = replace(report, problems=(*report.problems, str(error)))
    forget(prepared.reports)
    return Measurement(
        check=spec.name,
        kind=spec.kind,
        argv=prepared.argv,
        ended=finished.reason,
        exit_code=finished.exit_code,
        error=clean(tools.redact(finished.error)),
        started=started,
        seconds=finished.seconds,
        report=report,
        coverage=percent,
        lines=files,
        output=_tail(out, err, (str(room), str(setting.checkout))),
        artefacts=artefacts,
        room=start.tree,
        env_hash=hashlib.sha256(repr(sorted(start.env.items())).encode()).hexdigest(),
        sandbox=tools.spawner.mode if setting.confine else "none",
    )


def _report(request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float) -> Report:
    if finished.reason == "not_started":
        parser = request.spec.parser
        return Report(source=parser if parser != "exit" else "exit code")
    return runner_of(request.spec).read(request, prepared, finished, stdout, started)


def _relative(report: Report, roots: Sequence[str]) -> Report:
    """Paths as the repository knows them, so that findings of two rooms compare."""

    def short(path: str) -> str:
        for root in roots:
            path = path.removeprefix(root + "/")
        return path

    return replace(
        report,
        findings=tuple(replace(f, path=short(f.path)) for f in report.findings),
        cases=tuple(replace(c, id=short(c.id)) for c in report.cases),
    )


def _from_the_top(report: Report, room: Path, folder: str) -> Report:
    """Names that a package's runner gives relative to its own folder, as the repository knows them."""
    if not folder:
        return report

    def whole(name: str) -> str:
        path = name.partition("::")[0]
        inside = path and not path.startswith("/") and (room / folder / path).exists()
        return f"{folder}/{name}" if inside else name

    return replace(
        report,
        findings=tuple(replace(f, path=whole(f.path)) for f in report.findings),
        cases=tuple(replace(c, id=whole(c.id), path=whole(c.path)) for c in report.cases),
        modules={name: whole(place) for name, place in report.modules.items()},
        deselected=tuple(whole(id) for id in report.deselected),
        crossing=tuple(whole(words) for words in report.crossing),
    )


def _redacted(report: Report, redact: Callable[[str], str]) -> Report:
    """Names, messages and findings are the tool's own words and go into the evidence: not before they are redacted."""
    encoded = msgspec.json.encode(report).decode()
    said = redact(encoded)
    return report if said == encoded else msgspec.json.decode(said, type=Report)


def _tail(stdout: str, stderr: str, roots: Iterable[str]) -> str:
    """The end of what was said, redacted as it is."""
    text = stdout[-TAIL:]
    if stderr.strip():
        text += "\n" + stderr[-TAIL // 2 :]
    for root in roots:
        text = text.replace(root + "/", "")
    return clean(text)[-TAIL:].strip()


def _artefacts(tools: Tools, prepared: Prepared, stdout: str, stderr: str) -> dict[str, str]:
    """`stdout` and `stderr` are redacted; what the tool wrote to files is not yet."""
    found: dict[str, bytes] = {}
    for name, path in (("account", prepared.account), ("report", prepared.report), ("coverage", prepared.coverage)):
        if path is not None and path.is_file():
            try:
                found[name] = read_bounded(path)
            except UnreadableError:
                continue
    kept = {"stdout": stdout, "stderr": stderr}
    kept |= {name: tools.redact(data.decode("utf-8", "replace")) for name, data in found.items()}
    return {name: tools.store.keep(text.encode()) for name, text in kept.items() if text}


def forget(reports: Path) -> None:
    """The report folder of a run is read once and goes; what mattered is in the evidence store."""
    for here, folders, files in os.walk(reports, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                Path(here, name).unlink()
        for name in folders:
            with contextlib.suppress(OSError):
                path = Path(here, name)
                path.unlink() if path.is_symlink() else path.rmdir()
    with contextlib.suppress(OSError):
        reports.rmdir()
