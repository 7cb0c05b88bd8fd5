"""The project's own test commands, looked for where they live: tox, nox, hatch and its kin, Makefile, CI workflows.

Files are read, nothing is run. A line that cannot be understood is not used: the runner's own defaults stand in.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from typing import Any

from engine.core.model import Struct
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.package import Package

WRAPPERS = (
    ("coverage", "run"), ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"),
    ("rye", "run"), ("xvfb-run",), ("env",), ("time",), ("dotenv", "run"),
)  # fmt: skip
SCRIPTS = (
    "runtests.py",
    "run_tests.py",
    "runtests",
    "run-tests.py",
    "test.py",
    "tests.py",
    "testall.py",
    "alltests.py",
)


class Own(Struct, frozen=True, kw_only=True):
    """A command the project runs its tests with. `kind` is pytest, unittest or script."""

    kind: str
    args: tuple[str, ...]
    where: str


def own_commands(package: Package) -> list[Own]:
    """The commands of the first place that has one which can be understood."""
    for lines in (_tox(package), _nox(package), _tasks(package), _makefile(package), _ci(package)):
        found = [own for where, line in lines for own in interpret(line, where)]
        if found:
            return list({(own.kind, own.args): own for own in found}.values())
    return []


def script_of(package: Package) -> str:
    """A script of the project's own that runs all tests."""
    return next((name for name in SCRIPTS if package.has(name)), "")


# ── where they live ────────────────────────────────────────────────────────────────────────────────────────────────


Lines = list[tuple[str, str]]


def _tox(package: Package) -> Lines:
    for name, sections in (
        ("tox.ini", reading.ini(package.text("tox.ini"))),
        ("setup.cfg", reading.ini(package.text("setup.cfg"))),
    ):
        if lines := _commands(sections.get("testenv", {}).get("commands", "")):
            return [(f"{name} [testenv]", line) for line in lines]
    tox = reading.table(reading.toml(package.text("pyproject.toml")), "tool", "tox") or reading.toml(
        package.text("tox.toml")
    )
    legacy = tox.get("legacy_tox_ini")
    if isinstance(legacy, str):
        lines = _commands(reading.ini(legacy).get("testenv", {}).get("commands", ""))
        return [("pyproject.toml [tool.tox]", line) for line in lines]
    base = reading.table(tox, "env_run_base") or reading.table(tox, "env", "test")
    found = base.get("commands")
    listed = found if isinstance(found, list) else []
    texts = [_words(one) for one in listed if isinstance(one, list)]
    return [("tox", shlex.join(words)) for words in texts if words]


def _words(one: list[Any]) -> list[str]:
    words: list[str] = []
    for part in one:
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, dict) and isinstance(part.get("default"), list):
            words += [word for word in part["default"] if isinstance(word, str)]
    return words


