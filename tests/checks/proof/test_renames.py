"""A rename is applied to the base's tests, and then they must hold: run for real, on the renamed source."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.grant_grammar import grants_of
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import Transformed, transform

CART = "def add(a, b):\n    return a + b\n\n\ndef total(xs):\n    return sum(xs)\n"
CLASS = """
class Cart:
    def __init__(self):
        self.items = []
    def put(self, x, count=1):
        self.items.extend([x] * count)
    def size(self):
        return len(self.items)
"""


class Case:
    def __init__(
        self,
        allow: str,
        base: dict[str, str],
        change: dict[str, str | None],
        tests: str,
        new_tests: str | None = "",
        path: str = "tests/test_it.py",
    ) -> None:
        self.allow, self.base, self.change, self.tests, self.path = allow, base, change, tests, path
        self.new_tests = new_tests


def subs(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


PLUS = {"shop/cart.py": CART.replace("def add", "def plus")}
CASES: dict[str, Case] = {
    "imported by name": Case(
        "rename shop.cart.add to shop.cart.plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop.cart import add, total\n\n\ndef test_a():\n    assert add(1, 2) == 3\n    assert total([1]) == 1\n",
    ),
    "the bare name": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop.cart import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n",
    ),
    "by its module": Case(
        "rename shop.cart.add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop import cart\n\n\ndef test_a():\n    assert cart.add(1, 2) == 3\n",
    ),
    "by the whole path": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "import shop.cart\n\n\ndef test_a():\n    assert shop.cart.add(1, 2) == 3\n",
    ),
    "under an alias": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop.cart import add as f\nimport shop.cart as c\n\n\ndef test_a():\n    assert f(1, 2) == c.add(1, 2)\n",
    ),
    "star import": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop.cart import *\n\n\ndef test_a():\n    assert add(1, 2) == 3 == total([3])\n",
    ),
    "a local variable of the name": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop.cart import add\nimport pytest\n\n\n@pytest.mark.parametrize('total', [3])\ndef test_a(total):\n"
        "    got = add(1, 2)\n    assert got == total\n",
    ),
    "re-exported by the package": Case(
        "rename shop.cart.add to shop.cart.plus",
        {"shop/cart.py": CART, "shop/__init__.py": "from shop.cart import add\n"},
        {**PLUS, "shop/__init__.py": "from shop.cart import plus\n"},
        "import shop\nfrom shop import add\n\n\ndef test_a():\n    assert add(1, 2) == shop.add(1, 2) == 3\n",
        "import shop\nfrom shop import plus\n\n\ndef test_a():\n    assert plus(1, 2) == shop.plus(1, 2) == 3\n",
    ),
    "monkeypatched by path": Case(
        "rename shop.cart.add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "import shop.cart\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr('shop.cart.add', lambda a, b: 9)\n"
        "    assert shop.cart.add(1, 2) == 9\n",
    ),
    "monkeypatched by object": Case(
        "rename shop.cart.add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop import cart\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(cart, 'add', lambda a, b: 9)\n"
        "    assert cart.add(1, 2) == 9\n",
    ),
    "mock.patch and getattr": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from unittest import mock\nimport shop.cart as c\n\n\ndef test_a():\n"
        "    with mock.patch.object(c, 'add') as m:\n"
        "        m.return_value = 4\n        assert getattr(c, 'add')(1, 1) == 4\n"
        "    with mock.patch('shop.cart.add', return_value=5):\n        assert c.add(1, 1) == 5\n",
    ),
    "a method": Case(
        "rename Cart.put to Cart.place",
        {"shop/cart.py": CLASS},
        {"shop/cart.py": CLASS.replace("def put", "def place")},
        "from shop.cart import Cart\n\n\ndef test_a():\n    c = Cart()\n    c.put(1)\n    assert c.size() == 1\n"
        "    assert callable(Cart.put)\n",
        "from shop.cart import Cart\n\n\ndef test_a():\n    c = Cart()\n    c.place(1)\n    assert c.size() == 1\n"
        "    assert callable(Cart.place)\n",
    ),
    "a method with the name of a built-in one": Case(
        "rename Cart.get to Cart.fetch",
        {"shop/cart.py": "class Cart:\n    def get(self):\n        return 1\n"},
        {"shop/cart.py": "class Cart:\n    def fetch(self):\n        return 1\n"},
        "from shop.cart import Cart\n\n\ndef test_a():\n    assert Cart().get() == 1\n",
        "from shop.cart import Cart\n\n\ndef test_a():\n    assert Cart().fetch() == 1\n",
    ),
    "a parameter": Case(
        "rename put.count to put.times",
        {"shop/cart.py": CLASS},
        {"shop/cart.py": CLASS.replace("count", "times")},
        "from shop.cart import Cart\n\n\ndef test_a():\n    c = Cart()\n    c.put(1, count=3)\n"
        "    assert c.size() == 3\n",
        "from shop.cart import Cart\n\n\ndef test_a():\n    c = Cart()\n    c.put(1, times=3)\n"
        "    assert c.size() == 3\n",
    ),
    "a class": Case(
        "rename Cart to Basket",
        {"shop/cart.py": CLASS},
        {"shop/cart.py": CLASS.replace("Cart", "Basket")},
        "from shop import cart\nfrom shop.cart import Cart\n\n\nclass TestCart:\n    def test_a(self):\n"
        "        assert isinstance(cart.Cart(), Cart)\n",
    ),
    "a module": Case(
        "move shop.cart to shop.basket",
        {"shop/cart.py": CART},
        {"shop/cart.py": None, "shop/basket.py": CART},
        "import shop.cart\nfrom shop import cart\nfrom shop.cart import (\n    add,\n    total,\n)\n\n\ndef test_a():\n"
        "    assert add(1, 2) == shop.cart.add(1, 2) == cart.add(1, 2) == total([3])\n",
    ),
    "a module by its path": Case(
        "move shop/cart.py to shop/inner/basket.py",
        {"shop/cart.py": CART},
        {"shop/cart.py": None, "shop/inner/__init__.py": "", "shop/inner/basket.py": CART},
        "from shop.cart import add\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr('shop.cart.total', len)\n"
        "    assert add(1, 2) == 3\n",
    ),
    "a module into a package": Case(
        "move shop.cart to shop.inner.cart",
        {"shop/cart.py": CART},
        {"shop/cart.py": None, "shop/inner/__init__.py": "", "shop/inner/cart.py": CART},
        "import shop.cart\n\n\ndef test_a():\n    assert shop.cart.add(1, 2) == 3\n",
    ),
    "a function into another module": Case(
        "move shop.cart.add to shop.maths",
        {"shop/cart.py": CART},
        {"shop/cart.py": "def total(xs):\n    return sum(xs)\n", "shop/maths.py": CART},
        "from shop import cart\nfrom shop.cart import add, total\n\n\ndef test_a():\n"
        "    assert add(1, 2) == cart.add(1, 2) == cart.total([3]) == total([3])\n",
    ),
    "both at once": Case(
        "move shop.cart.add to shop.maths.plus",
        {"shop/cart.py": CART},
        {"shop/cart.py": "def total(xs):\n    return sum(xs)\n", "shop/maths.py": CART.replace("add", "plus")},
        "import shop.cart as c\nfrom shop.cart import add\n\n\ndef test_a():\n"
        "    assert add(1, 2) == c.add(1, 2) == 3\n",
    ),
    "inside a function": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "def test_a():\n    from shop.cart import add\n\n    assert add(1, 2) == 3\n",
    ),
    "a src layout": Case(
        "rename shop.cart.add to shop.cart.plus",
        {"src/shop/cart.py": CART},
        {"src/shop/cart.py": CART.replace("def add", "def plus")},
        "from shop.cart import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n",
    ),
    "the test file moves along": Case(
        "rename add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop.cart import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n",
        None,
    ),
    "letters outside of ASCII": Case(
        "rename shop.cart.add to plus",
        {"shop/cart.py": CART},
        PLUS,
        "from shop import cart\n\n\ndef test_a():\n    assert ('é漢', cart.add('ä', 'ö')) == ('é漢', 'äö')\n",
    ),
}


def _owned(case: Case) -> list[Owned]:
    found = []
    for path in sorted({*case.base, *case.change}):
        before, after = case.base.get(path), case.change.get(path, case.base.get(path))
        if before != after:
            found.append(
                Owned(
                    path=path,
                    owner=Owner.SUBJECT,
                    before=before.encode() if before is not None else None,
                    after=after.encode() if after is not None else None,
                )
            )
    new = case.tests if case.new_tests == "" else case.new_tests
    if new == case.tests:
        new = case.tests + "\n"  # touched, so that it is looked at
    found.append(
        Owned(
            path=case.path,
            owner=Owner.TEST,
            before=case.tests.encode(),
            after=new.encode() if new is not None else None,
        )
    )
    return found


def _candidate(case: Case) -> dict[str, bytes]:
    files = {**case.base, **case.change}
    files.setdefault("src/shop/__init__.py" if any(p.startswith("src/") for p in files) else "shop/__init__.py", "")
    return {path: text.encode() for path, text in files.items() if text is not None}


def _transformed(case: Case) -> Transformed:
    return transform({case.path: case.tests.encode()}, _candidate(case), _owned(case), grants_of([case.allow]))


def test_the_tests_of_the_base_hold_under_the_rename(tmp_path: Path) -> None:
    """One run of pytest for all cases: each in a package of its own name."""
    for number, (name, case) in enumerate(CASES.items()):
        folder = tmp_path / f"case{number}"
        rewritten = _transformed(case).files.get(case.path, case.tests.encode())
        assert rewritten is not None
        assert rewritten.count(b"\n") == case.tests.count("\n"), f"{name}: lines moved"
        for path, data in {**_candidate(case), "tests/test_it.py": rewritten}.items():
            text = re.sub(r"\bshop\b", f"shop{number}", data.decode())
            place = folder / re.sub(r"\bshop\b", f"shop{number}", path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        (folder / "conftest.py").write_text(
            "import sys, pathlib\nhere = pathlib.Path(__file__).parent\nsys.path[:0] = [str(here), str(here / 'src')]\n"
        )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--import-mode=importlib",
            "-p",
            "no:cacheprovider",
            "-rA",
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    passed = {int(n) for n in re.findall(r"PASSED case(\d+)/", done.stdout)}
    lost = [name for number, name in enumerate(CASES) if number not in passed]
    assert not lost, done.stdout[-4000:]


def test_without_the_grant_they_do_not(tmp_path: Path) -> None:
    """The rewriting is what makes them hold: without it nothing is rewritten, and the old name is still there."""
    for case in CASES.values():
        assert transform({case.path: case.tests.encode()}, _candidate(case), _owned(case), ()).files == {}


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.new_tests])
def test_a_renamed_test_is_no_question(name: str) -> None:
    case = CASES[name]
    done = _transformed(case)
    assert edit_questions(_owned(case), grants_of([case.allow]), done) == []


def test_what_is_changed_beside_the_rename_is_seen() -> None:
    tests = "from shop.cart import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n"
    weaker = "from shop.cart import plus\n\n\ndef test_a():\n    assert plus(1, 2)\n"
    case = Case("rename add to plus", {"shop/cart.py": CART}, PLUS, tests, weaker)
    done = _transformed(case)
    asked = edit_questions(_owned(case), grants_of([case.allow]), done)
    assert [q.allow for q in asked] == ["edit tests tests/test_it.py::test_a"]
    assert b"plus as add" in (done.files["tests/test_it.py"] or b"")


JS = "const { add } = require('../src/cart');\ntest('adds', () => { expect(add(1, 2)).toBe(3); });\n"


@pytest.mark.parametrize(
    ("allow", "new", "expected"),
    [
        ("rename add to plus", JS.replace("add", "plus"), JS.replace("add", "plus").replace("'pluss'", "'adds'")),
        ("move src/cart.js to src/lib/cart.js", JS + "test('b', () => {});\n", JS.replace("src/cart", "src/lib/cart")),
        ("rename add to plus", None, JS.replace("{ add }", "{ plus }").replace("add(", "plus(")),
    ],
)
def test_other_languages_by_words_and_paths(allow: str, new: str | None, expected: str) -> None:
    changed = [
        Owned(path="src/cart.js", owner=Owner.SUBJECT, before=b"add", after=b"plus"),
        Owned(path="tests/a.test.js", owner=Owner.TEST, before=JS.encode(), after=new.encode() if new else None),
    ]
    candidate = {"tests/a.test.js": new.encode()} if new else {}
    done = transform({"tests/a.test.js": JS.encode()}, candidate, changed, grants_of([allow]))
    assert (done.files["tests/a.test.js"] or b"").decode() == expected
