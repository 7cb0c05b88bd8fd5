"""Every thing the engine can do, as data. `decide` returns these; engine/perform turns each into facts."""

from __future__ import annotations

import msgspec

from engine.core.model import MachineFault, Role, Rung
from engine.core.vocabulary import Outcome, Purpose


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
    cap_usd: float = 0.0
    """The most it may cost; 0: no bound of its own."""
    longest: float = 0.0
    """Seconds it may take at most while it still works; 0: not more than `timeout`."""
    gate: str = ""
    question: str = ""
    tree: str = ""
    trees: dict[str, str] = {}
    """A review of several tasks at once: each one's tree, `task`'s first. Empty: of `task` alone."""
    dependency: str = ""
    """What the circuit breaker counts by: the agent's name."""

    def members(self) -> tuple[str, ...]:
        """The tasks the call is about."""
        return tuple(self.trees) or (self.task,)


class CheckScope(Effect, frozen=True, kw_only=True, tag="check_scope"):
    """Diff the lane's tree against the attempt's start and put out-of-scope hunks back."""

    iteration: int
    attempt: int
    before: str
    """Tree the attempt started from."""
    base: str
    """Commit the task started from."""


class RunChecks(Effect, frozen=True, kw_only=True, tag="run_checks"):
    """Run every check on a tree in the clean room."""

    tree: str
    base: str
    purpose: Purpose = "task"
    iteration: int = 0
    timeout: float = 120.0


class Commit(Effect, frozen=True, kw_only=True, tag="commit"):
    """One commit of a judged tree on the sprint branch. Performing it twice makes one commit."""

    tree: str
    base: str
    message: str
    evidence: str = ""
    override: str = ""
    """Who waved it through, and past what: a trailer of the commit."""


class Rollback(Effect, frozen=True, kw_only=True, tag="rollback"):
    """Remember where the lane was (a backup ref), so that the next attempt may start from `tree`."""

    tree: str
    iteration: int
    reason: str


class RestoreBranch(Effect, frozen=True, kw_only=True, tag="restore_branch"):
    """Bring the sprint branch back to the newest commit that passes what its base passes, measured now."""

    reason: str
    most: int = 10
    """Commits that are looked at."""


class KeepTree(Effect, frozen=True, kw_only=True, tag="keep_tree"):
    """Pin what a task had come to on refs/devteam/<sprint>/task/<id>/<name>: nothing that was paid for is lost."""

    tree: str
    base: str
    name: str
    reason: str
    evidence: str = ""


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


class Survey(Effect, frozen=True, kw_only=True, tag="survey"):
    """Show the planning agents the user's files as they are now, and write down what the engine itself finds there."""


class CheckPlan(Effect, frozen=True, kw_only=True, tag="check_plan"):
    """The engine's own checks of the drafted plan; the draft is in the state."""

    version: int


class Probe(Effect, frozen=True, kw_only=True, tag="probe"):
    """Look whether the machine can again do what it could not."""

    fault: MachineFault


class Finish(Effect, frozen=True, kw_only=True, tag="finish"):
    """End the run."""

    outcome: Outcome
    reason: str


AnyEffect = (
    PrepareWorkspace
    | CallAgent
    | CheckScope
    | RunChecks
    | Commit
    | Rollback
    | RestoreBranch
    | KeepTree
    | SaveCheckpoint
    | CreateBaseline
    | Land
    | Wait
    | Probe
    | Survey
    | CheckPlan
    | Finish
)
