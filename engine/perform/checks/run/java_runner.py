"""Maven and Gradle: ids by file, one class alone by its name; a class that does not compile is a file in error."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from msgspec.structs import replace

from engine import files
from engine.perform.checks.parse.report import parse_report
from engine.perform.checks.run.command_runner import CommandRunner
from engine.perform.checks.run.limits import text_of
from engine.perform.checks.run.measure import ERROR, Case, Report
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

COLLECT = "CollectError"
WHOLE = CommandRunner()
SOURCES = (".java", ".kt", ".groovy", ".scala")
COMPILER = re.compile(
    r"^(?:\[ERROR\] |e: (?:file://)?)?(?P<file>/?[^\s:\[\]]+\.(?:java|kt|groovy|scala)):"
    r"(?:\[\d+,\d+\]|\d+:(?:\d+)?(?: error:)?) (?P<said>\S.*)$",
    re.MULTILINE,
)
"""A line of javac's or kotlinc's, as Maven (`[12,3] …`) and Gradle (`12: error: …`) hand it on."""
WRONG = re.compile(r"^\* What went wrong:\n(.+?)(?=^\* |\Z)", re.MULTILINE | re.DOTALL)
"""Gradle's own reason; its last line is the time it took."""
ELSEWHERE = "allprojects { tasks.withType(Test) { filter { failOnNoMatchingTests = false } } }\n"
"""In a build of several projects the others have no such class."""


class JavaRunner:
    """Maven and Gradle by the JUnit reports they write; a class alone by its name."""

    name = "java"
    picks_files = True
    suffixes: tuple[str, ...] = ("Test.java", "Tests.java", "Test.kt", "Tests.kt", "IT.java", "Spec.groovy")
    loads: tuple[str, ...] = ()
    weaker = (
        "java: no canaries, assertions are not compared, new code is not emptied, no neighbouring inputs, "
        "no process boundary"
    )

    def prepare(self, request: RunRequest) -> Prepared:
        prepared = WHOLE.prepare(request)
        if request.files is None:
            return prepared
        classes = [Path(file).stem for file in request.files]
        # in a build of several modules the others have no such class
        maven = f"-Dtest={','.join(classes)} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"
        if prepared.argv[:2] != ("sh", "-c"):
            return replace(prepared, argv=(*prepared.argv, *maven.split()))
        chosen = maven
        if not re.search(r"\bmvnw?\b", prepared.argv[2]):
            script = request.reports / "chosen.gradle"
            files.write(script, ELSEWHERE, durable=False)
            names = " ".join(f"--tests {shlex.quote(f'*{name}')}" for name in classes)
            chosen = f"{names} --init-script {shlex.quote(str(script))}"
        line = re.sub(r"\btest;", lambda _match: f"test {chosen};", prepared.argv[2], count=1)
        return replace(prepared, argv=("sh", "-c", line))

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if request.subject:
            return Report(source="junit", counts_tests=True, problems=("Java has no process boundary for a proof",))
        if prepared.report is None:
            return WHOLE.read(request, prepared, finished, stdout, started)
        broken = _uncompiled(request, stdout + b"\n" + finished.stderr) if finished.exit_code else []
        report = parse_report(request.spec.parser, prepared.report, started)
        if broken and not report.cases:
            report = Report(source=request.spec.parser, counts_tests=True)
        elif report.problems and (wrong := _went_wrong(stdout + b"\n" + finished.stderr)):
            report = replace(report, problems=(wrong, *report.problems))
        sources = _classes(request.room)
        cases = []
        for case in report.cases:
            name, _, test = case.id.partition("::")
            path = sources.get(name.partition("$")[0], "")
            wanted = request.files is None or not path or path in request.files
            if wanted:
                cases.append(replace(case, id=f"{path}::{test}", path=path) if path else case)
        return replace(report, cases=(*cases, *broken))


def _went_wrong(output: bytes) -> str:
    found = WRONG.search(output.decode("utf-8", "replace"))
    return text_of(" ".join(word for word in found[1].split() if word != ">"), 300) if found else ""


def _uncompiled(request: RunRequest, output: bytes) -> list[Case]:
    """Files that the compiler complained about. Nothing of their module ran: what was asked for has no results."""
    found: dict[str, str] = {}
    for match in COMPILER.finditer(output.decode("utf-8", "replace")):
        path = match["file"]
        for root in (request.room, request.checkout):
            path = path.removeprefix(f"{root}/")
        found.setdefault(path, text_of(f"{path}: {match['said']}", 400))
    if not found:
        return []
    if request.files is None:
        return [Case(id=path, outcome=ERROR, error=COLLECT, text=text, path=path) for path, text in found.items()]
    said = "\n".join(found.values())[:600]
    return [
        Case(id=file, outcome=ERROR, error=COLLECT, text=found.get(file, said), path=file) for file in request.files
    ]


def _classes(room: Path) -> dict[str, str]:
    """Whole class name to its file, by the folders of its package."""
    found: dict[str, str] = {}
    for folder, names, inner in os.walk(room):
        names[:] = [name for name in names if name not in (".git", "build", "target", "node_modules")]
        inside = os.path.relpath(folder, room).replace(os.sep, "/")
        package = re.sub(r"^.*?src/[^/]+/(?:java|kotlin|groovy|scala)/?", "", inside).replace("/", ".")
        for name in inner:
            if name.endswith(SOURCES):
                stem = name.rpartition(".")[0]
                path = name if inside == "." else f"{inside}/{name}"
                found.setdefault(f"{package}.{stem}" if package not in ("", ".") else stem, path)
    return found
