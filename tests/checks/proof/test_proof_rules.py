"""The pure parts of the proof: owners of a file, what a run says against a change, what it shows, the verdict."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import ast

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, Proof, ProofVerdict, TaskSpec
from engine.perform.checks.proof.against_base import (
    assertion_faults,
    canary_faults,
    differs_still_red,
    regressions,
    shadow_faults,
    together,
    uncollected,
)
from engine.perform.checks.proof.docstrings import with_base_examples
from engine.perform.checks.proof.faults import error, fail, question
from engine.perform.checks.proof.gutted import FALSE, TRUE, gutted
from engine.perform.checks.proof.named import named
from engine.perform.checks.proof.owned import Changed, Ground, Owner
from engine.perform.checks.proof.owners import owners
from engine.perform.checks.proof.red_to_green import fixed, new_tests
from engine.perform.checks.proof.seen_cases import COLLECT
from engine.perform.checks.proof.trial import places_of
from engine.perform.checks.proof.verdict import conclude
from engine.perform.checks.run import trace
from engine.perform.checks.run.measure import Canaries, Case, Measurement, Report
from engine.perform.checks.run.spec import TEST_GLOBS

P = ProofVerdict


def measured(*cases: Case, **more) -> Measurement:
    report = Report(source="junit", cases=cases, counts_tests=True, **more.pop("report", {}))
    return Measurement(check="t", kind=CheckKind.TESTS, argv=(), ended="exited", exit_code=0, report=report, **more)


def case(id: str, outcome: str = "passed", **more) -> Case:
    return Case(id=f"t.py::{id}", outcome=outcome, path="t.py", **more)


# ── owners ──────────────────────────────────────────────────────────────────────────────────────────────────────────

SOURCES = {
    "shop/__init__.py": b"",
    "shop/cart.py": b"x = 1\n",
    "shop/rates.json": b"{}",
    "tool.py": b"print(1)\n",
    "check.py": b"import tool\nassert tool\n",
    "app.py": b"print('hello')\n",
    "Makefile": b"test:\n\tpython check.py\n\tpython app.py\n",
    "tests/test_cart.py": b"from shop.cart import x\nopen('run.py')\n",
    "tests/helper.py": b"def same(): pass\n",
    "tests/data/a.json": b"{}",
    "run.py": b"import sys\nsys.exit(1)\n",
    "near.py": b"import pytest\n",
    "expected.txt": b"1\n",
    "README.md": b"words\n",
    "pyproject.toml": b"",
}


def ground(**more) -> Ground:
    given = {
        "files": frozenset(SOURCES),
        "reads": frozenset(SOURCES) - {"README.md"},
        "tests": frozenset({"tests/test_cart.py"}),
        "commands": "make test",
        "sources": {**SOURCES, "tests/test_near.py": b"import near\n"},
        "loaded": frozenset({"requests"}),
        "test_globs": TEST_GLOBS,
    }
    return Ground(**{**given, **more})


@pytest.mark.parametrize(
    ("path", "owner", "more"),
    [
        ("shop/cart.py", Owner.SUBJECT, {}),
        ("shop/rates.json", Owner.SUBJECT, {}),
        ("tool.py", Owner.SUBJECT, {}),
        ("check.py", Owner.CONFIG, {}),
        ("check.py", Owner.SUBJECT, {"scope": ("check.py",)}),
        ("app.py", Owner.SUBJECT, {}),
        ("run.py", Owner.SUBJECT, {}),
        ("near.py", Owner.SUPPORT, {}),
        ("tests/test_cart.py", Owner.TEST, {"scope": ("tests/**",)}),
        ("tests/helper.py", Owner.SUPPORT, {}),
        ("tests/data/a.json", Owner.DATA, {}),
        ("expected.txt", Owner.DATA, {}),
        ("expected.txt", Owner.SUBJECT, {"words": "Rewrite expected.txt."}),
        ("README.md", Owner.SUBJECT, {}),
        ("pyproject.toml", Owner.CONFIG, {}),
        ("Makefile", Owner.CONFIG, {}),
    ],
)
def test_owner_of_a_file_of_the_base(path, owner, more):
    (found,) = owners([Changed(path=path, before=SOURCES[path], after=b"other\n")], ground(**more))
    assert found.owner is owner, found.why


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("shop/new.py", Owner.SUBJECT),
        ("tests/test_new.py", Owner.NEW_TEST),
        ("tests/data/b.json", Owner.NEW_SUPPORT),
        ("tests/conftest.py", Owner.NEW_SUPPORT),
        ("pytest.ini", Owner.STEERING),
        ("local.mk", Owner.STEERING),
        ("test", Owner.STEERING),
        (".ignore", Owner.STEERING),
        ("requests.py", Owner.STEERING),
        ("json.py", Owner.STEERING),
        ("src/shop/__init__.py", Owner.STEERING),
        ("sitecustomize.py", Owner.STEERING),
        ("evil.dist-info/entry_points.txt", Owner.STEERING),
        ("docs/new.md", Owner.SUBJECT),
        ("table.bin", Owner.STEERING),
    ],
)
def test_owner_of_a_new_file(path, owner):
    (found,) = owners([Changed(path=path, before=None, after=b"x\n")], ground())
    assert found.owner is owner, found.why


def test_data_that_new_source_names_is_subject():
    changes = [
        Changed(path="table.bin", before=None, after=b"1"),
        Changed(path="shop/cart.py", before=b"x = 1\n", after=b"open('table.bin')\n"),
    ]
    assert [one.owner for one in owners(changes, ground())] == [Owner.SUBJECT, Owner.SUBJECT]


# ── what stands against a change ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ([case("a"), case("b")], []),
        ([case("a"), case("b", "failed")], ["b"]),
        ([case("a"), case("b", "skipped")], ["b"]),
        ([case("a")], ["b"]),
        ([], ["a", "b"]),
    ],
)
def test_every_test_that_passed_passes(now, lost):
    r0 = measured(case("a"), case("b"), case("c", "failed"))
    found = regressions(r0, measured(*now))
    assert [one.case.id for one in found] == [f"t.py::{name}" for name in lost]
    assert regressions(r0, measured(*now), ("t.py",)) == [], "a permission dropped the file"


def test_what_a_permission_dropped_is_known_by_the_names_of_unittest_too():
    r0 = measured(Case(id="tests.test_old.Old.test_a", outcome="passed"), case("b"))
    (lost,) = regressions(r0, measured(), ("tests/test_old.py::Old::test_a",))
    assert lost.case.id == "t.py::b"


def test_a_canary_that_passes_or_is_missing_fails_unless_the_base_has_it_too():
    good = measured(report={"canaries": Canaries(planted=3, failed=3)})
    passed = measured(report={"canaries": Canaries(planted=3, failed=2, passed=("approx",))})
    missing = measured(report={"canaries": Canaries(planted=3, failed=2)})
    assert canary_faults(good, good, "t", "R1") == []
    assert [f.verdict for f in canary_faults(good, passed, "t", "R1")] == [P.FAIL]
    assert [f.verdict for f in canary_faults(good, missing, "t", "R1")] == [P.FAIL]
    assert canary_faults(passed, passed, "t", "R1") == []


def test_what_the_oracle_gave_still_comes_from_it():
    r0 = measured(reads=("t.py", "calc.py"), traced="atime", report={"modules": {"json": "env", "calc": "calc.py"}})
    shadow = measured(reads=("t.py",), traced="atime", report={"modules": {"json": "json.py"}})
    unread = measured(reads=("calc.py",), traced="atime")
    oracle = frozenset({"t.py"})
    assert [f.verdict for f in shadow_faults(r0, shadow, "t", oracle)] == [P.FAIL]
    assert [f.verdict for f in shadow_faults(r0, unread, "t", oracle)] == [P.FAIL]
    assert shadow_faults(r0, r0, "t", oracle) == []


@pytest.mark.parametrize(("exit_code", "faults"), [(0, 1), (2, 0)])
def test_what_a_command_did_not_come_to_is_no_shadow(exit_code: int, faults: int):
    """It ends at its first failure, and that one is told."""
    report = Report(source="exit code", cases=(), counts_tests=False)
    r0 = replace(measured(reads=("t.py",), traced="atime"), report=report)
    r1 = replace(measured(reads=("a.py",), traced="atime"), report=report, exit_code=exit_code)
    assert len(shadow_faults(r0, r1, "t", frozenset({"t.py"}))) == faults


def test_fewer_assertions_reached_is_a_question():
    r0 = measured(case("a", reached=("3:x == 1", "4:y == 2")))
    assert [f.verdict for f in assertion_faults(r0, measured(case("a", reached=("3:x == 1",))), "t")] == [P.QUESTION]
    assert assertion_faults(r0, r0, "t") == []


@pytest.mark.parametrize(
    ("reached", "proofs", "faults"),
    [(("9:x == 1",), 1, 0), (("5:other",), 0, 1), ((), 0, 1)],
    ids=["reached", "another one reached", "none reached"],
)
def test_a_fixed_test_reaches_the_assertion_that_failed(reached, proofs, faults):
    r0 = measured(case("a", "failed", place="9:assert x == 1", text="assert 2 == 1"))
    r1 = measured(case("a", reached=reached), report={"canaries": Canaries(planted=1, failed=1)})
    found, against = fixed(r0, r1, "t")
    assert (len(found), len(against)) == (proofs, faults)


def test_an_expected_failure_that_passes_is_a_proof():
    found, _ = fixed(measured(case("a", "xfailed")), measured(case("a")), "t")
    assert [proof.kind for proof in found] == ["fixed"]


def test_a_file_that_cannot_be_collected_is_an_error_until_its_tests_pass():
    r0 = measured(Case(id="t.py", outcome="error", error=COLLECT, path="t.py", text="E ImportError: x"))
    assert [f.verdict for f in uncollected(r0, r0, "t")] == [P.ERROR]
    assert [f.verdict for f in uncollected(r0, measured(case("a", "failed")), "t")] == [P.FAIL]
    assert uncollected(r0, measured(case("a")), "t") == []


@pytest.mark.parametrize(
    ("now", "asked"),
    [("assert 3 == 1", True), ("assert 2 == 1", False), ("assert 2 == 1 at 0x7fab", False)],
)
def test_red_and_differently_red(now, asked):
    text = "assert 2 == 1 at 0x1234" if "0x" in now else "assert 2 == 1"
    r0, r1 = measured(case("a", "failed", text=text)), measured(case("a", "failed", text=now))
    assert bool(differs_still_red(r0, r1, "t")) is asked


def test_new_tests_prove_only_what_was_red_on_the_base():
    r0 = measured(case("old"))
    r2 = [measured(case("old"), case("new"), case("green"))]
    r3 = [measured(case("old"), case("new", "failed", text="assert 0"), case("green"))]
    assert [proof.name for proof in new_tests(r2, r3, r0, "t", frozenset({"t.py"}))] == ["t.py::new"]


def test_a_group_whose_set_up_breaks_over_the_base_was_red_there():
    r2 = [measured(case("define > is called"), case("other > is called"))]
    r3 = [measured(case("define", "failed", text="define is not a function"), case("other > is called"))]
    found = new_tests(r2, r3, measured(), "t", frozenset())
    assert [(proof.name, proof.red) for proof in found] == [("t.py::define > is called", "define is not a function")]


def test_what_cannot_be_built_over_the_base_was_red_there():
    """make, ctest: the tests are compiled with the subject, so a missing function ends the build and no test is told."""
    r0 = measured(Case(id="total", outcome="passed"))
    r2 = [measured(Case(id="total", outcome="passed"), Case(id="added", outcome="passed"))]
    broken = replace(measured(output="error: 'added' was not declared"), exit_code=2)
    assert [proof.name for proof in new_tests(r2, [broken], r0, "t", frozenset())] == ["added"]
    dead = replace(broken, report=Report(source="witness", complete=False, counts_tests=True))
    for other in (
        replace(broken, exit_code=0),
        replace(broken, ended="timeout", exit_code=None),
        replace(broken, exit_code=137),
        dead,
    ):
        assert new_tests(r2, [other], r0, "t", frozenset()) == []
    edited = frozenset({"tests/test_total.c"})
    r2 = [measured(Case(id="total", outcome="passed"), Case(id="other", outcome="passed"))]
    r0 = measured(Case(id="total", outcome="passed"), Case(id="other", outcome="passed"))
    assert [proof.name for proof in new_tests(r2, [broken], r0, "t", edited)] == ["total"], "its program was edited"
    exits = replace(broken, report=Report(source="exit code"))
    assert new_tests(r2, [exits], r0, "t", frozenset()) == []


@pytest.mark.parametrize(
    ("words", "tested", "places"),
    [
        (["manage.py", "test"], {"shop/tests.py"}, []),
        (["benchmark.py"], {"test/test_a.py", "pkg/a.py"}, []),
        (["hooks.js", "test/"], {"test/a.js"}, ["test"]),
        (["tests/test_a.py::one", "pkg"], {"tests/test_a.py", "pkg/tests/b.py"}, ["tests/test_a.py", "pkg"]),
        (["tests"], set(), ["tests"]),
        (["."], {"tests/a.py"}, []),
    ],
)
def test_only_what_held_tests_on_the_base_selects_them(words, tested, places):
    files = {"manage.py", "benchmark.py", "hooks.js", "tests/test_a.py", "test/a.js", "pkg/a.py", "pkg/tests/b.py"}
    assert places_of(words, files, tested) == places


def test_a_test_that_vanishes_from_an_untouched_file_fails_or_asks():
    r0, r4 = measured(case("a"), case("b")), measured(case("a"))
    told = {"edited": frozenset(), "dropped": (), "excused": frozenset()}
    assert [f.verdict for f in together(r0, r4, "t", settings_changed="", **told)] == [P.FAIL]
    assert [f.verdict for f in together(r0, r4, "t", settings_changed="pytest.ini", **told)] == [P.QUESTION]
    assert together(r0, r0, "t", settings_changed="", **told) == []
    red = measured(case("a"), case("b", "failed"))
    assert [f.verdict for f in together(red, r4, "t", settings_changed="", **told)] == [P.FAIL]


# ── the verdict ─────────────────────────────────────────────────────────────────────────────────────────────────────

FAIL, ASK, BROKEN = fail("r", "f"), question("r", "q", "edit x"), error("r", "e")
SHOWN = Proof(kind="new", name="t")


@pytest.mark.parametrize(
    ("faults", "proofs", "nothing", "changed", "verdict"),
    [
        ([], [SHOWN], False, True, P.PROVEN),
        ([], [SHOWN], True, True, P.PROVEN),
        ([], [], True, True, P.HARMLESS),
        ([], [], False, True, P.UNPROVEN),
        ([], [], True, False, P.UNPROVEN),
        ([], [SHOWN], False, False, P.UNPROVEN),
        ([ASK], [SHOWN], True, True, P.QUESTION),
        ([ASK, BROKEN], [SHOWN], True, True, P.ERROR),
        ([ASK, BROKEN, FAIL], [SHOWN], True, True, P.FAIL),
    ],
)
def test_the_verdict(faults, proofs, nothing, changed, verdict):
    found = conclude(faults, proofs, nothing_to_show=nothing, changed=changed, ran={"t": 1})
    assert found.verdict is verdict


def test_no_passing_test_shows_nothing():
    assert conclude([], [], nothing_to_show=True, changed=True, ran={"t": 0}).verdict is P.UNPROVEN


# ── what makes a proof ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("title", "red", "outright", "shared"),
    [
        ("Fix t.py::test_parse_empty", ["test_parse_empty", "test_parse_sign"], {"test_parse_empty"}, set()),
        ("Parse an empty text", ["test_parse_empty", "test_parse_sign"], set(), {"test_parse_empty"}),
        ("Fix the discount", ["test_discount"], set(), {"test_discount"}),
        ("Improve the discount page", ["test_discount"], set(), set()),
        ("Fix the menu", ["test_discount"], set(), set()),
    ],
)
def test_red_tests_that_a_task_names(title, red, outright, shared):
    found = named(TaskSpec(id="1", title=title), [case(name, "failed") for name in red])
    assert {id.partition("::")[2] for id in found.outright} == outright
    assert {id.partition("::")[2] for id in found.shared} == shared


def test_gutted_source_answers_nothing():
    before, after = b"def a():\n    return 1\n", b"X = 3\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n"
    for answer in (TRUE, FALSE):
        space: dict[str, object] = {}
        exec(gutted(before, after, answer, "Add the constant X") or b"", space)
        assert space["X"] is None and space["a"]() == 1 and space["b"]() != 2
    assert gutted(before, before) is None
    assert gutted(b"", b"EMPTY = 'n-a'\n", TRUE, "An empty title") is None, "any change can bring in a constant"
    handed_on = gutted(b"", b"from .a import f\n", FALSE, exports=True) or b""
    assert b"f = lambda" in handed_on


def test_the_bases_examples_stand_in_the_candidates_file():
    before = b'def f(x):\n    """Half.\n\n    >>> f(4)\n    2\n    """\n    return x // 2\n'
    after = b'def f(x):\n    """Twice, \xc3\xa4h.\n\n    >>> f(4)\n    8\n    """\n    return x * 2\n\n\ndef g():\n    """New.\n\n    >>> g()\n    1\n    """\n    return 1\n'
    merged = with_base_examples(before, after)
    tree = ast.parse(merged)
    assert ast.get_docstring(tree.body[0]) == ast.get_docstring(ast.parse(before).body[0])
    assert b"x * 2" in merged and ">>> g()" in (ast.get_docstring(tree.body[1]) or "")
    gone = with_base_examples(before, b"def f(x):\n    return x * 2\n")
    assert ">>> f(4)" in (ast.get_docstring(ast.parse(gone).body[0]) or ""), "taken away, and back"


def test_reads_are_seen_once_and_stat_is_no_read(tmp_path):
    for name in ("read", "looked-at", "touched", "empty", "gone"):
        (tmp_path / name).write_text("" if name == "empty" else "x")
    if not trace.works_in(tmp_path):
        pytest.skip("access times do not move here")
    armed = trace.arm(tmp_path, ["read", "looked-at", "touched", "empty", "gone", "missing"])
    assert armed == ("read", "looked-at", "touched", "empty", "gone")
    (tmp_path / "read").read_bytes()
    (tmp_path / "empty").read_bytes()
    (tmp_path / "looked-at").stat()
    (tmp_path / "touched").touch()
    (tmp_path / "gone").unlink()
    seen = set(trace.read_since(tmp_path, armed))
    assert {"read", "empty", "gone"} <= seen and "looked-at" not in seen
    assert trace.arm(tmp_path, ["read"]) and trace.read_since(tmp_path, ["read"]) == (), "armed anew"
