"""The integrity rules on source text: what is objected to, and what is everyday work."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.proof.changed_lines import changed_lines, unreached
from engine.perform.checks.proof.integrity_conftest import conftest_steering
from engine.perform.checks.proof.integrity_python import read_tests, weak_spots
from engine.perform.checks.proof.integrity_text import text_hits
from engine.perform.checks.proof.mutate import mutants
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.steering import scripts_of, steering
from engine.perform.checks.proof.suppressions import suppressions
from engine.perform.checks.proof.suspicious import suspicious_python
from engine.perform.checks.run.measure import FileCoverage
from engine.perform.checks.run.spec import CheckSpec


def rules(hits) -> list[str]:
    return [hit[0] for hit in hits]


SUSPICIOUS = [
    ("import _pytest", "suspicious-source"),
    ("from unittest import mock", "suspicious-source"),
    ("import sys\nsys.modules['x'] = 1", "suspicious-source"),
    ("import sys\nsys.modules.update(x=1)", "suspicious-source"),
    ("import os as o\no._exit(0)", "suspicious-source"),
    ("from os import _exit\n_exit(0)", "suspicious-source"),
    ("import os\ngetattr(os, '_exit')(0)", "suspicious-source"),
    ("import builtins\nbuiltins.print = None", "suspicious-source"),
    ("import builtins\nsetattr(builtins, 'print', None)", "suspicious-source"),
    ("import sys\nsys.exit(0)", "suspicious-source"),
    ("raise SystemExit", "suspicious-source"),
    ("import importlib\nimportlib.import_module('pytest')", "suspicious-source"),
    ("open('junit.xml', 'w')", "suspicious-source"),
    ("import os\nos.environ.get('PYTEST_CURRENT_TEST')", "detects-tests"),
    ("import sys\nif 'pytest' in sys.modules:\n    x = 1", "detects-tests"),
    ("import sys\nx = sys.modules.get('pytest')", "detects-tests"),
    ("from tests.test_cart import expected", "detects-tests"),
    ("open('tests/test_cart.py')", "detects-tests"),
    ("class A:\n    def __eq__(self, other):\n        return True", "always-equal"),
    ("class A:\n    def __eq__(self, other):\n        '''Equal.'''\n        return 1", "always-equal"),
    ("class A:\n    __eq__ = lambda self, other: True", "always-equal"),
    ("class A(int):\n    def __eq__(self, other):\n        return other > 3", "always-equal"),
    (
        "class A:\n    def __init__(self):\n        self.n = 1\n        self.m = 2\n\n"
        "    def __eq__(self, other):\n        return self.n == other.n",
        "always-equal",
    ),
    (
        "class A:\n    n: float\n\n    def __eq__(self, other):\n        return abs(self.n - other.n) < 1",
        "always-equal",
    ),
    ("import atexit\natexit.register(print)", "unusual-source"),
    ("import inspect\ninspect.stack()", "unusual-source"),
    ("exec('1')", "unusual-source"),
    ("import gc", "unusual-source"),
    ("def f(:", "unreadable-source"),
]


@pytest.mark.parametrize(("code", "rule"), SUSPICIOUS)
def test_suspicious_source(code, rule):
    assert rule in rules(suspicious_python(code.encode()))
    assert suspicious_python(code.encode(), code.encode()) == [] or rule == "unreadable-source", (
        "what the base had is not new"
    )


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nif __name__ == '__main__':\n    sys.exit(main())",
        "import sys\ndef main():\n    sys.exit(2)",
        "class A:\n    def __eq__(self, other):\n        return isinstance(other, A) and self.x == other.x",
        "class A:\n    def __eq__(self, other):\n        raise NotImplementedError",
        "class A:\n    n: int\n    m: int\n\n    def __eq__(self, other):\n        return self.key() == other.key()\n\n"
        "    def key(self):\n        return self.n, self.m",
        "class A:\n    def __eq__(self, other):\n        return NotImplemented if type(other) is not A else self.x == other.x",
        "import os\nos.environ['HOME']",
        "import sys\nif 'numpy' in sys.modules:\n    pass",
        "x = 'see the docs about pytest'",
        "self.modules['x'] = 1",
    ],
)
def test_everyday_source(code):
    assert suspicious_python(code.encode()) == []


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("assert True", "tautology"),
        ("assert f() == 1 or True", "tautology"),
        ("assert (f() == 1, 'message')", "tautology"),
        ("x = f()\n    assert x == x", "tautology"),
        ("assert not False", "tautology"),
        ("assert len(f()) >= 0", "tautology"),
        ("assert isinstance(f(), object)", "tautology"),
        ("try:\n        assert f() == 1\n    except Exception:\n        pass", "swallowed-assertion"),
        (
            "try:\n        assert f() == 1\n    except (ValueError, AssertionError):\n        print('x')",
            "swallowed-assertion",
        ),
        ("with pytest.raises(Exception):\n        assert f() == 1", "swallowed-assertion"),
        ("return\n    assert f() == 1", "unreachable-assertion"),
        ("while 0:\n        assert f() == 1", "unreachable-assertion"),
        ("with patch('shop.f'):\n        assert f() == 1", "mocked-subject"),
        ("monkeypatch.setattr(shop, 'f', lambda: 1)\n    assert shop.f() == 1", "mocked-subject"),
    ],
)
def test_weak_tests(body, rule):
    code = f"def test_a():\n    {body}\n".encode()
    assert rule in rules(weak_spots(code))
    assert weak_spots(code, code) == []


@pytest.mark.parametrize(
    "body",
    [
        "assert Point(1) == Point(1)",
        "assert f() == 1",
        "with pytest.raises(ValueError):\n        f()",
        "try:\n        f()\n    except ValueError:\n        pass\n    assert g() == 1",
        "try:\n        assert f() == 1\n    except AssertionError as e:\n        raise RuntimeError from e",
        "monkeypatch.setattr(shop, 'rate', lambda: 1)\n    assert shop.total() == 1",
        "if sys.platform == 'win32':\n        return\n    assert f() == 1",
    ],
)
def test_sound_tests(body):
    assert weak_spots(f"def test_a():\n    {body}\n".encode()) == []


def test_assertions_are_counted_per_test():
    source = b"class TestA(Base):\n    def test_x(self):\n        self.assertEqual(1, 2)\n        with pytest.raises(E):\n            f()\n"
    assert read_tests(source)["TestA::test_x"].assertions == 2


@pytest.mark.parametrize(
    ("added", "tame"),
    [
        ("@pytest.fixture\ndef empty():\n    return []\n", True),
        ("def build():\n    return 1\n", True),
        ("SIZE = 3\n", True),
        ("from pathlib import Path\n", True),
        ("@pytest.fixture(autouse=True)\ndef calm():\n    pass\n", False),
        ("def pytest_configure(config):\n    pass\n", False),
        ("collect_ignore = ['x']\n", False),
        ("pytest_plugins = ['x']\n", False),
        ("import _pytest.python\n", False),
        ("patch()\n", False),
        ("x = patch()\n", False),
        ("shop.total = lambda: 1\n", False),
        ("@pytest.fixture\ndef prices():\n    return []\n", False),
    ],
)
def test_conftest(added, tame):
    base = b"import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1]\n"
    assert (conftest_steering(base, base + b"\n\n" + added.encode()) == []) is tame
    assert conftest_steering(base, None)
    assert conftest_steering(base, b"import pytest\n")


MAKE = (CheckSpec(name="m", kind=CheckKind.TESTS, command=("make", "check")),)
PACKAGE = '{"scripts": {"test": "jest", "build": "tsc"}, "dependencies": {}}'


@pytest.mark.parametrize(
    ("path", "before", "after", "steers"),
    [
        ("pyproject.toml", "[project]\nname='a'\n", "[project]\nname='b'\n", False),
        ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts='-x'\n", True),
        ("pyproject.toml", "[tool.ruff]\n", "[tool.ruff]\nexclude=['src']\n", True),
        ("pyproject.toml", "[tool.hatch.build]\na=1\n", "[tool.hatch.build]\na=2\n", False),
        ("pyproject.toml", "[project]\n", "[project\n", True),
        ("setup.cfg", "[metadata]\nname=a\n", "[metadata]\nname=b\n", False),
        ("setup.cfg", "[metadata]\nname=a\n", "[metadata]\nname=a\n[tool:pytest]\naddopts=-x\n", True),
        ("package.json", PACKAGE, PACKAGE.replace("{}", '{"a": "1"}'), False),
        ("package.json", PACKAGE, PACKAGE.replace('"build": "tsc"', '"build": "tsc", "docs": "x"'), False),
        ("package.json", PACKAGE, PACKAGE.replace('"jest"', '"jest || true"'), True),
        ("package.json", PACKAGE, PACKAGE.replace('"build"', '"pretest": "x", "build"'), True),
        ("Makefile", "check:\n\tt\nclean:\n\trm\n", "check:\n\tt\nclean:\n\trm -f\n", False),
        ("Makefile", "check:\n\tt\n", "check:\n\ttrue\n", True),
        ("Makefile", "check: a\na:\n\tt\n", "check: a\na:\n\ttrue\n", True),
        ("Makefile", "T = pytest\ncheck:\n\t$(T)\n", "T = true\ncheck:\n\t$(T)\n", True),
        ("Makefile", "check:\n\tt\n", "check:\n\tt\nV = 1\n", False),
        ("Makefile", "check:\n\tt\n", ".IGNORE:\ncheck:\n\tt\n", True),
        (
            "pom.xml",
            "<project><dependencies/></project>",
            "<project><dependencies><a/></dependencies></project>",
            False,
        ),
        ("pom.xml", "<project><build><a/></build></project>", "<project><build><b/></build></project>", True),
        ("build.gradle", "dependencies {\n}\n", "dependencies {\n testImplementation 'x'\n}\n", False),
        ("build.gradle", "", "test { ignoreFailures = true }\n", True),
        ("Cargo.toml", "[package]\nname='a'\n", "[package]\nname='a'\n[dependencies]\nb='1'\n", False),
        ("Cargo.toml", "[package]\n", "[package]\n[lints.clippy]\nall='allow'\n", True),
        (".github/workflows/x.yml", None, "on: push\n", True),
        ("eslint.config.js", "a", "b", True),
        ("src/a.py", "a", "b", False),
    ],
)
def test_steering(path, before, after, steers):
    old = None if before is None else before.encode()
    assert bool(steering(path, old, after.encode(), MAKE)) is steers


def test_scripts_behind_a_check_are_protected():
    specs = [CheckSpec(name="n", kind=CheckKind.TESTS, command=("npm", "test"))]
    package = b'{"scripts": {"test": "node ./tools/run.js && sh ci.sh"}}'
    assert scripts_of(specs, package, None, frozenset({"tools/run.js", "ci.sh", "a.js"})) == ("ci.sh", "tools/run.js")
    own = [CheckSpec(name="o", kind=CheckKind.OWN, command=("sh", "-c", "./verify.sh && true"))]
    assert scripts_of(own, None, None, frozenset({"verify.sh"})) == ("verify.sh",)


def test_other_languages():
    js = b"test('a', () => { expect(1).toBe(1); expect(2).toBe(2); });\n"
    assert rules(text_hits("a.test.js", js, js.replace(b"test(", b"test.skip("))) == ["test-skipped", "test-gone"]
    assert rules(text_hits("a.test.js", js, js.replace(b"expect(2).toBe(2);", b""))) == ["fewer-assertions"]
    assert rules(text_hits("a.test.js", js, js + b"it.only('b', () => {});\n")) == ["focused-test"]
    init = b'func init() {\n\twidth = strings.Count\n\tcases["a"] = 1\n}\n\nvar cases = map[string]int{}\n'
    assert rules(text_hits("x_test.go", None, init)) == ["mocked-subject"]
    assert rules(text_hits("x_test.go", init, init + b"// more\n")) == []
    assert rules(text_hits("x_test.go", None, init.replace(b"width = ", b"width := "))) == []
    go = b"func TestA(t *testing.T) { t.Fatal(1) }\n"
    assert rules(text_hits("a_test.go", go, go.replace(b"t.Fatal(1)", b"t.Skip()"))) == [
        "test-skipped",
        "fewer-assertions",
    ]
    assert text_hits("a.test.js", js, js + b"test('b', () => { expect(1).toBe(1); });\n") == []


def test_mutants():
    made = mutants("a.py", b"def f(a, b):\n    if a < b and a:\n        return a + 1\n    return True\n", {2, 3, 4})
    assert {m.what.partition(" → ")[2] for m in made} >= {"a <= b", "a - 1", "False"}
    assert len({m.source for m in made}) == len(made)
    assert all(m.line in (2, 3, 4) for m in made)


def test_suppressions():
    """New comments only, each with its place and the code it silences; moved ones are not new."""
    old = ("a.py", b"x = 1  # noqa: E501\n", b"x = 1  # noqa: E501\ny = eval('1')  # noqa: S307\n")
    assert [(one.kind, one.path, one.line, one.code) for one in suppressions([old])] == [("noqa", "a.py", 2, "S307")]
    moved = [("a.py", b"x = 1  # noqa: E501\n", b""), ("b.py", None, b"x = 1  # noqa: E501\n")]
    assert suppressions(moved) == []
    assert suppressions([("a.py", b"", b"x = '# noqa'\n")]) == [], "a string silences nothing"
    assert [one.kind for one in suppressions([("a.ts", b"", b"// @ts-ignore\n")])] == ["@ts-ignore"]


def test_coverage_of_changed_lines():
    after = b"a = 1\nb = 2\nc = 3\nd = 4\n"
    owned = Owned(path="m.py", owner=Owner.SUBJECT, before=b"a = 1\n", after=after)
    assert changed_lines(b"a = 1\n", after) == {2, 3, 4}
    cover = {"m.py": FileCoverage(executed=(1,), missing=(2, 3, 4))}
    (finding,) = unreached([owned], cover, None, 80.0)
    assert (finding.rule, finding.severity, finding.line) == ("coverage-lower", "note", 2)
    assert unreached([owned], {"m.py": FileCoverage(executed=(1, 2, 3, 4))}, None, 80.0) == []


@pytest.mark.parametrize(
    ("line", "weak"),
    [
        ("self.assertTrue(f(), ['a'])", True),
        ("self.assertTrue(f(), 3)", True),
        ("self.assertTrue(f(), 'why')", False),
        ("self.assertTrue(f(), msg)", False),
        ("self.assertTrue(f())", False),
        ("self.assertEqual(f(), ['a'])", False),
    ],
)
def test_a_value_that_is_taken_for_a_message(line: str, weak: bool) -> None:
    assert bool(weak_spots(f"def test():\n    {line}\n".encode())) is weak
