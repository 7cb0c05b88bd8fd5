"""A tool that goes away in mid-run is the machine's fault: nobody pays, and the work is judged once it is back."""

from __future__ import annotations

from pathlib import Path

from engine.clock import SystemClock
from engine.core.effects import AnyEffect, RunChecks
from engine.core.state import State, Status
from engine.run_options import Boundary
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

SCENARIO = """
[[call]]
task = "1.1"
edit = [{ path = "word.txt", content = "good\\n" }]

[[call]]
role = "reviewer"
[call.structured]
approved = true
issues = []
notes = []
summary = "fine"
criteria = [{ text = "word.txt says good", met = true, reference = "1" }]
"""
PLAN = """# Words

Status: APPROVED

## Phase 1: Words

- [ ] 1.1 Write a good word
      scope: word.txt
      accept: word.txt says good
      verify: grep -q good word.txt
"""


async def test_the_work_is_kept_and_judged_when_the_tool_is_back(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "words"
    tool.parent.mkdir()

    def put_it_there() -> None:
        tool.write_text("#!/bin/sh\n! grep -rq bad --include=*.txt .\n")
        tool.chmod(0o755)

    put_it_there()
    config = small.CONFIG.replace('"! grep -rq bad --include=*.txt ."', f'"{tool}"')
    config += "[task_loop]\nfinal_review = false\n"
    sprint = small.make(tmp_path / "repo", plan=PLAN, scenario=SCENARIO, config=config)
    project = small.project_of(tmp_path / "repo", tmp_path / "state")

    def goes_away(where: str, effect: AnyEffect) -> None:
        if where == "before" and isinstance(effect, RunChecks) and effect.task:
            tool.unlink(missing_ok=True)

    async def live(boundary: Boundary) -> State:
        options = Options(attended=False, trust="all", speed=1e9, no_sandbox=True)
        async with Session.open(project, sprint, SystemClock(), options, boundary) as session:
            return await session.run()

    state = await live(goes_away)
    task = state.tasks["1.1"]
    assert (state.outcome, task.status, task.iteration, state.escalations) == ("blocked", Status.RUNNING, 1, ())
    assert "on the base too, just now" in state.outcome_reason
    assert state.calls == 1
    put_it_there()
    state = await live(lambda _where, _effect: None)
    assert (state.outcome, state.tasks["1.1"].iteration, state.calls) == ("done", 1, 2), "only the review came on top"
