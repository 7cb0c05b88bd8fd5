"""Commands whose words belong together, documents that are to say something: half of it is not the task."""

from __future__ import annotations

import pytest

from engine.core.model import TaskSpec
from engine.perform.checks.proof.told_places import commands, untouched

BOTH = 'done = run("report", "--csv", "--project", "web")\nassert done == "web"\n'
APART = (
    'def test_csv():\n    assert run("report", "--csv")\n\n\n' + "x = 1\n" * 6 + 'def test_p():\n    run("--project")\n'
)


@pytest.mark.parametrize(
    ("criterion", "proofs", "missing"),
    [
        ("report --csv --project web prints only web", BOTH, []),
        ("report --csv --project web prints only web", APART, ["--csv --project together"]),
        ("report --csv prints all", APART, []),
        ("`tabby stock.csv --format json` prints it", 'run(path, "--format", "json")', []),
        ("`tabby stock.csv --format json` prints it", "assert render_json(table)", ["--format json together"]),
        ("`git log` shows it", "assert show()", []),
    ],
)
def test_the_words_of_a_command_stand_together(criterion: str, proofs: str, missing: list[str]) -> None:
    task = TaskSpec(id="1", title="x", accept=(criterion,))
    assert commands(task, proofs) == missing
    assert commands(task, "") == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Add it to usage and README.", ["README.md"]),
        ("cancel is described in README.md", ["README.md"]),
        ("Usage and README name it", ["README.md"]),
        ("Document it in docs/guide.md.", ["docs/guide.md"]),
        ("Mention it in the changelog", ["CHANGES.md", "Changelog.rst"][1:]),
        ("The README says 3 and prints 4", []),
        ("Do not mention it in the README", []),
        ("It is described in no document", []),
        ("As shown in the notes.txt of today", []),
    ],
)
def test_a_document_is_to_say_something(text: str, left: list[str]) -> None:
    files = ["README.md", "docs/guide.md", "Changelog.rst", "a.py"]
    task = TaskSpec(id="1", title="Add cancel", description=text)
    assert untouched(task, ["a.py"], files) == left
    assert untouched(task, ["a.py", *left], files) == []
    assert untouched(None, [], files) == []
