"""Projects that nobody prepared: `python -m tests.foreign.unknown pip:parse==1.20.2 npm:qs@6.13.0 deb:PACKAGE:PATH …`.

Each is fetched, given an environment as its developers have it, and searched for a line that its own tests watch. Then
it goes from `devteam init` to `devteam land` with an honest addition, an honest fix and a wrong change.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tests.foreign import fetch
from tests.foreign.prepared import prepared
from tests.foreign.projects import JS_ADDED, PY_ADDED, PYTEST, TAPE, UNITTEST, Foreign
from tests.foreign.serving import Served

CHANGES = os.environ.get("DEVTEAM_FOREIGN_CHANGE") or "add,fix,break it"
TRIED = 24
"""Lines that are tried as the place to break."""
TESTS = re.compile(r"(?:^|/)(?:test|tests|testing|spec|bench|benchmarks|docs?|examples?|vendor|node_modules)(?:/|$)")
TEST_FILE = re.compile(r"(?:^|/)(?:test[^/]*|[^/]*[._-](?:test|spec)|tests)\.(?:py|[cm]?[jt]s|go|rs)$")
NODE = (
    "const test = require('node:test');\nconst assert = require('node:assert');\n\n"
    "test('added', () => {{\n  assert.strictEqual(require('{module}').devteamAdded(2), 3);\n}});\n"
)
MOCHA = (
    "const assert = require('assert');\n\ndescribe('added', () => {{\n  it('adds', () => {{\n"
    "    assert.strictEqual(require('{module}').devteamAdded(2), 3);\n  }});\n}});\n"
)
ES_NODE = (
    "import test from 'node:test';\nimport assert from 'node:assert';\nimport {{ devteamAdded }} from '{module}';\n\n"
    "test('added', () => {{\n  assert.strictEqual(devteamAdded(2), 3);\n}});\n"
)
ES_MOCHA = (
    "import assert from 'node:assert';\nimport {{ devteamAdded }} from '{module}';\n{imported}\n"
    "describe('added', () => {{\n  it('adds', () => {{\n    assert.strictEqual(devteamAdded(2), 3);\n  }});\n}});\n"
)
ES_ADDED = "\nexport function devteamAdded(number) {\n  return number + 1;\n}\n"
TS_ADDED = ES_ADDED.replace("(number)", "(number: number): number")
RUST_ADDED = "\n/// Adds one.\npub fn devteam_added(number: u32) -> u32 {\n    number + 1\n}\n"
RUST_TEST = "use {module}::devteam_added;\n\n#[test]\nfn added() {{\n    assert_eq!(devteam_added(2), 3);\n}}\n"
GO_ADDED = "\n// DevteamAdded adds one.\nfunc DevteamAdded(number int) int { return number + 1 }\n"
GO_TEST = (
    'package {module}\n\nimport "testing"\n\nfunc TestDevteamAdded(t *testing.T) {{\n'
    '\tif DevteamAdded(2) != 3 {{\n\t\tt.Fatal("not added")\n\t}}\n}}\n'
)
TEST_PACKAGES = ("hypothesis", "mock", "freezegun", "zope.testrunner", "pytest_asyncio", "parameterized")
RUNNERS = (
    *("tape", "mocha", "jest", "vitest", "ava", "tap", "uvu", "nodeunit", "expresso"),
    *("ts-jest", "ts-node", "tsx", "typescript", "@types/jest", "@types/node", "c8", "borp", "esbuild-register"),
)


class Unsuited(Exception):
    """Nothing can be tried on it here: no tests that pass, or none that see a change."""


def made(kind: str, what: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        fetch.unpacked(kind, what, folder)
        match kind:
            case "pip":
                _python_environment(folder)
            case "npm":
                fetch.node_modules(folder, *_node_wanted(folder))
            case _ if list(folder.glob("*.go")) and not (folder / "go.mod").exists():
                module = what.partition("/src/")[2]  # older than modules: as its developers would have it now
                (folder / "go.mod").write_text(f"module {module}\n\ngo 1.18\n")
            case _:
                pass

    return make


def _python_environment(folder: Path) -> None:
    """As its own words for developers say: extras, groups and requirement files for tests; else pytest alone."""
    settings = [folder / name for name in ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini")]
    said = "".join(path.read_text("utf-8", "replace") for path in settings if path.exists())
    tests = "".join(path.read_text("utf-8", "replace") for path in _sources(folder, ".py", tests=True))
    wanted = ["pytest", "setuptools", *(["pytest-cov"] if "--cov" in said else [])]
    wanted += [name for name in TEST_PACKAGES if re.search(rf"^(?:import|from) {name}\b", tests, re.MULTILINE)]
    project = tomllib.loads((folder / "pyproject.toml").read_text()) if (folder / "pyproject.toml").exists() else {}
    extras = set(project.get("project", {}).get("optional-dependencies", {}))
    own = sorted(extras & {"test", "tests", "testing", "dev", "develop"}, key=lambda name: "test" not in name)[:1]
    groups = {
        **project.get("tool", {}).get("pdm", {}).get("dev-dependencies", {}),
        **project.get("dependency-groups", {}),
    }
    named = [one for name in ("test", "tests", "testing", "dev") for one in groups.get(name, ())]
    group = [one for one in named if isinstance(one, str)]
    files = [path for path in folder.glob("**/*requirements*/*test*.txt") if "/.venv/" not in str(path)]
    files += [*folder.glob("*requirements*test*.txt"), *folder.glob("*test*requirements*.txt")]
    (folder / "PKG-INFO").unlink(missing_ok=True)
    ways = ((own, group), (own, []), ([], [f"-r{path}" for path in files[:1]]), ([], []))
    for extra, asked in dict.fromkeys((tuple(extra), tuple(asked)) for extra, asked in ways):
        try:
            fetch.environment(folder, *asked, *wanted, extras=",".join(extra))
            return
        except fetch.Unreachable:
            continue
    raise fetch.Unreachable(f"{folder.name}: no environment could be made")


def _node_wanted(folder: Path) -> list[str]:
    """The test runner and what the tests require, at the versions the project names."""
    manifest = json.loads((folder / "package.json").read_text())
    named = manifest.get("devDependencies", {})
    files = [path for end in (".js", ".ts", ".mjs") for path in _sources(folder, end, tests=True)]
    text = "\n".join(path.read_text("utf-8", "replace") for path in files)
    return [f"{name}@{named[name]}" for name in named if name in RUNNERS or f"'{name}'" in text or f'"{name}"' in text]


def _sources(folder: Path, suffix: str, *, tests: bool) -> list[Path]:
    found = []
    for path in sorted(folder.rglob(f"*{suffix}")):
        name = path.relative_to(folder).as_posix()
        if ".venv/" in name or "node_modules/" in name or name in ("setup.py", "conftest.py", "noxfile.py"):
            continue
        if bool(TESTS.search(name) or TEST_FILE.search(name)) is tests and path.is_file() and not path.is_symlink():
            found.append(path)
    return sorted(found, key=lambda path: -path.stat().st_size)


def _suffix(folder: Path, kind: str) -> str:
    """How its sources end."""
    if kind == "pip":
        return ".py"
    if kind == "npm":
        counted = {end: len(_sources(folder, end, tests=True)) for end in (".js", ".ts", ".mjs")}
        return max(counted, key=lambda end: counted[end])
    return ".rs" if (folder / "Cargo.toml").exists() else ".go"


def _own(folder: Path, kind: str) -> tuple[str, ...]:
    """Its own tests, by the ordinary way of each tool; the first that is green."""
    match kind:
        case "pip":
            ways = _python_ways(folder)
        case "npm":
            ways = _node_ways(folder)
        case _:
            ways = [("go", "test", "./...") if _suffix(folder, kind) == ".go" else ("cargo", "test", "-q", "--offline")]
    for way in ways:
        if _green(folder, way):
            return way
    raise Unsuited("no way to run its tests is green here")


def _python_ways(folder: Path) -> list[tuple[str, ...]]:
    pytest = (".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider")
    places = [name for name in ("tests", "test", "testing") if (folder / name).is_dir()]
    places += [path.name for path in folder.glob("test*.py")]
    places += [path.parent.relative_to(folder).as_posix() for path in folder.glob("*/test*/__init__.py")]
    unittest = (".venv/bin/python", "-m", "unittest", "discover", "-s", places[0] if places else ".")
    return [pytest, *((*pytest, place) for place in places), unittest]


def _node_ways(folder: Path) -> list[tuple[str, ...]]:
    scripts = json.loads((folder / "package.json").read_text()).get("scripts", {})
    names = ("tests-only", "test-spec", "unit", "test:unit", "test")  # what only looks at the style last
    lines = [scripts[name].replace("nyc ", "") for name in names if name in scripts]
    return [("sh", "-c", f'PATH="$PWD/node_modules/.bin:$PATH"; {line}') for line in lines]


def _green(folder: Path, way: tuple[str, ...]) -> bool:
    try:
        done = subprocess.run(way, cwd=folder, capture_output=True, timeout=240)
        return done.returncode == 0 and b"\nRan 0 tests" not in done.stderr  # unittest calls that a success
    except subprocess.TimeoutExpired:
        return False


def _breaks(folder: Path, kind: str) -> Iterator[tuple[Path, str, str]]:
    """(file, line, wrong line): a return that gives another thing, spread over the largest sources."""
    suffix = _suffix(folder, kind)
    nothing = {
        "pip": "None  # otherwise",
        "npm": "undefined as never;" if suffix == ".ts" else "undefined; // otherwise",
    }
    found = []
    for path in _sources(folder, suffix, tests=False)[:8]:
        text = path.read_text("utf-8", "replace")
        found_lines = re.findall(r"^([ \t]+)return ((?!None|undefined|nil|err\b)[^\n;]+;?)$", text, re.MULTILINE)
        lines = [(indent, value) for indent, value in found_lines if _whole(value)]
        for step, (indent, value) in enumerate(lines[:: max(1, len(lines) // 6)]):
            line = f"{indent}return {value}\n"
            wrong = f"{indent}return {nothing[kind]}\n" if kind in nothing else _otherwise(indent, value)
            if wrong and text.count(line) == 1 and wrong not in text:
                found.append((step, path, line, wrong))
    for _, path, line, wrong in sorted(found, key=lambda one: one[0])[:TRIED]:
        yield path, line, wrong


def _whole(value: str) -> bool:
    """The statement ends on its line."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", value)
    balanced = all(bare.count(opening) == bare.count(closing) for opening, closing in ("()", "[]", "{}"))
    return balanced and not re.search(r"[\\,=+\-*/&|?:(\[{]$|[\"'#]", bare)


