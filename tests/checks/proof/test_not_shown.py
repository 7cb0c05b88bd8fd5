"""What the task gives as an input and no proof tries: read from its words, and asked for before COMPLETE."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof.not_shown import errors, fewer_than_criteria, inputs, names, not_shown
from tests.checks.proof.test_judged import judged


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('Empty words should be left out, also "a,,b" and "a,".', ["a,,b", "a,"], id="quoted inputs"),
        pytest.param("(-0.5, 10.2) lies in S01E010", ["-0.5", "10.2"], id="a pair of numbers"),
        pytest.param('Say "amount" instead of "balance"', [], id="outputs"),
        pytest.param('The message is "the queue is empty"', [], id="a message"),
        pytest.param('"band" says nothing to anybody', [], id="a word about a word"),
        pytest.param('"no column prise" does not help. List them, e.g. "no column prise (name)"', [], id="for example"),
        pytest.param('RR1 is refused, "wrong digit"', [], id="what it says today"),
        pytest.param('Show it without a needless ".0"', [], id="what is not to be there"),
        pytest.param("See `tests/data.json` and `-z`", [], id="places and options"),
        pytest.param('The docstring says "or on the edge".', [], id="prose"),
        pytest.param('`queue.put("mail", payload, priority=10)`: higher ones first', [], id="how a call looks"),
        pytest.param('`cost("3 h", 4)` fails', ["3 h"], id="an example"),
        pytest.param('Errors start with "line N: ", e.g. "line 3: bad"', [], id="a colon within a quotation"),
        pytest.param('Everything from " ;" on is a comment', [" ;"], id="a sign behind a blank"),
    ],
)
def test_inputs(text: str, found: list[str]) -> None:
    assert inputs(TaskSpec(id="1", title="x", description=text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It should raise a ValueError with the path", ["ValueError"]),
        ("RangeError otherwise.", ["RangeError"]),
        ("IndexError is too special; raise LookupError instead", ["LookupError"]),
        ("It must not be a KeyError", []),
        ("parse throws URIError on '100%'", []),
        ("APP_PORT that is no number raises ConfigError, which names it", ["ConfigError"]),
        ("load raises KeyError", []),
        ("Today load raises ConfigError", []),
    ],
)
def test_errors(text: str, found: list[str]) -> None:
    assert errors(TaskSpec(id="1", title="x", description=text)) == found


def test_a_name_of_data_is_tried_by_its_own_name() -> None:
    task = TaskSpec(id="1", title="x", description="MY_APPS_X is none of MY_APP either, nor is `__len__`")
    assert names(task) == ["MY_APPS_X", "MY_APP", "__len__"]
    text = "setenv('MY_APP', 'x')\nmy apps x\nlen(a)\n"
    assert not_shown(task, text, text, "def __len__(self):") == ["MY_APPS_X"]


def test_a_further_argument_may_be_another_one() -> None:
    task = TaskSpec(id="1", title="IF is lazy", description='=IF(A1=0,"none",10/A1) gives #DIV0!')
    assert not_shown(task, "'IF(A1=1,1/0)': 3", "", "") == []
    assert not_shown(task, "'SUM(A1)': 3", "", "") == ["none"]


def test_a_sentence_is_tried_with_other_names_in_it() -> None:
    task = TaskSpec(id="1", title='The runner logs: "build: attempt 1 failed: oops"; times out with "no end after 1s"')
    assert not_shown(task, "'a: attempt 1 failed: no 1'\nmatch='no end after 0.2s'", "", "") == []
    assert len(not_shown(task, "run('a')", "", "")) > 0


def test_a_form_with_a_blank_is_tried_by_its_words() -> None:
    task = TaskSpec(id="1", title='"lumen foo FILE" should print nothing')
    loop = "for word in foo bar; do ./lumen $word data.txt; done"
    assert not_shown(task, loop, loop, "") == [] != not_shown(task, "./lumen sum x", "", "")


@pytest.mark.parametrize(
    ("tests", "missing"),
    [("roman(4) == 'IV'", ["IX", "XL", "CM"]), ("IV IX XL CM", []), ("assert roman(9) == 'IX'", ["XL", "CM"])],
)
def test_what_is_counted_up_is_tried_one_by_one(tests: str, missing: list[str]) -> None:
    task = TaskSpec(id="1", title="x", description="We want IV, and in the same way IX, XL and CM.")
    assert not_shown(task, tests, tests, "") == missing


@pytest.mark.parametrize(
    ("accept", "fresh", "enough"),
    [
        (("a comma is kept", "a quote is one", "empty fields stay"), "assert f(1) == 2\n", False),
        (("a comma is kept", "a quote is one", "empty fields stay"), "assert f(1) == 2\nassert f(2) == 3\n", True),
        (("a comma is kept", "a quote is one"), "assert f(1) == 2\nassert f(2) == 3\n", True),
        (("a comma is kept", "a quote is one"), "@parametrize('a', [\n    (1, 2),\n    (2, 3),\n])\n", True),
        (("a", "b", "the README says so"), "assert f(1) == 2\n", True),
        (("a comma is kept",), "x", True),
        ((), "", True),
    ],
)
def test_fewer_assertions_than_criteria(accept: tuple[str, ...], fresh: str, enough: bool) -> None:
    assert (fewer_than_criteria(TaskSpec(id="1", title="x", accept=accept), fresh) == "") is enough


def test_an_error_has_to_be_provoked_by_a_fresh_line() -> None:
    task = TaskSpec(id="1", title="load() should raise a ValueError for a damaged file")
    old = "with pytest.raises(KeyError):\n    get()\n"
    assert not_shown(task, old + "assert load(p) == {}", "assert load(p) == {}", "except ValueError:") == ["ValueError"]
    assert not_shown(task, old, "with pytest.raises(ValueError):", "") == []
    assert not_shown(task, old, "assert.throws(() => load(p))", "") == []


@pytest.mark.parametrize(
    ("title", "fresh", "missing"),
    [
        ("Refuse discounts below 0 % and above 100 %", "discount(5, -1) discount(5, 101)", False),
        ("Refuse discounts below 0 % and above 100 %", "discount(5, 101)", True),
        ("Minutes outside of the day (0 to 1439) are refused", "read('-1 5') read('1440 5')", False),
        ("Minutes outside of the day (0 to 1439) are refused", "read('1440 5')", True),
        ("Widths below 1 are refused", "cut(0)", False),
    ],
)
def test_both_sides_of_a_range_are_tried(title: str, fresh: str, missing: bool) -> None:
    assert bool(not_shown(TaskSpec(id="1", title=title), fresh, fresh, "")) is missing


BASE = {
    "words.py": "def parse(text):\n    return text.split(',')\n",
    "tests/test_w.py": "from words import parse\n\n\ndef test_two():\n    assert parse('a,b') == ['a', 'b']\n",
}
HALF = "def parse(text):\n    return text.split(',') if text else []\n"
TEST = "from words import parse\n\n\ndef test_empty():\n    assert parse('') == []\n"
MORE = TEST + "\n\ndef test_gap():\n    assert parse('a,,b') == ['a', 'b']\n"
WHOLE = "def parse(text):\n    return [word for word in text.split(',') if word]\n"
ABOUT = {"title": "parse finds words that are not there", "description": 'Leave out what is empty, also in "a,,b".'}


@pytest.mark.parametrize(
    ("source", "test", "allow", "verdict"),
    [
        pytest.param(HALF, TEST, (), ProofVerdict.UNPROVEN, id="half of it, with a test for that half"),
        pytest.param(WHOLE, MORE, (), ProofVerdict.PROVEN, id="all of it", marks=pytest.mark.torture),
        pytest.param(
            HALF, TEST, ("accept not-shown",), ProofVerdict.PROVEN, id="the plan accepts it", marks=pytest.mark.torture
        ),
    ],
)
async def test_an_input_of_the_task_is_tried(
    tmp_path: Path, source: str, test: str, allow: tuple[str, ...], verdict: ProofVerdict
) -> None:
    change = {"words.py": source, "tests/test_gap.py": test}
    done = await judged(tmp_path, BASE, change, allow=allow, **ABOUT)
    assert done.proof is verdict, done.reason
    if verdict is ProofVerdict.UNPROVEN:
        assert "a,,b" in done.reason and "accept not-shown" in done.reason


def test_a_sign_that_the_task_gives_is_tried_as_a_text() -> None:
    told = TaskSpec(id="1", title="Add slug()", accept=('slug(text, "_") joins with an underscore',))
    lacks = 'def test_words():\n    assert slug("Some words") == "some-words"\n'
    assert not_shown(told, lacks, lacks, "") == ["_"]
    has = lacks + '    assert slug("Some words", \'_\') == "some_words"\n'
    assert not_shown(told, has, has, "") == []


def test_a_sign_behind_a_blank_stands_within_a_text() -> None:
    told = TaskSpec(id="1", title="Comments", description='Everything from " ;" on is dropped')
    assert not_shown(told, "is(parse('a;b'), 'a;b');", "", "") == [" ;"]
    assert not_shown(told, "is(parse('a ; b'), 'a');", "", "") == []


def test_an_example_of_a_form_is_shown_by_other_numbers() -> None:
    task = TaskSpec(id="1", title="Add --top N", description='At the end, "top 2026-05-03 30.5 mm" for the wettest.')
    assert inputs(task) == ["top 2026-05-03 30.5 mm"]
    assert not_shown(task, 'assert out == "top 2026-05-01 12.5 mm"', "", "") == []
    assert inputs(TaskSpec(id="1", title="x", description='It ends with lines like "top 3 mm of it".')) == []
    assert inputs(TaskSpec(id="1", title="x", description='Sort "room 7 b" first')) == ["room 7 b"]
    assert not_shown(TaskSpec(id="1", title="x", description='Sort "room 7 b" first'), "f('hall 3 c')", "", "")


@pytest.mark.parametrize(
    ("test", "left"),
    [
        ('assertIn("line 4", str(caught.exception))', []),
        ('assertIn("row 4", str(caught.exception))', ["line N"]),
    ],
)
def test_a_form_with_a_blank_is_shown_by_what_fills_it(test: str, left: list[str]) -> None:
    task = TaskSpec(id="1", title="Bad lines", accept=('for "line N" it says which',))
    assert [one for one in not_shown(task, test, test, "") if "line" in one] == left


def test_a_form_of_blanks_may_have_other_names_in_them() -> None:
    told = TaskSpec(id="1", title="Nested", description='it fills in "<${cost}>!" too')
    assert not_shown(told, "is(fill('<${d.e}>!'), '<1>!');", "", "") == []
    assert not_shown(told, "is(fill('${d.e}'), '1');", "", "") == ["<${cost}>!"]


def test_a_file_that_is_called_by_its_name_is_no_input() -> None:
    assert names(TaskSpec(id="1", title="Re-export both in the package's __init__, and run __main__")) == []
    assert names(TaskSpec(id="1", title="Give Basket a __len__")) == ["__len__"]


@pytest.mark.parametrize(("test", "left"), [("'42.3%' in out", []), ("'42.3' in out", ["29.7%"]), ("out", ["29.7%"])])
def test_a_value_that_stands_for_its_like_is_shown_by_another(test: str, left: list[str]) -> None:
    task = TaskSpec(id="1", title="x", description='The share is a text like "29.7%"')
    assert not_shown(task, test, test, "") == left


def test_a_file_of_data_that_a_script_compares_shows_a_criterion() -> None:
    task = TaskSpec(id="1", title="x", accept=("a", "b", "c"))
    assert fewer_than_criteria(task, "hours --project acme\n") and not fewer_than_criteria(task, "hours --p a\n", 2)


def test_rows_of_a_map_are_inputs_as_well() -> None:
    task = TaskSpec(id="1", title="x", accept=tuple(f"{one} gives 1" for one in "abcdef"))
    more = '\t"12P": "PP",\n\t"2P": "PP",\n'
    rows = f'for in, want := range map[string]string{{\n\t"3PB": "PPPB",\n{more}}} {{\n\tt.Errorf("%s", in)\n}}\n'
    assert fewer_than_criteria(task, rows) == ""
    assert fewer_than_criteria(task, rows.replace(more, ""))
