"""The grammar of `allow:`: an entry as a plan writes it, read strictly into grants; those of older plans too. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from engine.core.grants import RULES, Grant, GrantError, GrantKind

FORMS = (
    "rename OLD to NEW",
    "move OLD to NEW",
    "delete NAME",
    "delete tests WHICH",
    "edit tests WHICH",
    "skip tests WHICH",
    "rename test OLD to NEW",
    "change behaviour [of NAME]",
    "edit FILE",
    "configure TOOL",
    "suppress CODE in FILE",
    "change dependencies",
    "accept RULE in PLACE",
)
"""Every form, as errors and docs show them."""
GROUPS: dict[str, tuple[GrantKind, ...]] = {
    "delete-tests": (GrantKind.DELETE_TESTS,),
    "skip-tests": (GrantKind.SKIP_TESTS,),
    "change-tests": (GrantKind.EDIT_TESTS,),
    "change-config": (GrantKind.CONFIGURE,),
    "suppress": (GrantKind.SUPPRESS,),
}
"""Words of older plans; with `:GLOB` for one place."""
_NAME = re.compile(r"(?:--?(?=\w))?[\w$@.][\w$@./:\\#<>*-]*(?:\(\))?")
_CODE = re.compile(r"[A-Za-z@][\w./@-]*")
_OPENING = {"(": ")", "[": "]", "{": "}"}


def split_entries(words: str) -> list[str]:
    """Entries between commas; not inside brackets (a test's parameters) or backticks."""
    parts, closing, quoted, current = [], [""], False, ""
    for letter in words:
        if letter == "`":
            quoted = not quoted
        if not quoted and letter in _OPENING:
            closing.append(_OPENING[letter])
        elif not quoted and letter == closing[-1]:
            closing.pop()
        if letter == "," and not quoted and len(closing) == 1:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [part for raw in (*parts, current) if (part := _tidy(raw))]


def entries_of(words: str) -> list[str]:
    """The entries of one line of `allow:`; older plans wrote theirs with blanks between."""
    found: list[str] = []
    for piece in split_entries(words):
        if any(letter.isspace() for letter in piece) and not _readable(piece):
            words_of = piece.split()
            if all(_readable(word) for word in words_of):
                found += words_of
                continue
        found.append(piece)
    return found


def parse_entry(entry: str) -> tuple[Grant, ...]:
    """What an entry gives; GrantError where it is none."""
    text = " ".join(_tidy(entry).split())
    if not text:
        raise GrantError("an empty entry of allow:", _expected(), "allow: edit tests/data.json")
    for read in (_sentence, _older):
        found = read(text)
        if found:
            return found
    raise GrantError(f"allow: does not know “{text}”", _expected(), f"allow: {_nearest(text)}")


def grants_of(allow: Iterable[str]) -> tuple[Grant, ...]:
    """Every grant of a task; what an older journal holds and nobody understands gives nothing."""
    found: list[Grant] = []
    for entry in allow:
        try:
            found += parse_entry(entry)
        except GrantError:
            continue
    return tuple(dict.fromkeys(found))


def check_entry(entry: str) -> str:
    """The entry as it is kept in a plan; GrantError where it is none."""
    parse_entry(entry)
    return " ".join(_tidy(entry).split())


def _readable(entry: str) -> bool:
    try:
        parse_entry(entry)
    except GrantError:
        return False
    return True


def _sentence(text: str) -> tuple[Grant, ...]:
    head, _, rest = text.partition(" ")
    first, rest = head.lower(), rest.strip()
    match first:
        case "rename" | "move":
            return _from_to(first, rest, text)
        case "delete" | "remove":
            if _plural(rest):
                return (Grant(kind=GrantKind.DELETE_TESTS, target=_which(rest, text), entry=text),)
            return (Grant(kind=GrantKind.DELETE, target=_named(rest, text), entry=text),) if rest else ()
        case "edit":
            if _plural(rest):
                return (Grant(kind=GrantKind.EDIT_TESTS, target=_which(rest, text), entry=text),)
            return (Grant(kind=GrantKind.EDIT, target=_file(rest, text), entry=text),) if rest else ()
        case "skip":
            if _plural(rest):
                return (Grant(kind=GrantKind.SKIP_TESTS, target=_which(rest, text), entry=text),)
        case "change":
            what, _, of = rest.partition(" ")
            if what.lower() in ("behaviour", "behavior"):
                named = of.strip().removeprefix("of ").strip()
                return (
                    Grant(kind=GrantKind.CHANGE_BEHAVIOUR, target=_named(named, text) if named else "", entry=text),
                )
            if rest.lower() == "dependencies":
                return (Grant(kind=GrantKind.DEPENDENCIES, entry=text),)
        case "configure":
            if rest and re.fullmatch(r"[A-Za-z][\w@/.-]*", rest):
                return (Grant(kind=GrantKind.CONFIGURE, target=rest.lower(), entry=text),)
        case "suppress" if rest:
            code, _, place = rest.partition(" in ")
            if not _CODE.fullmatch(bare(code)):
                raise GrantError(f"“{code}” is no code of a linter", "suppress CODE in FILE", "suppress F401 in a.py")
            where = _file(place, text) if place.strip() else ""
            return (Grant(kind=GrantKind.SUPPRESS, target=bare(code), to=where, entry=text),)
        case "accept" if rest:
            rule, _, place = rest.partition(" in ")
            if bare(rule) not in RULES:
                near = difflib.get_close_matches(bare(rule), sorted(RULES), 1, 0.5)
                raise GrantError(
                    f"accept: there is no rule “{rule}”",
                    "one of " + ", ".join(sorted(RULES)),
                    f"allow: accept {near[0] if near else 'suspicious-source'} in FILE",
                )
            return (Grant(kind=GrantKind.ACCEPT, target=bare(rule), to=bare(place), entry=text),)
    return ()


def _from_to(first: str, rest: str, text: str) -> tuple[Grant, ...]:
    kind = GrantKind.RENAME if first == "rename" else GrantKind.MOVE
    if first == "rename" and rest.lower().startswith("test "):
        kind, rest = GrantKind.RENAME_TEST, rest[5:].strip()
    old, arrow, new = _halves(rest)
    if not arrow:
        if not rest:
            return ()
        raise GrantError(f"“{text}” does not say to what", f"{first} OLD to NEW", f"allow: {first} {rest} to NEW")
    if kind is GrantKind.RENAME_TEST:
        return (Grant(kind=kind, target=bare(old), to=bare(new), entry=text),)
    return (Grant(kind=kind, target=_named(old, text), to=_named(new, text), entry=text),)


def _halves(rest: str) -> tuple[str, str, str]:
    for arrow in (" to ", " => ", " -> ", " → "):
        if arrow in rest:
            return rest.partition(arrow)
    return rest, "", ""


def _older(text: str) -> tuple[Grant, ...]:
    """`delete-tests`, `rule`, `rule:glob`, `rename:a=>b`, a test's id, a path."""
    if text.startswith("rename:"):
        old, arrow, new = text.removeprefix("rename:").partition("=>")
        return (
            (Grant(kind=GrantKind.RENAME_TEST, target=old.strip(), to=new.strip(), entry=text),)
            if arrow and old.strip() and new.strip()
            else ()
        )
    if any(letter.isspace() for letter in text.partition("[")[0]):
        return ()
    word, colon, place = text.partition(":")
    if text.lower() == "lower-coverage" or (word.lower() == "lower-coverage" and colon):
        return (Grant(kind=GrantKind.ACCEPT, target="coverage-lower", to=place, entry=text),)
    if word in GROUPS and not place.startswith(":"):
        return tuple(
            Grant(kind=kind, to=place, entry=text)
            if kind is GrantKind.SUPPRESS
            else Grant(kind=kind, target=place, entry=text)
            for kind in GROUPS[word]
        )
    if word in RULES and not place.startswith(":"):
        return (Grant(kind=GrantKind.ACCEPT, target=word, to=place, entry=text),)
    if "::" in text or "/" in text or "*" in text or re.fullmatch(r"[\w.-]+\.[A-Za-z]\w*", text):
        kinds = [GrantKind.DELETE_TESTS, GrantKind.EDIT_TESTS, GrantKind.SKIP_TESTS]
        found = [Grant(kind=kind, target=text, entry=text) for kind in kinds]
        if "::" not in text:
            found.append(Grant(kind=GrantKind.EDIT, target=_file(text, text), entry=text))
        return tuple(found)
    return ()


def _plural(rest: str) -> bool:
    return rest.lower() in ("tests", "test") or rest.lower().startswith(("tests ", "test "))


def _which(rest: str, text: str) -> str:
    """`tests in tests/a.py`, `test tests/a.py::test_x`; nothing behind it is every test."""
    target = bare(re.sub(r"^tests?\s*(?:(?:in|of|for|under)\s+)?", "", rest, flags=re.IGNORECASE))
    if " " in target.partition("[")[0].partition("::")[0]:
        raise GrantError(f"“{text}” names no test", "a test's id, a file or a glob", "edit tests tests/test_a.py")
    return target


def bare(words: str) -> str:
    """Without the backticks or quotes around it."""
    word = words.strip()
    while len(word) > 1 and word[0] == word[-1] and word[0] in "`\"'":
        word = word[1:-1].strip()
    return word


def _tidy(words: str) -> str:
    word = words.strip()
    return word[1:-1].strip() if len(word) > 1 and word[0] == word[-1] == "`" and "`" not in word[1:-1] else word


def _named(words: str, text: str) -> str:
    name = bare(words)
    if not _NAME.fullmatch(name):
        raise GrantError(
            f"“{name or text}” is not one name", "a name, a dotted name or a path, without blanks", "delete old_name"
        )
    return name.removesuffix("()")


def _file(words: str, text: str) -> str:
    """A path or glob in the repository that says something: `**` names no file."""
    path = bare(words).removeprefix("./")
    if not path or any(letter.isspace() for letter in path):
        raise GrantError(f"“{text}” names no file", "one path or glob relative to the repository", "edit tests/x.json")
    if path.startswith(("/", "~")) or ".." in path.split("/") or "\\" in path:
        raise GrantError(f"{path} leads out of the repository", "a path relative to its root", "edit tests/x.json")
    if (re.search(r"[*?\[\]{}]", path) and len(re.sub(r"[*?\[\]{}./]", "", path)) < 2) or path.strip("./") == "":
        raise GrantError(f"{path} names every file", "the file, or a glob with its folder", "edit tests/data/*.json")
    return path + "**" if path.endswith("/") else path


def _expected() -> str:
    return "one of: " + "; ".join(FORMS)


def _nearest(text: str) -> str:
    verb = text.split()[0].lower()
    by_verb = {form.split()[0]: form for form in reversed(FORMS)}
    near = difflib.get_close_matches(verb, [*by_verb, *GROUPS], 1, 0.6)
    return by_verb.get(near[0], near[0]) if near else FORMS[0]
