"""Work that shows nothing is kept on a ref, and a human who takes it as it is has it committed without a new call."""

from __future__ import annotations

import subprocess
from pathlib import Path

from engine.clock import SystemClock
from engine.core.commands import Accept
from engine.core.model import ProofVerdict
from engine.core.state import State, Status
from engine.plans.sprints import SprintFolder
from engine.project import Project
from engine.service.local import Desk
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

PLAN = """# Make it good

Status: APPROVED
Topic: small

## Phase 1: Words

- [ ] 1.1 Let it greet louder
      description: Whoever comes in is to hear it.
      scope: word.txt
      complexity: 1
"""
SCENARIO = """
[[call]]
task = "1.1"
iteration = 1
edit = [{ path = "word.txt", content = "good\\n" }]

[[call]]
task = "1.1"
edit = [{ path = "word.txt", content = "very good\\n" }]

[[call]]
role = "reviewer"
[call.structured]
approved = true
criteria = []
summary = "fine"
"""


async def run(project: Project, sprint: SprintFolder) -> State:
    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options) as session:
        return await session.run()


async def test_nothing_shown_is_kept_and_may_be_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    sprint = small.make(folder, plan=PLAN, scenario=SCENARIO)
    project = small.project_of(folder, tmp_path / "state")
    state = await run(project, sprint)
    one = state.tasks["1.1"]
    assert (one.status, one.proof) == (Status.BLOCKED, ProofVerdict.UNPROVEN), one.reason
    assert (one.iteration, state.councils, one.review) == (2, 0, None), (
        "told once, then a human; nobody reviews nothing"
    )
    assert one.kept is not None and one.kept.green and one.kept.ref == f"refs/devteam/{sprint.id}/task/1.1/iteration-2"
    calls = state.calls

    ack = Desk(project=project).tell(Accept(task="1.1", by="ann"))
    assert ack.ok, ack.detail
    state = await run(project, sprint)
    assert (state.tasks["1.1"].status, state.outcome, state.calls) == (Status.COMPLETE, "done", calls)
    log = subprocess.run(
        ["git", "log", "-1", "--format=%B", f"devteam/{sprint.id}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Devteam-Override: accepted as it is by ann" in log
    text = (folder / ".devteam" / "sprints" / sprint.id / "report.md").read_text("utf-8")
    assert "accepted as it is by ann" in text
