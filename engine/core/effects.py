"""Every thing the engine can do, as data. `decide` returns these; engine/perform turns each into facts."""

from __future__ import annotations

import msgspec

from engine.core.model import Role, Rung


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="do"):
    """Base of effects. `id` is unique in a sprint; `task` and `lane` are empty for the sprint's own effects."""

    id: str
    task: str = ""
    lane: int = -1


class PrepareWorkspace(Effect, frozen=True, kw_only=True, tag="prepare_workspace"):
    """Give the lane's clone exactly the content of `tree` (empty: of the sprint branch's head)."""

    iteration: int
    tree: str = ""
    base: str = ""
    """The commit the task started from; empty: take the sprint branch's head."""


class CallAgent(Effect, frozen=True, kw_only=True, tag="call_agent"):
    """One agent call. `iteration` and `attempt` name the logical attempt: a call repeated after a crash keeps them."""

    role: Role
    rung: Rung
    iteration: int
    attempt: int
    seat: str = ""
    """The councillor's seat."""
    session: str = ""
    """Session to resume; empty starts fresh."""
    read_only: bool = False
    timeout: float = 300.0
    idle_timeout: float = 120.0
    reserve_usd: float = 1.0
    gate: str = ""
    question: str = ""
    tree: str = ""
    dependency: str = ""
    """What the circuit breaker counts by: the agent's name."""


class CheckScope(Effect, frozen=True, kw_only=True, tag="check_scope"):
    """Diff the lane's tree against the attempt's start and put out-of-scope hunks back."""

    iteration: int
    attempt: int
    before: str
    """Tree the attempt started from."""
    base: str
    """Commit the task started from."""


class RunChecks(Effect, frozen=True, kw_only=True, tag="run_checks"):
    """Run every check on a tree in the clean room. `purpose` is task, baseline or final."""

    tree: str
    base: str
    purpose: str = "task"
    iteration: int = 0
    timeout: float = 120.0


class Commit(Effect, frozen=True, kw_only=True, tag="commit"):
    """One commit of a judged tree on the sprint branch. Performing it twice makes one commit."""

    tree: str
    base: str
    message: str
    evidence: str = ""


class Rollback(Effect, frozen=True, kw_only=True, tag="rollback"):
    """Remember where the lane was (a backup ref), so that the next attempt may start from `tree`."""

    tree: str
    iteration: int
    reason: str


class SaveCheckpoint(Effect, frozen=True, kw_only=True, tag="save_checkpoint"):
    """Keep git state, journal, features.json, progress.txt and context under one name."""

    reason: str


class CreateBaseline(Effect, frozen=True, kw_only=True, tag="create_baseline"):
    """A named ref at a milestone."""

    milestone: str


class Land(Effect, frozen=True, kw_only=True, tag="land"):
    """Fast-forward the user's branch to the sprint branch, if the user's files still equal the snapshot."""


class Wait(Effect, frozen=True, kw_only=True, tag="wait"):
    """Let time pass: a limit's reset, a backoff, an open breaker."""

    until: float
    reason: str
    dependency: str = ""


class Finish(Effect, frozen=True, kw_only=True, tag="finish"):
    """End the run. outcome: done, failed, limit, blocked, stopped."""

    outcome: str
    reason: str


AnyEffect = (
    PrepareWorkspace
    | CallAgent
    | CheckScope
    | RunChecks
    | Commit
    | Rollback
    | SaveCheckpoint
    | CreateBaseline
    | Land
    | Wait
    | Finish
)