def _otherwise(indent: str, value: str) -> str:
    swaps = {"true": "false", "false": "true"}
    if value in swaps:
        return f"{indent}return {swaps[value]}\n"
    if re.fullmatch(r"\w+ (==|!=|<|>) .+", value):
        return f"{indent}return !({value})\n"
    return f"{indent}return {value} + {value}\n" if re.fullmatch(r"[\w.]+", value) and value != "err" else ""


def watched(project: Foreign, folder: Path, kind: str) -> Foreign:
    """The record with its own command, a place to break that the tests see, and a test for what is added."""
    own = _own(folder, kind)
    for path, line, wrong in _breaks(folder, kind):
        text = path.read_text("utf-8", "replace")
        path.write_text(text.replace(line, wrong, 1))
        seen = not _green(folder, own)
        path.write_text(text)
        if seen:
            name = path.relative_to(folder).as_posix()
            added, test = _addition(folder, kind, path)
            return replace(project, own=own, broken=(name, line, wrong), added=(name, added), test=test, guard=name)
    raise Unsuited("its tests see none of the changes that were tried")


def _addition(folder: Path, kind: str, path: Path) -> tuple[str, tuple[str, str]]:
    tests = [one for one in _sources(folder, path.suffix, tests=True) if TEST_FILE.search(one.name) or kind != "pip"]
    place = tests[0].parent if tests else folder
    match kind:
        case "pip":
            name = path.relative_to(folder).with_suffix("").as_posix().removeprefix("src/")
            module = name.replace("/", ".").removesuffix(".__init__")
            ends = bool(tests) and tests[0].stem.endswith("_test")
            text = UNITTEST if tests and "TestCase" in tests[0].read_text("utf-8", "replace") else PYTEST
            where = place / ("devteam_added_test.py" if ends else "test_devteam_added.py")
            return PY_ADDED, (where.relative_to(folder).as_posix(), text.format(module=module))
        case "npm":
            all_text = "".join(one.read_text("utf-8", "replace") for one in tests)
            text = TAPE if re.search(r"['\"]tape['\"]", all_text) else MOCHA if "describe(" in all_text else NODE
            modern = path.suffix == ".ts" or (
                re.search(r"^import .* from ", all_text, re.MULTILINE) and "require(" not in all_text
            )
            if modern:
                text = ES_MOCHA if "describe(" in all_text else ES_NODE
                if "vitest" in all_text:
                    text = text.replace("{imported}", "import {{ describe, it }} from 'vitest';")
            if re.search(r"require\(['\"]tap['\"]\)", all_text):
                text = TAPE.replace("'tape'", "'tap'").replace("= require('tap')", "= require('tap').test")
            module = ("../" * len(place.relative_to(folder).parts) or "./") + path.relative_to(folder).as_posix()
            # called as its neighbours are: some runners take x.test.js only
            where = place / f"devteam_added{''.join(tests[0].suffixes) if tests else '.js'}"
            added = TS_ADDED if path.suffix == ".ts" else ES_ADDED if modern else JS_ADDED
            if modern:
                module = module.removesuffix(".ts")
            whole = path.read_text("utf-8", "replace")
            like = tests[0].read_text("utf-8", "replace") if tests else whole
            test = _styled(text.format(module=module, imported=""), like)
            if not modern and re.match(r"[\"']use strict[\"']", like):
                test = like.splitlines()[0] + "\n\n" + test
            return _styled(added, whole), (where.relative_to(folder).as_posix(), test)
        case _ if path.suffix == ".rs":
            crate = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"].replace("-", "_")
            return RUST_ADDED, ("tests/devteam_added.rs", RUST_TEST.format(module=crate))
        case _:
            package = re.search(r"^package (\w+)", path.read_text(), re.MULTILINE)
            where = path.parent / "devteam_added_test.go"
            module = package[1] if package else "main"
            return GO_ADDED, (where.relative_to(folder).as_posix(), GO_TEST.format(module=module))


