"""What the task names and nothing shows: options, errors and quoted things that stand nowhere. Pure; it only asks."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from engine.core.model import TaskSpec

_CODE = re.compile(r"`([^`\n]*)`")
_QUOTED = re.compile(r"\"([^\"\n]*)\"|“([^”\n]*)”|(?<!\w)'([^'\n]*)'(?!\w)")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9]+(?:-[a-z0-9]+)*\b")
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_WANTS = re.compile(
    r"(?:\b(?:should|must|has to|have to|needs? to|shall|becomes?|is now|wants?|wanted"
    r"|(?:[Aa]dd|[Ss]upport|[Aa]ccept|[Aa]llow|[Oo]ffer|[Ii]ntroduce|[Pp]rovide|[Uu]nderstand)(?:s|ed)?)\b|→)[^.;\n]{0,160}"
)
_WORD = re.compile(r"[A-Za-z]{3,}|\d+(?:\.\d+)?")
_EVERYWHERE = frozenset(
    {"null", "undefined", "true", "false", "none", "nil", "self", "this", "nan", "promise", "stderr", "stdout", "the",
     "and", "for", "with", "not", "any", "from", "into"}
)  # fmt: skip
_NO_THING = frozenset(
    {
        "nothing",
        "anything",
        "everything",
        "something",
        "none",
        "nobody",
        "empty",
        "else",
        "others",
        "both",
        "neither",
        "friends",
        "more",
        "rest",
        "similar",
        "such",
        "like",
        "maybe",
        "perhaps",
        "possibly",
        "preferably",
        "probably",
        "also",
        "then",
        "so",
        "thus",
        "not",
        "only",
    }
)
_AGAINST = re.compile(r"\b(?:instead of|rather than|no longer|not|never|without|replaces?)\s+(?:an? |the |`)*(\w+)")

Pair = tuple[bytes | None, bytes | None]
"""A file before and after."""


def wanted(task: TaskSpec | None) -> tuple[list[str], list[str]]:
    """(errors; options, quoted values and names in code marks) that the task asks for.

    Title and description may quote the symptom: there, only what "should" be, or is to be added, counts.
    """
    if task is None:
        return [], []
    told = "\n".join((task.title, task.description))
    plain = _QUOTED.sub(lambda match: match[0][0] + "·" * (len(match[0]) - 2) + match[0][-1], told)
    text = "\n".join((*(told[match.start() : match.end()] for match in _WANTS.finditer(plain)), *task.accept))
    old = set(_AGAINST.findall(text))
    quoted = ["".join(groups).strip() for groups in _QUOTED.findall(_CODE.sub(" ", text))]
    names = dict.fromkeys((*_FLAG.findall(text), *(one.strip() for one in _CODE.findall(text)), *quoted))
    return (
        [one for one in dict.fromkeys(_ERROR.findall(text)) if one not in old],
        [one for one in names if one not in old and _is_thing(one) and not _ERROR.fullmatch(one)],
    )


def _is_thing(one: str) -> bool:
    """A place in the tree and a command to type are nothing to build."""
    return (
        2 <= len(one) <= 60 and "/" not in one and " | " not in one and not re.search(r"\.[a-z]{1,4}$|^\$|^\w+ -", one)
    )


def not_done(
    task: TaskSpec | None,
    base: Iterable[bytes],
    tests: Iterable[bytes],
    changed: Iterable[tuple[bytes | None, bytes | None]],
) -> list[str]:
    """What neither the base, nor a test, nor an added line has; an error has to be in one of the latter two."""
    errors, names = wanted(task)
    if not errors and not names:
        return []
    shown = _words([*(text.decode("utf-8", "replace") for text in tests), *(added_text(*pair) for pair in changed)])
    known = shown | _words(text.decode("utf-8", "replace") for text in base)
    return [
        *(one for one in errors if not _parts(one) <= shown),
        *(one for one in names if not _parts(one) <= known),
    ]


_LIST = re.compile(r"(?<![\w.-])([\w%]{1,12}(?:,\s+[\w%]{1,12}){0,6}),?\s+(?:and|or)\s+([\w%]{1,12})(?![\w-])")
_SPLIT = re.compile(r"[A-Za-z0-9%]+|[^\W_]")
_LITERAL = re.compile(r"\"([^\"\n]{1,20})\"|'([^'\n]{1,20})'|`([^`\n]{1,20})`")


def left_out(
    task: TaskSpec | None,
    base: Iterable[bytes],
    tests: Iterable[bytes],
    changed: Iterable[tuple[bytes | None, bytes | None]],
) -> list[str]:
    """Of "dl and cl" one is a new text in the source and the other is nowhere: half of what was asked for."""
    if task is None:
        return []
    added = [added_text(*pair) for pair in changed]
    new = {"".join(groups).lower() for text in added for groups in _LITERAL.findall(text)}
    texts = [*added, *(text.decode("utf-8", "replace") for text in (*base, *tests))]
    there = {
        word.lower() for text in texts for one in re.findall(r"[\w%]+", text) for word in (one, *_SPLIT.findall(one))
    }
    found = []
    for told in (task.title, task.description, *task.accept):
        for match in _LIST.finditer(told):
            items = [*re.split(r",\s+", match[1]), match[2]]
            of_a_sort = len({item.isascii() and item.isalpha() for item in items}) == 1  # "⅛, alone and after": no list
            if of_a_sort and any(item.lower() in new for item in items):
                found += [item for item in items if item.lower() not in there | _NO_THING]
    return found


_LATER = re.compile(
    r"(?:#|//|/\*|--|;)[^\n]*\b(?:TODO|FIXME|XXX)\b[^\n]*|[^\n]*\bnot (?:yet )?implemented\b[^\n]*", re.IGNORECASE
)


def put_off(task: TaskSpec | None, before: bytes | None, after: bytes | None) -> str:
    """A new remark in the source that something of the task is still to be done; else nothing."""
    if task is None:
        return ""
    told = _words((task.title, task.description, *task.accept)) - _EVERYWHERE
    for match in _LATER.finditer(added_text(before, after)):
        if _words([match[0]]) & told:
            return match[0].strip()
    return ""


def _parts(name: str) -> set[str]:
    bare = re.sub(r"(?<=\w)\(.*\)", "", name)  # what a call is given may be anything
    return {word for word in _words([bare]) if word not in _EVERYWHERE}


def _words(texts: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in texts:
        found |= {word.lower() for word in _WORD.findall(text)}
        spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
        found |= {word.lower() for word in _WORD.findall(spaced)}
    return found


def added_text(before: bytes | None, after: bytes | None) -> str:
    old, new = ((text or b"").decode("utf-8", "replace").splitlines() for text in (before, after))
    return "\n".join(line[2:] for line in difflib.ndiff(old, new) if line.startswith("+ ")) if old else "\n".join(new)
