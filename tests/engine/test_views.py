"""The views: whole or not at all, never in the engine's way."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine import views
from engine.core.events import Envelope, RunStarted
from engine.core.policy import Policy
from engine.core.state import State, Status, TaskState
from engine.service.local import open_desk
from engine.view_writer import Views
from tests.cli.ground import Ground, Told
from tests.core.parts import a_state, a_task


def test_features_say_passes_only_for_complete_tasks(finished: tuple[Ground, Told, str]) -> None:
    ground, _, _ = finished
    state = open_desk(ground.folder, ground.environment(), ground.home).state()
    rows = json.loads(views.features(state))["features"]
    assert [row["passes"] for row in rows] == [True, True]
    assert all(row["commit"] and row["evidence"] for row in rows)


def test_an_unchanged_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.txt"
    with pytest.raises(FileNotFoundError):  # it makes no folder: what was moved away is to come back there
        views.write_atomically(path, "one")
    path.parent.mkdir()
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


A_TASK = st.builds(
    a_task,
    st.sampled_from(["1.1", "1.2", "2.1", "é \U0001f600"]),
    status=st.sampled_from(Status),
    iteration=st.integers(0, 3),
    commit=st.sampled_from(["", "0123456789abcdef"]),
    reason=st.sampled_from(["", "why\nnot", 'a "word"']),
)
A_SPRINT = st.lists(A_TASK, max_size=4, unique_by=lambda task: task.id)


def _one_page(state: State) -> str:
    """features.json, encoded as a whole."""
    rows = [
        {
            "id": task.id,
            "title": task.spec.title,
            "phase": task.phase + 1,
            "status": task.status.value,
            "passes": task.status is Status.COMPLETE,
            "iterations": task.iteration,
            "commit": task.commit,
            "evidence": task.evidence,
        }
        for task in state.tasks.values()
    ]
    page = msgspec.json.encode({"sprint": state.sprint, "features": rows})
    return msgspec.json.format(page, indent=2).decode() + "\n"


@given(st.lists(st.tuples(A_SPRINT, st.booleans()), min_size=1, max_size=4))
def test_lines_kept_from_before_say_the_same_as_new_ones(sprints: list[tuple[list[TaskState], bool]]) -> None:
    def line(task: TaskState) -> str:
        return f"{task.id} {task.status} {task.iteration} {task.commit} {task.reason}"

    state, rows = a_state(), views.Rows(line)
    for tasks, instead in sprints:
        fresh = a_state(*tasks)
        state = fresh if instead else replace(state, tasks={**state.tasks, **fresh.tasks})
        assert rows.of(state) == [line(task) for task in state.tasks.values()]
        assert views.features(state) == _one_page(state)


def test_a_long_sprint_names_its_last_commits() -> None:
    state = a_state(*(a_task(f"1.{number}", status=Status.COMPLETE, commit=f"{number:040}") for number in range(200)))
    part = views.context(state).split("## Commits of this sprint\n\n")[1].split("\n\n")[0].splitlines()
    assert part[0] == f"- … and {200 - views.NAMED} more"
    assert part[1].split()[2] == f"T1.{200 - views.NAMED}"
    assert part[-1].split()[2] == "T1.199"
