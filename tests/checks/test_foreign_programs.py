"""What we run in a project's own interpreter leans on nothing of ours: there it cannot be imported."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checks.ground import PYTHON

ROOT = Path(__file__).parents[2]
OURS = re.compile(r"^\s*(?:from|import)\s+(?:engine|tui|themes|tests)\b", re.MULTILINE)


def texts(source: str) -> Iterator[str]:
    """The texts of a module that are programs: several lines, one of them an import."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "import " in node.value:
            yield node.value


def leaning() -> list[str]:
    places = sorted((ROOT / "engine").rglob("*.py"))
    found = [str(path) for path in places if any(OURS.search(text) for text in texts(path.read_text()))]
    return found + [str(path) for path in sorted((ROOT / "engine").rglob("*.py.txt")) if OURS.search(path.read_text())]


def test_no_program_text_of_ours_imports_us() -> None:
    assert leaning() == []


@pytest.mark.parametrize("text", ["x = 1\nfrom engine.perform import y\n", "import tui\n"])
def test_such_a_text_is_seen(text: str) -> None:
    assert [one for one in texts(f"A = {text!r}") if OURS.search(one)]


def test_the_tests_of_repositories_run_where_we_are_not() -> None:
    done = subprocess.run([PYTHON, "-c", "import pytest, engine"], cwd="/", capture_output=True, text=True)
    assert "No module named 'engine'" in done.stderr
