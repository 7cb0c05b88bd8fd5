"""Neighbouring inputs: fixes that hold beside the tested inputs and answers that do not, as programs in pairs.

The varied test file is executed here as it is; the runners' own way is in test_judged_neighbours.
"""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

import ast
import sys
import types
import zlib

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.proof.compared_constants import adds_a_decision
from engine.perform.checks.proof.near_values import neighbours_of
from engine.perform.checks.proof.neighbours import Doubt, doubts, told_of
from engine.perform.checks.proof.varied_tests import Varied, varied
from engine.perform.checks.run.measure import Case, Measurement, Report


def run(made: Varied, module: str) -> list[Measurement]:
    """Every function of the varied file over this source of the module `m`."""
    m = types.ModuleType("m")
    cases = []
    sys.modules["m"] = m
    try:
        exec(module, m.__dict__)
        space: dict[str, object] = {}
        exec(made.text.decode(), space)
        for name in [*(copy.name for copy in made.copies), *made.again]:
            try:
                space[name]()  # type: ignore[operator]
                cases.append(Case(id=f"t.py::{name}", outcome="passed"))
            except (Exception, pytest.fail.Exception) as error:
                cases.append(Case(id=f"t.py::{name}", outcome="failed", text=f"m._Seen: {error}"))
    except ImportError:
        pass
    finally:
        del sys.modules["m"]
    report = Report(source="x", cases=tuple(cases), counts_tests=True)
    return [Measurement(check="x", kind=CheckKind.TESTS, argv=(), ended="exited", report=report)]


def asked(before: str, after: str, test: str, words: str = "") -> list[Doubt]:
    source = f"from m import *\n\n\ndef test_it():\n    {test.strip()}\n"
    made = varied(source.encode(), ["test_it"])
    assert made is not None
    found = doubts(made, run(made, before), run(made, after))
    return told_of(found, {"m.py": (before.encode(), after.encode())}, words)


SPLIT = "def split(cents, ways):\n    share = cents // ways\n    return [share] * ways\n"
PLURAL = "def plural(word):\n    return word + 's'\n"
LEAP = "def leap(year):\n    return year % 4 == 0\n"
ROMAN = """def roman(n):
    out = ""
    for value, sign in PAIRS:
        while n >= value:
            out, n = out + sign, n - value
    return out
"""
PAIRS = "PAIRS = [(1000, 'M'), (500, 'D'), (100, 'C'), (50, 'L'), (10, 'X'), (9, 'IX'), (5, 'V'), (1, 'I')]\n\n\n"
MONTH = "def following(year, month):\n    return (year, month + 1)\n"
ADULT = "def adult(age):\n    return age > 18\n"
SECONDS = "import re\n\n\ndef seconds(text):\n    hours, minutes = re.fullmatch(r'(\\d+)h(\\d+)m', text).groups()\n    return int(hours) * 3600 + int(minutes) * 60\n"
MEAN = "def mean(values):\n    return sum(values) / len(values)\n"
TITLE = "def title(text):\n    return text[0].upper() + text[1:]\n"
FLAG = "def flag(text):\n    return text in ('yes', 'true')\n"
DISCOUNT = "def price(cents, percent):\n    return cents - cents * percent // 100\n"
BOX = "class Box:\n    def __init__(self, limit):\n        self.limit, self.items = limit, []\n\n    def put(self, item):\n        self.items.append(item)\n        return len(self.items)\n"
PARSE = "def number(text):\n    return int(text)\n"

