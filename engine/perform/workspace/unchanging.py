"""What is named by its content cannot change: a bounded memory of it, the oldest forgotten first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
Key = tuple[object, ...]
WEIGHT = 500_000
"""Rows that all that is kept may have together."""


class Kept(Generic[T]):
    """At most `most` values, and at most `rows` rows in them (one value may have more)."""

    def __init__(self, most: int, rows: int = WEIGHT) -> None:
        self._most = most
        self._rows = rows
        self._values: OrderedDict[Key, tuple[T, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> T | None:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: T, weight: int = 1) -> None:
        with self._lock:
            self._weight += weight - self._values.pop(key, (value, 0))[1]
            self._values[key] = (value, weight)
            while len(self._values) > self._most or (self._weight > self._rows and len(self._values) > 1):
                self._weight -= self._values.popitem(last=False)[1][1]

    def forget(self, key: Key) -> None:
        with self._lock:
            self._weight -= self._values.pop(key, (None, 0))[1]

    def newest(self, wanted: Callable[[Key], bool]) -> tuple[Key, T] | None:
        """What was asked for last among the keys that are wanted."""
        with self._lock:
            return next(((key, value) for key, (value, _) in reversed(self._values.items()) if wanted(key)), None)
