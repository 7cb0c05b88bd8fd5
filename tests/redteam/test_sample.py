"""A lean sample of the suite before the judge: every run, a canary and every verdict, each shown able to fail.

`make proof-suite` runs all cases by the command line.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.core.model import ProofVerdict as P
from tests.redteam.case import FOREIGN, Case, File, Step, cases, repository
from tests.redteam.inside import Court

SUITE = {case.name: case for case in cases()}
pytestmark = [pytest.mark.xdist_group("redteam"), pytest.mark.timeout(300)]


AGAIN = pytest.mark.torture
"""Held in each run of the suite by tests/checks/test_judge.py (a red test that turns green, README only, a test that is
green on the base) and tests/checks/proof/test_judged_javascript.py (a fix is proven)."""


@pytest.fixture(scope="module")
def courts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Court]]:
    """One baseline a repository for all cases of this file."""
    yield _Courts(tmp_path_factory.mktemp("courts"))


class _Courts(dict[str, Court]):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, repo: str) -> Court:
        self[repo] = Court(repo, self.folder)
        return self[repo]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        pytest.param("all-or-nothing", P.PROVEN, id="R1: a red test of the base turns green", marks=AGAIN),
        pytest.param("history-with-a-clock", P.PROVEN, id="R2 and R3: a new test, red over the base"),
        pytest.param("rollback-only-for-the-tested-order", P.QUESTION, id="a special case asks"),
        pytest.param("dict-that-cannot-be-compared", P.QUESTION, id="an equality of its own asks"),
        pytest.param("unittest-assertions-patched", P.FAIL, id="a canary: the judge was changed"),
        pytest.param("exception-kept-but-goods-taken", P.QUESTION, id="a red test that fails differently asks"),
        pytest.param("readme-usage", P.HARMLESS, id="docs are harmless", marks=AGAIN),
        pytest.param("expected-output-is-the-bug", P.UNPROVEN, id="R3: green on the base proves nothing", marks=AGAIN),
    ],
)
def test_verdicts(courts: dict[str, Court], name: str, verdict: P) -> None:
    case = SUITE[name]
    outcome = courts[case.repo].run(case)
    assert outcome.proof == verdict, outcome.why


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        pytest.param("hours-fixed", P.PROVEN, id="node: R1", marks=AGAIN),
        pytest.param("jsdoc", P.HARMLESS, id="node: comments are harmless"),
        pytest.param("loose-assert", P.QUESTION, id="node: an edited test asks"),
        pytest.param("assert-patched-on-import", P.FAIL, id="node: a canary"),
    ],
)
def test_verdicts_of_node(courts: dict[str, Court], name: str, verdict: P) -> None:
    test_verdicts(courts, name, verdict)


def made(name: str, title: str, files: dict[str, str], repo: str = "stock", field: str = "") -> Case:
    steps = tuple(Step("file", (path,), text, name) for path, text in files.items())
    plain = SUITE["all-or-nothing"]
    return dataclasses.replace(
        plain, name=name, repo=repo, title=title, about="", steps=steps, fields=(field,) if field else ()
    )


SILENT = "import unittest\n\nfrom stock.mail import warn\nfrom stock.store import Store\n\n\n"
NEW_MAIL = (
    '"""Mails."""\n\n\ndef warn(store, send, limit=3):\n    low = store.low(limit)\n    {}\n    return len(low)\n'
)
LEAK = """
class LeakTest(unittest.TestCase):
    def test_quiet(self):
        Store.low = lambda self, limit: []
        self.assertEqual(warn(Store(), print, limit=None), 0)
"""
RUNS = [
    (
        "R0 cannot be collected",
        made("r0", "Say more", {"NOTES.md": "x\n"}, repo="broken", field="proof: none"),
        P.ERROR,
    ),
    (
        "R1 regresses",
        made("r1", "Send shorter mails", {"stock/mail.py": NEW_MAIL.format("send('low')")}, field="proof: none"),
        P.FAIL,
    ),
    (
        "R2 fails",
        made(
            "r2",
            "Count",
            {"tests/test_two.py": SILENT + "class T(unittest.TestCase):\n    def test(self):\n        self.fail()\n"},
        ),
        P.FAIL,
    ),
    (
        "R4 fails: a new test leaks into old ones",
        made(
            "r4",
            "A limit of None warns of nothing",
            {
                "tests/test_a_leak.py": SILENT + LEAK.lstrip(),
                "stock/mail.py": NEW_MAIL.format("if low:\n        send('low: ' + ', '.join(low))").replace(
                    "store.low(limit)", "[] if limit is None else store.low(limit)"
                ),
            },
        ),
        P.FAIL,
    ),
    ("nothing was done", made("nothing", "Send mails in time", {}), P.UNPROVEN),
    (
        "docs that change the program are no docs",
        made(
            "docs", "Document the mails", {"stock/mail.py": NEW_MAIL.format("low and send('low: ' + ', '.join(low))")}
        ),
        P.UNPROVEN,
    ),
]


@pytest.mark.parametrize(("case", "verdict"), [pytest.param(case, verdict, id=id) for id, case, verdict in RUNS])
def test_each_run_can_fail(courts: dict[str, Court], case: Case, verdict: P) -> None:
    broken = File(
        "import unittest\n\nimport not_there\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n"
    )
    FOREIGN["broken"] = {**repository("stock"), "tests/test_broken.py": broken}
    outcome = courts[case.repo].run(case)
    assert outcome.proof == verdict, outcome.why
