"""Small words about numbers, the same in reasons, reports and on screens."""

from __future__ import annotations


def plural(number: int, word: str) -> str:
    """1 task, 2 tasks."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
