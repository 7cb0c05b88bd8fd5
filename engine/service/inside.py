"""A sprint whose implementer is the user's own agent session: what its stop hook and its commands ask for.

Autonomous mode is a marker file. While it is there, the end of the session's turn is an attempt like any other: the
files of the checkout go through scope, checks, review and decision, and what is to be done next goes back by the hook.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from engine import files
from engine.clock import SystemClock
from engine.core.inside import (
    BLOCKS,
    FAILURES,
    ITERATIONS,
    Marker,
    Reply,
    Stopping,
    heard,
    held_back,
    judged,
    unreadable,
)
from engine.core.state import State
from engine.inside import SessionWork
from engine.link.user_errors import UserError, as_user_error
from engine.paths import RepoPaths
from engine.plans import ensure_gitignore
from engine.service.local import Desk
from engine.session_options import Options

SESSION_IDS = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID")
"""Where the programs tell their commands whose they are."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn came to: the state, and what the session is to do next (empty: nothing)."""

    state: State
    words: str = ""


def session_of(env: Mapping[str, str]) -> str:
    return next((env[name] for name in SESSION_IDS if env.get(name)), "")


def marker_of(desk: Desk) -> Marker | None:
    """None: autonomous mode is off. Raises UserError where the marker cannot be read."""
    path = _place(desk).marker
    try:
        return msgspec.json.decode(path.read_bytes(), type=Marker)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise UserError(f"{path} cannot be read: {error}", "devteam hook end, then /devteam:implement again") from error


def begin(desk: Desk, sprint: str, session: str, *, attended: bool, max_iterations: int, trust: str) -> Reply:
    """Turn autonomous mode on, and find what the session is to do first. A task under way is asked for again."""
    folder = desk.sprint(sprint)
    old = marker_of(desk)
    if old is not None and old.session and session and old.session != session:
        other = f"the session {old.session[:8]}… works on {old.sprint} already"
        raise UserError(other, "devteam hook end (or delete .devteam/autonomous-mode), then begin again")
    config = desk.project.config()
    marker = Marker(
        sprint=folder.id,
        session=session,
        attended=attended,
        max_iterations=max_iterations or ITERATIONS,
        max_failures=config.circuit_breaker.failure_threshold if config.circuit_breaker.enabled else FAILURES,
    )
    order = _turn(desk, marker, None, trust)
    ended = sum(task.ended for task in order.state.tasks.values())
    reply = judged(replace(marker, done=ended - 1), order.state, order.words, _tree(desk, marker))
    _keep(desk, replace(reply.marker, blocks=0) if reply.marker is not None else None)
    return reply


def end(desk: Desk) -> bool:
    """Turn autonomous mode off; whether it was on."""
    path = _place(desk).marker
    there = path.exists() or path.is_symlink()
    path.unlink(missing_ok=True)
    return there


def stopped(desk: Desk, stop: Stopping) -> Reply | None:
    """The answer to the end of a session's turn; None: it is no business of ours. Never raises for what it finds."""
    marker = None
    try:
        marker = marker_of(desk)
        mine = heard(marker, stop) if marker is not None else None
        if mine is None:
            return None
        reply = _answer(desk, mine, stop)
    except Exception as error:  # noqa: BLE001  boundary: whatever it is, the session may end and nothing is complete
        told = as_user_error(error)
        words = f"{told}{f'  → {told.hint}' if told.hint else ''}" if told else f"{type(error).__name__}: {error}"
        return Reply(block=False, words=unreadable(words), marker=marker)
    _keep(desk, reply.marker)
    return reply


def cap_of(env: Mapping[str, str]) -> int:
    """How many blocks in a row the program takes."""
    named = env.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "")
    return int(named) if named.isascii() and named.isdigit() and int(named[:6]) > 0 else BLOCKS


def is_stuck(said: str) -> bool:
    """Whether the session says that it cannot go on."""
    from engine.perform.agents.claim import claim

    return claim(said)[0] in ("blocked", "failed")


def _answer(desk: Desk, marker: Marker, stop: Stopping) -> Reply:
    if (running := desk.engine()) is not None:
        words = f"devteam: an engine runs this repository's sprint already ({running.words()}); this session may end"
        return Reply(block=False, words=words, marker=marker)
    tree = _tree(desk, marker)
    back = held_back(marker, stop, tree)
    if back is not None:
        return back
    order = _turn(desk, marker, stop.text, "")
    return judged(marker, order.state, order.words, tree)


def _turn(desk: Desk, marker: Marker, said: str | None, trust: str) -> Order:
    """One run of the engine, to where it needs the session or is done."""
    from engine.session import Session

    folder = desk.sprint(marker.sprint)
    options = Options(
        attended=marker.attended,
        waits=False,
        trust=trust,
        by_session=SessionWork(session=marker.session, said=said),
    )

    async def run() -> Order:
        async with Session.open(desk.project, folder, SystemClock(), options) as session:
            state = await session.run()
            return Order(state=state, words=session.order)

    return asyncio.run(run())


def _tree(desk: Desk, marker: Marker) -> str:
    """The checkout's files, as a tree."""
    from engine.settings import open_workspace

    return open_workspace(desk.project, marker.sprint, desk.project.config()).user_tree()


def _place(desk: Desk) -> RepoPaths:
    return desk.project.repo


def _keep(desk: Desk, marker: Marker | None) -> None:
    path = _place(desk).marker
    if marker is None:
        path.unlink(missing_ok=True)
        return
    ensure_gitignore(desk.root)
    files.write(path, msgspec.json.format(msgspec.json.encode(marker)) + b"\n", mode=files.SHARED, durable=False)
