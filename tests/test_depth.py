"""Dear tests take turns: each has its own, none is forgotten, and what a commit changes runs whole."""

from __future__ import annotations

import ast
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.depth import DEAR, ROOT, TURN, TURNS, WHOLE, dear_by, left_out, next_turn, of_this_commit


@dataclass(frozen=True)
class Named:
    nodeid: str


def id_of(item: Named) -> str:
    return item.nodeid


ITEMS = [
    *(Named(f"tests/a/cases.py::test_{n}[{case}]@group") for n in range(3) for case in "uvwxyz"),
    *(Named(f"tests/a/lone.py::test_{n}") for n in range(7)),
    *(Named(f"tests/b/few.py::test_{n}") for n in range(2)),
    *(Named(f"tests/b/pair.py::test_0[{case}]") for case in "xy"),
]
DEAR_ONES = {
    item.nodeid for item in ITEMS if "/few" in item.nodeid or "test_0" not in item.nodeid or "/pair" in item.nodeid
}


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
    ran: list[str] = []
    for turn in range(TURNS):
        monkeypatch.setenv(TURN, str(turn))
        out = left_out(ITEMS, dear)
        assert out <= DEAR_ONES
        now = {item.nodeid for item in ITEMS} - out
        cases = {name.partition("[")[0] for name in now if "[" in name}
        assert cases == {item.nodeid.partition("[")[0] for item in ITEMS if "[" in item.nodeid}, "a case of each test"
        assert {name.partition("::")[0] for name in now} == {name.partition("::")[0] for name in map(id_of, ITEMS)}
        assert len(out) > len(DEAR_ONES) // 2
        ran += now
    assert set(ran) == set(map(id_of, ITEMS)), "none is forgotten"
    assert max(ran.count(name) for name in DEAR_ONES) == TURNS // 2, "of two, each runs every other time"


def test_a_changed_file_runs_whole(monkeypatch: pytest.MonkeyPatch, dear: Path) -> None:
    monkeypatch.setenv(TURN, "0")
    monkeypatch.setenv(WHOLE, "tests/a/cases.py\n")
    assert {name.partition("::")[0] for name in left_out(ITEMS, dear)} >= {"tests/a/lone.py", "tests/b/few.py"}
    assert not [name for name in left_out(ITEMS, dear) if "cases" in name]


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


def test_in_a_changed_room_twice_as_many_have_their_turn(monkeypatch: pytest.MonkeyPatch, dear: Path) -> None:
    def rest(room: str) -> list[int]:
        out = []
        for turn in range(TURNS):
            monkeypatch.setenv(TURN, str(turn))
            out.append(sum(name.startswith(room) and "few" not in name for name in left_out(ITEMS, dear)))
        return out

    before, other = rest("tests/a/"), rest("tests/b/")
    monkeypatch.setenv(WHOLE, "tests/a/\n")
    assert sum(rest("tests/a/")) * 3 == sum(before) * 2
    assert rest("tests/b/") == other


def test_a_run_beside_it_takes_others(monkeypatch: pytest.MonkeyPatch, dear: Path) -> None:
    assert next_turn({}) == {}
    for turn in range(TURNS):
        monkeypatch.setenv(TURN, str(turn))
        first = left_out(ITEMS, dear)
        monkeypatch.setenv(TURN, next_turn({TURN: str(turn), WHOLE: ""})[TURN])
        assert len(first | left_out(ITEMS, dear)) > len(first)


def test_what_takes_long_is_dear(tmp_path: Path) -> None:
    found = tmp_path / "results.xml"
    cases = (("test_depth", f"test_short[{n}]", 0.001) for n in range(3000))
    told = [
        *cases,
        ("test_depth", "test_long[a]@group", 2.0),
        ("test_depth", "test_long[b]", 2.0),
        ("gone", "test_x", 9),
    ]
    rows = "".join(f'<testcase classname="tests.{file}" name="{name}" time="{t}"/>' for file, name, t in told)
    found.write_text(f"<testsuites><testsuite>{rows}</testsuite></testsuites>")
    assert dear_by(found) == {"tests/test_depth.py::test_short", "tests/test_depth.py::test_long"}
