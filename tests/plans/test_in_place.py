"""The user's plan while we mark it: no line that somebody appends or saves at the same moment is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.plans import in_place
from engine.plans.in_place import change
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import mark_plan, mark_tasks, read_plan

PLAN = "# P\n\nStatus: APPROVED\n\n## Phase 1: A\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n\n"
APPENDER = """
import sys
path, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    with open(path, "a") as file:
        file.write(f"<!-- {number} -->\\n")
print("done", flush=True)
"""


def test_a_link_to_itself_is_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.symlink_to(path.name)
    with pytest.raises(OSError, match="symbolic links"):
        mark_plan(path, "COMPLETE")
    with pytest.raises(PlanRefused, match="symbolic links"):
        read_plan(path)


@pytest.mark.parametrize("marking", ["boxes", "status"])
def test_no_concurrent_append_is_lost(tmp_path: Path, marking: str) -> None:
    path = tmp_path / "plan.md"
    path.write_text(PLAN)
    count = 5000
    writer = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", APPENDER, str(path), str(count)], stdout=subprocess.PIPE, text=True
    )
    turns = 0
    try:
        while writer.poll() is None:
            turns += 1
            if marking == "boxes":
                mark_tasks(path, {"1.1": ("done", "open")[turns % 2], "1.2": ("in_progress", "done")[turns % 2]})
            else:
                mark_plan(path, ("IN_PROGRESS", "COMPLETE")[turns % 2])
    finally:
        writer.kill()
        writer.wait()
    lines = path.read_text().splitlines()
    assert [f"<!-- {number} -->" for number in range(count) if f"<!-- {number} -->" not in set(lines)] == []
    assert turns >= 2
    assert len(read_plan(path).tasks()) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["plan.md"]


def test_a_save_by_rename_between_our_reading_and_writing_wins_and_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text(PLAN)
    saved = []

    def edit(data: bytes) -> bytes:
        if not saved:  # the editor saves while we think
            saved.append(1)
            new = tmp_path / "new"
            new.write_text(PLAN.replace("Two", "Zwei") + "- [ ] 1.3 Three\n")
            new.replace(path)
        return data.replace(b"- [ ] 1.1", b"- [x] 1.1")

    assert change(path, edit)
    assert path.read_text() == PLAN.replace("[ ] 1.1", "[x] 1.1").replace("Two", "Zwei") + "- [ ] 1.3 Three\n"


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_save_in_place_while_a_longer_text_is_put_there_is_kept(
    tmp_path: Path, exchanges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.md"
    path.write_text(PLAN)
    if not exchanges:
        monkeypatch.setattr(in_place, "_exchange", lambda _one, _other: False)
    saved = []

    def edit(data: bytes) -> bytes:
        if not saved:
            saved.append(1)
            path.write_text(PLAN.replace("Two", "Zwei"))
        return data.replace(b"APPROVED", b"IN_PROGRESS")

    assert change(path, edit)
    assert path.read_text() == PLAN.replace("Two", "Zwei").replace("APPROVED", "IN_PROGRESS")
