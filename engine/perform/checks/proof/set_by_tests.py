"""Variables of the environment that the tests set, and that the change is the first of the program to read. Pure.

A script that looks at what only the runner of its tests exports behaves where it is judged, and nowhere else. Text
only, so that every language is read alike; it only asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.core.grants import Rule
from engine.perform.checks.proof.narrow import Narrow, Source

_SET = re.compile(
    r"""(?:^|[\s;&("'])export\s+([A-Za-z_]\w{2,})(?:=|\s|$)|^\s*([A-Z_][A-Z0-9_]{2,})=\S*\s+\S|\benv\s+([A-Z_]\w{2,})="""
    r"""|\benviron(?:\[|\.setdefault\(|\.update\(\{)\s*["'](\w{3,})["']|\b(?:set|put)env\(\s*["'](\w{3,})["']"""
    r"""|\bprocess\.env\.(\w{3,})\s*=(?!=)|\bprocess\.env\[["'](\w{3,})["']\]\s*=(?!=)""",
    re.IGNORECASE | re.MULTILINE,
)
_ORDINARY = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PWD", "USER", "TERM", "SHELL", "COLUMNS"})


def set_by_tests(
    changed: Sequence[Source], others: Iterable[bytes], tests: Mapping[str, bytes], words: str
) -> Iterator[Narrow]:
    """`others`: the program's other sources; `tests`: the base's, with what helps them."""
    told = {
        name: path
        for path, text in tests.items()
        for groups in _SET.findall(text.decode("utf-8", "replace"))
        for name in groups
        if name and name not in _ORDINARY
    }
    if not told:
        return
    known = b"\n".join((*others, *(one.before or b"" for one in changed))).decode("utf-8", "replace")
    for one in changed:
        text = (one.after or b"").decode("utf-8", "replace")
        for name, path in told.items():
            word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            found = _read(name).search(text)
            if found is None or word.search(known) or word.search(words):
                continue
            line = text.count("\n", 0, found.start()) + 1
            said = f"reads {name}, which {path} sets for the tests and nothing else speaks of"
            yield Narrow(rule=Rule.DETECTS_TESTS, path=one.path, line=line, text=said)


def _read(name: str) -> re.Pattern[str]:
    word = re.escape(name)
    return re.compile(
        rf"\$\{{?[#!]?{word}(?!\w)|\bENV(?:IRON)?\[\s*[\"']{word}[\"']\s*\]|\$ENV\{{{word}\}}"
        rf"|\b(?:getenv|Getenv|LookupEnv|var|environ\.get|environ\[|env\.fetch)\(?\s*[\"']{word}[\"']"
        rf"|\bprocess\.env(?:\.{word}(?!\w)|\[[\"']{word}[\"']\])"
    )
