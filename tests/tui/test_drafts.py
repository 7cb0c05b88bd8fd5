"""No text that somebody wrote is lost: not by leaving, not by an engine that refuses it, not with the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from engine.core.commands import Ack
from tests.tui.driving import app_on, press, settle
from tests.tui.links import live
from tui.app.drafts import MOST, NAME, Drafts
from tui.screens.comment import CommentScreen


def test_texts_outlive_the_dashboard_and_two_of_them_share_a_file(tmp_path: Path) -> None:
    one, other = Drafts(tmp_path / "state" / NAME), Drafts(tmp_path / "state" / NAME)
    one.keep("003/G1-comment", "first")
    other.keep("003/G2-comment", "second")
    assert (one.get("003/G2-comment"), other.get("003/G1-comment")) == ("second", "first")
    one.drop("003/G1-comment")
    assert other.get("003/G1-comment") == "" and other.get("003/G2-comment") == "second"
    assert (tmp_path / "state" / NAME).stat().st_mode & 0o077 == 0, "what people write is theirs"


def test_the_oldest_go_first(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / NAME)
    for number in range(MOST + 5):
        drafts.keep(f"{number}", "text")
    assert drafts.get("4") == "" and drafts.get("5") == drafts.get(f"{MOST + 4}") == "text"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a": 1}'])
def test_a_broken_file_loses_nothing_that_is_known(tmp_path: Path, content: bytes) -> None:
    drafts = Drafts(tmp_path / NAME)
    drafts.keep("a", "text")
    (tmp_path / NAME).write_bytes(content)
    assert drafts.get("a") == "text"
    drafts.keep("b", "more")
    assert Drafts(tmp_path / NAME).get("a") == "text"


def test_a_folder_that_cannot_be_written_is_said_and_the_text_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    drafts = Drafts(tmp_path / "file" / NAME)
    drafts.keep("a", "text")
    assert "cannot be written" in drafts.problem
    assert drafts.get("a") == "text"


async def test_a_dashboard_that_ends_while_somebody_types_keeps_the_words(tmp_path: Path) -> None:
    app = app_on(live("fix_gate"), drafts=tmp_path / NAME)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "c", *"half")
    again = app_on(live("fix_gate"), drafts=tmp_path / NAME)
    async with again.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "c")
        assert again.screen.query_one(TextArea).text == "half"


@pytest.mark.parametrize("ok", [True, False], ids=["taken", "refused"])
async def test_a_comment_is_kept_until_the_engine_has_taken_it(tmp_path: Path, ok: bool) -> None:
    link = live("fix_gate")
    link.ack = Ack(ok=ok, detail="" if ok else "G2 was answered in the meantime")
    app = app_on(link, drafts=tmp_path / NAME)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "c", *"half", "f2")
        assert len(link.sent) == 1
        assert Drafts(tmp_path / NAME).get("003-add-login/G2-comment") == ("" if ok else "half")
        app.gates.sending = ""
        await press(pilot, "c")
        assert app.screen.query_one(TextArea).text == ("" if ok else "half")


@pytest.mark.parametrize("ok", [True, False], ids=["taken", "refused"])
async def test_a_question_that_is_refused_comes_back(tmp_path: Path, ok: bool) -> None:
    link = live("fix_gate")
    link.ack = Ack(ok=ok)
    app = app_on(link, drafts=tmp_path / NAME)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "question_mark", *"why", "f2")
        assert app.screen.query_one(Input).value == ("" if ok else "why")
        await press(pilot, "escape", "question_mark")
        assert app.screen.query_one(Input).value == ("" if ok else "why")


async def test_words_of_the_history_do_not_take_the_drafts_place() -> None:
    app = app_on(live("fix_gate"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.comments[:] = ["older words"]
        await press(pilot, "c", *"half", "ctrl+up", "escape", "c")
        assert isinstance(app.screen, CommentScreen)
        assert app.screen.query_one(TextArea).text == "half"


async def test_what_is_commented_on_stays_in_sight() -> None:
    """The editor stands below the change that it is about."""
    app = app_on(live("fix_gate"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        top = app.screen.desk.hunks.region.y  # type: ignore[attr-defined]
        for key, box in (("c", "#comment"), ("question_mark", "#ask")):
            await press(pilot, key)
            assert app.screen.query_one(box).region.y >= top + 12, key
            await press(pilot, "escape")
