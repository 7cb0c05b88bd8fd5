"""The destructive verbs that have cost people their work are nowhere in the source, except in one audited module.

Read from the syntax tree: string constants and names of code count, comments and docstrings do not.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AUDITED = ROOT / "engine/perform/workspace/destroy.py"
GIT_DOOR = ROOT / "engine/perform/workspace/git.py"
SOURCES = sorted(path for room in ("engine", "tui") for path in (ROOT / room).rglob("*.py"))

GIT_VERBS = {
    "clean": None, "stash": None, "reset": {"--hard", "--merge", "--keep"}, "checkout": {"--", "-f", "--force", "."},
    "restore": None, "branch": {"-D", "--delete", "-d", "-f", "--force"}, "worktree": {"remove", "prune"},
    "push": {"--force", "-f", "--mirror"}, "gc": None, "prune": None, "filter-branch": None,
    "switch": {"-f", "--discard-changes"},
}  # fmt: skip
"""Verb → arguments that make it destructive; None: the verb itself."""
REMOVALS = {"rmtree", "removedirs"}
SHELL = re.compile(r"\bgit\s+(clean|stash|reset\s+--hard|checkout\s+--|branch\s+-D|worktree\s+remove)\b")


def violations(source: str) -> list[str]:
    """What a module does that it must not, with the line."""
    found = []
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in REMOVALS:
                found.append(f"{node.lineno}: {name}")
        if isinstance(node, ast.ImportFrom | ast.Import):
            found += [f"{node.lineno}: import {alias.name}" for alias in node.names if alias.name in REMOVALS]
        if isinstance(node, ast.keyword) and node.arg == "shell" and not _false(node.value):
            found.append(f"{node.value.lineno}: shell=")
        if isinstance(node, ast.Call | ast.List | ast.Tuple):
            found += [f"{node.lineno}: git {verb}" for verb in _git(node)]
    return found


def _false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _git(node: ast.Call | ast.List | ast.Tuple) -> list[str]:
    """Forbidden verbs among the constants of one call or one argument list."""
    parts = node.args if isinstance(node, ast.Call) else node.elts
    words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        is_git = name in ("run", "line", "status", "git", "execute")
    else:
        is_git = bool(words) and words[0] == "git"
        words = words[1:] if is_git else words
    if not is_git or not words:
        return [word for word in words if SHELL.search(word) and isinstance(node, ast.Call) and is_git]
    verb = words[0]
    if verb in GIT_VERBS:
        dangerous = GIT_VERBS[verb]
        if dangerous is None or dangerous & set(words[1:]):
            return [" ".join(words)]
    return [word for word in words if SHELL.search(word)]


@pytest.mark.parametrize("path", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in SOURCES])
def test_no_destructive_verb(path: Path) -> None:
    if path == AUDITED:
        return
    assert violations(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        'git.run("clean", "-fd")',
        'git.run("stash")',
        'self.git.run("reset", "--hard", x)',
        'git.status("checkout", "--", ".")',
        'git.run("branch", "-D", name)',
        'git.run("worktree", "remove", "--force", p)',
        'run(["git", "clean", "-fdx"])',
        'run("git reset --hard HEAD")',
        "shutil.rmtree(x)",
        "from shutil import rmtree",
        "run(x, shell=True)",
        "run(x, shell=flag)",
    ],
)
def test_the_rule_sees_what_it_forbids(line: str) -> None:
    assert violations(line + "\n")


@pytest.mark.parametrize(
    "line",
    ['git.run("read-tree", x)', 'say("git stash list")', '"""git clean"""', "run(x, shell=False)", 'print("clean")'],
)
def test_the_rule_lets_words_be_words(line: str) -> None:
    assert violations(line + "\n") == []


def test_only_one_module_reaches_gitpython() -> None:
    importers = []
    for path in SOURCES:
        if "git" not in (text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom) and node.level == 0
                else []
            )
            if any(name == "git" or name.startswith("git.") for name in names):
                importers.append(path)
    assert importers == [GIT_DOOR]


def test_opening_the_door_imports_no_gitpython() -> None:
    import subprocess
    import sys

    code = (
        "import sys, engine.perform.workspace.workspace; sys.exit('git' in sys.modules or 'subprocess' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
