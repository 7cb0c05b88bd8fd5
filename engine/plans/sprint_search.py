"""A sprint found by what people type: its number, its slug, words of its request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.paths import kebab

if TYPE_CHECKING:
    pass
from engine.plans.sprints import STOP_WORDS, SprintFolder, list_sprints, newest, opened, sprint_folders

ASKING_WORDS = frozenset({"keep", "working", "work", "continue", "resume", "sprint", "task", "go", "finish", "please"})
"""What people say around the name of a sprint."""


class SprintNotFound(LookupError):  # noqa: N818 - read aloud to the user: what was looked for and what there is
    """No sprint, or more than one, answers to the hint; `choices` are the ones to name."""

    def __init__(self, words: str, choices: tuple[SprintFolder, ...] = ()) -> None:
        self.choices = choices
        super().__init__("\n".join((words, *(f"  {choice.line()}" for choice in choices))))


def find_sprint(root: Path, hint: str = "") -> SprintFolder:
    """By id, number, or part of the slug or title. No hint: the newest that is not complete, else the newest."""
    wanted = hint.strip().lower()
    folders = sprint_folders(root)
    if exact := next((folder for folder in folders if wanted and folder[0].name == wanted), None):
        return opened(*exact)  # without a look at all the other plans
    if not wanted and folders:
        return newest(folders)
    sprints = list_sprints(root)
    if not sprints:
        raise SprintNotFound("There is no sprint yet. Type: devteam plan --from plan.md")
    for found in _by_hint(sprints, wanted):
        if len(found) == 1:
            return found[0]
        if found:
            raise SprintNotFound(f"“{hint}” could be one of these. Type its number or its whole name:", tuple(found))
    raise SprintNotFound(f"No sprint is called “{hint}”. There are:", sprints)


def _by_hint(sprints: tuple[SprintFolder, ...], wanted: str) -> Iterator[list[SprintFolder]]:
    """Matches, the most exact kind first."""
    words = [word for word in kebab(wanted).split("-") if word not in STOP_WORDS]
    yield [sprint for sprint in sprints if wanted == sprint.id]
    if wanted.isascii() and wanted.isdigit():
        yield [sprint for sprint in sprints if sprint.number == int(wanted)]
    yield [sprint for sprint in sprints if wanted == sprint.slug]
    yield [sprint for sprint in sprints if wanted in sprint.id]
    yield [sprint for sprint in sprints if words and all(word in sprint.slug for word in words)]
    yield [sprint for sprint in sprints if words and all(word in kebab(sprint.title) for word in words)]
    yield _by_description(sprints, words)


def _by_description(sprints: tuple[SprintFolder, ...], words: list[str]) -> list[SprintFolder]:
    """“keep working on dark mode”: the sprints that most of these words speak of, in name, title or request."""
    found: dict[int, list[SprintFolder]] = {}
    for sprint in sprints:
        told = set(kebab(f"{sprint.slug} {sprint.title} {sprint.request()[:4000]}").split("-"))
        if score := sum(word in told for word in words if len(word) > 2 and word not in ASKING_WORDS):
            found.setdefault(score, []).append(sprint)
    return found[max(found)] if found else []
