"""Gates: every key and path, the guard, the queue, and that an approval binds to what was seen."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from engine.core import events as ev
from engine.core.commands import Ack, Answer, SetAuto
from tests.tui.driving import press, running, settle
from tests.tui.links import LiveLink
from tui.app.application import DevteamApp
from tui.panels.gate import GateBar
from tui.screens.ask import AskScreen
from tui.screens.comment import CommentScreen


def answers(link: object) -> list[tuple[str, str, str]]:
    return [(sent.gate, sent.choice, sent.text) for sent in link.sent if isinstance(sent, Answer)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("mark", "cases", "not_offered"),
    [
        pytest.param(
            "fix_gate",
            [
                (["y"], "", ("G2", "yes", "")),
                (["a"], "", ("G2", "auto", "")),
                (["s"], "", ("G2", "skip", "")),
                (["c"], "use argon2", ("G2", "comment", "use argon2")),
            ],
            ["r", "t"],
            id="fix",
        ),
        pytest.param(
            "task_gate",
            [
                (["y"], "", ("G3", "yes", "")),
                (["a"], "", ("G3", "auto", "")),
                (["c"], "no", ("G3", "comment", "no")),
            ],
            ["s", "r", "t"],
            id="task",
        ),
        pytest.param(
            "blocked_gate",
            [
                (["s"], "", ("G4", "skip", "")),
                (["t"], "", ("G4", "stop", "")),
                (["r"], "try", ("G4", "retry", "try")),
                (["r", "f2"], "", ("G4", "retry", "")),
            ],
            ["y", "a", "c"],
            id="blocked",
        ),
        pytest.param("parallel", [], ["y", "a", "s", "c", "r", "t"], id="none"),
    ],
)
async def test_every_key_of_every_gate(
    mark: str, cases: list[tuple[list[str], str, tuple[str, str, str]]], not_offered: list[str]
) -> None:
    async with running(mark) as (app, pilot, link):
        await press(pilot, *not_offered)
        assert link.sent == []
        assert len(app.screen_stack) == 2
        for keys, text, expected in cases:
            link.sent.clear()
            app.gates.sending = ""
            await press(pilot, *keys)
            if text:
                await pilot.press(*("space" if letter == " " else letter for letter in text))
                await press(pilot, "f2")
            assert answers(link) == [expected]
            assert link.sent[0].by == "you"


async def asked_anew(app: DevteamApp, pilot: Pilot[Any], link: LiveLink) -> None:
    """As if the gate had come into sight this moment and nobody had answered it."""
    link.sent.clear()
    app.gates.sending = ""
    await settle(pilot)
    app.gates.appeared()


async def test_an_answer_counts_once_and_only_after_the_gate_has_been_in_sight() -> None:
    async with running("fix_gate") as (app, pilot, link):
        await pilot.press("y", "a", "s")
        assert link.sent == []
        app.options.clock.now += 0.29
        await pilot.press("y")
        assert link.sent == []
        app.options.clock.now += 0.02
        await pilot.press("y")
        await settle(pilot)
        assert answers(link) == [("G2", "yes", "")]
        await press(pilot, "y", "a")
        assert answers(link) == [("G2", "yes", "")], "a second press sends nothing more"

        await asked_anew(app, pilot, link)
        await pilot.click("#gate-buttons", offset=(2, 0))
        assert link.sent == [], "clicks are guarded, too"
        app.options.clock.pass_guard()
        await pilot.click("#gate-buttons", offset=(2, 0))
        await settle(pilot)
        assert answers(link) == [("G2", "yes", "")]

        await asked_anew(app, pilot, link)
        link.ack = Ack(ok=False, detail="another terminal was first")
        await press(pilot, "y")
        assert app.gates.sending == ""
        link.ack = Ack(ok=True)
        await press(pilot, "y")
        assert len(answers(link)) == 2, "a refused answer can be given again"

        await asked_anew(app, pilot, link)
        await press(pilot, "c", "f2")
        assert isinstance(app.screen, CommentScreen), "an empty comment is not sent"
        assert link.sent == []
        await press(pilot, "escape", "question_mark")
        assert isinstance(app.screen, AskScreen), "the question mark asks at a gate"
        await press(pilot, "escape")

        bar, text = app.screen.query_one(GateBar), app.screen.query_one("#gate-text")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        before = text.size.height
        await press(pilot, "g")
        assert bar.expanded and text.size.height > before, "the whole text"
        await press(pilot, "escape")
        assert not bar.expanded
        await press(pilot, "d", "y")
        assert answers(link) == [("G2", "yes", "")], "answered on another page"


async def test_a_gate_steals_no_focus() -> None:
    async with running("parallel") as (app, pilot, link):
        await press(pilot, "slash", *"au")
        box = app.focused
        assert isinstance(box, Input)
        link.more(ev.GateOpened(gate="G9", task="1.2", kind="fix", title="x", choices=("yes", "comment")))
        await settle(pilot)
        assert app.gates.current is not None
        assert app.focused is box
        await press(pilot, "y")
        assert link.sent == []
        assert box.value == "auy"


async def test_the_guard_starts_again_for_the_next_gate_of_the_queue() -> None:
    async with running("two_gates") as (app, pilot, link):
        assert (app.gates.at, app.gates.total) == (1, 2)
        await press(pilot, "y")
        link.more(ev.GateAnswered(gate="G3", choice="yes", by="tui"))
        await settle(pilot)
        assert app.gates.current is not None
        assert app.gates.current.id == "G2"
        await pilot.press("y")
        assert answers(link) == [("G3", "yes", "")]
        app.options.clock.pass_guard()
        await pilot.press("y")
        await settle(pilot)
        assert answers(link)[-1] == ("G2", "yes", "")


async def test_stepping_through_the_queue() -> None:
    async with running("queue") as (app, pilot, _link):
        seen = [app.gates.current.id]
        for _ in range(3):
            await press(pilot, "right_square_bracket")
            seen.append(app.gates.current.id)
        assert seen == ["G4", "G5", "G6", "G4"]
        await press(pilot, "left_square_bracket")
        assert app.gates.current.id == "G6"


@pytest.mark.parametrize(
    ("mark", "task", "keys"),
    [
        pytest.param("task_gate", "1.3", ["y", "a"], id="approved as done"),
        pytest.param("fix_gate", "1.2", ["s"], id="reviewer overridden"),
    ],
)
async def test_an_approval_is_void_when_the_tree_has_changed(mark: str, task: str, keys: list[str]) -> None:
    async with running(mark) as (app, pilot, link):
        link.more(ev.RolledBack(id="x", task=task, tree="f" * 40, backup="b", reason="moved"))
        await settle(pilot)
        await press(pilot, *keys)
        assert link.sent == []
        text = "".join(part for line in app.screen.query_one("#gate-text").lines for part, _ in line)
        assert "an approval would not count" in text


async def test_ask_streams_and_comes_back() -> None:
    async with running("asking") as (app, pilot, link):
        await press(pilot, "question_mark")
        assert isinstance(app.screen, AskScreen)
        talk = "".join(part for line in app.screen.query_one("#talk").lines for part, _ in line)
        assert "names the algorithm" in talk
        await press(pilot, *"why", "enter")
        assert answers(link) == [("G2", "ask", "why")]
        link.more(ev.GateReplied(gate="G2", id="e0", answer="because it must"))
        await settle(pilot)
        talk = "".join(part for line in app.screen.query_one("#talk").lines for part, _ in line)
        assert "because it must" in talk
        await press(pilot, "escape")
        assert not isinstance(app.screen, AskScreen)
        assert app.gates.current.id == "G2"


async def test_ask_says_when_the_gate_is_answered_elsewhere() -> None:
    async with running("asking") as (app, pilot, link):
        await press(pilot, "question_mark")
        link.more(ev.GateAnswered(gate="G2", choice="yes", by="phone"))
        await settle(pilot)
        talk = "".join(part for line in app.screen.query_one("#talk").lines for part, _ in line)
        assert "answered in the meantime: yes by phone" in talk


async def test_comment_keeps_its_draft_and_has_a_history() -> None:
    async with running("fix_gate") as (app, pilot, link):
        app.comments[:] = ["older words", "newer words"]
        await press(pilot, "c", *"half", "escape")
        assert link.sent == []
        await press(pilot, "c")
        assert isinstance(app.screen, CommentScreen)
        area = app.screen.query_one(TextArea)
        assert area.text == "half"
        await press(pilot, "ctrl+up")
        assert area.text == "newer words"
        await press(pilot, "ctrl+up")
        assert area.text == "older words"
        await press(pilot, "ctrl+down", "ctrl+down")
        assert area.text == "half"
        await press(pilot, "f2")
        assert answers(link) == [("G2", "comment", "half")]
        assert app.comments[-1] == "half"


async def test_auto_is_shown_and_can_be_taken_back() -> None:
    async with running("auto") as (app, pilot, link):
        header = "".join(part for line in app.screen.query_one("#header").lines for part, _ in line)
        assert "auto: task" in header
        await press(pilot, "T")
        assert [(sent.gate_kind, sent.auto) for sent in link.sent if isinstance(sent, SetAuto)] == [("task", False)]


async def test_question_mark_helps_where_there_is_no_gate() -> None:
    async with running("parallel") as (app, pilot, _link):
        await press(pilot, "question_mark")
        assert app.screen.NAME == "help"
