"""How the memory of a process that lives for days is kept: in one pool, whichever thread works."""

from __future__ import annotations

import contextlib

_ARENA_MAX = -8  # of malloc.h


def one_pool() -> None:
    """glibc gives each thread a pool of its own, and what is freed in it stays there: four idle threads held 20 MB
    after a day of attempts. Under Python's own lock they wait for each other anyway; other systems have one pool."""
    import ctypes

    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
