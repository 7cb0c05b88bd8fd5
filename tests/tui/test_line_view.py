"""LineView and Stream: 100,000 lines, following, folding, searching, wide characters."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult

from engine.core.activity import AgentOutput, OutputKind
from engine.core.model import Role
from tui.app.theme import DEFAULT, load_all
from tui.kit.glyphs import UNICODE
from tui.kit.layout import wrapped
from tui.kit.line_view import LineView
from tui.kit.rows import BLOCK, CAPACITY, Row, Rows
from tui.kit.stream import Stream


class Host(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(load_all(None)[0][DEFAULT].variables)

    def compose(self) -> ComposeResult:
        yield LineView()


def rows(count: int, start: int = 0) -> list[Row]:
    return [Row("", f"line {number}") for number in range(start, start + count)]


def more(view: LineView, *new: Row) -> None:
    view.source.extend(new)
    view.take()


async def test_a_hundred_thousand_lines_and_more() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        for start in range(0, CAPACITY + 20_000, 5_000):
            more(view, *rows(5_000, start))
            if len(view.source) > CAPACITY:
                view.source.shorten(len(view.source) - CAPACITY)
                view.take()
        await pilot.pause()
        assert CAPACITY - BLOCK < len(view.source) <= CAPACITY
        assert view.source.end == CAPACITY + 20_000
        assert view.row_count == len(view.source)
        assert f"line {CAPACITY + 20_000 - 1}" in view.visible_text()


async def test_a_fold_of_a_hundred_thousand_lines_opens_at_once_and_the_reader_stays() -> None:
    """Only what is on screen is laid out by the key; the rest follows, a little a frame, and moves nothing."""
    source = Rows()
    for number in range(CAPACITY // 2):
        source.extend([Row("", f"line {number} {'word ' * 30}"), Row("muted", f"hidden {number}", 1)])
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        view.reset(source)
        while view.refine():
            pass
        assert view.row_count == 3 * CAPACITY // 2
        view.scroll_to(y=90_000, animate=False)
        await pilot.pause()
        assert view.visible_text().startswith("line 30000 ")
        view.set_folded(False)
        await pilot.pause()
        assert view.row_count < 2 * CAPACITY, "everything was laid out by one key"
        for _ in range(3):
            shown = view.visible_text()
            assert shown.startswith("line 30000 ")
            assert "hidden 30000" in shown
            while view.refine():
                pass
            await pilot.pause()
        assert view.row_count == 2 * CAPACITY


@pytest.mark.parametrize("following", [True, False])
async def test_lines_dropped_behind_its_back_break_nothing(following: bool) -> None:
    """Another task's flood takes a silent one's room while a page lies over the dashboard."""
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        more(view, *rows(10 * BLOCK))
        await pilot.pause()
        if not following:
            view.scroll_to(y=100, animate=False)
            await pilot.pause()
        view.source.shorten(6 * BLOCK)
        view.refresh()
        await pilot.pause()
        shown = view.visible_text().split("\n")
        assert all(int(line.split()[1]) >= 6 * BLOCK for line in shown if line)
        view.take()
        await pilot.pause()
        assert view.row_count == 4 * BLOCK
        assert not following or f"line {10 * BLOCK - 1}" in view.visible_text()


async def test_another_stream_shows_its_end_at_once() -> None:
    source = Rows(Row("", f"{'word ' * 30}line {number}") for number in range(5_000))
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        view.reset(source)
        await pilot.pause()
        assert view.visible_text().endswith("line 4999")


async def test_dropped_lines_do_not_move_what_is_read() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        more(view, *rows(3_000))
        await pilot.pause()
        view.scroll_to(y=2_000, animate=False)
        await pilot.pause()
        view.source.shorten(1_000)
        more(view, *rows(10, 3_000))
        await pilot.pause()
        assert view.visible_text().startswith("line 2000\n")
        view.source.shorten(2_500)
        more(view, *rows(10, 3_010))
        await pilot.pause()
        assert view.visible_text().startswith(f"line {view.source.first}\n"), "what was read is gone: the oldest left"


async def test_following_stops_when_scrolled_and_starts_again_at_the_end() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        more(view, *rows(200))
        await pilot.pause()
        assert view.following
        view.scroll_to(y=10, animate=False)
        await pilot.pause()
        assert not view.following
        more(view, *rows(50, 200))
        await pilot.pause()
        assert view.scroll_offset.y == 10
        view.set_following(True)
        await pilot.pause()
        assert "line 249" in view.visible_text()
        view.scroll_to(y=10, animate=False)
        await pilot.pause()
        view.scroll_end(animate=False)
        await pilot.pause()
        assert view.following


async def test_search_marks_and_steps_through_matches() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        more(view, *rows(500))
        await pilot.pause()
        assert view.search("LINE 49") == 11
        view.scroll_to(y=0, animate=False)
        assert view.step_match(1) == 1
        assert view.scroll_offset.y == 49
        assert view.step_match(1) == 2
        assert view.step_match(-1) == 1
        more(view, Row("", "LINE 49 again"))
        assert len(view.matches) == 12
        assert view.search("nothing like it") == 0
        assert view.step_match(1) == 0


async def test_resize_wraps_again_and_loses_nothing() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        text = "word " * 60
        more(view, Row("", text), Row("", "日本語" * 40))
        await pilot.pause()
        wide = view.row_count
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert view.row_count > wide
        laid_out = [view.row_at(at) for at in range(view.row_count)]
        assert "".join(row.text for row in laid_out) == text + "日本語" * 40
        assert all(cell_len(row.text) <= 40 for row in laid_out)


async def test_a_wrapped_line_keeps_its_indent() -> None:
    async with Host().run_test(size=(40, 24)) as pilot:
        view = pilot.app.query_one(LineView)
        more(view, Row("muted", f"  │ {'result ' * 12}"), Row("accent", f"▸ Bash  {'argument ' * 9}"))
        await pilot.pause()
        laid_out = [view.row_at(at).text for at in range(view.row_count)]
        assert all(text.startswith("  │ result") for text in laid_out[:3])
        assert all(text.startswith("  argument") for text in laid_out[4:])
        assert all(cell_len(text) <= 40 for text in laid_out)
        assert sum(text.count("result") for text in laid_out) == 12


@pytest.mark.parametrize(
    ("text", "width"), [("", 10), ("a" * 25, 10), ("ab cd ef gh ij", 5), ("日本語テキスト", 4), ("e\u0301" * 20, 7)]
)
def test_wrapped_pieces_join_to_the_whole(text: str, width: int) -> None:
    pieces = wrapped(text, width)
    assert "".join(pieces) == text
    assert all(cell_len(piece) <= width for piece in pieces)


def said(kind: OutputKind, text: str, effect: str = "e1", **more: str) -> AgentOutput:
    return AgentOutput(effect=effect, kind=kind, role=Role.IMPLEMENTER, text=text, **more)  # type: ignore[arg-type]


async def test_long_results_are_folded_and_unfolded() -> None:
    stream = Stream()
    stream.add(said(OutputKind.TOOL_RESULT, "\n".join(f"r{number}" for number in range(40))), UNICODE)
    async with Host().run_test(size=(80, 60)) as pilot:
        view = pilot.app.query_one(LineView)
        view.reset(stream.rows)
        await pilot.pause()
        folded = view.visible_text()
        assert "36 more lines" in folded
        assert "r20" not in folded
        view.set_folded(False)
        await pilot.pause()
        assert "r20" in view.visible_text()
        assert "more lines" not in view.visible_text()


def test_a_stream_says_who_speaks() -> None:
    stream = Stream()
    stream.add(said(OutputKind.TEXT, "one"), UNICODE)
    place = stream.rows.end
    stream.add(said(OutputKind.TEXT, "two", effect="e2"), UNICODE)
    assert [row.text for row in stream.rows.since(place)] == ["", "── implementer ──", "two"]
    place = stream.rows.end
    stream.add(said(OutputKind.TEXT, "three", effect="e3", seat="pattern-matcher"), UNICODE)
    stream.add(said(OutputKind.TEXT, "four", effect="e4", seat="systems-thinker"), UNICODE)
    stream.add(said(OutputKind.TEXT, "five", effect="e3", seat="pattern-matcher"), UNICODE)
    assert [row.text for row in stream.rows.since(place) if row.text] == [
        *("── pattern matcher ──", "three"),
        *("── systems thinker ──", "four"),
        *("── pattern matcher ──", "five"),
    ]
    stream.add(said(OutputKind.TEXT, "\n".join(["x"] * 2500)), UNICODE)
    assert "500 more lines are in the log" in list(stream.rows)[-1].text
