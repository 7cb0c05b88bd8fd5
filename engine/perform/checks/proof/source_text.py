"""Source of other languages without a parser: strings and comments told from code, brackets matched. Pure."""

from __future__ import annotations

import re

JAVASCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
SLASHES = (*JAVASCRIPT, ".go", ".rs", ".java", ".kt", ".kts", ".c", ".h", ".cc", ".cpp", ".swift", ".scala", ".groovy")
HASHES = (".sh", ".bash", ".rb", ".mk", ".pl", ".t", ".bats", "Makefile", ".py", ".toml", ".yml", ".yaml")

_REGEX_BEFORE = frozenset("(,=:[!&|?{};+-*%<>~^")
TOKEN = re.compile(r"[A-Za-z_$][\w$]*|\d[\w.]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|\S", re.DOTALL)
_LITERAL = re.compile(r"\d|[\"'`]")


def masked(path: str, text: str) -> str:
    """The text at its length, with comments and the insides of strings as blanks."""
    out, at = [], 0
    for start, stop, comment in _spans(path, text):
        out.append(text[at:start])
        inner = (start, stop) if comment else (start + 1, stop - 1)
        out.append(text[start : inner[0]] + _blank(text[inner[0] : inner[1]]) + text[inner[1] : stop])
        at = stop
    return "".join(out) + text[at:]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def without_comments(path: str, text: str) -> str:
    out, at = [], 0
    for start, stop, comment in _spans(path, text):
        out.append(text[at:start] + (_blank(text[start:stop]) if comment else text[start:stop]))
        at = stop
    return "".join(out) + text[at:]


def _spans(path: str, text: str) -> list[tuple[int, int, bool]]:
    """Start and end of every string and comment, and whether it is a comment."""
    if path.endswith(HASHES):
        return [(m.start(1), m.end(), True) for m in re.finditer(r"(?m)(?:^|(?<=\s))(#.*)$", text)]
    if not path.endswith(SLASHES):
        return []
    found: list[tuple[int, int, bool]] = []
    at, last = 0, ""
    while at < len(text):
        here, stop = text[at], at + 1
        if here == "/" and text.startswith(("//", "/*"), at):
            stop = _find(text, "\n", at) if text[at + 1] == "/" else min(len(text), _find(text, "*/", at + 2) + 2)
            found.append((at, stop, True))
            at = stop
            continue
        if here in '"`' or (here == "'" and not _lifetime(path, text, at)):
            stop = _string_end(text, at, here, raw=here == "`" and path.endswith(".go"))
        elif here == "/" and path.endswith(JAVASCRIPT) and (last in _REGEX_BEFORE or not last):
            stop = _regex_end(text, at)
        if stop > at + 1:
            found.append((at, stop, False))
            last = "x"
        elif not here.isspace():
            last = here
        at = stop
    return found


def _find(text: str, what: str, at: int) -> int:
    found = text.find(what, at)
    return len(text) if found < 0 else found


def _lifetime(path: str, text: str, at: int) -> bool:
    return path.endswith(".rs") and not re.match(r"'(?:\\.[^']*|[^\\'])'", text[at:])


def _string_end(text: str, at: int, quote: str, raw: bool) -> int:
    index = at + 1
    while index < len(text):
        if text[index] == "\\" and not raw:
            index += 2
            continue
        if text[index] == quote:
            return index + 1
        if text[index] == "\n" and quote != "`":
            return at + 1
        index += 1
    return at + 1


def _regex_end(text: str, at: int) -> int:
    index, inside = at + 1, False
    while index < len(text) and text[index] != "\n":
        letter = text[index]
        if letter == "\\":
            index += 2
            continue
        if letter == "[":
            inside = True
        elif letter == "]":
            inside = False
        elif letter == "/" and not inside:
            return index + 1
        index += 1
    return at + 1


def closing(mask: str, at: int) -> int:
    """Just behind the bracket that closes the one at `at`; the end of the text where none does."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    depth: list[str] = []
    for index in range(at, len(mask)):
        letter = mask[index]
        if letter in pairs:
            depth.append(pairs[letter])
        elif depth and letter == depth[-1]:
            depth.pop()
            if not depth:
                return index + 1
    return len(mask)


def tokens(path: str, text: str) -> tuple[str, ...]:
    """Words, literals and signs; comments and layout are gone."""
    return tuple(TOKEN.findall(without_comments(path, text)))


def is_literal(token: str) -> bool:
    return bool(_LITERAL.match(token))


def shape(words: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens with every literal the same."""
    return tuple("0" if is_literal(word) else word for word in words)


def shell_by_its_first_line(source: bytes) -> str:
    """`shell` for a script without a suffix that names one."""
    return "shell" if re.match(rb"#!\s*\S*/(?:env\s+)?(?:ba|da|k|z)?sh\b", source) else ""
