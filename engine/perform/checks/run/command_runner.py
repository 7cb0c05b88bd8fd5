"""A plain command: judged by the report it offers, or by its exit code. The weakest evidence, and said so.

Where a program of node's runs the tests, its process holds canaries, and is asked who ended it and with which code.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec.structs import replace

from engine import files
from engine.core.model import CheckKind
from engine.perform.checks.parse.report import parse_bytes, parse_report
from engine.perform.checks.run.limits import UnreadableError, dict_of, json_lines, list_of, read_bounded, text_of
from engine.perform.checks.run.measure import Canaries, Report
from engine.perform.checks.run.node_runner import preload_for
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

BIRDS = "birds"
MANIFESTS = ("package.json", "Makefile", "makefile", "GNUmakefile")


class CommandRunner:
    """`make test`, `npm test`, a linter: whatever is started, it is started whole."""

    name = ""
    picks_files = False
    suffixes: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    weaker = "a plain command: no assertions compared, canaries only in a process of node's"

    def prepare(self, request: RunRequest) -> Prepared:
        spec, reports = request.spec, request.reports
        command = tuple(
            part.replace("{reports}", str(reports)).replace("{tree}", str(request.room)) for part in spec.command
        )
        env: dict[str, str] = {}
        if request.canaries and spec.kind is CheckKind.TESTS and _is_node(request):
            preload = reports / f"{request.key.hex()[:8]}.cjs"
            files.write(preload, preload_for(reports / BIRDS, many=True), durable=False)
            env["NODE_OPTIONS"] = f"--require={preload}"
        return Prepared(reports=reports, argv=command, report=reports / spec.report if spec.report else None, env=env)

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if request.spec.parser == "exit":
            report = Report(source="exit code")
        elif prepared.report is not None:
            report = parse_report(request.spec.parser, prepared.report, started)
        else:
            report = parse_bytes(request.spec.parser, stdout)
        if "NODE_OPTIONS" not in prepared.env:
            return report
        return replace(report, canaries=_canaries(request, finished))


def _is_node(request: RunRequest) -> bool:
    named = re.search(r"\b(?:node|npm|npx|yarn|pnpm)\b", " ".join(request.spec.command))
    return named is not None or (request.room / "package.json").is_file()


def _canaries(request: RunRequest, finished: Finished) -> Canaries | None:
    """The processes that run what the command names: their canaries, who ended them, and with which code."""
    try:
        rows = json_lines(read_bounded(request.reports / BIRDS), "the canaries' account")
    except UnreadableError:
        rows = []
    named = _named(request)
    bodies = [dict_of(row.get("body")) for row in rows]
    mine = [body for body in bodies if _entry(text_of(body.get("script"), 1000), named)]
    known = request.known.canaries if request.known is not None else None
    if not mine:
        # on the base there were some: their process was ended before it could speak
        return Canaries(planted=1) if known is not None and known.planted else None
    planted = failed = 0
    passed: list[str] = []
    for body in mine:
        planted += int(body.get("planted") or 0)
        failed += int(body.get("failed") or 0)
        passed += [text_of(name, 60) for name in list_of(body.get("passed"))]
        script, by = text_of(body.get("script"), 1000), text_of(body.get("by"), 1000).removeprefix("file://")
        if by and by != script and "/node_modules/" not in by:
            passed.append(f"{Path(by).name} ended the process of {Path(script).name}")
        if body.get("code") and finished.exit_code == 0:
            passed.append(f"{Path(script).name} ended with {body.get('code')}, the command with 0")
    return Canaries(planted=planted, failed=failed, passed=tuple(passed))


def _named(request: RunRequest) -> str:
    """What the command and the scripts it may call say."""
    texts = [" ".join(request.spec.command)]
    for name in MANIFESTS:
        try:
            texts.append((request.room / name).read_text("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(texts)


def _entry(script: str, named: str) -> bool:
    """A script that the command names; npm itself is none."""
    name = Path(script).name
    stem = name.rpartition(".")[0] or name
    inside = "/node_modules/npm/" not in script and "/npm/bin/" not in script
    return bool(name) and inside and re.search(rf"(?<![\w-]){re.escape(stem)}(?:\.\w+)?(?![\w-])", named) is not None
