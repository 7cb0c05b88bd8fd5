"""Renames read off a change: found whatever the words, wrong maps harmless, names alone told from more than names."""

from __future__ import annotations

import ast
import importlib.util
import io
import tokenize
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.core.grant_grammar import grants_of
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.found_names import FoundNames, definitions, find_names, hands_on_only
from engine.perform.checks.proof.names_only import names_only
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import transform
from engine.perform.checks.proof.python_names import canonical, module_name, names_in
from engine.perform.checks.proof.renames import rewrite_python
from engine.plans.leanings import asks_for_names, spoken
from tests.depth import examples


def changed(before: dict[str, str], after: dict[str, str]) -> list[Owned]:
    return [
        Owned(
            path=path,
            owner=Owner.SUBJECT,
            before=before[path].encode() if path in before else None,
            after=after[path].encode() if path in after else None,
        )
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]


def found(before: dict[str, str], after: dict[str, str]) -> tuple[set[tuple[str, str]], bool]:
    one = changed(before, after)
    names = find_names(one, set(after))
    return {(old, new) for old, new, _ in names.pairs}, names_only(one, names, set(after))


A = "src/shop/cart.py"
CART = """LIMIT = 10


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, count=1):
        self.items.append((name, count))


def total(cart):
    return sum(count for _, count in cart.items)
"""


@pytest.mark.parametrize(
    "after, expected",
    [
        (CART.replace("total", "sum_up"), {("shop.cart.total", "shop.cart.sum_up")}),
        (CART.replace("add(", "put("), {("shop.cart.Cart.add", "shop.cart.Cart.put")}),
        (CART.replace("Cart", "Basket"), {("shop.cart.Cart", "shop.cart.Basket")}),
        (CART.replace("LIMIT", "MOST"), {("shop.cart.LIMIT", "shop.cart.MOST")}),
        (CART.replace("items", "lines"), {("shop.cart.Cart.items", "shop.cart.Cart.lines")}),
        (CART.replace("count", "pieces"), {("shop.cart.Cart.add.count", "shop.cart.Cart.add.pieces")}),
    ],
)
def test_a_rename_is_found_and_is_names_alone(after, expected):
    assert found({A: CART}, {A: after}) == (expected, True)


def test_a_moved_module_a_moved_function_and_a_package_split():
    assert found({A: CART}, {"src/shop/basket.py": CART}) == ({("shop.cart", "shop.basket")}, True)
    rest, moved = CART.split("\n\ndef total")
    parts = {A: rest + "\n", "src/shop/sums.py": "def total" + moved}
    assert found({A: CART}, parts) == ({("shop.cart.total", "shop.sums.total")}, True)
    package = {"src/shop/cart/__init__.py": "from shop.cart.all import *\n", "src/shop/cart/all.py": CART}
    assert ("shop.cart", "shop.cart.all") not in found({A: CART}, package)[0]


@pytest.mark.parametrize(("other", "moved"), [("", True), ("    cart = list(cart)\n", False)])
def test_a_function_that_is_handed_on_where_it_stood_has_moved(other, moved):
    rest, body = CART.split("\n\ndef total(cart):\n")
    parts = {
        A: "from shop.sums import total\n" + rest + "\n",
        "src/shop/sums.py": f"def total(cart):\n{other}{body}",
    }
    assert (("shop.cart.total", "shop.sums.total") in found({A: CART}, parts)[0]) is moved


def test_a_name_that_a_package_hands_on_follows():
    before = {A: CART, "src/shop/__init__.py": "from shop.cart import total\n"}
    after = {A: CART.replace("total", "sum_up"), "src/shop/__init__.py": "from shop.cart import sum_up\n"}
    assert ("shop.total", "shop.sum_up") in found(before, after)[0]


