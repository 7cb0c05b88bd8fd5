"""The core is pure: it reaches no clock, no chance, no file, no process, no network, and nothing of the rest."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys

import pytest

CORE = pathlib.Path(__file__).parents[2] / "engine" / "core"
FILES = sorted(CORE.rglob("*.py"))
ALLOWED = {
    "__future__", "collections", "difflib", "enum", "functools", "itertools", "math", "re", "types", "typing",
    "unicodedata", "zlib", "msgspec", "engine.core",
}  # fmt: skip
"""Everything the core may import. Additions are for what computes and does nothing else."""
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint", "globals", "vars"}


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def allowed(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in ALLOWED)


def offences(source: str) -> list[str]:
    tree = ast.parse(source)
    found = [f"imports {module}" for module in sorted(imports(tree)) if not allowed(module)]
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in FORBIDDEN_CALLS:
                found.append(f"calls {name}")
            case ast.Global() | ast.Nonlocal():
                found.append("keeps state outside a value")
            case ast.AsyncFunctionDef() | ast.Await():
                found.append("waits")
            case _:
                pass
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_core_is_pure(file: pathlib.Path) -> None:
    assert offences(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "offence"),
    [
        ("import time", "imports time"),
        ("import os.path", "imports os.path"),
        ("from random import choice", "imports random"),
        ("def f():\n    import subprocess", "imports subprocess"),
        ("from pathlib import Path", "imports pathlib"),
        ("from datetime import datetime", "imports datetime"),
        ("import engine.journal", "imports engine.journal"),
        ("from engine import runner", "imports engine"),
        ("from ..perform import contract", "imports ..perform"),
        ("import enginecore", "imports enginecore"),
        ("x = open('a')", "calls open"),
        ("async def f(): pass", "waits"),
        ("def f():\n    global x", "keeps state outside a value"),
    ],
)
def test_the_rule_would_notice(source: str, offence: str) -> None:
    assert offence in offences(source)


def test_importing_the_loop_loads_nothing_that_acts() -> None:
    code = "import sys, engine.core.decide, engine.core.orders; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=CORE.parents[1], capture_output=True, text=True, check=True
    ).stdout.split()
    acting = {"asyncio", "subprocess", "socket", "apsw", "git", "textual", "rich", "typer", "random"}
    assert not acting & set(loaded)
    assert {name for name in loaded if name.startswith(("engine.", "tui", "themes"))} <= {
        "engine.core",
        *(name for name in loaded if name.startswith("engine.core.")),
    }
