"""Expected texts of old tests that got words which the task gives: they may follow it, anything else is asked about."""

from __future__ import annotations

import ast

import pytest

from engine.perform.checks.proof.golden import stated_words
from engine.perform.checks.proof.kept_arguments import functions
from engine.perform.checks.proof.permissions import stated_in_python
from engine.perform.checks.proof.source_text import tokens
from engine.perform.checks.proof.texts_grow import texts_grow

OLD = "throws(() => parse('hello'), { message: 'bad line: hello' });"


@pytest.mark.parametrize(
    ("new", "words", "grows"),
    [
        ("'line 3: bad line: hello'", 'All errors start with "line N: "', True),
        ("'line 3: bad line: hello'", "All errors say in which line", False),
        ("'bad line: hello (of cart)'", 'Say "(of cart)" behind it', True),
        ("'bad line: hello (of shop)'", 'Say "(of cart)" behind it', False),
        ("'bad line: [--json] hello'", "Add --json", True),
        ("'bad line: [] hello'", "Add --json", False),
        ("'line: bad hello'", 'All errors start with "line N: "', False),
        ("'line 3: hello'", 'All errors start with "line N: "', False),
    ],
)
def test_a_text_that_grows(new: str, words: str, grows: bool) -> None:
    after = OLD.replace("'bad line: hello'", new)
    more = f"{after}\nthrows(() => parse('x'), {{ message: 'line 9: x' }});"
    for text in (after, more):
        assert texts_grow(tokens("a.js", OLD), tokens("a.js", text), words) is grows
    assert stated_words(tokens("a.js", OLD), tokens("a.js", more), words) is grows


@pytest.mark.parametrize("more", ["skip();", "if (false) ok(1);", "parse = () => 1;"])
def test_other_words_come_in_with_it(more: str) -> None:
    after = OLD.replace("'bad", "'line 3: bad") + more
    assert not texts_grow(tokens("a.js", OLD), tokens("a.js", after), 'Errors start with "line N: "')


ITEM = "class Item:\n    def __init__(self, n):\n        self.n = n\n\n\ndef total(items):\n    BODY\n    return 1\n"


@pytest.mark.parametrize(
    ("body", "call", "kept"),
    [
        ("pass", "total([3, 1])", True),
        ("items.sort()", "total([3, 1])", False),
        ("pass", "total([Item(3)])", True),
    ],
)
def test_arguments_are_compared_where_they_can_be(body: str, call: str, kept: bool) -> None:
    """An object that is equal only to itself differs from its copy whatever was done to it."""
    tree = ast.parse(f"def test_it():\n    {call}\n")
    space: dict[str, object] = {}
    exec(ITEM.replace("BODY", body), space)
    ((name, function),) = functions(tree, ["test_it"], {"total", "Item"})
    exec(ast.unparse(function), space)
    try:
        space[name]()  # type: ignore[operator]
        held = True
    except AssertionError:
        held = False
    assert held is kept


USAGE = "def test_usage(capsys):\n    assert main([]) == 2\n    assert capsys.readouterr().err == 'usage: x FILE'\n"
TABLE = (
    "@pytest.mark.parametrize('argv', [[], ['a', 'b']])\n"
    "def test_usage(argv, capsys):\n    assert main(argv) == 2\n"
    "    assert capsys.readouterr().err == 'usage: x [--json] FILE'\n"
)


@pytest.mark.parametrize(
    ("after", "words", "stated"),
    [
        (USAGE.replace("x FILE", "x [--json] FILE"), "--json for x", True),
        (TABLE, "--json for x", True),
        (TABLE.replace("== 2", "!= 9"), "--json for x", False),
        (TABLE, "Print an object", False),
    ],
)
def test_a_test_that_became_a_table_states_what_a_row_does(after: str, words: str, stated: bool) -> None:
    old, new = (ast.parse(text).body[0] for text in (USAGE, after))
    assert stated_in_python(old, new, words) is stated


NAMES = "def test_bad():\n    with raises(E, match='line 1: not a result'):\n        parse('A and B')\n"


@pytest.mark.parametrize(
    ("now", "words", "stated"),
    [
        ("'line 1: not a result: A and B'", "The error should quote the line", True),
        ("'line 1: not a result: C and D'", "The error should quote the line", False),
        ("'line 1: not a result: A and B'", "Make it quick", False),
        ("'A and B'", "The error should quote the line", False),
    ],
)
def test_a_message_may_come_to_name_what_the_test_gives(now: str, words: str, stated: bool) -> None:
    old, new = (ast.parse(text).body[0] for text in (NAMES, NAMES.replace("'line 1: not a result'", now)))
    assert stated_in_python(old, new, words) is stated
