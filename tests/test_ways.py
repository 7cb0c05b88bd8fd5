"""The ways through the house in ARCHITECTURE.md: every stop is there, and no way is longer than it was."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
STOP = re.compile(r"`([\w/]+\.py):([\w.]+)`")
BEFORE = {
    "One byte of an agent's output to the screen": 13,
    "One `y` at a gate to a commit": 24,
    "One JUnit file to a verdict": 11,
}


def names_in(path: Path) -> set[str]:
    """Functions, classes and `Class.method`s of a file."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{one.name}" for one in inner}
    return found


@pytest.mark.parametrize(("file", "name"), STOP.findall(PAGE))
def test_every_stop_is_there(file: str, name: str) -> None:
    assert name in names_in(ROOT / file)


@pytest.mark.parametrize("title", BEFORE)
def test_each_way_is_shorter_than_before(title: str) -> None:
    part = PAGE.split(f"**{title}**", 1)[1].split("\n**", 1)[0].split("\n## ", 1)[0]
    stops = [line for line in part.splitlines() if re.match(r"\d+\. ", line)]
    assert 3 < len(stops) < BEFORE[title]
    assert all(STOP.search(line) for line in stops)


def test_the_page_names_real_places() -> None:
    """Every path in the table of rooms exists."""
    for name in re.findall(r"`((?:engine|tui|bin|themes)/[\w/.]+)`", PAGE):
        assert (ROOT / name).exists(), name


def test_the_decisions_name_real_files() -> None:
    """They say `core/repeats.py` or only `gutted.py`: one of our files ends so."""
    ours = [path.as_posix() for folder in ("engine", "tui", "tests") for path in (ROOT / folder).rglob("*.*")]
    text = (ROOT / "docs" / "decisions.md").read_text("utf-8")
    named = re.findall(r"`([\w/]+(?:\.\w+)*\.(?:py|txt))\b", text)
    assert len(named) > 40
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in ours)] == []


def test_the_page_is_read_in_five_minutes() -> None:
    """At 200 words a minute, a stop of a way or a row of the table included."""
    assert len(re.findall(r"\w+", PAGE)) < 1500
