"""Expected data that changed with the behaviour: is every new value one that the task itself states? Pure.

What somebody wrote into the plan as the wanted result is the plan's, not the agent's. A golden file (or the constants of
an old test) may follow it without a further permission; a value that nobody stated is asked about.
"""

# ruff: noqa: E501 (lists of words are read better in one piece)

from __future__ import annotations

import ast
import difflib
import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from engine.perform.checks.proof.integrity_python import Function

MOST = 100_000
"""Bytes; larger files are asked about."""
TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|[^\w\s]|_")
DIGIT_TOKEN = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")
LESS = re.compile(
    r"\b(?:drop\w*|remov\w+|no\s+longer|without|hid(?:e|es|den)|omit\w*|skip\w*|only|leave\s+out|delete\w*|not\s+(?:shown?|listed|printed))\b",
    re.I,
)
ORDER = re.compile(
    r"\b(?:order\w*|sort\w*|swap\w*|revers\w*|first|last|before|after|behind|columns?|align\w*|wrap\w*|group\w*)\b",
    re.I,
)
DIGITS = re.compile(r"\b(?:decimals?|digits?|round\w*|precision|places|format\w*|cents?)\b", re.IGNORECASE)
SIGNS = {
    ";": r"semicolons?", ",": r"commas?", ":": r"colons?", "|": r"pipes?|bars?", "-": r"dash(?:es)?|hyphens?|minus", "+": r"plus",
    "*": r"stars?|asterisks?|bullets?", "#": r"hash(?:es)?", "%": r"per\s?cent", "$": r"dollars?", "€": r"euros?", "'": r"quotes?|quoted",
    '"': r"quotes?|quoted", "(": r"parenthes[ie]s|brackets?", ")": r"parenthes[ie]s|brackets?", "[": r"brackets?", "]": r"brackets?", "=": r"equals?",
    ".": r"dots?|periods?|full\s+stops?|decimals?|points?", "/": r"slash(?:es)?", "_": r"underscores?", "!": r"exclamation\s+marks?", "?": r"question\s+marks?",
}  # fmt: skip


def stated(before: bytes | None, after: bytes | None, text: str) -> bool:
    """Whether everything that differs in a file of expected data is stated by the task."""
    if before is None or after is None or len(before) > MOST or len(after) > MOST:
        return False
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        return False
    had, has = _lines(old), _lines(new)
    if Counter(had) == Counter(has) or TOKEN.findall(old) == TOKEN.findall(new):
        return False  # another order or layout: which one is right, no word of the task tells
    words = _Told(text)
    matcher = difflib.SequenceMatcher(None, had, has, autojunk=False)
    for kind, start, stop, first, last in matcher.get_opcodes():
        gone, come = had[start:stop], has[first:last]
        if kind == "insert" and not _new_lines(come, words, had):
            return False
        if kind == "delete" and not all(words.less(line) for line in gone):
            return False
        if kind == "replace" and not _replaced(gone, come, words, had):
            return False
    return True


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def _new_lines(lines: Iterable[str], words: _Told, old: list[str]) -> bool:
    """Lines that came in beside the old ones: each says something that the task speaks of, and no number of its own."""
    return all(words.names(line) and words.counts(line, old) for line in lines)


def _replaced(gone: list[str], come: list[str], words: _Told, old: list[str]) -> bool:
    """Tokens that came in are stated, with numbers whole or by their digits; what was there may come again.

    Line by line: what one of them said is not stated of the next. Where the task speaks of an order, all together. A
    line that only looks otherwise says nothing that could be stated.
    """
    said = {tuple(TOKEN.findall(line)) for line in gone}
    if any(tuple(TOKEN.findall(line)) in said and line not in gone for line in come):
        return False
    if words.orders():
        return any(_tokens_stated(pattern, gone, come, words) for pattern in (TOKEN, DIGIT_TOKEN))
    left = list(gone)
    fresh = []
    for line in come:
        at = next((number for number, was in enumerate(left) if _says_as_much(was, line, words)), None)
        if at is None:
            fresh.append(line)
            continue
        if not all(words.less(was) for was in left[:at]):
            return False
        left = left[at + 1 :]
    return _new_lines(fresh, words, old) and all(words.less(was) for was in left)


