"""Permissions and `proof: none` derived from the words of a task, for the user to see and to take or leave. Pure.

Words only ever give what they name: a file of data or a script by its path, a tool's settings by the tool. What they do
not give is asked later, with the entry that grants it; so a rule here is written to miss rather than to guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine.core.grant_grammar import check_entry
from engine.core.grants import GrantError
from engine.core.harmless import HarmlessKind, bound
from engine.core.model import Plan, Struct, TaskSpec
from engine.plans.leanings import shows_something
from engine.plans.word_patterns import (
    A_GOLDEN,
    ABOUT_CODE,
    ADDED,
    BEHAVIOUR,
    BUMP,
    CHANGES_ALONG,
    CODE,
    CODES,
    CONFIG_WORD,
    DATA,
    DELETE,
    DEPENDENCIES,
    EDIT_VERB,
    FREE,
    GOLDEN,
    KIND,
    MOVE,
    NAME,
    NAMED_FILES,
    NO_CHANGE,
    NOT,
    NOTHING,
    OF_DOCS,
    ONLY_THERE,
    ORDER,
    ORDER_ABOUT_CODE,
    ORDER_FOR_TESTS,
    ORDINARY,
    OWN_WORK,
    PATH,
    PLAIN,
    RENAME,
    SAYS_TODAY,
    SHALL_SAY,
    SILENCE,
    SNAPSHOT,
    SOMETHING,
    SOURCE,
    STRONG,
    TEST_FILE,
    TEST_NAME,
    TESTS_FOLLOW,
    TOOLS,
    UNSTEADY_TEST,
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
        for entry in _entries(sentence):
            if entry == "change behaviour" and new and re.match(rf"`?{re.escape(new['name'])}\b", sentence):
                continue  # what is new behaves as it is told; nothing old changes by that
            try:
                found.setdefault(check_entry(entry), sentence)
            except GrantError:
                continue
    if not new and (told := _told_otherwise(task)):
        found.setdefault("change behaviour", told)
    for place in task.scope:
        if not re.search(r"[*?{\[]", place) and _is_data(place):
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
    kinds: list[HarmlessKind] = []
    for clause in clauses:
        kind = next((kind for kind, pattern in NOTHING.items() if pattern.search(clause)), None)
        plain = _without_names(clause)
        shows = SOMETHING.search(plain)
        if shows and not OF_DOCS.search(plain):
            return ()
        if kind is HarmlessKind.REMOVAL and not _removes_code(clause):
            return ()
        if kind in FREE and kind not in kinds and not _told_to(clause, kind):
            return ()
        if kind is None and not shows and len(clauses) > 1 and not _continues(clause):
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
    if kind is HarmlessKind.MOVE and (next(_renames(clause), "") or next(_moves(clause), "")):
        return True
    if ORDER.match(clause):
        return True
    return bool(ORDER_ABOUT_CODE.match(clause)) and bool(ABOUT_CODE.search(clause))


def _without_names(clause: str) -> str:
    """The clause without names of code: `rename handle to process` handles nothing."""
    for pattern in (*RENAME, *MOVE, DELETE):
        clause = pattern.sub(lambda match: match.group(0).split()[0], clause)
    return re.sub(rf"{CODE}|\S+\(\)|\S*[_./]\w\S*", " ", clause)


def _removes_code(clause: str) -> bool:
    """`remove the deprecated function old_sum`, not `remove the limit`."""
    if re.search(r"\b(?:dead|unused|obsolete|deprecated|legacy)\b", clause, re.I):
        return True
    return any(_codelike(match["old"], match["what"]) for match in DELETE.finditer(clause))


def _continues(clause: str) -> bool:
    """A name or a place after `and`, not a thing to do."""
    return len(clause.split()) <= 3 and not re.match(
        r"(?:add|make|let|use|show|print|send|write|build)\b", clause, re.I
    )


def _entries(sentence: str) -> Iterator[str]:
    renamed = list(_renames(sentence))
    yield from renamed
    moved = list(_moves(sentence)) if not renamed else []
    yield from moved
    yield from _deletes(sentence)
    asked = None if renamed or moved else BEHAVIOUR.search(sentence)
    follow = TESTS_FOLLOW.search(sentence)
    if any(one is not None and not _negated(sentence, one.start()) for one in (asked, follow)):
        yield "change behaviour"
    yield from _files(sentence)
    if (unsteady := UNSTEADY_TEST.search(sentence)) is not None and not _negated(sentence, unsteady.start()):
        yield f"edit tests {unsteady['test'] or unsteady['after']}"
    yield from _settings(sentence)
    if SILENCE.search(sentence):
        paths = [path for path, _ in _paths(sentence)]
        for code in dict.fromkeys(CODES.findall(sentence)):
            yield f"suppress {code} in {paths[0]}" if paths else f"suppress {code}"
    named = DEPENDENCIES.search(sentence) and EDIT_VERB.search(sentence)
    named = named or re.search(r"\bdepend\s+on\b", sentence, re.I)
    if (named or BUMP.search(sentence)) and not _negated(sentence, len(sentence)):
        yield "change dependencies"
    if SNAPSHOT.search(sentence) and not _negated(sentence, 0):
        yield "edit **/__snapshots__/*"
        yield "edit **/*.snap"
    if (golden := GOLDEN.search(sentence)) is not None and not _negated(sentence, golden.start()):
        word = golden["what"].lower()
        yield f"edit **/{word}/**"
        yield f"edit **/*{word}*"
    for match in A_GOLDEN.finditer(sentence):
        path = match["before"] or match["behind"]
        if path.rpartition(".")[2] not in SOURCE and not _negated(sentence, match.start()):
            yield f"edit {path}"


def _renames(sentence: str) -> Iterator[str]:
    for pattern in RENAME:
        for match in pattern.finditer(sentence):
            old, new = _bare(match["old"]), _bare(match["new"])
            if old.lower() in ("it", "this", "them"):
                old = _bare(sentence.split()[0])
            if _negated(sentence, match.start()) or not (_one(old) and _one(new)):
                continue
            if old.lower() in ORDINARY or new.lower() in ORDINARY:
                continue
            if TEST_NAME.match(old):
                yield f"rename test {old} to {new}"
            else:
                yield f"rename {old} to {new}"


def _moves(sentence: str) -> Iterator[str]:
    for pattern in MOVE:
        for match in pattern.finditer(sentence):
            old, new = _bare(match["old"]), _bare(match["new"])
            place = _bare(match["place"]) if "place" in pattern.groupindex else ""
            if _negated(sentence, match.start()) or not (_one(old) and _one(new)):
                continue
            if not (_codelike(match["old"], match["what"]) or place) or not _codelike(match["new"], match["where"]):
                continue
            if place and _one(place):
                old = f"{_module(place)}.{old}"
            yield f"move {old} to {new if '/' in old or not place else _module(new)}"
            return


def _module(place: str) -> str:
    """`src/shop/cart.py` as a name goes before a dot."""
    if not place.endswith(".py"):
        return place
    return place.removesuffix(".py").removeprefix("src/").removeprefix("lib/").replace("/", ".")


def _deletes(sentence: str) -> Iterator[str]:
    for match in DELETE.finditer(sentence):
        if _negated(sentence, match.start()):
            continue
        words = [match["old"], *re.findall(rf"(?:,|and|&)\s*{KIND}({NAME})", match["more"] or "")]
        for word in words:
            name = _bare(word)
            if not _one(name) or not _codelike(word, match["what"]):
                continue
            if TEST_NAME.match(name) or TEST_FILE.search(name):
                yield f"delete tests {name}"
            elif _is_data(name):
                yield f"edit {name}"
            else:
                yield f"delete {name}"


def _files(sentence: str) -> Iterator[str]:
    """Files that the sentence says to change. A mention is none; a verb has to stand before it."""
    for path, start in _paths(sentence):
        verb = EDIT_VERB.search(sentence[:start])
        along = CHANGES_ALONG.search(sentence[start:])
        if (verb is None and along is None) or _negated(sentence, start):
            continue
        if TEST_FILE.search(path) and path.rpartition(".")[2] in SOURCE:
            if verb and re.match(r"(?:add|write|create|put|move|delete|remove|drop)$", verb.group(0), re.I) is None:
                yield f"edit tests {path}"
        elif _is_data(path):
            yield f"edit {path}"


def _settings(sentence: str) -> Iterator[str]:
    for tool in TOOLS:
        if re.search(rf"(?<![\w/-]){re.escape(tool)}(?![\w/-]|\.\w)", sentence, re.I) is None:
            continue
        about = CONFIG_WORD.search(sentence) and re.search(
            r"\b(?:add|enable|disable|turn|configure|set|make|change|update|raise|lower|extend|adopt|introduce|use|switch|register|select|"
            r"bump|activate|tighten|relax|move)\b", sentence, re.I,
        )  # fmt: skip
        fixing = re.search(r"\bfix\b|\bresolve\b|\baddress\b|\bpass(?:es)?\b", sentence, re.I)
        named = re.search(NAMED_FILES, sentence)
        if about and not fixing and not named and not _negated(sentence, len(sentence)):
            yield f"configure {tool}"


def _paths(sentence: str) -> list[tuple[str, int]]:
    found = []
    for match in PATH.finditer(sentence):
        path = match.group(1).rstrip(".,")
        if path.startswith(("http", "www.")) or re.fullmatch(r"[\d.v]+|e\.g|i\.e|etc\.?", path) or "//" in path:
            continue
        ending = path.rpartition(".")[2]
        if "/" in path or re.fullmatch(NAMED_FILES, path) or ending in (*SOURCE, *DATA, *PLAIN):
            found.append((path, match.start(1)))
    return found


def _is_data(path: str) -> bool:
    """A file of data, settings or build by its name. Documents of words need no permission until a check reads them."""
    name = path.rpartition("/")[2]
    if re.fullmatch(NAMED_FILES, name):
        return True
    dot, ending = name.rpartition(".")[1:]
    if ending in SOURCE:
        return False
    lies_somewhere = "/" in path and (ending == "txt" or ending not in PLAIN)
    return bool(dot) and (ending in DATA or lies_somewhere)


def _bare(word: str) -> str:
    return word.strip().strip("`\"'").rstrip(".,:;").removesuffix("()")


def _one(name: str) -> bool:
    return bool(name) and not any(letter.isspace() for letter in name) and re.match(r"-?[\d.,:]+$", name) is None


def _codelike(word: str, before: str) -> bool:
    """A name of code: quoted, with a sign of code in it, or a plain word behind `function`, `class` …"""
    name = _bare(word)
    if word.strip()[:1] in "`\"'" or word.strip().endswith("()"):
        return True
    if re.search(r"[_./:$]|[a-z][A-Z]|\d", name) or re.match(r"[A-Z][a-z]+[A-Z]", name):
        return True
    named = re.search(
        r"\b(?:function|method|class|module|variable|parameter|param|argument|attribute|constant|command|option|flag|package|helper|"
        r"fixture|endpoint|subcommand|struct|property|field|decorator|exception)s?\s*$", before.strip(), re.I,
    )  # fmt: skip
    return bool(named) and name.lower() not in ORDINARY


def _negated(sentence: str, before: int) -> bool:
    """A word that takes it back stands earlier in the sentence."""
    clause = re.split(r",|;|\bbut\b|\band\b", sentence[:before])[-1] if before else ""
    return NOT.search(clause) is not None
