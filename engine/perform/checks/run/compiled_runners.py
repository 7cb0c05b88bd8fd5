"""Cargo: ids by file, one test file alone where the tool can; canaries do not fit into it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from engine.perform.checks.run.command_runner import CommandRunner
from engine.perform.checks.run.limits import MAX_ITEMS, text_of
from engine.perform.checks.run.measure import ERROR, FAILED, PASSED, SKIPPED, Case, Report
from engine.perform.checks.run.runner import Prepared, RunRequest
from engine.perform.process.spawning import Finished

COLLECT = "CollectError"
WHOLE = CommandRunner()
RUNNING = re.compile(r"^\s*Running (?:unittests )?(?P<source>\S+\.rs)? ?\((?P<file>\S+)\)|^\s*Doc-tests (?P<what>\S+)")
LIBTEST = re.compile(r"^test (?P<name>.+?)(?: - should panic)? \.\.\. (?P<word>ok|FAILED|ignored)\b")
EXAMPLE = re.compile(r"(?P<file>\S+\.(?:rs|md)) - (?:(?P<what>.*?) )?\(line \d+\)")
SUMMARY = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored")
BEGUN = re.compile(r"^running \d+ tests?$")
ENDED = re.compile(r"\(signal: [^()]*\)|\(exit status: \d+\)")
DIED = re.compile(r"^died: (?P<how>its test program ended before its totals: .*)$")
PANIC = re.compile(r"^thread '(?P<name>[^']+)'.* panicked at (?P<place>.+?):?$")
WORDS = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}


class CargoRunner:
    """libtest's lines, held against its own totals; every test named by the source file of its target."""

    name = "cargo"
    picks_files = True
    suffixes: tuple[str, ...] = (".rs",)
    loads: tuple[str, ...] = ()
    weaker = (
        "cargo: no canaries, assertions are not compared, new code is not emptied, no neighbouring inputs, "
        "no process boundary"
    )

    def prepare(self, request: RunRequest) -> Prepared:
        if request.files is None:
            return WHOLE.prepare(request)
        targets = [Path(file).stem for file in request.files if re.fullmatch(r"(?:[\w/-]+/)?tests/[\w-]+\.rs", file)]
        if len(targets) < len(request.files):
            return WHOLE.prepare(request)  # tests beside the source: their target is the library
        chosen = " ".join(f"--test {shlex.quote(target)}" for target in targets)
        line = f"cargo test --offline --no-fail-fast --color=never {chosen} 2>&1"
        return Prepared(argv=("sh", "-c", line), reports=request.reports)

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        if request.subject:
            return Report(source="libtest", counts_tests=True, problems=("Cargo has no process boundary for a proof",))
        report = read_libtest(stdout, crates(request.room), request.room)
        broken = re.search(rb"^error(?:\[E\d+\])?: (.*)$", stdout, re.MULTILINE)
        if report.cases or finished.exit_code == 0 or broken is None:
            return report
        text = text_of(broken.group(0).decode("utf-8", "replace"), 400)
        files = request.files or ("Cargo.toml",)
        cases = tuple(Case(id=file, outcome=ERROR, error=COLLECT, text=text, path=file) for file in files)
        return Report(source="libtest", cases=cases, counts_tests=True)


def crates(room: Path) -> dict[str, str]:
    """Folder of each crate to its name as compiled files spell it: the members of a workspace, or the top alone."""
    found: dict[str, str] = {}
    for folder, names, files in os.walk(room):
        names[:] = sorted(name for name in names if name not in ("target", "node_modules") and name[0] != ".")
        inside = os.path.relpath(folder, room)
        if "Cargo.toml" in files and inside.count(os.sep) < 4:
            text = (Path(folder) / "Cargo.toml").read_text("utf-8", "replace")
            package = text.partition("[package]")[2].partition("\n[")[0]
            if (name := re.search(r"^\s*name\s*=\s*[\"']([\w-]+)[\"']", package, re.MULTILINE)) is not None:
                found["" if inside == "." else f"{inside}/"] = name.group(1).replace("-", "_")
    return found


