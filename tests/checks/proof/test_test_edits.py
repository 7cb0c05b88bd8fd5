"""Edits of tests, told apart by syntax: what only adds or moves asks nothing, what takes away always does."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core.grant_grammar import grants_of, parse_entry
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import Transformed, transform
from engine.perform.checks.proof.test_edits import edits_of
from engine.perform.checks.proof.test_shape import EditKind
from tests.depth import examples

K = EditKind
HEAD = "import pytest\nfrom shop import add\n\n\n"


def kinds(before: str, after: str | None, path: str = "tests/test_a.py") -> list[EditKind]:
    new = {path: after.encode()} if after is not None else {}
    return [edit.kind for edit in edits_of({path: before.encode()}, new, [path])]


def test_(body: str, head: str = "def test_a():") -> str:
    return HEAD + head + "\n" + "".join(f"    {line}\n" for line in body.split("\n"))


test_.__test__ = False  # type: ignore[attr-defined]

ONE = test_("x = add(1, 2)\nassert x == 3")
PARAMS = HEAD + "@pytest.mark.parametrize('a', [1, 2])\ndef test_a(a):\n    assert add(a, 0) == a\n"

PYTHON = {
    "nothing": (ONE, ONE, []),
    "layout, comments, docstring": (ONE, ONE.replace("    x = add(1, 2)", "    '''A.'''\n    x = add( 1,2 )  # x"), []),
    "type hints": (ONE, ONE.replace("def test_a():", "def test_a() -> None:").replace("x = ", "x: int = "), []),
    "another way to import": (
        "from shop import cart\n\ndef test_a():\n    assert cart.add(1, 2) == 3\n",
        "from shop.cart import add\n\ndef test_a():\n    assert add(1, 2) == 3\n",
        [],
    ),
    "assertions as a loop over what they differ in": (
        test_("assert add(1, 0) == 1\nassert add(2, 0) == 2"),
        test_("for n in (1, 2):\n    assert add(n, 0) == n"),
        [K.STRONGER],
    ),
    "as a loop in another order, with other answers": (
        HEAD + "class T:\n    def test_a(self):\n        self.assertRaises(ValueError, add, 1)\n"
        "        self.assertRaises(ValueError, add, 2)\n        self.assertRaises(ValueError, add, '3')\n",
        HEAD + "class T:\n    def test_a(self):\n        for n in ('3', 1):\n            with self.subTest(n=n):\n"
        "                self.assertRaises(TypeError, add, n)\n        self.assertRaises(TypeError, add, 2)\n",
        [K.SAME_SHAPE],
    ),
    "as a loop over fewer of them": (
        test_("assert add(1, 0) == 1\nassert add(2, 0) == 2\nassert add(3, 0) == 3"),
        test_("for n in (1, 2):\n    assert add(n, 0) == n"),
        [K.WEAKER],
    ),
    "as a loop that is left early": (
        test_("assert add(1, 0) == 1\nassert add(2, 0) == 2"),
        test_("for n in (1, 2):\n    assert add(n, 0) == n\n    break"),
        [K.WEAKER],
    ),
    "as a loop over nothing": (
        test_("assert add(1, 0) == 1"), test_("for n in ():\n    assert add(n, 0) == n"), [K.WEAKER],
    ),
    "other constants under another name": (
        test_("assert add(14, 0) == 14", "def test_up_to_fourteen():"),
        test_("assert add(11, 0) == 11", "def test_up_to_eleven():"),
        [K.SAME_SHAPE],
    ),
    "another test under another name": (
        test_("assert add(14, 0) == 14", "def test_up_to_fourteen():"),
        test_("assert add(14, 0)", "def test_up_to_eleven():"),
        [K.DELETED],
    ),
    "a test more": (ONE, ONE + "\n\ndef test_b():\n    assert add(1, 1) == 2\n", []),
    "an assertion more": (ONE, ONE + "    assert x > 2\n", [K.STRONGER]),
    "an assertion more, before": (ONE, test_("x = add(1, 2)\nassert x\nassert x == 3"), [K.STRONGER]),
    "a mark that let it fail is gone": (ONE.replace("def", "@pytest.mark.xfail(strict=True)\ndef"), ONE, [K.STRONGER]),
    "a mark that lets it fail is new": (ONE, ONE.replace("def", "@pytest.mark.xfail(strict=True)\ndef"), [K.SKIPPED]),
    "the message is looked at": (
        test_("with pytest.raises(ValueError):\n    add(None)"),
        test_("with pytest.raises(ValueError, match='no'):\n    add(None)"),
        [K.STRONGER],
    ),
    "the message is not looked at any more": (
        test_("with pytest.raises(ValueError, match='no'):\n    add(None)"),
        test_("with pytest.raises(ValueError):\n    add(None)"),
        [K.CHANGED],
    ),
    "another answer in another form": (
        test_("x = add(1, 2)\nassert str(x) == '3'"),
        test_("x = add(1, 2)\ny = add(2, 2)\nassert str(x).split() == ['3', '7']"),
        [K.SAME_SHAPE],
    ),
    "another answer to something else": (
        test_("x = add(1, 2)\nassert str(x) == '3'"),
        test_("x = add(1, 2)\nassert len('abc') == 4"),
        [K.CHANGED],
    ),
    "an answer that is not written out": (
        test_("x = add(1, 2)\nassert str(x) == '3'"),
        test_("x = add(1, 2)\nassert str(x).split() == str(x).split()"),
        [K.CHANGED],
    ),
    "a looser comparison in another form": (
        test_("x = add(1, 2)\nassert str(x) == '3'"),
        test_("x = add(1, 2)\nassert str(x) in ['3', '4']"),
        [K.CHANGED],
    ),
    "a way out before the answer": (
        test_("x = add(1, 2)\nassert str(x) == '3'"),
        test_("x = add(1, 2)\nif x:\n    return\nassert str(x).split() == ['3']"),
        [K.CHANGED],
    ),
    "a step less": (
        test_("x = add(1, 2)\nadd(3, 4)\nassert str(x) == '3'"),
        test_("x = add(1, 2)\nassert str(x).split() == ['3']"),
        [K.CHANGED],
    ),
    "a case more": (PARAMS, PARAMS.replace("[1, 2]", "[1, 2, 3]"), [K.STRONGER]),
    "a case less": (PARAMS, PARAMS.replace("[1, 2]", "[1]"), [K.SAME_SHAPE]),
    "another value": (ONE, test_("x = add(1, 2)\nassert x == 4"), [K.SAME_SHAPE]),
    "another argument": (ONE, test_("x = add(1, 2, mode='x')\nassert x == 3"), [K.SAME_SHAPE]),
    "another exception": (
        test_("with pytest.raises(ValueError):\n    add(None)"),
        test_("with pytest.raises(TypeError):\n    add(None)"),
        [K.SAME_SHAPE],
    ),
    "any exception": (
        test_("with pytest.raises(ValueError):\n    add(None)"),
        test_("with pytest.raises(Exception):\n    add(None)"),
        [K.CHANGED],
    ),
    "no message asked": (
        test_("with pytest.raises(ValueError, match='x'):\n    add(None)"),
        test_("with pytest.raises(ValueError):\n    add(None)"),
        [K.CHANGED],
    ),
    "the call is gone": (
        test_("assertEqual(add(1, 2), 3)"),
        test_("assertEqual(3, 3)"),
        [K.CHANGED],
    ),
    "the compared call is gone": (test_("assert add(1, 2) == 3"), test_("assert 3 == 3"), [K.CHANGED]),
    "an operator": (test_("assert add(1, 2) == 3"), test_("assert add(1, 2) >= 3"), [K.CHANGED]),
    "or True": (test_("assert add(1, 2) == 3"), test_("assert add(1, 2) == 3 or True"), [K.CHANGED]),
    "a name bound again": (ONE, test_("x = add(1, 2)\nx = 3\nassert x == 3"), [K.CHANGED]),
    "a return before": (ONE, test_("x = add(1, 2)\nreturn\nassert x == 3"), [K.CHANGED]),
    "an assertion less": (ONE + "    assert x > 0\n", ONE, [K.WEAKER]),
    "skipped": (ONE, ONE.replace("def test_a", "@pytest.mark.skip\ndef test_a"), [K.SKIPPED]),
    "skipped inside": (ONE, ONE.replace("    x =", "    pytest.skip('x')\n    x ="), [K.SKIPPED]),
    "marked to fail": (ONE, ONE.replace("def test_a", "@pytest.mark.xfail\ndef test_a"), [K.SKIPPED]),
    "gone": (ONE, HEAD, [K.DELETED]),
    "file gone": (ONE, None, [K.DELETED]),
    "renamed": (ONE, ONE.replace("test_a", "test_better"), [K.MOVED]),
    "not a test any more": (ONE, ONE.replace("test_a", "_a"), [K.DELETED]),
    "in a class nobody collects": (
        "class TestA:\n    def test_a(self):\n        assert add(1, 2) == 3\n",
        "class HelperA:\n    def test_a(self):\n        assert add(1, 2) == 3\n",
        [K.MOVED, K.DELETED],
    ),
    "a class renamed": (
        "class TestA:\n    def test_a(self):\n        assert add(1, 2) == 3\n",
        "class TestB:\n    def test_a(self):\n        assert add(1, 2) == 3\n",
        [K.MOVED, K.MOVED],
    ),
    "not readable": (ONE, "def (", [K.CHANGED]),
    "raises grows a line": (
        test_("with pytest.raises(ValueError):\n    add(None)"),
        test_("with pytest.raises(ValueError):\n    raise ValueError\n    add(None)"),
        [K.CHANGED],
    ),
    "a loop over nothing": (
        test_("for i in (1, 2):\n    assert add(i, 0) == i"),
        test_("for i in ():\n    assert add(i, 0) == i"),
        [K.WEAKER],
    ),
    "a fixture edited": (
        "import pytest\n@pytest.fixture\ndef one():\n    return 1\ndef test_a(one):\n    assert one == 1\n",
        "import pytest\n@pytest.fixture\ndef one():\n    return 2\ndef test_a(one):\n    assert one == 1\n",
        [K.SAME_SHAPE],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PYTHON)
def test_python_edits(name: str) -> None:
    before, after, expected = PYTHON[name]
    assert kinds(before, after) == expected


def test_a_test_that_moved_to_another_file_is_not_gone() -> None:
    done = edits_of(
        {"tests/a.py": ONE.encode(), "tests/b.py": b"\n"},
        {"tests/b.py": ONE.encode()},
        ["tests/a.py", "tests/b.py"],
    )
    assert [(e.kind, e.now) for e in done] == [(K.MOVED, "tests/b.py::test_a")]


JS = """const assert = require('node:assert');
describe('cart', () => {
  it('adds', () => {
    assert.strictEqual(add(1, 2), 3); // one
    assert.ok(true);
  });
});
"""
GO = 'package a\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("x")\n\t}\n}\n'
RUST = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"
JAVA = "class T {\n  @Test\n  void adds() {\n    assertEquals(3, add(1, 2));\n  }\n}\n"

TEXT = {
    "js layout": ("a.test.js", JS, JS.replace("// one", "/* two */").replace("    assert", "  assert"), []),
    "js more": ("a.test.js", JS, JS.replace("    assert.ok", "    assert.ok(add);\n    assert.ok"), [K.STRONGER]),
    "js value": ("a.test.js", JS, JS.replace(", 3)", ", 4)"), [K.SAME_SHAPE]),
    "js less": ("a.test.js", JS, JS.replace("    assert.ok(true);\n", ""), [K.WEAKER]),
    "js commented": ("a.test.js", JS, JS.replace("    assert.ok", "    // assert.ok"), [K.WEAKER]),
    "js gone": ("a.test.js", JS, JS[: JS.index("  it")] + "});\n", [K.DELETED]),
    "js skip": ("a.test.js", JS, JS.replace("it(", "it.skip("), [K.SKIPPED]),
    "js file gone": ("a.test.js", JS, None, [K.DELETED, K.DELETED]),
    "js renamed": ("a.test.js", JS, JS.replace("'adds'", "'adds two'"), [K.MOVED]),
    "go value": ("a_test.go", GO, GO.replace("!= 3", "!= 4"), [K.SAME_SHAPE]),
    "go less": ("a_test.go", GO, GO.replace('t.Fatal("x")', "_ = t"), [K.WEAKER]),
    "go gone": ("a_test.go", GO, "package a\n", [K.DELETED]),
    "go more": ("a_test.go", GO, GO + GO.replace("TestAdd", "TestMore").partition("\n\n")[2], []),
    "rust less": ("src/lib.rs", RUST, RUST.replace("assert_eq!(add(1, 2), 3);", ""), [K.WEAKER]),
    "rust ignored": ("src/lib.rs", RUST, RUST.replace("fn adds", "#[ignore]\nfn adds"), [K.SKIPPED]),
    "java value": ("ATest.java", JAVA, JAVA.replace("(3,", "(4,"), [K.SAME_SHAPE]),
    "java disabled": ("ATest.java", JAVA, JAVA.replace("@Test", "@Disabled @Test"), [K.SKIPPED]),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXT)
def test_other_languages(name: str) -> None:
    path, before, after, expected = TEXT[name]
    assert kinds(before, after, path) == expected


def owned(before: str, after: str | None, path: str = "tests/test_a.py", owner: Owner = Owner.TEST) -> Owned:
    return Owned(path=path, owner=owner, before=before.encode(), after=after.encode() if after is not None else None)


def judged(one: Owned, allow: list[str], red: tuple[str, ...] = ()) -> tuple[Transformed, list[str]]:
    grants = grants_of(allow)
    done = transform(
        {one.path: one.before or b""}, {one.path: one.after} if one.after is not None else {}, [one], grants
    )
    return done, [question.allow for question in edit_questions([one], grants, done, red)]


@pytest.mark.parametrize("name", [n for n, (_, _, found) in PYTHON.items() if found])
def test_each_question_names_the_entry_that_grants_it(name: str) -> None:
    """Whatever is asked: adding the entry asks nothing any more."""
    before, after, _ = PYTHON[name]
    for red in ((), ("tests/test_a.py::test_a",)):
        one = owned(before, after)
        _, asked = judged(one, [], red)
        for entry in asked:
            assert parse_entry(entry)
        assert judged(one, asked, red)[1] == []


@pytest.mark.parametrize("name", TEXT)
def test_the_same_in_other_languages(name: str) -> None:
    path, before, after, _ = TEXT[name]
    one = owned(before, after, path)
    _, asked = judged(one, [])
    assert judged(one, asked)[1] == []


def test_only_what_takes_away_asks_when_the_old_tests_hold() -> None:
    asks = {name: judged(owned(b, a), [])[1] for name, (b, a, _) in PYTHON.items()}
    quiet = {"nothing", "layout, comments, docstring", "type hints", "another way to import", "a test more"}
    quiet |= {"an assertion more", "an assertion more, before", "a case more", "renamed"}
    assert all(asks[name] == [] for name in quiet)
    assert all(asks[name] for name in ("an assertion less", "gone", "file gone", "skipped", "or True", "any exception"))


def test_a_behaviour_change_excuses_the_same_shape_and_wants_it_red() -> None:
    before, after, _ = PYTHON["another value"]
    done, asked = judged(owned(before, after), ["change behaviour"], ("tests/test_a.py::test_a",))
    excuse = done.excuse("tests/test_a.py::test_a")
    assert asked == [] and excuse is not None and excuse.red_on_base
    before, after, _ = PYTHON["or True"]
    done, asked = judged(owned(before, after), ["change behaviour"], ("tests/test_a.py::test_a",))
    assert asked == ["edit tests tests/test_a.py::test_a"] and done.excuse("tests/test_a.py::test_a") is None


def test_a_behaviour_change_of_one_thing_covers_tests_that_mention_it() -> None:
    before, after, _ = PYTHON["another value"]
    red = ("tests/test_a.py::test_a",)
    assert judged(owned(before, after), ["change behaviour of shop.add"], red)[1] == []
    assert judged(owned(before, after), ["change behaviour of shop.total"], red)[1] == ["change behaviour"]


BODY = st.lists(
    st.sampled_from(
        ["x = add(1, 2)", "assert add(1, 1) == 2", "assert x", "y = [1, 2]", "assert y == [1, 2]", "print(y)", "x = 3"]
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=examples(150), deadline=None)
@given(BODY, BODY)
def test_what_is_called_stronger_holds_every_old_statement(old: list[str], new: list[str]) -> None:
    before, after = (test_("\n".join(lines)) for lines in (old, new))
    if kinds(before, after) == [K.STRONGER]:
        rest = iter(ast.dump(s) for s in ast.parse("\n".join(new)).body)
        assert all(ast.dump(s) in rest for s in ast.parse("\n".join(old)).body)


@settings(max_examples=examples(150), deadline=None)
@given(BODY, BODY)
def test_nothing_is_quiet_with_fewer_assertions(old: list[str], new: list[str]) -> None:
    before, after = (test_("\n".join(lines)) for lines in (old, new))
    if sum("assert" in s for s in new) < sum("assert" in s for s in old):
        assert judged(owned(before, after), [])[1]
