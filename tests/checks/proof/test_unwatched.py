"""Expectations that a change writes itself, and code that no test reads: what the plan has to say of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.grant_grammar import parse_entry
from engine.core.model import CheckKind, Proof, ProofVerdict, TaskSpec
from engine.perform.checks.proof.change import snapshot_of
from engine.perform.checks.proof.golden import stated
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.unwatched import same_code, spoken_of, unwatched, written_by_itself
from engine.perform.checks.run.measure import Measurement
from tests.checks.proof.test_judged import BASE, CALC, judged

P = ProofVerdict
OLD = b"alpha: 1\nbeta: 2\ngamma: 3\n"
WORDS = "The report shows ` = ` instead of a colon"


@pytest.mark.parametrize(
    ("new", "words", "holds"),
    [
        pytest.param("alpha = 1\nbeta = 2\ngamma = 3\n", WORDS, True, id="as told"),
        pytest.param("alpha = 2\nbeta = 1\ngamma = 3\n", WORDS, False, id="two values swapped"),
        pytest.param("alpha = 1\nbeta = 2\n", WORDS, False, id="a line is lost"),
        pytest.param("alpha = 1\nbeta =\ngamma = 3\n", WORDS, False, id="a value is lost"),
        pytest.param("1 = alpha\n2 = beta\n3 = gamma\n", WORDS, False, id="the other way round"),
        pytest.param("alpha = 1\nbeta = 2\n", f"{WORDS}, without gamma", True, id="a line is to go"),
        pytest.param(
            "gamma = 3\nbeta = 2\nalpha = 1\n", f"{WORDS}, sorted from the last", True, id="another order is told"
        ),
    ],
)
def test_a_golden_file_says_line_by_line_what_the_task_states(new: str, words: str, holds: bool) -> None:
    assert stated(OLD, new.encode(), words) is holds


SNAP = "test/__snapshots__/r.test.js.snap"


def test_a_snapshot_belongs_to_its_test() -> None:
    assert snapshot_of(SNAP) == "test/r.test.js" and snapshot_of("a/__snapshots__/x.txt") == snapshot_of("x.snap") == ""


@pytest.mark.parametrize(
    ("allow", "words", "more", "asked"),
    [
        pytest.param(
            "edit **/*.snap", "Update the snapshots", (), SNAP, id="a pattern covers it and nothing states it"
        ),
        pytest.param("edit **/*.snap", WORDS, (), "", id="the words state it"),
        pytest.param(f"edit {SNAP}", "Update the snapshots", (), "", id="the file is named"),
        pytest.param(
            "edit **/*.snap", "Update the snapshots", ("test/n.test.js",), "", id="another test proves it too"
        ),
    ],
)
def test_expected_data_that_only_a_pattern_covers(allow: str, words: str, more: tuple[str, ...], asked: str) -> None:
    changed = [Owned(path=SNAP, owner=Owner.DATA, before=OLD, after=OLD.replace(b":", b" ="))]
    changed += [Owned(path=path, owner=Owner.NEW_TEST, before=None, after=b"x") for path in more]
    proofs = [Proof(kind="new", name=f"{path}::x", check="jest", path=path) for path in ("test/r.test.js", *more)]
    assert written_by_itself(proofs, changed, parse_entry(allow), words) == asked


def test_code_that_no_test_reads() -> None:
    def subject(path: str, before: str | None, after: str) -> Owned:
        return Owned(path=path, owner=Owner.SUBJECT, before=before.encode() if before else None, after=after.encode())

    changed = [
        subject("read.py", "x = 1\n", "x = 2\n"),
        subject("tools/sync.py", "x = 1\n", "x = 2\n"),
        subject("lib/said.js", "f(1) // a\n", "f(1) // b\n"),
        subject("docs/conf.py", None, "x = 1\n"),
        subject("data.json", "1", "2"),
    ]
    run = Measurement(check="t", kind=CheckKind.TESTS, argv=(), ended="exited", reads=("read.py",), traced="atime")
    assert unwatched(changed, [run]) == ["tools/sync.py"]
    blind = Measurement(check="t", kind=CheckKind.TESTS, argv=(), ended="exited", reads=("read.py",), traced="globs")
    linter = Measurement(
        check="l", kind=CheckKind.LINT, argv=(), ended="exited", reads=("tools/sync.py",), traced="atime"
    )
    assert unwatched(changed, [blind]) == [] and unwatched(changed, [run, linter]) == ["tools/sync.py"]
    assert spoken_of("tools/sync.py", TaskSpec(id="1", title="Tidy the sync tool"))
    assert spoken_of("tools/sync.py", TaskSpec(id="1", title="Tidy", scope=("tools/sync.py",)))
    assert not spoken_of("tools/sync.py", TaskSpec(id="1", title="Tidy the cart", scope=("tools/*",)))


async def test_nothing_to_show_is_said_of_code_that_nobody_reads_or_asked(tmp_path: Path) -> None:
    base = {**BASE, "tools/sync.py": "def sync(a):\n    return a\n"}
    change = {"calc.py": CALC.replace("a + b", "b + a"), "tools/sync.py": "def sync(a):\n    return a[1:]\n"}
    asked = await judged(tmp_path, base, change, title="Tidy add", proof="none")
    assert asked.proof is P.QUESTION and asked.questions[0].allow == "accept unwatched in tools/sync.py", asked.reason
    named = await judged(tmp_path, base, change, title="Tidy add and tools/sync.py", proof="none")
    assert named.proof is P.HARMLESS and "no test reads tools/sync.py" in named.reason, named.reason


@pytest.mark.parametrize(
    ("title", "path", "after", "same"),
    [
        pytest.param("Extract the sum", "a.py", "# a sum\nx = 1\n", True, id="a comment"),
        pytest.param("Extract the sum", "a.js", "x = 1 // a sum\n", True, id="a comment in JavaScript"),
        pytest.param("Extract the sum", "a.py", "x: int = 1\n", False, id="an annotation is work"),
        pytest.param("Extract the sum", "a.py", "y = 1\nx = y\n", False, id="done"),
        pytest.param("Clean up the formatting", "a.py", "x  =  1\n", False, id="the task is about the layout"),
        pytest.param("Tidy the settings", "a.yaml", "x: 1\n", False, id="no program"),
        pytest.param("test_sum and test_add overlap, tidy up", "a.py", "# x\nx = 1\n", False, id="named tests"),
        pytest.param("Explain the rounding", "a.py", "# half up\nx = 1\n", False, id="it asks for a comment"),
    ],
)
def test_a_refactoring_that_leaves_the_code_as_it_was(title: str, path: str, after: str, same: bool) -> None:
    changed = [Owned(path=path, owner=Owner.SUBJECT, before=b"x = 1\n", after=after.encode())]
    assert same_code(changed, TaskSpec(id="1", title=title)) is same


async def test_a_refactoring_that_nobody_made_is_not_harmless(tmp_path: Path) -> None:
    proof = "none (refactoring)"
    idle = await judged(tmp_path, BASE, {"calc.py": f"# tidy\n{CALC}"}, title="Simplify add", proof=proof)
    assert idle.proof is P.UNPROVEN and "the code of the program is what it was" in idle.reason, idle.reason
    done = await judged(tmp_path, BASE, {"calc.py": CALC.replace("a + b", "b + a")}, title="Simplify add", proof=proof)
    assert done.proof is P.HARMLESS, done.reason


async def test_what_was_to_go_and_is_there_still(tmp_path: Path) -> None:
    """Only the test of it went, and what the README said."""
    base = {**BASE, "README.md": "add and more\n", "calc.py": f"{CALC}\n\ndef more(a):\n    return a\n"}
    base["tests/test_more.py"] = "from calc import more\n\n\ndef test_more():\n    assert more(1) == 1\n"
    gone: dict[str, str | None] = {"tests/test_more.py": None, "README.md": "add\n"}
    task = {
        "title": "Remove more()",
        "allow": ("delete more", "delete tests tests/test_more.py"),
        "proof": "none (removal)",
    }
    left = await judged(tmp_path, base, gone, **task)
    assert left.proof is P.UNPROVEN and "the program is what it was" in left.reason, left.reason
    done = await judged(tmp_path, base, {**gone, "calc.py": CALC}, **task)
    assert done.proof is P.HARMLESS, done.reason
