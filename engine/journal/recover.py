"""Restores a damaged journal: the last good backup, then every event that can still be read and fits the chain.

The damaged file is kept. Nothing is re-created silently: what was done is a report in words, and where nothing can be
restored, nothing is touched and a named error says so.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import msgspec

from engine.journal import replace, schema
from engine.journal.backup import backups, open_unchanging, verify_file
from engine.journal.carve import carve, contiguous
from engine.journal.journal_errors import JournalCorrupt, JournalNotADatabase
from engine.journal.rows import Row
from engine.journal.verify import Damage, Head, check

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.journal.mark import Mark

_MAGIC = b"SQLite format 3\0"


class RecoveryReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was wrong, what was done and what it cost."""

    reason: str
    kept_aside: Path | None
    """The damaged file; None where the file was gone."""
    backup: Path | None
    from_backup: int
    salvaged: int
    """Events read from the damaged file beyond the backup."""
    lost: int
    """Acknowledged events known to be gone; 0 where none are known to be."""

    @property
    def events(self) -> int:
        return self.from_backup + self.salvaged

    def words(self) -> str:
        parts = [f"The journal was damaged: {self.reason}."]
        source = f"{self.from_backup} from the backup {self.backup}, " if self.backup else ""
        parts.append(f"{self.events} events are restored ({source}{self.salvaged} read from the damaged file).")
        if self.lost:
            parts.append(f"{self.lost} acknowledged events could not be read and are lost.")
        if self.kept_aside:
            parts.append(f"The damaged file is kept as {self.kept_aside}.")
        return " ".join(parts)


class _Base(msgspec.Struct):
    path: Path | None = None
    head: Head = msgspec.field(default_factory=Head)


def recover(journal: Path, backup_dir: Path, mark: Mark | None, reason: str, stamp: str) -> RecoveryReport:
    """Restore the journal, which nobody may have open. Raises JournalCorrupt, having changed nothing."""
    found = carve(journal)
    base = _last_good(backup_dir)
    rows = contiguous(found, base.head.seq, base.head.chain)
    # The file itself may go further than a backup of another history, as after a folder was put back by hand.
    alone = contiguous(found) if base.path else rows
    if len(alone) > base.head.seq + len(rows):
        base, rows = _Base(), alone
    end = rows[-1] if rows else None
    reached = end.seq if end else base.head.seq
    if reached == 0 and base.path is None and (mark is None or mark.seq > 0):
        raise _hopeless(journal, backup_dir, reason, mark)
    existed = journal.exists()
    kept = replace.install(journal, _build(journal, base.path, rows), _free_label(journal, stamp))
    return RecoveryReport(
        reason=reason,
        kept_aside=kept if existed else None,
        backup=base.path,
        from_backup=base.head.seq,
        salvaged=len(rows),
        lost=max(0, mark.seq - reached) if mark else 0,
    )


def refuse_older(backup_dir: Path, head: Head, connection: apsw.Connection) -> None:
    """A journal that was put back to an older state than its backup is restored like a damaged one. Raises Damage."""
    if _goes_further(backup_dir, head):
        connection.close()
        raise Damage("it is older than its own backup")


def _goes_further(backup_dir: Path, head: Head) -> bool:
    """Whether the newest backup has all of this history and more."""
    newest = next(iter(backups(backup_dir)), None)
    if newest is None:
        return False
    with contextlib.suppress(apsw.Error, OSError), contextlib.closing(open_unchanging(newest)) as backup:
        last = backup.execute("SELECT max(seq) FROM event").get
        if not isinstance(last, int) or last <= head.seq:
            return False
        chain = backup.execute("SELECT chain FROM event WHERE seq = ?", (head.seq,)).get
        return head.seq == 0 or chain == head.chain
    return False


def _last_good(folder: Path) -> _Base:
    for path in backups(folder):
        with contextlib.suppress(Damage):
            return _Base(path=path, head=verify_file(path))
    return _Base()


def _build(journal: Path, base: Path | None, rows: Iterable[Row]) -> Path:
    made = replace.making(journal)
    try:
        if base is None:
            schema.create(made)
        else:
            source = open_unchanging(base)
            replace.copy(source, made)
            source.close()
        connection = apsw.Connection(str(made))
        try:
            connection.execute("BEGIN")
            connection.executemany(schema.INSERT, rows)
            connection.execute("DELETE FROM snapshot")
            connection.execute("COMMIT")
            check(connection)
        finally:
            connection.close()
    except BaseException:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)
        raise
    return made


def _free_label(journal: Path, stamp: str) -> str:
    label, number = f"corrupt-{stamp}", 2
    while replace.beside(journal, f".{label}").exists() or replace.beside(journal, f".{label}-wal").exists():
        label, number = f"corrupt-{stamp}-{number}", number + 1
    return label


def _hopeless(journal: Path, backup_dir: Path, reason: str, mark: Mark | None) -> JournalCorrupt:
    with contextlib.suppress(OSError), journal.open("rb") as file:
        if file.read(16) not in (_MAGIC, b""):
            return JournalNotADatabase(
                f"{journal} is not a devteam journal, and nothing in it reads like one. It was not touched.",
                f"Move it away and start again, or put a copy of the journal in its place (none is in {backup_dir}).",
            )
    count = f" {mark.seq} events had been recorded." if mark else ""
    return JournalCorrupt(
        f"The journal {journal} cannot be restored: {reason}; no event can be read and there is no backup.{count}"
        " Nothing was deleted.",
        f"Put a copy of {journal.name} back, or, to begin a new journal, move {journal.name}* out of {journal.parent}.",
    )
