"""The integrity rules on source text: what is objected to, and what is everyday work."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.changed_lines import changed_lines, coverage_objections
from engine.perform.checks.integrity import Change, edited_tests, moved_tests, source_objections
from engine.perform.checks.integrity_conftest import conftest_steering
from engine.perform.checks.integrity_python import read_tests, weak_spots
from engine.perform.checks.integrity_text import text_hits
from engine.perform.checks.measure import Case, FileCoverage
from engine.perform.checks.mutate import mutants
from engine.perform.checks.redgreen import introduced_names, is_bug_fix, red_objections
from engine.perform.checks.spec import CheckSpec, IntegrityPolicy
from engine.perform.checks.steering import scripts_of, steering
from engine.perform.checks.suppressions import suppressions
from engine.perform.checks.suspicious import suspicious_python
from engine.perform.checks.waivers import Objection, renames, to_findings, waived_by


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
    ("class A(int):\n    def __eq__(self, other):\n        return other > 3", "unusual-source"),
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


def change(path, before, after, test=None) -> Change:
    encode = lambda text: None if text is None else text.encode()  # noqa: E731
    return Change(
        path=path, before=encode(before), after=encode(after), test=path.startswith("test") if test is None else test
    )


def test_objections_of_a_change():
    weaker = change(
        "tests/test_a.py", "def test_a():\n    assert f()\n    assert g()\n", "def test_a():\n    assert f()\n"
    )
    assert [o.rule for o in source_objections([weaker], frozenset())] == ["fewer-assertions"]
    shadow = change("tests/shop.py", None, "x = 1\n")
    assert [o.rule for o in source_objections([shadow], frozenset({"src/shop.py"}))] == ["shadowed-module"]
    inner = change("src/shop/types.py", None, "x = 1\n", test=False)
    assert source_objections([inner], frozenset({"src/shop/__init__.py"})) == []


def test_edited_tests():
    before = "X = 1\n\n\ndef test_a():\n    assert 1\n\n\ndef test_b():\n    assert X\n"
    ids = ["tests/test_a.py::test_a", "tests/test_a.py::test_b[1]", "tests/test_c.py::test_c"]
    one = change("tests/test_a.py", before, before.replace("assert X", "assert X == 1"))
    assert edited_tests([one], ids) == (["tests/test_a.py::test_b[1]"], False)
    helper = change("tests/test_a.py", before, before.replace("X = 1", "X = 2"))
    assert edited_tests([helper], ids)[0] == ids[:2]
    shared = change("tests/checker.py", "x = 1\n", "x = 2\n")
    assert edited_tests([shared], ids) == ([], True)
    assert edited_tests([change("tests/data/new.json", None, "{}")], ids) == ([], False)
    comment = change("tests/test_a.py", before, before.replace("    assert 1\n", "    assert 1  # why\n"))
    assert edited_tests([comment], ids) == ([], False)


def test_moved_tests():
    body = "def test_a():\n    assert f() == 1\n"
    gone, new = change("tests/test_a.py", body, None), change("tests/test_b.py", None, body)
    assert moved_tests([gone, new], ["tests/test_a.py::test_a"], ["tests/test_b.py::test_a"]) == {
        "tests/test_a.py::test_a": "tests/test_b.py::test_a"
    }
    other = change("tests/test_b.py", None, body.replace("== 1", "== 2"))
    assert moved_tests([gone, other], ["tests/test_a.py::test_a"], ["tests/test_b.py::test_a"]) == {}


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


def test_suppressions():
    found = suppressions([("a.py", b"x = 1\n", b"x = 1  # noqa: E1\ny = 2  # type: ignore\n")])
    assert sorted(o.text.split("`")[1] for o in found) == ["noqa", "type: ignore"]
    assert suppressions([("a.py", b"x  # noqa\n", b""), ("b.py", None, b"x  # noqa\n")]) == []
    assert suppressions([("a.py", None, b"x = 'say # noqa here'\n")]) == []
    assert [o.line for o in suppressions([("a.js", b"a\n", b"a\n// eslint-disable-next-line\nb\n")])] == [2]
    for path, text in (
        ("a.ts", b"// @ts-ignore\n"),
        ("a.go", b"//nolint\n"),
        ("a.rs", b"#[allow(x)]\n"),
        ("A.java", b"@SuppressWarnings\n"),
        ("a.py", b"x  # pragma: no cover\n"),
        ("a.py", b"x  # nosec\n"),
    ):
        assert len(suppressions([(path, None, text)])) == 1, path


def test_other_languages():
    js = b"test('a', () => { expect(1).toBe(1); expect(2).toBe(2); });\n"
    assert rules(text_hits("a.test.js", js, js.replace(b"test(", b"test.skip("))) == ["test-skipped", "test-gone"]
    assert rules(text_hits("a.test.js", js, js.replace(b"expect(2).toBe(2);", b""))) == ["fewer-assertions"]
    assert rules(text_hits("a.test.js", js, js + b"it.only('b', () => {});\n")) == ["focused-test"]
    go = b"func TestA(t *testing.T) { t.Fatal(1) }\n"
    assert rules(text_hits("a_test.go", go, go.replace(b"t.Fatal(1)", b"t.Skip()"))) == [
        "test-skipped",
        "fewer-assertions",
    ]
    assert text_hits("a.test.js", js, js + b"test('b', () => { expect(1).toBe(1); });\n") == []


def test_red_then_green():
    source = change(
        "src/a.py", "def f():\n    pass\n", "def f():\n    pass\n\n\ndef newer(depth):\n    return depth\n", test=False
    )
    names = introduced_names([source])
    assert {"newer", "depth"} <= names and "f" not in names
    red = Case(id="t.py::a", outcome="failed", error="AssertionError", text="assert 1 == 2")
    missing = Case(id="t.py", outcome="error", error="CollectError", text="ImportError: cannot import name 'newer'")
    typo = Case(id="t.py", outcome="error", error="CollectError", text="ImportError: cannot import name 'elsewhere'")
    green = Case(id="t.py::a", outcome="passed")
    told = lambda case, needs=False: [o.rule for o in red_objections(["t.py::a"], [case], names, needs)]  # noqa: E731
    assert told(red, True) == []
    assert told(missing, True) == []
    assert told(typo) == ["new-test-error"]
    assert told(green) == ["already-green"]
    assert told(green, True) == ["already-green", "no-red-test"]
    assert told(typo, True) == ["new-test-error", "no-red-test"]
    assert is_bug_fix("Fix the discount") and not is_bug_fix("Add a prefix")


def test_coverage_of_changed_lines():
    before, after = "a\n" * 3, "a\n" * 3 + "b\nc\nd\ne\n"
    assert changed_lines(before.encode(), after.encode()) == {4, 5, 6, 7}
    source = change("src/a.py", before, after, test=False)
    low = {"src/a.py": FileCoverage(executed=(1, 2, 3, 4), missing=(5, 6, 7))}
    assert [o.rule for o in coverage_objections([source], low, 90.0, 80.0)] == ["coverage-lower"]
    assert coverage_objections([source], low, 20.0, 80.0) == [], "no worse than the base"
    high = {"src/a.py": FileCoverage(executed=(1, 2, 3, 4, 5, 6, 7))}
    assert coverage_objections([source], high, 90.0, 80.0) == []


def test_mutants():
    made = mutants("a.py", b"def f(a, b):\n    if a < b and a:\n        return a + 1\n    return True\n", {2, 3, 4})
    assert {m.what.partition(" → ")[2] for m in made} >= {"a <= b", "a - 1", "False"}
    assert len({m.source for m in made}) == len(made)
    assert all(m.line in (2, 3, 4) for m in made)


WAIVERS = [
    (("delete-tests",), Objection(rule="test-gone", text="", subject="t.py::a"), True),
    (("delete-tests",), Objection(rule="test-skipped", text="", subject="t.py::a"), False),
    (("delete-tests:tests/old/**",), Objection(rule="test-gone", text="", path="tests/old/t.py"), True),
    (("delete-tests:tests/old/**",), Objection(rule="test-gone", text="", path="tests/t.py"), False),
    (("t.py::a",), Objection(rule="test-gone", text="", subject="t.py::a"), True),
    (("t.py::a",), Objection(rule="test-gone", text="", subject="t.py::a[1]"), True),
    (("t.py::a",), Objection(rule="test-gone", text="", subject="t.py::ab"), False),
    (("t.py",), Objection(rule="test-changed", text="", subject="t.py::a"), True),
    (("t.py::a",), Objection(rule="always-equal", text="", subject="t.py::a"), False),
    (("pyproject.toml",), Objection(rule="config-changed", text="", path="pyproject.toml"), True),
    (("suppress:src/**",), Objection(rule="suppression", text="", path="src/a.py"), True),
    (("always-equal",), Objection(rule="always-equal", text=""), True),
    (("rename:a=>b",), Objection(rule="test-gone", text="", subject="a"), False),
    (("",), Objection(rule="test-gone", text="", subject="t.py::a"), False),
    (("**",), Objection(rule="runner-tampered", text="", path="a"), False),
]


@pytest.mark.parametrize(("allow", "objection", "waived"), WAIVERS)
def test_waivers(allow, objection, waived):
    assert bool(waived_by(allow, objection)) is waived


def test_waived_findings_stay_on_record():
    gone = Objection(rule="test-gone", text="a is gone", subject="t.py::a")
    [kept] = to_findings([gone], ("delete-tests",), IntegrityPolicy())
    assert (kept.severity, "allowed by the plan: delete-tests" in kept.text) == ("note", True)
    [strict] = to_findings([gone], (), IntegrityPolicy(severity={"test-gone": "human"}))
    assert strict.severity == "human"
    assert to_findings([gone], (), IntegrityPolicy(severity={"test-gone": "off"})) == []
    assert to_findings([Objection(rule="never-heard-of", text="x")], (), IntegrityPolicy())[0].severity == "error"
    assert renames(("rename:t.py=>u.py",), ["t.py::a[1]", "x.py::b"]) == {"t.py::a[1]": "u.py::a[1]"}
