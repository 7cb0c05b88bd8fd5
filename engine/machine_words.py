"""How the machine says what is wrong with it: error numbers, and the words of git and the standard library."""

from __future__ import annotations

import errno
import os

from engine.core.model import MachineFault

ERRNOS = {
    errno.ENOSPC: MachineFault.DISK_FULL,
    errno.EDQUOT: MachineFault.DISK_FULL,
    errno.EIO: MachineFault.STORE_FAULT,
    errno.EROFS: MachineFault.STORE_FAULT,
    errno.ENOMEM: MachineFault.NO_MEMORY,
    errno.EAGAIN: MachineFault.NO_PROCESSES,
    errno.EMFILE: MachineFault.NO_DESCRIPTORS,
    errno.ENFILE: MachineFault.NO_DESCRIPTORS,
}
WORDS = (
    *((os.strerror(number), fault) for number, fault in ERRNOS.items()),
    ("can't start new thread", MachineFault.NO_PROCESSES),
    ("out of memory", MachineFault.NO_MEMORY),
    ("failed to map segment", MachineFault.NO_MEMORY),
)
"""How git and the standard library say it."""


def fault_in(text: str) -> MachineFault | None:
    return next((fault for words, fault in WORDS if words in text), None)
