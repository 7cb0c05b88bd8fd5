"""What a prompt points at can really be read by the agent, and is written nowhere but into its own HOME."""

from __future__ import annotations

from pathlib import Path

from engine.clock import SystemClock
from engine.core.model import Role
from engine.core.state import State, Status
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

# Reads every file that its prompt names below its HOME, and keeps what it read.
READER = r"""
[agents.reader]
adapter = "command"
argv = ["sh", "-c", '''
for file in $(grep -oE "$HOME/brief/[A-Za-z0-9.-]+" "$1"); do
echo "== $file"; cat "$file" || exit 9; done > "$HOME/read.txt"
grep -q "^You implement" "$1" || { echo '{"approved":true,"summary":"","issues":[],"notes":[],"criteria":[]}'; exit 0; }
case "$(cat "$1")" in *"Task 1.2"*) echo other > other.txt ;; *"last iteration"*) echo good > word.txt ;;
*) echo bad > word.txt ;; esac
echo "STATUS: complete"; echo "ISSUES: none"
''', "sh", "{prompt_file}"]
"""
PLAN = small.PLAN.replace("      accept: word.txt says good\n", "")


async def run(place: Path) -> tuple[State, Path]:
    folder = place / "repo"
    config = small.CONFIG.replace('agent = "scripted"', 'agent = "reader"').replace(
        "reserve_usd = 0.5", "reserve_usd = 0.1"
    )
    sprint = small.make(folder, plan=PLAN, config=config + READER)
    project = small.project_of(folder, place / "state")
    async with Session.open(project, sprint, SystemClock(), Options(attended=False, trust="all")) as session:
        return await session.run(), project.state.homes_of(sprint.id)


async def test_an_agent_can_read_what_its_prompt_names(tmp_path: Path) -> None:
    state, homes = await run(tmp_path)
    assert {task.status for task in state.tasks.values()} == {Status.COMPLETE}, (state.outcome_reason, state.tasks)
    implementer = (homes / "1.2" / Role.IMPLEMENTER.value / "read.txt").read_text()
    assert "- [~] 1.2 Write another file" in implementer, "the context, as it was when it was called"
    assert "learning-1.1.md" in implementer
    assert "iteration 1: ITERATE" in implementer, "what the task before taught"
    for words in ("# The repository, as the engine found it", "## Recent commits", "- start", "## How it is checked"):
        assert words in implementer, words
    reviewer = (homes / "1.2" / Role.REVIEWER.value / "read.txt").read_text()
    assert "# Make it good" in reviewer
