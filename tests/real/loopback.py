"""A network of our own that has loopback and nothing else: what a CLI tries to reach beyond it is not there."""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct

_NEW_NETWORK = 0x40000000
_SET_FLAGS = 0x8914
_UP_AND_RUNNING = 0x41


def enter() -> str:
    """Move this process, and all it starts from now on, there. Gives the reason where the machine forbids it."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_NETWORK) != 0:
        return f"no network of our own: error {ctypes.get_errno()} of unshare, which root may call"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as lever:
        fcntl.ioctl(lever, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
    return ""
