"""Learnings that agents contradict: put to the human once, never in the way of the work, settled by what they say."""

from __future__ import annotations

import pytest

from engine.core import events as ev
from engine.core.commands import Answer, SetAttended
from engine.core.model import Disputed, Role
from engine.core.orders import obey
from tests.core.story import Story, again, answer, begin, order, task, the_gate
from tests.core.world import World

NAME = "001-login/001-argon2"
ONE = Disputed(title="Use argon2", said=("002-x, task 1.1: slow",))
TWO = Disputed(title="Use argon2", said=("002-x, task 1.1: slow", "003-y, task 2.1: not there"))


def disputed(world: World, task_id: str, why: str = "too slow") -> None:
    world.append(ev.LearningDisputed(name=NAME, why=why, task=task_id, role=Role.IMPLEMENTER))


def test_two_voices_open_one_gate_with_what_they_say() -> None:
    world = begin(Story(), task("1.1"), attended=True)
    disputed(world, "1.1")
    disputed(world, "1.1", "still too slow")
    world.run()
    assert the_gate(world) == "task", "one task is one voice"
    disputed(world, "1.2", "not installed")
    world.run()
    assert the_gate(world) == "task, learning"
    gate = world.state.open_gates()[1]
    assert gate.body.splitlines() == [
        f"Learning: {NAME} (devteam learnings show {NAME})",
        "AGAINST: 001-demo, task 1.1: too slow",
        "AGAINST: 001-demo, task 1.2: not installed",
    ]
    assert [choice.value for choice in gate.choices] == ["yes", "skip", "comment"]


def test_voices_of_other_sprints_count() -> None:
    world = begin(Story(), task("1.1"), attended=True, disputed={NAME: ONE})
    assert the_gate(world) == "task"
    disputed(world, "1.1")
    world.run()
    assert the_gate(world) == "task, learning"


@pytest.mark.parametrize(
    ("choice", "text", "settled"),
    [
        pytest.param("yes", "", "dropped by you", id="dropped"),
        pytest.param("skip", "", "kept by you", id="kept"),
        pytest.param("comment", "only for\nnew users", "corrected by you: only for new users", id="corrected"),
    ],
)
def test_what_the_human_says_settles_it(choice: str, text: str, settled: str) -> None:
    world = begin(Story(), task("1.1"), attended=True, disputed={NAME: TWO})
    gate = next(gate for gate in world.state.open_gates() if gate.kind == "learning")
    order(world, Answer(gate=gate.id, choice=choice, text=text))
    assert world.state.disputed[NAME] == Disputed(title="Use argon2", settled=settled)
    assert the_gate(world) == "task", "it is not asked again"
    again(world, attended=True, disputed={NAME: TWO})
    assert the_gate(world) == "task", "nor after a restart that came before the file was written"
    later = Disputed(title="Use argon2", said=("4", "5"), settled=settled)
    again(world, attended=True, disputed={NAME: later})
    assert the_gate(world) == "task, learning", "new voices after that are new"


def test_the_work_does_not_wait_for_it() -> None:
    world = begin(Story(), task("1.1"), attended=True, waits=False, disputed={NAME: TWO})
    order(world, Answer(gate=next(g.id for g in world.state.open_gates() if g.kind == "task"), choice="yes"))
    again(world, attended=True, waits=False, disputed={NAME: TWO})
    assert world.state.outcome == "done"
    assert the_gate(world) == "learning", "it can be answered afterwards"
    assert obey(world.state, Answer(gate=world.state.open_gates()[0].id, choice="y")).ok


def test_nobody_is_asked_unattended_and_a_gate_left_open_is_taken_back() -> None:
    world = begin(Story(), task("1.1"), disputed={NAME: TWO})
    assert (world.state.outcome, the_gate(world)) == ("done", "")
    world = begin(Story(), task("1.1"), attended=True, disputed={NAME: TWO})
    world.append(*obey(world.state, SetAttended(attended=False)).events)
    world.run()
    assert (world.state.outcome, the_gate(world)) == ("done", "")
    assert world.state.disputed[NAME].said == TWO.said, "what was said is kept for the next time"


def test_what_the_files_no_longer_say_is_withdrawn() -> None:
    world = begin(Story(), task("1.1"), attended=True, disputed={NAME: TWO})
    assert the_gate(world) == "task, learning" or the_gate(world) == "learning, task"
    again(world, attended=True)
    assert the_gate(world) == "task"
    answer(world, "yes")
    assert world.state.outcome == "done"