def _says_as_much(was: str, now: str, words: _Told) -> bool:
    """The line with other tokens where the task states them: nothing is lost, what is kept comes in its order."""
    if not any(_tokens_stated(pattern, [was], [now], words) for pattern in (TOKEN, DIGIT_TOKEN)):
        return False
    had, has = ([token for token in TOKEN.findall(line) if token[0].isalnum()] for line in (was, now))
    kept = [token for token in has if token in had]
    rest = iter(had)
    ordered = all(token in rest for token in kept)
    return ordered and (len(has) >= len(had) or words.less(was) or words.less(" ".join(Counter(had) - Counter(has))))


def _tokens_stated(pattern: re.Pattern[str], gone: list[str], come: list[str], words: _Told) -> bool:
    old, new = (pattern.findall("\n".join(lines)) for lines in (gone, come))
    return all(words.states(token, old) for token in Counter(new) - Counter(old))


_SIGNED = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
WANTED: dict[str, Callable[[list[float]], float]] = {
    r"\b(?:totals?|sums?|add(?:ed)? up|altogether)\b": sum,
    r"\b(?:counts?|number of|how many)\b": len,
    r"\b(?:mean|average)\b": lambda column: sum(column) / len(column),
    r"\b(?:max\w*|highest|largest|most)\b": max,
    r"\b(?:min\w*|lowest|smallest|least)\b": min,
}
"""What a line of its own may be made of the others, by the words for it."""


