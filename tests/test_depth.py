"""Dear tests take turns: each has its own, none is forgotten, and what a commit changes runs whole."""

from __future__ import annotations

import ast
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.depth import DEAR, ROOT, TURN, TURNS, WHOLE, left_out, of_this_commit


@dataclass(frozen=True)
class Named:
    nodeid: str


ITEMS = [Named(f"tests/{file}.py::test_{n}[{case}]") for file in "ab" for n in range(4) for case in "xyz"]
DEAR_ONES = {item.nodeid for item in ITEMS if "test_0" not in item.nodeid}


@pytest.fixture(autouse=True)
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (TURN, WHOLE, "DEVTEAM_DEEP"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def dear(tmp_path: Path) -> Path:
    names = tmp_path / "dear.txt"
    names.write_text("\n".join(sorted({name.partition("[")[0] for name in DEAR_ONES})))
    return names


def test_every_name_in_the_list_is_a_test() -> None:
    names = DEAR.read_text().split()
    assert names == sorted(set(names))
    trees = {file: ast.parse((ROOT / file).read_text()) for file in {name.partition("::")[0] for name in names}}
    for name in names:
        file, _, function = name.partition("::")
        found = (node.name for node in trees[file].body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        assert function in found, f"{name} is no test: it was renamed or removed, and so should its line be"


def test_each_has_its_turn_and_the_others_run_always(monkeypatch: pytest.MonkeyPatch, dear: Path) -> None:
    rested: list[str] = []
    for turn in range(TURNS):
        monkeypatch.setenv(TURN, str(turn))
        out = left_out(ITEMS, dear)
        assert len(out) == len(DEAR_ONES) - len(DEAR_ONES) // TURNS
        rested += out
    assert sorted(rested) == sorted([*DEAR_ONES] * (TURNS - 1))


def test_a_changed_file_runs_whole(monkeypatch: pytest.MonkeyPatch, dear: Path) -> None:
    monkeypatch.setenv(TURN, "0")
    monkeypatch.setenv(WHOLE, "tests/a.py\n")
    assert {name.partition("::")[0] for name in left_out(ITEMS, dear)} == {"tests/b.py"}


@pytest.mark.parametrize("more", [{}, {TURN: "1", "DEVTEAM_DEEP": "1"}], ids=["by hand", "deep"])
def test_all_run(monkeypatch: pytest.MonkeyPatch, dear: Path, more: dict[str, str]) -> None:
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    assert left_out(ITEMS, dear) == set()


def test_the_commit_says_whose_turn_it_is(tmp_path: Path) -> None:
    assert of_this_commit(tmp_path) == {}, "without git everything runs"

    def git(*words: str) -> None:
        who = {f"GIT_{role}_{what}": "t@t" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        who |= {f"GIT_{role}_DATE": "1000000000 +0000" for role in ("AUTHOR", "COMMITTER")}  # the same ids in every run
        subprocess.run(["git", *words], cwd=tmp_path, check=True, env={**os.environ, **who}, capture_output=True)

    def commit(**files: str) -> None:
        for name, text in files.items():
            (tmp_path / "tests" / f"{name}.py").write_text(text)
        git("add", "-A")
        git("commit", "-qm", "x")

    git("init", "-q")
    (tmp_path / "tests").mkdir()
    commit(a="1", b="1", c="1")
    turns = {of_this_commit(tmp_path)[TURN]}
    for n in range(2, 20):
        commit(a=f"{n}")
        turns.add(of_this_commit(tmp_path)[TURN])
    assert turns == {str(turn) for turn in range(TURNS)}
    (tmp_path / "tests" / "b.py").write_text("changed, not committed")
    (tmp_path / "tests" / "d.py").write_text("new")
    assert set(of_this_commit(tmp_path)[WHOLE].split()) == {"tests/a.py", "tests/b.py", "tests/d.py"}
    (tmp_path / "tui").mkdir()
    (tmp_path / "tui" / "x.py").write_text("a source of the dashboard")
    assert "tests/tui/" in of_this_commit(tmp_path)[WHOLE].split()


def test_a_changed_room_runs_whole(monkeypatch: pytest.MonkeyPatch, dear: Path) -> None:
    monkeypatch.setenv(TURN, "0")
    assert left_out(ITEMS, dear)
    monkeypatch.setenv(WHOLE, "tests/\n")
    assert left_out(ITEMS, dear) == set()
