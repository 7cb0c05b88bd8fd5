"""The guard before a session's tools: in autonomous mode nothing writes to protected paths or answers for the user."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.config import ConfigRefused
from engine.config.check_settings import Checks
from engine.core.guard import Guarded, Ruling, command_of, may_write, of_the_user, paths_of
from engine.globs import matcher
from engine.link.user_errors import UserError
from engine.service.hook_hosts import HOSTS
from engine.service.inside import marker_of
from engine.service.local import Desk

_UPWARDS = re.compile(r"^(?:\.{0,2}/)+")
ALWAYS = (".devteam/**", ".git/**", *(f"{host.folder}/{name}" for host in HOSTS.values() for name in host.guarded))
"""Plan and state, history, and the hooks themselves."""


def guarded(desk: Desk, session: str, cwd: Path, tool: str, given: Mapping[str, Any]) -> Guarded:
    """Only in autonomous mode, and only for its session: at other times the user sits there."""
    try:
        marker = marker_of(desk)
    except UserError:
        marker = None  # the stop hook says that it cannot be read
    if marker is None or (marker.session and marker.session != session):
        return Guarded(ruling=Ruling.NOTHING)
    checks = _checks(desk)
    protected = matcher((*ALWAYS, *checks.protected))
    held_out = [_real(Path(held.folder).expanduser()) for held in checks.held_out]
    root = _real(desk.root)
    kept = [_real(desk.project.state.root), *held_out]
    users = [
        (_real(host.user_folder(desk.project.env, desk.project.home)), matcher(host.guarded)) for host in HOSTS.values()
    ]

    def hit(name: str) -> bool:
        # A tool may be given ~/, and a NUL, which no path has: whatever the rest names is held against the lists.
        place = _real(cwd / os.path.expanduser(name.replace("\0", "")))  # noqa: PTH111
        if any(place.is_relative_to(folder) for folder in kept):
            return True
        return any(
            place.is_relative_to(folder) and names(os.fsencode(place.relative_to(folder)))
            for folder, names in ((root, protected), *users)
        )

    if named := next((path for path in paths_of(tool, given) if hit(path)), ""):
        why = f"{named} is protected while devteam drives this session (.devteam, .git, hooks, checks.protected)"
        return Guarded(ruling=Ruling.DENY, reason=f"{why}: leave it alone and go on with the task")
    command = command_of(tool, given)
    if theirs := of_the_user(command):
        return Guarded(ruling=Ruling.ASK, reason=f"`{theirs}` speaks for the user: only they may give it")
    # A shell line may change the folder first: what leads upwards is taken from the top as well.
    words = (word for word in may_write(command) if hit(word) or hit(str(root / _UPWARDS.sub("", word))))
    if written := next(words, ""):
        return Guarded(ruling=Ruling.ASK, reason=f"the command may write to {written}, which devteam protects")
    return Guarded(ruling=Ruling.NOTHING)


def _checks(desk: Desk) -> Checks:
    """What the configuration protects; one that cannot be read takes nothing away from what always is."""
    try:
        return desk.project.config().checks
    except ConfigRefused:
        return Checks()


def _real(path: Path) -> Path:
    """Where a path leads to, links followed as far as it exists."""
    return Path(os.path.realpath(path))
