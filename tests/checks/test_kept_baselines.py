"""Measured bases on disk: the newest are kept, however many sprints there were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.perform.checks.run import baseline


def test_old_measurements_go_and_the_newest_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "KEPT", 20)
    folder = tmp_path / "baselines"
    for number in range(100):
        path = folder / f"{number:03d}.json"
        baseline._write(path, b"{}")
        os.utime(path, (number, number))
        assert path.exists()
        assert len(list(folder.iterdir())) <= 20
    left = sorted(path.stem for path in folder.iterdir())
    assert left == [f"{number:03d}" for number in range(100 - len(left), 100)]