class _Told:
    """The words of a task, as values."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = set(TOKEN.findall(text))
        self._folded = {token.casefold() for token in self._tokens}
        self._numbers = {_number(token) for token in self._tokens if token[0].isdigit()}

    def states(self, token: str, old: list[str]) -> bool:
        """The token stands in the text; or it is an old one in other letters or digits, and the text speaks of those."""
        if token[0].isdigit():
            same = _number(token) in {_number(each) for each in old if each[0].isdigit()}
            return _number(token) in self._numbers or (same and DIGITS.search(self._text) is not None)
        if token.isalpha():
            if token in self._tokens:
                return True
            return token.casefold() in {each.casefold() for each in old} and self._letters(token)
        return self._sign(token)

    def orders(self) -> bool:
        return ORDER.search(self._text) is not None

    def less(self, line: str) -> bool:
        """What the line says is not to be there any more."""
        return not line.strip() or (LESS.search(self._text) is not None and self.names(line))

    def counts(self, line: str, old: list[str]) -> bool:
        """Every number of the line stands in the text, or is what the text wants of the last numbers of the old lines.

        A value that nobody stated is for somebody to look at.
        """
        column = [float(found[-1]) for each in old if (found := _SIGNED.findall(each))]
        known = {name: wanted(column) for name, wanted in WANTED.items() if column}
        made = [value for name, value in known.items() if re.search(name, self._text, re.IGNORECASE)]
        return all(
            _number(token) in self._numbers or any(abs(abs(value) - float(token)) < 0.005 for value in made)
            for token in TOKEN.findall(line)
            if re.fullmatch(r"\d+(?:\.\d+)?", token)
        )

    def _letters(self, token: str) -> bool:
        """Capitals where the text wants capitals, small letters where it wants those."""
        large = re.search(r"\b(?:capital|upper)", self._text, re.IGNORECASE) is not None
        small = re.search(r"\b(?:lower|small\s+letters)", self._text, re.IGNORECASE) is not None
        return (large and token[0].isupper()) or (small and token.islower())

    def _sign(self, token: str) -> bool:
        """A sign counts where it is quoted, stands alone, or is called by its name: prose is full of dots."""
        alone = re.search(rf"(?:^|[\s`'\"(]){re.escape(token)}(?:[\s`'\")]|$)", self._text) is not None
        quoted = any(token in part for part in re.findall(r"`([^`\n]+)`|\"([^\"\n]+)\"", self._text) for part in part)
        named = SIGNS.get(token)
        return alone or quoted or (named is not None and re.search(rf"\b(?:{named})\b", self._text, re.I) is not None)

    def names(self, line: str) -> bool:
        """A line that says something of what the text speaks of, or nothing at all."""
        tokens = [token for token in TOKEN.findall(line) if token[0].isalnum()]
        words = [token for token in tokens if token.isalpha() and len(token) > 2]
        if not tokens:
            return True
        return any(word.casefold() in self._folded for word in words) or all(
            token[0].isdigit() and _number(token) in self._numbers for token in tokens
        )


def _number(token: str) -> str:
    """`12.50` and `12.5` are one number; `1.2.3` is none."""
    try:
        return repr(float(token))
    except ValueError:
        return token


FRAMEWORK = frozenset(
    """
    pytest raises match self assertEqual assertRaises assertRaisesRegex assertTrue assertFalse assertIn assertIs assertIsNone str repr value info
    excinfo exc err error capsys readouterr out approx warns deprecated_call len list sorted set dict tuple int args code
    assert equal strictEqual deepEqual throws deepStrictEqual ok match t Errorf Fatalf Error Fatal nil
    """.split()  # noqa: SIM905
)
"""Words in which every test is written: they say nothing of what it wants."""


def without_further_rows(before: Sequence[ast.AST], tree: ast.AST) -> ast.AST:
    """An edited test without assertions beside those that stand where the old ones stood: they may say anything."""
    old = next((one for one in before if isinstance(one, Function)), None)
    if old is None or not isinstance(tree, Function):
        return tree
    was, now = ([ast.dump(node) for node in body] for body in (old.body, tree.body))
    kept: list[ast.stmt] = []
    for tag, start, stop, begin, end in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        part = tree.body[begin:end]
        further = part[stop - start :] if tag in ("replace", "insert") else []
        kept += [node for node in part if node not in further or not isinstance(node, ast.Assert)]
    return type(tree)(**{**{name: getattr(tree, name) for name in tree._fields}, "body": kept or tree.body})


def stated_test(before: Sequence[ast.AST], new: Iterable[ast.AST], text: str) -> bool:
    """Whether everything that an edited test says and the old one did not is stated by the task: values and names."""
    old, trees = list(before), [without_further_rows(before, tree) for tree in new]
    own = {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    fresh = Counter(_said(trees)) - Counter(_said(old))
    words = _Told(text)
    asked = [value for value in fresh if value not in own and value not in FRAMEWORK]
    if not asked:  # nothing is said anew, at most a loop or a variable stands around it
        return _in_another_order(old, trees, text)
    return all(_states(words, text, value) for value in asked)


def _in_another_order(old: Iterable[ast.AST], new: Iterable[ast.AST], text: str) -> bool:
    """The same values, put together otherwise, as the task writes them: `["bolt", "nut"]`."""

    def held(trees: Iterable[ast.AST]) -> set[str]:
        kinds = (ast.List, ast.Tuple, ast.Set, ast.Dict)
        return {_plain(ast.unparse(n)) for tree in trees for n in ast.walk(tree) if isinstance(n, kinds)}

    fresh = held(new) - held(old)
    return bool(fresh) and all(one in _plain(text) for one in fresh)


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def _said(nodes: Iterable[ast.AST]) -> list[object]:
    """Constants and names; a name is kept as a name's own type, so that `"x"` and `x` differ."""
    found: list[object] = []
    for node in nodes:
        for n in ast.walk(node):
            if isinstance(n, ast.Constant) and isinstance(n.value, str | int | float | bytes):
                found.append(_Text(n.value) if isinstance(n.value, str) else n.value)
            elif isinstance(n, ast.Constant) and n.value is None:
                found.append("None")
            elif isinstance(n, ast.Name):
                found.append(n.id)
            elif isinstance(n, ast.Attribute):
                found.append(n.attr)
            elif isinstance(n, ast.keyword | ast.arg) and n.arg:
                found.append(n.arg)
    return found


class _Text(str):
    """A text constant of a test."""

    __slots__ = ()


def stated_words(old: Iterable[str], new: Iterable[str], text: str) -> bool:
    """The same for another language, token by token. Further rows beside what was replaced may hold any values."""
    was, now = list(old), list(new)
    own = frozenset(name for word, name in itertools.pairwise(now) if word in _DECLARING) - frozenset(was)
    return (
        texts_grow(was, now, text)
        or _all_stated(Counter(now) - Counter(was), text, own)
        or _all_stated(_in_place(was, now), text, own)
    )


