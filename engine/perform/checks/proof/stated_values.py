"""Examples that the task states in its own words, and no proof has: "2^3^2 is 512", "Of(11) is 4500". Pure.

What can be called is called (`examples`). The others are held by their value: it stands in what proves the change, or
nothing shows that the example holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.core.model import TaskSpec
from engine.perform.checks.proof.not_shown import sentences

_STATED = re.compile(
    r"(?P<given>[^\s,;:]*[\w)\]\"'`])\s+(?:is|are|gives?|makes?|becomes?|yields?|equals?|costs?|=|==|→|->|=>)\s+"
    r"(?P<value>-?\d(?:[\d_,]*\d)?(?:\.\d+)?)(?![\w.,]*[\d%])(?!\s*(?:or|to|and|times|by|more|fewer|less|of|%|x\b|×))"
)
_TODAY = re.compile(
    r"\b(?:today|currently|now|at present|at the moment|instead|rather|wrong\w*|but|bug|not|n't|no longer|was|were)\b",
    re.I,
)


def unstated(task: TaskSpec | None, fresh: str) -> Iterator[str]:
    """Examples whose value is in no line of the tests that prove the change."""
    if task is None or not fresh.strip():
        return
    numbers = {_plain(one) for one in re.findall(r"(?<![\w.])\d[\d_,]*(?:\.\d+)?", fresh)}
    for sentence in sentences(task):
        for match in _STATED.finditer(sentence) if not _TODAY.search(sentence) else ():
            given = match["given"].strip("`\"'")
            concrete = re.search(r"\d", given) is not None and re.search(r"\W", given) is not None
            value = match["value"].lstrip("-")
            in_cents = _plain(value.replace(".", "")) if re.search(r"\.\d\d$", value) else ""
            if concrete and not {_plain(value), in_cents} & numbers:
                yield match[0].strip()


def _plain(number: str) -> str:
    """Without marks between its digits, and without zeros that say nothing."""
    bare = re.sub(r"[_,]", "", number)
    return bare.rstrip("0").rstrip(".") if "." in bare else bare
