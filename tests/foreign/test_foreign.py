"""`make test-foreign`: real projects from `devteam init` to `devteam land`, without a hand edit but the scripted agent.

Held: honest changes accepted or asked, wrong ones never landed, nobody paid before a refusal by the environment, every
project served. Each landed change is judged by the project's own test command in the user's checkout. `tests.foreign`
starts these and makes the table. `DEVTEAM_FOREIGN_CHANGE=add,comment` takes some changes only, `DEVTEAM_FOREIGN_MORE`
every project; `DEVTEAM_FOREIGN_ROWS` names the file that grows by a row with every project.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.foreign.fetch import Unreachable
from tests.foreign.prepared import prepared
from tests.foreign.projects import Foreign, missing
from tests.foreign.serving import Row, Served
from tests.foreign.shapes import CHOSEN, EVERY

pytestmark = pytest.mark.foreign
TRIED = EVERY if os.environ.get("DEVTEAM_FOREIGN_MORE") else CHOSEN


def keep(row: Row) -> None:
    if target := os.environ.get("DEVTEAM_FOREIGN_ROWS"):
        with Path(target).open("a") as file:
            file.write(f"{json.dumps(asdict(row))}\n")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("project", TRIED, ids=lambda project: project.name)
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
    chosen = os.environ.get("DEVTEAM_FOREIGN_CHANGE", "")
    try:
        served.serve(chosen)
    finally:
        keep(served.row)
    served.held(chosen)
