"""What reads other people's Python meets every shape of it: the standard library's modules, as a change brings them."""

from __future__ import annotations

import ast
import random
import sysconfig
import warnings
from pathlib import Path

import pytest

from engine.perform.checks.proof.ambient import decides_by
from engine.perform.checks.proof.hushed import hushes
from engine.perform.checks.proof.integrity_conftest import conftest_hooks
from engine.perform.checks.proof.integrity_python import weak_spots
from engine.perform.checks.proof.looking_around import looks_around
from engine.perform.checks.proof.loosened import loosened
from engine.perform.checks.proof.memory import remembers
from engine.perform.checks.proof.narrow import Source, narrow
from engine.perform.checks.proof.shortcuts import swallows
from engine.perform.checks.proof.stand_ins import stand_ins
from engine.perform.checks.proof.suspicious import suspicious_python
from engine.perform.checks.proof.unasked_values import unasked

LARGEST = 8_000
WORDS = "Add a thing which adds one"
FRESH = "from a import x\n\n\ndef test_x():\n    assert x(1) == 2\n"
EVERY_SHAPE = b"""\
def by_place(a, b=[], /, c=1, *rest, d, e={}, **more): ...
def only_by_place(a=None, /): return a
async def f(*, a=[]): yield a
class A(*(), metaclass=type, **{}): x: int
"""


def looked_at(before: bytes | None, after: bytes) -> None:
    """Everything that asks about a construct; what it says is tested elsewhere."""
    list(decides_by(before, after, WORDS, [after]))
    list(remembers(before, after, WORDS))
    list(hushes(before, after, WORDS))
    list(unasked("a.py", before, after, WORDS))
    list(loosened("a.py", before, after))
    list(looks_around(before, after, [after]))
    list(conftest_hooks(before, after))
    list(suspicious_python(after, before or b""))
    list(suspicious_python(after, before or b"", test=True))
    list(weak_spots(after, before or b""))
    list(swallows("a.py", before, after))
    mine = [Source(path="a.py", before=before, after=after)]
    list(narrow(mine, {"b.py": after}, FRESH, WORDS))
    list(stand_ins(mine, {"b.py": after}, FRESH, WORDS))


def whole(text: bytes, rng: random.Random) -> bytes:
    """A part of it that is still a program: its first statements."""
    body = ast.parse(text).body
    if not body:
        return b""
    end = body[rng.randrange(len(body))].end_lineno or 0
    return b"".join(text.splitlines(keepends=True)[:end])


def play(path: Path, rng: random.Random) -> None:
    after = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            part = whole(after, rng)
        except (SyntaxError, ValueError):  # the library has some that must not compile
            part = b""
        for before in (None, part):
            looked_at(before, after)


def modules() -> list[Path]:
    found = Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")
    return sorted(path for path in found if "site-packages" not in path.parts and path.stat().st_size < LARGEST)


def test_every_shape_of_arguments() -> None:
    for before in (None, b"", EVERY_SHAPE):
        looked_at(before, EVERY_SHAPE)


@pytest.mark.parametrize("seed", range(3))
def test_modules_of_the_standard_library(seed: int) -> None:
    rng = random.Random(seed)
    for path in rng.sample(modules(), 1):
        play(path, rng)


@pytest.mark.torture
@pytest.mark.timeout(3600)
def test_the_whole_standard_library() -> None:
    rng = random.Random(0)
    for path in modules():
        print(path)
        play(path, rng)
