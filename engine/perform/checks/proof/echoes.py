"""Code that knows the test: an input of the proof in a condition, and the answer that the proof wants behind it. Pure.

It only ever asks. A rule of the task may look like this ("a mile is 1609.344 m"), a change made to fit one test does.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from engine.core.model import Struct

REACH = 3
"""Lines after a condition in which its answer may stand."""
_LITERAL = re.compile(
    r"\"((?:\\.|[^\"\\\n])*)\"|'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\\n])*)`|(?<![\w.])(-?\d+(?:\.\d+)?)(?![\w.])"
)
_ASKS = re.compile(r"[=!]==?|\bin\b|\bcase\b|\bis\b|-eq\b|-ne\b|\bgrep\b|\.equals\(|\bmatch\b|\bstartswith\b|\bhas\(")
_ANSWERS = re.compile(r"\b(?:return|yield|raise|throw|echo|print\w*|puts)\b|=>|(?<![=!<>])=(?!=)|\?")
_KEY = re.compile(r"(?<![\w?] )(?<!case )([\"'])[\w-]+\1\s*:(?!:)|\[([\"'])[\w-]+\2\]")
"""Of a mapping: what stands behind it may be an answer, the key is none."""
_PLAIN = frozenset({"0", "1", "2", "-1", "10", "", " ", "\\n", ",", "."})


class Echo(Struct, frozen=True, kw_only=True):
    """A place in the source that repeats a question of a test and its answer."""

    path: str
    line: int
    asked: str
    answered: str


def echoes(
    path: str,
    before: bytes | None,
    after: bytes | None,
    proofs: Iterable[str],
    names: Iterable[str] = (),
    words: str = "",
) -> list[Echo]:
    """Where new lines of a source file compare with a literal of the proofs and answer with another one.

    `names` are the proofs' own: a line that holds a part of one knows its test, whatever it answers. A word that the
    test itself hands over, or that the task is about, is no such part: test_dotted_grid asks for "dotted_grid".
    What the base tells apart already, answered with words of the task, is how a program grows.
    """
    known = {literal for text in proofs for literal in _literals(text)}
    if after is None:
        return []
    ids = tuple(names)
    old = set(_literals((before or b"").decode("utf-8", "replace")))
    found: list[Echo] = []
    fresh = dict(_added((before or b"").decode("utf-8", "replace"), after.decode("utf-8", "replace")))
    for number, line in fresh.items():
        if line.lstrip().startswith(("#", "//", "*", "import ", "from ")):
            continue
        told = [word for word in _literals(line) if len(word) > 4 and re.search(r"[_./:]", word)]
        strange = [word for word in told if word not in known and word not in words]
        if knows := [word for word in strange if any(word in id for id in ids)]:
            found.append(Echo(path=path, line=number, asked=knows[0], answered=""))
            continue
        if _ASKS.search(_LITERAL.sub("''", line)) is None:
            continue  # "what is there" asks nothing
        condition = re.split(r":\s|\)\s*(?:return|\{)|;|\bthen\b", line)[0]
        asked = [word for word in _literals(condition) if word in known]
        window = [line[len(condition) :], *(fresh.get(number + step, "") for step in range(1, REACH))]
        answers = [word for text in window if _ANSWERS.search(text) for word in _literals(_KEY.sub(" ", text))]
        answered = [word for word in answers if word in known and word not in asked and word not in old]
        grown = all(word in old for word in asked) and all(word in words for word in answered)
        if asked and answered and not grown:
            found.append(Echo(path=path, line=number, asked=asked[0], answered=answered[0]))
    return found


def _literals(text: str) -> list[str]:
    words = ["".join(groups) for groups in _LITERAL.findall(text)]
    inner = [word for long in words if "'" in long or '"' in long for word in _literals(long)]
    return [word for word in (*words, *inner) if word not in _PLAIN]


def _added(before: str, after: str) -> Iterator[tuple[int, str]]:
    """Lines that `after` has and `before` has not, by their number from 1."""
    old, new = before.splitlines(), after.splitlines()
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            yield from ((number + 1, new[number]) for number in range(start, end))
