"""The ladder `devteam init` proposes for what it found."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.model import Rung
from engine.perform.agents.registry import AgentInfo

CLAUDE = (
    Rung(name="haiku", agent="claude", model="haiku", reserve_usd=0.25),
    Rung(name="sonnet", agent="claude", model="sonnet", reserve_usd=1.0),
    Rung(name="opus", agent="claude", model="opus", reserve_usd=2.0),
)
CODEX = (
    Rung(name="luna", agent="codex", model="gpt-5.6-luna", reserve_usd=0.25),
    Rung(name="terra", agent="codex", model="gpt-5.6-terra", reserve_usd=1.0),
    Rung(name="sol", agent="codex", model="gpt-5.6-sol", reserve_usd=2.0),
)
GEMINI = (
    Rung(name="flash", agent="gemini", model="gemini-2.5-flash", reserve_usd=0.25),
    Rung(name="pro", agent="gemini", model="gemini-2.5-pro", reserve_usd=1.0),
)
_MIXED = {
    ("claude", "codex"): (CLAUDE[0], CLAUDE[1], CODEX[2]),
    ("claude", "gemini"): (GEMINI[0], CLAUDE[1], CLAUDE[2]),
    ("codex", "gemini"): (GEMINI[0], CODEX[1], CODEX[2]),
    ("claude", "codex", "gemini"): (GEMINI[0], CLAUDE[1], CODEX[2]),
}
"""The top rung is of another house than the one below it: what one model family cannot see another may."""


def propose_ladder(infos: Sequence[AgentInfo], *, mix: bool = True) -> tuple[Rung, ...]:
    """All Claude, all Codex, all Gemini, or mixed, by what is installed; agents with a login seen come before the rest.
    Empty when nothing usable was found: the caller says so instead of writing a ladder that cannot run."""
    usable = [info.name for info in infos if info.usable() and info.name in ("claude", "codex", "gemini")]
    logged_in = {info.name for info in infos if info.login}
    chosen = sorted([name for name in usable if name in logged_in] or usable)
    if mix and len(chosen) > 1:
        return _MIXED[tuple(chosen)]
    for name, ladder in (("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI)):
        if name in chosen:
            return ladder
    other = next((info for info in infos if info.usable() and info.adapter == "acp"), None)
    return (Rung(name=other.name, agent=other.name),) if other else ()
