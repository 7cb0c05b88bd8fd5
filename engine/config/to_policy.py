"""The part of the configuration that the core decides by."""

from __future__ import annotations

from typing import TypeVar

from engine.config.base import Section
from engine.config.sections import Config
from engine.core.model import Rung, Struct
from engine.core.policy import (
    BreakerPolicy,
    BudgetPolicy,
    CheckpointPolicy,
    GatePolicy,
    LadderPolicy,
    LimitPolicy,
    MonitorPolicy,
    Policy,
    RetryPolicy,
    TimeoutPolicy,
)

Part = TypeVar("Part", bound=Struct)
NO_BOUND_USD = 1e9
"""Stands for no limit in money: the journal's JSON has no infinity."""


def to_policy(config: Config) -> Policy:
    """The policy a run is frozen with. A setting of the same name needs no line here; the others say what they are."""
    loop, budget, retry, breaker = config.task_loop, config.budget, config.error_recovery, config.circuit_breaker
    unbound = {} if loop.cost_tracking else {"session_usd": NO_BOUND_USD, "day_usd": NO_BOUND_USD}
    ladder = config.ladder
    return _taken(
        Policy,
        loop,
        lanes=config.lanes,
        auto_land=config.auto_land,
        ladder=_taken(
            LadderPolicy,
            ladder,
            rungs=tuple(_taken(Rung, rung) for rung in ladder.rungs),
            failures=ladder.failures or (2,) * (len(ladder.rungs) - 1) + (3,),
        ),
        budget=_taken(BudgetPolicy, budget, **unbound),
        limits=_taken(LimitPolicy, config.limits),
        retry=_taken(
            RetryPolicy,
            retry,
            attempts=retry.max_attempts,
            delay_seconds=retry.initial_delay_seconds,
            multiplier=retry.backoff_multiplier,
        ),
        breaker=_taken(
            BreakerPolicy, breaker, threshold=breaker.failure_threshold, reset_seconds=breaker.reset_timeout_seconds
        ),
        gates=_taken(GatePolicy, config.gates, lease_seconds=config.gates.lease_hours * 3600.0),
        timeouts=_taken(TimeoutPolicy, config.timeouts),
        monitor=_taken(
            MonitorPolicy,
            config.monitor,
            auto_rollback=config.rollback.enabled,
            rollback_checks=config.rollback.checks,
            rollback_search=config.rollback.max_commits_to_search,
        ),
        checkpoints=_taken(
            CheckpointPolicy,
            config.checkpoints,
            interval_seconds=config.checkpoints.interval_minutes * 60,
            baselines=config.baselines.at,
        ),
    )


def _taken(kind: type[Part], section: Section, **named: object) -> Part:
    """A part of the policy: fields by their name in a section, or as given; one that nobody feeds is an error."""
    fields = kind.__struct_fields__
    return kind(**{name: named[name] if name in named else getattr(section, name) for name in fields})
