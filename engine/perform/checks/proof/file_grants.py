"""Which grant covers a changed file of the oracle: the file named, a tool's settings, dependencies. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, assert_never

from engine.core.grants import Grant, GrantKind
from engine.core.model import Struct
from engine.globs import matches
from engine.perform.checks.presets import project_files as reading

SCRIPTS = tuple(
    """
    **/Makefile **/GNUmakefile **/makefile **/*.mk **/*.sh **/*.bash **/*.zsh **/*.bat **/*.cmd **/*.ps1 **/setup.py
    **/noxfile.py **/conftest.py **/tasks.py **/fabfile.py **/package.json **/build.gradle* **/settings.gradle*
    **/pom.xml **/CMakeLists.txt **/*.cmake **/meson.build **/Rakefile **/Justfile **/justfile **/Taskfile.y*ml
    **/Dockerfile*
    **/tox.ini **/Jenkinsfile **/gulpfile.* **/Gruntfile.* **/build.rs **/sitecustomize.py **/usercustomize.py **/*.pth
    .github/** .gitlab-ci.yml .circleci/** azure-pipelines.yml .travis.yml bitbucket-pipelines.yml
    **/BUILD **/BUILD.bazel
    """.split()  # noqa: SIM905
)
"""What runs. A word about settings never covers these; each has to be named itself."""

LOCKS = tuple(
    """
    **/package-lock.json **/npm-shrinkwrap.json **/yarn.lock **/pnpm-lock.yaml **/bun.lock* **/poetry.lock **/uv.lock
    **/Pipfile.lock **/pdm.lock **/pixi.lock **/Cargo.lock **/go.sum **/go.mod **/Gemfile.lock **/composer.lock
    **/requirements*.txt **/requirements/*.txt **/*requirements.txt **/constraints*.txt **/requirements*.in
    **/environment.y*ml **/gradle.lockfile
    """.split()  # noqa: SIM905
)


class ToolSettings(Struct, frozen=True, kw_only=True):
    """Where a tool keeps its settings: files of its own, and its tables in shared ones."""

    files: tuple[str, ...] = ()
    pyproject: tuple[str, ...] = ()
    sections: str = ""
    """Of setup.cfg and tox.ini, as a pattern."""
    package: tuple[str, ...] = ()
    cargo: tuple[str, ...] = ()


TOOLS: dict[str, ToolSettings] = {
    "ruff": ToolSettings(files=("**/ruff.toml", "**/.ruff.toml"), pyproject=("ruff",)),
    "mypy": ToolSettings(files=("**/mypy.ini", "**/.mypy.ini"), pyproject=("mypy",), sections=r"mypy.*"),
    "pyright": ToolSettings(files=("**/pyrightconfig.json",), pyproject=("pyright", "basedpyright")),
    "pytest": ToolSettings(
        files=("**/pytest.ini", "**/.pytest.ini", "**/pytest.toml"), pyproject=("pytest",), sections=r"(tool:)?pytest"
    ),
    "coverage": ToolSettings(files=("**/.coveragerc",), pyproject=("coverage",), sections=r"coverage:.*"),
    "flake8": ToolSettings(files=("**/.flake8",), pyproject=("flake8",), sections=r"flake8.*"),
    "pylint": ToolSettings(files=("**/.pylintrc", "**/pylintrc"), pyproject=("pylint",), sections=r"pylint.*"),
    "bandit": ToolSettings(files=("**/.bandit",), pyproject=("bandit",), sections=r"bandit"),
    "black": ToolSettings(pyproject=("black",)),
    "isort": ToolSettings(files=("**/.isort.cfg",), pyproject=("isort",), sections=r"(tool:)?isort"),
    "eslint": ToolSettings(
        files=("**/.eslintrc*", "**/.eslintignore", "**/eslint.config.*"), package=("eslintConfig", "eslintIgnore")
    ),
    "prettier": ToolSettings(
        files=("**/.prettierrc*", "**/.prettierignore", "**/prettier.config.*"), package=("prettier",)
    ),
    "typescript": ToolSettings(files=("**/tsconfig*.json",)),
    "jest": ToolSettings(files=("**/jest.config.*",), package=("jest",)),
    "vitest": ToolSettings(files=("**/vitest.config.*", "**/vitest.workspace.*"), package=("vitest",)),
    "mocha": ToolSettings(files=("**/.mocharc*",), package=("mocha",)),
    "golangci-lint": ToolSettings(files=("**/.golangci.y*ml", "**/.golangci.toml")),
    "clippy": ToolSettings(files=("**/clippy.toml", "**/.clippy.toml"), cargo=("lints",)),
    "rustfmt": ToolSettings(files=("**/rustfmt.toml", "**/.rustfmt.toml")),
    "pre-commit": ToolSettings(files=("**/.pre-commit-config.yaml",)),
    "codespell": ToolSettings(files=("**/.codespellrc",), pyproject=("codespell",), sections=r"codespell"),
    "editorconfig": ToolSettings(files=("**/.editorconfig",)),
}
ALIASES = {"tsc": "typescript", "tsconfig": "typescript", "golangci": "golangci-lint", "cov": "coverage"}

DEPENDENCY_TABLES: dict[str, tuple[str, ...]] = {
    "pyproject.toml": (
        "project.dependencies",
        "project.optional-dependencies",
        "project.requires-python",
        "dependency-groups",
        "build-system.requires",
        "tool.poetry.dependencies",
        "tool.poetry.dev-dependencies",
        "tool.poetry.group",
        "tool.pdm.dev-dependencies",
        "tool.uv.dev-dependencies",
    ),
    "package.json": (
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
        "overrides",
        "resolutions",
        "engines",
        "packageManager",
    ),
    "Cargo.toml": ("dependencies", "dev-dependencies", "build-dependencies", "workspace.dependencies"),
    "Pipfile": ("packages", "dev-packages", "requires"),
}


def is_script(path: str, content: bytes | None = None) -> bool:
    return matches(path, SCRIPTS) or (content or b"").startswith(b"#!")


def expanded(glob: str) -> list[str]:
    """`a.{x,y}` as two globs: the one dialect of the checks has no braces."""
    parts = re.split(r"\{([^{}]*)\}", glob)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(one) for one in product(*choices)][:64]


def named(target: str, path: str, content: bytes | None = None) -> bool:
    """Whether `edit TARGET` covers the file: by its path; a script only where the last word is its own name."""
    globs = [glob for one in expanded(target) for glob in (one, f"**/{one}" if "/" not in one else one)]
    if is_script(path, content):
        globs = [glob for glob in globs if not re.search(r"[*?\[]", glob.rpartition("/")[2])]
    return matches(path, globs)


def file_grant(grants: Iterable[Grant], path: str, before: bytes | None, after: bytes | None) -> Grant | None:
    """The grant that lets this file of data, settings or build change as it did."""
    content = after if after is not None else before
    for grant in grants:
        match grant.kind:
            case GrantKind.EDIT:
                covered = named(grant.target, path, content)
            case GrantKind.DELETE:
                covered = after is None and "/" in path and named(grant.target, path, content)
                covered = covered or (after is None and path == grant.target)
            case GrantKind.CONFIGURE:
                covered = _configured(grant.target, path, before, after)
            case GrantKind.DEPENDENCIES:
                covered = _only_dependencies(path, before, after)
            case GrantKind.ACCEPT:
                covered = grant.target in ("config-changed", "oracle-changed", "environment-files") and bool(
                    grant.to and named(grant.to, path, content)
                )
            case (
                GrantKind.RENAME
                | GrantKind.MOVE
                | GrantKind.RENAME_TEST
                | GrantKind.DELETE_TESTS
                | GrantKind.EDIT_TESTS
                | GrantKind.SKIP_TESTS
                | GrantKind.CHANGE_BEHAVIOUR
                | GrantKind.SUPPRESS
            ):
                covered = False
            case _:
                assert_never(grant.kind)
        if covered:
            return grant
    return None


def _configured(tool: str, path: str, before: bytes | None, after: bytes | None) -> bool:
    """A tool's own file, or a shared one that differs in the tool's own tables alone."""
    if not tool or re.search(r"[*/]", tool):  # an older plan: every settings file, or those a glob names
        return not is_script(path) and is_settings(path) and (not tool or matches(path, expanded(tool)))
    name = ALIASES.get(tool, tool)
    settings = TOOLS.get(name) or ToolSettings(
        files=(f"**/.{name}rc*", f"**/{name}.toml", f"**/.{name}.*", f"**/{name}.ini", f"**/{name}.config.*"),
        pyproject=(name,),
        package=(name,),
    )
    if matches(path, settings.files):
        return True
    file = path.rpartition("/")[2]
    if before is None or after is None:
        return False
    if file == "pyproject.toml":
        return _equal_without(reading.toml, before, after, [f"tool.{table}" for table in settings.pyproject])
    if file == "Cargo.toml":
        return _equal_without(reading.toml, before, after, settings.cargo)
    if file == "package.json":
        return _equal_without(reading.as_json, before, after, settings.package)
    if file in ("setup.cfg", "tox.ini") and settings.sections:
        old, new = (reading.ini(_text(data)) for data in (before, after))
        pattern = re.compile(settings.sections)
        rest = [{name: value for name, value in one.items() if not pattern.fullmatch(name)} for one in (old, new)]
        return bool(old and new) and rest[0] == rest[1]
    return False


def is_settings(path: str) -> bool:
    known = [glob for tool in TOOLS.values() for glob in tool.files]
    return matches(path, (*known, "**/pyproject.toml", "**/setup.cfg", "**/*.ini", "**/*.cfg", "**/*.toml"))


def _only_dependencies(path: str, before: bytes | None, after: bytes | None) -> bool:
    if matches(path, LOCKS):
        return True
    file = path.rpartition("/")[2]
    tables = DEPENDENCY_TABLES.get(file)
    if tables is None or before is None or after is None:
        return False
    return _equal_without(reading.as_json if file.endswith(".json") else reading.toml, before, after, tables)


def _equal_without(read: Any, before: bytes, after: bytes, tables: Iterable[str]) -> bool:
    """Both can be read, and are equal but for these tables."""
    old, new = read(_text(before)), read(_text(after))
    if not old or not new:
        return False
    for table in tables:
        _remove(old, table)
        _remove(new, table)
    return bool(_pruned(old) == _pruned(new))


def _remove(data: dict[str, Any], dotted: str) -> None:
    *parents, last = dotted.split(".")
    for parent in parents:
        below = data.get(parent)
        if not isinstance(below, dict):
            return
        data = below
    data.pop(last, None)


def _pruned(data: Mapping[str, Any]) -> dict[str, Any]:
    """Without tables that hold nothing: `[tool]` comes and goes with what is in it."""
    kept = {key: _pruned(value) if isinstance(value, dict) else value for key, value in data.items()}
    return {key: value for key, value in kept.items() if value != {}}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
