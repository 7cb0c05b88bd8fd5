"""A dashboard ends with its terminal, also where no signal tells it: under setsid, nohup, without a controlling one.

Without a terminal Textual's reader turns in circles at the end of its input and its writer blocks everything for ever.
"""

from __future__ import annotations

import os
import select
import stat
import threading
from collections.abc import Callable

GRACE = 5.0
"""Seconds to leave in order. A screen that is blocked by its own writer cannot, and holds nothing worth waiting for."""
HUNG_UP = 129
"""As the shell calls what a hangup ended."""


def end_with_terminal(fd: int, leave: Callable[[], object]) -> None:
    """Ask to leave when the terminal behind `fd` is gone; end by force where nobody can answer.

    One that is gone already calls itself no terminal any more: it is known by being a device at all."""
    if not stat.S_ISCHR(os.fstat(fd).st_mode):
        return
    threading.Thread(target=_wait, args=(fd, leave), name="terminal-life", daemon=True).start()


def _wait(fd: int, leave: Callable[[], object]) -> None:
    poll = select.poll()
    poll.register(fd, 0)  # nothing asked for: hangup and error are always said
    if not any(events & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, events in poll.poll()):
        return
    try:
        leave()
        threading.Event().wait(GRACE)
    finally:  # whatever the screen says to it, in whatever state it is
        os._exit(HUNG_UP)
