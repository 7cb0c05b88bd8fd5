"""The entries of `allow:` that a sentence of a task amounts to: renames, moves, deletions, files, settings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.plans.word_patterns import (
    A_GOLDEN,
    BEHAVIOUR,
    BUMP,
    CHANGES_ALONG,
    CODES,
    CONFIG_WORD,
    DATA,
    DELETE,
    DEPENDENCIES,
    EDIT_VERB,
    GOLDEN,
    KIND,
    MOVE,
    NAME,
    NAMED_FILES,
    NOT,
    ORDINARY,
    PATH,
    PLAIN,
    RENAME,
    SILENCE,
    SNAPSHOT,
    SOURCE,
    TEST_FILE,
    TEST_NAME,
    TESTS_FOLLOW,
    TOOLS,
    UNSTEADY_TEST,
)


def continues(clause: str) -> bool:
    """A name or a place after `and`, not a thing to do."""
    return len(clause.split()) <= 3 and not re.match(
        r"(?:add|make|let|use|show|print|send|write|build)\b", clause, re.I
    )


def entries(sentence: str) -> Iterator[str]:
    renamed = list(renames(sentence))
    yield from renamed
    moved = list(moves(sentence)) if not renamed else []
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


def renames(sentence: str) -> Iterator[str]:
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


def moves(sentence: str) -> Iterator[str]:
    for pattern in MOVE:
        for match in pattern.finditer(sentence):
            old, new = _bare(match["old"]), _bare(match["new"])
            place = _bare(match["place"]) if "place" in pattern.groupindex else ""
            if _negated(sentence, match.start()) or not (_one(old) and _one(new)):
                continue
            if not (codelike(match["old"], match["what"]) or place) or not codelike(match["new"], match["where"]):
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


_NEEDED_NOWHERE = re.compile(
    rf"(?P<what>{KIND})(?P<old>{NAME})\s+(?:is|are)\s+(?:used\s+nowhere|never\s+used|not\s+used(?:\s+any\w*(?:\s+more)?)?|unused|dead(?:\s+code)?"
    r"|needed\s+nowhere|obsolete)\s*[,;:.–—-]*\s*(?:so\s+)?(?:please\s+)?(?:remove|delete|drop)\s+(?:it|them)\b",
    re.IGNORECASE,
)


def _deletes(sentence: str) -> Iterator[str]:
    sentence = re.sub(r"(?<=\w)\s+\([^()\n]*\)", "", sentence)  # a remark between
    for match in _NEEDED_NOWHERE.finditer(sentence):
        if _one(name := _bare(match["old"])) and codelike(match["old"], match["what"]):
            yield f"delete {name}"
    for match in DELETE.finditer(sentence):
        if _negated(sentence, match.start()):
            continue
        words = [match["old"], *re.findall(rf"(?:,|and|&)\s*{KIND}({NAME})", match["more"] or "")]
        for word in words:
            name = _bare(word)
            if not _one(name) or not codelike(word, match["what"]):
                continue
            if TEST_NAME.match(name) or TEST_FILE.search(name):
                yield f"delete tests {name}"
            elif is_data(name):
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
        elif is_data(path):
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
        about = about or re.match(
            rf"{re.escape(tool)}:\s|(?:make|have|let)\s+{re.escape(tool)}\s+\w", sentence, re.IGNORECASE
        )
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


def is_data(path: str) -> bool:
    """A file of data, settings or build by its name. Documents of words need no permission until a check reads them."""
    name = path.rpartition("/")[2]
    if re.fullmatch(NAMED_FILES, name):
        return True
    dot, ending = name.rpartition(".")[1:]
    if ending in SOURCE:
        return False
    if re.search(r"(?:^|[._-])(?:golden|expected|approved|snapshot)[._-]", name):
        return True
    lies_somewhere = "/" in path and (ending == "txt" or ending not in PLAIN)
    return bool(dot) and (ending in DATA or lies_somewhere)


def _bare(word: str) -> str:
    return word.strip().strip("`\"'").rstrip(".,:;").removesuffix("()")


def _one(name: str) -> bool:
    return bool(name) and not any(letter.isspace() for letter in name) and re.match(r"-?[\d.,:]+$", name) is None


def codelike(word: str, before: str) -> bool:
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
