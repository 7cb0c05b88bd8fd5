"""The `devteam` command. Errors become words and an exit code; a traceback never reaches the user."""

from __future__ import annotations

import gc
import io
import os
import sys

_PLAIN_STATUS = (["status"], ["status", "--json"])
_YOUNG_OBJECTS = 20_000
"""So many new objects before the first look for cycles. Python's own 700 has the dashboard spend a sixth of its time on
looking: a frame makes thousands of objects that need none."""


def main() -> None:
    """Entry point of the console script."""
    from tui.cli.safe_path import safe_programs

    os.environ["PATH"] = safe_programs(os.environ.get("PATH", os.defpath))
    gc.set_threshold(_YOUNG_OBJECTS, 20, 50)
    if sys.argv[1:] == ["--version"]:
        from engine import VERSION

        sys.stdout.write(f"devteam {VERSION}\n")
        return
    _open_missing_streams()
    code: object = 0
    try:
        if sys.argv[1:] in _PLAIN_STATUS:
            _status(sys.argv[2:])
        else:
            code = _parsed()
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  boundary: whatever happens, the user gets words
        code = _told(error)
    sys.exit(code if isinstance(code, int) else 0)


def _status(options: list[str]) -> None:
    """typer brings pydantic to convert the options of the command it runs: more than all the rest of a status."""
    from tui.cli.status import show

    show("", "--json" in options)


def _parsed() -> object:
    from tui.cli.app import app

    # Without standalone mode an Exit is not raised but returned, as its code.
    return app(sys.argv[1:] or ["--help"], prog_name="devteam", standalone_mode=False)


def _open_missing_streams() -> None:
    """Started with closed streams (devteam … <&- >&-), nothing is read and words go nowhere instead of failing; their
    descriptors are no other file's. What a terminal's encoding does not have is shown as a question mark."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123  open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _told(error: BaseException) -> int:
    """Say an error in words; the exit code."""
    from engine.link.user_errors import as_user_error

    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, KeyboardInterrupt | EOFError):
        return 130
    if isinstance(error, OSError):
        # stdout may be what failed (full disk, a reader that left): what is buffered must not fail again at exit.
        from tui.cli.printing import hush

        hush()
        if isinstance(error, BrokenPipeError):
            return 0
    code = getattr(error, "exit_code", None)
    show = getattr(error, "show", None)
    if isinstance(code, int):
        if callable(show):
            show()
        return 4 if code == 2 else code
    told = as_user_error(error)
    if told is None:
        return _unexpected(error)
    sys.stderr.write(f"devteam: {told}\n")
    if told.hint:
        sys.stderr.write(f"  → {told.hint}\n")
    return told.code


def _unexpected(error: BaseException) -> int:
    import tempfile
    import traceback

    sys.stderr.write(f"devteam: this is a bug in devteam: {type(error).__name__}: {error}\n")
    try:
        with tempfile.NamedTemporaryFile("w", prefix="devteam-crash-", suffix=".txt", delete=False) as file:
            traceback.print_exception(error, file=file)
        sys.stderr.write(f"  → the details are in {file.name}; nothing recorded is lost\n")
    except OSError as full:
        sys.stderr.write(f"  → the details could not be written ({full}); nothing recorded is lost\n")
    return 1


if __name__ == "__main__":
    from tui.cli.safe_path import make_safe

    make_safe(os.curdir)  # before anything else is imported: `python -m` looks into the working folder first
    main()
