"""Where a test that serves as proof stands: its line, for whoever wants to read it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from engine.core.model import Proof


def with_lines(proofs: Iterable[Proof], texts: Mapping[str, bytes]) -> tuple[Proof, ...]:
    """The proofs, each with the line of its test in the file as the change has it; unknown where no line names it."""
    found = []
    for proof in proofs:
        text = texts.get(proof.path, b"").decode("utf-8", "replace")
        found.append(replace(proof, line=line_of_test(text, proof.name) or proof.line))
    return tuple(found)


def line_of_test(text: str, name: str) -> int:
    """The line that defines a test, by the last part of its id; 0: none does."""
    last = re.split(r"::| > ", name)[-1].strip()
    bare = re.split(r"[./]", re.sub(r"\[.*\]$", "", last))[-1]
    defined = re.compile(rf"^\s*(?:async\s+)?(?:def|func|fn|function)\s+{re.escape(bare)}\b")
    said = re.compile(rf"""(["'`]){re.escape(last)}\1""")
    lines = text.split("\n")
    for pattern in (defined, said):
        for at, line in enumerate(lines, 1):
            if pattern.search(line):
                return at
    return 0


_NEXT = re.compile(r"^\s*(?:(?:async\s+)?(?:def|func|fn)\s+\w*[Tt]est|(?:test|it)(?:\.\w+)?\()")


def text_of_test(text: str, name: str) -> str:
    """A test from the line that defines it to where the next one begins."""
    first = line_of_test(text, name)
    lines = text.split("\n")[first - 1 :] if first else []
    last = next((at for at, line in enumerate(lines) if at and _NEXT.match(line)), len(lines))
    return "\n".join(lines[:last])
