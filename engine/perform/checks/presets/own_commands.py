"""The project's own test commands, looked for where they live: tox, nox, hatch and its kin, Makefile, CI workflows.

Files are read, nothing is run. A line that cannot be understood is not used: the runner's own defaults stand in.
"""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

from engine.perform.checks import python_source
from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.package import Package
from engine.perform.checks.presets.runner_lines import SCRIPTS, Line, Own, below, interpret


def own_commands(package: Package) -> list[Own]:
    """The commands of the first place that has one which can be understood."""
    for lines in (_tox(package), _nox(package), _tasks(package), _makefile(package), _ci(package)):
        found = [own for line in lines for own in interpret(line)]
        if found:
            return list({(own.kind, own.args, own.folder): own for own in found}.values())
    return []


def script_of(package: Package) -> str:
    """A script of the project's own that runs all tests."""
    return next((name for name in SCRIPTS if package.has(name)), "")


# ── where they live ────────────────────────────────────────────────────────────────────────────────────────────────


Lines = list[Line]


def _tox(package: Package) -> Lines:
    for name in ("tox.ini", "setup.cfg"):
        if lines := _ini_tox(reading.ini(package.text(name)), name):
            return lines
    tox = reading.table(reading.toml(package.text("pyproject.toml")), "tool", "tox") or reading.toml(
        package.text("tox.toml")
    )
    legacy = tox.get("legacy_tox_ini")
    if isinstance(legacy, str):
        return _ini_tox(reading.ini(legacy), "pyproject.toml")
    base = reading.table(tox, "env_run_base") or reading.table(tox, "env", "test")
    folder = below("", str(base.get("change_dir", "")))
    env = {name: value for name, value in reading.table(base, "set_env").items() if isinstance(value, str)}
    found = base.get("commands")
    listed = found if isinstance(found, list) else []
    texts = [_words(one) for one in listed if isinstance(one, list)]
    return [Line(where="tox", text=shlex.join(words), env=env, folder=folder) for words in texts if words]


def _ini_tox(sections: dict[str, dict[str, str]], file: str) -> Lines:
    """[testenv], else the environments that are named like tests; variables of the base hold for all of them."""
    base = sections.get("testenv", {})
    named = [name for name in sections if re.match(r"testenv:(py|test|unit)", name)]
    for name in ("testenv", *named):
        section = {**base, **sections.get(name, {})}
        env = _settings(section.get("setenv", "") + "\n" + section.get("set_env", ""))
        if lines := _commands(section.get("commands", "")):
            folder = below("", section.get("changedir", "") or section.get("change_dir", ""))
            return [Line(where=f"{file} [{name}]", text=line, env=env, folder=folder) for line in lines]
    return []


def _settings(text: str) -> dict[str, str]:
    """NAME = value by lines; a factor before it (`py311: NAME = 1`) is one of several worlds and left out."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs if re.fullmatch(r"\s*[A-Za-z_]\w*\s*", name)}


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
        tree = python_source.parse(package.text("noxfile.py"))
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            env = next((_literal(keyword.value) for keyword in node.keywords if keyword.arg == "env"), {})
            if words:
                lines.append(Line(where="noxfile.py", text=shlex.join(words), env=env))
    return lines


def _literal(node: ast.expr) -> dict[str, str]:
    """The plain part of a dictionary of texts."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {
        key.value: value.value
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
        if isinstance(key.value, str) and isinstance(value.value, str)
    }


def _tasks(package: Package) -> Lines:
    """Scripts of hatch, pdm, poe, taskipy and rye in pyproject.toml."""
    project = reading.toml(package.text("pyproject.toml"))
    tool = reading.table(project, "tool")
    tables: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        (f"hatch env {name}", reading.table(env, "scripts"), reading.table(env, "env-vars"))
        for name, env in _hatch(reading.table(tool, "hatch"))
    ]
    tables += [
        ("pdm scripts", reading.table(tool, "pdm", "scripts"), {}),
        ("poe tasks", reading.table(tool, "poe", "tasks"), reading.table(tool, "poe", "env")),
        ("taskipy", reading.table(tool, "taskipy", "tasks"), {}),
        ("rye scripts", reading.table(tool, "rye", "scripts"), {}),
    ]
    hatch = _hatch(reading.toml(package.text("hatch.toml")))
    tables += [("hatch.toml", reading.table(env, "scripts"), reading.table(env, "env-vars")) for _name, env in hatch]
    lines = []
    for where, table, shared in tables:
        for name in ("test", "tests", "run", "unit", "cov", "all"):
            value, env = table.get(name), shared
            if isinstance(value, dict):
                env = {**shared, **reading.table(value, "env")}
                value = value.get("cmd") or value.get("shell") or ""
            texts = {key: text for key, text in env.items() if isinstance(text, str)}
            for line in value if isinstance(value, list) else [value]:
                if isinstance(line, str) and line:
                    lines.append(Line(where=where, text=line, env=texts))
    return lines


def _hatch(table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    envs = reading.table(table, "envs")
    return [(name, reading.table(envs, name)) for name in envs]


def _makefile(package: Package) -> Lines:
    text = next((t for name in ("GNUmakefile", "Makefile", "makefile") if (t := package.text(name))), "")
    names = dict(re.findall(r"^(\w+)\s*[:?]?=\s*(.+)$", text, re.MULTILINE))
    found = re.search(r"^(?:test|tests|check)\s*:[^=\n]*\n((?:\t.*\n?|\s*\n)+)", text, re.MULTILINE)
    exported = re.findall(r"^export\s+(\w+)\s*[:?]?=\s*(.*)$", text, re.MULTILINE)
    bare_exports = re.findall(r"^export\s+([\w ]+)$", text, re.MULTILINE)
    env = dict(exported) | {name: names[name] for line in bare_exports for name in line.split() if name in names}
    lines = []
    for line in (found[1] if found else "").replace("\\\n", " ").splitlines():
        bare = re.sub(r"\$[({](\w+)[)}]", lambda match: names.get(match[1], ""), line.strip().lstrip("@-+"))
        lines.append(Line(where="Makefile test", text=bare, env=env))
    return lines


STARTS = re.compile(
    r"(?:export\s+)?(?:[A-Za-z_]\w*=\S*\s+(?:&&\s*)?)*(?:env\s+)?"
    r"(?:python\S*|pytest|coverage|uv|poetry|pdm|hatch|pipenv|\./manage\.py)\b"
)
"""A shell line that starts a runner of Python's, with variables in front or without."""


def _ci(package: Package) -> Lines:
    """Lines of workflow files that start a runner. Read as text: what is no command is not understood later."""
    folder = package.root
    files = sorted((folder / ".github" / "workflows").glob("*.y*ml"))
    files += [folder / ".gitlab-ci.yml", folder / ".travis.yml", folder / ".circleci" / "config.yml"]
    lines = []
    for path in files:
        if package.relative:
            break  # whose folder a line of a workflow runs in is not told by the line
        env: dict[str, str] = {}
        for line in reading.text(path).splitlines():
            if (pair := re.fullmatch(r"\s+([A-Z][A-Z0-9_]+):\s*['\"]?([^'\"#]+?)['\"]?\s*(?:#.*)?", line)) is not None:
                env[pair[1]] = pair[2]
            bare = re.sub(r"^\s*(?:-\s+)?(?:(?:run|script|command|name)\s*:\s*)?[|>]?[+-]?\s*", "", line).strip("\"'")
            if STARTS.match(bare):
                lines.append(Line(where=str(path.relative_to(folder)), text=bare, env=dict(env)))
    return lines
