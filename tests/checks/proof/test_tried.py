"""Sorts of input that a task names in words: a proof that never tries one does not show it."""

from __future__ import annotations

import pytest

from engine.core.model import TaskSpec
from engine.perform.checks.proof.tried import untried

LEFT_ALONE = "It should raise ValueError and leave the cart alone."
REFUSED = "def test_refuses():\n    with pytest.raises(ValueError):\n        cart.add(-1)\n"
LOOKED_AT = REFUSED + "    assert cart.total() == 6\n"
THROWN = "test('once', () => {\n  assert.throws(() => links.add('a'), RangeError);\n"


@pytest.mark.parametrize(
    ("words", "fresh", "found"),
    [
        pytest.param("add() takes negative counts", "add(0)", "negative", id="never below zero"),
        pytest.param("add() takes negative counts", "add(-2)", "", id="below zero"),
        pytest.param("add() takes negative counts", "assert add(5-2) == 1", "negative", id="a difference is none"),
        pytest.param("zero must be refused", "add(-1)", "zero", id="never zero"),
        pytest.param("zero must be refused", "add(0)", "", id="zero"),
        pytest.param("leading zeros are lost", "f('7')", "", id="zeros of another sort"),
        pytest.param("An empty text fails, also the empty list", "f('a')", "empty", id="never empty"),
        pytest.param("An empty text fails", "f('')", "", id="empty"),
        pytest.param("A value of None counts", "f(1)", "None", id="never None"),
        pytest.param("limit: int | None, at first", "f(1)", "", id="a type"),
        pytest.param("Blanks at the ends do not matter", "f('a b')", "blanks", id="blanks inside"),
        pytest.param("Blanks at the ends do not matter", "f('a ')", "", id="blanks at an end"),
        pytest.param("Spaces around the name do not matter", "f('a b')", "blanks", id="blanks around a value"),
        pytest.param("a, b is written without the spaces around commas", "f('a b')", "", id="blanks around a sign"),
        pytest.param("No blanks at the end of a line", "f('a')", "", id="about what comes out"),
        pytest.param("Umlauts get lost", "f('abc')", "ASCII", id="plain letters"),
        pytest.param("Umlauts get lost", "f('äb')", "", id="other letters"),
        pytest.param("From 65 on it is cheaper", "f(64); f(70)", "65 itself", id="beside the limit"),
        pytest.param("From 65 on it is cheaper", "f(64); f(65)", "", id="the limit"),
        pytest.param("At most 3 tries; 5 or more is an error", "f(3); f(4)", "5 itself", id="two limits"),
        pytest.param("Plus for 1; zero and negative amounts stay as they are", "f(1)", "", id="what stays"),
        pytest.param("gives true where it was there, else false", "equal(f(1), true)", "else false", id="one side"),
        pytest.param("gives true where it was there, else false", "assert not f(1)", "", id="the other side"),
        pytest.param("its name, otherwise None", "f(1) == 'a'", "None", id="never nothing"),
        pytest.param("Tags are compared without regard to case", "f('ab')", "case", id="one case"),
        pytest.param("Tags are compared without regard to case", "f('ab') == f('AB')", "", id="both cases"),
        pytest.param("Names are case-insensitive", "f('ab'.upper())", "", id="made in the other case"),
        pytest.param("In case of an error it stops", "f('ab')", "", id="case of another sort"),
        pytest.param("Duplicates are dropped", "f('abc') == ['a', 'b', 'c']", "twice", id="never twice"),
        pytest.param("Duplicates are dropped", "f(['a', 'b', 'a'])", "", id="twice in a list"),
        pytest.param("Duplicates are dropped", "f('aba')", "", id="twice in a text"),
        pytest.param("Lines that begin with # are skipped", "f('a\\n\\n')", "the sign #", id="never the sign"),
        pytest.param("Lines that begin with # are skipped", "f('# a')", "", id="the sign"),
        pytest.param("A negative count or 0 is refused", "f(-1)", "0", id="never 0"),
        pytest.param("A negative count or 0 is refused", "f(-1); f(0)", "", id="0"),
        pytest.param("A negative count or 0 is an error and leaves it as it was", "f(-1)", "0", id="0 is refused"),
        pytest.param("The message holds the text", REFUSED, "what the error says", id="nobody reads the message"),
        pytest.param("The message holds the text", REFUSED + "    str(error)", "", id="somebody does"),
        pytest.param("The message names it", THROWN.replace("RangeError", "/'a'/"), "", id="a pattern"),
        pytest.param(LEFT_ALONE, REFUSED, "stays as it was", id="nobody looks after the error"),
        pytest.param(LEFT_ALONE, LOOKED_AT, "", id="somebody looks"),
        pytest.param("add raises ValueError; nothing is added then", REFUSED, "stays as it was", id="nothing then"),
        pytest.param("add raises ValueError; nothing is added then", LOOKED_AT, "", id="nothing then, looked at"),
        pytest.param("Without one it is the zero slot", "f(Slot{})", "", id="a zero value"),
        pytest.param("It throws. The first link stays there.", THROWN + "});\n", "stays as it was", id="javascript"),
        pytest.param(
            "It throws. The first link stays there.",
            THROWN + "  assert.equal(links.get('a'), 1);\n});\n",
            "",
            id="looks",
        ),
    ],
)
def test_untried(words: str, fresh: str, found: str) -> None:
    told = list(untried(TaskSpec(id="1", title="x", description=words), fresh, fresh))
    assert bool(told) is bool(found) and all(found in one for one in told)


def test_without_a_test_nothing_is_missed() -> None:
    assert not list(untried(TaskSpec(id="1", title="negative counts"), "", ""))
    assert not list(untried(None, "f(1)", "f(1)"))
