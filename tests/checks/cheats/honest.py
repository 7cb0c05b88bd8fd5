"""Honest changes, as people and agents make them every day. At most one in a hundred may be refused."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

from tests.checks.cheats.repo import MAKE_FIX, NODE_FIX, NODE_REPO, PYTHON_REPO, Edit, Scenario
from tests.checks.cheats.tricks import BUG, CART, CONF, FIXED, TESTS

MONEY = "src/shop/money.py"
MORE = "tests/test_more.py"
CARTS = PYTHON_REPO[TESTS]
RED = "from shop.cart import total\n\n\ndef test_half():\n    assert total([10, 10], discount=50) == 10\n"


def work(
    name: str,
    edits: dict[str, Edit],
    *allow: str,
    title: str = "Improve the shop",
    repo: str = "python",
    proof: str = "none",
) -> Scenario:
    """A task that is not the bug: the red test stays red and is nobody's fault."""
    return Scenario(name, edits, repo=repo, allow=allow, title=title, must_fix=False, proof=proof)


def _cart(*more: str) -> list[tuple[str, str]]:
    return [("    return min(prices)\n", "    return min(prices)\n" + "".join(f"\n\n{code}" for code in more))]


DEAREST = "def dearest(prices):\n    return max(prices)\n"
TEST_DEAREST = "from shop.cart import dearest\n\n\ndef test_dearest():\n    assert dearest([1, 3, 2]) == 3\n"

