"""The cleaner lets no control, sequence, bidi or invisible character through, and loses no visible text."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.clean import _ESCAPED, _SEQUENCE, clean, clean_line, decode

CASES = [
    pytest.param("plain", "plain", id="plain"),
    pytest.param("a\tb\nc", "a\tb\nc", id="tab-newline-kept"),
    pytest.param("a\r\nb\rc", "a\nb\nc", id="carriage-returns"),
    pytest.param("\x1b[1;31mred\x1b[0m", "red", id="csi-sgr"),
    pytest.param("\x1b[2J\x1b[Hx", "x", id="csi-clear"),
    pytest.param("\x1b[?1049hx\x1b[>4;2m", "x", id="csi-private"),
    pytest.param("x\x1b[31", "x", id="csi-cut"),
    pytest.param("\x9b31mred", "red", id="csi-8bit"),
    pytest.param("\x1b]0;title\x07x", "x", id="osc-bel"),
    pytest.param("\x1b]0;title\x1b\\x", "x", id="osc-st"),
    pytest.param("\x1b]0;title\x9cx", "x", id="osc-8bit-st"),
    pytest.param("\x9d0;title\x07x", "x", id="osc-8bit"),
    pytest.param("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click", id="osc-8-link"),
    pytest.param("\x1b]52;c;cm0gLXJmIC8=\x07x", "x", id="osc-52-clipboard"),
    pytest.param("a\x1b]52;c;cm0g\nsecond line", "a\nsecond line", id="osc-open-hides-no-line"),
    pytest.param("a\x1b]0;one\x1b[31mtwo", "atwo", id="osc-open-ended-by-esc"),
    pytest.param("\x1bPq#0;2;0;0;0\x1b\\x", "x", id="dcs"),
    pytest.param("\x1b^pm\x1b\\\x1b_apc\x1b\\\x1bXsos\x1b\\x", "x", id="pm-apc-sos"),
    pytest.param("\x90dcs\x9c\x9epm\x9c\x9fapc\x9c\x98sos\x9cx", "x", id="strings-8bit"),
    pytest.param("\x1bc\x1b(B\x1b7\x1b=x", "x", id="two-character"),
    pytest.param("x\x1b", "x", id="lone-esc"),
    pytest.param("\x1b\x1b[31mx", "x", id="double-esc"),
    pytest.param("\x1b\u200b[31mx", "[31mx", id="split-by-invisible-is-only-text"),
    pytest.param("a\x00b\x07c\x08d\x7fe\x85f", "abcdef", id="controls"),
    pytest.param("a\u202eb\u2066c\u200fd\u061ce", "abcde", id="bidi"),
    pytest.param("a\u200bb\u2060c\ufeffd\xade", "abcde", id="zero-width"),
    pytest.param("ok\U000e0061\U000e0062\U000e0100", "ok", id="tags"),
    pytest.param("a\u3164b\uffa0c\u115fd", "abcd", id="blank-letters"),
    pytest.param("a\ud800b\udfffc", "a\ufffdb\ufffdc", id="lone-surrogates"),
    pytest.param("a\ufffeb\U0001ffffc\ufdd0", "a\ufffdb\ufffdc\ufffd", id="noncharacters"),
    pytest.param("a\u2028b\u2029c", "a\nb\nc", id="unicode-line-ends"),
    pytest.param("👩\u200d💻 🏳\ufe0f\u200d🌈", "👩\u200d💻 🏳\ufe0f\u200d🌈", id="emoji-joined"),
    pytest.param("pa\u200dss\u200cword", "password", id="joiner-in-latin"),
    pytest.param("👩\u200d\u200d💻", "👩💻", id="joiner-doubled"),
    pytest.param("👩\u200d\u200b💻", "👩\u200d💻", id="joiner-beside-invisible"),
    pytest.param("می\u200cخواهم", "می\u200cخواهم", id="persian"),
    pytest.param("[bold]x[/bold]", "[bold]x[/bold]", id="markup-is-text"),
    pytest.param("naïve — ✔ 日本語 \ue0b0", "naïve — ✔ 日本語 \ue0b0", id="ordinary-unicode"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("one\ntwo\n", 0, "one⏎two", id="newline-shown"),
        pytest.param("  a\tb  ", 0, "a b", id="tab"),
        pytest.param("abcdef", 4, "abc…", id="capped"),
        pytest.param("abcd", 4, "abcd", id="fits"),
        pytest.param("abc def", 5, "abc…", id="no-space-before-cut"),
        pytest.param("👩\u200d💻x", 3, "👩…", id="no-joiner-before-cut"),
        pytest.param("\x1b]0;t\x07\x1b[2Jx\r\ny", 0, "x⏎y", id="hostile"),
    ],
)
def test_clean_line(text: str, limit: int, expected: str) -> None:
    assert clean_line(text, limit) == expected


HOSTILE = (
    "\x1b[]PX^_\\\x07;08m aé日👩\ufe0f\u0628\n\r\t\x00\x18\x7f\x85\x90\x9b\x9c\x9d"
    "\u200b\u200c\u200d\u202e\u2028\u2066\ufeff\ud800\udc00\ufffe\U000e0061\U0010ffff"
)
hostile = st.text(st.sampled_from(HOSTILE), max_size=60)
anything = hostile | st.text(st.characters(exclude_categories=()), max_size=60)
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def harmless(character: str) -> bool:
    """Written apart from the cleaner's own lists, from the Unicode database."""
    if character in "\n\t\u200c\u200d":
        return True
    if ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF:
        return False
    category = unicodedata.category(character)
    return category not in ("Cc", "Cs", "Zl", "Zp") and unicodedata.bidirectional(character) not in BIDI


@given(anything)
def test_nothing_hostile_comes_out(text: str) -> None:
    once = clean(text)
    assert all(map(harmless, once)), ascii(once)
    assert clean(once) == once
    once.encode("utf-8")


@given(anything, st.integers(0, 12))
def test_a_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = clean_line(text, limit)
    assert all(map(harmless, line))
    assert len(line.splitlines()) <= 1
    assert not limit or len(line) <= limit
    assert clean_line(line, limit) == line


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\té日✔"), max_size=80))
def test_visible_text_is_never_lost(text: str) -> None:
    assert clean(text) == text


@given(st.binary(max_size=80))
def test_decode_takes_any_bytes(data: bytes) -> None:
    text = decode(data)
    text.encode("utf-8")
    assert all(map(harmless, clean(text)))


@pytest.mark.parametrize("attack", ["\x1b]", "\x1b[1", "\x1b ", "\x1b", "\u200d", "\r", "\x1bP\x9d"], ids=ascii)
def test_cost_is_linear(attack: str) -> None:
    """Eight times the pieces cost about eight times the CPU; what is quadratic costs sixty-four times."""

    def cost(pieces: int) -> float:
        began = time.process_time()
        assert clean(attack * pieces).strip() == ""
        return time.process_time() - began

    small = max(min(cost(25_000) for _ in range(3)), 0.002)
    assert min(cost(200_000) for _ in range(2)) < 32 * small


@given(st.text(st.sampled_from("\x1b\x1b[]PX^_\\m;1 @~/\x07\x18\x9c\nä")))
def test_the_quick_way_removes_what_the_whole_one_does(text: str) -> None:
    """Without a C1 introducer the two expressions are one."""
    assert _ESCAPED.sub("", text) == _SEQUENCE.sub("", text)
