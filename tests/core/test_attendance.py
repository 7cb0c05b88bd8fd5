"""What follows when the last viewer leaves or the first one comes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import attendance
from engine.core.commands import AnyCommand, Pause, Resume, SetAttended
from engine.core.policy import GatePolicy, Policy
from engine.core.state import State
from engine.core.vocabulary import Detached

AWAY = SetAttended(attended=False, by=attendance.BY)
BACK = SetAttended(attended=True, by=attendance.BY)
HOLD, GO = Pause(by=attendance.BY), Resume(by=attendance.BY)


@pytest.mark.parametrize(
    ("viewers", "detached", "attended", "paused", "ours", "wanted"),
    [
        pytest.param(0, Detached.CONTINUE, True, False, False, (AWAY,), id="the last one leaves"),
        pytest.param(0, Detached.CONTINUE, False, False, False, (), id="nobody was there"),
        pytest.param(0, Detached.WAIT, True, False, False, (), id="it waits for you"),
        pytest.param(0, Detached.PAUSE, True, False, False, (HOLD,), id="it pauses"),
        pytest.param(0, Detached.PAUSE, True, True, False, (), id="it is paused already"),
        pytest.param(1, Detached.CONTINUE, False, False, False, (BACK,), id="somebody comes"),
        pytest.param(2, Detached.CONTINUE, True, False, False, (), id="one more comes"),
        pytest.param(1, Detached.PAUSE, True, True, True, (GO,), id="back from our pause"),
        pytest.param(1, Detached.PAUSE, True, True, False, (), id="a pause of the user's own stays"),
        pytest.param(1, Detached.PAUSE, True, False, True, (), id="already resumed from a phone"),
    ],
)
def test_the_rule(
    viewers: int, detached: Detached, attended: bool, paused: bool, ours: bool, wanted: tuple[AnyCommand, ...]
) -> None:
    policy = Policy(gates=GatePolicy(detached=detached))
    state = replace(State(), attended=attended, paused=paused, policy=policy)
    assert attendance.commands(state, viewers, paused_by_us=ours) == wanted


@pytest.mark.parametrize("detached", Detached)
@pytest.mark.parametrize(
    ("viewers", "attended", "wanted"),
    [
        pytest.param(1, False, (), id="somebody looks on"),
        pytest.param(1, True, (), id="somebody wants to be asked"),
        pytest.param(0, True, (AWAY,), id="they have left"),
        pytest.param(0, False, (), id="nobody was there"),
    ],
)
def test_a_run_that_asks_nobody(
    viewers: int, attended: bool, wanted: tuple[AnyCommand, ...], detached: Detached
) -> None:
    state = replace(State(), attended=attended, policy=Policy(gates=GatePolicy(detached=detached)))
    assert attendance.commands(state, viewers, paused_by_us=False, asked_for=False) == wanted


@pytest.mark.parametrize("detached", Detached)
def test_each_choice_has_words(detached: Detached) -> None:
    assert attendance.words(detached)
