"""Puts another file in the journal's place, in steps that a crash cannot leave half done, and keeps the old one.

The new file is made whole and synced under `NAME.next-LABEL` first. From then on every step can be repeated: the old
file, its log and its index are linked to `NAME.LABEL`, the log is taken away (it would be played into the new file),
and the new file takes the name. `finish` is called at every start and repeats what a crash cut short.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from engine import files
from engine.journal import schema
from engine.journal.journal_errors import JournalBroken
from engine.journal.verify import Damage, check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SUFFIXES = ("", "-wal", "-shm")


def beside(journal: Path, ending: str) -> Path:
    return journal.with_name(journal.name + ending)


def making(journal: Path) -> Path:
    """A name to build a new file under; what a crash left there is cleared first."""
    path = beside(journal, ".making")
    for suffix in (*SUFFIXES, "-journal"):
        beside(path, suffix).unlink(missing_ok=True)
    return path


def install(journal: Path, made: Path, label: str) -> Path:
    """`made` becomes the journal; returns where the old one is kept."""
    files.sync(made)
    made.replace(beside(journal, f".next-{label}"))
    files.sync(journal.parent)
    finish(journal)
    return beside(journal, f".{label}")


def finish(journal: Path) -> None:
    """Complete a replacement; without one, nothing happens."""
    for new in sorted(journal.parent.glob(f"{journal.name}.next-*")):
        aside = beside(journal, "." + new.name.removeprefix(f"{journal.name}.next-"))
        for suffix in SUFFIXES:
            _keep(beside(journal, suffix), beside(aside, suffix))
        files.sync(journal.parent)
        for suffix in SUFFIXES[1:]:
            beside(journal, suffix).unlink(missing_ok=True)
        files.sync(journal.parent)
        new.replace(journal)
        files.sync(journal.parent)


def _keep(old: Path, aside: Path) -> None:
    if not old.exists() or aside.exists():
        return
    try:
        os.link(old, aside)
    except OSError:  # a file system without hard links
        shutil.copy2(old, aside)
        files.sync(aside)


def copy(source: apsw.Connection, target: Path) -> None:
    """A consistent copy of an open journal in one synced file, whatever the log holds."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    connection = apsw.Connection(str(target))
    try:
        with connection.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(2000)
        connection.pragma("journal_mode", "delete")
    finally:
        connection.close()
    files.sync(target)


def migrate(
    journal: Path,
    connection: apsw.Connection,
    steps: Mapping[int, Callable[[apsw.Connection], None]],
    target: int = schema.FORMAT,
    *,
    stamp: str,
) -> Path:
    """Bring an older journal to format `target` on a copy that then takes its place; returns where the old one is kept.

    The connection is closed. A step that fails leaves the journal as it was.
    """
    made = making(journal)
    try:
        number, _ = schema.formats(connection)
        start = number
        copy(connection, made)
        connection.close()
        new = apsw.Connection(str(made))
        try:
            new.execute("BEGIN IMMEDIATE")
            while number < target:
                steps[number](new)
                number += 1
                schema.set_format(new, number)
            new.execute("COMMIT")
            check(new)
        except Damage as damage:
            raise JournalBroken(
                f"The journal {journal} of format {start} could not be brought to format {target}: {damage}.",
                "Nothing was changed: use the devteam version that wrote it, and report this.",
            ) from damage
        finally:
            new.close()
    except BaseException:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)
        raise
    return install(journal, made, f"format-{start}-{stamp}")
