"""`devteam plan --from` with plans of other tools: what is said, what runs, and the progress in the user's own file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.ground import make

BLOCKS = """# Count things

Words of mine.

### Task 1: Write one

**Files:**
- Create: `src/one.txt`

### Task 2: Write two

**Depends on:** Task 1

Closing words.
"""


def test_a_plan_of_another_tool_is_explained_and_locked_design_says_so(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    ground.write("work.md", BLOCKS)
    told = ground.run("plan", "--from", "work.md")
    assert told.code == 0, told.err
    assert "headings: 2 task headings" in told.out and "guessed task 1: scope src/one.txt" in told.out
    assert "Status: APPROVED" in (ground.folder / ".devteam/sprints/002-count-things/plan.md").read_text()
    assert (ground.folder / "work.md").read_text() == BLOCKS, "nothing is written before something is landed"
    ground.write("DESIGN-x.md", "# X\n\n## Acceptance criteria\n- it exits 0\n\n## Validation\n- `true`\n")
    told = ground.run("plan", "--from", "DESIGN-x.md")
    assert told.code == 0 and "1 criteria, 1 validation commands" in told.out
    assert (ground.folder / "DESIGN-x.md").read_text().startswith("# X\n**Status:** LOCKED ✅\n")


def test_prose_is_a_request_and_a_broken_file_is_refused(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    ground.write("bad.jsonl", '{"id": "bd-1", "title": "x"}\nnonsense\n')
    told = ground.run("plan", "--from", "bad.jsonl")
    assert told.code == 4 and "bad.jsonl:2: not JSON" in told.err
    ground.write("PRD.md", "# Shop\n\nPeople can buy things.\n")
    told = ground.run("plan", "--from", "PRD.md", "--unattended", "--trust", "all")
    assert "scenario has no gatherer step" in told.out, told.out + told.err
    assert (ground.folder / ".devteam/sprints/002-shop/request.md").read_text().startswith("# Shop")


@pytest.mark.parametrize("command", ["plan", "prd", "implement"])
@pytest.mark.parametrize("name", ["lost.md", "notes/lost.txt"])
def test_a_mistyped_file_is_no_idea_that_somebody_is_paid_for(tmp_path: Path, command: str, name: str) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    told = ground.run(command, name, "--unattended", "--trust", "all")
    assert told.code == 4 and f"{name} is a file's name, and there is no such file" in told.err, told.err
    assert f"devteam plan --from {name}" in told.err
    assert [one.name for one in (ground.folder / ".devteam/sprints").glob("0*")] == ["001-count-things"]


def test_a_draft_is_said_to_need_approval_and_does_not_run(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    ground.write("mine.md", "# Mine\n\nStatus: DRAFT\n\n- [ ] 1.1 Write it\n  verify: test -e it\n")
    told = ground.run("plan", "--from", "mine.md")
    assert told.code == 0 and "next    devteam plan --sprint 002-mine" in told.out, told.out
    told = ground.run("run", "--sprint", "002", "--trust", "all")
    assert told.code == 4 and "says Status: DRAFT, and a draft never runs" in told.err
    assert "devteam plan --sprint 002-mine" in told.err and "Traceback" not in told.err


def test_a_number_that_a_branch_or_a_ref_has_is_not_given_again(tmp_path: Path) -> None:
    """.devteam was removed: the new sprint must not go on upon the old one's branch."""
    ground = make(tmp_path / "repo", tmp_path / "home")
    shutil.rmtree(ground.folder / ".devteam" / "sprints")
    ground.git("branch", "devteam/004-count-things")
    ground.write("work.md", BLOCKS)
    told = ground.run("plan", "--from", "work.md")
    assert told.code == 0 and "sprint 005-count-things" in told.out, told.out + told.err
    ground.git("update-ref", "refs/devteam/007-gone/base", "HEAD")
    assert "sprint 008-count-things" in ground.run("plan", "--from", "work.md").out


def test_a_list_typed_by_hand_is_a_plan_and_what_was_guessed_is_said(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    typed = "# Count things\n\n1. Write one\n   - it has one line\n2. Write two, too\n   depends on 1\n"
    ground.write("todo.md", typed)
    told = ground.run("plan", "--from", "todo.md")
    assert told.code == 0, told.err
    assert "a list without boxes: 2 items" in told.out and "guessed every item of the list is a task" in told.out
    plan = (ground.folder / ".devteam/sprints/002-count-things/plan.md").read_text()
    assert "- [ ] 1.1 Write one" in plan and "- it has one line" in plan and "depends: 1.1" in plan
    assert (ground.folder / "todo.md").read_text() == typed
    status = ground.run("status", "--sprint", "002").out
    assert "health    not started\n" in status and "PROGRESSING" not in status
