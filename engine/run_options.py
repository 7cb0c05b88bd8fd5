"""What a run is given: its options, who performs its effects, who looks on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from engine.core import events as ev
from engine.core.effects import AnyEffect
from engine.core.forecast import PastTask
from engine.core.index_ladder import RungStats
from engine.core.model import Disputed, Struct
from engine.core.planning_state import Until
from engine.core.policy import Policy
from engine.core.state import State


class Performer(Protocol):
    """Turns an effect into facts. Raises PerformError for what the engine's own part could not do."""

    async def perform(self, effect: AnyEffect, state: State) -> Sequence[ev.AnyEvent]: ...


class RunOptions(Struct, frozen=True, kw_only=True):
    """What a run is started with; recorded in RunStarted."""

    run: str
    pid: int
    policy: Policy
    attended: bool
    waits: bool = True
    sandbox: str = "none"
    version: str = ""
    utc_offset: float = 0.0
    max_iterations: int = 0
    day_spent_usd: float = 0.0
    recent_calls: tuple[float, ...] = ()
    measured: dict[str, RungStats] = {}
    config_hash: str = ""
    checks: tuple[str, ...] = ()
    until: Until = Until.SPRINT
    history: tuple[PastTask, ...] = ()
    disputed: dict[str, Disputed] = {}
    boot: str = ""
    booted_at: float = 0.0
    last_sign: float = 0.0
    """When the engine of a run that was cut off was last alive; 0: only its facts tell."""


Boundary = Callable[[str, AnyEffect], None]
Observer = Callable[[Sequence[ev.Envelope], State], object]
