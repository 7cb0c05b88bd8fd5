"""Where in a TOML text each key stands: tomllib does not say. Reads only texts that tomllib has read before."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
Place = tuple[int, int]
"""Line and column, from 1."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'  # multi-line basic
    r"|'''.*?'{3,5}"  # multi-line literal
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]*")


def locate(text: str) -> dict[Path, Place]:
    """The place of every table, key, list item and inline member."""
    scan = _Scan(text)
    scan.document()
    return {path: _place(text, offset) for path, offset in scan.found.items()}


def nearest(places: dict[Path, Place], path: Path) -> Place:
    """The place of a key, or of what holds it; (0, 0) for the file as a whole."""
    while path:
        if path in places:
            return places[path]
        path = path[:-1]
    return (0, 0)


def _place(text: str, offset: int) -> Place:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}
        """Tables seen so far in each array of tables."""

    def document(self) -> None:
        table: Path = ()
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return
            start = self.at
            if self.text.startswith("[", start):
                table = self._header(start)
            else:
                self._member(table)

    def _header(self, start: int) -> Path:
        array = self.text.startswith("[[", start)
        self.at += 2 if array else 1
        path = self._resolved(self._key(), start)
        if array:
            number = self.lengths.get(path, 0)
            self.lengths[path] = number + 1
            self.found.setdefault(path, start)
            path = (*path, number)
        self.found.setdefault(path, start)
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end
        return path

    def _resolved(self, key: list[str], start: int) -> Path:
        """A header's key, with the number of the table it stands in: [a.b] after [[a]] means a, last, b."""
        path: Path = ()
        for part in key[:-1]:
            path = (*path, part)
            self.found.setdefault(path, start)
            if path in self.lengths:
                path = (*path, self.lengths[path] - 1)
        return (*path, key[-1])

    def _member(self, table: Path) -> None:
        start = self.at
        path = table
        for part in self._key():
            path = (*path, part)
            self.found.setdefault(path, start)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_SPACE)
            match = _STRING.match(self.text, self.at) or _BARE.match(self.text, self.at)
            if match is None:
                raise ValueError(f"no key at offset {self.at}")
            word = match.group()
            parts.append(_plain(word) if word[0] in "\"'" else word)
            self.at = match.end()
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        self.found.setdefault(path, self.at)
        opening = self.text[self.at : self.at + 1]
        if opening == "[":
            self._many(path, "]")
        elif opening == "{":
            self._many(path, "}")
        else:
            self._skip(_STRING if opening and opening in "\"'" else _SCALAR)

    def _many(self, path: Path, closing: str) -> None:
        self.at += 1
        number = 0
        while True:
            self._skip(_BLANK)
            if self.text.startswith(closing, self.at):
                self.at += 1
                return
            if self.at >= len(self.text):
                raise ValueError("the text ends inside a value")
            if self.text.startswith(",", self.at):
                self.at += 1
            elif closing == "}":
                self._member(path)
            else:
                self._value((*path, number))
                number += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()


def _plain(word: str) -> str:
    if word[0] == "'":
        return word[1:-1]
    escapes = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}

    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] in "uU" else escapes.get(code, code)

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", one, word[1:-1])
