"""What the fields of a task mean: ids, titles, globs, commands, numbers. Shared by every plan format."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import PurePath

from engine.core.clean import clean, clean_line
from engine.core.grant_grammar import check_entry, entries_of
from engine.core.grants import GrantError
from engine.core.harmless import HarmlessKind, known_proof

PRIORITIES = {"critical": 20, "high": 10, "medium": 0, "normal": 0, "low": -10, "p0": 20, "p1": 10, "p2": 0, "p3": -10}
COMPLEXITIES = {"simple": 2, "moderate": 6, "complex": 11}
"""The middle of each tier."""
PRIORITY_BOUND = 1000
NOTHING = frozenset({"", "-", "–", "—", "none", "nothing", "n/a", "~"})

_DOTTED = r"(?:[Tt]ask[ \t]+|T)?(\d+(?:\.\d+)+[a-z]?)"
_WHOLE_ID = re.compile(rf"(?:{_DOTTED}|(?:[Tt]ask[ \t]+|T)?(\d+)|([A-Z][A-Z0-9_]*-\d+))[.:)]*$")
_PLAIN_ID = re.compile(
    rf"(?:{_DOTTED}[.:)]?|(?:[Tt]ask[ \t]+|T)(\d+)[.:)]?|(\d+)[.:)]|([A-Z][A-Z0-9_]*-\d+):)(?=[ \t]|$)"
)
_WRAPPED = re.compile(r"(\*\*|__|`)(.+?)\1(.*)$")
SCAFFOLD = re.compile(r"[ \t]*[(\[]scaffold[)\]]", re.IGNORECASE)
_CHECKBOX = re.compile(r"\[[ xX~!-]?\][ \t]+")

Refuse = Callable[[str, str, str], None]
"""what, expected, fix."""


def split_id(rest: str) -> tuple[str, str]:
    """`**1.2** Title`, `T1.2: Title`, `3. Title`, `US-7: Title` → id and title; the id is empty where there is none."""
    wrapped = _WRAPPED.match(rest)
    if wrapped and wrapped.group(1) == "`" and not known_id(wrapped.group(2)):
        wrapped = None
    if wrapped:
        inner, tail = wrapped.group(2).strip(), wrapped.group(3)
        if task_id := known_id(inner):
            return task_id, tidy_title(tail)
        if not tail.strip():
            rest = inner
    plain = _PLAIN_ID.match(rest)
    if plain is None:
        return "", tidy_title(rest)
    return next(group for group in plain.groups() if group), tidy_title(rest[plain.end() :])


def known_id(word: str) -> str:
    """The id a word names (`T1.2` → `1.2`), or nothing."""
    match = _WHOLE_ID.match(word.strip().strip("`*_[]"))
    return next((group for group in match.groups() if group), "") if match else ""


def tidy_title(words: str) -> str:
    """One clean line without what separated it from the id."""
    line = clean_line(" ".join(clean(words).split()))
    line = re.sub(r"^(?:[:–—-](?=[ \t]|$)[ \t]*|[:.)]+(?=[ \t]|$)[ \t]*)+", "", line)
    return line.strip()


def tidy_heading(words: str) -> str:
    """A title or phase name: one clean line without emphasis, closing #s and the scaffold mark."""
    line = SCAFFOLD.sub("", " ".join(clean(words).split()))
    return clean_line(line.strip(" #*_"))


def title_of(source: str) -> str:
    """A plan without a title is called after its file."""
    stem = tidy_heading(PurePath(source).stem.replace("-", " ").replace("_", " "))
    return stem[:1].upper() + stem[1:] if stem else "Plan"


def tidy_word(words: str) -> str:
    return clean_line(words).strip("`* ")


def tidy_criterion(words: str) -> str:
    return _CHECKBOX.sub("", " ".join(clean(words).split()), count=1).strip()


def tidy_description(inline: str, body: Iterable[str]) -> str:
    """Text of several lines with its common indentation taken off."""
    below = textwrap.dedent("\n".join(line.expandtabs(4).rstrip() for line in body))
    return clean(f"{inline}\n{below}" if inline else below).strip("\n").rstrip()


def split_globs(words: str) -> list[str]:
    """At commas and blanks, but not inside {a,b}."""
    parts, depth, current = [], 0, ""
    for letter in clean(words):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter in ", \t" and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [part for raw in (*parts, current) if (part := raw.strip("`\"'")) not in NOTHING]


def glob(word: str, refuse: Refuse) -> str:
    """A glob relative to the repository; a folder means all below it."""
    path = word.removeprefix("./")
    if path.startswith(("/", "~")) or ".." in path.split("/") or "\\" in path or re.match(r"[A-Za-z]:", path):
        refuse(f"scope {word} leads out of the repository", "globs relative to the repository's root", "scope: src/**")
        return ""
    return path + "**" if path.endswith("/") else path


def entries(words: str, refuse: Refuse) -> list[str]:
    """Entries of `allow:`; one that nobody understands is refused, or a permission would be missing at night."""
    found = []
    for entry in entries_of(clean_line(words)):
        if entry.lower() in NOTHING:
            continue
        try:
            found.append(check_entry(entry))
        except GrantError as wrong:
            refuse(wrong.what, wrong.expected, wrong.fix)
    return found


def proof(words: str, refuse: Refuse) -> str:
    """`none`, or `none (docs)`: there is nothing to show; `required`, or nothing: a proof is wanted."""
    word = known_proof(words)
    if word is not None:
        return word
    kinds = " | ".join(HarmlessKind)
    wanted = f"none, none ({kinds}) or required; a command that shows it goes to verify:"
    refuse(f"proof {clean_line(words)}", wanted, "proof: none")
    return ""


def split_ids(words: str) -> list[str]:
    """Ids between commas, blanks and `and`; `Phase 1` stays one word."""
    found = re.findall(r"[Pp]hase[ \t]+\w+|[Tt]ask[ \t]+[\w.-]+|[^\s,;&]+", clean(words))
    return [known_id(word) or word.strip("`*_[]()") for word in found if word.lower() not in (*NOTHING, "and")]


def command(words: str) -> str:
    """A command as it will be run, and as it is shown: cleaned, out of its backticks."""
    line = clean(words).strip()
    if len(line) > 1 and line[0] == line[-1] == "`" and "`" not in line[1:-1]:
        line = line[1:-1].strip()
    return line


def priority(words: str, refuse: Refuse) -> int:
    word = words.strip().strip("`*").lower()
    if word in PRIORITIES:
        return PRIORITIES[word]
    if re.fullmatch(r"[+-]?\d{1,4}", word) and abs(int(word)) <= PRIORITY_BOUND:
        return int(word)
    refuse(
        f"priority {clean_line(words) or 'is empty'}",
        f"high, medium, low or a number up to {PRIORITY_BOUND}",
        "priority: high",
    )
    return 0


def complexity(words: str, refuse: Refuse) -> int | None:
    word = re.sub(r"[ \t]*/[ \t]*14$", "", words.strip().strip("`*").lower())
    if word in COMPLEXITIES:
        return COMPLEXITIES[word]
    if re.fullmatch(r"\d{1,2}", word) and int(word) <= 14:
        return int(word)
    refuse(
        f"complexity {clean_line(words) or 'is empty'}",
        "a whole number from 0 to 14, or simple, moderate, complex",
        "complexity: 6",
    )
    return None
