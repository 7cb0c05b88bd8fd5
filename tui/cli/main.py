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
    from tui.cli.app import app

    try:
        app(standalone_mode=False)
    except BaseException as error:  # noqa: BLE001  boundary: whatever happens, the user gets words
        sys.exit(_told(error))


def _told(error: BaseException) -> int:
    """Say an error in words; the exit code."""
    from engine.link.errors import as_user_error

    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, KeyboardInterrupt | EOFError):
        return 130
    if isinstance(error, BrokenPipeError):
        # The reader went away (devteam log | head): point stdout elsewhere so that the exit is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
