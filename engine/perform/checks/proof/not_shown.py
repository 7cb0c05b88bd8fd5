"""Inputs and errors that the task gives, and no proof tries. Pure; it only asks.

`not_done` asks for what stands nowhere. Here something stands in the change, but what the task quotes as an input, or
wants to be refused, was never put to it: half a fix brings a test for the other half.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from engine.core.model import TaskSpec

_CODE = re.compile(r"`([^`\n]*)`")
_QUOTED = re.compile(r"\"([^\"\n]*)\"|“([^”\n]*)”|(?<!\w)'([^'\n]*)'(?!\w)")
_SENTENCE = re.compile(r"(?<=[.;:!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`\"'(\[“])|;\s|\n")
_AN_OUTPUT = re.compile(
    r"\b(?:instead of|rather than|not|says?|writes?|shows?|prints?|called|is|are|be|gives?|gets?|returns?|with"
    r"|messages?|today|as|words?|texts?|names?|lines?(?:\s+like)?|to|want|wants|becomes?|raises?|throws?|column|key|keys)$|[=→>]$"
    r"|\b(?:e\.g\.|for example|for instance),?$|\bwithout(?:\s+[a-z]+){0,2}$"
    r"|\b(?:refused|rejected|fails?|failed|dies|crashes|complains|stops)[,:(\s]*(?:with)?[:\s]*$",
    re.IGNORECASE,
)
"""Before a quoted text: it is what comes out, or the name of something."""
_ALIKE = re.compile(r"\b(?:like|such as)$", re.IGNORECASE)
"""Before a quoted text: others of its form are as good."""
_A_COMMENT = re.compile(
    r"[\s`)]*(?:is (?:too|confusing|poor|misleading|not (?:helpful|enough|useful))|says nothing|"
    r"does(?: not|n't) (?:help|say|tell)|helps nobody|and not|means)\b"
)
_PLACE = re.compile(r"\.[a-z]{1,4}$|^[\w./-]*/[\w./-]*$|^\w+ -|^--?\w|^\$")
_PROSE = re.compile(r"(?:[A-Za-z',]+\s+){3,}[A-Za-z',.]+")
_NAME_OF_DATA = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b__(?!(?:init|main|pycache|all|future)__)\w+__\b")
"""Not of a module or a folder: what lies in a package's `__init__` is tried by its own name."""
_ARGUMENTS = re.compile(r"(?<![\w)])\((-?\d[\d.]*(?:,\s*-?\d[\d.]*)+)\)")
"""A pair of numbers in brackets. (A call with numbers is an example of its own.)"""
_WORD = re.compile(r"[A-Za-z]{2,}|\d+(?:\.\d+)?")

_ERROR = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception)|Err[A-Z]\w+)\b")
_AGAINST = re.compile(
    r"\b(?:instead of|rather than|not|not only|no longer|never|without|than)\s+(?:\w+\s+)?(?:an?\s+|the\s+)?`?$"
)
_WANTS_ERROR = re.compile(
    r"\b(?:should|must|has to|have to|needs? to|shall|ought to)\b[^.;]{0,60}$|(?:^|[.;:]\s*)`?[Rr]aise\s+(?:an?\s+)?`?$"
)
_IN_THAT_CASE = re.compile(r"`?\s*(?:otherwise|if|when|for|naming|that names)\b")
_REFUSES = re.compile(
    r"raises|assertRaises|throws|rejects|toThrow|errors\.(?:Is|As)|recover\(|should_panic|is_err|unwrap_err|except\b|"
    r"catch\b|\$\?|exit|[Ee]xpectError|assertThrows|\berr\b"
)


class Form(str):
    """A text that only says how such texts look: its numbers are any."""

    __slots__ = ()


def sentences(task: TaskSpec) -> Iterator[str]:
    """The task in pieces, each of which says one thing."""
    yield task.title
    for text in (task.description, *task.accept):
        yield from (part for part in _pieces(text) if part.strip())


def _pieces(text: str) -> Iterator[str]:
    """Cut between sentences, never within a quotation."""
    start = 0
    for match in _SENTENCE.finditer(text):
        if text[text.rfind("\n", 0, match.start()) + 1 : match.start()].count('"') % 2 == 0:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def inputs(task: TaskSpec, tried: str = "") -> list[str]:
    """What the task quotes as something to be given to the program. A further argument of a call may be another one
    where the tests (`tried`) have such a call.
    """
    found: dict[str, None] = {}
    for sentence in sentences(task):
        text = _CODE.sub(lambda match: f" {_FORM.sub(' ', match[1])} ", sentence)
        for match in _QUOTED.finditer(text):
            quoted = "".join(group or "" for group in match.groups())
            value = quoted.strip()
            if len(value) == 1 and not value.isalnum() and len(quoted) < 4:
                value = quoted  # " ;" is more than a semicolon
            before = text[: match.start()].rstrip("`( ")
            if _AN_OUTPUT.search(before) or _A_COMMENT.match(text[match.end() :]):
                continue
            if (call := _FURTHER.search(text[: match.start()])) is not None and f"{call[1]}(" in tried:
                continue
            if 1 <= len(value) <= 60 and not _PLACE.search(value) and not _PROSE.fullmatch(value):
                found.setdefault(Form(value) if _ALIKE.search(before) else value)
        bare = _QUOTED.sub(" ", text)
        for numbers in _ARGUMENTS.findall(bare):
            found |= dict.fromkeys(re.split(r",\s*", numbers))
    return list(found)


