"""The `devteam` command. Errors become words and an exit code; a traceback never reaches the user."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point of the console script."""
    if sys.argv[1:] == ["--version"]:
        from engine import VERSION

        sys.stdout.write(f"devteam {VERSION}\n")
        return
    _open_missing_streams()
    from tui.cli.app import app

    try:
        # Without standalone mode an Exit is not raised but returned, as its code.
        code = app(sys.argv[1:] or ["--help"], prog_name="devteam", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  boundary: whatever happens, the user gets words
        code = _told(error)
    sys.exit(code if isinstance(code, int) else 0)


def _open_missing_streams() -> None:
    """Started with a closed stdout or stderr (devteam … >&-), words go nowhere instead of failing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123  open as long as the process


def _told(error: BaseException) -> int:
    """Say an error in words; the exit code."""
    from engine.link.errors import as_user_error

    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, KeyboardInterrupt | EOFError):
        return 130
    if isinstance(error, BrokenPipeError):
        from tui.cli.say import hush

        hush()
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

    with tempfile.NamedTemporaryFile("w", prefix="devteam-crash-", suffix=".txt", delete=False) as file:
        traceback.print_exception(error, file=file)
    sys.stderr.write(f"devteam: this is a bug in devteam: {type(error).__name__}: {error}\n")
    sys.stderr.write(f"  → the details are in {file.name}; nothing recorded is lost\n")
    return 1


if __name__ == "__main__":
    main()
