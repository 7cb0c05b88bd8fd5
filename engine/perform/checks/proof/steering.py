"""Files that steer checks. A change to what they say is a finding, and the clean room takes them from the base.

Manifests that people edit every day (pyproject.toml, package.json, Makefile …) are compared section by section: a new
dependency is nobody's business here, a new `addopts` is. conftest.py has rules of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from engine.globs import matches
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.makefile import makefile_steering
from engine.perform.checks.proof.integrity_conftest import conftest_steering
from engine.perform.checks.run.spec import CheckSpec

WHOLE = tuple(
    """
    **/pytest.ini **/.pytest.ini **/tox.ini noxfile.py **/.coveragerc **/ruff.toml **/.ruff.toml **/mypy.ini
    **/.mypy.ini **/pyrightconfig.json **/.flake8 **/.pylintrc **/.bandit **/sitecustomize.py **/usercustomize.py
    **/*.pth **/pytest.py **/_pytest/** **/unittest.py
    **/.eslintrc* **/.eslintignore **/eslint.config.* **/jest.config.* **/vitest.config.* **/vitest.workspace.*
    **/vite.config.* **/tsconfig*.json **/.mocharc* **/.npmrc **/.nycrc* **/.c8rc* **/babel.config.*
    **/.golangci.y*ml **/clippy.toml **/.clippy.toml .cargo/** rust-toolchain* .mvn/** mvnw gradlew
    .github/workflows/** .github/actions/** .gitlab-ci.yml .circleci/** azure-pipelines.yml Jenkinsfile .travis.yml
    bitbucket-pipelines.yml .pre-commit-config.yaml codecov.yml .codecov.yml .devteam/config.toml
    """.split()  # noqa: SIM905 (sixty lines otherwise)
)

ENVIRONMENT = (
    "**/.venv/**",
    "**/venv/**",
    "**/node_modules/**",
    "**/site-packages/**",
    "**/__pycache__/**",
    "**/*.pyc",
    "**/*.egg-info/**",
)
"""Files that belong to an environment, never to a change: a committed one could stand in for the real tool."""

PYPROJECT = (
    "pytest",
    "coverage",
    "ruff",
    "mypy",
    "pyright",
    "bandit",
    "tox",
    "nox",
    "pylint",
    "flake8",
    "hatch.envs",
    "poe",
    "pdm.scripts",
    "taskipy",
)
SETUP_CFG = re.compile(r"tool:pytest|pytest|coverage:.*|mypy.*|flake8|pylint.*|bandit|tox:.*|testenv.*|aliases")
PACKAGE = (
    "scripts",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "nyc",
    "c8",
    "eslintConfig",
    "eslintIgnore",
    "babel",
    "type",
    "bin",
)
CARGO = ("lints", "test", "profile", "lib", "workspace")


def steering(
    path: str, before: bytes | None, after: bytes | None, specs: Sequence[CheckSpec], extra: Sequence[str] = ()
) -> list[str]:
    """What of a changed file steers checks, in words; empty when nothing does."""
    name = path.rpartition("/")[2]
    if matches(path, extra) or matches(path, WHOLE):
        return ["added" if before is None else "removed" if after is None else "changed"]
    if name == "conftest.py":
        return conftest_steering(before, after)
    old, new = _text(before), _text(after)
    if name in ("Makefile", "GNUmakefile", "makefile"):
        made = [_make_targets(spec) for spec in specs]
        alone = any(not named and _makes(spec) for named, spec in zip(made, specs, strict=True))
        return makefile_steering(old, new, {word for named in made for word in named}, default=alone)
    compare = SECTIONS.get(name)
    if compare is not None:
        return compare(old, new)
    if name in ("build.gradle", "build.gradle.kts"):
        return _gradle(old, new)
    if before is not None and _named_by_command(path, specs):
        return ["changed; a check's command runs it"]
    return []


def scripts_of(
    specs: Sequence[CheckSpec], package: bytes | None, makefile: bytes | None, files: frozenset[str]
) -> tuple[str, ...]:
    """Files of the repository that a check runs by way of a script: they come from the base like the script itself."""
    texts = [" ".join(spec.command) for spec in specs]
    programs = {spec.command[0].rpartition("/")[2] for spec in specs if spec.command}
    shell = " ".join(texts)
    if package and ("npm" in programs or re.search(r"\b(npm|yarn|pnpm)\b", shell)):
        texts += [str(value) for value in reading.table(reading.as_json(_text(package)), "scripts").values()]
    if makefile and ("make" in programs or re.search(r"\bmake\b", shell)):
        texts.append(_text(makefile))
    words = {word.strip("\"'").removeprefix("./") for text in texts for word in re.split(r"[\s;|&<>()]+", text)}
    return tuple(
        sorted(word for word in words if word in files and not matches(word, ("tests/**", "test/**", "src/**")))
    )


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _changed(old: dict[str, Any], new: dict[str, Any], keys: Sequence[str], label: str) -> list[str]:
    return [label.format(key) for key in keys if old.get(key) != new.get(key)]


