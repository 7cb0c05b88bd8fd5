"""What a tool call of a session would touch: the paths it names, and whether only the user may ask for it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from engine.core.model import Struct

READERS = frozenset(
    ("Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "TodoWrite", "Task", "Agent", "Skill")
)
"""Tools that change no file by themselves."""
SHELLS = frozenset(("Bash", "exec_command", "shell", "local_shell", "unified_exec"))
_PATH_KEYS = ("file_path", "notebook_path", "path", "filePath", "file", "destination", "target", "new_path", "old_path")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_HUMANS = re.compile(
    r"\bdevteam[\w/.-]*\s+(?:-\S+\s+)*(answer|accept|allow|trust|auto|land|skip|cancel|retry|rollback|hooks|hook\s+end"
    r"|[^;|&\n]*?\s--trust)\b"
)
"""Commands of devteam that speak for the user."""
_LOOKING = frozenset(
    (
        "cat",
        "head",
        "tail",
        "less",
        "grep",
        "rg",
        "ls",
        "wc",
        "diff",
        "stat",
        "file",
        "tree",
        "jq",
        "cd",
        "echo",
        "test",
    )
)
_SEGMENT = re.compile(r"&&|\|\||[;|&\n]")
_WRITES = re.compile(r"(?<![0-9&])>|>>|\btee\b")


class Ruling(StrEnum):
    """What the hook says of a tool call. `nothing`: the program decides as it always does."""

    NOTHING = ""
    ASK = "ask"
    """Put to the user; where the program cannot ask, refused."""
    DENY = "deny"


class Guarded(Struct, frozen=True, kw_only=True):
    ruling: Ruling
    reason: str = ""


def paths_of(tool: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths that a tool call would write to, as it names them; none for tools that only look."""
    if tool in READERS or tool in SHELLS:
        return ()
    named = [value for key in _PATH_KEYS if isinstance(value := given.get(key), str) and value]
    patch = next((given[key] for key in ("command", "input", "patch") if isinstance(given.get(key), str)), "")
    return (*named, *_PATCHED.findall(patch))


def command_of(tool: str, given: Mapping[str, Any]) -> str:
    """The shell line of a tool call; empty: it is none."""
    if tool not in SHELLS:
        return ""
    line = given.get("command", given.get("cmd", ""))
    return " ".join(map(str, line)) if isinstance(line, list) else str(line)


def of_the_user(command: str) -> str:
    """The command of devteam in a shell line that only the user may give; empty: there is none."""
    found = _HUMANS.search(command)
    return f"devteam {' '.join(found.group(1).split())}" if found else ""


def may_write(command: str) -> tuple[str, ...]:
    """The words of a shell line that might be written to: of every part that does more than look, and of redirections.

    A list: it decides nothing, it only says where the user is asked."""
    words: list[str] = []
    for part in _SEGMENT.split(command):
        found = part.split()
        if not found:
            continue
        bare = [word.strip("'\"`()<>{}=,") for word in found]
        if found[0].rpartition("/")[2] not in _LOOKING or _WRITES.search(part):
            words += bare
    return tuple(word for word in words if word)
