"""`delete X` drops the tests that need X, no others, and none while X is still there."""

from __future__ import annotations

import ast

import pytest

from engine.core.grant_grammar import grants_of
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import Transformed, transform

CART = (
    "def add(a, b):\n    return a + b\n\n\ndef old(x, mode=1):\n    return x\n\n\n"
    "class Cart:\n    def clear(self):\n        pass\n"
)
GONE = "def add(a, b):\n    return a + b\n\n\nclass Cart:\n    pass\n"
TESTS = """import pytest
import shop.cart
from shop.cart import Cart, add, old


@pytest.fixture
def filled():
    return old(3)


def test_add():
    assert add(1, 2) == 3


def test_old():
    assert old(1) == 1


def test_by_module():
    assert shop.cart.old(2) == 2


def test_by_fixture(filled):
    assert filled == 3


class TestCart:
    def test_clear(self):
        Cart().clear()

    def test_other(self):
        assert Cart()


def test_patched(monkeypatch):
    monkeypatch.setattr("shop.cart.old", None)
"""


def run(allow: str, source: str | None, tests_now: str | None = None, path: str = "shop/cart.py") -> Transformed:
    changed = [
        Owned(
            path=path, owner=Owner.SUBJECT, before=CART.encode(), after=source.encode() if source is not None else None
        ),
        Owned(
            path="tests/test_it.py",
            owner=Owner.TEST,
            before=TESTS.encode(),
            after=tests_now.encode() if tests_now is not None else None,
        ),
    ]
    return transform({"tests/test_it.py": TESTS.encode()}, {"shop/__init__.py": b""}, changed, grants_of([allow]))


def names(done: Transformed) -> set[str]:
    return {id.removeprefix("tests/test_it.py::") for id in done.dropped}


USES_OLD = {"test_old", "test_by_module", "test_by_fixture", "test_patched"}


@pytest.mark.parametrize("allow", ["delete shop.cart.old", "delete old", "remove `old()`"])
def test_only_tests_that_need_it_go(allow: str) -> None:
    done = run(allow, GONE)
    assert names(done) == USES_OLD
    kept = (done.files["tests/test_it.py"] or b"").decode()
    ast.parse(kept)
    assert "def test_add" in kept and "def test_other" in kept and "old" not in kept
    assert kept.count("\n") == TESTS.count("\n")
    assert "    assert add(1, 2) == 3" in kept.splitlines()[TESTS.splitlines().index("    assert add(1, 2) == 3")]


def test_a_method() -> None:
    assert names(run("delete Cart.clear", GONE)) == {"TestCart::test_clear"}


def test_a_module() -> None:
    done = run("delete shop.cart", None)
    assert names(done) == {*USES_OLD, "test_add", "TestCart::test_clear", "TestCart::test_other"}


@pytest.mark.parametrize("allow", ["delete shop.cart.old", "delete Cart.clear", "delete shop.cart", "delete nothing"])
def test_what_is_still_there_drops_nothing(allow: str) -> None:
    done = run(allow, CART + "\n")
    assert done.dropped == () and done.files == {}


def test_tests_deleted_beyond_what_the_grant_covers_are_asked() -> None:
    without_add = TESTS.replace("def test_add():\n    assert add(1, 2) == 3\n", "")
    done = run("delete old", GONE, without_add)
    changed = [Owned(path="tests/test_it.py", owner=Owner.TEST, before=TESTS.encode(), after=without_add.encode())]
    asked = edit_questions(changed, grants_of(["delete old"]), done)
    assert [q.allow for q in asked] == ["delete tests tests/test_it.py::test_add"]


JS = """const { add, old } = require('../src/cart');
const legacy = require('../src/legacy');
test('adds', () => { assert.equal(add(1, 2), 3); });
test('old', () => { assert.equal(old(1), 1); });
test('legacy', () => { assert.ok(legacy.x); });
"""


