"""What a run needs to know when the user's own agent session is its implementer."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.model import Role, Rung, Struct
from engine.core.policy import Policy
from engine.perform.agents.session import NAME


class SessionWork(Struct, frozen=True, kw_only=True):
    """One turn of a session, as its stop hook heard of it."""

    session: str
    said: str | None
    """The last words of the turn; None: the session was not asked for anything yet."""


def by_session(policy: Policy) -> Policy:
    """Every task is implemented by the session, one at a time; all other roles stay with the rungs they had."""
    ladder = policy.ladder
    others = {role.value: ladder.rungs[ladder.role_rung(role)].name for role in Role if role is not Role.IMPLEMENTER}
    rung = Rung(name=NAME, agent=NAME, model="", reserve_usd=0.0)
    return replace(
        policy,
        lanes=1,
        ladder=replace(
            ladder,
            rungs=(*(one for one in ladder.rungs if one.name != NAME), rung),
            failures=(*ladder.failures, ladder.threshold(len(ladder.rungs) - 1)),
            policy="classic",
            roles={**others, Role.IMPLEMENTER.value: NAME},
            fallback=(),
        ),
    )
