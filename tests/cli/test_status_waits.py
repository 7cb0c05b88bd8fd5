"""`devteam status` says what a run waits for and until when, in words and as JSON: a limit, a pause, the machine."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.model import MachineFault
from engine.core.policy import Policy
from engine.journal import Journal
from engine.plans.registry import read_plan
from tests.engine import small
from tui.cli.printing import clock_text
from tui.cli.status import show

UNTIL = time.time() + 3600
LIMIT = ef.Wait(id="00001-sprint-wait", until=UNTIL, reason="usage limit of claude")
CASES = {
    "limit": ([ev.EffectStarted(effect=LIMIT)], f"usage limit of claude, until {clock_text(UNTIL)}"),
    "pause": ([ev.Paused(by="you")], "devteam resume"),
    "disk": (
        [
            ev.EffectStarted(effect=ef.PrepareWorkspace(id="00001-sprint-workspace", iteration=0)),
            ev.EffectFailed(
                id="00001-sprint-workspace", kind="transient", message="no room", fault=MachineFault.DISK_FULL
            ),
        ],
        "DISK_FULL: no room; free some space",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_waited_for_is_said(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events, words = CASES[case]
    sprint = small.make(tmp_path / "repo")
    project = small.project_of(tmp_path / "repo", tmp_path / "state")
    created = ev.SprintCreated(
        sprint=sprint.id, plan=read_plan(sprint.plan_path), branch=sprint.branch, topic=sprint.slug
    )
    started = ev.RunStarted(
        run="r", pid=1, policy=Policy(), attended=False, sandbox="none", version="1", utc_offset=0.0
    )
    with Journal.open(project.repo.db, clock=time.time, backup_dir=project.backups) as journal:
        journal.append(sprint.id, [created, started, *events])
    monkeypatch.chdir(tmp_path / "repo")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    show("", json=False)
    assert words in capsys.readouterr().out
    show("", json=True)
    said = json.loads(capsys.readouterr().out)
    assert said["paused"] is (case == "pause")
    assert [wait["until"] for wait in said["waits"]] == ([UNTIL] if case == "limit" else [])
    if case == "disk":
        assert said["suspended"]["fault"] == "DISK_FULL"
        assert said["suspended"]["looked_at_again"] > said["suspended"]["since"]
    else:
        assert said["suspended"] is None
