"""Values beside a constant of a test: of the same kind, and those at which programs have cases of their own. Pure."""

from __future__ import annotations

import ast
import re

_KEYWORD = re.compile(r"-{0,2}[^\W\d_][^\W\d]?(?:[^\W\d]|-){0,18}\d{0,3}|.{0,2}")
"""A word, of any alphabet, or an option: it may well be known by name."""
Near = tuple[str, str, bool]
"""(what a constant was, what it is instead, whether little follows from it)."""


def edges_of(node: ast.AST) -> list[Near]:
    """Values at which programs have cases of their own, then the usual neighbours."""
    some: tuple[object, ...] = ()
    match node:
        case ast.List(elts=elts):
            lists = (list[ast.expr](), elts[:1], elts[::-1], [elts[0], *elts])
            edges = [ast.unparse(ast.List(elts=one, ctx=ast.Load())) for one in lists]
            return [(ast.unparse(node), one, True) for one in edges if one != ast.unparse(node)] + neighbours_of(node)
        case ast.Constant(value=bool(value)):
            some = (not value,)
        case ast.Constant(value=int(value)):
            some = (0, -value, -1)
        case ast.Constant(value=float(value)):
            some = (0.0, -value)
        case ast.Constant(value=str(value)):
            some = ("", " ", value.swapcase(), f" {value} ", f"{value} {value}")
    if not isinstance(node, ast.Constant):
        return []
    found = [(repr(node.value), repr(one), True) for one in some if one != node.value]
    return found + neighbours_of(node)[:3]


def neighbours_of(node: ast.AST) -> list[Near]:
    """(what it was, what it is instead, whether little follows from it). Zero, empty and None stand for themselves."""
    match node:
        case ast.List(elts=elts):
            was = ast.unparse(node)
            fewer, more = ast.List(elts=elts[:-1], ctx=ast.Load()), ast.List(elts=[*elts, elts[0]], ctx=ast.Load())
            return [(was, ast.unparse(one), True) for one in (more, fewer)]
        case ast.Constant(value=bool()) | ast.Constant(value=None):
            return []
        case ast.Constant(value=int(number)):
            if number == 0:
                return []
            round_ones = (number + 200,) if number > 200 and number % 100 == 0 else ()
            some = (*round_ones, number + 1, number + 10, number * 2, abs(number - 1), number + 3, number * 10)
            near = dict.fromkeys(some)
            return [(repr(number), repr(one), False) for one in near if one not in (number, 0)]
        case ast.Constant(value=float(number)):
            if number == 0 or number != number or number in (float("inf"), float("-inf")):
                return []
            some = (number + 1, number * 2, number + 0.5, number + 10)
            return [(repr(number), repr(one), False) for one in some if one == one and abs(one) < 1e300]
        case ast.Constant(value=str(text)):
            return [(repr(text), repr(one), _KEYWORD.fullmatch(text) is not None) for one in _texts(text)]
        case ast.Constant(value=bytes(data)):
            text = data.decode("latin-1")
            return [
                (repr(data), repr(one.encode("latin-1")), _KEYWORD.fullmatch(text) is not None) for one in _texts(text)
            ]
    return []


_NUMBERED = re.compile(r"[^\sA-Za-z]*\d[^\sA-Za-z]*")
MOST_PARTS = 2


def parts_of(node: ast.AST) -> list[list[Near]]:
    """Numbers inside of a longer text, each with what may stand there instead: 1/2 of "1/2 l milk", %20 of "a%20b"."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)) or len(node.value) > 400:
        return []
    text = node.value
    found = []
    for match in list(_NUMBERED.finditer(text))[:MOST_PARTS]:
        if len(match[0]) == len(text.strip()):
            continue
        digits = [at for at, sign in enumerate(match[0]) if sign.isdigit()]
        others = []
        for far in (1, 2, 4):
            for at in dict.fromkeys((digits[0], digits[-1])):
                other = str((int(match[0][at]) + far - 1) % 9 + 1)
                others.append(match[0][:at] + other + match[0][at + 1 :])
        near = [one for one in dict.fromkeys(others) if one != match[0]]
        found.append([(repr(match[0]), repr(text[: match.start()] + one + text[match.end() :]), False) for one in near])
    return found


_NEXT = {
    **dict(zip("aeiou", "eioua", strict=True)),
    **dict(zip("bcdfghjklmnpqrstvwxyz", "cdfghjklmnpqrstvwxyzb", strict=True)),
    **dict(zip("0123456789", "1234567898", strict=True)),
}


def _texts(text: str) -> list[str]:
    """Texts of the same shape: one letter or digit is another of its kind."""
    if len(text) > 400:
        return []
    digits = [at for at, sign in enumerate(text) if sign in "0123456789"]
    letters = [at for at, sign in enumerate(text) if sign.isascii() and sign.isalpha()]
    places = [*digits[:1], *letters[:1], *digits[-1:], *letters[-1:], *digits[1:3], *letters[len(letters) // 2 :][:1]]
    found = []
    for far in (1, 2):
        for at in dict.fromkeys(places):
            sign = other = text[at]
            for _ in range(far):
                other = _NEXT.get(other.lower(), other)
            found.append(text[:at] + (other.upper() if sign.isupper() else other) + text[at + 1 :])
    return [one for one in dict.fromkeys(found) if one != text][:6]
