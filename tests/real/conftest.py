"""Fixtures of `make test-real`. A CLI that cannot be installed is reported at the end, not passed."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.perform.process.probe import probe
from tests.agents.fake_model_server import FakeModelServer
from tests.real import loopback
from tests.real.agents import CACHE, OVER_ACP, PACKAGES, PROBLEMS, RealAgent, build, install
from tests.real.loops import Loop
from tests.real.loops import make as make_loop

MakeLoop = Callable[[str], Loop]


def pytest_collection_finish(session: pytest.Session) -> None:
    """First everything is installed, then the network is taken away: the tests send to loopback only."""
    if not any(item.get_closest_marker("real") for item in session.items) or session.config.option.collectonly:
        return
    every = (*PACKAGES, *OVER_ACP)
    named = [name for name in every if any(name in item.nodeid for item in session.items)]
    for name in named or every:
        install(name)
    if reason := loopback.enter():
        PROBLEMS["network"] = reason


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for name, why in PROBLEMS.items():
        terminalreporter.write_line(f"NOT RUN: {name}: {why}")


@pytest.fixture(scope="session")
def model_server() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def best_mode() -> Any:
    place = CACHE / "real" / "probe"
    place.mkdir(parents=True, exist_ok=True)
    return asyncio.run(probe(scratch=place, home=place))


@pytest.fixture
def real_agent(model_server: FakeModelServer, best_mode: Any) -> Iterator[Callable[..., RealAgent]]:
    """`real_agent("codex")`: adapter and environment of one real CLI, on an empty clone, in the best sandbox."""
    made: list[Path] = []

    def make(name: str, mode: str = "") -> RealAgent:
        place = CACHE / "real" / f"{name}-{os.getpid()}-{time.time_ns()}"
        made.append(place)
        return build(name, place, model_server, mode or best_mode)

    yield make
    for place in made:
        if not os.environ.get("DEVTEAM_KEEP_REAL"):
            shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def real_loop(model_server: FakeModelServer) -> Iterator[MakeLoop]:
    """`real_loop("codex")`: a small repository whose whole ladder is one real CLI."""
    made: list[Path] = []

    def make(name: str) -> Loop:
        place = CACHE / "real" / f"loop-{name}-{os.getpid()}-{time.time_ns()}"
        made.append(place)
        return make_loop(name, place, model_server)

    yield make
    for place in made:
        if not os.environ.get("DEVTEAM_KEEP_REAL"):
            shutil.rmtree(place, ignore_errors=True)
