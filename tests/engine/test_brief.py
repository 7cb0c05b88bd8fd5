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
# Writes another bad word each time, and keeps every prompt it was given.
WRONG = r"""
[agents.reader]
adapter = "command"
argv = ["sh", "-c", '''
cp "$1" "$HOME/prompt.txt"; cat "$HOME"/brief/*.diff >> "$HOME/prompt.txt" 2>/dev/null
case "$(head -c 300 "$1")" in
*"You implement"*) cp "$HOME/brief/context.md" "$HOME/context.md"
  n=$(cat "$HOME/n" 2>/dev/null || echo 0); echo $((n + 1)) > "$HOME/n"; echo "bad word number $((n + 1))" > word.txt
  echo "STATUS: complete"; echo "ISSUES: none" ;;
*"Bug Council as"*) echo '{"root_cause":"the word","evidence":[],"recommended_fix":"no idea","confidence":"low"}' ;;
*) echo '{"root_cause":"the word","recommended_fix":"no idea","insight":"","test_cases":[]}' ;; esac
''', "sh", "{prompt_file}"]
"""
PLAN = small.PLAN.replace("      accept: word.txt says good\n", "")


async def run(place: Path, agent: str = READER) -> tuple[State, Path]:
    folder = place / "repo"
    config = small.CONFIG.replace('agent = "scripted"', 'agent = "reader"').replace(
        "reserve_usd = 0.5", "reserve_usd = 0.1"
    )
    sprint = small.make(folder, plan=PLAN, config=config + agent)
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


async def test_the_council_hears_what_was_tried_as_diffs_and_agents_get_real_context(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "CONTRIBUTING.md").write_text("Words are written in lower case.\n")
    state, homes = await run(tmp_path, WRONG)
    task = state.tasks["1.1"]
    assert task.status is Status.BLOCKED and state.councils == 1, (task.status, task.reason)
    heard = [(home / "prompt.txt").read_text() for home in (homes / "1.1").glob(f"{Role.COUNCILLOR.value}-*")]
    assert len(heard) == 5, "every seat"
    trees = len({record.tree for record in task.history})
    assert trees >= 4, "each attempt was another tree"
    for prompt in heard:
        tried = [number for number in range(1, 9) if f"the change as iteration {number} had it" in prompt]
        assert len(tried) == 3, tried
        for number in tried:
            assert f"+bad word number {number}" in prompt, f"iteration {number}, as a diff"
    context = (homes / "1.1" / Role.IMPLEMENTER.value / "context.md").read_text()
    for words in (
        "> Words are written in lower case.",
        "- 3 files",
        "- words: `sh -c '! grep -rq bad --include=*.txt .'`",
        "\n- start\n",
        "## Files this task may change\n\n- word.txt\n",
        "- [ ] 1.2 Write another file",
    ):
        assert words in context, (words, context)
