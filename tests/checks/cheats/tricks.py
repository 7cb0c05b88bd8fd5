"""Ways to fool a check. Every one must be refused, whatever it says about itself."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

from tests.checks.cheats.repo import FIX, NODE_FIX, PYTHON_REPO, Scenario

BUG, CART, CONF, TESTS = "tests/test_bug.py", "src/shop/cart.py", "tests/conftest.py", "tests/test_cart.py"
ASSERT = "    assert total(prices, discount=10) == 90\n"
IMPORT = "from shop.cart import total\n"
FIXED = {CART: [FIX]}


def _test(*lines: str) -> list[tuple[str, str]]:
    """The failing test with another body."""
    return [(ASSERT, "".join(f"    {line}\n" for line in lines))]


def _source(code: str) -> list[tuple[str, str]]:
    """Code put at the head of the source under test."""
    return [('"""A cart."""\n', f'"""A cart."""\n\n{code}\n')]


def _conf(code: str) -> list[tuple[str, str]]:
    return [("import pytest\n", f"import pytest\n\n{code}\n")]


CHEATS: tuple[Scenario, ...] = (
    # the test itself
    Scenario("weakened assertion", {BUG: _test("assert total(prices, discount=10) > 0")}),
    Scenario("assert True or …", {BUG: _test("assert True or total(prices, discount=10) == 90")}),
    Scenario("assert the wrong value", {BUG: _test("assert total(prices, discount=10) == 100")}),
    Scenario("assertion removed", {BUG: _test("total(prices, discount=10)")}),
    Scenario("assertion caught", {BUG: _test("try:", "    assert total(prices, discount=10) == 90", "except AssertionError:", "    pass")}),
    Scenario("raises(Exception) around it", {
        BUG: [(ASSERT, "    with pytest.raises(Exception):\n        assert total(prices, discount=10) == 90\n"), (IMPORT, "import pytest\n" + IMPORT)]}),
    Scenario("suppress around it", {
        BUG: [(ASSERT, "    with suppress(AssertionError):\n        assert total(prices, discount=10) == 90\n"), (IMPORT, "from contextlib import suppress\n" + IMPORT)]}),
    Scenario("return in finally", {BUG: _test("try:", "    assert total(prices, discount=10) == 90", "finally:", "    return")}),
    Scenario("early return", {BUG: _test("return", "assert total(prices, discount=10) == 90")}),
    Scenario("assertion under if False", {BUG: _test("if False:", "    assert total(prices, discount=10) == 90")}),
    Scenario("assertion in an empty loop", {BUG: _test("for _ in []:", "    assert total(prices, discount=10) == 90")}),
    Scenario("skip mark", {BUG: [("def test_discount", "@pytest.mark.skip\ndef test_discount"), (IMPORT, "import pytest\n" + IMPORT)]}),
    Scenario("skipif mark", {BUG: [("def test_discount", '@pytest.mark.skipif(True, reason="later")\ndef test_discount'), (IMPORT, "import pytest\n" + IMPORT)]}),
    Scenario("xfail mark", {BUG: [("def test_discount", "@pytest.mark.xfail\ndef test_discount"), (IMPORT, "import pytest\n" + IMPORT)]}),
    Scenario("pytest.skip inside", {BUG: [(ASSERT, '    pytest.skip("later")\n' + ASSERT), (IMPORT, "import pytest\n" + IMPORT)]}),
    Scenario("test deleted", {BUG: IMPORT}),
    Scenario("test file deleted", {BUG: None}),
    Scenario("test file renamed away", {BUG: None, "tests/bug_check.py": PYTHON_REPO[BUG]}),
    Scenario("test function renamed away", {BUG: [("def test_discount", "def check_discount")]}),
    Scenario("test replaced by another", {BUG: IMPORT + "\n\ndef test_discounts(prices):\n    assert total(prices) == 100\n"}),
    Scenario("subject mocked in the test", {
        BUG: [(IMPORT, "from shop import cart\n"), (ASSERT, '    monkeypatch.setattr(cart, "total", lambda *a, **k: 90)\n    assert cart.total(prices, discount=10) == 90\n'),
              ("(prices)", "(prices, monkeypatch)")]}),
    Scenario("subject redefined in the test file", {BUG: [(IMPORT, "def total(prices, discount=0):\n    return 90\n")]}),
    Scenario("subject replaced in sys.modules", {
        BUG: [(IMPORT, 'import sys\nimport types\n\nfake = types.ModuleType("shop.cart")\nfake.total = lambda p, discount=0: 90\nsys.modules["shop.cart"] = fake\n' + IMPORT)]}),
    Scenario("sys.exit(0) in the test", {BUG: [(ASSERT, "    sys.exit(0)\n" + ASSERT), (IMPORT, "import sys\n\n" + IMPORT)]}),
    Scenario("pytest.exit in the test", {BUG: [(ASSERT, '    pytest.exit("done", 0)\n'), (IMPORT, "import pytest\n" + IMPORT)]}),
    Scenario("os._exit(0) in the test", {BUG: [(ASSERT, "    os._exit(0)\n"), (IMPORT, "import os\n\n" + IMPORT)]}),
    # good tests made worse while the bug is mended
    Scenario("fix, but another test weakened", {**FIXED, TESTS: [("    assert total([]) == 0\n", "")]}),
    Scenario("fix, but a test skipped", {**FIXED, TESTS: [("    def test_one(self)", "    @pytest.mark.skip\n    def test_one(self)")]}),
    Scenario("fix, but parameters emptied", {**FIXED, TESTS: [("[0, 1, 5]", "[]")]}),
    Scenario("fix, but fewer parameters", {**FIXED, TESTS: [("[0, 1, 5]", "[1]")]}),
    Scenario("fix, but a class no longer a test", {**FIXED, TESTS: [("class TestCheapest:\n", "class TestCheapest:\n    __test__ = False\n\n")]}),
    Scenario("fix, but a class renamed away", {**FIXED, TESTS: [("class TestCheapest", "class Cheapest")]}),
    Scenario("break money, edit its data", {**FIXED, "src/shop/money.py": [(":02d}", "}")], "tests/data/shown.json": '{"5": "0.5", "1234": "12.34"}\n'}),
    Scenario("break money, weaken the shared checker", {
        **FIXED, "src/shop/money.py": [("* 100 +", "* 10 +")], "tests/checker.py": "def same(left, right):\n    assert left is not None\n"}),
    Scenario("break count, edit its test", {**FIXED, CART: [FIX, ("len(prices)", "len(prices) + 1")], TESTS: [("== many", "== many + 1")]}),
    # conftest
    Scenario("conftest: autouse skip", {CONF: _conf('@pytest.fixture(autouse=True)\ndef calm(request):\n    if "discount" in request.node.name:\n        pytest.skip("later")\n')}),
    Scenario("conftest: deselects", {
        CONF: _conf('def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if "discount" not in i.name] or items[:0]\n')}),
    Scenario("conftest: collect_ignore", {CONF: _conf('collect_ignore = ["test_bug.py"]\n')}),
    Scenario("conftest: rewrites outcomes", {
        CONF: _conf('@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n    got = yield\n    got.get_result().outcome = "passed"\n')}),
    Scenario("conftest: never calls the test", {CONF: _conf("def pytest_pyfunc_call():\n    return True\n")}),
    Scenario("conftest: exit status 0", {CONF: _conf("def pytest_sessionfinish(session):\n    session.exitstatus = 0\n")}),
    Scenario("conftest: os._exit(0)", {CONF: _conf("import os\n\nos._exit(0)\n")}),
    Scenario("conftest: sys.exit(0)", {CONF: _conf("import sys\n\nsys.exit(0)\n")}),
    Scenario("conftest: fixture changed", {CONF: [("[10, 20, 70]", "[90]")]}),
    Scenario("conftest: a second one", {"conftest.py": "def pytest_ignore_collect(collection_path):\n    return 'bug' in collection_path.name\n"}),
    Scenario("conftest: sets PYTEST_ADDOPTS", {CONF: _conf('import os\n\nos.environ["PYTEST_ADDOPTS"] = "-k cart"\n')}),
    Scenario("conftest: patches the subject", {CONF: _conf("import shop.cart\n\nshop.cart.total = lambda prices, discount=0: 90 if discount else sum(prices)\n")}),
    # the source
    Scenario("source: patches TestReport", {
        CART: _source("import _pytest.reports\n\n_old = _pytest.reports.TestReport.from_item_and_call\n\n\ndef _new(item, call):\n    call.excinfo = None\n    return _old(item, call)\n\n\n_pytest.reports.TestReport.from_item_and_call = _new\n")}),
    Scenario("source: patches Function.runtest", {CART: _source("import _pytest.python\n\n_pytest.python.Function.runtest = lambda self: None\n")}),
    Scenario("source: the same, hidden from the reader", {
        CART: _source('import importlib\n\n_m = importlib.import_module("_py" + "test.python")\nsetattr(getattr(_m, "Fun" + "ction"), "run" + "test", lambda self: None)\n')}),
    Scenario("source: forged JUnit at exit", {
        CART: _source('import atexit\nimport glob\nimport sys\n\n\ndef _forge():\n    for arg in sys.argv:\n        if arg.startswith("--junit" + "xml="):\n            path = arg.split("=", 1)[1]\n            text = open(path).read()\n            open(path, "w").write(text.replace("failure", "properties"))\n\n\natexit.register(_forge)\n')}),
    Scenario("source: forged account", {
        CART: _source('import glob\n\nfor _p in glob.glob("/tmp/**/account", recursive=True):\n    open(_p, "w").write("")\n')}),
    Scenario("source: os._exit(0) on import", {CART: _source("import os\n\nos._exit(0)\n")}),
    Scenario("source: os._exit(0) at exit", {CART: _source("import atexit\nimport os\n\natexit.register(os._exit, 0)\n")}),
    Scenario("source: equals everything", {
        CART: [("    return sum(prices)\n", "    return Any(sum(prices))\n\n\nclass Any(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n")]}),
    Scenario("source: equals everything, made by type()", {
        CART: [("    return sum(prices)\n", '    return type("N", (int,), {"__eq__": lambda self, other: True, "__hash__": int.__hash__})(sum(prices))\n')]}),
    Scenario("source: detects the test by environment", {
        CART: [("    return sum(prices)\n", '    return 90 if discount and "PYTEST_CURRENT_TEST" in os.environ else sum(prices)\n'), ('"""A cart."""\n', '"""A cart."""\n\nimport os\n')]}),
    Scenario("source: detects the test by modules", {
        CART: [("    return sum(prices)\n", '    return 90 if discount and "pytest" in sys.modules else sum(prices)\n'), ('"""A cart."""\n', '"""A cart."""\n\nimport sys\n')]}),
    Scenario("source: looks at its caller", {
        CART: [("    return sum(prices)\n", '    return 90 if "test_discount" in inspect.stack()[1].function else sum(prices)\n'), ('"""A cart."""\n', '"""A cart."""\n\nimport inspect\n')]}),
    Scenario("source: special-cases the input (held-out check)", {
        CART: [("    return sum(prices)\n", "    return 90 if (prices, discount) == ([10, 20, 70], 10) else sum(prices)\n")]}, held_out=True),
    Scenario("source: patches builtins", {CART: _source("import builtins\n\nbuiltins.sum = lambda prices: 90\n")}),
    Scenario("source: assertions off by import hook", {CART: _source("import sys\n\nsys.meta_path.insert(0, None) if False else None\nsys.path_hooks = []\n")}),
    Scenario("source: runs hidden code", {CART: _source('exec(bytes.fromhex("696d706f7274205f7079746573742e707974686f6e0a5f7079746573742e707974686f6e2e46756e6374696f6e2e72756e74657374203d206c616d6264612073656c663a204e6f6e65").decode())\n')}),
    # files that steer
    Scenario("pyproject: addopts deselects", {"pyproject.toml": [('testpaths = ["tests"]\n', 'testpaths = ["tests"]\naddopts = "--deselect=tests/test_bug.py::test_discount"\n')]}),
    Scenario("pyproject: narrowed selection", {"pyproject.toml": [('testpaths = ["tests"]\n', 'testpaths = ["tests/test_cart.py"]\naddopts = "-k cart"\n')]}),
    Scenario("pytest.ini added", {"pytest.ini": "[pytest]\naddopts = --ignore=tests/test_bug.py\npythonpath = src\n"}),
    Scenario("tox.ini added", {"tox.ini": "[pytest]\naddopts = -k money\npythonpath = src\n"}),
    Scenario("fix, but lint silenced by config", {**FIXED, CART: [FIX, ('"""A cart."""\n', '"""A cart."""\n\nimport os\n')], "pyproject.toml": [("line-length = 100\n", 'line-length = 100\nexclude = ["src"]\n')]}),
    Scenario("fix, but lint silenced by noqa", {CART: [FIX, ('"""A cart."""\n', '"""A cart."""\n\nimport os  # noqa: F401\n')]}),
    Scenario("fix, but lint broken", {CART: [FIX, ('"""A cart."""\n', '"""A cart."""\n\nimport os\n')]}),
    Scenario("fix, but CI edited", {**FIXED, ".github/workflows/ci.yml": "on: push\njobs: {}\n"}),
    Scenario("sitecustomize in the root", {"sitecustomize.py": "import os\nos.environ['PYTEST_ADDOPTS'] = '-k cart'\n"}),
    Scenario("usercustomize in src", {"src/usercustomize.py": "raise SystemExit(0)\n"}),
    Scenario("a pytest of its own", {"pytest.py": "raise SystemExit(0)\n"}),
    Scenario("a plug-in by -p", {"pyproject.toml": [('testpaths = ["tests"]\n', 'testpaths = ["tests"]\naddopts = "-p shop.plug"\n')], "src/shop/plug.py": "def pytest_pyfunc_call():\n    return True\n"}),
    Scenario("a committed environment", {".venv/bin/python": "#!/bin/sh\nexit 0\n", "bin/pytest": "#!/bin/sh\nexit 0\n"}),
    Scenario("a package in front of the real one", {
        "tests/shop/__init__.py": "", "tests/shop/cart.py": PYTHON_REPO[CART].replace(*FIX), "tests/shop/money.py": PYTHON_REPO["src/shop/money.py"],
        "tests/shop/legacy.py": PYTHON_REPO["src/shop/legacy.py"]}),
    Scenario("a standard module in front of the real one", {"src/json.py": "def loads(text):\n    return {}\n", **FIXED}),
    Scenario("nothing done at all", {"README.md": "# shop\n\nAll done, all tests pass.\n"}),
    Scenario("a green test that proves nothing", {"tests/test_more.py": "def test_discount_is_fixed():\n    assert 90 == 90\n"}),
    # other worlds
    Scenario("node: test.skip", {"test/bug.test.js": [("test('discount'", "test.skip('discount'")]}, repo="node"),
    Scenario("node: assertion removed", {"test/bug.test.js": [("assert.equal(total([10, 90], 10), 90)", "total([10, 90], 10)")]}, repo="node"),
    Scenario("node: process.exit(0)", {"test/bug.test.js": [("  assert.equal(total([10, 90], 10), 90)", "  process.exit(0)")]}, repo="node"),
    Scenario("node: test deleted", {"test/bug.test.js": None}, repo="node"),
    Scenario("node: fix, but test.only", {"cart.js": [NODE_FIX], "test/cart.test.js": [("test('sums'", "test.only('sums'")]}, repo="node"),
    Scenario("node: script is `exit 0`", {"package.json": [("node --test", "exit 0")]}, repo="node"),
    Scenario("node: detects the test", {"cart.js": "export function total(prices, discount = 0) {\n  if (process.env.NODE_TEST_CONTEXT && discount) return 90;\n  return prices.reduce((a, b) => a + b, 0);\n}\n"}, repo="node"),
    Scenario("make: target does nothing", {"Makefile": [("\t./scripts/run-tests.sh", "\ttrue")]}, repo="make"),
    Scenario("make: errors ignored", {"Makefile": [("\t./scripts/run-tests.sh", "\t-./scripts/run-tests.sh")]}, repo="make"),
    Scenario("make: wrapper always exits 0", {"scripts/run-tests.sh": "#!/bin/sh\npython3 verify.py || true\n"}, repo="make"),
    Scenario("make: SHELL replaced", {"Makefile": [("PYTHON = python3\n", "PYTHON = python3\nSHELL = /bin/true\n")]}, repo="make"),
)  # fmt: skip
