"""Rows and their layout: whatever is packed, dropped, folded or resized, the same lines come out in the same order."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.depth import examples
from tui.kit.canvas import harmless
from tui.kit.layout import Layout, hanging, wrapped
from tui.kit.rows import BLOCK, Row, Rows

TEXT = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["", "\n", "\ud800", "日本語" * 20, "word " * 30, "  │ " + "word " * 30]
)
ROW = st.builds(Row, st.sampled_from(["", "muted", "bad bold"]), TEXT, st.sampled_from([-1, 0, 0, 0, 1]))


def many(few: list[Row], count: int) -> list[Row]:
    return [few[number % len(few)] for number in range(count)]


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(ROW, min_size=1, max_size=12), st.integers(0, 4 * BLOCK), st.integers(0, 5 * BLOCK), st.integers(0, 900)
)
def test_rows_come_out_as_they_went_in(few: list[Row], count: int, place: int, cut: int) -> None:
    given_rows = many(few, count)
    kept = Rows()
    for start in range(0, count, 100):
        kept.extend(given_rows[start : start + 100])
    assert list(kept) == given_rows
    assert list(kept.since(place)) == given_rows[place:]
    gone = kept.shorten(cut)
    assert gone == kept.first
    assert gone >= min(cut, count - count % BLOCK)
    assert kept.end == count
    assert list(kept) == given_rows[gone:]


def naive(rows: Rows, width: int, folded: bool) -> list[tuple[int, str]]:
    """Every row of the screen, the slow and simple way."""
    out: list[tuple[int, str]] = []
    for number, row in enumerate(rows, rows.first):
        if row.fold != (1 if folded else -1):
            text = harmless(row.text)
            out += [(number, piece) for piece in (wrapped(text, width, len(hanging(text, width))) if width else [text])]
    return out


def drawn(layout: Layout) -> list[tuple[int, str]]:
    places = [layout.place(row) for row in range(layout.total)]
    text = {line: harmless(row.text) for line, row in enumerate(layout.rows, layout.rows.first)}
    return [(line, text[line][start:end]) for line, start, end in places]


@settings(max_examples=examples(25), deadline=None)
@given(
    st.lists(ROW, min_size=1, max_size=8),
    st.integers(0, 3 * BLOCK),
    st.integers(0, 40),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 300)), max_size=3),
)
def test_a_layout_that_keeps_up_shows_what_a_new_one_shows(
    few: list[Row], count: int, width: int, folded: bool, steps: list[tuple[int, int]]
) -> None:
    width = width + 4 if width else 0
    rows = Rows(many(few, count))
    layout = Layout(rows, width, folded)
    layout.firm_end(24)
    for more, cut in steps:
        rows.extend(many(few, more))
        rows.shorten(cut)
        layout.take()
        layout.refine(0.0005)
    while layout.guessed:
        layout.refine(1.0)
    layout.take()
    expected = naive(rows, width, folded)
    assert drawn(layout) == expected
    for row, (line, _) in enumerate(expected):
        if row == 0 or expected[row - 1][0] != line:
            assert layout.row_of(line) == row


def test_what_is_about_to_be_drawn_is_never_a_guess() -> None:
    rows = Rows(Row("", "word " * 30) for _ in range(20 * BLOCK))
    layout = Layout(rows, 40, True)
    assert layout.total == 20 * BLOCK, "a guess: one row a line"
    layout.firm_end(30)
    at_end = [layout.place(row) for row in range(layout.total - 30, layout.total)]
    assert at_end[-1].line == 20 * BLOCK - 1
    assert layout.guessed
    layout.firm(1000, 30)
    before = [layout.place(row) for row in range(1000, 1030)]
    assert [layout.place(row) for row in range(1000, 1030)] == before


def test_a_day_of_talk_stays_small() -> None:
    """A hundred thousand ordinary lines: an object each would be twenty-odd megabytes."""
    tracemalloc.start()
    rows = Rows(
        Row("", f"{number}: the agent says something of an ordinary length, as agents do all day long")
        for number in range(100_000)
    )
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows) == 100_000
    assert used < 3_000_000
