"""Parameters that the task takes away and a function of the program still has. Pure, Python only; it only asks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from engine.core.model import TaskSpec
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
            tree = ast.parse(text)
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
