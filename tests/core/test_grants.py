"""The grammar of `allow:`: every form is read, everything else is refused with what to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.grant_grammar import FORMS, check_entry, entries_of, grants_of, parse_entry, split_entries
from engine.core.grants import Grant, GrantError, GrantKind

K = GrantKind

READ = {
    "rename add to plus": [(K.RENAME, "add", "plus")],
    "rename `shop.cart.add()` to `shop.cart.put()`": [(K.RENAME, "shop.cart.add", "shop.cart.put")],
    "Rename Cart to Basket": [(K.RENAME, "Cart", "Basket")],
    "rename a => b": [(K.RENAME, "a", "b")],
    "move shop.util to shop.tools.util": [(K.MOVE, "shop.util", "shop.tools.util")],
    "move src/a.js to src/lib/a.js": [(K.MOVE, "src/a.js", "src/lib/a.js")],
    "delete shop.legacy": [(K.DELETE, "shop.legacy", "")],
    "remove shop/legacy.py": [(K.DELETE, "shop/legacy.py", "")],
    "delete tests tests/test_old.py": [(K.DELETE_TESTS, "tests/test_old.py", "")],
    "delete test tests/test_a.py::test_x[1, 2]": [(K.DELETE_TESTS, "tests/test_a.py::test_x[1, 2]", "")],
    "delete tests in tests/old/**": [(K.DELETE_TESTS, "tests/old/**", "")],
    "edit tests": [(K.EDIT_TESTS, "", "")],
    "edit tests tests/test_a.py::test_x": [(K.EDIT_TESTS, "tests/test_a.py::test_x", "")],
    "skip tests tests/slow/**": [(K.SKIP_TESTS, "tests/slow/**", "")],
    "rename test tests/a.py::test_x to tests/a.py::test_y": [
        (K.RENAME_TEST, "tests/a.py::test_x", "tests/a.py::test_y")
    ],
    "change behaviour": [(K.CHANGE_BEHAVIOUR, "", "")],
    "change behavior of shop.total": [(K.CHANGE_BEHAVIOUR, "shop.total", "")],
    "edit Makefile": [(K.EDIT, "Makefile", "")],
    "edit tests/golden/": [(K.EDIT, "tests/golden/**", "")],
    "edit tests/data/{a,b}.json": [(K.EDIT, "tests/data/{a,b}.json", "")],
    "configure ruff": [(K.CONFIGURE, "ruff", "")],
    "suppress F401 in shop/__init__.py": [(K.SUPPRESS, "F401", "shop/__init__.py")],
    "suppress no-unused-vars in src/a.js": [(K.SUPPRESS, "no-unused-vars", "src/a.js")],
    "change dependencies": [(K.DEPENDENCIES, "", "")],
    "accept suspicious-source in shop/a.py": [(K.ACCEPT, "suspicious-source", "shop/a.py")],
    # older plans
    "delete-tests": [(K.DELETE_TESTS, "", "")],
    "change-tests:tests/a/**": [(K.EDIT_TESTS, "tests/a/**", "")],
    "suppress": [(K.SUPPRESS, "", "")],
    "suppress:src/a.py": [(K.SUPPRESS, "", "src/a.py")],
    "lower-coverage": [(K.ACCEPT, "coverage-lower", "")],
    "test-gone": [(K.ACCEPT, "test-gone", "")],
    "config-changed:Makefile": [(K.ACCEPT, "config-changed", "Makefile")],
    "rename:tests/a.py::test_x=>tests/b.py::test_x": [(K.RENAME_TEST, "tests/a.py::test_x", "tests/b.py::test_x")],
    "tests/test_a.py::test_x": [
        (K.DELETE_TESTS, "tests/test_a.py::test_x", ""),
        (K.EDIT_TESTS, "tests/test_a.py::test_x", ""),
        (K.SKIP_TESTS, "tests/test_a.py::test_x", ""),
    ],
}


@pytest.mark.parametrize(("entry", "expected"), READ.items())
def test_each_form_is_read(entry: str, expected: list[tuple[GrantKind, str, str]]) -> None:
    assert [(g.kind, g.target, g.to) for g in parse_entry(entry)] == expected


def test_every_kind_has_a_form_and_is_read_from_it() -> None:
    words = {"OLD": "a.b", "NEW": "a.c", "NAME": "a.b", "WHICH": "tests/a.py", "FILE": "a.py", "PLACE": "a.py"}
    words |= {"TOOL": "ruff", "CODE": "F401", "RULE": "test-gone", "[of": "of", "NAME]": "a.b"}
    seen = {parse_entry(" ".join(words.get(w, w) for w in form.split()))[0].kind for form in FORMS}
    assert seen == set(GrantKind)


@pytest.mark.parametrize(
    "entry",
    [
        "everything",
        "delete-test",
        "rename a",
        "rename to b",
        "rename a b to c",
        "edit **",
        "edit *",
        "edit */*",
        "edit /etc/passwd",
        "edit ../x",
        "edit a file somewhere",
        "edit",
        "accept anything in a.py",
        "change the output",
        "skip",
        "allow all",
        "delete",
        "delete the old thing",
        "configure",
        "",
        "`",
    ],
)
def test_what_is_no_entry_is_refused_with_what_to_write(entry: str) -> None:
    with pytest.raises(GrantError) as refused:
        parse_entry(entry)
    assert refused.value.what and refused.value.expected and refused.value.fix


def test_a_line_holds_several_entries() -> None:
    assert split_entries("rename a to b, edit tests/{x,y}.json, delete test t.py::t[1, 2]") == [
        "rename a to b",
        "edit tests/{x,y}.json",
        "delete test t.py::t[1, 2]",
    ]


def test_older_plans_wrote_blanks_between() -> None:
    assert entries_of("delete-tests skip-tests tests/a.py::test_x") == [
        "delete-tests",
        "skip-tests",
        "tests/a.py::test_x",
    ]
    assert entries_of("rename a to b") == ["rename a to b"]


def test_what_an_older_journal_holds_gives_nothing_when_nobody_understands_it() -> None:
    assert grants_of(["nonsense here", "edit a.json"]) == (Grant(kind=K.EDIT, target="a.json", entry="edit a.json"),)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for entry in split_entries(text):
        try:
            kept = check_entry(entry)
        except GrantError:
            continue
        assert check_entry(kept) == kept
        assert [(g.kind, g.target, g.to) for g in parse_entry(kept)] == [
            (g.kind, g.target, g.to) for g in parse_entry(entry)
        ]