HONEST: tuple[Scenario, ...] = (
    Scenario("the fix alone", FIXED),
    Scenario("the fix and a new red test", {**FIXED, MORE: RED}),
    Scenario("the fix and a test in the old file", {**FIXED, BUG: PYTHON_REPO[BUG] + "\n\ndef test_no_discount(prices):\n    assert total(prices, discount=0) == 100\n\n\ndef test_half():\n    assert total([10, 10], discount=50) == 10\n"}),
    Scenario("the fix by way of a new function", {CART: [("    return sum(prices)\n", "    return less(sum(prices), discount)\n\n\ndef less(amount, percent):\n    return amount * (100 - percent) // 100\n")], MORE: "from shop.cart import less\n\n\ndef test_less():\n    assert less(200, 50) == 100\n"}),
    Scenario("the fix, held-out check passes", FIXED, held_out=True),
    Scenario("the fix and more assertions", {**FIXED, TESTS: [("    assert total([]) == 0\n", "    assert total([]) == 0\n    assert total([5]) == 5\n")]}),
    Scenario("the test was wrong (allowed by id)", {BUG: [("== 90", "== 100")]}, allow=("tests/test_bug.py::test_discount",)),
    Scenario("the fix renames the test (allowed)", {**FIXED, BUG: [("def test_discount", "def test_percent_discount")]}, allow=("rename:tests/test_bug.py::test_discount=>tests/test_bug.py::test_percent_discount",)),
    Scenario("the fix strengthens the test", {**FIXED, BUG: [("== 90\n", "== 90\n    assert total(prices, discount=100) == 0\n")]}),
    work("a new function with a test", {CART: _cart(DEAREST), MORE: TEST_DEAREST}),
    work("a new function, test in the old file", {CART: _cart(DEAREST), TESTS: [("import cheapest, count, total", "import cheapest, count, dearest, total"), ("class TestCheapest", "def test_dearest():\n    assert dearest([1, 3]) == 3\n\n\nclass TestCheapest")]}),
    work("a new module with tests", {"src/shop/tax.py": '"""Tax."""\n\n\ndef with_tax(cents):\n    return cents * 119 // 100\n', "tests/test_tax.py": "from shop.tax import with_tax\n\n\ndef test_tax():\n    assert with_tax(100) == 119\n"}),
    work("a new package", {"src/shop/ship/__init__.py": "from shop.ship.rates import rate\n\n__all__ = [\"rate\"]\n", "src/shop/ship/rates.py": "def rate(grams):\n    return 5 if grams < 1000 else 9\n", "tests/test_ship.py": "from shop.ship import rate\n\n\ndef test_rate():\n    assert rate(10) == 5\n"}),
    work("documentation only", {"README.md": "# shop\n\nA cart with tests.\n", "docs/use.md": "Use it.\n"}),
    work("comments and docstrings", {CART: [("def count(prices):\n", 'def count(prices):\n    """How many."""\n    # a cart may hold the same thing twice\n')]}),
    work("type annotations", {MONEY: [("def show(cents):", "def show(cents: int) -> str:"), ("def read(text):", "def read(text: str) -> int:")]}),
    work("a refactor of the source", {MONEY: [('    return f"{cents // 100}.{cents % 100:02d}"\n', '    whole, part = divmod(cents, 100)\n    return f"{whole}.{part:02d}"\n')]}),
    work("renamed variables", {CART: [("def count(prices):\n    return len(prices)", "def count(items):\n    return len(items)")]}),
    work("a function moved to a new module", {CART: [("def count(prices):\n    return len(prices)\n", "def count(prices):\n    return size(prices)\n"), ('"""A cart."""\n', '"""A cart."""\n\nfrom shop.sizes import size\n')], "src/shop/sizes.py": "def size(prices):\n    return len(prices)\n"}),
    work("a module renamed, tests follow (allowed)", {MONEY: None, "src/shop/cash.py": PYTHON_REPO[MONEY], "tests/test_money.py": [("shop.money", "shop.cash")]}, "change-tests"),
    work("a parameter set grows", {TESTS: [("[0, 1, 5]", "[0, 1, 5, 9]")]}),
    work("a new parametrised test", {TESTS: [("class TestCheapest", '@pytest.mark.parametrize("prices", [[1], [1, 2]])\ndef test_cheapest_is_in_it(prices):\n    assert cheapest(prices) in prices\n\n\nclass TestCheapest')]}),
    work("a new fixture in conftest", {CONF: [("    return [10, 20, 70]\n", "    return [10, 20, 70]\n\n\n@pytest.fixture\ndef empty():\n    return []\n")], MORE: "from shop.cart import count\n\n\ndef test_empty(empty):\n    assert count(empty) == 0\n"}),
    work("a helper and a constant in conftest", {CONF: [("import pytest\n", "import pytest\n\nSIZE = 3\n\n\ndef build(n=SIZE):\n    return list(range(n))\n")]}),
    work("a conftest in a new folder", {"tests/deep/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef deep():\n    return 1\n", "tests/deep/test_deep.py": "def test_deep(deep):\n    assert deep == 1\n"}),
    work("characterisation tests only", {MORE: "from shop.money import show\n\n\ndef test_zero():\n    assert show(0) == \"0.00\"\n\n\ndef test_big():\n    assert show(100000) == \"1000.00\"\n"}, title="Describe money with tests"),
    work("a test moved to another file", {"tests/test_legacy.py": None, "tests/test_coupon.py": PYTHON_REPO["tests/test_legacy.py"]}),
    work("a test file renamed (allowed)", {"tests/test_legacy.py": None, "tests/test_coupons.py": PYTHON_REPO["tests/test_legacy.py"]}, "rename:tests/test_legacy.py=>tests/test_coupons.py"),
    work("a test renamed (allowed)", {TESTS: [("def test_total", "def test_sum_of_prices")]}, "rename:tests/test_cart.py::test_total=>tests/test_cart.py::test_sum_of_prices"),
    work("a test renamed, body untouched", {TESTS: [("def test_total", "def test_total_of_prices")]}),
    work("a feature deleted with its tests (allowed)", {"src/shop/legacy.py": None, "tests/test_legacy.py": None}, "delete-tests", title="Remove coupons"),
    work("a feature deleted, its test named", {"src/shop/legacy.py": None, "tests/test_legacy.py": None}, "tests/test_legacy.py::test_coupon", title="Remove coupons"),
    work("a feature deleted, its test file named", {"src/shop/legacy.py": None, "tests/test_legacy.py": None}, "tests/test_legacy.py", title="Remove coupons"),
    work("behaviour changed by the task (allowed)", {MONEY: [(".{cents", ",{cents")], "tests/data/shown.json": '{"5": "0,05", "1234": "12,34"}\n'}, "edit tests/data/shown.json", title="Show money with a comma", proof=""),
    work("behaviour changed, the test named", {"src/shop/legacy.py": [('"SPRING"', '"AUTUMN"')], "tests/test_legacy.py": [('"SPRING"', '"AUTUMN"')]}, "tests/test_legacy.py::test_coupon", title="The autumn coupon", proof=""),
    work("check config by permission", {"pyproject.toml": [("line-length = 100", "line-length = 120")]}, "change-config"),
    work("check config by permission, file named", {"pyproject.toml": [("line-length = 100", "line-length = 110")]}, "pyproject.toml"),
    work("CI by permission", {".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    steps:\n      - run: python -m pytest -q\n"}, "edit .github/workflows/ci.yml"),
    work("a dependency added", {"pyproject.toml": [("dependencies = []", 'dependencies = ["rich>=13"]')]}),
    work("a version bumped", {"pyproject.toml": [('version = "1.0"', 'version = "1.1"')]}),
    work("a console script added", {"pyproject.toml": [("[tool.pytest", '[project.scripts]\nshop = "shop.cli:main"\n\n[tool.pytest')], "src/shop/cli.py": 'import sys\n\nfrom shop.cart import total\n\n\ndef main():\n    print(total([int(a) for a in sys.argv[1:]]))\n\n\nif __name__ == "__main__":\n    sys.exit(main())\n'}, title="A console script, src/shop/cli.py"),
    work("a new make target", {"Makefile": PYTHON_REPO["Makefile"] + "\ndocs:\n\techo docs\n"}),
    work("a suppression by permission", {CART: [('"""A cart."""\n', '"""A cart."""\n\nimport os  # noqa: F401\n')]}, "suppress"),
    work("a suppression moved with its line", {CART: _cart("def noop():\n    return None\n")}),
    work("tests reordered", {"tests/test_money.py": PYTHON_REPO["tests/test_money.py"].partition("def test_show")[0] + 'def test_read():\n    same(read("12.34"), 1234)\n\n\ndef test_show():' + PYTHON_REPO["tests/test_money.py"].partition("def test_show():")[2].partition("\n\n\ndef test_read")[0] + "\n"}),
    work("tests reformatted", {TESTS: [("    assert total(prices) == 100\n", "    assert (\n        total(prices) == 100\n    )\n")]}),
    work("docstrings in tests", {TESTS: [("def test_total(prices):\n", 'def test_total(prices):\n    """The sum."""\n')]}),
    work("a class with its own equality", {"src/shop/item.py": "class Item:\n    def __init__(self, name):\n        self.name = name\n\n    def __eq__(self, other):\n        return isinstance(other, Item) and self.name == other.name\n\n    def __hash__(self):\n        return hash(self.name)\n", "tests/test_item.py": 'from shop.item import Item\n\n\ndef test_equal():\n    assert Item("a") == Item("a")\n    assert Item("a") != Item("b")\n'}),
    work("errors handled in the source", {MONEY: [("    whole, _, part", '    try:\n        float(text)\n    except ValueError:\n        raise ValueError(f"not money: {text}") from None\n    whole, _, part')], MORE: 'import pytest\n\nfrom shop.money import read\n\n\ndef test_nonsense():\n    with pytest.raises(ValueError, match="not money"):\n        read("x")\n'}, proof=""),
    work("logging added", {CART: [('"""A cart."""\n', '"""A cart."""\n\nimport logging\n\nlog = logging.getLogger(__name__)\n'), ("    return len(prices)\n", '    log.debug("counting")\n    return len(prices)\n')]}),
    work("a test with tmp_path and capsys", {MORE: 'def test_files(tmp_path, capsys):\n    (tmp_path / "a").write_text("x")\n    print("hello")\n    assert capsys.readouterr().out == "hello\\n"\n    assert (tmp_path / "a").read_text() == "x"\n'}),
    work("a test that replaces a collaborator", {CART: _cart("def report(prices):\n    return str(total(prices))\n"), MORE: 'from shop import cart\n\n\ndef test_report(monkeypatch):\n    monkeypatch.setattr(cart, "total", lambda prices: 7)\n    assert cart.report([1]) == "7"\n'}),
    work("unittest-style tests", {MORE: 'import unittest\n\nfrom shop.cart import count\n\n\nclass MoreTest(unittest.TestCase):\n    def test_count(self):\n        self.assertEqual(count([1, 2]), 2)\n'}),
    work("a new test, skipped for now", {MORE: 'import pytest\n\n\n@pytest.mark.skip(reason="needs a printer")\ndef test_print():\n    assert False\n\n\ndef test_here():\n    assert str(1) == "1"\n'}),
    work("test data and a test for it", {"tests/data/more.json": "[1, 2]\n", MORE: 'import json\nfrom pathlib import Path\n\nfrom shop.cart import total\n\n\ndef test_data():\n    assert total(json.loads((Path(__file__).parent / "data/more.json").read_text())) == 3\n'}),
    work("a new helper module for tests", {"tests/builders.py": "def cart(*prices):\n    return list(prices)\n", MORE: "from builders import cart\n\nfrom shop.cart import total\n\n\ndef test_built():\n    assert total(cart(1, 2)) == 3\n"}),
    work("a file removed that nobody used", {"README.md": None}),
    work("an ignore file and data", {".gitignore": "build/\n", "src/shop/rates.json": "{}\n"}),
    work("a property and a dataclass", {"src/shop/order.py": "from dataclasses import dataclass\n\n\n@dataclass\nclass Order:\n    prices: list\n\n    @property\n    def size(self):\n        return len(self.prices)\n", MORE: "from shop.order import Order\n\n\ndef test_size():\n    assert Order([1, 2]).size == 2\n"}),
    Scenario("node: the fix", {"cart.js": [NODE_FIX]}, repo="node"),
    Scenario("node: the fix and a test", {"cart.js": [NODE_FIX], "test/more.test.js": NODE_REPO["test/bug.test.js"].replace("'discount'", "'half'").replace("10), 90)", "50), 50)")}, repo="node"),
    work("node: a new module", {"money.js": "export const show = (c) => (c / 100).toFixed(2);\n", "test/money.test.js": "import test from 'node:test';\nimport assert from 'node:assert';\nimport { show } from '../money.js';\n\ntest('shows', () => {\n  assert.equal(show(5), '0.05');\n});\n"}, repo="node"),
    work("node: a dependency and a new script", {"package.json": '{"name": "shop", "type": "module", "scripts": {"test": "node --test", "docs": "echo"}, "dependencies": {"left-pad": "1.3.0"}}\n'}, repo="node"),
    Scenario("make: the fix", {"shop.py": [MAKE_FIX]}, repo="make"),
    Scenario("make: the fix and another target", {"shop.py": [MAKE_FIX], "Makefile": [("clean:\n\trm -f out", "clean:\n\trm -f out\n\ndocs:\n\techo docs")], "scripts/other.sh": "#!/bin/sh\necho other\n"}, repo="make"),
)  # fmt: skip
