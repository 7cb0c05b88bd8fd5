"""Adds the journals of this version to releases/: python -m tests.journal.make_release DATE

One of a sprint that is done, one whose engine died as the agent of the second task was called (test_releases.py)."""

from __future__ import annotations

import asyncio
import os
import sys
import tarfile
import tempfile
from pathlib import Path

from engine.clock import SystemClock
from engine.core.effects import AnyEffect, CallAgent
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

FOLDER = Path(__file__).with_name("releases")


async def live(place: Path, dies: bool) -> None:
    def boundary(where: str, effect: AnyEffect) -> None:
        if dies and where == "before" and isinstance(effect, CallAgent) and effect.task == "1.2":
            os._exit(0)

    sprint = small.make(place / "repo")
    project = small.project_of(place / "repo", place / "state")
    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, sprint, SystemClock(), options, boundary=boundary) as session:
        await session.run()


def main(date: str) -> None:
    for name, dies in (("half", True), ("whole", False)):
        with tempfile.TemporaryDirectory() as folder:
            child = os.fork()
            if not child:
                asyncio.run(live(Path(folder), dies))
                os._exit(0)
            os.waitpid(child, 0)
            with tarfile.open(FOLDER / f"{date}-{name}.tar.gz", "w:gz") as archive:
                archive.add(Path(folder) / "repo", ".")


if __name__ == "__main__":
    main(sys.argv[1])