def _commands(text: str) -> list[str]:
    return [line.strip().lstrip("-!").strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def _nox(package: Package) -> Lines:
    """`session.run("pytest", …)` with plain words."""
    try:
        tree = ast.parse(package.text("noxfile.py"))
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if words:
                lines.append(("noxfile.py", shlex.join(words)))
    return lines


def _tasks(package: Package) -> Lines:
    """Scripts of hatch, pdm, poe, taskipy and rye in pyproject.toml."""
    project = reading.toml(package.text("pyproject.toml"))
    tool = reading.table(project, "tool")
    tables: list[tuple[str, dict[str, Any]]] = [
        (f"hatch env {name}", reading.table(tool, "hatch", "envs", name, "scripts"))
        for name in reading.table(tool, "hatch", "envs")
    ]
    tables += [
        ("pdm scripts", reading.table(tool, "pdm", "scripts")),
        ("poe tasks", reading.table(tool, "poe", "tasks")),
        ("taskipy", reading.table(tool, "taskipy", "tasks")),
        ("rye scripts", reading.table(tool, "rye", "scripts")),
    ]
    hatch = reading.toml(package.text("hatch.toml"))
    tables += [("hatch.toml", reading.table(hatch, "envs", name, "scripts")) for name in reading.table(hatch, "envs")]
    lines = []
    for where, table in tables:
        for name in ("test", "tests", "run", "unit", "cov", "all"):
            value = table.get(name)
            if isinstance(value, dict):
                value = value.get("cmd") or value.get("shell") or ""
            for line in value if isinstance(value, list) else [value]:
                if isinstance(line, str) and line:
                    lines.append((where, line))
    return lines


def _makefile(package: Package) -> Lines:
    text = next((t for name in ("GNUmakefile", "Makefile", "makefile") if (t := package.text(name))), "")
    names = dict(re.findall(r"^(\w+)\s*[:?]?=\s*(.+)$", text, re.MULTILINE))
    found = re.search(r"^(?:test|tests|check)\s*:[^=\n]*\n((?:\t.*\n?|\s*\n)+)", text, re.MULTILINE)
    lines = []
    for line in (found[1] if found else "").replace("\\\n", " ").splitlines():
        bare = re.sub(r"\$[({](\w+)[)}]", lambda match: names.get(match[1], ""), line.strip().lstrip("@-+"))
        lines.append(("Makefile test", bare))
    return lines


def _ci(package: Package) -> Lines:
    """Lines of workflow files that start a runner. Read as text: what is no command is not understood later."""
    folder = package.root
    files = sorted((folder / ".github" / "workflows").glob("*.y*ml"))
    files += [folder / ".gitlab-ci.yml", folder / ".travis.yml", folder / ".circleci" / "config.yml"]
    lines = []
    for path in files:
        if package.relative:
            break  # whose folder a line of a workflow runs in is not told by the line
        for line in reading.text(path).splitlines():
            bare = re.sub(r"^\s*(?:-\s+)?(?:(?:run|script|command|name)\s*:\s*)?[|>]?[+-]?\s*", "", line).strip("\"'")
            if re.match(r"(python\S*|pytest|coverage|uv|poetry|pdm|hatch|pipenv)\b", bare):
                lines.append((str(path.relative_to(folder)), bare))
    return lines


# ── what they mean ─────────────────────────────────────────────────────────────────────────────────────────────────


def interpret(line: str, where: str) -> Iterator[Own]:
    """pytest and unittest calls in a shell line."""
    line = re.sub(r"\{(?:posargs|args)(?::([^{}]*))?\}", lambda match: match[1] or "", line)
    line = re.sub(r"\{envsitepackagesdir\}/", "", line)
    line = line.replace("{envpython}", "python").replace("{toxinidir}/", "").replace("{toxinidir}", ".")
    for segment in re.split(r"&&|\|\||;", line):
        try:
            words = shlex.split(segment)
        except ValueError:
            continue
        own = _runner(words, where)
        if own is not None:
            yield own


def _runner(words: list[str], where: str) -> Own | None:
    words = _unwrapped(words)
    while words and re.match(r"python[\d.]*$", words[0].rpartition("/")[2]):
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
        if rest[:1] != ["-m"]:
            return Own(kind="script", args=tuple(rest), where=where) if rest[:1] and _is_script(rest[0]) else None
        words = _unwrapped(rest[1:])
    if not words:
        return None
    name = words[0].rpartition("/")[2]
    if name in ("pytest", "py.test"):
        return Own(kind="pytest", args=tuple(words[1:]), where=where)
    if name == "unittest":
        return Own(kind="unittest", args=tuple(words[1:]), where=where)
    return None


def _is_script(name: str) -> bool:
    return name.rpartition("/")[2] in SCRIPTS


def _unwrapped(words: list[str]) -> list[str]:
    """Without variables in front and without the programs that only start another one."""
    while words:
        if re.match(r"\w+=", words[0]):
            words = words[1:]
            continue
        for wrapper in WRAPPERS:
            if tuple(words[: len(wrapper)]) == wrapper:
                words = words[len(wrapper) :]
                while words and words[0].startswith("-") and words[0] != "-m":
                    words = words[2:] if words[0] in ("--with", "--group", "--extra", "--python") else words[1:]
                if words[:1] == ["-m"]:
                    words = words[1:]
                break
        else:
            return words
    return words
