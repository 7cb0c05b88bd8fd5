"""Installed in editable mode, the code under test is the room's, also where no mount covers the user's checkout."""

from __future__ import annotations

import pytest

from engine.core.model import CheckKind
from engine.perform.checks.run.execute import Tools, run_check
from engine.perform.checks.run.spec import CheckSpec
from tests.checks.ground import PYTHON

CASE = """
import unittest
import pkg

class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(pkg.VALUE, "room")
"""


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
@pytest.mark.parametrize("folder", ["", "services/api"])
async def test_a_path_into_the_checkout_leads_into_the_room(trees, spawner, place, tmp_path, runner, folder):
    inside = f"{folder}/" if folder else ""
    checkout = place.checkout / folder / "lib"
    checkout.mkdir(parents=True)
    (checkout / "pkg.py").write_text("VALUE = 'checkout'\n")
    tree = trees.write({f"{inside}lib/pkg.py": "VALUE = 'room'\n", f"{inside}test_a.py": CASE})
    room = tmp_path / "scratch" / "room"
    trees.export(tree, room)
    spec = CheckSpec(
        name="tests",
        kind=CheckKind.TESTS,
        command=(PYTHON, "-m", runner),
        runner=runner,
        folder=folder,
        env={"PYTHONPATH": str(checkout)},
    )
    found = await run_check(Tools(spawner, place, lambda: 0.0), spec, room)
    assert [case.outcome for case in found.report.cases] == ["passed"], (found.report, found.output)
    assert not found.report.foreign