def _styled(text: str, like: str) -> str:
    """Written as its neighbour is: its indentation, quotes, semicolons and declarations."""
    lines = [line for line in like.splitlines() if line.strip()]
    step = next((line[: len(line) - len(line.lstrip())] for line in lines if line[0] in " \t"), "  ")
    text = re.sub(r"^(?:  )+", lambda match: step * (len(match[0]) // 2), text, flags=re.MULTILINE)
    if like.count('"') > 3 * like.count("'"):
        text = text.replace("'", '"')
    if sum(line.rstrip().endswith(";") for line in lines) < len(lines) / 20:
        text = re.sub(r";$", "", text, flags=re.MULTILINE)
    return re.sub(r"^var ", "const ", text, flags=re.MULTILINE) if re.search(r"^const ", like, re.MULTILINE) else text


def tried(word: str) -> str:
    """One project's row."""
    kind, _, what = word.partition(":")
    name = re.split(r"==|@|:", what.lstrip("@"))[0].replace("/", "-")
    ignore = ".venv/\n__pycache__/\n*.egg-info/\nnode_modules/\n*.so\nbuild/\ntarget/\n"
    project = Foreign(
        name=f"unknown-{name}", what=what, make=made(kind, what), broken=("", "", ""), added=("", ""), test=("", ""),
        guard="", own=(), ignore=ignore,
    )  # fmt: skip
    folder = prepared(project)
    project = watched(project, folder, kind)
    with tempfile.TemporaryDirectory() as place:
        served = Served(project, prepared(project), Path(place))
        broken = []
        try:
            served.serve(CHANGES)
            served.held(CHANGES)
        except AssertionError as problem:
            broken = [f"NOT HELD {str(problem)[:1500]}"]
        odd = [said for said in served.said if said.startswith("honest") and not said.endswith(": accepted")]
        return "\n    ".join((served.row.words(), *(said[:1200] for said in odd), *broken))


def say_each(words: Iterable[str], row_of: Callable[[str], str]) -> None:
    """A row for each word as soon as there is one; what cannot be tried here says why."""
    for one in words:
        try:
            said = row_of(one)
        except (Unsuited, fetch.Unreachable, subprocess.TimeoutExpired) as problem:
            said = f"{one:<40} not tried: {str(problem)[:300]}"
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    say_each(sys.argv[1:], tried)
