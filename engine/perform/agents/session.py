"""A session of the user's own agent as the implementer: its work lies in the checkout, a hook hands out its orders.

One turn of the session is one call. The first call of a run takes the work that was done since it was last asked; the
next one has nobody at the other end yet: what it would be told is handed out, and the call waits to be ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Role
from engine.core.vocabulary import Claim
from engine.perform.agents.claim import claim
from engine.perform.process.spawning import AgentCall, Output, Spawner

NAME = "session"


class SessionAgent:
    """`take` puts the checkout's files into the lane; `ask` hands out the next order and ends the run."""

    name = NAME

    def __init__(self, *, work: str | None, session: str, take: Callable[[], None], ask: Callable[[str], None]) -> None:
        """`work`: what the session said when it stopped; None: it was not asked for anything yet."""
        self._work = work
        self._session = session
        self._take = take
        self._ask = ask

    async def call(self, call: AgentCall, _spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        if call.role is not Role.IMPLEMENTER:
            return AgentResult(kind=ResultKind.CRASH, error=f"a session is no {call.role.value}", cost_usd=0.0)
        if self._work is None:
            self._ask(call.prompt)
            await asyncio.Event().wait()  # until the run is stopped; nobody can do more here
        said, self._work = self._work or "", None
        await asyncio.to_thread(self._take)
        emit(Output(kind=OutputKind.TEXT, text=said))
        word, issues = claim(said)
        return AgentResult(
            kind=ResultKind.OK,
            text=said,
            session=self._session,
            cost_usd=0.0,  # the user's own session pays for it, and nobody tells us how much
            claim=Claim(word),
            claim_text=issues,
        )
