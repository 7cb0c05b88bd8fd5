"""Each command: what it comes to, and the words of a refusal."""

from __future__ import annotations

import pytest

from engine.core import commands as cmd
from engine.core.events import type_of
from engine.core.model import Decision
from engine.core.orders import obey
from engine.core.state import GateState, State, Status
from tests.core.parts import a_state, a_task

GATE = GateState(
    id="G1", task="1.1", kind="fix", title="?", choices=("yes", "auto", "skip", "ask", "comment"), tree="t"
)
SPRINT = a_state(
    a_task("1.1", tree="t", gate="G1"),
    a_task("1.2", status=Status.PENDING),
    a_task("1.3", status=Status.BLOCKED),
    a_task("1.4", status=Status.COMPLETE),
    gates={"G1": GATE},
    head="c1",
    base="c0",
)
PAUSED = a_state(a_task(), paused=True)


@pytest.mark.parametrize(
    ("state", "command", "events", "words"),
    [
        pytest.param(SPRINT, cmd.Answer(gate="G1", choice="y"), ["gate_answered"], "G1: yes", id="answer"),
        pytest.param(SPRINT, cmd.Answer(gate="g1", choice="skip"), ["gate_answered"], "G1: skip", id="any case"),
        pytest.param(SPRINT, cmd.Answer(gate="G1", choice="?", text="why"), ["gate_asked"], "asked", id="ask"),
        pytest.param(SPRINT, cmd.SetAuto(gate_kind="fix", auto=True), ["auto_changed"], "fix gate: auto", id="auto"),
        pytest.param(SPRINT, cmd.SetAuto(gate_kind="task", auto=False), ["auto_changed"], "gated", id="auto back"),
        pytest.param(SPRINT, cmd.Pause(), ["paused"], "paused", id="pause"),
        pytest.param(PAUSED, cmd.Resume(), ["resumed"], "going on", id="resume"),
        pytest.param(SPRINT, cmd.Stop(), ["stop_requested"], "after the running steps", id="stop"),
        pytest.param(SPRINT, cmd.Stop(now=True), ["stop_requested"], "stopping now", id="stop now"),
        pytest.param(SPRINT, cmd.Cancel(), ["sprint_cancelled"], "commits stay", id="cancel"),
        pytest.param(SPRINT, cmd.LandNow(), ["land_requested"], "landing", id="land"),
        pytest.param(SPRINT, cmd.SetAttended(attended=False), ["attendance_changed"], "unattended", id="leave"),
        pytest.param(SPRINT, cmd.Steer(task="1.1", text="so"), ["steered"], "next attempt", id="steer"),
        pytest.param(SPRINT, cmd.Skip(task="1.1"), ["skip_requested"], "will be skipped", id="skip a running one"),
        pytest.param(SPRINT, cmd.Skip(task="1.2"), ["task_ended"], "is skipped", id="skip a waiting one"),
        pytest.param(SPRINT, cmd.Retry(task="1.3", text="so"), ["retry_requested"], "open again", id="retry"),
    ],
)
def test_accepted(state: State, command: cmd.AnyCommand, events: list[str], words: str) -> None:
    outcome = obey(state, command)
    assert outcome.ok
    assert [type_of(event) for event in outcome.events] == events
    assert words in outcome.detail


@pytest.mark.parametrize(
    ("state", "command", "words"),
    [
        pytest.param(SPRINT, cmd.Answer(gate="G9", choice="y"), "no gate G9; open gates: G1", id="no such gate"),
        pytest.param(SPRINT, cmd.Answer(gate="G1", choice="maybe"), "choose one of: yes", id="no such choice"),
        pytest.param(SPRINT, cmd.Answer(gate="G1", choice="c"), "needs words", id="a comment without words"),
        pytest.param(SPRINT, cmd.SetAuto(gate_kind="blocked", auto=True), "choose fix or task", id="no auto there"),
        pytest.param(PAUSED, cmd.Pause(), "already paused", id="paused twice"),
        pytest.param(SPRINT, cmd.Resume(), "not paused", id="not paused"),
        pytest.param(a_state(a_task()), cmd.LandNow(), "nothing to land", id="nothing to land"),
        pytest.param(a_state(head="c1", base="c0", landed="c1"), cmd.LandNow(), "landed already", id="landed already"),
        pytest.param(SPRINT, cmd.Steer(task="9.9", text="x"), "no task 9.9; tasks: 1.1, 1.2, 1.3, 1.4", id="no task"),
        pytest.param(SPRINT, cmd.Steer(task="1.1", text=" "), "needs words", id="an empty note"),
        pytest.param(SPRINT, cmd.Steer(task="1.3", text="x"), "devteam retry 1.3", id="a note to an ended task"),
        pytest.param(SPRINT, cmd.Skip(task="1.4"), "ended already (complete)", id="skip an ended one"),
        pytest.param(SPRINT, cmd.Retry(task="1.1"), "is running: only an ended", id="retry a running one"),
        pytest.param(SPRINT, cmd.Retry(task="1.4"), "is complete: say what to change", id="retry a complete one"),
        pytest.param(SPRINT, cmd.Retry(task="x"), "no task x", id="retry nothing"),
    ],
)
def test_refused_with_words(state: State, command: cmd.AnyCommand, words: str) -> None:
    outcome = obey(state, command)
    assert not outcome.ok
    assert outcome.events == ()
    assert words in outcome.detail


def test_who_said_it_is_kept() -> None:
    (skipped,) = obey(SPRINT, cmd.Skip(task="1.2", by="ann")).events
    assert (skipped.decision, skipped.reason) == (Decision.SKIPPED, "skipped by ann")  # type: ignore[union-attr]
    (answered,) = obey(SPRINT, cmd.Answer(gate="G1", choice="yes")).events
    assert (answered.by, answered.tree) == ("you", "t")  # type: ignore[union-attr]