_DECLARING = frozenset({"const", "let", "var"})


def _all_stated(fresh: Iterable[str], text: str, own: frozenset[str]) -> bool:
    """`own`: names that the test gives to values; what they hold is told by the values."""
    words = _Told(text)
    known = FRAMEWORK | _DECLARING | own
    said = [token for token in fresh if (token[0].isalnum() or token[0] in "\"'`_") and token not in known]
    return bool(said) and all(
        _states(words, text, _Text(token[1:-1]) if token[0] in "\"'`" else token) for token in said
    )


def _in_place(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """What stands in the place of something else, or is put in and is more than values in known words."""
    found: list[str] = []
    known = frozenset(old)
    for tag, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        part = new[start:end]
        row = all(token in known or token[0].isdigit() or not token[0].isalpha() for token in part)
        if tag == "replace" or (tag == "insert" and not row):
            found += part
    return found


def texts_grow(old: Sequence[str], new: Sequence[str], text: str) -> bool:
    """Texts of a test got further words that the task states, in their old order; else there are rows of known words."""
    grown, known = False, frozenset(old)
    for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        was, now = old[first:last], new[start:end]
        if tag == "equal":
            continue
        pairs = itertools.zip_longest(was, now[: len(was)])
        if tag == "delete" or not all(_grows(one, other, text) for one, other in pairs):
            return False
        rows = now[len(was) :]
        assigns = any(one == "=" and other not in ("=", ">") for one, other in itertools.pairwise(("", *rows)))
        if assigns or any(token[0].isalpha() and token not in known for token in rows):
            return False
        grown = grown or tag == "replace"
    return grown


_GLUE = frozenset("[]()|,")
"""What stands around a word in a line of usage."""


def _grows(was: str, now: str | None, text: str) -> bool:
    if not now or was[0] not in "\"'`" or was[0] != now[0]:
        return False
    had, has = TOKEN.findall(was[1:-1]), TOKEN.findall(now[1:-1])
    rest = iter(has)
    if not had or not all(token in rest for token in had):
        return False
    fresh = Counter(has) - Counter(had)
    glue = _GLUE | frozenset("-" if "--" in text else "")
    glue = glue if any(token[0].isalnum() for token in fresh) else frozenset()
    words, signs = _Told(text), {token for token in had if not token[0].isalnum()} | glue
    for at, token in enumerate(has):
        if token in had or token in signs or words.states(token, had):
            continue
        counted = at > 0 and token.isdigit() and re.search(rf"\b{re.escape(has[at - 1])}\s+(?:[NnX]|\d+)\b", text)
        if not counted:
            return False
    return True


def _states(words: _Told, text: str, value: object) -> bool:
    if value == "None" and not isinstance(value, _Text):
        return re.search(r"\b(?:None|null|nothing)\b", text) is not None
    if isinstance(value, str):
        if not value.strip():
            return re.search(r"\bempty\b|\bblank\b|\"\"|''", text) is not None
        if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text):
            return True
        return isinstance(value, _Text) and all(words.states(token, []) for token in TOKEN.findall(value))
    if isinstance(value, bool):
        return re.search(rf"\b{value}\b", text, re.IGNORECASE) is not None
    return all(words.states(token, []) for token in TOKEN.findall(str(value)) if token[0].isalnum())


def grown(before: bytes | None, after: bytes | None) -> bool:
    """Everything that was there still is, in order; something was added: more cases for the same tests."""
    if before is None or after is None or len(after) > MOST:
        return False
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        return False
    try:
        had, has = json.loads(old), json.loads(new)
    except ValueError:
        lines = iter(_lines(new))
        return all(line in lines for line in _lines(old))
    return _holds(had, has)


def _holds(had: object, has: object) -> bool:
    if isinstance(had, dict) and isinstance(has, dict):
        return all(key in has and _holds(value, has[key]) for key, value in had.items())
    if isinstance(had, list) and isinstance(has, list):
        rest = iter(has)
        return all(any(_holds(one, other) for other in rest) for one in had)
    return had == has and type(had) is type(has)
