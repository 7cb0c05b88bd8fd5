"""Where our own processes import from and find programs: never the repository at hand, whatever the environment says.

`bin/devteam` starts isolated. This is for `python -m tui.cli.main`, and for the interpreters we start ourselves. It is
loaded before the path is safe, so it may import nothing that the interpreter has not loaded at its start.
"""

from __future__ import annotations

import os
import sys

OWN_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder that `tui` and `engine` lie in."""

_START = "import sys; sys.path[:] = sys.argv.pop(1).split({sep!r}); from {module} import main; main()"


def make_safe(start: str) -> None:
    """Take the repository around `start` off the module path of this process."""
    if not sys.flags.isolated:
        sys.path[:] = safe_path(sys.path, start)


def safe_path(entries: list[str], start: str) -> list[str]:
    """The entries that are not the repository's: absolute, and outside it unless they belong to the interpreter."""
    try:
        top = _repository(os.path.realpath(start))
    except FileNotFoundError:  # the working folder is gone, and nothing can be imported from it
        return [entry for entry in entries if os.path.isabs(entry)]
    return [entry for entry in entries if os.path.isabs(entry) and (_ours(entry) or not _inside(entry, top))]


def safe_programs(path: str) -> str:
    """PATH without its relative folders: with `.` in it the git and the python3 of the repository would be ours."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep))) or os.defpath


def own_program(module: str, *args: str, start: str) -> list[str]:
    """The command that runs `module.main()` in an isolated interpreter: no PYTHON* variable, no working folder."""
    path = os.pathsep.join(safe_path(sys.path, start))
    return [sys.executable, "-I", "-c", _START.format(sep=os.pathsep, module=module), path, *args]


def own_command(*args: str) -> list[str]:
    """`devteam ARGS` for who calls us later and from anywhere: the installed program, else this interpreter."""
    installed = os.path.join(os.path.dirname(sys.executable), "devteam")
    if os.path.isfile(installed):
        return [installed, *args]
    return own_program("tui.cli.main", *args, start=os.path.expanduser("~"))


def _ours(entry: str) -> bool:
    """Our own packages, and what belongs to this interpreter: a virtual environment may lie in the repository."""
    real = os.path.realpath(entry)
    if real == os.path.realpath(OWN_ROOT):
        return True
    # Only PREFIX/lib/python*: a repository may lie under a prefix too (/usr/src/app).
    homes = (sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.expanduser("~/.local"))
    for prefix in homes:
        base = os.path.realpath(prefix).rstrip("/") + "/"
        parts = real.removeprefix(base).removeprefix("local/").split("/")
        own = len(parts) > 1 and parts[0] in ("lib", sys.platlibdir) and parts[1].startswith("python")
        if own and real.startswith(base):
            return True
    return False


def _inside(entry: str, folder: str) -> bool:
    real = os.path.realpath(entry)
    return real == folder or real.startswith(folder.rstrip("/") + "/")


def _repository(start: str) -> str:
    """The nearest folder with a .git above `start`; without one, `start` itself."""
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent
    return folder
