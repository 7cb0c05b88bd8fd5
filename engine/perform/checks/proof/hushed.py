"""Errors that go under: a handler for more than the task speaks of, or one that does nothing. Pure; it only asks.

The test of a fix provokes one error. A handler for all of them hides the others too: a file that is broken becomes one
that is empty. A handler that does nothing turns a failure into silence, and its caller goes on. Python only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.core.grants import Rule
from engine.perform.checks import python_source
from engine.perform.checks.proof.suspicious import Hit, dotted

EVERYTHING = frozenset({"", "Exception", "BaseException"})
_ALL = re.compile(
    r"\b(?:any|every|all|whatever|other|unexpected|arbitrary|each)\s+(?:\w+\s+)?(?:errors?|exceptions?|failures?|reason"
    r"|call|job|task|listener|handler|plug-?in|problem|crash)|\b(?:catch|swallow|ignor|suppress|isolat|surviv|robust"
    r"|toleran|resilien|best.effort)"
    r"|\b(?:must not (?:stop|fail|crash|raise|die|end|abort|break)|never (?:fail|crash|raise|die"
    r"|stop)|not (?:stop|crash|die|take)|go(?:es)? on|keeps? (?:going|running|working)|carr(?:y|ies) on|continu)"
    r"|\bException\b|\bretr(?:y|ies)|\brais(?:es|ing) (?:itself|something)|\bfailing \w+er\b",
    re.IGNORECASE,
)
_MILD = re.compile(
    r"ignor|skip|silen|quiet|no-?op|nothing|lenien|toler|without|optional|best.effort|default|fall.?back|not there"
    r"|missing|unknown|absent|already|surviv|go(?:es)? on|continu|keep|leave|left|stays?|empty|instead|return|give"
    r"|crash|traceback|not (?:fail|raise|die|stop|end|abort|break)|no (?:error|exception)|bad|broken|invalid|corrupt"
    r"|damaged|malformed|unreadable|cannot|can't|rubbish|nonsense|wrong|close|retr(?:y|ies)|swallow|suppress|catch",
    re.IGNORECASE,
)


def hushes(before: bytes | None, after: bytes | None, words: str) -> list[Hit]:
    """The first new handler that catches everything and tells nobody, and the first that only does nothing."""
    try:
        old, new = python_source.parse(before or b""), python_source.parse(after or b"")
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: list[Hit] = []
    had, has = list(_wide(old)), list(_wide(new))
    if len(has) > len(had) and not _ALL.search(words):
        text = "catches every error, of whatever kind, and tells nobody; the task does not speak of every error"
        found.append((Rule.SUSPICIOUS_SOURCE, has[-1], text))
    had, has = list(_idle(old)), list(_idle(new))
    if len(has) > len(had) and not _MILD.search(words) and not found:
        text = "does nothing about an error; the task does not say that it is to be passed over"
        found.append((Rule.SUSPICIOUS_SOURCE, has[-1], text))
    return found


def _wide(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and not _told(node):
            names = getattr(node.type, "elts", [node.type]) if node.type is not None else [None]
            if any((dotted(name) if name is not None else "") in EVERYTHING for name in names):
                yield node.lineno


def _idle(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and all(_does_nothing(one) for one in node.body):
            yield node.lineno


def _does_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Return(value=None) | ast.Return(value=ast.Constant(value=None)):
            return True
    return False


def _told(handler: ast.ExceptHandler) -> bool:
    """Somebody hears of it: it is raised again, looked at, or logged."""
    for node in ast.walk(handler):
        match node:
            case ast.Raise():
                return True
            case ast.Name(id=name) if name == handler.name:
                return True
            case ast.Call(func=func) if dotted(func).rpartition(".")[2] in (
                "exception", "print_exc", "format_exc", "error", "warning", "warn", "exc_info", "exit", "critical",
            ):  # fmt: skip
                return True
    return False
