"""Commands that look: what they say, as words and as JSON, and that they survive a reader that leaves."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from engine.core import events as ev
from tests.cli.ground import ROOT, Ground, Told
from tests.patience import patience
from tui.cli.event_text import event_line


def test_status_says_where_it_stands(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    state = ground.status()
    assert (state["outcome"], state["done"], state["total"], state["running"]) == ("done", 2, 2, False)
    assert state["tasks"] == {"1.1": "complete", "1.2": "complete"}
    words = ground.run("status").out
    assert "✔ 1.1   Write one" in words
    assert "engine    not running: done" in words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["sprints"], {"id": "001-count-things", "status": "done", "done": 2, "total": 2}, id="sprints"),
        pytest.param(["cost"], {"sprint": "001-count-things", "calls": 5, "spent_usd": 0.09}, id="cost"),
        pytest.param(["log", "--from", "1"], {"seq": 2, "stream": "001-count-things"}, id="log"),
        pytest.param(["evidence", "1.1"], {"task": "1.1", "purpose": "task", "sandbox": "bwrap"}, id="evidence"),
        pytest.param(["doctor"], {"mark": "ok", "what": "python"}, id="doctor"),
        pytest.param(["agents"], {"name": "scripted"}, id="agents"),
    ],
)
def test_json_is_objects_only(
    finished: tuple[Ground, Told, str], words: list[str], expected: dict[str, object]
) -> None:
    ground, _, _ = finished
    told = ground.run(*words, "--json")
    assert told.code == 0, told.err
    rows = told.lines()
    if "sandbox" in expected and rows[0]["sandbox"] != "bwrap":
        expected = {**expected, "sandbox": rows[0]["sandbox"]}
    assert any(expected.items() <= row.items() for row in rows), rows[0]


def test_costs_are_numbers(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    rows = ground.run("cost", "--json").lines()[0]["rows"]
    by_rung = {row["name"]: (row["calls"], row["usd"]) for row in rows if row["by"] == "rung"}
    assert by_rung == {"small": (2, 0.06), "big": (3, 0.03)}


def test_following_a_log_ends_when_its_reader_leaves(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    for words in (["log", "--follow"], ["log", "--json"], ["report"]):
        reader, writer = os.pipe()
        process = subprocess.Popen(
            ground.argv(*words), cwd=ground.folder, env=ground.environment(), stdout=writer, stderr=subprocess.PIPE
        )
        os.close(writer)
        os.close(reader)
        _, err = process.communicate(timeout=patience(20))
        assert (process.returncode, err) == (0, b""), words


def test_words_for_closed_and_full_outputs(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    line = " ".join(ground.argv("status"))
    env = ground.environment()
    closed = subprocess.run(["sh", "-c", f"{line} >&-"], cwd=ground.folder, env=env, capture_output=True, text=True)
    assert (closed.returncode, closed.stderr) == (0, "")
    line = " ".join(ground.argv("log"))
    plain = env | {"PYTHONIOENCODING": "ascii"}
    nothing = subprocess.run(["sh", "-c", f"{line} <&-"], cwd=ground.folder, env=plain, capture_output=True, text=True)
    assert (nothing.returncode, nothing.stderr) == (0, "")
    assert nothing.stdout.isascii() and "checks" in nothing.stdout, "an arrow is no reason to fail"
    full = subprocess.run(
        ["sh", "-c", f"{line} >/dev/full"], cwd=ground.folder, env=env, capture_output=True, text=True
    )
    assert full.returncode == 2, "the machine is at fault"
    assert "No space left" in full.stderr
    assert "Traceback" not in full.stderr


def test_reports_of_a_task_that_is_not_there(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    for words in (["report", "--task", "9"], ["evidence", "9"]):
        told = ground.run(*words)
        assert (told.code, told.out) == (4, "")
        assert "tasks: 1.1, 1.2" in told.err


def test_every_command_is_documented_and_explains_its_parameters(finished: tuple[Ground, Told, str]) -> None:
    """Read from the parser itself: a subprocess for each would cost more than it shows."""
    from typer.main import get_command

    from tui.cli.app import app

    def leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from leaves(inner, f"{path} {name}".strip())
        if not hasattr(command, "commands"):
            yield path, command

    group = get_command(app)
    found = dict(leaves(group, ""))
    assert {"run", "checkpoint save", "hook guard"} <= found.keys()
    for name, command in found.items():
        assert command.help, name
        bare = [param.name for param in command.params if not getattr(param, "help", None) and param.name != "help"]
        assert not bare, f"{name}: no help for {bare}"
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `devteam ")]
    documented = {name for row in rows for name in re.findall(r"`devteam ([a-z]+)", row)}
    assert documented == {*group.commands}, "docs/commands.md has a row for each command, and for nothing else"
    inner = [name.split() for name in found if " " in name]
    assert [
        (first, second)
        for first, second in inner
        if not any(f"`devteam {first}" in row and re.search(rf"\b{second}\b", row) for row in rows)
    ] == []
    ground, _, _ = finished
    shown = ground.run().out
    assert "Usage: devteam" in shown
    assert "..." not in shown.split("Commands:")[1], "a summary is cut short at 80 columns"


def test_status_of_another_sprint_by_number(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    assert json.loads(ground.run("status", "--json", "--sprint", "1").out)["sprint"] == "001-count-things"
    told = ground.run("status", "--sprint", "7")
    assert told.code == 4
    assert "001-count-things" in told.err


def test_a_note_is_said_whole_and_other_lines_are_kept_short() -> None:
    long = "word " * 150 + "kept as devteam.db.corrupt"
    noted = ev.Envelope(seq=1, stream="s", at=0.0, event=ev.Noted(text=long, level="warning"))
    assert event_line(noted).endswith("kept as devteam.db.corrupt")
    refused = ev.Envelope(
        seq=1, stream="s", at=0.0, event=ev.CommandHandled(command="c", name="x", ok=False, detail=long)
    )
    assert len(event_line(refused)) <= 240


def test_the_page_the_pull_request_and_the_statistics(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    page = ground.run("report", "--html").out
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert "What is open" in page.split("Tasks: criterion")[0], "what is open comes first"
    assert "prefers-color-scheme:dark" in page and "@media print" in page
    assert not re.search(r"(?:src|href)=|url\(|@import|<script", page), "nothing is fetched or run"
    described = ground.run("report", "--pr").out
    assert described.startswith("# Count things") and "- [x] 1.1 Write one" in described
    stats = json.loads(ground.run("stats", "--json").out)
    assert stats["tasks"] == 2 and stats["complete"] >= 1 and "first-pass rate" in ground.run("stats").out


def test_tests_that_flip_are_listed(finished: tuple[Ground, Told, str]) -> None:
    from engine.perform.checks.proof.flaky import Flip, remember

    ground, _, _ = finished
    assert ground.run("flaky").out == "no test was seen to flip\n"
    (state,) = [path.parent for path in ground.folder.parent.rglob("scratch") if path.is_dir()]
    remember(
        state / "scratch",
        [Flip(check="pytest", test="tests/a.py::test_x", tree="f" * 40, at=1.0, how="passed, failed")],
    )
    told = ground.run("flaky")
    assert "tests/a.py::test_x" in told.out and "passed, failed" in told.out
    assert ground.run("flaky", "--json").lines()[0]["test"] == "tests/a.py::test_x"
