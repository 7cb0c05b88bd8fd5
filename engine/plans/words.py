"""Permissions and `proof: none` derived from the words of a task, for the user to see and to take or leave. Pure.

Words only ever give what they name: a file of data or a script by its path, a tool's settings by the tool. What they do
not give is asked later, with the entry that grants it; so a rule here is written to miss rather than to guess.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine.core.grant_grammar import check_entry
from engine.core.grants import GrantError
from engine.core.harmless import HarmlessKind, bound
from engine.core.model import Plan, Struct, TaskSpec
from engine.plans.entries_in_words import codelike, continues, entries, is_data, moves, renames
from engine.plans.leanings import shows_something, wants_otherwise
from engine.plans.word_patterns import (
    ABOUT_CODE,
    ADDED,
    BEHAVIOUR,
    CODE,
    DELETE,
    FREE,
    MOVE,
    NO_CHANGE,
    NOTHING,
    OF_DOCS,
    ONLY_THERE,
    ORDER,
    ORDER_ABOUT_CODE,
    ORDER_FOR_TESTS,
    OWN_WORK,
    RENAME,
    SAYS_TODAY,
    SHALL_SAY,
    SOMETHING,
    STRONG,
    WISH,
)


class Derived(Struct, frozen=True, kw_only=True):
    """One line that the words of a task give."""

    task: str
    entry: str = ""
    """For `allow:`; empty: it is `proof: none`."""
    because: str = ""
    """The words it was read from."""
    kinds: tuple[HarmlessKind, ...] = ()
    """`proof: none` is bound to these: the judge holds the change to them."""

    def line(self) -> str:
        """As it stands in a plan."""
        return f"allow: {self.entry}" if self.entry else f"proof: {bound(self.kinds)}"


def derive(plan: Plan) -> tuple[Derived, ...]:
    """What the words of every open task give beyond what the plan says already."""
    return tuple(one for task in plan.tasks() if not task.done and not task.skipped for one in derive_task(task))


def derive_task(task: TaskSpec) -> tuple[Derived, ...]:
    found: dict[str, str] = {}
    new = ADDED.match(task.title)
    for sentence in _sentences(task):
        for entry in entries(sentence):
            if entry == "change behaviour" and new and re.match(rf"`?{re.escape(new['name'])}\b", sentence):
                continue  # what is new behaves as it is told; nothing old changes by that
            try:
                found.setdefault(check_entry(entry), sentence)
            except GrantError:
                continue
    if not new and (told := _told_otherwise(task)):
        found.setdefault("change behaviour", told)
    named = any(entry.startswith(("rename", "move")) for entry in found)
    if not (new or named or task.proof or nothing_to_show(task)) and wants_otherwise(task):
        found.setdefault("change behaviour", task.title)
    for place in task.scope:
        if not re.search(r"[*?{\[]", place) and is_data(place):
            found.setdefault(f"edit {place}", f"scope: {place}")
    written = {entry.lower() for entry in task.allow}
    lines = [
        Derived(task=task.id, entry=entry, because=because)
        for entry, because in found.items()
        if entry.lower() not in written
    ]
    kinds = nothing_to_show(task) or _by_entries(task, found)
    if kinds and not task.proof:
        lines.append(Derived(task=task.id, because=", ".join(kinds), kinds=kinds))
    return tuple(lines)


_SEVERAL = re.compile(
    r"(?:please\s+)?(?:move|relocate|extract|split)(?:\s+out)?\s+`?[\w.]+(?:\(\))?`?(?:(?:,|,?\s+and)\s+`?[\w.]+(?:\(\))?`?)+"
    r"\s+(?:in)?to\s+(?:a\s+|the\s+)?(?:new\s+|own\s+)?(?:file\s+|module\s+)?`?[\w./-]*[./][\w./-]+`?\.?",
    re.IGNORECASE,
)
"""Several names that move to a file: `Move Parse and parseLine into parse.go`. A name may be a word, too."""


def _told_otherwise(task: TaskSpec) -> str:
    """The sentence that says what should come out where another one says what comes out today."""
    said = [sentence for sentence in _sentences(task) if SAYS_TODAY.search(sentence)]
    wanted = next((sentence for sentence in _sentences(task) if SHALL_SAY.search(sentence)), "")
    return wanted if said else ""


def with_derived(plan: Plan, derived: Iterable[Derived]) -> Plan:
    """The plan with these lines in it."""
    by_task: dict[str, list[Derived]] = {}
    for one in derived:
        by_task.setdefault(one.task, []).append(one)

    def filled(task: TaskSpec) -> TaskSpec:
        lines = by_task.get(task.id, [])
        allow = (*task.allow, *(one.entry for one in lines if one.entry))
        shown = [bound(one.kinds) for one in lines if not one.entry]
        proof = shown[0] if shown else task.proof
        return replace(task, allow=tuple(dict.fromkeys(allow)), proof=proof)

    phases = tuple(replace(phase, tasks=tuple(filled(task) for task in phase.tasks)) for phase in plan.phases)
    return replace(plan, phases=phases)


def _sentences(task: TaskSpec) -> Iterator[str]:
    """Title, criteria and description, cut where one thought ends."""
    for text in (task.title, *task.accept, task.description):
        for line in text.splitlines():
            yield from (part.strip() for part in re.split(r"(?<=[.!?;])\s+(?=\S)", line) if part.strip())


def nothing_to_show(task: TaskSpec) -> tuple[HarmlessKind, ...]:
    """The kinds of work its title names, where that can show nothing; none: something is to be shown."""
    if shows_something(task):
        return ()
    if OWN_WORK.match(task.title):
        beside = (task.description, *task.accept)
        wished = any(WISH.search(text) or STRONG.search(text) for text in beside)
        return () if wished or BEHAVIOUR.search(task.title) else (HarmlessKind.REFACTORING,)
    clauses = [part for part in re.split(r"\s+(?:and|then|&|\+)\s+|[,;:]\s+", task.title) if part.strip()]
    kinds: list[HarmlessKind] = [HarmlessKind.MOVE] if _SEVERAL.fullmatch(task.title.strip()) else []
    for at, clause in enumerate([] if kinds else clauses):
        kind = next((kind for kind, pattern in NOTHING.items() if pattern.search(clause)), None)
        plain = _without_names(clause)
        shows = SOMETHING.search(plain)
        if shows and not OF_DOCS.search(plain):
            return ()
        if kind is HarmlessKind.REMOVAL and not _removes_code(clause):
            return ()
        whole = " ".join((clause, *itertools.takewhile(continues, clauses[at + 1 :])))
        if kind in FREE and kind not in kinds and not _told_to(whole, kind):
            return ()
        if kind is None and not shows and len(clauses) > 1 and not continues(clause):
            return ()
        if kind is not None:
            kinds.append(kind)
    if not kinds and not SOMETHING.search(_without_names(task.title)):
        kinds += _first_order(task.description)
    wishes = (task.description, *task.accept)
    if not kinds or any(STRONG.search(text) for text in wishes):
        return ()
    if FREE & set(kinds) and any(WISH.search(text) for text in wishes):
        return ()
    told = {HarmlessKind.MOVE, HarmlessKind.DEPENDENCIES, HarmlessKind.DOCS, HarmlessKind.TYPES}
    if BEHAVIOUR.search(task.title) and not told & set(kinds):
        return ()
    return tuple(dict.fromkeys(kinds))


def _by_entries(task: TaskSpec, entries: Iterable[str]) -> tuple[HarmlessKind, ...]:
    """A task whose words rename, move or delete code, or say that nothing changes, and wish for nothing else."""
    texts = (task.title, task.description, *task.accept)
    if shows_something(task):
        return ()
    verbs = {entry.split()[0] for entry in entries if not entry.startswith(("rename test", "delete tests"))}
    if any(SOMETHING.search(_without_names(text)) for text in texts) or BEHAVIOUR.search(task.title):
        return ()
    if any(WISH.search(_without_names(text)) or STRONG.search(text) for text in texts[1:]):
        return ()
    if verbs & {"rename", "move"}:
        return (HarmlessKind.MOVE, HarmlessKind.REMOVAL) if "delete" in verbs else (HarmlessKind.MOVE,)
    if "delete" in verbs:
        return (HarmlessKind.REMOVAL,)
    clauses = [clause for text in texts[1:] for clause in re.split(r"[.;!?](?=\s|$)|\n", text)]
    unchanged = any(NO_CHANGE.search(clause) and not ONLY_THERE.search(clause) for clause in clauses)
    return (HarmlessKind.REFACTORING,) if unchanged else ()


def _first_order(description: str) -> list[HarmlessKind]:
    """A title may leave it to the description: "Add a test that …". Only what a change can be held to."""
    first = re.split(r"(?<=[.!?])\s", description.strip())[0]
    return [HarmlessKind.TESTS] if ORDER_FOR_TESTS.match(first) else []


def _told_to(clause: str, kind: HarmlessKind) -> bool:
    """Nothing in the change itself can show these kinds, so the words have to: an order, about code.

    A program has words of its own: in one that splits bills, "money is lost when a bill is split" orders nothing.
    """
    if kind is HarmlessKind.MOVE and (next(renames(clause), "") or next(moves(clause), "")):
        return True
    if ORDER.match(clause):
        return True
    return bool(ORDER_ABOUT_CODE.match(clause)) and bool(ABOUT_CODE.search(clause))


def _without_names(clause: str) -> str:
    """The clause without names of code: `rename handle to process` handles nothing."""
    for pattern in (*RENAME, *MOVE, DELETE):
        clause = pattern.sub(lambda match: match.group(0).split()[0], clause)
    return re.sub(rf"{CODE}|\S+\(\)|\S*[_./]\w\S*", " ", clause)


_THE_SO_CALLED = re.compile(
    r"\b(?:remove|drop|delete|retire|get\s+rid\s+of)\s+(?:the\s+|our\s+)?[`\"']?(?!old\b|new\b|whole\b|last\b|first\b|default\b)[\w-]+[`\"']?\s+"
    r"(?:(?:sub)?commands?|options?(?!\s+\w)|flags?(?!\s+\w)|functions?|methods?|class(?:es)?|importers?|exporters?|modules?|scripts?|endpoints?|alias(?:es)?|plug-?ins?"
    r"|environment\s+variables?)\b", re.IGNORECASE,
)  # fmt: skip
"""`remove the projects command`: what it is stands behind its name."""


def _removes_code(clause: str) -> bool:
    """`remove the deprecated function old_sum`, not `remove the limit`."""
    if re.search(r"\b(?:dead|unused|obsolete|deprecated|legacy)\b", clause, re.I) or _THE_SO_CALLED.search(clause):
        return True
    return any(codelike(match["old"], match["what"]) for match in DELETE.finditer(clause))
