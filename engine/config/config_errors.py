"""How a configuration is refused: all errors at once, each with its place and what to type."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.core.model import Struct

SECRET_KEY = re.compile(
    r"api[_-]?key|(?:^|[_-])(?:secret|password|passwd|token|credentials?)$|secret[_-]?key|private[_-]?key|access[_-]?key",
    re.IGNORECASE,
)
SECRET_VALUE = re.compile(
    r"\bsk-[A-Za-z0-9_-]{16,}|\bgh[opsu]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[\w-]{30,}|\bxox[abeoprs]-[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}"
)


class ConfigError(Struct, frozen=True, kw_only=True):
    """One thing wrong with the configuration."""

    source: str
    line: int = 0
    column: int = 0
    key: str = ""
    """Dotted, as in `budget.session_usd`."""
    what: str
    expected: str = ""
    fix: str = ""
    """What to type."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line, self.column) if part)
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"{place}: {self.what}{expected}" + (f"\n    type: {self.fix}" if self.fix else "")


class ConfigRefused(Exception):  # noqa: N818 - ConfigError is one error, this is the refusal with all of them
    """A configuration no run may start with; `errors` is never empty."""

    def __init__(self, errors: Iterable[ConfigError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


def shown(value: object) -> str:
    """A value as the user typed it, short, and never a secret."""
    if isinstance(value, bool):
        return str(value).lower()
    text = f'"{value}"' if isinstance(value, str) else str(value)
    if SECRET_VALUE.search(text):
        return "…"
    return text if len(text) <= 60 else text[:59] + "…"
