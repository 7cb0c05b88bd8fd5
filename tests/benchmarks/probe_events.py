"""A long history, in a process of its own: what it costs to write, to read, to say where it stands, and to show again.

    PYTHONPATH=TREE python probe_events.py EVENTS

`status_s` is reading and folding without a snapshot, as after an upgrade; `first_picture_s` is reading it all and the
first picture of a replay. CPU seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.core.fold import fold
from engine.core.state import State
from engine.journal import Journal
from engine.link.replay import ReplayLink
from tests.benchmarks.bench_journal import history


def probe(folder: Path, count: int) -> dict[str, Any]:
    def opened(read_only: bool = False) -> Journal:
        path = folder / "devteam.db"
        return Journal.open(path, clock=lambda: 1.8e9, backup_dir=folder / "backups", read_only=read_only)

    facts = history(count)
    begun = time.process_time()
    with opened() as journal:
        for at in range(0, count, 100):
            journal.append("s", facts[at : at + 100])
    wrote = time.process_time() - begun
    with opened(read_only=True) as journal:
        begun = time.process_time()
        envelopes = list(journal.read())
        read = time.process_time() - begun
        fold(envelopes, State())
        status = time.process_time() - begun
    begun = time.process_time()
    link = ReplayLink(envelopes, speed=1.0, at_end=False)
    asyncio.run(link.snapshot())
    picture = time.process_time() - begun
    return {
        "events": count,
        "append_us": round(wrote * 1e6 / count, 1),
        "read_s": round(read, 3),
        "status_s": round(status, 3),
        "fold_us": round((status - read) * 1e6 / count, 1),
        "first_picture_s": round(read + picture, 3),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(probe(Path(place), int(sys.argv[1]))))
