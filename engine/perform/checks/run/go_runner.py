"""Go: `go test -json -count=1`, ids by file, and a canary file laid over every package that has tests (-overlay)."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from engine.core.model import Struct
from engine.files import write
from engine.perform.checks.run.limits import UnreadableError, json_lines, text_of
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, Canaries, Case, Report
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

COLLECT = "CollectError"
OUTCOMES = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}
SKIPPED_FOLDERS = ("vendor", "testdata", "node_modules")
BIRDS = ("error", "fatal", "fail", "equal", "text", "panic")
CANARY = """package @PACKAGE@

import (
	"reflect"
	"strings"
	"testing"
)

func @NAME@(t *testing.T) {
	t.Run("error", func(t *testing.T) { t.Error("must fail") })
	t.Run("fatal", func(t *testing.T) { t.Fatal("must fail") })
	t.Run("fail", func(t *testing.T) { t.Fail() })
	t.Run("equal", func(t *testing.T) {
		if !reflect.DeepEqual([]int{1}, []int{2}) {
			t.Error("must fail")
		}
	})
	t.Run("text", func(t *testing.T) {
		if !strings.Contains("abc", "x") {
			t.Error("must fail")
		}
	})
	t.Run("panic", func(t *testing.T) {
		defer func() {
			if recover() != nil {
				t.Error("must fail")
			}
		}()
		var nothing map[string]int
		nothing["x"] = 1
	})
}
"""
_FUNCTION = re.compile(r"^func\s+((?:Test|Example|Fuzz)\w*)\s*\(", re.MULTILINE)
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
RUN = """out={reports}/go.json; err={reports}/go.err
"$@" >"$out" 2>"$err"; code=$?
cat "$out"; cat "$err" >&2
[ "$code" -eq 1 ] || exit "$code"
grep -v {name} "$out" | grep '"Action":"fail"' | grep -q '"Test":' && exit 1
grep -qE '\\[(build|setup) failed\\]' "$out" "$err" && exit 1
exit 0
"""


class Folder(Struct, frozen=True, kw_only=True):
    """A package that has tests."""

    path: str
    """Relative to the room; empty at the top."""
    package: str
    tests: dict[str, str]
    """Function to the file it stands in."""
    files: tuple[str, ...]


class GoRunner:
    """Every package by one `go test`. The canaries are planted in R1 to R3; R4 is the project's own run."""

    name = "go"
    picks_files = True
    suffixes: tuple[str, ...] = ("_test.go",)
    loads: tuple[str, ...] = ()
    weaker = "go: assertions are not compared, no neighbouring inputs, no process boundary"

    def prepare(self, request: RunRequest) -> Prepared:
        reports = request.reports
        program, options, places = _command(request.spec.command)
        folders = list(packages(request.room))
        if request.files is not None:
            chosen = [folder for folder in folders if set(folder.files) & set(request.files)]
            names = [name for folder in chosen for name, file in folder.tests.items() if file in request.files]
            options = [*options, "-run", f"^({'|'.join(names)}{'|' if names else ''}{_bird(request.key)})$"]
            places = [f"./{folder.path}" if folder.path else "." for folder in chosen] or ["./..."]
            folders = chosen
        argv = [program, "test", "-json", "-count=1", *options]
        if not self._planted(request):
            return Prepared(reports=reports, argv=(*argv, *places))
        overlay = {}
        for number, folder in enumerate(folders):
            backing = reports / f"c{number}.go"
            write(
                backing,
                CANARY.replace("@PACKAGE@", folder.package).replace("@NAME@", _bird(request.key)),
                durable=False,
            )
            place = f"{folder.path}/" if folder.path else ""
            overlay[f"{place}z{_bird(request.key).lower()}_test.go"] = str(backing)
        write(reports / "overlay.json", json.dumps({"Replace": overlay}), durable=False)
        line = RUN.replace("{reports}", shlex.quote(str(reports))).replace("{name}", _bird(request.key))
        # vet cannot see an overlay; it runs in R0 and R4
        start = ("sh", "-c", line, "sh", *argv, "-vet=off", f"-overlay={reports / 'overlay.json'}", *places)
        return Prepared(reports=reports, argv=start)

    def _planted(self, request: RunRequest) -> bool:
        own = bool(getattr(request, "own_settings", False))
        return request.canaries and request.known is not None and not own

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if request.subject:
            return Report(source="go", counts_tests=True, problems=("Go has no process boundary for a proof",))
        folders = list(packages(request.room))
        try:
            events = list(json_lines(stdout, "go's report"))
        except UnreadableError as broken:
            said = text_of(finished.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
            return Report(source="go", counts_tests=True, problems=(f"{broken} {said}".strip(),))
        bird = _bird(request.key)
        cases, birds = _cases(events, folders, _module(request.room), bird)
        cases += _not_built(stdout, finished.stderr, folders, _module(request.room))
        canaries = None
        if self._planted(request):
            tested = [f for f in folders if request.files is None or set(f.files) & set(request.files)]
            broken_ones = {case.path for case in cases if case.error == COLLECT}
            able = [f for f in tested if not broken_ones & set(f.files)]
            failed = sum(1 for outcome in birds.values() if outcome == FAILED)
            passed = tuple(f"go {name}" for name, outcome in birds.items() if outcome == PASSED)
            canaries = Canaries(planted=len(BIRDS) * len(able), failed=failed, passed=passed)
        if not events and not cases and finished.exit_code != 0:
            said = text_of(finished.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2], 300)
            return Report(source="go", counts_tests=True, problems=(f"go test gave no report: {said}",))
        return Report(source="go", cases=tuple(cases), canaries=canaries, counts_tests=True)


def _bird(key: bytes) -> str:
    return f"TestZ{key.hex()[:10]}"


