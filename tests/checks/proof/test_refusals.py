"""A refusal that the task wants has to be provoked by something new in the tests, in whichever way the language has."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict, TaskSpec
from engine.perform.checks.proof.refusals import unprovoked
from tests.checks.proof.test_judged import judged

CLOSE = "Close removes an account that is empty and refuses any other"
GO = "func TestClose(t *testing.T) {\n\tif err := l.Close(a); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n"


@pytest.mark.parametrize(
    ("title", "fresh", "missing"),
    [
        pytest.param(CLOSE, GO, True, id="go: only what goes well"),
        pytest.param(CLOSE, GO + "if l.Close(b) == nil { t.Fatal() }", False, id="go: an error that has to come"),
        pytest.param(CLOSE, "assert close('a') == 1", True, id="python: only what goes well"),
        pytest.param('Windows files are refused: "no number"', "assert read('a') == 1", False, id="so it is today"),
        pytest.param(CLOSE, "with pytest.raises(ValueError):\n    close('b')", False, id="python: raises"),
        pytest.param(CLOSE, "assert close('b') is False", False, id="a false answer"),
        pytest.param(CLOSE, "assert.throws(() => close('b'))", False, id="javascript"),
        pytest.param(CLOSE, "./close b; test $? -eq 3", False, id="shell"),
        pytest.param("Negative amounts are rejected", "assert pay(5) == 5", True, id="rejected"),
        pytest.param("Spaces are no longer rejected", "assert pay(' 5') == 5", False, id="the other way round"),
        pytest.param("Why a name is refused is said in the log", "assert say() == 'x'", False, id="about a refusal"),
        pytest.param("N below 1 is an error", GO.replace("(err)", '("error", err)'), True, id="go: its own complaints"),
        pytest.param("N below 1 is an error", GO + "if err != ErrN { t.Error() }", False, id="go: the error it wants"),
        pytest.param(CLOSE, "CHECK(!close_it(&b));", False, id="c: not"),
        pytest.param(CLOSE, "CHECK(close_it(&b) == NULL);", False, id="c: nothing comes"),
        pytest.param(CLOSE, "CHECK(close_it(&b) != 3);", True, id="c: only what goes well"),
        pytest.param("Add two amounts", "assert add(1, 2) == 3", False, id="nothing of the kind"),
    ],
)
def test_a_refusal_is_provoked(title: str, fresh: str, missing: bool) -> None:
    assert bool(unprovoked(TaskSpec(id="1", title=title), fresh)) is missing


BASE = {
    "m.py": "def pay(amount):\n    return amount\n",
    "tests/test_m.py": "from m import pay\n\n\ndef test_pay():\n    assert pay(5) == 5\n",
}


@pytest.mark.parametrize("whole", [False, True], ids=["half", "whole"])
async def test_half_of_it_is_unproven(tmp_path: Path, whole: bool) -> None:
    rule = "    if fee > amount:\n        raise ValueError(fee)\n" if whole else ""
    change: dict[str, str | None] = {"m.py": f"def pay(amount, fee=0):\n{rule}    return amount + fee\n"}
    change["tests/test_m.py"] = BASE["tests/test_m.py"] + "\n\ndef test_fee():\n    assert pay(5, 2) == 7\n"
    if whole:
        more = "\n\ndef test_too_much():\n    with pytest.raises(ValueError):\n        pay(5, 6)\n"
        change["tests/test_m.py"] = "import pytest\n" + change["tests/test_m.py"] + more
    found = await judged(tmp_path, BASE, change, title="pay takes a fee and refuses one that is larger than the amount")
    assert found.proof is (ProofVerdict.PROVEN if whole else ProofVerdict.UNPROVEN), found.reason


def test_a_title_provokes_nothing() -> None:
    task = TaskSpec(id="1", title="parse('a=%zz') should throw a bad request, not a URIError")
    title = "test('broken escapes do not throw an error', () => {\n  assert.equal(parse('a=%zz'), 1)\n})\n"
    assert unprovoked(task, title)
    assert not unprovoked(task, title.replace("equal(parse('a=%zz'), 1)", "throws(() => parse('a=%zz'))"))
