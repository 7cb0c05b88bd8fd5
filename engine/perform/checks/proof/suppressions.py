"""Comments that silence a tool: counted before and after, over all changed files, so that moved code is not accused."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator

from engine.core.model import Struct

PYTHON = {
    "noqa": re.compile(r"#\s*(?:ruff:\s*|flake8:\s*)?noqa", re.IGNORECASE),
    "type: ignore": re.compile(r"#\s*type:\s*ignore|#\s*mypy:\s*ignore-errors"),
    "pyright: ignore": re.compile(r"#\s*pyright:\s*(?:ignore|basic)"),
    "nosec": re.compile(r"#\s*nosec", re.IGNORECASE),
    "pragma: no cover": re.compile(r"#\s*pragma:\s*no\s?(?:cover|branch)", re.IGNORECASE),
    "pylint: disable": re.compile(r"#\s*pylint:\s*(?:disable|skip-file)"),
}
SCRIPT = {
    "eslint-disable": re.compile(r"(?://|/\*)\s*eslint-disable"),
    "@ts-ignore": re.compile(r"@ts-(?:ignore|expect-error|nocheck)"),
    "coverage ignore": re.compile(r"(?:istanbul|c8|v8) ignore"),
}
OTHERS = {
    ".go": {"nolint": re.compile(r"//\s*nolint")},
    ".rs": {"allow": re.compile(r"#!?\[allow\(")},
    ".java": {"SuppressWarnings": re.compile(r"@SuppressWarnings|NOSONAR")},
}
SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte")

Version = tuple[str, bytes | None, bytes | None]
"""(path, content in the base, content in the change)"""


class Suppression(Struct, frozen=True, kw_only=True):
    """A comment that the change brings in."""

    kind: str
    path: str
    line: int
    line_text: str
    code: str = ""
    """The code it silences; empty: every one."""


def suppressions(changes: Iterable[Version]) -> list[Suppression]:
    """New comments beyond the number that the base has of a kind, over all changed files."""
    before: Counter[str] = Counter()
    places: dict[str, list[Suppression]] = {}
    for path, old, new in changes:
        had = list(_found(path, old or b""))
        before.update(kind for kind, _, _ in had)
        known = Counter((kind, text) for kind, _, text in had)
        for kind, line, text in _found(path, new or b""):
            old_one = known[(kind, text)] > 0
            known[(kind, text)] -= 1
            one = Suppression(kind=kind, path=path, line=line, line_text=text.strip(), code=_code(text))
            where = places.setdefault(kind, [])
            # the new ones come first, so that the finding points at them
            where.append(one) if old_one else where.insert(0, one)
    return [one for kind, where in places.items() for one in where[: max(0, len(where) - before[kind])]]


CODE = re.compile(r"(?:noqa:?|ignore|nosec|disable[\w-]*|nolint:?|allow)[\s:=\[(]*([A-Za-z@][\w/-]*)?", re.IGNORECASE)


def _code(text: str) -> str:
    match = CODE.search(text)
    return (match[1] or "") if match else ""


def _found(path: str, data: bytes) -> Iterator[tuple[str, int, str]]:
    if path.endswith((".py", ".pyi")):
        for number, line in _comments(data):
            for kind, pattern in PYTHON.items():
                if pattern.search(line):
                    yield kind, number, line
        return
    kinds = SCRIPT if path.endswith(SCRIPTS) else OTHERS.get("." + path.rpartition(".")[2], {})
    if kinds:
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            for kind, pattern in kinds.items():
                if pattern.search(line):
                    yield kind, number, line.strip()


def _comments(data: bytes) -> list[tuple[int, str]]:
    """Real comments only: a string that speaks of noqa silences nothing."""
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError, ValueError):
        lines = data.decode("utf-8", "replace").splitlines()
        return [(number, line) for number, line in enumerate(lines, 1) if "#" in line]
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
