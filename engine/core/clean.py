"""The one cleaner of text from outside: agents, checks, repositories, plans. Pure, idempotent, linear in its input.

What it promises: the result has no escape sequence, no control character but newline and tab, nothing that reorders
text (bidi) and nothing invisible that can hide or smuggle text; so it can move no cursor, click no link, set no title.

Decisions:
- A sequence is removed whole, and a string sequence (OSC, DCS, PM, APC, SOS) never reaches past its line: one left
  open on purpose cannot hide the lines after it. The text of an OSC 8 link stays, its address goes.
- Controls and invisible characters are removed; what is *broken* (lone surrogates, noncharacters) becomes U+FFFD, so
  that damage stays visible. A lone carriage return starts a new line: overprinting cannot hide what was there.
- The joiners U+200C/U+200D stay where scripts and emoji need them, and nowhere else.
- Markup is not its job: `[bold]` is ordinary text. Widgets put text into Content/Text, never into a markup string.
- Cut streams at line ends before cleaning: a sequence cut in two leaves its (harmless) second half as text.
"""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"

_SEQUENCE = re.compile(
    # Its first character is one of a set, which makes the search fast.
    r"[\x1b\x90\x98\x9b\x9d\x9e\x9f](?:"
    r"(?:(?<=\x9b)|(?<=\x1b)\[)[0-?]*[ -/]*[@-~]?"  # CSI
    # OSC DCS SOS PM APC
    r"|(?:(?<=[\x9d\x90\x98\x9e\x9f])|(?<=\x1b)[\]PX^_])[^\x07\x18\x1a\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|(?<=\x1b)[ -/]*[0-~]?"  # two characters, charset choice, or a lone ESC
    r")"
)
_ESCAPED = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x18\x1a\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[0-~]?)"
)
"""The same where none of them begins with a single character of C1: with a fixed beginning it is found sooner."""
_OTHER_STARTS = re.compile(r"[\x90\x98\x9b\x9d\x9e\x9f]")
# What is asked of every character stays within the basic plane: only such sets are searched by a bitmap. Characters
# beyond it are looked for first, and then looked at by themselves.
_SEPARATORS = "\u2028\u2029"
_BROKEN = "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_BROKEN_BEYOND = "".join(chr(0x10000 * plane + end) for plane in range(1, 17) for end in (0xFFFE, 0xFFFF))
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi
    "\xad\u034f\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # zero width
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # letters and vowels that draw nothing
)
_HIDDEN_BEYOND = (
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # zero width, of shorthand and music
    "\U000e0000-\U000e0fff"  # tags and supplementary variation selectors
)
_JOINERS = "\u200c\u200d"
# Arabic to Sinhala, where joiners change the shape of letters; and what an emoji sequence is made of.
_JOINED = "\u0620-\u0dff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"

_PLAIN = bytes([9, 10, *range(32, 127)])
_BEYOND = re.compile("[\U00010000-\U0010ffff]+")
_DIRTY = re.compile(f"[{_HIDDEN}{_JOINERS}{_SEPARATORS}{_BROKEN}]")
_DIRTY_BEYOND = re.compile(f"[{_HIDDEN_BEYOND}{_BROKEN_BEYOND}]")
_HIDDEN_RUN = re.compile(f"[{_HIDDEN}]+")
_HIDDEN_BEYOND_RUN = re.compile(f"[{_HIDDEN_BEYOND}]+")
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")
_BROKEN_ONE = re.compile(f"[{_BROKEN}]")
_BROKEN_BEYOND_ONE = re.compile(f"[{_BROKEN_BEYOND}]")
_LOOSE_JOINER = re.compile(f"(?<![{_JOINED}])[{_JOINERS}]|[{_JOINERS}](?![{_JOINED}])")


def _is_clean(text: str) -> bool:
    if text.isascii():
        return text.isprintable() or not text.encode().translate(None, _PLAIN)
    if _DIRTY.search(text) is not None:
        return False
    return _DIRTY_BEYOND.search("".join(_BEYOND.findall(text))) is None


def clean(text: str) -> str:
    """Text of any number of lines; keeps newline and tab."""
    if _is_clean(text):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = (_ESCAPED if text.isascii() or _OTHER_STARTS.search(text) is None else _SEQUENCE).sub("", text)
    if _is_clean(text):
        return text
    text = _HIDDEN_RUN.sub("", text)
    if text.isascii():
        return text
    if _BEYOND.search(text) is not None:
        text = _HIDDEN_BEYOND_RUN.sub("", text)
        text = _BROKEN_BEYOND_ONE.sub(REPLACEMENT, text)
    text = _SEPARATOR.sub("\n", text)
    text = _BROKEN_ONE.sub(REPLACEMENT, text)
    # Last, because it looks at neighbours: by now they are the ones that stay.
    return _LOOSE_JOINER.sub("", text)


def clean_line(text: str, limit: int = 0) -> str:
    """One line: newlines inside are shown as ⏎ so that a second line is never hidden; `limit` caps it with a last …"""
    line = clean(text).strip()
    if "\n" in line or "\t" in line:
        line = line.replace("\n", "⏎").replace("\t", " ")
    if limit and len(line) > limit:
        line = line[: limit - 1].rstrip(" " + _JOINERS) + "…"
    return line


def decode(data: bytes) -> str:
    """UTF-8 with U+FFFD for what is not: no surrogate ever comes out, whatever went in. Decodes only; then `clean`."""
    return data.decode("utf-8", "replace")
