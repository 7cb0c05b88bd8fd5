"""The views: whole or not at all, never in the engine's way."""

from __future__ import annotations

import json
from pathlib import Path

from engine import views
from engine.core.events import Envelope, RunStarted
from engine.core.policy import Policy
from engine.service.local import open_desk
from engine.view_writer import Views
from tests.cli.ground import Ground, Told


def test_features_say_passes_only_for_complete_tasks(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    state = open_desk(ground.folder, ground.environment(), ground.home).state()
    rows = json.loads(views.features(state))["features"]
    assert [row["passes"] for row in rows] == [True, True]
    assert all(row["commit"] and row["evidence"] for row in rows)


def test_an_unchanged_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.txt"
    views.write_atomically(path, "one")
    before = path.stat()
    views.write_atomically(path, "one")
    after = path.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    views.write_atomically(path, "two")
    assert path.read_text() == "two"
    assert [item.name for item in path.parent.iterdir()] == ["x.txt"]


def test_a_view_that_cannot_be_written_stops_nothing(tmp_path: Path, finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    desk = open_desk(ground.folder, ground.environment(), ground.home)
    (tmp_path / ".devteam").write_text("a file in the folder's place")
    project = desk.project
    elsewhere = type(project)(
        root=tmp_path, repo=type(project.repo)(root=tmp_path), state=project.state, home=project.home, env=project.env
    )
    watching = Views(elsewhere, desk.sprint())
    started = Envelope(
        seq=1,
        stream="x",
        at=0.0,
        event=RunStarted(run="r", pid=1, policy=Policy(), attended=False, waits=False, sandbox="none", version="1"),
    )
    watching([started], desk.state())
    assert watching.problem
