"""An engine that lives for days keeps its memory in one pool, however many threads it has."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.ground import ROOT

CHILD = """
import asyncio, ctypes, sys, threading
from pathlib import Path
from engine.clock import SystemClock
from engine.session import Session
from engine.session_options import Options
from tests.engine import small

async def main(place):
    sprint = small.make(place / "repo")
    project = small.project_of(place / "repo", place / "state")
    async with Session.open(project, sprint, SystemClock(), Options(trust="all")):
        together = threading.Barrier(4)
        def work():
            together.wait()
            return [bytes(5_000) for _ in range(200)]
        await asyncio.gather(*(asyncio.to_thread(work) for _ in range(4)))
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    libc.fclose.argtypes = [ctypes.c_void_p]
    libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
    told = libc.fopen(bytes(place / "told"), b"w")
    libc.malloc_info(0, told)
    libc.fclose(told)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="no glibc")
def test_all_threads_of_an_engine_share_one_pool(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], check=True, cwd=ROOT)
    assert (tmp_path / "told").read_text().count("<heap nr=") == 1
