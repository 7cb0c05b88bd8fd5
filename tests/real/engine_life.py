"""One engine as a process of its own, to be killed from outside: python -m tests.real.engine_life FOLDER HOME"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from engine.clock import SystemClock
from engine.plans.sprints import list_sprints
from engine.project import open_project
from engine.session import Session
from engine.session_options import Options


async def live(folder: Path, home: Path) -> None:
    project = open_project(folder, dict(os.environ), home)
    options = Options(attended=False, trust="all")
    async with Session.open(project, list_sprints(folder)[-1], SystemClock(), options) as session:
        await session.run()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), Path(sys.argv[2])))
