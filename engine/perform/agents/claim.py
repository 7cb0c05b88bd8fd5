"""What an implementer says of itself at the end of its text. Heard, never believed: it only requests validation."""

from __future__ import annotations

import re

from engine.perform.agents.wire import cut

_STATUS = re.compile(r"^[\s>*_`#-]*STATUS[\s*_`]*:[\s*_`]*(complete|blocked|failed)\b", re.IGNORECASE | re.MULTILINE)
_EXIT = re.compile(r"^[\s>*_`#-]*EXIT_SIGNAL[\s*_`]*:[\s*_`]*true\b", re.IGNORECASE | re.MULTILINE)
_ISSUES = re.compile(r"^[\s>*_`#-]*ISSUES[\s*_`]*:[ \t*_`]*(.*)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_NEXT = re.compile(r"^[\s>*_`#-]*(STATUS|EXIT_SIGNAL)[\s*_`]*:", re.IGNORECASE | re.MULTILINE)
_NOTHING = {"", "none", "none.", "n/a", "-", "no"}


def claim(text: str) -> tuple[str, str]:
    """(complete | blocked | failed | "", the ISSUES text). The last STATUS line holds; only the end is looked at."""
    tail = text[-8_000:]
    found = _STATUS.findall(tail)
    said = found[-1].lower() if found else ("complete" if _EXIT.search(tail) else "")
    issues = ""
    if where := _ISSUES.search(tail):
        issues = where.group(1)
        if follow := _NEXT.search(issues):
            issues = issues[: follow.start()]
        issues = issues.strip()
    return said, "" if issues.lower() in _NOTHING else cut(issues, 2_000)
