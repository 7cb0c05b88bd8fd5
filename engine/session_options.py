"""How a session is started, and why one may be refused."""

from __future__ import annotations

from engine.core.model import Struct
from engine.core.planning_state import Until
from engine.inside import SessionWork


class Untrusted(Exception):  # noqa: N818  it is a question, not a fault
    """The repository's check commands were never confirmed, or have changed since."""

    def __init__(self, hash_: str, commands: tuple[tuple[str, str], ...]) -> None:
        super().__init__("the check commands of this repository are not trusted yet")
        self.hash = hash_
        self.commands = commands


class Unsafe(Exception):  # noqa: N818  it is an answer, not a fault
    """Unattended work without a sandbox has to be asked for by name."""


class Ask(Struct, frozen=True, kw_only=True):
    """What comes with a request."""

    given: dict[str, str] = {}
    """Answers beforehand, by number or words of the question."""
    approve: bool = False
    with_prd: bool = False
    source: str = ""


class Options(Struct, frozen=True, kw_only=True):
    """How a session is started."""

    attended: bool = True
    waits: bool = True
    max_iterations: int = 0
    lanes: int = 0
    trust: str = ""
    """Hash of the check commands to trust; "all" trusts what is there (the demo's own repository)."""
    no_sandbox: bool = False
    speed: float = 1.0
    utc_offset: float = 0.0
    until: Until = Until.SPRINT
    """Where the run stops: at the approved PRD or plan, or with the sprint."""
    planning: Ask | None = None
    """How a sprint that begins with a request is planned."""
    by_session: SessionWork | None = None
    """The user's own agent session implements, in the checkout."""
    follows_viewers: bool = False
    """Who attends is who is connected: a run in the background, or one that was started to ask nobody. Else `attended`
    holds."""
    at_terminal: bool = False
    """Somebody at the terminal of this process is asked, and attends until it is gone (`Session.left_alone`): from then
    on who attends is who is connected."""
    asks_nobody: bool = False
    """It goes on by the unattended rules, whoever looks on, until one of them wants to be asked; and again when they
    leave, whatever gates.detached says."""
