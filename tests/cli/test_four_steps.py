"""From nothing to a commit on the user's branch: init, plan, run, land. Trust is asked once, where it is needed."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_init import repository
from tests.cli.test_terminal import Terminal

CART = "def total(prices):\n    return sum(prices)\n"
TEST = (
    "import unittest\n\nfrom cart import total\n\n\nclass TotalTest(unittest.TestCase):\n    def test_sum(self):\n"
    "        self.assertEqual(total([1, 2]), 3)\n"
)
GROWN = CART + "\n\ndef cheapest(prices):\n    return min(prices)\n"
NEW = TEST.replace("total", "cheapest").replace("Total", "Cheapest").replace("[1, 2]), 3", "[3, 1, 2]), 1")
PLAN = "# Work\n\n- [ ] 1.1 Add cheapest(prices), the lowest price\n  accept: cheapest gives the lowest price\n"
AGENT = (
    '\n[[ladder.rungs]]\nname = "own"\nagent = "scripted"\nreserve_usd = 0.1\n\n'
    '[scripted]\nscenario = ".devteam/scenario.toml"\n'
)
SCENARIO = f"""
[[call]]
role = "reviewer"
[call.structured]
approved = true
summary = "as asked"
criteria = [{{ text = "cheapest gives the lowest price", met = true, reference = "cart.py" }}]

[[call]]
text = "Done."
[[call.edit]]
path = "cart.py"
content = '''{GROWN}'''
[[call.edit]]
path = "test_cheapest.py"
content = '''{NEW}'''
"""


def test_four_steps_to_the_first_commit(tmp_path: Path) -> None:
    ground = repository(tmp_path, {"cart.py": CART, "test_cart.py": TEST, "plan.md": PLAN}, "__pycache__/\n")
    told = ground.run("init")
    assert told.code == 0 and "unittest: 1 passed here and in a clone" in told.out, told.out + told.err
    assert "… unittest in a clone" in told.err, "what it does is said while it does it"
    # the one thing that nobody can type for the user: who the agent is
    config = ground.read(".devteam/config.toml").replace("\n[scripted]\n", "\n") + AGENT
    ground.write(".devteam/config.toml", config)
    ground.write(".devteam/scenario.toml", SCENARIO)
    assert ground.run("plan", "--from", "plan.md").code == 0
    terminal = Terminal(ground, "run")
    terminal.until("Trust them? [y/N]")
    terminal.type("y\n")
    terminal.until("G1 [yes/auto/ask/comment]")
    terminal.type("y\n")
    terminal.until("successfully completed")
    assert terminal.close() == 0
    before = ground.git("rev-parse", "main")
    landed = ground.run("land")
    assert landed.code == 0, landed.err
    assert ground.git("rev-parse", "main~1") == before and ground.read("cart.py") == GROWN
    ground.git("diff", "--quiet", "HEAD", "--", "cart.py", "test_cheapest.py")
    again = Terminal(ground, "run")
    again.until("complete")  # nobody answers here: known commands are not asked about again
    again.close()