def test_a_function_called_like_its_module_takes_nothing_else_with_it():
    place = "src/shop/total.py"
    before = {place: "def total(a):\n    return a\n\n\ndef other():\n    return 1\n"}
    after = {place: before[place].replace("def total", "def sum_up")}
    before["src/shop/__init__.py"] = "from shop.total import total\n"
    after["src/shop/__init__.py"] = "from shop.total import sum_up\n"
    names = find_names(changed(before, after), set(after))
    test = b"from shop import total\nfrom shop.total import other\n"
    rewritten = rewrite_python("tests/test_it.py", test, None, names.renames, set(after))
    assert rewritten == b"from shop import sum_up as total\nfrom shop.total import other\n"


@pytest.mark.parametrize(
    "after",
    [
        CART.replace("total", "sum_up").replace("sum(", "max("),
        CART.replace("add(", "put(").replace("count=1", "count=2"),
        CART.replace("LIMIT = 10", "MOST = 11"),
        CART.replace("total", "sum_up") + "\n\ndef more():\n    return 1\n",
        "from shop.fake import LIMIT\n" + CART.replace("LIMIT = 10\n", "").replace("total", "sum_up"),
    ],
)
def test_more_than_names_is_not_names_alone(after):
    assert found({A: CART}, {A: after})[1] is False


def test_one_thing_deleted_and_another_added_is_no_rename():
    after = CART.replace(
        "def total(cart):\n    return sum(count for _, count in cart.items)", "def first(a, b):\n    return a"
    )
    assert found({A: CART}, {A: after})[0] == set()


def test_other_languages_and_files():
    before = {
        "src/a.js": "export function format(n) {\n  return n;\n}\n",
        "src/b.go": "package b\n\nfunc Way() int {\n\treturn 1\n}\n",
    }
    after = {
        "src/a.js": "export function humanize(n) {\n  return n;\n}\n",
        "src/c.go": "package b\n\nfunc Way() int {\n\treturn 1\n}\n",
    }
    assert found(before, after) == ({("format", "humanize"), ("src/b.go", "src/c.go")}, True)
    worse = after | {"src/a.js": "export function humanize(n) {\n  return n + 1;\n}\n"}
    assert found(before, worse)[1] is False


def test_the_words_have_to_ask_for_the_names():
    pairs = [("ledger.money.show", "ledger.money.format_amount", "")]
    assert asks_for_names(pairs, "Use format_amount everywhere")
    assert asks_for_names(pairs, "A clear name: formats an amount")
    assert asks_for_names(pairs, "show should be called otherwise")
    assert not asks_for_names(pairs, "show loses cents")
    assert not asks_for_names(pairs, "12.5 is read as 12.05")
    assert asks_for_names([("a.b._help", "a.b._assist", "")], "12.5 is read as 12.05")
    assert spoken("dry_run", "a --dry-run option") and not spoken("dry_run", "a run that is long")


