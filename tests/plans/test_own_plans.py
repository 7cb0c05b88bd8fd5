"""Checklists and stories as people have them: read, explained, and given their progress back in place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.plans.explaining import explain
from engine.plans.plan_format import TASK_STATUSES
from engine.plans.registry import foreign_format, format_of
from engine.plans.source import write_back
from engine.service.local import Desk
from engine.service.plan_file import import_plan
from tests.engine import small

FOLDER = Path(__file__).parent / "own"
SAMPLES = sorted(FOLDER.glob("*/*"))
EACH = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
MARKS = re.compile(r'\[[ xX~!-]\]|"status": "\w+"(?:, )?|(?<="passes": )(?:true|false)|(?<="done": )(?:true|false)')


def test_each_kind_has_three_samples() -> None:
    assert {kind.name: len(list(kind.iterdir())) >= 3 for kind in FOLDER.iterdir()} == {
        "checklist": True,
        "stories": True,
    }


@EACH
def test_progress_goes_back_into_the_file_it_came_from_and_changes_nothing_else(path: Path, tmp_path: Path) -> None:
    small.git(tmp_path, "init", "-q", "-b", "main", "repo")
    root = tmp_path / "repo"
    (root / path.name).write_bytes(path.read_bytes())
    desk = Desk(project=small.project_of(root, tmp_path / "state"))
    made = import_plan(desk, root / path.name, "2026-11-17")
    assert made.understood and foreign_format(root / path.name, path.read_text()) is None
    text = path.read_bytes().decode()
    form = format_of(path, text)
    for task in form.read(text, path.name).tasks():
        for status in TASK_STATUSES:
            assert write_back(made.sprint, root, {task.id: status, "99.9": "done"}) == ""
            now = (root / path.name).read_bytes().decode()
            assert MARKS.sub("", now) == MARKS.sub("", text), "every other byte is the user's"
            (again,) = (one for one in form.read(now, path.name).tasks() if one.id == task.id)
            assert (again.done, again.skipped) == (status == "done", status == "skipped")
        (root / path.name).write_bytes(path.read_bytes())


def said(name: str) -> str:
    path = FOLDER / name
    text = path.read_bytes().decode()
    found = explain(format_of(path, text), format_of(path, text).read(text, path.name), text)
    guessed, unused = (f"guessed {one}" for one in found.guessed), (f"unused {one}" for one in found.unused)
    return "\n".join((*found.understood, *guessed, *unused))


def test_what_was_guessed_and_what_could_not_be_used_is_said() -> None:
    assert "checklist: 5 tasks in 2 phases, 1 done already" in said("checklist/fix_plan.md")
    assert "guessed ids by their place: 1.1, 1.2" in said("checklist/fix_plan.md")
    assert "guessed no criteria, so the checks alone decide: 2.2" in said("checklist/plan-with-ids.md")
    assert "ids by" not in said("checklist/plan-with-ids.md")
    assert "unused members of tasks: notes" in said("stories/prd.json")
    assert "unused members of tasks: category" in said("stories/feature_list.json")
    assert "unused members of tasks: owner" in said("stories/phases.json")


def test_a_story_keeps_its_criteria() -> None:
    text = (FOLDER / "stories/prd.json").read_text()
    first, second = format_of(Path("prd.json"), text).read(text, "prd.json").tasks()
    assert first.done and second.accept == ("a wrong password gives 401",) and first.priority > second.priority
    assert json.loads(text)["userStories"][1]["passes"] is False