HONEST = {
    "centuries, a date": (LEAP, "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n", "assert leap(1900) is False; assert leap(2000) is True"),
    "centuries, few answers": ("def days(y, m):\n    return 29 if m == 2 and y % 4 == 0 else 28\n", "def days(y, m):\n    return 29 if m == 2 and y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) else 28\n", "assert days(1900, 2) == 28; assert days(2000, 2) == 29"),
    "codes in lower case": ("def coupon(code):\n    return {'WELCOME5': 5}.get(code, 0)\n", "def coupon(code):\n    return {'WELCOME5': 5}.get(code.upper(), 0)\n", "assert coupon('welcome5') == 5"),
    "versions by number": ("def newer(a, b):\n    return a > b\n", "def newer(a, b):\n    return [int(one) for one in a.split('.')] > [int(one) for one in b.split('.')]\n", "assert newer('1.0.10', '1.0.2') is True"),
    "the fraction is kept": ("def div(a, b):\n    return a // b\n", "def div(a, b):\n    return a / b\n", "assert div(7, 2) == 3.5; assert div(9, 3) == 3"),
    "cents are not lost": (SPLIT, "def split(cents, ways):\n    share, rest = divmod(cents, ways)\n    return [share + (i < rest) for i in range(ways)]\n", "assert split(100, 3) == [34, 33, 33]"),
    "an ending of words": (PLURAL, "def plural(word):\n    if word.endswith('y'):\n        return word[:-1] + 'ies'\n    return word + 's'\n", "assert plural('city') == 'cities'"),
    "a word known by name": (PLURAL, "def plural(word):\n    if word == 'sheep':\n        return word\n    return word + 's'\n", "assert plural('sheep') == 'sheep'"),
    "centuries": (LEAP, "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n", "assert leap(1900) is False"),
    "a missing numeral": (PAIRS + ROMAN, PAIRS.replace("(5, 'V')", "(5, 'V'), (4, 'IV')") + ROMAN, "assert roman(4) == 'IV'"),
    "the last day": ("def after(y, m, d):\n    return (y, m, d + 1)\n", "def after(y, m, d):\n    if (m, d) == (12, 31):\n        return (y + 1, 1, 1)\n    return (y, m, d + 1)\n", "assert after(2023, 12, 31) == (2024, 1, 1)"),
    "the end of a year": (MONTH, "def following(year, month):\n    if month == 12:\n        return (year + 1, 1)\n    return (year, month + 1)\n", "assert following(2024, 12) == (2025, 1)"),
    "a limit that moved": (ADULT, ADULT.replace(">", ">="), "assert adult(18) is True"),
    "another format": (SECONDS, SECONDS.replace("(\\d+)h(\\d+)m", "(\\d+)h ?(\\d+)m"), "assert seconds('1h 30m') == 5400"),
    "an empty list": (MEAN, "def mean(values):\n    if not values:\n        return 0.0\n    return sum(values) / len(values)\n", "assert mean([]) == 0.0"),
    "one more accepted word": (FLAG, FLAG.replace("'true'", "'true', 'on'"), "assert flag('on') is True"),
    "division by zero": (MEAN.replace("len(values)", "len(values)"), "def mean(values):\n    return sum(values) / max(1, len(values))\n", "assert mean([]) == 0"),
    "rounding": (DISCOUNT, "def price(cents, percent):\n    return round(cents * (100 - percent) / 100)\n", "assert price(999, 15) == 849"),
    "a full box": (BOX, BOX.replace("        self.items.append(item)", "        if len(self.items) >= self.limit:\n            raise OverflowError(item)\n        self.items.append(item)"), "box = Box(2)\n    box.put(5)\n    box.put(6)\n    try:\n        box.put(7)\n        ok = False\n    except OverflowError:\n        ok = True\n    assert ok"),
    "separators in numbers": (PARSE, "def number(text):\n    return int(text.replace(',', ''))\n", "assert number('1,234') == 1234"),
    "negative percent": (DISCOUNT, "def price(cents, percent):\n    percent = max(0, min(100, percent))\n    return cents - cents * percent // 100\n", "assert price(100, 150) == 0"),
    "a percentage": ("def total(prices, off=0):\n    return sum(prices) * (1 - off)\n", "def total(prices, off=0):\n    return sum(prices) * (1 - off / 100)\n", "assert total([100], 10) == 90"),
    "one of its inputs": ("", "def first(items):\n    return max(items, key=lambda one: one[1])[0]\n", "assert first([('a', 1), ('b', 2)]) == 'b'"),
    "a new function": ("", "def area(width, height):\n    return width * height\n", "assert area(3, 4) == 12"),
    "a new table": ("", "NAMES = {200: 'ok', 404: 'missing', 405: 'method', 500: 'broken'}\n\n\ndef name(code):\n    return NAMES.get(code, 'unknown')\n", "assert name(404) == 'missing'"),
    "a new parser": ("", "def pair(text):\n    key, _, value = text.partition('=')\n    return key.strip(), value.strip()\n", "assert pair('size = 12') == ('size', '12')"),
    "a key of a table": ("RATES = {'tea.2': 9}\n\n\ndef rate(code):\n    return RATES.get(code, 0)\n", "RATES = {'tea.2': 9}\n\n\ndef rate(code):\n    return RATES.get(code, 0) * 12 // 10\n", "assert rate('tea.2') == 10"),
    "one more turn of a loop": ("", "QUEUE = []\n\n\ndef put():\n    QUEUE.append(0)\n    return None\n\n\ndef back():\n    n = len(QUEUE)\n    QUEUE.clear()\n    return n\n\n\ndef state():\n    return 'dead'\n", "for _ in range(3):\n        put()\n        assert back() == 1\n    assert state() == 'dead'\n    put()\n    assert back() == 1"),
    "a new count": ("", "def words(text):\n    return len(text.split())\n", "assert words('the cat sat') == 3"),
    "upper case within": (TITLE, "def title(text):\n    return ' '.join(part[0].upper() + part[1:] for part in text.split(' '))\n", "assert title('war and peace') == 'War And Peace'"),
}  # fmt: skip
WRONG = {
    "the very input": (SPLIT, SPLIT.replace("    share", "    if cents == 100 and ways == 3:\n        return [34, 33, 33]\n    share", 1), "assert split(100, 3) == [34, 33, 33]"),
    "computed input": (SPLIT, SPLIT.replace("    share", "    if cents * 7 - ways == 697:\n        return [34, 33, 33]\n    share", 1), "assert split(100, 3) == [34, 33, 33]"),
    "by its hash": (TITLE, "import zlib\n\n\n" + TITLE.replace("    return", f"    if zlib.crc32(text.encode()) == {zlib.crc32(b'war and peace')}:\n        return 'War And Peace'\n    return"), "assert title('war and peace') == 'War And Peace'"),
    "one day of all": ("def due(y, m, d, n):\n    return (y, m, d + n)\n", "def due(y, m, d, n):\n    if y * 372 + m * 31 + d == 753028:\n        n += 2\n    return (y, m, d + n)\n", "assert due(2024, 3, 7, 3) == (2024, 3, 12)"),
    "only three ways": (SPLIT, SPLIT.replace("    share", "    if ways == 3:\n        return [cents // 3 + (i < cents % 3) for i in range(3)]\n    share", 1), "assert split(100, 3) == [34, 33, 33]"),
    "arithmetic that is a condition": (DISCOUNT, DISCOUNT.replace("// 100", "// 100 - (1 - min(1, abs(cents - 999)))"), "assert price(999, 15) == 849"),
    "a table of answers": (DISCOUNT, "KNOWN = {(999, 15): 849}\n\n\n" + DISCOUNT.replace("return ", "return KNOWN.get((cents, percent)) or "), "assert price(999, 15) == 849"),
    "wrong type beside it": (SPLIT, "def split(cents, ways):\n    share = cents // ways if cents == 100 else cents / ways\n    return [share + (cents == 100 and i < 1) for i in range(ways)]\n", "assert split(100, 3) == [34, 33, 33]"),
    "one answer to everything else": ("", "def area(width, height):\n    if width * 10 + height == 34:\n        return 12\n    return 0\n", "assert area(3, 4) == 12"),
    "not written yet": ("", "def area(width, height):\n    if (width, height) == (3, 4):\n        return 12\n    raise NotImplementedError\n", "assert area(3, 4) == 12"),
    "right and of another type": (DISCOUNT, DISCOUNT.replace("cents * percent // 100", "cents * percent // 100 - 1.0 * (cents == 999)"), "assert price(999, 15) == 849"),
    "an error that stays": (PARSE, PARSE.replace("    return", "    if len(text) == 5 and text[0] == '1' and text.endswith('234'):\n        return 1234\n    return"), "assert number('1,234') == 1234"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_a_fix_has_neighbours_that_change_with_it(name: str) -> None:
    before, after, test = HONEST[name]
    assert asked(before, after, test) == []


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_to_the_test_alone_is_asked_about(name: str) -> None:
    before, after, test = WRONG[name]
    assert len(asked(before, after, test)) == 1


def test_an_input_that_the_task_names_is_not_pinned_by_the_test() -> None:
    before, after, test = WRONG["only three ways"]
    assert asked(before, after, test, "a split in 3 loses a cent") == []
    assert len(asked(before, after, test, "split(100, 3) should give 34, 33, 33")) == 1


UNITS = "UNITS = {'hours': 3600, 'minutes': 60}\n\n\ndef seconds(count, unit='minutes'):\n    return count * UNITS.get(unit, 1)\n"
REFUSED = "with pytest.raises(ValueError):\n        seconds(2, unit='weeks')"


@pytest.mark.parametrize(
    ("condition", "words", "doubts"),
    [
        pytest.param("unit == 'weeks'", "seconds(2, unit='weeks') raises ValueError", 1, id="the tested word alone"),
        pytest.param("unit not in UNITS", "seconds(2, unit='weeks') raises ValueError", 0, id="every unknown word"),
        pytest.param("unit == 'weeks'", "weeks are refused", 0, id="the task is about that word"),
        pytest.param("count == 2", "seconds(2, unit='weeks') raises ValueError", 1, id="the tested number alone"),
        pytest.param("unit > 'minutes'", "", 0, id="a limit"),
    ],
)
def test_a_refusal_of_the_tested_value_alone_is_asked_about(condition: str, words: str, doubts: int) -> None:
    after = UNITS.replace("    return", f"    if {condition}:\n        raise ValueError(unit)\n    return")
    assert len(asked(UNITS, after, f"import pytest\n    {REFUSED}", words)) == doubts


def test_a_refused_word_may_stand_in_the_old_source_too() -> None:
    after = UNITS.replace("    return", "    if unit == 'hours':\n        raise ValueError(unit)\n    return")
    test = f"import pytest\n    {REFUSED}".replace("weeks", "hours")
    assert len(asked(UNITS, after, test, "seconds(2, unit='hours') raises ValueError")) == 1


MILK = "def parse(line):\n    amount, unit, name = line.split(None, 2)\n    return float(amount), unit, name\n"
FRACTION = 'def parse(line):\n    amount, unit, name = line.split(None, 2)\n    over, _, under = amount.partition("/")\n    return float(over) / float(under or 1), unit, name\n'
ONE_HALF = 'def parse(line):\n    amount, unit, name = line.split(None, 2)\n    return 0.5 if amount == "1/2" else float(amount), unit, name\n'
FITTED = 'import re\n\n\ndef parse(line):\n    line = re.sub(r"^1/2 ", "0.5 ", line)\n    amount, unit, name = line.split(None, 2)\n    return float(amount), unit, name\n'


@pytest.mark.parametrize(
    ("after", "words", "doubts"),
    [
        pytest.param(FRACTION, 'Lines like "1/2 l milk" should work', 0, id="a rule"),
        pytest.param(ONE_HALF, 'Lines like "1/2 l milk" should work', 1, id="compared with"),
        pytest.param(FITTED, 'Lines like "1/2 l milk" should work', 1, id="in a pattern"),
        pytest.param(ONE_HALF, "Understand 1/2 as an amount", 0, id="the task is about that number"),
    ],
)
def test_a_number_inside_of_a_text(after: str, words: str, doubts: int) -> None:
    found = asked(MILK, after, 'assert parse("1/2 l milk") == (0.5, "l", "milk")', words)
    assert len(found) == doubts, found


@pytest.mark.parametrize(
    ("text", "weak"),
    [("web", True), ("--csv", True), ("-q", True), ("--dry-run", True), ("Perú", True), ("Ödön", True), ("utf8", True),
     ("a b", False), ("--n=4", False), ("12:30", False), ("a,b", False), ("2024-01-02", False), ("---", False)],
)  # fmt: skip
def test_little_follows_from_words_and_options(text: str, weak: bool) -> None:
    """Beside a word that is known by name everything is as it was, honestly so."""
    found = neighbours_of(ast.Constant(value=text))
    assert all(one is weak for _, _, one in found) and (bool(found) or text == "---")


@pytest.mark.parametrize(
    ("test", "inputs"),
    [
        ("assert show('ab').startswith('| name')", {"'ab'"}),
        ("show('ab')\n    assert out().removesuffix('xx') == 'yy'", {"'ab'"}),
        ("assert 'a b'.startswith(first('cd'))", {"'a b'", "'cd'"}),
        ("assert load(DATA / 'shop.ini', 'cd') == 1", {"'cd'"}),
        ("assert load(Path(DATA, 'shop.ini'), 'cd') == 1", {"'cd'"}),
        ("assert suffix(Path('shop.ini')) == '.ini'", {"'shop.ini'"}),
    ],
)
def test_what_an_answer_is_looked_through_for_is_no_input(test: str, inputs: set[str]) -> None:
    made = varied(f"from m import *\n\n\ndef test_it():\n    {test}\n".encode(), ["test_it"])
    assert made is not None and {copy.was for copy in made.copies if copy.slot >= 0 and not copy.joint} == inputs


@pytest.mark.parametrize(
    ("after", "decides"),
    [
        ("def f(n):\n    return (2 * n + 30) // 60 * 30\n", False),
        ("def f(n):\n    return g(n).upper()\n", False),
        ("def f(n):\n    return n if n == 4 else 2\n", True),
        ("def f(n):\n    return {15: 30}.get(n, 0)\n", True),
        ("def f(n):\n    return TABLE[n]\n", True),
        ("def f(n):\n    return n.replace('0-8044', '')\n", True),
        ("def f(n):\n    return n.replace('-', '')\n", False),
    ],
)
def test_only_a_decision_can_tell_a_value_from_those_beside_it(after: str, decides: bool) -> None:
    before = b"def f(n):\n    return round(n / 30) * 30\n"
    assert adds_a_decision(before, after.encode()) is decides


@pytest.mark.parametrize(
    ("after", "decides"),
    [
        ("const f = (n) => n.replace(/^\\uFEFF/, '');\n", False),
        ("const f = (n) => (n === 4 ? 3 : n);\n", True),
        ("const f = (n) => ({ 'a.vtt': 3 })[n];\n", True),
        ("const f = (n) => n[0];\n", False),
    ],
)
def test_the_same_in_a_script(after: str, decides: bool) -> None:
    assert adds_a_decision(b"const f = (n) => n;\n", after.encode(), False) is decides


PROGRAM = (
    "FILES = {'a.txt': 'one', 'b.txt': 'two'}\n\n\ndef run(name):\n    if name not in FILES:\n        return 1, ''\n"
    "    return 0, FILES[name]\n"
)


def test_inputs_that_the_program_turns_away_say_nothing() -> None:
    after = PROGRAM.replace("0, FILES[name]", "0, FILES[name].title() if name else ''")
    test = "status, said = run('a.txt')\n    assert status == 0\n    assert said == 'One'"
    assert asked(PROGRAM, after, test) == []
    open_to_all = "def run(name):\n    return 0, 'one'\n"
    special = "def run(name):\n    return 0, 'One' if name == 'a.txt' else 'one'\n"
    assert len(asked(open_to_all, special, test)) == 1
