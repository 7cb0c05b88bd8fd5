"""The event log on SQLite: append, read, integrity, snapshots, backup, migration, and the lock of its one writer."""

from engine.journal.journal_errors import (
    EngineRunning,
    JournalBroken,
    JournalConflict,
    JournalCorrupt,
    JournalDenied,
    JournalError,
    JournalFull,
    JournalLocked,
    JournalMissing,
    JournalNotADatabase,
    JournalOnNetwork,
    JournalReadOnly,
    JournalTooNew,
    UnreadableEvent,
)
from engine.journal.lock import EngineLock, Holder
from engine.journal.log import Journal
from engine.journal.recover import RecoveryReport

__all__ = [
    "EngineLock",
    "EngineRunning",
    "Holder",
    "Journal",
    "JournalBroken",
    "JournalConflict",
    "JournalCorrupt",
    "JournalDenied",
    "JournalError",
    "JournalFull",
    "JournalLocked",
    "JournalMissing",
    "JournalNotADatabase",
    "JournalOnNetwork",
    "JournalReadOnly",
    "JournalTooNew",
    "RecoveryReport",
    "UnreadableEvent",
]