def _pyproject(old: str, new: str) -> list[str]:
    if new.strip() and not reading.toml(new):
        return ["is not readable any more"]
    before, after = (reading.table(reading.toml(text), "tool") for text in (old, new))
    return [f"[tool.{name}]" for name in PYPROJECT if _at(before, name) != _at(after, name)]


def _at(data: dict[str, Any], dotted: str) -> object:
    *parents, last = dotted.split(".")
    return reading.table(data, *parents).get(last)


def _setup_cfg(old: str, new: str) -> list[str]:
    before, after = reading.ini(old), reading.ini(new)
    names = [name for name in {**before, **after} if SETUP_CFG.fullmatch(name)]
    return _changed(before, after, names, "[{}]")


def _package(old: str, new: str) -> list[str]:
    if new.strip() and not reading.as_json(new):
        return ["is not readable any more"]
    before, after = reading.as_json(old), reading.as_json(new)
    scripts_before, scripts_after = reading.table(before, "scripts"), reading.table(after, "scripts")
    # a script that is new steers nothing: only those a check may call, and npm's pre and post hooks of them
    named = [n for n in {**scripts_before, **scripts_after} if n in scripts_before or n.startswith(("pre", "post"))]
    named = [name for name in named if not _longer(scripts_before.get(name), scripts_after.get(name))]
    return [
        *_changed(scripts_before, scripts_after, named, "scripts.{}"),
        *_changed(before, after, [key for key in PACKAGE if key != "scripts"], "{}"),
    ]


def _longer(old: object, new: object) -> bool:
    """A chain of commands with further ones behind it: all that had to pass still has to."""
    return isinstance(old, str) and isinstance(new, str) and bool(old) and new.startswith(f"{old} && ")


def chain_grown(path: str, before: bytes | None, after: bytes | None) -> bool:
    """A package.json whose test script runs more than it did, and that steers nothing else."""
    if path.rpartition("/")[2] != "package.json" or before is None or after is None:
        return False
    old, new = _text(before), _text(after)
    scripts = [reading.table(reading.as_json(text), "scripts") for text in (old, new)]
    return not _package(old, new) and any(_longer(value, scripts[1].get(name)) for name, value in scripts[0].items())


def _cargo(old: str, new: str) -> list[str]:
    return _changed(reading.toml(old), reading.toml(new), CARGO, "[{}]")


def _pom(old: str, new: str) -> list[str]:
    def builds(text: str) -> list[str]:
        blocks = re.findall(r"<(build|profiles|properties)>(.*?)</\1>", text, re.DOTALL)
        return [re.sub(r"\s+", " ", body) for _, body in blocks]

    return [] if builds(old) == builds(new) else ["<build>, <profiles> or <properties>"]


GRADLE = re.compile(r"test|check|exclude|ignoreFailures|enabled|onlyIf|filter", re.IGNORECASE)


def _gradle(old: str, new: str) -> list[str]:
    before, after = old.splitlines(), new.splitlines()
    different = [line for line in {*before, *after} if (line in before) != (line in after)]
    steering_lines = [
        line for line in different if GRADLE.search(line) and not re.search(r"[iI]mplementation|RuntimeOnly", line)
    ]
    return [f"the line {line.strip()[:80]!r}" for line in sorted(steering_lines)]


SECTIONS: dict[str, Callable[[str, str], list[str]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "package.json": _package,
    "Cargo.toml": _cargo,
    "pom.xml": _pom,
}


def has_sections(path: str) -> bool:
    """Compared part by part: only what steers a check counts."""
    name = path.rpartition("/")[2]
    return name in SECTIONS or name in ("Makefile", "GNUmakefile", "makefile", "build.gradle", "build.gradle.kts")


def _makes(spec: CheckSpec) -> bool:
    return any(word.rpartition("/")[2] == "make" for word in " ".join(spec.command).split())


def _make_targets(spec: CheckSpec) -> list[str]:
    words = " ".join(spec.command).split()
    return [
        word
        for index, word in enumerate(words)
        if not word.startswith("-") and any(w.rpartition("/")[2] == "make" for w in words[:index])
    ]


def _named_by_command(path: str, specs: Sequence[CheckSpec]) -> bool:
    """A repository file that a check's command starts. Tests given as arguments are tests, not steering."""
    for spec in specs:
        words = re.split(r"[\s;|&<>()]+", " ".join(spec.command))
        if not spec.runner and any(word.strip("\"'").removeprefix("./") == path for word in words):
            return True
    return False