# ── real code ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _package(name: str) -> list[tuple[str, str]]:
    """(path, source) of the modules of an installed package, one folder deep."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    return [
        (f"{name}/{path.name}", path.read_text()) for path in sorted(folder.glob("*.py")) if path.stat().st_size < 9_000
    ]


PACKAGES = {
    name: dict(_package(name))
    for name in ("pluggy", "markdown_it", "click", "json", "email")
    if importlib.util.find_spec(name)
}


def _renamed(source: str, words: dict[str, str]) -> str:
    """Every token that is the word, replaced: what a careful person does by hand."""
    lines = source.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(source).readline))):
        if token.type == tokenize.NAME and token.string in words:
            line = lines[token.start[0] - 1]
            lines[token.start[0] - 1] = line[: token.start[1]] + words[token.string] + line[token.end[1] :]
    return "".join(lines)


@st.composite
def renames(draw):
    """A module of a real package, some of its functions and classes, and new names for them."""
    package = draw(st.sampled_from(sorted(PACKAGES)))
    files = PACKAGES[package]
    path = draw(st.sampled_from(sorted(path for path in files if not path.endswith("__init__.py"))))
    tree = ast.parse(files[path])
    tops = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("__")]
    modules = {name.rpartition("/")[2][:-3] for name in files}  # a token cannot tell a module from a function
    tops = [word for word in tops if word not in modules]
    chosen = draw(st.lists(st.sampled_from(tops), min_size=1, max_size=3, unique=True)) if tops else []
    return package, path, {word: f"{word}_anew" for word in chosen}


@settings(
    max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(renames())
def test_in_real_code_the_translated_oracle_is_the_renamed_one(chosen):
    package, path, words = chosen
    files = PACKAGES[package]
    if not words:
        return
    told = {name: text for name, text in files.items() if name == path or any(word in text for word in words)}
    after = {name: _renamed(text, words) for name, text in told.items()}
    one = changed({path: files[path]}, {path: after[path]})
    names = find_names(one, set(files))
    module = module_name(path, set(files))
    wanted = {(f"{module}.{old}", f"{module}.{new}") for old, new in words.items()}
    assert wanted <= {(old, new) for old, new, _ in names.pairs}
    assert names_only(one, names, set(files))
    for other, text in told.items():  # the modules beside it stand for tests that use it
        if other == path or f".{path.rpartition('/')[2][:-3]}" not in text or set(words) & _bound_otherwise(text):
            continue
        rewritten = rewrite_python(other, text.encode(), after[other].encode(), names.renames, set(files))
        assert _meaning(rewritten.decode(), other, files) == _meaning(after[other], other, files)


def _bound_otherwise(text: str) -> set[str]:
    """Words that a file binds by itself: there a rename by hand would be another one."""
    tree = ast.parse(text)
    found = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    found |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    imported = {full.rpartition(".")[2] for full in names_in(tree).bound.values()}
    found |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} - imported
    return found


def _meaning(text: str, path: str, files: dict[str, str]) -> str:
    """The tree with every imported name by what it stands for; the imports themselves are in the names."""
    tree = ast.parse(text)
    names = names_in(tree, module_name(path, set(files)))
    return ast.dump(canonical(_WithoutImports().visit(tree), names))


class _WithoutImports(ast.NodeTransformer):
    def visit_Import(self, node: ast.Import) -> ast.AST:
        return ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass()


def test_definitions_know_members_and_imports():
    one = changed({}, {A: "from x import y\n\nclass C:\n    z = 1\n"})
    assert {d.full: d.sort for d in definitions(one, {A}, before=False).values()} == {
        "shop.cart.y": "import",
        "shop.cart.C": "class",
        "shop.cart.C.z": "value",
    }
    assert not FoundNames()


def test_a_rename_that_nobody_asked_for_is_asked_by_its_own_entry():
    test = Owned(
        path="tests/test_cart.py",
        owner=Owner.TEST,
        before=b"from shop.cart import total\n\n\ndef test_total():\n    assert total(1) == 2\n",
        after=b"from shop.cart import sum_up\n\n\ndef test_total():\n    assert sum_up(1) == 2\n",
    )
    one = [*changed({A: CART}, {A: CART.replace("total", "sum_up")}), test]
    candidate = {each.path: each.after for each in one}

    def entries(words: str, *allow: str) -> list[str]:
        grants = grants_of(allow)
        there = transform({}, candidate, one, grants, words)
        return [question.allow for question in edit_questions(one, grants, there, ["tests/test_cart.py::test_total"])]

    asked = entries("12.5 is read as 12.05")
    assert asked == ["rename shop.cart.total to shop.cart.sum_up"]
    rewritten = transform({}, candidate, one, grants_of(asked), "12.5 is read as 12.05").files["tests/test_cart.py"]
    assert rewritten is not None and b"import sum_up as total" in rewritten
    assert transform({}, candidate, one, (), "total should be called sum_up").files["tests/test_cart.py"] == rewritten


@pytest.mark.parametrize(
    ("after", "only"),
    [
        (b'"""Subtitles."""\n\nfrom titles.cue import Cue  # noqa: F401\n', True),
        (b'"""Subtitles."""\n\nfrom titles.cue import Cue\n\nprint(Cue)\n', False),
    ],
)
def test_a_package_that_hands_on_a_name_may_say_what_it_is(after, only):
    assert hands_on_only([Owned(path="titles/__init__.py", owner=Owner.SUBJECT, before=b"", after=after)]) is only
