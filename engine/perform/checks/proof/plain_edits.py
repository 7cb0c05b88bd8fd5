"""Edits of test programs that only a command runs (C, shell, Perl …): told apart by text, where no runner names a test.

An edit takes nothing away when it only inserts lines, each insertion is whole in itself, and nothing inserted can
keep what stood there from running or from judging. Everything else is put to a human. Pure.
"""

from __future__ import annotations

import difflib
import re

from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.source_text import masked, tokens

LANGUAGES = frozenset({"c", "shell", "other"})
ENDINGS = (".bats", ".t")

_WORD = re.compile(r"[A-Za-z_]\w*|\|\||&&|<<|\S")
_LEAVING = frozenset({"return", "break", "continue", "goto", "next", "last", "redo", "shift"})
"""Leaves what it stands in: allowed in a function that is new, not inside one that was there."""
_ENDING = frozenset(
    """
    exit _exit _Exit quick_exit abort longjmp siglongjmp raise kill signal sigaction alarm fork vfork atexit on_exit
    constructor __attribute__ asm __asm__ define undef ifdef ifndef pragma trap set exec source eval alias shopt unset
    export enable PATH die BEGIN END __END__ __DATA__ skip SKIP todo TODO plan <<
    """.split()  # noqa: SIM905 (forty lines otherwise)
)
"""Ends the program, changes what words mean, or hides a failure, wherever it stands."""
_RED_END = re.compile(r"\bexit\s+[1-9]\d*(?=\s|;|\)|$)")
"""Ends a script and makes it red: that can hide nothing. What an insertion passes over (`||`) is its own."""
_SAID = re.compile(r"\"(?:[^\"\\`$\n]|\$(?!\())*\"|'[^'\n]*'")
"""Texts of a script in which nothing is run."""
_EXPORTED = re.compile(r"\bexport\s+(?!LD_|BASH|ENV\b|IFS\b|PYTHON|NODE_|PERL|RUBY)(?=[A-Za-z_]\w*=)")
"""Gives the program a variable. Those of a shell or an interpreter say what runs at all."""
_PATTERN = re.compile(r"^\s*[^\s()]+(?:\s*\|\s*[^\s()]+)*\)(?=\s)", re.MULTILINE)
"""Of a `case`: its bracket closes none."""
_BEFORE_COMMAND = frozenset(
    ("", "\n", ";", "|", "||", "&", "&&", "(", "{", "!", "then", "do", "else", "elif", "if", "while", "until", "time",
     "command", "builtin")
)  # fmt: skip
_SOURCED = re.compile(r"\s+(?:source|\.)\s+\S+\s*$")
"""A test that takes functions from a file, as a test of the base does."""
_OPEN = re.compile(r"(?:\b(?:then|do|else|in)|[{(\[,\\|&!=]|&&|\|\|)\s*$")
_FUNCTION = re.compile(
    r"^(?:function\s+|sub\s+)?(?:[A-Za-z_][\w*]*[\s*]+)*(?P<name>[A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{", re.MULTILINE
)


def is_plain(path: str) -> bool:
    """Whether only a command runs a test written in this."""
    return language_of(path) in LANGUAGES or path.endswith(ENDINGS)


def adds_only(path: str, before: bytes, after: bytes) -> bool:
    """Whether an edit only adds, and everything that was there runs and judges as it did."""
    old, new = (masked(path, data.decode("utf-8", "replace")) for data in (before, after))
    if _comments_open(before, after):
        return False
    was, now = _lines(before), _lines(after)
    code = new.splitlines()
    known = set(_WORD.findall(old))
    sourced = {line.strip() for line in was if _SOURCED.match(line)}
    for tag, start, stop, begin, end in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if tag != "insert" and any(line.strip() for line in was[start:stop]):
            return False
        inserted = "\n".join(line for line in code[begin:end] if line.strip() not in sourced)
        if not _whole(path, inserted, inside=_depth("\n".join(code[:begin])) > 0, known=known):
            return False
        if begin and _OPEN.search(code[begin - 1]) and not code[begin - 1].rstrip().endswith("{"):
            return False  # it stands between a head and what belongs to it
    return True