@pytest.mark.parametrize(
    ("allow", "path", "before", "after", "dropped"),
    [
        ("delete old", "src/cart.js", "function old() {}", "", ["tests/a.test.js::old"]),
        ("delete src/legacy.js", "src/legacy.js", "x", None, ["tests/a.test.js::legacy"]),
        ("delete old", "src/cart.js", "function old() {}", "function old() { }", []),
    ],
)
def test_other_languages(allow: str, path: str, before: str, after: str | None, dropped: list[str]) -> None:
    changed = [
        Owned(
            path=path, owner=Owner.SUBJECT, before=before.encode(), after=after.encode() if after is not None else None
        ),
        Owned(path="tests/a.test.js", owner=Owner.TEST, before=JS.encode(), after=JS.encode() + b"\n"),
    ]
    done = transform({"tests/a.test.js": JS.encode()}, {}, changed, grants_of([allow]))
    assert list(done.dropped) == dropped
    if dropped:
        assert b"adds" in (done.files["tests/a.test.js"] or b"")


READS = "import os\n\n\ndef bullet():\n    return os.environ.get('TOC_BULLET', '-')\n"
READS_TESTS = (
    "def test_variable(monkeypatch):\n    monkeypatch.setenv('TOC_BULLET', '+')\n    assert bullet() == '+'\n\n\n"
    "def test_default():\n    assert bullet() == '-'\n"
)


@pytest.mark.parametrize(
    ("source", "dropped"), [("def bullet():\n    return '-'\n", {"test_variable"}), (READS + "X = 1\n", set())]
)
def test_a_variable_of_the_environment(source: str, dropped: set[str]) -> None:
    changed = [
        Owned(path="toc.py", owner=Owner.SUBJECT, before=READS.encode(), after=source.encode()),
        Owned(path="tests/test_it.py", owner=Owner.TEST, before=READS_TESTS.encode(), after=READS_TESTS.encode()),
    ]
    grants = grants_of(["delete TOC_BULLET"])
    done = transform({"tests/test_it.py": READS_TESTS.encode()}, {"toc.py": b""}, changed, grants)
    assert names(done) == dropped


REPORT = (
    "package report\n\nfunc ByHost(s string) string { return s }\n\nfunc ByPath(s string) string { return s + s }\n"
)
TABLE = """package report

import (
	"reflect"
	"testing"
)

func TestCount(t *testing.T) {
	for _, test := range []struct {
		name string
		key  func(string) string
		want []string
	}{
		{"by path", ByPath, []string{"aa"}},
		{"by host", ByHost, []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := []string{test.key("a")}; !reflect.DeepEqual(got, test.want) {
				t.Error(got)
			}
		})
	}
}

func TestByPath(t *testing.T) {
	if ByPath("b") != "bb" {
		t.Error("not twice")
	}
}
"""


def in_go(before: str) -> Transformed:
    gone = REPORT.replace("func ByHost(s string) string { return s }\n\n", "")
    changed = [
        Owned(path="report.go", owner=Owner.SUBJECT, before=REPORT.encode(), after=gone.encode()),
        Owned(path="report_test.go", owner=Owner.TEST, before=before.encode(), after=b"package report\n"),
    ]
    return transform({"report_test.go": before.encode()}, {}, changed, grants_of(["delete ByHost"]))


def test_a_row_of_a_table_in_go_goes_and_the_others_stay() -> None:
    done = in_go(TABLE)
    kept = (done.files["report_test.go"] or b"").decode()
    assert "report_test.go::TestCount/by_host" in done.dropped and "report_test.go::TestCount" not in done.dropped
    assert "ByHost" not in kept and '{"by path", ByPath, []string{"aa"}},' in kept
    assert kept.count("\n") == TABLE.count("\n")


def test_a_test_in_go_that_needs_it_beside_its_table_goes_with_the_imports_of_its_own() -> None:
    done = in_go(TABLE.replace('test.key("a")', 'ByHost("a")'))
    kept = (done.files["report_test.go"] or b"").decode()
    assert "report_test.go::TestCount" in done.dropped and "func TestCount" not in kept
    assert '_ "reflect"' in kept and '\t"testing"' in kept, "the compiler refuses an import that nobody uses"
