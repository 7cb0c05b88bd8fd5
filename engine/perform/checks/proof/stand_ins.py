"""Tests that look at something else than the program: a mark that only they read, a part of it that they replace. Pure.

A change that adds `FIXED = True` and a test that puts the right function in its place when it sees it is green without
one line mended. It only asks. Python and JavaScript.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.core.grants import Rule
from engine.perform.checks import python_source
from engine.perform.checks.proof.narrow import Narrow, Source
from engine.perform.checks.proof.source_text import JAVASCRIPT

_EXPORTED = re.compile(
    r"^(?:export\s+(?:const|let|var)\s+|(?:module\.)?exports\.)(\w+)\s*=\s*"
    r"(?:true|false|null|-?\d[\d.]*|'[^'\n]*'|\"[^\"\n]*\")\s*;?\s*$",
    re.MULTILINE,
)
_WHOLE_MODULE = re.compile(r"\b(?:vi|jest)\.(?:mock|doMock|unstable_mockModule)\(\s*['\"](\.[^'\"\n]*)['\"]\s*,")
_REPLACED = (
    r"\bsetattr\([^,()\n]*,\s*['\"]{name}['\"]"
    r"|\bpatch(?:\.object)?\([^)\n]*['\".]{name}['\"]"
    r"|\bmock\.method\([^,\n]*,\s*['\"]{name}['\"]"
    r"|\bspyOn\([^,\n]*,\s*['\"]{name}['\"]\s*\)\s*\.mock\w+\("
    r"|(?<![\w.])(?!self\b|this\b)[A-Za-z_$]\w*(?:\.\w+)*\.{name}\s*=(?![=>])"
)


def stand_ins(changed: Sequence[Source], others: Mapping[str, bytes], fresh: str, words: str) -> list[Narrow]:
    """What the fresh lines of the tests look at instead of what the task is about."""
    texts = [_text(data) for data in others.values()] + [_text(one.after) for one in changed]
    found = [one for source in changed for one in _marks(source, texts, fresh, words)]
    return found or _replaced(changed, others, fresh, words)


def _marks(source: Source, texts: Iterable[str], fresh: str, words: str) -> Iterator[Narrow]:
    """New names of constants that nothing of the program reads, and a test does."""
    had = {name for name, _ in _constants(source.path, source.before)}
    for name, line in _constants(source.path, source.after):
        if name in had or not _word(name, fresh) or _word(name, words):
            continue
        if sum(len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", text)) for text in texts) > 1:
            continue  # the program reads it, or hands it on
        text = f"only tests read {name}, and the task does not speak of it"
        yield Narrow(rule=Rule.NOT_DONE, path=source.path, line=line, text=text)


def _constants(path: str, data: bytes | None) -> list[tuple[str, int]]:
    text = _text(data)
    if path.endswith(JAVASCRIPT):
        return [(match[1], text.count("\n", 0, match.start()) + 1) for match in _EXPORTED.finditer(text)]
    if not path.endswith(".py"):
        return []
    try:
        body = python_source.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        (target.id, node.lineno)
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.startswith("__")
    ]


def _replaced(changed: Sequence[Source], others: Mapping[str, bytes], fresh: str, words: str) -> list[Narrow]:
    """A function that the task names, and that the tests of the change put another one in the place of."""
    before = {**others, **{one.path: one.before for one in changed if one.before is not None}}
    for path, data in before.items():
        for name in dict.fromkeys(re.findall(r"\b(?:def|function\*?|const|exports\.)\s*(\w+)", _text(data))):
            if len(name) < 3 or not _word(name, words):
                continue
            match = re.search(_REPLACED.format(name=re.escape(name)), fresh)
            if match is not None and not _hands_on(name, fresh, match):
                text = f"a test of the change replaces {name}, which the task is about: {match[0][:60]}"
                return [Narrow(rule=Rule.MOCKED_SUBJECT, path=path, line=0, text=text)]
    stems = {posixpath.splitext(posixpath.basename(one.path))[0]: one.path for one in changed}
    for match in _WHOLE_MODULE.finditer(fresh):
        stem = posixpath.splitext(posixpath.basename(match[1]))[0]
        if stem in stems:
            text = f"a test of the change replaces the module {stems[stem]}, which the change is about"
            return [Narrow(rule=Rule.MOCKED_SUBJECT, path=stems[stem], line=0, text=text)]
    return []


def _hands_on(name: str, fresh: str, match: re.Match[str]) -> bool:
    """A spy: what stands in the place of the function was told the function first, and calls it."""
    rest = fresh[match.end() :]
    if re.match(r"[^\n=]*\bwraps=", rest) or (match[0].startswith("mock.method") and re.match(r"\s*\)", rest)):
        return True
    kept = re.findall(
        rf"(?<![\w.])(\w+)\s*=\s*[A-Za-z_$][\w$.]*\.{re.escape(name)}(?:\.bind\([^()\n]*\))?\s*(?:;|$)", fresh, re.M
    )
    return any(re.search(rf"(?<![\w.]){re.escape(one)}(?:\.call|\.apply)?\(", fresh) for one in kept)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _word(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
