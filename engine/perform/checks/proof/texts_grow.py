"""Texts of old tests that got further words which the task states. Pure."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Sequence

from engine.perform.checks.proof.told_words import TOKEN, ToldWords


def texts_grow(old: Sequence[str], new: Sequence[str], text: str) -> bool:
    """Texts of a test got further words that the task states, in their old order; else rows of known words came."""
    grown, known = False, frozenset(old)
    for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        was, now = old[first:last], new[start:end]
        if tag == "equal":
            continue
        pairs = itertools.zip_longest(was, now[: len(was)])
        beside = (*old[:first], *old[last:])
        if tag == "delete" or not all(grows(one, other, text, beside) for one, other in pairs):
            return False
        rows = now[len(was) :]
        assigns = any(one == "=" and other not in ("=", ">") for one, other in itertools.pairwise(("", *rows)))
        if assigns or any(token[0].isalpha() and token not in known for token in rows):
            return False
        grown = grown or tag == "replace"
    return grown


_GLUE = frozenset("[]()|,")
"""What stands around a word in a line of usage."""


_SAYS = re.compile(
    r"\b(?:messages?|errors?|warnings?|show\w*|print\w*|says?|names?|naming|mention\w*|tells?|quot\w+)\b", re.IGNORECASE
)
"""The task is about what is said to somebody."""


def grows(was: str, now: str | None, text: str, beside: Sequence[str] = ()) -> bool:
    """`beside`: the other tokens of the test. A message may come to name what the test gives."""
    if not now or was[0] not in "\"'`" or now[0] not in "\"'`":
        return False
    had, has = TOKEN.findall(was[1:-1]), TOKEN.findall(now[1:-1])
    rest = iter(has)
    if not had or not all(token in rest for token in had):
        return False
    fresh = Counter(has) - Counter(had)
    glue = _GLUE | frozenset("-" if "--" in text else "")
    glue = glue if any(token[0].isalnum() for token in fresh) else frozenset()
    given = {word for one in beside if one[0] in "\"'`" for word in TOKEN.findall(one) if word[0].isalnum()}
    given = given if _SAYS.search(text) else set()
    words, signs = ToldWords(text), {token for token in had if not token[0].isalnum()} | glue
    for at, token in enumerate(has):
        if token in had or token in signs or token in given or words.states(token, had):
            continue
        counted = at > 0 and token.isdigit() and re.search(rf"\b{re.escape(has[at - 1])}\s+(?:[NnX]|\d+)\b", text)
        if not counted:
            return False
    return True
