"""Tests of other languages as blocks of text: name, place, what they assert. Cruder than a syntax tree."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.core.model import Struct
from engine.perform.checks.proof.integrity_text import ASSERTIONS, SKIPS
from engine.perform.checks.proof.python_names import PLACEHOLDER, Rename
from engine.perform.checks.proof.source_text import JAVASCRIPT, closing, masked, shape, tokens

REST = "(file)"
"""The name of what stands outside of every test: imports, helpers, set-up."""

_JS_TEST = re.compile(r"(?<![\w$.])(?:(?:[xf]?(?:it|describe|test|suite|context))|t)(?P<how>(?:\.\w+)*)\s*\(")
_GO_FUNC = re.compile(r"^func\s+(?:\([^)]*\)\s*)?(?P<name>\w+)\s*\(", re.MULTILINE)
_RUST_FN = re.compile(r"(?P<mark>(?:#\[[^\]]*\]\s*)*)(?:pub\s+|async\s+)*fn\s+(?P<name>\w+)")
_JAVA_METHOD = re.compile(
    r"(?P<mark>(?:@\w+(?:\([^)]*\))?\s*)+)(?:(?:public|private|protected|static|final|suspend|open|fun|void|[\w<>\[\]]+)\s+)*"
    r"(?P<name>`[^`]+`|\w+)\s*\("
)
_SHELL_TEST = re.compile(r"^(?:function[ \t]+)?(?P<name>test\w*)[ \t]*\([ \t]*\)\s*\{", re.MULTILINE)
_SHELL = re.compile(r"^\s*(?:test|\[|\[\[|assert\w*|diff|cmp|grep)\b", re.MULTILINE)


class Block(Struct, frozen=True, kw_only=True):
    """One test, or what stands around the tests of a file."""

    name: str
    line: int
    test: bool
    text: str
    body: tuple[str, ...]
    """Its tokens without comments and layout, and without its own name."""
    assertions: int
    skips: int


@lru_cache(maxsize=256)
def blocks_of(path: str, data: bytes) -> tuple[Block, ...]:
    """The tests of a file in order, and the rest of it as one block."""
    text = data.decode("utf-8", "replace")
    mask = masked(path, text)
    if path.endswith(JAVASCRIPT):
        spans = _javascript(text, mask)
    elif path.endswith(".go"):
        spans = [
            (m["name"], m.start(), closing(mask, _body(mask, m.end() - 1)))
            for m in _GO_FUNC.finditer(mask)
            if m["name"].startswith(("Test", "Example", "Benchmark", "Fuzz"))
        ]
    elif path.endswith(".rs"):
        spans = [
            (m["name"], m.start(), closing(mask, _body(mask, m.end())))
            for m in _RUST_FN.finditer(mask)
            if "test" in m["mark"]
        ]
    elif path.endswith((".java", ".kt", ".kts", ".groovy", ".scala")):
        spans = [
            (text[m.start("name") : m.end("name")], m.start(), closing(mask, _body(mask, m.end() - 1)))
            for m in _JAVA_METHOD.finditer(mask)
            if re.search(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|Property)\b", m["mark"])
        ]
    elif path.endswith((".sh", ".bash")):
        close = re.compile(r"^\}", re.MULTILINE)  # brackets within a script's texts are nobody's to count
        spans = [
            (m["name"], m.start(), last.end())
            for m in _SHELL_TEST.finditer(text)
            if (last := close.search(text, m.end()))
        ]
    else:
        spans = []
    rest = text
    found: list[Block] = []
    taken: dict[str, int] = {}
    for name, start, end in spans:
        taken[name] = taken.get(name, 0) + 1
        label = name if taken[name] == 1 else f"{name} ({taken[name]})"
        found.append(_block(path, label, text[start:end], text.count("\n", 0, start) + 1, test=True))
        rest = rest[:start] + re.sub(r"[^\n]", " ", rest[start:end]) + rest[end:]
    found.append(_block(path, REST, rest, 1, test=False))
    return tuple(found)


def _body(mask: str, at: int) -> int:
    """The opening brace of the body behind a head whose parameters begin at or after `at`."""
    if at < len(mask) and mask[at] == "(":
        at = closing(mask, at)
    brace = mask.find("{", at)
    return brace if brace >= 0 else len(mask)


def _javascript(text: str, mask: str) -> list[tuple[str, int, int]]:
    """Innermost calls of test, it and t.test, named by the groups around them."""
    calls: list[tuple[str, int, int, bool]] = []
    for match in _JS_TEST.finditer(mask):
        word = mask[match.start() : match.end()].rstrip("( \t\n")
        if word == "t" or (word.startswith("t.") and not re.fullmatch(r"t\.(test|skip|todo|describe|it)", word)):
            continue
        end = closing(mask, match.end() - 1)
        first = re.match(r"\s*([\"'`])", mask[match.end() : end])
        if first is None:
            if ".each" in match["how"] and mask[end : end + 1] == "(":
                stop = closing(mask, end)
                first = re.match(r"\s*([\"'`])", mask[end + 1 : stop])
                if first is not None:
                    begin = end + 1 + first.end() - 1
                    calls.append((_quoted(text, mask, begin), match.start(), stop, _groups(word)))
            continue
        begin = match.end() + first.end() - 1
        calls.append((_quoted(text, mask, begin), match.start(), end, _groups(word)))
    found = []
    for name, start, end, group in calls:
        around = [c for c in calls if c[1] < start and end <= c[2]]
        if group or any(not c[3] for c in around):
            continue  # a subtest belongs to its test
        end += mask.startswith(";", end)
        found.append((" > ".join([*(c[0] for c in around), name]), start, end))
    return found


def _groups(word: str) -> bool:
    return bool(re.match(r"[xf]?(?:describe|suite|context)\b|t\.describe", word))


def _quoted(text: str, mask: str, at: int) -> str:
    quote = mask[at]
    end = mask.find(quote, at + 1)
    return text[at + 1 : end if end > 0 else at + 80]


def _block(path: str, name: str, text: str, line: int, test: bool) -> Block:
    def count(table: dict[tuple[str, ...], re.Pattern[str]]) -> int:
        mask = masked(path, text)
        return sum(len(pattern.findall(mask)) for suffixes, pattern in table.items() if path.endswith(suffixes))

    known = any(path.endswith(suffixes) for suffixes in ASSERTIONS)
    return Block(
        name=name,
        line=line,
        test=test,
        text=text,
        body=_words(path, name, text, test),
        assertions=count(ASSERTIONS) if known else len(_SHELL.findall(text)),
        skips=count(SKIPS),
    )


def _words(path: str, name: str, text: str, test: bool) -> tuple[str, ...]:
    """The tokens of a block; a test's name is left out, and what an example of Go prints is kept."""
    words = list(tokens(path, text))
    if test:
        own = name.rpartition(" > ")[2].partition(" (")[0]
        words = [word for index, word in enumerate(words) if index > 12 or word.strip("\"'`") != own]
        if path.endswith(".go") and (match := re.search(r"//\s*(?:Unordered )?[Oo]utput:.*", text, re.DOTALL)):
            words += match.group(0).split()
    return tuple(words)


