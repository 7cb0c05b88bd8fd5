"""Cutting a text between words: the rule holds for any text, and a long unbroken line costs no more than another."""

from __future__ import annotations

import string

from hypothesis import example, given
from hypothesis import strategies as st

from engine.perform.agents.wire import cut

WORD = frozenset(string.ascii_letters + string.digits + "_.+/=-")
LONGEST = 600

pieces = st.lists(st.sampled_from(["x" * 700, "y" * 40, " ", "\n", "é", "/", "a=b", "…"]), max_size=12).map("".join)


@given(pieces, st.integers(0, 3000))
@example("x" * 5000, 4000)
@example("word\n", 5)
def test_nothing_but_the_half_word_at_the_end_goes(words: str, length: int) -> None:
    kept = cut(words, length)
    if len(words) <= length:
        assert kept == words
        return
    gone = words[len(kept) : length]
    assert words.startswith(kept)
    assert WORD.issuperset(gone)
    assert len(gone) <= LONGEST
    assert len(gone) == LONGEST or not kept or kept[-1] not in WORD
