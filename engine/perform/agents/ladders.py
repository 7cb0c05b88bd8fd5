"""The ladder `devteam init` proposes for what it found."""

from __future__ import annotations

from collections.abc import Sequence

from engine.agent_records import CLAUDE, CODEX, GEMINI, record, records
from engine.core.model import Rung
from engine.perform.agents.registry import AgentInfo

_MIXED = {
    ("claude", "codex"): (CLAUDE.rungs[0], CLAUDE.rungs[1], CODEX.rungs[2]),
    ("claude", "gemini"): (GEMINI.rungs[0], CLAUDE.rungs[1], CLAUDE.rungs[2]),
    ("codex", "gemini"): (GEMINI.rungs[0], CODEX.rungs[1], CODEX.rungs[2]),
    ("claude", "codex", "gemini"): (GEMINI.rungs[0], CLAUDE.rungs[1], CODEX.rungs[2]),
}
"""The top rung is of another house than the one below it: what one model family cannot see another may."""


def propose_ladder(infos: Sequence[AgentInfo], *, mix: bool = True) -> tuple[Rung, ...]:
    """All Claude, all Codex, all Gemini, or mixed, by what is installed; agents with a login seen come before the rest.
    Empty when nothing usable was found: the caller says so instead of writing a ladder that cannot run."""
    usable = [info.name for info in infos if info.usable() and _ladder(info.name)]
    logged_in = {info.name for info in infos if info.login}
    chosen = sorted([name for name in usable if name in logged_in] or usable)
    if mix and (mixed := _MIXED.get(tuple(chosen))):
        return mixed
    for one in records().values():
        if one.name in chosen:
            return one.rungs
    other = next((info for info in infos if info.usable() and info.adapter == "acp"), None)
    return (Rung(name=other.name, agent=other.name),) if other else ()


def _ladder(name: str) -> tuple[Rung, ...]:
    known = record(name)
    return known.rungs if known else ()