def without_additions(path: str, before: bytes, after: bytes) -> bytes | None:
    """The program after the change without the lines that it only adds; None where they may do more than that."""
    new = masked(path, after.decode("utf-8", "replace"))
    if _comments_open(before, after):
        return None
    was, now, code = _lines(before), _lines(after), new.splitlines()
    known, left = set(_WORD.findall(masked(path, before.decode("utf-8", "replace")))), []
    for tag, start, stop, begin, end in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        more = begin + stop - start
        if more > end or (tag != "equal" and more < end and _depth("\n".join(code[:more])) > 0):
            return None
        if tag != "equal" and not _whole(path, "\n".join(code[more:end]), inside=False, known=known):
            return None
        left += now[begin:more]
    return "\n".join([*left, ""]).encode("utf-8", "surrogateescape")


def same_but_for_texts(path: str, before: bytes, after: bytes) -> bool:
    """Whether only what is compared and given is another: every command, and all that steers, is as it was."""
    old, new = (tokens(path, data.decode("utf-8", "replace")) for data in (before, after))
    texts = [(was, now) for was, now in zip(old, new, strict=False) if was != now]
    quoted = all(_plain_text(was) and _plain_text(now) for was, now in texts)
    return len(old) == len(new) and bool(texts) and quoted


def _plain_text(token: str) -> bool:
    return token[:1].isdigit() or (token[:1] in "\"'" and not re.search(r"[$`]", token))


def _lines(data: bytes) -> list[str]:
    return [line.rstrip() for line in data.decode("utf-8", "replace").splitlines()]


def _comments_open(before: bytes, after: bytes) -> bool:
    """More comments are begun than ended, or otherwise than before: something may be hidden in one."""
    return after.count(b"/*") != after.count(b"*/") and before.count(b"/*") == before.count(b"*/")


def _whole(path: str, text: str, *, inside: bool, known: set[str]) -> bool:
    if language_of(path) == "shell":
        text = _RED_END.sub(" red ", _PATTERN.sub(" ", _SAID.sub('""', _EXPORTED.sub("", text))))
    words = _WORD.findall(text)
    if not words:
        return True
    if words[0] in ("||", "&&", "|") or _passes_over(words, known):
        return False  # it belongs to what stands before it, or hides what it belongs to
    said = _commands(text) if language_of(path) == "shell" else set(words)
    if _ENDING & said or (inside and _LEAVING & said):
        return False
    if any(line.lstrip().startswith("#") and not re.match(r"\s*#\s*include\b", line) for line in text.splitlines()):
        return False
    if _depth(text) != 0 or _lowest(text) < 0 or words[0] in ("else", "elif", "case", "default", "esac", "fi", "done"):
        return False
    if language_of(path) == "c" and words[-1] not in (";", "}") and not _directives(text):
        return False
    if language_of(path) == "shell" and (_OPEN.search(text) or not _blocks_close(words)):
        return False
    return not any(match["name"] in known for match in _FUNCTION.finditer(text))


def _commands(text: str) -> set[str]:
    """Words of a script that are run, or assigned to: `rig env set` sets nothing. A text that is given counts too."""
    found, last = set(), ""
    for match in re.finditer(rf"\n|{_WORD.pattern}", text):
        if last in _BEFORE_COMMAND or match[0] == "<<":
            found.add(match[0])
        last = match[0]
    return found


def _passes_over(words: list[str], known: set[str]) -> bool:
    """An "or" with anything behind it but a red end, a kept exit code, or what the file has for that."""
    behind = [(words[at + 1 : at + 2], words[at + 2 : at + 3]) for at, word in enumerate(words) if word == "||"]
    return any(
        word not in (["red"], ["{"])
        and then != ["="]
        and not (word and word[0] in known and word[0] not in ("true", ":"))
        for word, then in behind
    )


def _directives(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def _blocks_close(words: list[str]) -> bool:
    return all(
        words.count(opening) == words.count(closing)
        for opening, closing in (("if", "fi"), ("case", "esac"), ("do", "done"))
    )


def _depth(text: str) -> int:
    return sum((char in "{([") - (char in "})]") for char in text)


def _lowest(text: str) -> int:
    depth = lowest = 0
    for char in text:
        depth += (char in "{([") - (char in "})]")
        lowest = min(lowest, depth)
    return lowest
