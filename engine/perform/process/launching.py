"""A command as it is given to the kernel: argv, environment, folder, and the limits it starts with."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.core.model import Struct
from engine.perform.process.placement import Place

OPEN_FILES = 65_536
ALONE = (sys.executable, "-I", "-S")
"""How a program of ours is run by itself: nothing of the environment, the folder or site-packages counts."""
ROOT = str(Path(__file__).parents[3])


def alone(module: str) -> tuple[str, ...]:
    """The command of a module whose `main` reads the words after it. It is imported, not run as a file: a file is
    compiled anew at each start, which costs more than all it does."""
    return (*ALONE, "-c", f"import sys; sys.path.append({ROOT!r}); from {module} import main; main()")


class Launch(Struct, frozen=True, kw_only=True):
    """The command as it is given to the kernel."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    places: tuple[Place, ...] = ()
    namespace: bool = False
    """The child makes a pid namespace: its first grandchild is the program."""


class CannotStartError(Exception):
    """The process cannot be started; the words go to the user."""


def limited(argv: Sequence[str], memory_bytes: int, mark: int) -> tuple[str, ...]:
    """Limits set by a shell that then becomes the program: no code between fork and exec, no moment without limits."""
    script = f"ulimit -c 0; ulimit -n {open_files()}; "
    if mark:
        # dash and bash have different letters for it; where it cannot be set (in a sandbox of another engine) the
        # variables have to do.
        script += f"{{ ulimit -w {mark} || ulimit -x {mark}; }} 2>/dev/null; "
    if memory_bytes:
        script += f"ulimit -v {max(1, memory_bytes // 1024)} || exit 126; "
    return ("/bin/sh", "-c", script + 'exec "$@"', "sh", *argv)


def open_files() -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
