"""Expected data that changed with the behaviour: is every new value one that the task itself states? Pure.

What somebody wrote into the plan as the wanted result is the plan's, not the agent's. A golden file (or the constants of
an old test) may follow it without a further permission; a value that nobody stated is asked about.
"""

# ruff: noqa: E501 (lists of words are read better in one piece)

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from engine.perform.checks.proof.integrity_python import Function
from engine.perform.checks.proof.texts_grow import texts_grow
from engine.perform.checks.proof.told_words import MOST, TOKEN, ToldWords, lines_of

DIGIT_TOKEN = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")


def stated(before: bytes | None, after: bytes | None, text: str) -> bool:
    """Whether everything that differs in a file of expected data is stated by the task."""
    if before is None or after is None or len(before) > MOST or len(after) > MOST:
        return False
    try:
        old, new = before.decode(), after.decode()
    except UnicodeDecodeError:
        return False
    had, has = lines_of(old), lines_of(new)
    if Counter(had) == Counter(has) or TOKEN.findall(old) == TOKEN.findall(new):
        return False  # another order or layout: which one is right, no word of the task tells
    words = ToldWords(text)
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


def _new_lines(lines: Iterable[str], words: ToldWords, old: list[str]) -> bool:
    """Lines that came in beside the old ones: each says something that the task speaks of, and no number of its own."""
    return all(words.names(line) and words.counts(line, old) for line in lines)


def _replaced(gone: list[str], come: list[str], words: ToldWords, old: list[str]) -> bool:
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


def _says_as_much(was: str, now: str, words: ToldWords) -> bool:
    """The line with other tokens where the task states them: nothing is lost, what is kept comes in its order."""
    if not any(_tokens_stated(pattern, [was], [now], words) for pattern in (TOKEN, DIGIT_TOKEN)):
        return False
    had, has = ([token for token in TOKEN.findall(line) if token[0].isalnum()] for line in (was, now))
    kept = [token for token in has if token in had]
    rest = iter(had)
    ordered = all(token in rest for token in kept)
    return ordered and (len(has) >= len(had) or words.less(was) or words.less(" ".join(Counter(had) - Counter(has))))


def _tokens_stated(pattern: re.Pattern[str], gone: list[str], come: list[str], words: ToldWords) -> bool:
    old, new = (pattern.findall("\n".join(lines)) for lines in (gone, come))
    return all(words.states(token, old) for token in Counter(new) - Counter(old))


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
    words = ToldWords(text)
    asked = [value for value in fresh if value not in own and value not in FRAMEWORK]
    if not asked:  # nothing is said anew, at most a loop or a variable stands around it
        return _in_another_order(old, trees, text) or (words.turns() and _turned(old, trees))
    return all(_states(words, text, value) for value in asked) or (words.turns() and _turned(old, trees))


def _turned(old: Iterable[ast.AST], new: Iterable[ast.AST]) -> bool:
    """The same test, but for the order of letters in its texts and of rows in its lists: `"WL"` is `"LW"` now."""
    return [_unordered(tree) for tree in old] == [_unordered(tree) for tree in new]


def _unordered(node: ast.AST) -> str:
    """A tree in which no order is left that an answer may have. What stands in the place of what is called stays."""
    match node:
        case ast.Constant(value=str(text)):
            return repr(sorted(text))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return f"[{sorted(map(_unordered, parts))}]"
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return f"{list(map(_unordered, body))}"
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name + "".join(map(_unordered, ast.iter_child_nodes(node)))
        case ast.Constant(value=value):
            return repr(value)
    return type(node).__name__ + f"({[_unordered(child) for child in ast.iter_child_nodes(node)]})"


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
    words = ToldWords(text)
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


def _states(words: ToldWords, text: str, value: object) -> bool:
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
