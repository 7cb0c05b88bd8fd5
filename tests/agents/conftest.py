"""A spawner, and agent calls on a small clone, for every adapter."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.core.model import Role
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import AgentCall
from tests.patience import patience

FAKES = Path(__file__).parent / "fake_clis"
NOW = 1794850000.0
"""2026-11-16 17:26:40 UTC."""

MakeCall = Callable[..., AgentCall]


@pytest.fixture
def spawner(tmp_path: Path) -> ProcessSpawner:
    home = tmp_path / "user-home"
    home.mkdir()
    return ProcessSpawner(
        "none", f"test-{os.getpid()}-{time.time_ns()}", time.monotonic, home=home, scratch=tmp_path / "s"
    )


@pytest.fixture
def make_call(tmp_path: Path) -> MakeCall:
    for name in ("checkout", "clone", "home", "scratch", "user-home"):
        (tmp_path / name).mkdir(exist_ok=True)

    def make(prompt: str = "DO: ok", **more: Any) -> AgentCall:
        base: dict[str, Any] = {
            "effect": "e1",
            "role": Role.IMPLEMENTER,
            "model": "m1",
            "prompt": prompt,
            "timeout": patience(30.0),
            "idle_timeout": patience(20.0),
            "checkout": tmp_path / "checkout",
            "clone": tmp_path / "clone",
            "home": tmp_path / "home",
            "scratch": tmp_path / "scratch",
            "log": tmp_path / "logs" / "e1.log",
            "env": {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "user-home"), "CODEX_API_KEY": "dummy-key-0123"},
        }
        return AgentCall(**{**base, **more})

    return make


@pytest.fixture(scope="session")
def fake_programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Executable wrappers of the fake CLIs, by name."""
    folder = tmp_path_factory.mktemp("bin")
    made: dict[str, str] = {}
    for name in ("claude", "codex", "gemini", "acp", "command"):
        program = folder / name
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -S "{FAKES / f"fake_{name}.py"}" "$@"\n', encoding="utf-8"
        )
        program.chmod(0o755)
        made[name] = str(program)
    return made
