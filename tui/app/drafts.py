"""What was written and not yet taken by the engine: kept in a file while it is typed, so that no way of leaving loses
it. Every call reads the file first, because two dashboards may look at one repository."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine import files

NAME = "drafts.json"
REQUEST = "request"
"""The key of a new request; every other one begins with its sprint."""
MOST = 50
"""Drafts that are kept; the oldest go first."""


class Drafts:
    """Texts by key; without a file they last as long as the dashboard."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._texts: dict[str, str] = {}
        self.problem = ""
        """Why the last change could not be kept in the file."""

    def get(self, key: str) -> str:
        return self._read().get(key, "")

    def keep(self, key: str, text: str) -> None:
        """Keep a text; nothing but blanks is no text."""
        texts = self._read()
        if (text if text.strip() else "") == texts.get(key, ""):
            return
        texts.pop(key, None)
        if text.strip():
            texts[key] = text
        self._write(dict(list(texts.items())[-MOST:]))

    def drop(self, key: str) -> None:
        """The engine has it."""
        self.keep(key, "")

    def _read(self) -> dict[str, str]:
        if self._path is not None and not self.problem:
            try:
                self._texts = msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
            except FileNotFoundError:
                self._texts = {}
            except (OSError, msgspec.DecodeError):
                pass  # a file that cannot be read is written anew from what is known here
        return dict(self._texts)

    def _write(self, texts: dict[str, str]) -> None:
        self._texts, self.problem = texts, ""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            files.write(self._path, msgspec.json.encode(texts), durable=False)
        except OSError as error:
            self.problem = f"{self._path} cannot be written: {error.strerror}"
