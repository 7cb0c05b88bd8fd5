"""Hands a file to the user's editor or pager while the dashboard steps aside.

The one process the interface starts itself: the user's own program, in the user's own terminal. It is no part of a
run, so the engine's process room (sandbox, limits, draining) has nothing to do with it.
"""

from __future__ import annotations

import os
import shlex


def run_in_foreground(argv: list[str]) -> int:
    """Start the program, wait for it, return its exit status; 127 when there is no such program."""
    return os.spawnvp(os.P_WAIT, argv[0], argv)  # noqa: S606


def command_for(program: str, path: str) -> list[str]:
    """The command line for a file. The program may bring its own arguments ("code --wait")."""
    return [*shlex.split(program), path]
