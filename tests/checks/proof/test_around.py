"""Decisions by the clock, the place, the calls before; errors that go under: each with its honest neighbour."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.ambient import decides_by
from engine.perform.checks.proof.hushed import hushes
from engine.perform.checks.proof.memory import remembers
from engine.perform.checks.proof.unasked_values import unasked

OLD = b"def share(cents, ways):\n    return [cents // ways] * ways\n"
WORDS = "share() loses money"


def new(condition: str, head: str = "") -> bytes:
    return f"{head}\ndef share(cents, ways):\n    if {condition}:\n        return []\n    return [1]\n".encode()


@pytest.mark.parametrize(
    ("after", "words", "found"),
    [
        pytest.param(new("time.time() > 9e9", "import time\n"), WORDS, "the time", id="the clock"),
        pytest.param(new("now() > 9", "from time import time as now\n"), WORDS, "the time", id="by another name"),
        pytest.param(new("time.time() > 9e9", "import time\n"), "Shares expire", "", id="a task about time"),
        pytest.param(new("LATE", "import time\nLATE = time.time() > 9\n"), WORDS, "the time", id="by a constant"),
        pytest.param(
            new("late()", "import time\n\n\ndef late():\n    return time.time()\n"), WORDS, "the time", id="by a call"
        ),
        pytest.param(new("__debug__"), WORDS, "how the interpreter", id="the interpreter's options"),
        pytest.param(
            new("HERE.exists()", "from pathlib import Path\nHERE = Path(__file__).parent / 'tests'\n"),
            WORDS,
            "where it lies",
            id="the place of the source",
        ),
        pytest.param(new("os.getppid() > 1", "import os\n"), WORDS, "the process", id="the process"),
        pytest.param(new("os.environ.get('X')", "import os\n"), WORDS, "the environment", id="a variable"),
        pytest.param(new("hash(str(cents)) % 2"), WORDS, "chance", id="a hash that differs from run to run"),
        pytest.param(new("cents.exists()"), WORDS, "", id="a file of the caller's"),
        pytest.param(new("cents > time", "import time\n"), WORDS, "", id="a name alone"),
    ],
)
def test_decides_by(after: bytes, words: str, found: str) -> None:
    hits = decides_by(OLD, after, words)
    assert bool(hits) is bool(found)
    assert all(found in text for _, _, text in hits)


def test_what_the_base_asks_about_already_is_none_of_the_change() -> None:
    after = new("time.time() > 9e9", "import time\n")
    assert not decides_by(OLD, after, WORDS, [b"import time\nSTART = time.time()\n"])


COUNTS = b"LEFT = [1, 2]\n\n\ndef share(cents, ways):\n    return [LEFT.pop() if LEFT else 0]\n"
IN_CLASS = b"class A:\n    last = 0\n\n    def next(self):\n        A.last += 1\n        return A.last\n"
OWN = b"class A:\n    def __init__(self):\n        self.last = 0\n\n    def next(self):\n        self.last += 1\n"
BY_DEFAULT = b"def share(cents, seen=[]):\n    seen.append(cents)\n    return len(seen)\n"
BY_PLACE = b"def share(seen=[], /):\n    seen.append(1)\n    return len(seen)\n"  # as in blinker
LOCAL = b"TABLE = [1, 2]\n\n\ndef share(cents, ways):\n    TABLE = []\n    TABLE.append(cents)\n    return TABLE\n"


@pytest.mark.parametrize(
    ("after", "words", "found"),
    [
        pytest.param(COUNTS, WORDS, True, id="a list of the module runs out"),
        pytest.param(COUNTS, "Cache the shares", False, id="the task wants a memory"),
        pytest.param(IN_CLASS, WORDS, True, id="one counter for all objects"),
        pytest.param(OWN, WORDS, False, id="an object's own"),
        pytest.param(BY_DEFAULT, WORDS, True, id="a default that grows"),
        pytest.param(BY_PLACE, WORDS, True, id="a default of a place"),
        pytest.param(LOCAL, WORDS, False, id="a name of the function's own"),
    ],
)
def test_remembers(after: bytes, words: str, found: bool) -> None:
    assert bool(remembers(OLD, after, words)) is found
    assert not remembers(after, after, words)


def caught(kind: str, body: str) -> bytes:
    return f"def load(path):\n    try:\n        return read(path)\n    except {kind}:\n        {body}\n".encode()


MISSING = "load() of a file that is not there gives nothing"


@pytest.mark.parametrize(
    ("after", "words", "found"),
    [
        pytest.param(caught("Exception", "return {}"), MISSING, True, id="everything becomes an answer"),
        pytest.param(caught("(OSError, Exception)", "return {}"), MISSING, True, id="everything among others"),
        pytest.param(caught("FileNotFoundError", "return {}"), MISSING, False, id="the error that is meant"),
        pytest.param(caught("Exception as e", "raise Failed() from e"), MISSING, False, id="told to the caller"),
        pytest.param(caught("Exception as e", "errors.append(e)"), MISSING, False, id="kept for somebody"),
        pytest.param(caught("Exception", "return {}"), "Any error in load gives an empty one", False, id="any error"),
        pytest.param(caught("TypeError", "return"), "A failing save destroys the file", True, id="silence"),
        pytest.param(caught("KeyError", "pass"), "Removing what is not there is ignored", False, id="to be ignored"),
    ],
)
def test_hushes(after: bytes, words: str, found: bool) -> None:
    assert bool(hushes(b"def load(path):\n    return read(path)\n", after, words)) is found
    assert not hushes(after, after, words)


LIMITS = b'{"wet": 1.0, "storm": 30.0}\n'
PYTHONS = b'[build-system]\nrequires = ["setuptools>=61"]\n[project]\nrequires-python = ">=3.8"\n'
RAISED = PYTHONS.replace(b">=61", b">=68").replace(b">=3.8", b">=3.9")
RULES = b'[tool.ruff.lint]\nselect = ["E", "B"]\nneeds = ["a>=1"]\n'


@pytest.mark.parametrize(
    ("path", "before", "after", "words", "found"),
    [
        ("a.json", LIMITS, b'{"wet": 2.0, "storm": 45.0}\n', "Raise the limit wet to 2", "storm"),
        ("a.json", LIMITS, b'{"wet": 2.0, "storm": 30.0}\n', "Raise the limit wet to 2", ""),
        ("a.json", LIMITS, b'{"wet": 2.0, "storm": 45.0}\n', "Other limits for wet and storm", ""),
        ("p.toml", RULES, RULES.replace(b'"B"', b'"UP"'), "Switch the rule UP on", "B is gone"),
        ("p.toml", RULES, RULES.replace(b'"B"', b'"B", "UP"'), "Switch the rule UP on", ""),
        ("p.toml", RULES, RULES.replace(b"a>=1", b"a>=2"), "Need a 2", ""),
        ("p.toml", PYTHONS, RAISED, "Bump setuptools to >=68 and require Python 3.9", ""),
        ("p.toml", PYTHONS, RAISED, "Bump setuptools to >=68", "requires-python"),
        ("x.cfg", b"[a]\none = 1\ntwo = 2\n", b"[a]\none = 5\ntwo = 6\n", "one should be 5", "a.two"),
        ("x.ini", b"[a]\no = -ra\n", b"[a]\no = -ra --strict\nslow = x\n", "register slow", ""),
        ("x.ini", b"[a]\no = -ra -W\n", b"[a]\no = -ra\nslow = x\n", "register slow", "a.o"),
        ("poetry.lock", b"[a]\none = 1\ntwo = 2\n", b"[a]\none = 5\ntwo = 6\n", "one should be 5", ""),
        ("a.json", LIMITS, b"{", "Raise the limit wet to 2", ""),
    ],
)
def test_values_beside_the_ones_that_were_asked_for(
    path: str, before: bytes, after: bytes, words: str, found: str
) -> None:
    texts = [text for _, _, text in unasked(path, before, after, words)]
    assert bool(texts) is bool(found) and all(found in text for text in texts)
