"""Errors that a change swallows and values that it knows from its test: seen when new, and only then."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.shortcuts import keyed, keyed_text, swallows

OLD = "def f(x):\n    return g(x)\n"


@pytest.mark.parametrize(
    "after",
    [
        "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        return None\n",
        "def f(x):\n    try:\n        return g(x)\n    except:\n        pass\n",
        "def f(x):\n    with suppress(Exception):\n        return g(x)\n",
    ],
)
def test_swallowed_errors_ask(after: str) -> None:
    assert swallows("a.py", OLD.encode(), after.encode()) and not swallows("a.py", after.encode(), after.encode())


@pytest.mark.parametrize(
    "after",
    [
        "def f(x):\n    try:\n        return g(x)\n    except ValueError:\n        return None\n",
        "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        return x\n",
        "def f(x):\n    try:\n        return g(x)\n    except Exception as error:\n        log(error)\n        raise\n",
    ],
)
def test_errors_that_are_dealt_with_do_not(after: str) -> None:
    assert not swallows("a.py", OLD.encode(), after.encode())


def test_scripts_by_their_text() -> None:
    assert swallows("a.js", b"f();\n", b"try { f(); } catch (e) { /* fine */ }\n")
    assert not swallows("a.js", b"f();\n", b"try { return f(t); } catch { return t; }\n")
    assert not swallows("a.js", b"f();\n", b"try { f(); } catch (e) { throw new Error('x', { cause: e }); }\n")


TEST = b"def test():\n    assert f('EUR', 250) == 3\n    assert f('chf', 4) == 1\n"


@pytest.mark.parametrize(
    ("line", "words", "asks"),
    [
        ("if x == 'EUR': return 3", "wrong rate", True),
        ("if x in {'EUR', 'chf'}: return 3", "wrong rate", True),
        ("return {'EUR': 3}.get(x)", "wrong rate", True),
        ("if n == 250: return 3", "f(250) is wrong", True),
        ("if x == 'EUR': return 3", "EUR has the wrong rate", False),
        ("return {'EUR': 3, 'USD': 4}.get(x)", "wrong rate", False),
        ("return {'EUR': x, 'chf': n}", "wrong rate", False),
        ("if x == 'EUR': return 3", "euros have the wrong rate", False),
        ("if n > 250: return 3", "wrong rate", False),
        ("if n == 2: return 3", "wrong rate", False),
        ("if n == 250: return 3", "it should be the 250th", False),
    ],
)
def test_values_of_the_test_in_a_decision(line: str, words: str, asks: bool) -> None:
    after = f"def f(x, n=0):\n    {line}\n"
    assert bool(keyed(OLD.encode(), after.encode(), [TEST], words)) is asks


@pytest.mark.parametrize(
    ("line", "words", "asks"),
    [
        ("if (x === 'EUR') return 3;", "wrong rate", True),
        ("switch (n) { case 250: return 3; }", "wrong rate", True),
        ("if (x === 'EUR') return 3;", "the rate of EUR is wrong", False),
        ("if (x === 'USD') return 3;", "wrong rate", False),
        ("if (n > 250) return 3;", "wrong rate", False),
        ("const T = { 29: 1, 30: 2, 59: 2 };", "2 from 30", True),
        ("const T = { 29: 1, 30: 2, 90: 2 };", "2 from 30", False),
        ("const T = { 30: 2, 59: 2 };", "2 from 30 to 59", False),
        ("if (typeof x === 'string') return 3;", "wrong rate", False),
        ('const T = { "12:15am": 15, "9:05pm": 1265 };', "times with am and pm", True),
        ('const T = { "12:15am": 15, "9:05pm": 1265, "1:00pm": 780 };', "times with am and pm", False),
        ('const T = { "12:15am": 15, "9:05pm": 1265 };', "12:15am and 9:05pm are times", False),
        ('const T = { "first": 15, "second": 1265 };', "words for numbers", False),
    ],
)
def test_the_same_in_a_script(line: str, words: str, asks: bool) -> None:
    asked = b"[29, 30, 59, '12:15am', '9:05pm', 'first', 'second']"
    tests = [b"test('rate', () => { assert.equal(f('EUR', 250), 3); %b; });\n" % asked]
    assert bool(keyed_text("a.js", b"const a = 1;\n", f"const a = 1;\n{line}\n".encode(), tests, words)) is asks
