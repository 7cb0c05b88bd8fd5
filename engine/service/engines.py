"""The engines of this user, over all repositories: which run, what each is at, and how to end one that hangs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine import VERSION, state_folder
from engine.channel.client import Caller, ChannelClosed, NobodyListens
from engine.channel.messages import Welcome
from engine.core.commands import Stop
from engine.core.model import Struct
from engine.journal import EngineLock, Holder
from engine.paths import StatePaths, find_repo, state_home, state_paths
from engine.perform.process.reaper import end_engine

ANSWER_SECONDS = 3.0
STOP_SECONDS = 20.0


class RunningEngine(Struct, frozen=True, kw_only=True):
    """One engine. Without `welcome` it holds its lock but does not answer: `silent` says how."""

    state: Path
    holder: Holder
    welcome: Welcome | None = None
    silent: str = ""

    @property
    def root(self) -> Path:
        """Its repository, where the state says which."""
        owner = state_folder.owner_of(self.state)
        return self.state if owner is None else owner.checkout


def engines(env: Mapping[str, str], home: Path, here: Path) -> Iterator[RunningEngine]:
    """By the locks that are held; nothing is written. The one at work `here` too, wherever its state is."""
    roots = {path.parent for path in (state_home(env, home) / "devteam").glob("*/lock")}
    if (repo := find_repo(here)) is not None:
        roots.add(state_paths(repo, env, home).root)
    for root in sorted(roots):
        if (found := engine_at(StatePaths(root=root))) is not None:
            yield found


def engine_at(places: StatePaths) -> RunningEngine | None:
    holder = EngineLock.holder(places.lock)
    if holder is None:
        return None
    try:
        with Caller(places.socket, VERSION, timeout=ANSWER_SECONDS) as engine:
            return RunningEngine(state=places.root, holder=holder, welcome=engine.welcome)
    except NobodyListens:
        return RunningEngine(state=places.root, holder=holder, silent="starts, or ends")
    except ChannelClosed as closed:
        return RunningEngine(state=places.root, holder=holder, silent=f"does not answer: {closed}")


def end(places: StatePaths) -> str:
    """Ask an engine to stop now; one that does not is ended by force. Its sprint can be taken up again either way."""
    holder = EngineLock.holder(places.lock)
    if holder is None:
        return ""
    words = "stopped"
    try:
        with Caller(places.socket, VERSION, timeout=ANSWER_SECONDS) as engine:
            engine.tell(Stop(now=True, by="devteam kill"))
    except ChannelClosed:
        words = _force(holder)
    deadline = time.monotonic() + STOP_SECONDS
    while EngineLock.holder(places.lock) is not None:
        if time.monotonic() > deadline:
            words, deadline = _force(holder), deadline + STOP_SECONDS
        time.sleep(0.05)
    return words


def _force(holder: Holder) -> str:
    if holder.pid:
        end_engine(holder.pid)
    return "ended by force"