def under_renames(words: tuple[str, ...], renames: tuple[Rename, ...]) -> tuple[str, ...]:
    """The tokens with both ends of a rename as one: a word, or a string that names the moved file."""
    if not renames:
        return words
    ends = {end for one in renames for end in (one.old_last, one.new_last, one.old, one.new)}
    stems = {path.rpartition("/")[2].partition(".")[0] for one in renames for path in (one.old, one.new) if "/" in path}
    whole = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, sorted(ends, key=len, reverse=True)))})(?![\w$])")

    def one(word: str) -> str:
        quoted = word[:1] in "\"'`"
        if word in ends or (quoted and (word[1:-1] in ends or _names(word, stems))):
            return PLACEHOLDER
        return whole.sub(PLACEHOLDER, word) if quoted else word  # what a test says of it when it fails

    return tuple(map(one, words))


def _names(text: str, stems: set[str]) -> bool:
    return "/" in text and text[1:-1].rpartition("/")[2].partition(".")[0] in stems


_BRINGS = re.compile(
    r"^[ \t]*(?:import\s*(?:type\s+)?\{(?P<names>[^}]*)\}\s*from|"
    r"(?:const|let|var)\s*\{(?P<own>[^}]*)\}\s*=\s*require\()"
    r"\s*(?P<quote>[\"'])(?P<place>[^\"'\n]+)(?P=quote)\s*\)?;?[ \t]*$",
    re.MULTILINE,
)


def fewer_imports(path: str, old: str, new: str) -> bool:
    """The same but for names that are not imported any more: a test that needs one would fail without it."""
    if not path.endswith(JAVASCRIPT):
        return False
    had, has = _brought(old), _brought(new)
    if had == has or not all(names <= had.get(place, frozenset()) for place, names in has.items()):
        return False
    return tokens(path, _BRINGS.sub("", old)) == tokens(path, _BRINGS.sub("", new))


def _brought(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for match in _BRINGS.finditer(text):
        names = frozenset(one.strip() for one in (match["names"] or match["own"] or "").split(",") if one.strip())
        found[match["place"]] = found.get(match["place"], frozenset()) | names
    return found


def text_edit(old: Block, new: Block) -> str:
    """How a block differs, in the words of EditKind."""
    if new.skips > old.skips:
        return "skipped"
    if new.assertions < old.assertions:
        return "weaker"
    if shape(old.body) == shape(new.body):
        return "same shape"
    rest = iter(new.body)
    grown = all(token in rest for token in old.body) and "return" not in set(new.body) - set(old.body)
    return "stronger" if grown and new.assertions > old.assertions else "changed"