def read_libtest(data: bytes, members: Mapping[str, str] | None = None, room: Path | None = None) -> Report:
    """Stable Rust offers no report file; the lines must agree with the totals.

    cargo names files from their crate on; here they are named from the top. An example in a comment is named by what
    it explains and not by its line, which every edit above it moves.
    """
    cases: dict[str, Case] = {}
    seen = {"ok": 0, "FAILED": 0, "ignored": 0}
    claimed = [0, 0, 0]
    target = source = at = ""
    panics: dict[str, str] = {}
    lines = _without_dead(data.decode("utf-8", "replace").splitlines()[:MAX_ITEMS])
    for index, line in enumerate(lines):
        if (match := DIED.match(line)) is not None:
            id = target or source
            cases[id] = Case(id=id, outcome=ERROR, error=COLLECT, text=match["how"], path=source)
        elif (match := RUNNING.match(line)) is not None:
            compiled = re.sub(r"-[0-9a-f]{16}$", "", (match["file"] or match["what"] or "").rpartition("/")[2])
            at = _crate(match["source"] or "", compiled, at, members or {}, room)
            source = f"{at}{match['source']}" if match["source"] else ""
            target = source or compiled
        elif (match := LIBTEST.match(line)) is not None:
            name, path = match["name"], source
            if (example := EXAMPLE.match(name)) is not None:
                path = example["file"] if example["file"].startswith(at) else f"{at}{example['file']}"
                name = f"example {example['what'] or ''}".strip()
            place = path if example is not None else target
            id = f"{place}::{name}" if place else name
            while id in cases:
                id += "'"
            cases[id] = Case(id=id, outcome=WORDS[match["word"]], path=path)
            seen[match["word"]] += 1
        elif (match := SUMMARY.match(line)) is not None:
            claimed = [have + int(more) for have, more in zip(claimed, match.groups(), strict=True)]
        elif (match := PANIC.match(line)) is not None:
            said = lines[index + 1] if index + 1 < len(lines) else ""
            panics[match["name"]] = f"{match['place']} {said}".strip()
    problems = () if list(seen.values()) == claimed else ("libtest's lines and its totals do not agree",)
    found = tuple(_with_panic(case, panics) for case in cases.values())
    return Report(source="libtest", cases=found, counts_tests=True, problems=problems)


def _without_dead(lines: list[str]) -> list[str]:
    """A test program that died before its totals has no results: one line, instead of what it had said so far."""
    kept: list[str] = []
    begun = -1
    for index, line in enumerate([*lines, ""]):
        if begun >= 0 and (index == len(lines) or RUNNING.match(line)):
            ends = (ENDED.search(said) for said in lines[:index][::-1])
            how = next((end.group(0) for end in ends if end is not None), "without a word")
            kept[begun:] = [f"died: its test program ended before its totals: {how}"]
            begun = -1
        if BEGUN.match(line):
            begun = len(kept)
        elif SUMMARY.match(line):
            begun = -1
        kept.append(line)
    return kept[:-1]


def _crate(source: str, compiled: str, last: str, members: Mapping[str, str], room: Path | None) -> str:
    """Which crate a target belongs to: the one that has its file; of several the one of its name, else the last one."""
    having = [at for at in members if room is None or not source or (room / at / source).is_file()]
    named = [at for at in having if members[at] == compiled]
    if len(having) == 1:
        return having[0]
    return named[0] if named else last if last in having else next(iter(having), "")


def _with_panic(case: Case, panics: dict[str, str]) -> Case:
    if case.outcome != FAILED:
        return case
    said = panics.get(case.id.partition("::")[2].rstrip("'"), "")
    line = re.search(r"\.rs:(\d+)", said)
    return replace(case, error="panic", text=said[:600], place=f"{line.group(1)}:" if line else "")
