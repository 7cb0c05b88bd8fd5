"""The file a sprint's plan came from: remembered, and given the progress back in place, nothing else changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine import files
from engine.core.model import Struct
from engine.plans.in_place import change
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import named
from engine.plans.sprints import SprintFolder

NAME = "source.json"


class Source(Struct, frozen=True, kw_only=True):
    """path: below the repository, else absolute."""

    path: str
    format: str


def remember(sprint: SprintFolder, root: Path, path: Path, name: str) -> None:
    whole = path.resolve()
    inside = whole.is_relative_to(root.resolve())
    shown = str(whole.relative_to(root.resolve())) if inside else str(whole)
    files.write(sprint.path / NAME, msgspec.json.encode(Source(path=shown, format=name)), mode=files.SHARED)


def source_of(sprint: SprintFolder) -> Source | None:
    try:
        return msgspec.json.decode((sprint.path / NAME).read_bytes(), type=Source)
    except (OSError, msgspec.MsgspecError):
        return None


def write_back(sprint: SprintFolder, root: Path, marks: Mapping[str, str]) -> str:
    """Mark these tasks in the file the plan came from; says why in words where that was not possible.

    Tasks that are not in it any more (the user took them out, a replan added them) are left aside.
    """
    source = source_of(sprint)
    form = named(source.format) if source is not None else None
    if source is None or form is None:
        return ""
    path = root / source.path

    def marked(old: bytes) -> bytes:
        text = old.decode("utf-8")
        there = {task.id for task in form.read(text, str(path)).tasks()}
        wanted = {task: mark for task, mark in marks.items() if task in there}
        return form.mark(text, wanted).encode("utf-8") if wanted else old

    try:
        change(path, marked)
    except (OSError, PlanRefused, UnicodeDecodeError) as failed:
        return f"{source.path}: progress not written back: {str(failed).splitlines()[0]}"
    return ""