def _command(command: tuple[str, ...]) -> tuple[str, list[str], list[str]]:
    """(go, its options, the packages) of a `go test` line."""
    words = list(command)
    rest = words[2:] if words[1:2] == ["test"] else words[1:]
    options: list[str] = []
    places: list[str] = []
    at = 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if word in ("-json", "-v", "-cover") or word.startswith(("-count", "-overlay", "-coverprofile")):
            continue
        if word.startswith("-"):
            options.append(word)
            if word in ("-run", "-tags", "-timeout", "-p", "-parallel", "-mod", "-ldflags") and at < len(rest):
                options.append(rest[at])
                at += 1
        else:
            places.append(word)
    return words[0] if words else "go", options, places or ["./..."]


def packages(room: Path) -> Iterator[Folder]:
    """Folders with test files, of this module only."""
    for folder, names, files in os.walk(room):
        here = Path(folder)
        names[:] = sorted(
            name
            for name in names
            if name not in SKIPPED_FOLDERS
            and not name.startswith((".", "_"))
            and not (here / name / "go.mod").is_file()
        )
        tests = sorted(name for name in files if name.endswith("_test.go"))
        if not tests:
            continue
        inside = os.path.relpath(folder, room).replace(os.sep, "/")
        place = "" if inside == "." else inside
        found: dict[str, str] = {}
        package = ""
        for name in tests:
            text = (here / name).read_text("utf-8", "replace")
            path = f"{place}/{name}" if place else name
            match = _PACKAGE.search(text)
            package = package or (match.group(1) if match else "")
            for function in _FUNCTION.findall(text):
                found.setdefault(function, path)
        listed = tuple(f"{place}/{name}" if place else name for name in tests)
        if package:
            yield Folder(path=place, package=package, tests=found, files=listed)


def _module(room: Path) -> str:
    try:
        match = _MODULE.search((room / "go.mod").read_text("utf-8", "replace"))
    except OSError:
        return ""
    return match.group(1) if match else ""


def _cases(
    events: list[dict[str, object]], folders: list[Folder], module: str, bird: str
) -> tuple[list[Case], dict[str, str]]:
    by_path = {folder.path: folder for folder in folders}
    said: dict[tuple[str, str], list[str]] = {}
    ended: dict[tuple[str, str], str] = {}
    for event in events:
        package, test = text_of(event.get("Package"), 300), text_of(event.get("Test"), 300)
        action = text_of(event.get("Action"))
        key = (package, test)
        if action == "output":
            lines = said.setdefault(key, [])
            if len(lines) < 200:
                lines.append(text_of(event.get("Output"), 600).rstrip("\n"))
        elif action in OUTCOMES:
            ended[key] = OUTCOMES[action]
        elif test and action in ("run", "start"):
            ended.setdefault(key, ERROR)
    birds: dict[str, str] = {}
    cases: list[Case] = []
    for (package, test), outcome in ended.items():
        folder = by_path.get(_place(package, module))
        if test.partition("/")[0] == bird:
            if "/" in test:
                birds[f"{package} {test.partition('/')[2]}"] = outcome
            continue
        if test:
            cases.append(_case(package, test, outcome, folder, said.get((package, test), [])))
        elif outcome == FAILED:
            cases += _package_case(package, folder, said.get((package, ""), []), ended)
    return cases, birds


def _not_built(stdout: bytes, stderr: bytes, folders: list[Folder], module: str) -> list[Case]:
    """Before Go 1.24 a package that does not build is told beside the JSON, and why on stderr."""
    by_path = {folder.path: folder for folder in folders}
    why = stderr.decode("utf-8", "replace")
    found: list[Case] = []
    for match in re.finditer(rb"^FAIL\t(\S+) \[(?:build|setup) failed\]", stdout, re.MULTILINE):
        package = match.group(1).decode("utf-8", "replace")
        said = re.search(rf"^# {re.escape(package)}(?: .*)?\n((?:(?!#).*\n?)*)", why, re.MULTILINE)
        lines = said.group(1).splitlines() if said else []
        found += _package_case(package, by_path.get(_place(package, module)), lines, {})
    return found


def _place(package: str, module: str) -> str:
    """The folder of a package: what its import path has beyond the module's."""
    bare = package.partition(" ")[0].removesuffix("_test")
    return bare.removeprefix(module).strip("/") if module and bare.startswith(module) else bare


def _case(package: str, test: str, outcome: str, folder: Folder | None, lines: list[str]) -> Case:
    file = folder.tests.get(test.partition("/")[0], "") if folder is not None else ""
    text = [line.strip() for line in lines if not re.match(r"\s*(?:=== |--- )", line) and line.strip()]
    placed = next((m for line in lines if (m := re.match(r"\s+(\S+_test\.go):(\d+): (.*)", line))), None)
    bad = outcome in (FAILED, ERROR)
    return Case(
        id=f"{file or package}::{test}",
        outcome=outcome,
        error="" if not bad else "panic" if any(line.startswith("panic:") for line in lines) else "failed",
        text="\n".join(text[:12])[:600] if bad else "",
        path=file,
        place=f"{placed.group(2)}:" if placed and bad else "",
    )


def _package_case(
    package: str, folder: Folder | None, lines: list[str], ended: dict[tuple[str, str], str]
) -> list[Case]:
    """A package that fails without a test of its own that does: it does not build, or its process broke."""
    inside = {test: outcome for (where, test), outcome in ended.items() if where == package and test}
    if any(outcome in (FAILED, ERROR) for outcome in inside.values()):
        return []
    text = "\n".join(line for line in lines if line.strip())[:600] or "the package does not build"
    files = folder.files if folder is not None else (package,)
    return [Case(id=file, outcome=ERROR, error=COLLECT, text=text, path=file) for file in files]
