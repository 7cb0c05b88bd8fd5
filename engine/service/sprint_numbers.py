"""Which sprint numbers are taken: also by branches, refs and records of sprints whose folder in .devteam is gone."""

from __future__ import annotations

import contextlib
import re

from engine.journal import JournalError
from engine.link.user_errors import UserError
from engine.perform.workspace.facts import Identity, Refused
from engine.perform.workspace.repository import find
from engine.service.local import Desk

REFS = ("refs/heads/devteam/", "refs/devteam/")
NUMBERED = re.compile(r"(\d{3,})-")


def highest_number(desk: Desk) -> int:
    """The highest that git, journal or state folder know; 0: none. No new sprint takes up an old one's branch."""
    project = desk.project
    try:
        refs = find(project.root, Identity(), project.home).refs(*REFS)
    except Refused:  # said by whoever needs the repository
        refs = {}
    names = [name.removeprefix(prefix) for name in refs for prefix in REFS if name.startswith(prefix)]
    kept = project.state.root / "sprints"
    names += [path.name for path in kept.iterdir()] if kept.is_dir() else []
    with contextlib.suppress(JournalError, UserError, OSError), desk.viewer() as journal:
        names += journal.streams()  # cleaned and its folder removed: what is recorded of it is still there
    return max((int(match[1]) for name in names if (match := NUMBERED.match(name))), default=0)
