"""The engine's own log: one JSON object a line, redacted, rotated, whole after a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import engine_log
from engine.core.effects import Wait
from engine.engine_log import EngineLog, read
from tests.cli.ground import Ground, Told
from tests.cli.shared import finished as finished


def log(folder: Path) -> EngineLog:
    return EngineLog(folder, lambda text: text.replace("hunter2", "***"), lambda: 12.0)


def test_it_is_rotated_and_keeps_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_log, "MAX_BYTES", 2_000)
    writer = log(tmp_path)
    for number in range(500):
        writer.write("line", number=number)
    writer.close()
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["engine.jsonl", "engine.jsonl.1", "engine.jsonl.2", "engine.jsonl.3"]
    assert all(path.stat().st_size <= 2_000 for path in tmp_path.iterdir())
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.iterdir())
    numbers = [line["number"] for line in read(tmp_path)]
    assert numbers == list(range(numbers[0], 500))


def test_secrets_are_blotted_out_and_half_a_line_is_left_out(tmp_path: Path) -> None:
    writer = log(tmp_path)
    try:
        raise ValueError("the password is hunter2")
    except ValueError as error:
        writer.bug(Wait(id="e1", until=1.0, reason="x"), error)
    writer.close()
    with (tmp_path / "engine.jsonl").open("ab") as file:
        file.write(b'{"at": 1, "wh')
    [line] = read(tmp_path)
    assert "hunter2" not in json.dumps(line)
    assert "ValueError: the password is ***" in line["traceback"]


def test_a_full_disk_does_not_stop_the_engine(tmp_path: Path) -> None:
    (tmp_path / "engine.jsonl").symlink_to("/dev/full")
    log(tmp_path).write("line")


def test_the_command_prints_a_whole_run(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    lines = ground.run("log", "--engine", "--json").lines()
    what = [line["what"] for line in lines]
    assert what[0] == "opened" and {"RunStarted", "EffectStarted", "ChecksFinished", "RunEnded", "alive"} <= set(what)
    assert "EffectStarted" in ground.run("log", "--engine").out
