"""The part of the configuration that the core decides by."""

from __future__ import annotations

from engine.config.sections import Config
from engine.core.model import Rung
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

NO_BOUND_USD = 1e9
"""Stands for no limit in money: the journal's JSON has no infinity."""


def to_policy(config: Config) -> Policy:
    """The policy a run is frozen with."""
    loop, budget, retry = config.task_loop, config.budget, config.error_recovery
    return Policy(
        max_iterations=loop.max_iterations,
        scope_retries=loop.scope_retries,
        stuck_detection=loop.stuck_detection,
        lanes=config.lanes,
        halt_conditions=loop.halt_conditions,
        ladder=_ladder(config),
        budget=BudgetPolicy(
            session_usd=budget.session_usd if loop.cost_tracking else NO_BOUND_USD,
            day_usd=budget.day_usd if loop.cost_tracking else NO_BOUND_USD,
            warn_percent=budget.warn_percent,
            low_percent=budget.low_percent,
            max_calls=budget.max_calls,
            max_seconds=budget.max_seconds,
        ),
        limits=LimitPolicy(
            calls_per_hour=config.limits.calls_per_hour, max_wait_seconds=config.limits.max_wait_seconds
        ),
        retry=RetryPolicy(
            attempts=retry.max_attempts,
            delay_seconds=retry.initial_delay_seconds,
            multiplier=retry.backoff_multiplier,
            jitter=retry.jitter,
        ),
        breaker=BreakerPolicy(
            enabled=config.circuit_breaker.enabled,
            threshold=config.circuit_breaker.failure_threshold,
            reset_seconds=config.circuit_breaker.reset_timeout_seconds,
        ),
        gates=GatePolicy(
            fix=config.gates.fix,
            task=config.gates.task,
            force_fix_at=config.gates.force_fix_at,
            detached=config.gates.detached,
            lease_seconds=config.gates.lease_hours * 3600.0,
        ),
        timeouts=TimeoutPolicy(
            implementation=config.timeouts.implementation,
            checks=config.timeouts.checks,
            review=config.timeouts.review,
            idle=config.timeouts.idle,
            extend=config.timeouts.extend,
        ),
        monitor=MonitorPolicy(
            window=config.monitor.window,
            recoveries=config.monitor.recoveries,
            auto_rollback=config.rollback.enabled,
            rollback_checks=config.rollback.checks,
            rollback_search=config.rollback.max_commits_to_search,
        ),
        checkpoints=CheckpointPolicy(
            interval_seconds=config.checkpoints.interval_minutes * 60,
            on_phase_change=config.checkpoints.on_phase_change,
            on_task_complete=config.checkpoints.on_task_complete,
            baselines=config.baselines.at,
        ),
        review=loop.review,
        scope_judge=loop.scope_judge,
        auto_land=config.auto_land,
        final_checks=loop.final_checks,
        final_review=loop.final_review,
    )


def _ladder(config: Config) -> LadderPolicy:
    ladder = config.ladder
    return LadderPolicy(
        rungs=tuple(
            Rung(name=rung.name, agent=rung.agent, model=rung.model, reserve_usd=rung.reserve_usd, cap_usd=rung.cap_usd)
            for rung in ladder.rungs
        ),
        failures=ladder.failures or (2,) * (len(ladder.rungs) - 1) + (3,),
        policy=ladder.policy,
        task_value_usd=ladder.task_value_usd,
        roles=ladder.roles,
        fallback=ladder.fallback,
    )
