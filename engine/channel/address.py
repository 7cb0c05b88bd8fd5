"""Where the channel is, and who may come: a socket file that only its owner can open."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

LONGEST = 100
"""Bytes of a path that every system takes for a socket; a longer one is reached through its folder. Nothing but the
path says where the socket is: who asks from another session, over ssh or from cron finds the same one."""
OPEN_FOLDERS = Path("/proc/self/fd")
_UCRED = struct.Struct("3i")


@contextlib.contextmanager
def reachable(path: Path) -> Iterator[str]:
    """A name short enough for the kernel, valid inside the block."""
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    if not OPEN_FOLDERS.is_dir():
        from tempfile import TemporaryDirectory  # for this user only; its name is short

        with TemporaryDirectory(prefix="devteam-", dir="/tmp") as short:
            (alias := Path(short) / "s").symlink_to(path.parent)
            yield str(alias / path.name)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield str(OPEN_FOLDERS / str(folder) / path.name)
    finally:
        os.close(folder)


def listening(path: Path) -> socket.socket:
    """A new socket at this place, for its owner only. The caller holds the engine's lock: an old one is dead."""
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            with reachable(path) as name:
                server.bind(name)
        finally:
            os.umask(before)
        server.listen(64)
        server.setblocking(False)
    except BaseException:
        server.close()
        raise
    return server


def connected(path: Path) -> socket.socket:
    """A connection to the engine that listens there. Raises OSError when none does."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with reachable(path) as name:
            client.connect(name)
    except BaseException:
        client.close()
        raise
    return client


def own_peer(peer: socket.socket, admitted: Callable[[int], bool] = lambda _pid: True) -> bool:
    """Whether the process at the other end is this user's, and one that may speak here.

    Where the system cannot say, the file's mode holds."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    pid, uid, _gid = _UCRED.unpack(peer.getsockopt(socket.SOL_SOCKET, option, _UCRED.size))
    return bool(uid == os.getuid()) and admitted(pid)
