"""Presets: what is proposed for a folder, from its files alone."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.parse.report import PARSERS
from engine.perform.checks.presets.npm_scripts import take_apart
from engine.perform.checks.presets.registry import PRESETS, detect, survey
from engine.perform.checks.run.carried import loosened
from engine.perform.checks.run.command import adopt
from engine.perform.process.spawning import Mount

PYPROJECT = '[project]\nname="x"\n[dependency-groups]\ndev=["pytest", "mypy", "bandit"]\n[tool.ruff]\n'
NODE = '{"scripts": {"test": "%s"}, "devDependencies": {"typescript": "5", "eslint": "9"}}'

TESTCASE = "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): ...\n"
MAIN = "package main\n\nfunc main() {}\n"
TABLE = [
    pytest.param({"pyproject.toml": PYPROJECT, "tests/test_a.py": "", "x.py": ""}, ["pytest", "ruff", "mypy", "bandit"], id="python"),
    pytest.param({"pyproject.toml": "[tool.ruff]\n", "a.py": ""}, ["ruff"], id="python-lint-only"),
    pytest.param({"tests/test_a.py": TESTCASE}, ["unittest"], id="unittest"),
    pytest.param({"test_a.py": "def test_a(): ...\n"}, ["pytest"], id="plain-functions"),
    pytest.param({"testing/test_a.py": "def test_a(): ...\n"}, ["pytest"], id="whatever-the-folder-is-called"),
    pytest.param({"pkg/mod.py": '"""\n>>> 1\n1\n"""\n'}, ["pytest"], id="examples-only"),
    pytest.param({"pyrightconfig.json": "{}", "a.py": ""}, ["pyright"], id="pyright"),
    pytest.param({"package.json": NODE % "node --test", "tsconfig.json": "{}"}, ["node --test", "tsc", "eslint"], id="node"),
    pytest.param({"package.json": NODE % "vitest"}, ["vitest", "eslint"], id="vitest"),
    pytest.param({"package.json": NODE % "jest --watch"}, ["jest", "eslint"], id="jest"),
    pytest.param({"package.json": NODE % "eslint . && jest"}, ["jest", "eslint"], id="lint-and-jest"),
    pytest.param({"package.json": NODE % "nyc mocha --exit"}, ["mocha", "eslint"], id="wrapped-mocha"),
    pytest.param({"package.json": '{"scripts": {"pretest": "eclint check x", "test": "nyc node test && nyc node --harmony test"}, "devDependencies": {"tape": "5"}}'}, ["tape", "tape 2"], id="the-same-runner-twice"),
    pytest.param({"package.json": NODE % "ava"}, ["ava", "eslint"], id="ava"),
    pytest.param({"package.json": NODE % "./run-everything"}, ["npm test", "eslint"], id="npm-test"),
    pytest.param({"package.json": "{}"}, [], id="package-without-tests"),
    pytest.param({"package.json": "{{{"}, [], id="package-broken"),
    pytest.param({"go.mod": "module x\n", "x.go": "package x\n"}, ["go test", "go vet"], id="go-library"),
    pytest.param({"go.mod": "module x\n", "main.go": MAIN}, ["go test", "go vet", "go build"], id="go-program"),
    pytest.param({"Cargo.toml": "[package]\n"}, ["cargo test"], id="rust"),
    pytest.param({"pom.xml": "<project/>"}, ["mvn test"], id="maven"),
    pytest.param({"build.gradle": "", "gradlew": ""}, ["gradle test"], id="gradle"),
    pytest.param({"Makefile": "test:\n\tt\nlint:\n\tl\ncheck:\n\tt\nX := 1\n"}, ["make test", "make lint"], id="make"),
    pytest.param({"CMakeLists.txt": "project(x)\nadd_subdirectory(tests)\n", "tests/CMakeLists.txt": "add_test(a a)\n", "Makefile": "test:\n\tt\n"}, ["ctest"], id="cmake"),
    pytest.param({"native/CMakeLists.txt": "project(x)\nenable_testing()\n", "native/src/CMakeLists.txt": "add_library(x x.c)\n"}, ["ctest (native)"], id="cmake-below"),
    pytest.param({"CMakeLists.txt": "project(x)\nadd_library(x x.c)\n"}, [], id="cmake-without-tests"),
    pytest.param({"README.md": ""}, [], id="nothing"),
    pytest.param(
        {"services/api/pyproject.toml": PYPROJECT, "services/api/tests/test_a.py": "", "web/package.json": NODE % "vitest"},
        ["pytest (services/api)", "ruff (services/api)", "mypy (services/api)", "bandit (services/api)", "vitest (web)", "eslint (web)"],
        id="monorepo",
    ),
    pytest.param(
        {"pyproject.toml": "[tool.pytest.ini_options]\n", "tests/test_a.py": "", "libs/b/setup.py": "", "libs/b/test_b.py": ""},
        ["pytest"], id="pytest-of-the-top-collects-what-is-below",
    ),
    pytest.param(
        {"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n', "tests/test_a.py": "", "libs/b/setup.py": "", "libs/b/test_b.py": ""},
        ["pytest", "pytest (libs/b)"], id="testpaths-leave-packages-out",
    ),
    pytest.param({"tests/fixtures/app/package.json": NODE % "jest"}, [], id="test-data-is-no-package"),
]  # fmt: skip

OWN = [
    pytest.param({"tox.ini": "[testenv]\ncommands =\n  coverage run -m pytest -vv --cov=x {posargs:tests} --strict-markers\n"}, ("pytest", ("tests", "--strict-markers")), id="tox"),
    pytest.param({"setup.cfg": "[testenv]\ncommands = python -m unittest discover -v\n"}, ("unittest", ("discover",)), id="tox-in-setup.cfg"),
    pytest.param({"pyproject.toml": '[tool.tox.env_run_base]\ncommands = [["pytest", "--doctest-modules", "src"]]\n'}, ("pytest", ("--doctest-modules", "src")), id="tox-toml"),
    pytest.param({"noxfile.py": 'import nox\n@nox.session\ndef tests(session):\n    session.run("pytest", "tests", *session.posargs)\n'}, ("pytest", ("tests",)), id="nox"),
    pytest.param({"pyproject.toml": '[tool.hatch.envs.default.scripts]\ntest = "pytest {args:tests}"\n'}, ("pytest", ("tests",)), id="hatch"),
    pytest.param({"Makefile": "PY = python3\ntest: build\n\t$(PY) -m pytest -n auto tests\n"}, ("pytest", ("tests",)), id="makefile"),
    pytest.param({".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - run: uv run pytest --doctest-modules src tests\n"}, ("pytest", ("--doctest-modules", "src", "tests")), id="workflow"),
    pytest.param({".github/workflows/ci.yml": "      - run: |\n          pip install .\n          python -m unittest -v\n"}, ("unittest", ("discover",)), id="workflow-block"),
    pytest.param({"tox.ini": "[testenv]\ncommands = make $(nothing\n"}, ("pytest", ()), id="not-understood"),
    pytest.param({"tox.ini": "[testenv:lint]\ncommands = ruff check\n[testenv:py311]\ncommands = pytest src\n"}, ("pytest", ("src",)), id="tox-without-a-base"),
    pytest.param({"tox.ini": "[testenv]\nchangedir = src\ncommands = python -m unittest discover\n"}, ("unittest", ("discover", "-s", "src")), id="tox-in-a-folder"),
    pytest.param({"tox.ini": "[testenv]\nchangedir = {toxinidir}/tests\ncommands = pytest -k x {posargs}\n"}, ("pytest", ("-k", "x", "tests")), id="tox-in-a-folder-by-pytest"),
    pytest.param({"tox.ini": "[testenv]\nchangedir = tests\ncommands = pytest test_x.py ../src\n"}, ("pytest", ("tests/test_x.py", "src")), id="tox-in-a-folder-with-paths"),
    pytest.param({"tox.ini": "[testenv]\nchangedir = {envtmpdir}\ncommands = pytest {toxinidir}/tests\n"}, ("pytest", ("tests",)), id="tox-in-a-folder-that-nobody-knows"),
    pytest.param({"pyproject.toml": '[tool.tox.env_run_base]\nchange_dir = "tests"\ncommands = [["pytest"]]\n'}, ("pytest", ("tests",)), id="tox-toml-in-a-folder"),
    pytest.param({"Makefile": "test:\n\tcd tests && python -m pytest\n"}, ("pytest", ("tests",)), id="makefile-in-a-folder"),
    pytest.param({"manage.py": "import django\n", "shop/tests.py": "from django.test import TestCase\n"}, ("django", ()), id="django"),
    pytest.param({"manage.py": "import django\n", ".travis.yml": "script:\n  - python manage.py test shop --settings=site_.test -v 2\n"}, ("django", ("shop", "--settings=site_.test")), id="django-in-a-workflow"),
    pytest.param({"manage.py": "import django\n", "requirements.txt": "pytest-django\n"}, ("pytest", ()), id="django-by-pytest"),
]  # fmt: skip

SET = [
    pytest.param({"tox.ini": "[testenv]\nsetenv =\n  APP = test\n  ROOT = {toxinidir}/src\n  TOX_X = 1\n  DB = {env:DB:sqlite}\n  OUT = {envtmpdir}\n  py39: OLD = 1\ncommands = X=1 pytest\n"}, {"APP": "test", "ROOT": "src", "DB": "sqlite", "X": "1"}, id="tox"),
    pytest.param({"pyproject.toml": '[tool.tox.env_run_base]\nset_env = {APP = "test"}\ncommands = [["pytest"]]\n'}, {"APP": "test"}, id="tox-toml"),
    pytest.param({"noxfile.py": 'def tests(session):\n    session.run("pytest", env={"APP": "test", "N": session.x})\n'}, {"APP": "test"}, id="nox"),
    pytest.param({"pyproject.toml": '[tool.hatch.envs.test.env-vars]\nAPP = "test"\n[tool.hatch.envs.test.scripts]\ntest = "pytest"\n'}, {"APP": "test"}, id="hatch"),
    pytest.param({"pyproject.toml": '[tool.poe.tasks.test]\ncmd = "pytest"\nenv = {APP = "test"}\n'}, {"APP": "test"}, id="poe"),
    pytest.param({"Makefile": "export APP = test\nMODE = fast\nexport MODE\ntest:\n\tX=$(MODE) env Y=2 python -m pytest\n"}, {"APP": "test", "MODE": "fast", "X": "fast", "Y": "2"}, id="makefile"),
    pytest.param({".github/workflows/ci.yml": "env:\n  APP: 'test'  # x\n  KEY: ${{ secrets.KEY }}\n  MATRIX:\n    - 1\njobs:\n  t:\n    steps:\n      - run: pytest\n"}, {"APP": "test"}, id="workflow"),
    pytest.param({".gitlab-ci.yml": "t:\n  script:\n    - export APP=test && pytest\n"}, {"APP": "test"}, id="exported-before"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "wanted"), SET)
def test_the_variables_of_the_projects_own_command_go_with_it(tmp_path, files, wanted):
    lay(tmp_path, {"src/x.py": "", "tests/test_x.py": "def test_x(): ...\n", **files})
    (candidate,) = survey(tmp_path, lambda program: f"/usr/bin/{program}").candidates
    assert candidate.check.env == wanted
    others = [way.env for way in candidate.instead]
    assert all(env in ({}, {"PYTHONPATH": "src"}) for env in others), (
        "they may point at somebody's server: without them"
    )


def test_a_script_that_is_run_in_its_folder_is_named_from_the_top(tmp_path):
    tox = "[testenv]\nchangedir = tests\ncommands = {envpython} runtests.py {posargs}\n"
    lay(tmp_path, {"tox.ini": tox, "tests/runtests.py": "", "tests/test_x.py": "def test_x(): ...\n"})
    spec = next(
        spec for spec in detect(tmp_path, lambda program: f"/usr/bin/{program}") if spec.kind is CheckKind.TESTS
    )
    assert spec.command[1:] == ("tests/runtests.py",)


@pytest.mark.parametrize(("files", "wanted"), OWN)
def test_the_projects_own_command_is_found_where_it_lives(tmp_path, files, wanted):
    lay(tmp_path, {"src/x.py": "", "tests/test_x.py": "def test_x(): ...\n", **files})
    (spec,) = [spec for spec in detect(tmp_path, lambda program: f"/usr/bin/{program}") if spec.kind is CheckKind.TESTS]
    assert (spec.runner, spec.command[3:]) == wanted
    assert spec.why


def test_lines_that_differ_in_what_is_shown_are_one_check(tmp_path):
    tox = "[testenv]\ncommands =\n    pytest -v tests\n    pytest --durations 10 tests\n    pytest -k slow tests\n"
    lay(tmp_path, {"tox.ini": tox, "tests/test_x.py": "def test_x(): ...\n"})
    found = [spec for spec in detect(tmp_path, lambda program: f"/usr/bin/{program}") if spec.kind is CheckKind.TESTS]
    assert [(spec.name, spec.command[3:]) for spec in found] == [
        ("pytest", ("tests",)),
        ("pytest 3", ("-k", "slow", "tests")),
    ]


def test_a_tool_that_is_not_installed_is_left_out_and_said(tmp_path):
    lay(
        tmp_path,
        {"pyproject.toml": PYPROJECT, "tests/test_a.py": "", "web/package.json": NODE % "jest", "go.mod": "module x\n"},
    )
    found = survey(tmp_path, lambda program: "/usr/bin/python" if program == "python" else None)
    assert [candidate.check.name for candidate in found.candidates] == ["pytest", "jest (web)"]
    said = {one.name: one.fix for one in found.left_out}
    assert said["ruff"] == "pip install ruff"
    assert said["eslint (web)"] == "npm install"
    assert set(said) == {"ruff", "mypy", "bandit", "eslint (web)", "go test"}


def test_what_the_tests_read_is_built_before_them(tmp_path):
    scripts = {"pretest": "eslint . && npm run build", "build": "tsc -p .", "test": "mocha test/*.js"}
    lay(tmp_path, {"package.json": json.dumps({"scripts": scripts})})
    (spec,) = detect(tmp_path, lambda program: None)
    assert "tsc -p ." in spec.command[2] and "eslint" not in spec.command[2]
    assert spec.command[2].index("tsc") < spec.command[2].index("mocha")


def lay(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(("files", "names"), TABLE)
def test_detect(tmp_path, files, names):
    lay(tmp_path, files)
    found = detect(tmp_path, lambda program: f"/usr/bin/{program}")
    assert [spec.name for spec in found] == names
    for spec in found:
        assert spec.parser == "exit" or spec.parser in PARSERS
        assert not spec.report or any("{reports}" in part for part in spec.command)


def test_the_repositorys_own_environment_comes_first(tmp_path):
    lay(tmp_path, {"pyproject.toml": PYPROJECT, "tests/test_a.py": "", ".venv/bin/python": "", ".venv/bin/ruff": ""})
    commands = {spec.name: spec.command[0] for spec in detect(tmp_path, lambda program: f"/usr/bin/{program}")}
    assert commands["pytest"] == ".venv/bin/python"
    assert commands["ruff"] == ".venv/bin/ruff"
    lay(tmp_path, {"package.json": NODE % "vitest", "node_modules/.bin/vitest": ""})
    commands = {spec.name: spec.command[0] for spec in detect(tmp_path, lambda program: None)}
    assert commands["vitest"] == "node_modules/.bin/vitest"


@pytest.mark.parametrize(
    ("command", "runner", "parser"),
    [
        ("pytest tests/test_a.py::test_b -q", "pytest", "junit"),
        (".venv/bin/python -m pytest", "pytest", "junit"),
        ("python -m unittest", "unittest", "junit"),
        ("ruff check .", "", "ruff"),
        ("mypy src", "", "mypy"),
        ("pytest && echo done", "", "exit"),
        ("make check", "", "exit"),
        ("echo 'unbalanced", "", "exit"),
    ],
)
def test_adopt(command, runner, parser):
    spec = adopt(command, strict=True)
    assert (spec.runner, spec.parser, spec.strict, spec.kind) == (runner, parser, True, CheckKind.OWN)
    if parser == "exit" and "&&" in command:
        assert spec.command == ("sh", "-c", command)


def test_every_preset_is_a_record_of_its_own():
    assert len({preset.name for preset in PRESETS}) == len(PRESETS)
    assert [preset.name for preset in PRESETS if preset.last_resort] == ["make"]


def test_options_of_plug_ins_that_are_missing_are_a_way_to_go_without(tmp_path):
    config = '[tool.pytest.ini_options]\naddopts = "--cov=x --cov-fail-under=100 -n auto --doctest-modules"\n'
    lay(tmp_path, {"pyproject.toml": config, "tests/test_a.py": "def test_a(): ...\n"})
    (candidate,) = survey(tmp_path, lambda program: f"/usr/bin/{program}").candidates
    assert candidate.check.command[3:] == ("--no-cov", "-n", "0")
    assert candidate.instead[-1].command[3:] == ("-o", "addopts=--doctest-modules")


@pytest.mark.parametrize(
    ("test", "runs"),
    [
        ("npm run lint && nyc npm run unit", "mocha spec"),
        ("cross-env NODE_ENV='a b' TZ=UTC c8 --all npm run unit", "NODE_ENV='a b' TZ=UTC mocha spec"),
        ("NODE_ENV=x yarn unit", "NODE_ENV=x mocha spec"),
        ("nyc --lines 100 --check-coverage npm run unit", "mocha spec"),
    ],
)
def test_a_script_behind_a_wrapper_is_the_script_with_its_variables(test: str, runs: str) -> None:
    scripts = {"lint": "eslint .", "unit": "mocha spec", "test": test}
    assert take_apart(scripts).tests == (runs,)


def test_a_look_at_the_types_is_a_check_and_nothing_to_build(tmp_path: Path) -> None:
    """bl: its types are red by hand too, and hid that its tests are green."""
    scripts = {"types": "tsc --noEmit --allowJs test/test.js", "test": "npm run types && node test/test.js | faucet"}
    manifest = {"scripts": scripts, "devDependencies": {"tape": "5", "typescript": "5"}}
    lay(tmp_path, {"package.json": json.dumps(manifest), "node_modules/.bin/tsc": ""})
    (tmp_path / "node_modules/.bin/tsc").chmod(0o755)
    tests, types = detect(tmp_path)
    assert tests.name == "tape" and tests.command[2].endswith("; node test/test.js")
    assert (types.name, types.kind, types.parser) == ("tsc", CheckKind.TYPES, "tsc")
    assert types.command[2].endswith("; tsc --noEmit --allowJs test/test.js --pretty false")


@pytest.mark.parametrize("wrapper", ["", "nyc ", "c8 --all ", "nyc --lines 100 --branches 100 --reporter=text "])
def test_what_only_measures_is_left_out(wrapper: str, tmp_path: Path) -> None:
    manifest = {"scripts": {"test": f"{wrapper}tape test.js"}, "devDependencies": {"tape": "5"}}
    (tmp_path / "package.json").write_text(json.dumps(manifest))
    (found,) = detect(tmp_path)
    assert found.name == "tape" and found.command[2].endswith("; tape test.js"), found


def test_packages_that_write_beside_themselves_have_a_folder_for_it(tmp_path: Path) -> None:
    plain, kept = tmp_path / "a/node_modules", tmp_path / "b/node_modules"
    for folder in (plain / "tape", kept / "find-cache-dir"):
        folder.mkdir(parents=True)
    assert [mount.loose for mount in loosened([Mount(source=one, dest=one) for one in (plain, kept)])] == [False, True]


def test_sources_that_are_not_installed_and_the_makefile_are_the_last_ways(tmp_path: Path) -> None:
    """toposort: src/, a package called test, and a Makefile that knows how to run it."""
    lay(
        tmp_path,
        {"src/x.py": "", "test/test_x.py": TESTCASE, "Makefile": "test: unit\nunit:\n\tPYTHONPATH=src:test true\n"},
    )
    (candidate,) = survey(tmp_path, lambda program: f"/usr/bin/{program}").candidates
    ways = candidate.ways()
    assert not ways[0].env
    assert {"PYTHONPATH": "src"} in [way.env for way in ways]
    assert ways[-1].command == ("make", "test")


@pytest.mark.parametrize("variable", ["", "setenv = PYTHONWARNINGS = default\n"])
def test_the_projects_own_command_has_the_sources_beside_it_as_a_way_too(tmp_path: Path, variable: str) -> None:
    """isodate: tox installs the package before it calls pytest; here nobody has."""
    tox = f"[testenv]\ndeps = pytest\n{variable}commands = pytest tests\n"
    lay(tmp_path, {"src/x/__init__.py": "", "tests/test_x.py": TESTCASE, "tox.ini": tox})
    (candidate,) = survey(tmp_path, lambda program: f"/usr/bin/{program}").candidates
    own, *others = candidate.ways()
    assert "pytest" in own.command and "PYTHONPATH" not in own.env
    assert any(way.command == own.command and way.env.get("PYTHONPATH") == "src" for way in others)


@pytest.mark.parametrize(
    ("unit", "more", "demanded"),
    [
        pytest.param("nyc --lines 100 --check-coverage tape a.js", {}, True, id="in the script"),
        pytest.param("c8 --100 tape a.js", {}, True, id="c8"),
        pytest.param("nyc tape a.js", {"nyc": {"check-coverage": True}}, True, id="in package.json"),
        pytest.param("nyc tape a.js", {}, False, id="measured only"),
        pytest.param("tape a.js", {"nyc": {"check-coverage": True}}, False, id="not by npm test"),
    ],
)
def test_the_coverage_that_npm_test_demands_is_a_check_of_its_own(
    tmp_path: Path, unit: str, more: dict[str, object], demanded: bool
) -> None:
    """fastq: code that no test of the script covers leaves the project's own `npm test` red."""
    manifest = {"scripts": {"test": unit}, "devDependencies": {"tape": "5"}, **more}
    lay(
        tmp_path,
        {"package.json": json.dumps(manifest), "a.js": ""} | {f"node_modules/.bin/{x}": "" for x in ("nyc", "c8")},
    )
    for name in ("nyc", "c8"):
        (tmp_path / "node_modules/.bin" / name).chmod(0o755)
    found = survey(tmp_path, lambda program: f"/usr/bin/{program}" if program == "node" else None)
    tests, *coverage = (candidate.check for candidate in found.candidates)
    assert tests.name == "tape" and tests.command[2].endswith("; tape a.js")
    assert [(one.kind, unit in one.command[2]) for one in coverage] == [(CheckKind.LINT, True)] * demanded


