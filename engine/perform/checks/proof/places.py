"""Places where commands and runners look by themselves. A list, so it never decides: what is new there waits for R4."""

from __future__ import annotations

import re
from collections.abc import Mapping

SETTINGS = tuple(
    """
    **/pytest.ini **/.pytest.ini **/pytest.toml **/.pytest.toml **/tox.ini noxfile.py **/.coveragerc **/ruff.toml
    **/.ruff.toml **/mypy.ini **/.mypy.ini **/pyrightconfig.json **/.flake8 **/.pylintrc **/.bandit
    **/sitecustomize.py **/usercustomize.py **/*.pth **/pytest.py **/_pytest/** **/unittest.py **/.ignore **/.rgignore
    **/.eslintrc* **/.eslintignore **/eslint.config.* **/jest.config.* **/vitest.config.* **/vitest.workspace.*
    **/vite.config.* **/tsconfig*.json **/jsconfig.json **/.mocharc* **/.npmrc **/.yarnrc* **/.nycrc* **/.c8rc*
    **/babel.config.* **/.babelrc* **/.taprc **/.swcrc **/.env **/.env.*
    **/.golangci.y*ml **/clippy.toml **/.clippy.toml .cargo/** **/build.rs rust-toolchain* .mvn/** mvnw gradlew
    **/go.work **/Makefile **/GNUmakefile **/makefile **/*.mk **/justfile **/Justfile **/Taskfile.y*ml **/Rakefile
    .github/workflows/** .github/actions/** .gitlab-ci.yml .circleci/** azure-pipelines.yml Jenkinsfile .travis.yml
    bitbucket-pipelines.yml .pre-commit-config.yaml codecov.yml .codecov.yml .devteam/config.toml
    """.split()  # noqa: SIM905 (sixty lines otherwise)
)

ELSEWHERE = (
    ".github/workflows/**", ".github/actions/**", ".gitlab-ci.yml", ".circleci/**", "azure-pipelines.yml",
    "Jenkinsfile", ".travis.yml", "bitbucket-pipelines.yml", ".pre-commit-config.yaml", ".devteam/config.toml",
)  # fmt: skip
"""Settings of checks that run somewhere else: no check here reads them, and they judge all the same."""

MANIFESTS = frozenset(
    {"pyproject.toml", "setup.cfg", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml", "build.gradle",
     "build.gradle.kts", "settings.gradle", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "go.sum",
     "poetry.lock", "uv.lock", "deno.json", "bunfig.toml"}
)  # fmt: skip
"""Files that hold settings of checks beside everyday things."""

ENVIRONMENT = (
    "**/.venv/**", "**/venv/**", "**/node_modules/**", "**/site-packages/**", "**/__pycache__/**", "**/*.pyc",
    "**/*.egg-info/**", "**/*.dist-info/**", "**/*.egg-link", "**/*.so", "**/*.pyd",
)  # fmt: skip
"""Files that belong to an environment, never to a change: a committed one could stand in for the real tool."""

PROSE = (
    "**/*.md", "**/*.rst", "**/*.adoc", "docs/**", "doc/**", "**/CHANGELOG*", "**/LICENSE*", "**/AUTHORS*", "**/NEWS*",
    "**/README*", "**/*.png", "**/*.svg", "**/*.jpg", "**/*.gif", "**/.gitignore", "**/CODEOWNERS", "**/CONTRIBUTING*",
    "**/*.txt", "**/py.typed", "**/.editorconfig", "**/.gitattributes",
)  # fmt: skip

DOCUMENTS = ("**/*.md", "**/*.rst", "**/*.adoc", "**/README*", "**/CHANGELOG*", "**/NEWS*")
"""Prose even where a check reads it, as long as its examples stay."""

TARGETS = re.compile(rb"^([A-Za-z][\w./ -]*):(?!=)", re.MULTILINE)


def named_like_target(path: str, sources: Mapping[str, bytes]) -> bool:
    """A file called like a target of a makefile beside it is taken for made, and the recipe is not run."""
    folder, _, name = path.rpartition("/")
    for other, text in sources.items():
        where, _, file = other.rpartition("/")
        beside = where == folder and file.lower() in ("makefile", "gnumakefile")
        if beside and any(name.encode() in match.split() for match in TARGETS.findall(text)):
            return True
    return False


def stands_in_front(path: str, after: bytes | None, sources: Mapping[str, bytes]) -> str:
    """A new program that is called like one which makefiles and scripts of the base start by name alone."""
    name = path.rpartition("/")[2]
    if after is None or not after.startswith((b"#!", b"\x7fELF")) or not re.fullmatch(r"[\w.+-]+", name):
        return ""
    started = re.compile(rb"(?:^|[\s;&|(@`$])" + re.escape(name.encode()) + rb"(?=[\s;&|)`]|$)", re.MULTILINE)
    for other, text in sources.items():
        script = other.endswith((".sh", ".bash", ".mk")) or other.rpartition("/")[2].lower() in (
            "makefile",
            "gnumakefile",
        )
        if (script or text.startswith(b"#!")) and started.search(re.sub(rb"^\s*#.*$", b"", text, flags=re.MULTILINE)):
            return other
    return ""
