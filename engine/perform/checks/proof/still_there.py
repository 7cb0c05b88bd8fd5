"""What the task takes away and the program still has: parameters (Python), old names of a rename. It only asks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from engine.core.model import TaskSpec
from engine.perform.checks import python_source
from engine.perform.checks.proof.integrity_python import Function

_NAME = r"`?(?:\w+\.)*(\w+)(?:\([^)`]*\))?`?"
_KIND = r"(?:keyword |optional |positional )*(?:parameter|argument|option|keyword)s?"
_AWAY = r"(?:remove|drop|delete|get rid of|take away|retire)s?"
_GIVEN = (
    re.compile(rf"\b{_AWAY} (?:the |its )?{_NAME} {_KIND} (?:of|from|in|on|to) {_NAME}", re.I),
    re.compile(rf"\b{_AWAY} (?:the |its )?{_KIND} {_NAME} (?:of|from|in|on) {_NAME}", re.I),
)
_HAS_NONE = (
    re.compile(rf"{_NAME} (?:no longer has|has no|takes no|accepts no|no longer takes|no longer accepts) (?:an? |the )?"
               rf"{_KIND} {_NAME}", re.I),
    re.compile(rf"{_NAME} (?:no longer has|has no|takes no|no longer takes|no longer accepts) (?:an? |the )?`(\w+)`"
               rf"(?: {_KIND})?", re.I),
)  # fmt: skip


def taken_away(task: TaskSpec) -> list[tuple[str, str]]:
    """(function, parameter) that is to be gone."""
    texts = (task.title, *task.accept)
    given = [(match[2], match[1]) for text in texts for one in _GIVEN for match in one.finditer(text)]
    none = [(match[1], match[2]) for text in texts for one in _HAS_NONE for match in one.finditer(text)]
    return list(dict.fromkeys((*given, *none)))


def still_there(task: TaskSpec | None, sources: Mapping[str, bytes]) -> Iterator[str]:
    """`sources`: the program after the change, without its tests."""
    wanted = taken_away(task) if task is not None else []
    if not wanted:
        return
    for path, text in sources.items():
        if not path.endswith(".py"):
            continue
        try:
            tree = python_source.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, Function):
                args = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
                yield from (
                    f"{path}:{node.lineno} {name} still has the parameter {parameter}, which the task takes away"
                    for name, parameter in wanted
                    if node.name == name and parameter in args
                )


_SERVES = re.compile(rb"^def __getattr__\(", re.MULTILINE)


def hidden(before: bytes | None, after: bytes | None) -> bool:
    """A module that answers for names it does not have any more."""
    return _SERVES.search(after or b"") is not None and _SERVES.search(before or b"") is None


_IDENTIFIER = r"`?(?:\w+\.)*([A-Za-z_]\w*)(?:\(\))?`?"
_SORT = r"(?:\s+(?:class|function|method|module|constant|variable|type|struct|interface|enum|helper|field|error))?"
_RENAMED = re.compile(
    rf"(?:\brenam\w+|\band|,)\s+(?:the\s+)?(?:\w+\s+)??{_IDENTIFIER}{_SORT}\s+(?:to|into|→|->)\s+{_IDENTIFIER}", re.I
)
_GONE = re.compile(
    r"\bold (?:names?|spellings?)[^.;\n]{0,20}\b(?:gone|removed|go away|disappear|do not exist|no longer)"
    r"|\b(?:without|no|not as) an? alias(?:es)?\b|\bwithout aliases\b",
    re.I,
)


def not_renamed(task: TaskSpec | None, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Iterator[str]:
    """Old names that are defined as often as they were, where they were to go, or where the new ones are nowhere."""
    if task is None or not re.search(r"\brenam", task.title, re.I):
        return
    gone = any(_GONE.search(text) for text in (task.description, *task.accept))
    for old, new in dict.fromkeys(_RENAMED.findall(task.title)):
        was = _defined(old, before.values())
        if was and _defined(old, after.values()) >= was and (gone or not _defined(new, after.values())):
            yield f"the task renames {old} to {new}, and the program still defines {old}"


def _defined(name: str, sources: Iterable[bytes]) -> int:
    word = re.escape(name)
    definition = re.compile(
        rf"^[ \t]*(?:(?:export|default|async|public|private|static|pub|const|let|var|type)\s+)*"
        rf"(?:(?:def|class|func|function\*?|fn|interface|struct|enum)\s+(?:\([^)]*\)\s*)?{word}\b|{word}\s*(?::[^=\n]+)?=(?!=)"
        rf"|{word}\s*\([^)\n]*\)\s*\{{)".encode(),
        re.MULTILINE,
    )
    return sum(len(definition.findall(text)) for text in sources)