def test_the_style_that_npm_test_asks_for_is_a_check_of_its_own(tmp_path: Path) -> None:
    """fastq: a change that `standard` refuses leaves the project's own `npm test` red."""
    scripts = {"lint": "standard --verbose | snazzy", "unit": "nyc tape a.js", "audit": "npm audit", "pub": "publint"}
    scripts["test"] = "npm run lint && npm run audit && npm run unit && npm run pub && tsd"
    manifest = {"scripts": scripts, "devDependencies": {"tape": "5", "standard": "17"}}
    lay(tmp_path, {"package.json": json.dumps(manifest), "node_modules/.bin/standard": "", "a.js": ""})
    (tmp_path / "node_modules/.bin/standard").chmod(0o755)
    found = survey(tmp_path, lambda program: f"/usr/bin/{program}" if program == "node" else None)
    tests, style = (candidate.check for candidate in found.candidates)
    assert tests.name == "tape"
    assert (style.name, style.kind, style.command[2].split("; ")[1]) == (
        "standard",
        CheckKind.LINT,
        "standard --verbose",
    )
    assert [one.name for one in found.left_out] == ["tsd"], "what asks a registry is none of ours"


@pytest.mark.parametrize(
    ("version", "option", "demanded"),
    [("12.7.0", "", False), ("16.3.9", " --no-check-coverage", True), ("18.8.0", " --disable-coverage", True)],
)
def test_runners_one_behind_the_other_are_a_check_each_and_tap_counts_lines_in_one_of_its_own(
    tmp_path: Path, version: str, option: str, demanded: bool
) -> None:
    """process-warning: old tests alone leave a new line uncovered, tap failed by it and jest was never started."""
    scripts = {"unit": "tap", "jest": "jest jest.test.js", "test": "npm run unit && npm run jest"}
    manifest = {"scripts": scripts, "devDependencies": {"tap": version, "jest": "29"}}
    lay(
        tmp_path,
        {
            "package.json": json.dumps(manifest),
            "node_modules/tap/package.json": json.dumps({"version": version}),
            "node_modules/.bin/tap": "",
        },
    )
    found = survey(tmp_path, lambda program: f"/usr/bin/{program}")
    checks = {one.check.name: one.check for one in found.candidates}
    assert list(checks) == ["tap", "jest", *(["tap coverage"] if demanded else [])]
    assert checks["tap"].command[2].endswith(f"; tap --reporter=tap{option}") and checks["jest"].runner == "jest"
    if demanded:
        assert checks["tap coverage"].kind is CheckKind.LINT and checks["tap coverage"].command[2].endswith("; tap")


def test_examples_alone_are_looked_for_everywhere_first(tmp_path: Path) -> None:
    """With the package named in the command no check would run the first test file that a task adds."""
    lay(tmp_path, {"pkg/mod.py": '"""\n>>> 1\n1\n"""\n', "setup.py": "from setuptools import setup\nsetup()\n"})
    (candidate,) = survey(tmp_path, lambda program: f"/usr/bin/{program}").candidates
    assert candidate.check.command[2:] == ("pytest", "--doctest-modules")
    assert [one.command[2:] for one in candidate.instead] == [("pytest", "--doctest-modules", "pkg")]