def names(task: TaskSpec) -> list[str]:
    """Names of data and of protocols that it says outside of quotes: KETTLE_RETRIES, __len__."""
    texts = [_QUOTED.sub(" ", _CODE.sub(lambda match: f" {match[1]} ", one)) for one in sentences(task)]
    return list(dict.fromkeys(name for text in texts for name in _NAME_OF_DATA.findall(text)))


def errors(task: TaskSpec) -> list[str]:
    """Errors that the task wants to see raised."""
    found: dict[str, None] = {}
    for sentence in sentences(task):
        criterion = sentence in task.accept
        for match in _ERROR.finditer(sentence):
            before, after = sentence[: match.start()], sentence[match.end() :]
            if _AGAINST.search(before):
                continue
            first = not before.strip(" `") and _IN_THAT_CASE.match(after)
            if criterion or first or _WANTS_ERROR.search(before) or _states(match[0], before, sentence):
                found.setdefault(match[0])
    return list(found)


_TODAY = re.compile(
    r"\b(?:today|currently|now|at present|at the moment|crash\w*|bug\w*|wrong\w*|but|then dies|fails?)\b", re.IGNORECASE
)


_OF_THE_LANGUAGE = frozenset(
    {"URIError", "RangeError", "ReferenceError", "EvalError", "AggregateError", "NullPointerException"}
    | {"IllegalArgumentException", "IndexOutOfBoundsException", "ClassCastException", "NumberFormatException"}
)


def _states(error: str, before: str, sentence: str) -> bool:
    """ "X raises ConfigError" of an error of the project's own: a built-in one may well be the bug that is told."""
    if hasattr(builtins, error) or error in _OF_THE_LANGUAGE or _TODAY.search(sentence):
        return False
    return re.search(r"\b(?:raises|throws|is|gives|returns)\s+(?:an?\s+)?`?$", before) is not None


_FORM = re.compile(r"\w+\((?=[^()]*(?:(?<=\()|,\s*)[A-Za-z_]\w*\s*[,)])[^()]*\)")
"""`put("mail", payload, priority=10)`: a call with a name in it says how calls look, and is none."""
_FURTHER = re.compile(r"(\w+)\([^()\"'`]*,$")
"""Before a quoted text: it is a further argument of a call."""


def not_shown(task: TaskSpec | None, proofs: str, fresh: str, added: str) -> list[str]:
    """Of these, what neither the files of the proofs nor the added lines of the subject have.

    An error has to be provoked: by a line that is `fresh` in the tests (all of them, where an old test is the proof).
    """
    if task is None or not proofs.strip():
        return []
    both = f"{proofs}\n{added}"
    known = _words(both)
    found = [one for one in inputs(task, proofs) if not _stands(one, both, known)]
    found += [one for one in names(task) if one not in both]
    refused = _REFUSES.search(fresh) is not None
    found += [told for told in _ranges(task) if not _both_sides(told, fresh)]
    found += [one for told in _listed(task) for one in told if one not in both]
    return [*found, *(one for one in errors(task) if one not in fresh and not refused)]


_SORTS = (r"`[^`\n]{1,30}`", r"\"[^\"\n]{1,30}\"", r"\b[A-Z][A-Z0-9]{1,5}\b")
_NOT_TESTED = re.compile(
    r"\b(?:docs?|documentation|documented|readme|changelog|docstrings?|lint\w*|ruff|mypy|typed|types|coverage|tests?)\b",
    re.IGNORECASE,
)
_ASSERTS = re.compile(
    r"\bassert\w*\b|\bexpect\(|\braises\(|\bt\.\w+\(|\b(?:check|ok|equal|is|same|expect_\w+|EXPECT_\w+)\b|\[ "
    r"|^\s*[\[({].*[\])}],?$",
    re.MULTILINE,
)


def _listed(task: TaskSpec) -> list[list[str]]:
    """Values of one sort that the task counts up: "IX, XL, XC, CD and CM"."""
    found = []
    for sentence in sentences(task):
        for sort in _SORTS:
            for match in re.finditer(rf"{sort}(?:\s*,\s*{sort})+,?\s+(?:and|or)\s+{sort}", sentence):
                found.append([item.strip('`"') for item in re.findall(sort, match[0])])
    return found


