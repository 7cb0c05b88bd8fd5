"""A deleted test whose question another one asks, and what an order to take something away lets go."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.asked_again import asks_the_same, kept_inside
from engine.perform.checks.proof.source_text import tokens
from engine.perform.checks.proof.test_edits import units_of
from engine.plans.leanings import takes_away
from tests.checks.proof.test_judged import judged

P = ProofVerdict
OLD = "import pytest\n\n\ndef test_where(stock):\n    assert stock.where('name').rows == [1]\n"


ASSERTS = "assert stock.where('name').rows == [1]"


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        pytest.param(f"with pytest.warns(DeprecationWarning):\n        {ASSERTS}", True, id="warns"),
        pytest.param(f"with warnings.catch_warnings():\n        {ASSERTS}", True, id="caught"),
        pytest.param(f"{ASSERTS}\n    assert stock.done", True, id="more"),
        pytest.param(f"with pytest.raises(AssertionError):\n        {ASSERTS}", False, id="raises"),
        pytest.param(f"with suppress(AssertionError):\n        {ASSERTS}", False, id="suppressed"),
        pytest.param(f"return\n    {ASSERTS}", False, id="never reached"),
        pytest.param("with pytest.warns(Warning):\n        assert stock.where('name').rows", False, id="less"),
        pytest.param(f"if stock.odd:\n        {ASSERTS}", False, id="sometimes"),
    ],
)  # fmt: skip
def test_everything_of_a_test_is_in_another(new: str, kept: bool) -> None:
    old = units_of(OLD.encode()) or {}
    now = units_of(f"import pytest\n\n\ndef test_where_is_deprecated(stock):\n    {new}\n".encode()) or {}
    assert kept_inside(old["test_where"], now["test_where_is_deprecated"]) is kept


@pytest.mark.parametrize(
    ("path", "old", "new", "same"),
    [
        ("t.py", "assert read('x.tsv').columns == ['a']", "with raises(Bad):\n    read('x.tsv')", True),
        ("t.py", "assert read('x.tsv').columns == ['a']", "with raises(Bad):\n    read('y.tsv')", False),
        ("t.py", "assert read('x.tsv') == write(3)", "with raises(Bad):\n    read('x.tsv')", False),
        ("t.py", "assert stock.count == 3", "assert stock.count == 4", False),
        ("t.js", "const { status } = run(['query', 'a=1']);\nassert.equal(status, 0);",
         "const { stderr, status } = run(['query', 'a=1']);\nassert.equal(status, 2);", True),
        ("t.js", "assert.equal(run(['query']).status, 0);", "assert.equal(run(['links']).status, 0);", False),
    ],
)  # fmt: skip
def test_the_same_calls_with_the_same_values(path: str, old: str, new: str, same: bool) -> None:
    assert asks_the_same(tokens(path, old), tokens(path, new)) is same


@pytest.mark.parametrize(
    ("text", "test", "taken"),
    [
        ("Drop support for TSV files", "test_tsv_file", True),
        ("Tables are slow\nRemove the query command with its test.", "query run(['query'])", True),
        ("chore: remove TSV", "test_tsv", True),
        ("Drop support for TSV files", "test_csv_file", False),
        ("TSV files are read wrongly", "test_tsv_file", False),
        ("Fix the limit. Do not remove the query command", "test_query", False),
        ("Remove the files with tests", "test_files", False),
    ],
)
def test_an_order_to_take_away_names_what_goes(text: str, test: str, taken: bool) -> None:
    assert takes_away(text, test) is taken


READ = "def read(name):\n    if name.endswith('.tsv'):\n        return 'tabs'\n    return 'commas'\n"
REFUSES = READ.replace("return 'tabs'", "raise ValueError('no .tsv files')")
TESTS = "import pytest\n\nfrom table import read\n\n\ndef test_commas():\n    assert read('x.csv') == 'commas'\n\n\n"
BASE = {"table.py": READ, "tests/test_read.py": TESTS + "def test_tsv():\n    assert read('x.tsv') == 'tabs'\n"}
REFUSED = (
    TESTS + "def test_tsv_is_refused():\n    with pytest.raises(ValueError, match='no .tsv'):\n        read('x.tsv')\n"
)


DROP, DONE = "Drop support for TSV files", {"table.py": REFUSES, "tests/test_read.py": REFUSED}
STILL = (
    TESTS
    + "def test_more():\n    assert read('x.x.csv') == 'two'\n\n\ndef test_still():\n    assert read('x.tsv') != ''\n"
)


@pytest.mark.parametrize(
    ("title", "after", "verdict"),
    [
        pytest.param(DROP, DONE, P.PROVEN, id="dropped"),
        pytest.param("Tabs are read faster", DONE, P.QUESTION, id="not asked for"),
        pytest.param(
            DROP,
            DONE | {"tests/test_read.py": REFUSED.replace("x.tsv", ".tsv")},
            P.PROVEN, id="another input",
        ),
        pytest.param(
            DROP,
            {"table.py": READ.replace("'commas'", "'two' if '.x' in name else 'commas'"), "tests/test_read.py": STILL},
            P.QUESTION, id="it still held",
        ),
    ],
)  # fmt: skip
async def test_the_test_of_what_was_removed(tmp_path: Path, title: str, after: dict[str, str], verdict: P) -> None:
    done = await judged(tmp_path, BASE, after, title=title)
    assert done.proof is verdict, done.reason


WHERE = """import warnings


def filter_by(x):
    return x + 1


def where(x):
    warnings.warn("use filter_by", DeprecationWarning, stacklevel=2)
    return filter_by(x)
"""
DEPRECATED = """import pytest

from table import filter_by, where


def test_filter_by():
    assert filter_by(1) == 2


def test_where_is_deprecated():
    with pytest.warns(DeprecationWarning, match="filter_by"):
        assert where(1) == 2
"""


async def test_a_test_that_lives_on_below_a_look_at_warnings(tmp_path: Path) -> None:
    test = "from table import where\n\n\ndef test_where():\n    assert where(1) == 2\n"
    base = {"table.py": "def where(x):\n    return x + 1\n", "tests/test_t.py": test}
    after = {"table.py": WHERE, "tests/test_t.py": DEPRECATED}
    done = await judged(tmp_path, base, after, title="Deprecate where() in favour of filter_by()")
    assert done.proof is P.PROVEN, done.reason
