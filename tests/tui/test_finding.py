"""Finding one's way: filters on every list, folded phases, jumps, times, footer by context, a theme tried and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from engine.core.state import Status
from engine.link.protocol import Answered, AnyQuery, GetDiff
from screenshots.make import link_at, recorded
from tests.tui.driving import app_on, press, running, settle
from tests.tui.lanes import live_lanes, many_tasks
from tests.tui.links import LiveLink, live
from tests.tui.planned import with_repository
from tests.tui.reading import text_of, wrong_with
from tui.app.application import DevteamApp
from tui.app.saved import Saved, read, write
from tui.kit.jumps import Jump, fits, next_task
from tui.kit.paint import plain
from tui.kit.panes import PaneName
from tui.kit.row_list import RowList, matching, unfolded
from tui.panels.output import OutputPanel
from tui.panels.tasks import TasksPanel
from tui.screens.settings import Settings


def shown(app: DevteamApp) -> str:
    return "\n".join(text_of(app))


def footer(app: DevteamApp) -> str:
    return text_of(app)[-1]


LISTS = [
    ("i", "escalate", "ESCALATE", "COMPLETE"),
    ("e", "lint", "lint", "tests  "),
    ("M", "pandas", "pandas", "scrypt"),
    ("comma", "ember", "ember", "daylight"),
    ("l", "committed", "", ""),
    ("o", "export", "002-export-csv", "001-"),
]
"""Iterations, evidence, learnings, settings, events, sprints; the files of a change and the tasks are tried below."""


async def test_every_list_is_filtered() -> None:
    app = app_on(with_repository(live("council")))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for page, word, kept, gone in LISTS:
            await press(pilot, page)
            menu = app.screen.query_one("#list", RowList)
            before = len(menu.lines)
            await sifted(app, pilot, word)
            rows = plain(menu.lines)
            assert 0 < len(menu.lines) < before, page
            assert kept in rows and (not gone or gone not in rows), page
            await press(pilot, "enter")
            assert app.focused is menu, "the filter stays, the list has the keys"
            assert len(menu.lines) < before
            await press(pilot, "slash", "escape")
            assert len(menu.lines) == before, page
            await press(pilot, "escape")


async def sifted(app: DevteamApp, pilot: Pilot[Any], word: str) -> None:
    """`/`, and the word written into what has the keys then."""
    await press(pilot, "slash")
    assert isinstance(app.focused, Input)
    await pilot.press(*word)
    await settle(pilot)


async def test_sprints_are_newest_first_with_dates_and_filtered() -> None:
    async with running("end", size=(120, 40)) as (app, pilot, _link):
        await press(pilot, "o")
        menu = app.screen.query_one("#list", RowList)
        rows = [plain([line]) for line in menu.lines]
        assert [row.split("-")[0].strip(" ▌▶") for row in rows] == ["003", "002", "001"]
        assert "21 Sep 14:13" in rows[0] and "12 Sep" in rows[2]
        await press(pilot, "slash")
        await pilot.press(*"export")
        await settle(pilot)
        assert len(menu.lines) == 1
        assert "002-export-csv" in shown(app)


def test_a_heading_stays_with_what_is_found_below_it() -> None:
    rows = [((text, ""),) for text in ("ONE", "alpha", "beta", "TWO", "gamma")]
    assert matching(rows, frozenset({0, 3}), "beta") == [0, 2]
    assert matching(rows, frozenset({0, 3}), "two GAM") == [3, 4], "words of the heading count"
    assert matching(rows, frozenset({0, 3}), "delta") == []
    assert matching(rows, frozenset({0, 3}), " ") == [0, 1, 2, 3, 4]


async def test_tasks_are_filtered_where_they_have_the_keys() -> None:
    app = app_on(many_tasks(300))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "1", "slash")
        await pilot.press(*"follow-up 27")
        await settle(pilot)
        words = plain(app.screen.query_one(TasksPanel).lines)
        assert "Follow-up 27" in words and "Follow-up 31" not in words
        await press(pilot, "enter", "down")
        assert app.view.selected.startswith("2.27"), "the arrows go through what is found"
        await press(pilot, "escape")
        assert "Follow-up 31" in plain(app.screen.query_one(TasksPanel).lines)


async def test_phases_fold_and_the_selection_is_never_lost() -> None:
    app = app_on(live_lanes(2, more=4))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "1")
        panel = app.screen.query_one(TasksPanel)
        selected = app.view.selected
        await press(pilot, "left")
        assert app.view.selected == selected
        assert not any(row.startswith("1.") for row in panel._ids), "the phase is folded"
        assert "▌" in plain(panel.lines), "its heading has the mark"
        await press(pilot, "down")
        assert app.view.selected.startswith("2."), "down leaves the folded phase"
        await press(pilot, "up", "minus")
        assert any(row.startswith("1.") for row in panel._ids), "opened again"
        await press(pilot, "minus")
        assert [row for row in panel._ids if row.startswith("2.")] == [], "folded: nobody works there"


def test_jumps_go_round_the_plan() -> None:
    from tests.core.test_outcomes import folded
    from tests.tui.lanes import several

    state = folded(several(4, 2, 0, False))
    for jump in Jump:
        fitting = [name for name, task in state.tasks.items() if fits(task, jump)]
        found, seen = "", []
        for _ in fitting:
            found = next_task(state, found, jump)
            seen.append(found)
        assert sorted(seen) == sorted(fitting), jump
    assert next_task(state, "", Jump.WAITING), "there are gates"


async def test_jump_keys_and_letters() -> None:
    app = app_on(live_lanes(4))
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        first = app.view.selected
        await press(pilot, "full_stop")
        assert app.view.selected != first and app.view.task is not None
        assert app.view.task.status is Status.RUNNING
        await press(pilot, "exclamation_mark", "number_sign")
        await press(pilot, "J")
        assert " a " in shown(app) and " c " in shown(app)
        await press(pilot, "b")
        assert app.screen.focused is not None and len(app.screen_stack) == 2
        await press(pilot, "J", "escape")
        assert len(app.screen_stack) == 2


async def test_letters_stand_on_tabs_too_and_leave_the_titles_readable() -> None:
    app = app_on(live_lanes(1))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = text_of(app)[3]
        await press(pilot, "J")
        tabs = text_of(app)[2]
        assert [tabs.index(f" {letter} ") for letter in "abc"] == [1, 11, 35], tabs
        assert text_of(app)[3][4:] == before[4:], "on the corner, before the title"
        await press(pilot, "a")
        assert app.screen.focused_pane() is PaneName.TASKS  # type: ignore[attr-defined]
        await press(pilot, "J", "c")
        assert app.screen.focused_pane() is PaneName.LADDER  # type: ignore[attr-defined]


@pytest.mark.parametrize("keys", [{}, {"pane_tasks": "f6"}], ids=["usual", "moved"])
async def test_the_key_of_a_pane_stands_on_its_border(keys: dict[str, str]) -> None:
    app = app_on(live_lanes(4), keys=keys)
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        text = shown(app)
        for words in ("[0] FLIGHT", f"[{keys.get('pane_tasks', '1')}] TASKS", "[2] ", "[4] LADDER", "[5] HEALTH"):
            assert words in text, words
        assert text.count("[3] ") == 1, "of several outputs the one that the key goes to"
        for key, pane in ((keys.get("pane_tasks", "1"), PaneName.TASKS), ("4", PaneName.LADDER)):
            await press(pilot, key)
            assert app.screen.focused_pane() is pane  # type: ignore[attr-defined]


async def test_the_footer_of_a_page_is_about_that_page() -> None:
    app = app_on(live_lanes(4, gates=3))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "e")
        assert "/ filter" in footer(app) and "e evidence" not in footer(app), "how to come here is known here"
        await press(pilot, "slash")
        assert footer(app).split() == ["enter", "keep", "esc", "clear", "f1", "help", "^p", "commands"], (
            "letters are typed now"
        )
        await press(pilot, "escape", "comma")
        assert "enter apply" in footer(app)


async def test_settings_begin_at_the_theme_in_use() -> None:
    app = app_on(live_lanes(1), theme="harbor")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "comma")
        row = next(row for row in text_of(app) if "harbor" in row)
        assert row.startswith("│ ▌") and "●" in row
        assert app.theme == "harbor"


async def test_an_empty_pane_names_the_key_that_fills_it() -> None:
    app = app_on(live_lanes(1), keys={"follow": "f7"})
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.choose("2.1")
        await settle(pilot)
        assert "T2.1 has not begun; f7: follow the running task" in shown(app)
        await press(pilot, "f7")
        assert "has not begun" not in shown(app)
        await press(pilot, "1", "slash", *"zzz")
        assert "no matching task; esc: clear" in shown(app)


async def test_times_stand_before_what_was_said_and_are_kept(tmp_path: Path) -> None:
    app = app_on(live_lanes(1), saved=tmp_path / "d" / "dashboard.toml")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        before = shown(app)
        await press(pilot, "ctrl+t")
        assert "14:15:2" in shown(app) and "14:15:2" not in before.split("OUTPUT")[-1]
        assert wrong_with(app) == []
    assert read(tmp_path / "d" / "dashboard.toml") == Saved(times=True)


async def test_a_search_shows_which_match_it_is_at() -> None:
    async with running("parallel") as (app, pilot, _link):
        await press(pilot, "slash")
        await pilot.press(*"the")
        await press(pilot, "enter")
        view = next(panel.lines for panel in app.screen.query(OutputPanel) if panel.lines.needle)
        seen = {view.at_match}
        for _ in range(len(view.matches) - 1):
            await press(pilot, "n")
            seen.add(view.at_match)
        assert seen == set(view.matches), "n reaches every match, also on the last screen"


@pytest.mark.parametrize("leave", [pytest.param("escape", marks=pytest.mark.torture), "enter"])
async def test_a_theme_is_tried_by_moving_and_kept_by_choosing(leave: str, tmp_path: Path) -> None:
    path = tmp_path / "dashboard.toml"
    app = app_on(live_lanes(1), saved=path)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        chosen = app.theme
        await press(pilot, "comma", "down")
        tried = app.theme
        assert isinstance(app.screen, Settings) and tried != chosen, "seen while moving"
        await press(pilot, leave)
        if leave == "enter":
            await press(pilot, "escape")
        assert app.theme == (tried if leave == "enter" else chosen)
    assert read(path).theme == (tried if leave == "enter" else "")


def test_a_broken_file_of_choices_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / "dashboard.toml"
    for text in ("theme = ", "theme = 3\ntimes = 'x'", "\x00"):
        path.write_text(text)
        assert read(path) == Saved()
    assert write(path, Saved(theme='a"b')) == ""
    assert read(path) == Saved(theme='a"b')
    assert "cannot be written" in write(path / "below" / "x.toml", Saved(theme="a"))


async def test_the_footer_shows_what_works_here() -> None:
    app = app_on(live_lanes(4, gates=3))
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        assert "approve all" in footer(app) and "next hunk" in footer(app) and "land" not in footer(app)
        await press(pilot, "h")
        assert "approve all" not in footer(app)
        await press(pilot, "d")
        assert "wrap" in footer(app) and "context" in footer(app) and "esc back" in footer(app)
        await press(pilot, "escape")
        for key, first in (("0", "look back"), ("1", "filter"), ("3", "search"), ("4", "cost")):
            await press(pilot, key)  # by what has the keys: strip, tasks, output, ladder
            shown = footer(app)
            assert shown.split().index("tab") == 0 and 0 < shown.index(first) < shown.index("log"), (key, shown)
            assert shown.rstrip().endswith("q detach"), "what is always there stands at the right"
    ended = app_on(live_lanes(3, ended=True))
    async with ended.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert footer(ended).index("L land") < footer(ended).index("d diff"), "the likely comes first"
        assert "pause" not in footer(ended) and "steer" not in footer(ended)


async def test_a_change_is_wrapped_scrolled_and_filled() -> None:
    """And where two columns fit: a new file has the full width, files are filtered, there is more of the code."""
    link = live_lanes(4, gates=3)
    asked = with_more_context(link)
    app = app_on(link)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "d", "z")
        assert "FILES" not in shown(app), "the code has the whole screen"
        cut = shown(app)
        await press(pilot, "right")
        assert "from column 17" in shown(app) and shown(app) != cut
        await press(pilot, "W")
        assert "wrapped" in shown(app) and "…" not in "".join(text_of(app)[4:18])
        await press(pilot, "z", "W")
        assert "FILES" in shown(app)
        await pilot.resize_terminal(160, 45)
        await settle(pilot)
        assert any(row.count("│") > 4 for row in text_of(app)), "two columns where lines are replaced"
        await press(pilot, "down")
        assert not any(row.count("│") > 4 for row in text_of(app)), "one where nothing would stand at the left"
        await press(pilot, "up", "plus")
        assert "12 lines around" in shown(app) and "far above" in shown(app)
        await press(pilot, "plus")
        assert "whole file" in shown(app) and asked[-2:] == [12, 100_000]
        await press(pilot, "plus")
        assert "far above" not in shown(app) and "lines around" not in shown(app), "and few again"
        await sifted(app, pilot, "test_part")
        menu = app.screen.query_one("#list", RowList)
        assert [plain([line]).split()[0] for line in menu.lines] == ["tests/test_part.py"]
        assert "test_blank_lines_are_passed_over" in shown(app), "what is found is shown"


def with_more_context(link: LiveLink) -> list[int]:
    """The link has more of the code, too; gives the lines around a change that were asked for."""
    known, asked = link.fetch, []

    async def fetch(query: AnyQuery) -> Answered:
        if not isinstance(query, GetDiff):
            return await known(query)
        asked.append(query.context)
        whole = await known(GetDiff(task=query.task))
        more = whole.text.replace("@@ -10,9 +10,12 @@", "@@ -9,10 +9,13 @@").replace(
            "     text =", " # far above\n     text =", 1
        )
        return Answered(text=more) if query.context else whole

    link.fetch = fetch  # type: ignore[method-assign]
    return asked


async def test_a_question_cites_the_hunk_in_sight_and_its_draft_is_kept() -> None:
    app = app_on(live_lanes(4, gates=3))
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "d", "tab", "question_mark")
        box = app.screen.query_one(Input)
        assert box.value == "src/app/part.py:10: "
        await pilot.press(*"why")
        await press(pilot, "escape", "question_mark")
        assert app.screen.query_one(Input).value == "src/app/part.py:10: why"


def test_a_cut_row_of_a_list_goes_on_while_there_are_rows_left() -> None:
    whole = ((" ✔ ", "good"), ("T1.3 Settle debts with the fewest payments", "fg"))
    cut = ((" ✔ ", "good"), ("T1.3 Settle debts wit…", "fg"))
    short = ((" ✔ ", "good"), ("T1.1 Format", "fg"))
    rows = [(0, short, short), (1, cut, whole), (2, cut, whole)]
    assert [number for number, _ in unfolded(rows, 25, 3)] == [0, 1, 2]  # no row is free
    some = unfolded(rows, 25, 4)
    assert [number for number, _ in some] == [0, 1, 1, 2]
    assert plain([some[1][1], some[2][1]]).split() == plain([whole]).split()
    assert all(len(plain([line])) <= 25 for _, line in unfolded(rows, 25, 9))
    assert "…" not in plain([line for _, line in unfolded(rows, 25, 9)])


async def test_keys_step_over_a_row_that_takes_two() -> None:
    """At 80 columns a task's title takes two rows of the page of questions: one key goes to the next entry."""
    app = app_on(link_at(len(recorded())))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.act("questions")
        await settle(pilot)
        menu = app.screen.query_one("#list", RowList)
        numbers = [number for number in dict.fromkeys(menu._seen) if number not in menu._skip]
        assert len(menu._seen) > len(set(menu._seen)), "nothing was unfolded: the test shows nothing"
        menu.focus()
        await press(pilot, "home")
        seen = [menu.cursor]
        for _ in numbers[1:]:
            await press(pilot, "down")
            seen.append(menu.cursor)
        assert seen == numbers