def fewer_than_criteria(task: TaskSpec | None, fresh: str, cases: int = 0) -> str:
    """So many criteria about the program, and not half as many assertions in what proves it: words, or nothing.

    One assertion may well show two criteria (an example that adds up), hardly three. `cases`: new files of data beside
    the tests, each of which a script compares.
    """
    told = [one for one in task.accept if not _NOT_TESTED.search(one)] if task is not None else []
    made = len(_ASSERTS.findall(fresh)) + (_rows(fresh) if _ASSERTS.search(fresh) else 0) + cases
    if len(told) < 3 or not fresh.strip() or made * 2 >= len(told):
        return ""
    return f"the task has {len(told)} criteria, and the tests that prove it make {made} assertion{'s'[: made != 1]}"


_LOOPS = re.compile(r"\bfor\b|\brange\b|\beach\b|forEach|parametrize|subTest")
_KEYED_ROW = re.compile(r"(?m)^\s*[\"'`][^\n]*[\"'`]\s*:\s*[^\n{]+,\s*$")
_ROW = re.compile(r"[\[({][^\[\](){}\n]*,[^\[\](){}\n]*[\])}](?=\s*[,\])}])")


def _rows(fresh: str) -> int:
    """Inputs that a loop over them gives to one assertion, beside the first."""
    counted = [
        len(match[1].split()) for match in re.finditer(r"\bfor \w+ in ([^;\n(]+);? *(?:do)?$", fresh, re.MULTILINE)
    ]
    if _LOOPS.search(fresh):
        counted.append(len(_ROW.findall(fresh)) + len(_KEYED_ROW.findall(fresh)))
    return sum(max(0, one - 1) for one in counted)


_NUMBER = r"(-?\d+(?:\.\d+)?)"
_UNIT = r"(?:\s?(?:%|[a-zA-Z]{1,12}))?"
_RANGE = re.compile(
    rf"\b(?:below|under|less than|smaller than)\s+{_NUMBER}{_UNIT}\s*(?:,|and|or)+\s+"
    rf"(?:above|over|more than|greater than|beyond)\s+{_NUMBER}"
    rf"|\b(?:outside(?: of)?|not (?:in|between|within))\b[^.;]{{0,30}}?{_NUMBER}\s*(?:to|-|–|and|\.\.)\s*{_NUMBER}"
)


def _ranges(task: TaskSpec) -> list[str]:
    """What the task says of both sides of a range: "below 0 % and above 100 %"."""
    return [match[0] for sentence in sentences(task) for match in _RANGE.finditer(sentence)]


def _both_sides(told: str, fresh: str) -> bool:
    match = _RANGE.search(told)
    if match is None:
        return True
    low, high = (float(number) for number in match.groups() if number is not None)
    tried = [float(number) for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", fresh)]
    return any(number < low for number in tried) and any(number > high for number in tried)


MANY = 4
"""Words from which on a quoted text is a sentence."""
_BLANK = re.compile(r"(?<![\w%$-])(?:[A-Z]|FILE|NAME|PATH|DIR|TEXT|WORD|COUNT|NUMBER|VALUE|KEY|LINE|DATE)(?![\w-])")


def _stands(value: str, text: str, known: set[str]) -> bool:
    if value != value.strip():
        return value in text
    if len(value) <= 2 and not value.isalnum():  # a separator, a sign: in every text, but not as a text of its own
        return any(f"{mark}{value}{mark}" in text for mark in "\"'`") or f"({value})" in text
    if value in text or value.replace("'", '"') in text or value.replace('"', "'") in text:
        return True
    if re.sub(r"\s", "", value) in re.sub(r"\s", "", text):
        return True
    if len(re.findall(r"[A-Za-z]{2,}", value)) > 1 and re.search(r"\d", value) and _shape(value) in _shape(text):
        return True  # an example of a form: other numbers, the same words around them
    if (
        isinstance(value, Form)
        and re.search(r"\d", value)
        and re.search(rf"(?<!\w){re.escape(_shape(value))}", _shape(text))
    ):
        return True
    if "${" in value and _FILLED.sub("${}", value) in _FILLED.sub("${}", text):
        return True  # the same with other names in its blanks
    if _BLANK.search(value):  # "line N", "N FILE": a form, with anything in its blanks
        around = [re.escape(part) for part in _BLANK.split(value)]
        if re.search(r"[^\s\"'`]+".join(around), text) is not None:
            return True
        value = _BLANK.sub(" ", value)
    words = _words(value)
    if len(words) >= MANY and len(words & known) * 2 >= len(words):
        return True  # a form of words, with other names in it
    plain = len(words) > 1 or value.isalpha() or re.fullmatch(r"-?[\d.]+", value) is not None
    return bool(words) and words <= known and plain


_FILLED = re.compile(r"\$\{[\w.]*\}")


def _shape(text: str) -> str:
    return re.sub(r"\d+(?:\.\d+)?", "0", text)


def _words(text: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return {word.lower() for word in (*_WORD.findall(text), *_WORD.findall(spaced))}
