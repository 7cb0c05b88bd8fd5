"""Sorts of input that the task names and that a pattern does not find in a test: letters in both cases, an item that
comes twice, a bare sign, what an error says. Pure; any language. `tried` asks for what a pattern finds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_CASE = re.compile(
    r"\bcase[- ]?insensitiv\w*|\b(?:ignor\w+|regardless of|without regard to|independent(?:ly)? of|no matter the)\s+"
    r"(?:the\s+|its\s+|their\s+)?(?:letter[- ]?|upper\s*/\s*lower\s*)?case\b(?!\s+of)"
    r"|\bcase\s+(?:does\s+not\s+matter|is\s+(?:ignored|not\s+significant))|\bupper[- ]?case\s+or\s+lower[- ]?case\b",
    re.IGNORECASE,
)
_CASED = re.compile(r"upper|lower|swapcase|capitali[sz]e|casefold|EqualFold|\.title\(", re.IGNORECASE)
_TWICE = re.compile(
    r"(?<!\bno )(?<!\bavoid )\bduplicat(?:es?|ed)\b(?!\s+(?:code|logic|work|lines? of code))"
    r"|\b(?:items?|values?|names?|keys?|entries|words?|letters?|characters?|elements?)\s+(?:that\s+)?"
    r"(?:comes?|occurs?|appears?|given|listed|named)\s+(?:more than once|twice|several times)\b",
    re.IGNORECASE,
)
_SIGN = re.compile(
    r"\b(?:with|by|an?|the|sign|character|and|or)\s+([#%;&@|~^$*+!?<>\\])(?=[\s,.)]|$)(?!\s*\d)", re.IGNORECASE
)
_SAYS = re.compile(
    r"\b(?:message|(?:error|exception)(?:'s)?\s+text)\s+(?:that\s+|which\s+)?"
    r"(?:holds?|contains?|names?|includes?|mentions?|has|quotes?|shows?|says?|tells?|lists?|gives?)\b"
    r"|\b(?:error|exception|\w+Error|\w+Exception)`?\s+(?:that\s+|which\s+|must\s+|should\s+)?"
    r"(?:names?|mentions?|quotes?|contains?|includes?)\b"
)
_REFUSED = re.compile(r"raises|assertRaises|throws|rejects|toThrow|\bexcept\b|\bcatch\b|\berr\b")
_LOOKS_AT_WORDS = re.compile(
    r"\bmatch\s*=|assert\w*Regex|\bstr\(|\brepr\(|\.args\b|\.message\b|getMessage|\.Error\(\)|\.exception\b|\.value\b"
    r"|(?:toThrow\w*|throws|rejects)\b[^\n]*(?:/|\(\s*['\"`]|,\s*['\"`{])|\braises\([^)\n]*,|\berr(?:or)?\."
    r"|\bcapsys\b|\bstderr\b|\boutput\b|Contains\(|ErrorContains|EqualError|\be\.|\bmsg\b|message"
)
_NOUGHT = re.compile(
    r"\b(?:or|and)\s+0(?=[\s,.;]|$)|(?<![\w.])0\s+(?:or|and)\s+(?:negative|less|below|fewer)", re.IGNORECASE
)
_NOUGHT_TRIED = re.compile(
    r"(?<![\w.])(?<![=!<>]= )(?<![<>] )-?0(?:\.0+)?(?![\w.]*\d)|\brange\(|\bzero\b", re.IGNORECASE
)
_LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`")
_WORD = re.compile(r"[A-Za-z]+")


def untried_sorts(wanted: Sequence[str], fresh: str, proofs: str) -> Iterator[str]:
    """`wanted`: sentences of the task without its code and quotes, and without those about what stays."""
    literals = _LITERAL.findall(fresh)
    text = " ".join(wanted)
    if _CASE.search(text) and not _CASED.search(fresh) and not _in_both_cases(literals, proofs):
        yield "letters in another case"
    if _TWICE.search(text) and not _comes_twice(literals, fresh):
        yield "something that is there twice"
    if _NOUGHT.search(text) and not _NOUGHT_TRIED.search(fresh):
        yield "0"
    for sign in dict.fromkeys(_SIGN.findall(text)):
        if not any(sign in one for one in literals) and sign not in "".join(_LITERAL.findall(proofs)):
            yield f"the sign {sign}"
    if any(_SAYS.search(one) for one in wanted) and _REFUSED.search(fresh) and not _LOOKS_AT_WORDS.search(fresh):
        yield "what the error says"


def _in_both_cases(literals: Sequence[str], proofs: str) -> bool:
    """A word of the new literals has another spelling somewhere in the tests."""
    spelt: dict[str, set[str]] = {}
    for word in _WORD.findall(proofs):
        spelt.setdefault(word.lower(), set()).add(word)
    return any(len(spelt.get(word.lower(), set()) | {word}) > 1 for one in literals for word in _WORD.findall(one))


_LIST = re.compile(r"[\[({]([^\[\](){}\n]*,[^\[\](){}\n]*)[\])}]")


def _comes_twice(literals: Sequence[str], fresh: str) -> bool:
    """A sign twice in one text, an item twice in one list, or a line that is there twice."""
    if any(len(set(bare)) < len(bare) for one in literals if 1 < len(bare := one.strip("\"'`")) <= 40):
        return True
    for inner in _LIST.findall(fresh):
        items = [item.strip() for item in inner.split(",") if item.strip()]
        if len(set(items)) < len(items):
            return True
    lines = Counter(line.strip() for line in fresh.splitlines() if re.search(r"\w\(|\w\.\w|=", line))
    return any(count > 1 for count in lines.values()) or re.search(r"\*\s*[2-9]\b|\brange\(|repeat", fresh) is not None
