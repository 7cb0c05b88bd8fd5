"""Trust on first use, asked where it is needed: at the start of a run on a terminal, once for a set of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.cli import printing as say

if TYPE_CHECKING:
    from engine.service.local import Desk


def ask_trust(desk: Desk, given: str = "") -> None:
    """Show what would be run and ask once. A no ends the command with exit code 4; nothing was started."""
    from engine.service.trust import trust_commands, trusted_hash

    wanted, commands, known = trusted_hash(desk)
    if known or given in (wanted, "all"):
        return
    say.out("This repository would have these commands run on this machine, in a sandbox:")
    for where, line in commands:
        say.out(f"  {where}: {line}")
    say.flush()
    if input("Trust them? [y/N] ").strip().lower() not in ("y", "yes"):
        raise SystemExit(4)
    trust_commands(desk, wanted)
