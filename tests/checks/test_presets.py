"""Presets: what is proposed for a folder, from its files alone."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.command import adopt
from engine.perform.checks.parse import PARSERS
from engine.perform.checks.presets import detect

PYPROJECT = '[project]\nname="x"\n[dependency-groups]\ndev=["pytest", "mypy", "bandit"]\n[tool.ruff]\n'
NODE = '{"scripts": {"test": "%s"}, "devDependencies": {"typescript": "5", "eslint": "9"}}'

TABLE = [
    pytest.param({"pyproject.toml": PYPROJECT, "tests/test_a.py": "", "x.py": ""}, ["pytest", "ruff", "mypy", "bandit"], id="python"),
    pytest.param({"pyproject.toml": "[tool.ruff]\n", "a.py": ""}, ["ruff", "ruff security"], id="python-lint-only"),
    pytest.param({"tests/test_a.py": "import unittest\nclass T(unittest.TestCase): ...\n"}, ["unittest"], id="unittest"),
    pytest.param({"test_a.py": "def test_a(): ...\n"}, ["pytest"], id="plain-functions"),
    pytest.param({"pyrightconfig.json": "{}", "a.py": ""}, ["pyright"], id="pyright"),
    pytest.param({"package.json": NODE % "node --test", "tsconfig.json": "{}"}, ["node --test", "tsc", "eslint"], id="node"),
    pytest.param({"package.json": NODE % "vitest"}, ["vitest", "eslint"], id="vitest"),
    pytest.param({"package.json": NODE % "jest --watch"}, ["jest", "eslint"], id="jest"),
    pytest.param({"package.json": NODE % "lint && jest"}, ["npm test", "eslint"], id="npm-test"),
    pytest.param({"package.json": "{}"}, [], id="package-without-tests"),
    pytest.param({"package.json": "{{{"}, [], id="package-broken"),
    pytest.param({"go.mod": "module x\n"}, ["go test", "go vet", "go build"], id="go"),
    pytest.param({"Cargo.toml": "[package]\n"}, ["cargo test", "cargo clippy"], id="rust"),
    pytest.param({"pom.xml": "<project/>"}, ["mvn test"], id="maven"),
    pytest.param({"build.gradle": "", "gradlew": ""}, ["gradle test"], id="gradle"),
    pytest.param({"Makefile": "test:\n\tt\nlint:\n\tl\ncheck:\n\tt\nX := 1\n"}, ["make test", "make lint"], id="make"),
    pytest.param({"README.md": ""}, [], id="nothing"),
]  # fmt: skip


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
    assert commands["pytest"] == str(tmp_path / ".venv/bin/python")
    assert commands["ruff"] == str(tmp_path / ".venv/bin/ruff")
    lay(tmp_path, {"package.json": NODE % "vitest", "node_modules/.bin/vitest": ""})
    commands = {spec.name: spec.command[0] for spec in detect(tmp_path, lambda program: None)}
    assert commands["vitest"] == str(tmp_path / "node_modules/.bin/vitest")


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
