"""Commands and documents that the task tells of, whole: a proof that tries a half of one has not tried it. Pure.

`not_shown` looks for single values. Here several words belong together: the options of a command line stand in one
test, and a document that is to say something is changed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable

from engine.core.model import TaskSpec

NEAR = 6
"""Lines of a test in which the words of one command stand."""
_CODE = re.compile(r"`([^`\n]+)`")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_OF_A_COMMAND = re.compile(r"--?[a-z][\w-]*|[a-z]{3,}")
_DOCUMENT = r"`?(?P<{}>read-?me|changelog|[\w/-]+\.(?:md|rst))\b"
_SAID_THERE = re.compile(
    r"(?:^|[.;:!?]\s+|\n)\W*(?:please\s+|also\s+)?"
    r"(?:document|mention|describe|add|update|note|list|explain|write|put|change|adapt|adjust)\b[^.;\n]{0,80}?\b"
    + _DOCUMENT.format("order")
    + r"|\b(?:described|documented|mentioned|listed|explained|noted|shown)\s+in\s+(?:the\s+)?"
    + _DOCUMENT.format("stands")
    + r"|(?<!the )\b(?P<says>readme|changelog)(?:\.\w+)?`?"
    r"\s+(?:names?|mentions?|describes?|lists?|documents?|explains?)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|no|never|without|already|nothing)\b", re.IGNORECASE)


def commands(task: TaskSpec | None, proofs: str) -> list[str]:
    """Command lines of the criteria whose words stand in no test together."""
    if task is None or not proofs.strip():
        return []
    lines = proofs.splitlines()
    pieces = ["\n".join(lines[at : at + NEAR]) for at in range(len(lines))]
    found = []
    for criterion in task.accept:
        words = set(_OPTION.findall(criterion))
        for command in _CODE.findall(criterion):
            _, *rest = command.split()
            if any(word.startswith("-") for word in rest):
                words |= {word for word in rest if _OF_A_COMMAND.fullmatch(word)}
        if len(words) > 1 and not any(all(word in piece for word in words) for piece in pieces):
            found.append(" ".join(sorted(words, key=criterion.find)) + " together")
    return found


def untouched(task: TaskSpec | None, changed: Collection[str], files: Iterable[str]) -> list[str]:
    """Documents that the task wants to say something, which the change leaves as they are."""
    if task is None:
        return []
    known = [path for path in files if path not in changed]
    texts = (task.title, task.description, *task.accept)
    found: dict[str, None] = {}
    for match in (match for text in texts for match in _SAID_THERE.finditer(text)):
        name = next(filter(None, match.groups())).lower().replace("-", "")
        if _NOT.search(match[0]) or any(_is(path, name) for path in changed):
            continue
        found |= dict.fromkeys(path for path in known if _is(path, name))
    return list(found)


def _is(path: str, name: str) -> bool:
    last = posixpath.basename(path).lower()
    return path.lower() == name or last == name or ("." not in name and last.partition(".")[0] == name)
