"""`make test-foreign`: real projects from `devteam init` to `devteam land`, without a hand edit but the scripted agent.

Held: honest changes accepted or asked (of all at most one in ten asked), wrong ones never landed, nobody paid before a
refusal by the environment, every project served. Each landed change is judged by the project's own test command in the
user's checkout. `DEVTEAM_FOREIGN_CHANGE=add,comment` takes some changes only; `DEVTEAM_FOREIGN_TABLE` names a file for
the table, which grows by a row with every project.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.foreign.fetch import Unreachable
from tests.foreign.prepared import prepared
from tests.foreign.projects import Foreign, missing
from tests.foreign.serving import Row, Served
from tests.foreign.shapes import EVERY

pytestmark = pytest.mark.foreign
ROWS: list[Row] = []
MOST_ASKED = 0.1


def say(line: str) -> None:
    """At once, past pytest's capture: the whole table takes a while."""
    sys.__stderr__.write(f"\n{line}\n")  # type: ignore[union-attr]
    if target := os.environ.get("DEVTEAM_FOREIGN_TABLE"):
        with Path(target).open("a") as file:
            file.write(f"{line}\n")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("project", EVERY, ids=lambda project: project.name)
def test_from_init_to_land(project: Foreign, tmp_path: Path) -> None:
    if tool := missing(project):
        pytest.skip(f"{tool} is not here")
    try:
        source = prepared(project)
    except Unreachable as problem:
        pytest.skip(str(problem))
    place = tmp_path / "place"
    place.mkdir()
    served = Served(project, source, place)
    ROWS.append(served.row)
    chosen = os.environ.get("DEVTEAM_FOREIGN_CHANGE", "")
    served.serve(chosen)
    say(served.row.words())
    for words in served.said:
        if words.startswith("honest") and not words.endswith(": accepted"):
            say(f"    {words[:400]}")
    served.held(chosen)


def test_humans_are_asked_seldom() -> None:
    honest = [how for row in ROWS for how in row.honest]
    if not honest:
        pytest.skip("no project was tried")
    wrong = [how for row in ROWS for how in row.wrong]
    say(f"{len(ROWS)} projects, {len(honest)} honest changes: {honest.count('asked')} asked; {len(wrong)} wrong ones")
    assert honest.count("asked") <= MOST_ASKED * len(honest)
