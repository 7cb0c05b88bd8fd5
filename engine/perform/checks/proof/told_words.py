"""The words of a task, as values that expected data may follow. Pure."""

# ruff: noqa: E501 (lists of words are read better in one piece)

from __future__ import annotations

import re
from collections.abc import Callable

MOST = 100_000
"""Bytes of expected data; larger files are asked about."""
TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|[^\w\s]|_")
LESS = re.compile(
    r"\b(?:drop\w*|remov\w+|no\s+longer|without|hid(?:e|es|den)|omit\w*|skip\w*|only|leave\s+out|delete\w*|not\s+(?:shown?|listed|printed))\b",
    re.I,
)
ORDER = re.compile(
    r"\b(?:order\w*|sort\w*|swap\w*|revers\w*|first|last|before|after|behind|columns?|align\w*|wrap\w*|group\w*)\b",
    re.I,
)
TURNS = re.compile(
    r"\b\w+(?:est|er|al\w*|ic\w*)\s+(?:first|last)\b|\breversed?\b|\bswap\w*|\bsort\w*|\border(?:ed)?\s+(?:by|of)\b|\bin\s+[\w ]{0,20}order\b", re.I
)  # fmt: skip
"""The task itself is about an order."""
DIGITS = re.compile(r"\b(?:decimals?|digits?|round\w*|precision|places|format\w*|cents?)\b", re.IGNORECASE)
SIGNS = {
    ";": r"semicolons?", ",": r"commas?", ":": r"colons?", "|": r"pipes?|bars?", "-": r"dash(?:es)?|hyphens?|minus", "+": r"plus",
    "*": r"stars?|asterisks?|bullets?", "#": r"hash(?:es)?", "%": r"per\s?cent", "$": r"dollars?", "€": r"euros?", "'": r"quotes?|quoted",
    '"': r"quotes?|quoted", "(": r"parenthes[ie]s|brackets?", ")": r"parenthes[ie]s|brackets?", "[": r"brackets?", "]": r"brackets?", "=": r"equals?",
    ".": r"dots?|periods?|full\s+stops?|decimals?|points?", "/": r"slash(?:es)?", "_": r"underscores?", "!": r"exclamation\s+marks?", "?": r"question\s+marks?",
}  # fmt: skip
_SIGNED = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")


WANTED: dict[str, Callable[[list[float]], float]] = {
    r"\b(?:totals?|sums?|add(?:ed)? up|altogether)\b": sum,
    r"\b(?:counts?|number of|how many)\b": len,
    r"\b(?:mean|average)\b": lambda column: sum(column) / len(column),
    r"\b(?:max\w*|highest|largest|most)\b": max,
    r"\b(?:min\w*|lowest|smallest|least)\b": min,
}
"""What a line of its own may be made of the others, by the words for it."""


class ToldWords:
    """The words of a task, as values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = set(TOKEN.findall(text))
        self._folded = {token.casefold() for token in self._tokens}
        self._numbers = {_number(token) for token in self._tokens if token[0].isdigit()}

    def states(self, token: str, old: list[str]) -> bool:
        """The token stands in the text; or it is an old one in other letters or digits, and the text speaks of those."""
        if token[0].isdigit():
            same = _number(token) in {_number(each) for each in old if each[0].isdigit()}
            return _number(token) in self._numbers or (same and DIGITS.search(self._text) is not None)
        if token.isalpha():
            if token in self._tokens:
                return True
            return token.casefold() in {each.casefold() for each in old} and self._letters(token)
        return self._sign(token)

    def orders(self) -> bool:
        return ORDER.search(self._text) is not None

    def turns(self) -> bool:
        return TURNS.search(self._text) is not None

    def less(self, line: str) -> bool:
        """What the line says is not to be there any more."""
        return not line.strip() or (LESS.search(self._text) is not None and self.names(line))

    def counts(self, line: str, old: list[str]) -> bool:
        """Every number of the line stands in the text, or is what the text wants of the last numbers of the old lines.

        A value that nobody stated is for somebody to look at.
        """
        column = [float(found[-1]) for each in old if (found := _SIGNED.findall(each))]
        known = {name: wanted(column) for name, wanted in WANTED.items() if column}
        made = [value for name, value in known.items() if re.search(name, self._text, re.IGNORECASE)]
        return all(
            _number(token) in self._numbers or any(abs(abs(value) - float(token)) < 0.005 for value in made)
            for token in TOKEN.findall(line)
            if re.fullmatch(r"\d+(?:\.\d+)?", token)
        )

    def _letters(self, token: str) -> bool:
        """Capitals where the text wants capitals, small letters where it wants those."""
        large = re.search(r"\b(?:capital|upper)", self._text, re.IGNORECASE) is not None
        small = re.search(r"\b(?:lower|small\s+letters)", self._text, re.IGNORECASE) is not None
        return (large and token[0].isupper()) or (small and token.islower())

    def _sign(self, token: str) -> bool:
        """A sign counts where it is quoted, stands alone, or is called by its name: prose is full of dots."""
        alone = re.search(rf"(?:^|[\s`'\"(]){re.escape(token)}(?:[\s`'\")]|$)", self._text) is not None
        quoted = any(token in part for part in re.findall(r"`([^`\n]+)`|\"([^\"\n]+)\"", self._text) for part in part)
        named = SIGNS.get(token)
        return alone or quoted or (named is not None and re.search(rf"\b(?:{named})\b", self._text, re.I) is not None)

    def names(self, line: str) -> bool:
        """A line that says something of what the text speaks of, or nothing at all."""
        tokens = [token for token in TOKEN.findall(line) if token[0].isalnum()]
        words = [token for token in tokens if token.isalpha() and len(token) > 2]
        if not tokens:
            return True
        return any(word.casefold() in self._folded for word in words) or all(
            token[0].isdigit() and _number(token) in self._numbers for token in tokens
        )


def _number(token: str) -> str:
    """`12.50` and `12.5` are one number; `1.2.3` is none."""
    try:
        return repr(float(token))
    except ValueError:
        return token


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]
