"""`## Decisions` and `## Contradicts` in what an agent says: read forgivingly, bounded, only written down."""

from __future__ import annotations

import re

from engine.core.clean import clean, clean_line
from engine.core.model import Struct
from engine.prompts.answers import DecisionTaken

MOST = 6
LONGEST = 400
_HEADING = re.compile(r"^#{1,4}[ \t]+(.*?)[ \t]*:?[ \t]*#*$")
_BULLET = re.compile(r"^([ \t]*)(?:[-*+]|\d+[.)])[ \t]+(.*)$")
_LABEL = re.compile(
    r"^(?:\*\*|__)?(decision|why|because|reason|rationale|alternatives?|instead of)(?:\*\*|__)?[ \t]*:"
    r"(?:\*\*|__)?[ \t]*(.*)$",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[ \t]+(?:—|–|because|since)[ \t]+|:[ \t]+|\.[ \t]+(?=(?:Because|Since|Why)\b)")
_NAME = re.compile(r"`?(\d{3,}-[\w.-]+/\d{3,}-[\w.-]*\w)`?(?=[ \t:—–]|$)")


class Contradicted(Struct, frozen=True, kw_only=True):
    """A learning that an agent says is wrong, and why."""

    name: str
    why: str


def decisions_in(text: str) -> tuple[DecisionTaken, ...]:
    """Every decision of the `## Decisions` sections."""
    found: list[DecisionTaken] = []
    for line in _section(text, "decisions"):
        bullet = _BULLET.match(line)
        body = (bullet.group(2) if bullet else line).strip()
        nested = bullet is not None and len(bullet.group(1)) >= 2
        label = _LABEL.match(body)
        if not body:
            continue
        if label and label.group(1).lower() != "decision" and found:
            found[-1] = _with(found[-1], label.group(1).lower(), label.group(2))
        elif nested and found:
            found[-1] = _with(found[-1], "why", body)
        elif bullet or label:
            words = label.group(2) if label else body
            parts = _SPLIT.split(words.replace("**", ""), maxsplit=1)
            why = parts[1] if len(parts) > 1 else ""
            found.append(DecisionTaken(decision=clean_line(parts[0], LONGEST), why=clean_line(why, LONGEST)))
    return tuple(one for one in found if one.decision)[:MOST]


def contradictions_in(text: str) -> tuple[Contradicted, ...]:
    """`## Contradicts`: `- 001-login/003-use-argon2: why`."""
    found = []
    for line in _section(text, "contradicts"):
        name = _NAME.search(line)
        if name:
            found.append(Contradicted(name=name.group(1), why=clean_line(line[name.end() :].lstrip("`:—– -"), LONGEST)))
    return tuple(found)[:MOST]


def _with(one: DecisionTaken, label: str, words: str) -> DecisionTaken:
    said = clean_line(words, LONGEST)
    if label.startswith(("alternative", "instead")):
        return DecisionTaken(decision=one.decision, why=one.why, alternatives=(*one.alternatives, said)[:MOST])
    return DecisionTaken(decision=one.decision, why=one.why or said, alternatives=one.alternatives)


def _section(text: str, name: str) -> list[str]:
    lines: list[str] = []
    inside = False
    for line in clean(text).splitlines():
        heading = _HEADING.match(line.strip())
        if heading:
            inside = heading.group(1).lower().startswith(name)
        elif re.match(r"^(?:STATUS|EXIT_SIGNAL):", line):
            inside = False
        elif inside:
            lines.append(line)
    return lines
