"""Neighbouring inputs for tests written in shell: a line of the test once more, with one word of it another. Pure.

Each copy runs in a shell of its own, traced, and tells the check sum of everything that it said: what a helper of the
tests got, compared and printed is in the trace. The other word is put back there: only what follows from it counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from engine.core.model import Struct
from engine.perform.checks.proof.near_values import neighbours_of

MOST_LINES, MOST_SLOTS, MOST_NEAR = 5, 4, 4
MARK = "ZZnear"
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "return",
     "exit", "set", "shift", "trap", "export", "local", "readonly", "unset", "source", ".", "eval", "exec", "break",
     "wait", "{", "}", "(", ")", "rm", "mkdir", "cd", "mktemp", "cp", "mv", "touch", "chmod", "echo", "printf")
)  # fmt: skip
_PIECE = re.compile(
    r"'(?P<single>[^'\n]*)'|\"(?P<double>[^\"$`\\\n]*)\"|(?P<mixed>\"[^\"\n]*\")|(?P<opens>\$?\()|(?P<joint>[;&|]+)|(?P<into>\d*[<>]+&?\s*[^\s;&|)]*)"
    r"|(?P<value>\$\{[^}\n]*\}|\$\w+|\$[@*#?!$-])|(?P<bare>[^\s\"'()$;&|<>`\\]+)|."
)
SIGNS = ",:+@"
_SHELL = re.compile(rb"#!\s*\S*/(?:env\s+)?(?:ba|da|k|z)?sh\b")


class Slot(Struct, frozen=True, kw_only=True):
    was: str
    start: int
    end: int


class Near(Struct, frozen=True, kw_only=True):
    """One copy of a line; `slot` -1: the line as it is."""

    line: int
    slot: int
    was: str = ""
    now: str = ""


def is_shell(path: str, source: bytes) -> bool:
    return path.endswith((".sh", ".bash", ".bats")) or _SHELL.match(source) is not None


def varied(source: bytes, lines: Sequence[int]) -> tuple[bytes, tuple[Near, ...]] | None:
    """The script with copies in place of its lines of these numbers; None where there is nothing to vary."""
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    made: list[Near] = []
    out: list[str] = []
    here: str | None = None
    chosen = 0
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        out.append(line)
        if here is not None:  # a text that is given to a command
            here = None if line.strip() == here else here
            continue
        if found := re.search(r"<<-?\s*['\"]?(\w+)", line):
            here = found[1]
            continue
        whole = not goes_on and _alone(line)
        goes_on = line.rstrip().endswith("\\")
        slots = list(slots_of(line))[:MOST_SLOTS] if number in lines and whole else []
        if not slots or chosen >= MOST_LINES:
            continue
        chosen += 1
        if not re.match(r"\s*\w+=", line):
            out.pop()  # on the base it may end the script
        out.append(_copy(line, len(made), "", ""))
        made.append(Near(line=number, slot=-1))
        for index, slot in enumerate(slots):
            for now in _near(slot.was, line):
                out.append(_copy(line[: slot.start] + now + line[slot.end :], len(made), now, slot.was))
                made.append(Near(line=number, slot=index, was=slot.was, now=now))
    return ("\n".join((*out, "")).encode(), tuple(made)) if len(made) > chosen else None


def _copy(line: str, number: int, now: str, was: str) -> str:
    wanted = re.sub(r"([][.*^$/'])", r"\\\1", now)
    instead = re.sub(r"[&/']", ".", was)
    back = f"sed 's/{wanted}/{instead}/g'" if now else "cat"
    run = f'{{ (set +eu; set -x; {line.strip()}\n); echo "code $?"; }} 2>&1 </dev/null | {back} | cksum'
    return f"ZZ_seen=$({run})\nprintf '\\n{MARK} %s %s\\n' {number} \"$ZZ_seen\""


def _alone(line: str) -> bool:
    """A command that is whole on its line, and does nothing but ask."""
    bare = line.strip()
    first = bare.split(None, 1)[0] if bare else ""
    if not bare or bare[0] in "#:)}" or first in _KEYWORDS or re.match(r"[\w-]+\s*\(\)", bare):
        return False
    if bare.endswith(("\\", "{", "&&", "||", "|", " do", " then", ";;", "(", "in")) or ";;" in bare:
        return False
    quotes = re.sub(r"\\.", "", bare)
    single = quotes.count("'") % 2 == 0 or '"' in quotes
    return quotes.count('"') % 2 == 0 and single and quotes.count("(") == quotes.count(")") and "`" not in bare


def slots_of(line: str) -> Iterator[Slot]:
    """Words of a line that go somewhere: no commands, options, variables, paths and names of files."""
    command = True
    for match in _PIECE.finditer(re.sub(r"\"(\$\([^()\"\n]*\))\"", r" \1 ", line)):
        kind = match.lastgroup or ""
        if kind in ("opens", "joint"):
            command = True
        elif kind == "mixed" or (kind == "bare" and command):
            command = kind == "bare" and "=" in match[0]
        elif kind in ("single", "double", "bare"):
            if kind != "bare" and command:
                command = False
                continue
            word = match[kind]
            if word.startswith("#") and kind == "bare":
                return
            if _varies(word, quoted=kind != "bare"):
                yield Slot(was=word, start=match.start(kind), end=match.end(kind))


def _varies(word: str, *, quoted: bool) -> bool:
    if not word.strip() or len(word) > 60 or word.lstrip("-") in ("0", "1", "2") or (word[0] == "-" and not quoted):
        return False
    if "/" in word or re.search(r"\.[a-z]{1,4}$", word) or "=" in word or word in ("[", "]", "[[", "]]", "!", "{", "}"):
        return False
    return (
        re.fullmatch(r"[\w\s:.,+@%#()*'?!;&|<>-]*", word) is not None
        if quoted
        else re.fullmatch(r"[\w:.,+@%-]+", word) is not None
    )


def _near(word: str, line: str) -> list[str]:
    if re.fullmatch(r"[A-Za-z]", word):  # those of the other words: there it may matter
        letters = dict.fromkeys(
            sign for one in slots_of(line) if len(one.was) > 1 for sign in one.was if sign.isalpha()
        )
        cased = dict.fromkeys(sign.upper() if word.isupper() else sign.lower() for sign in letters)
        return [*(sign for sign in cased if sign.lower() != word.lower()), *("qwx" if word.islower() else "QWX")][:4]
    if re.fullmatch(r"[^\w\s]", word):
        return [sign for sign in SIGNS if sign != word][:3]
    value: object = int(word) if re.fullmatch(r"[1-9]\d{0,8}", word) else word
    return [str(ast.literal_eval(now)) for _, now, _ in neighbours_of(ast.Constant(value=value))][:MOST_NEAR]  # type: ignore[arg-type]


def told(output: str) -> dict[int, str]:
    """What each copy said, by its number; the first time."""
    found: dict[int, str] = {}
    for number, seen in re.findall(rf"^{MARK} (\d+) (.+)$", output, re.MULTILINE):
        found.setdefault(int(number), seen.strip())
    return found


class Doubt(Struct, frozen=True, kw_only=True):
    """A line of the test, and the words of it beside which nothing is otherwise than it was."""

    line: int
    words: tuple[str, ...]
    others: int
    """How many copies were tried."""


def doubts(made: Sequence[Near], base: Mapping[int, str], change: Mapping[int, str]) -> Iterator[Doubt]:
    for number in dict.fromkeys(one.line for one in made):
        mine = [(at, one) for at, one in enumerate(made) if one.line == number and at in base and at in change]
        zero = next((at for at, one in mine if one.slot < 0), None)
        if zero is None or base[zero] == change[zero]:
            continue
        silent: dict[str, int] = {}
        for slot in dict.fromkeys(one.slot for _, one in mine if one.slot >= 0):
            near = [(at, one) for at, one in mine if one.slot == slot]
            if all(base[at] == base[zero] and change[at] == change[zero] for at, _ in near):
                continue  # nobody asks about this one: it is what the test wants to hear
            if len(near) >= 3 and all(base[at] == change[at] for at, _ in near):
                silent[near[0][1].was] = len(near)
        if silent:
            yield Doubt(line=number, words=tuple(silent), others=sum(silent.values()))
