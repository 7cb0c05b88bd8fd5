"""Bell and terminal title: how the dashboard calls somebody who looks elsewhere. Works in tmux and over ssh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.wording import plural
from tui.kit.paint import outside

if TYPE_CHECKING:
    from textual.driver import Driver

    from tui.kit.view import View

KEEP_TITLE = "\x1b[22;2t"
GIVE_TITLE_BACK = "\x1b[23;2t"


def title_of(view: View) -> str:
    """What the terminal's title says: the number of gates first, because tabs are cut at the right."""
    sprint = outside(view.state.sprint, 60)
    if view.replaying:
        return f"replay · devteam {sprint}".rstrip()
    gates = len(view.gates())
    if gates:
        return f"{plural(gates, 'gate')} waiting · devteam {sprint}".rstrip()
    if view.link.status == "lost":
        return f"engine lost · devteam {sprint}".rstrip()
    if view.state.outcome and not view.state.running:
        return f"{outside(view.state.outcome, 20)} · devteam {sprint}".rstrip()
    return f"devteam {sprint}".rstrip()


class Attention:
    """Remembers what was said, so that each thing is said once."""

    def __init__(self, bell: bool) -> None:
        self._bell = bell
        self._title = ""
        self._lost = False
        self._outcome: str | None = None
        """How the sprint stood when it was last looked at; a run that had ended before rings nothing."""

    def needed(self, view: View, new_gates: int) -> bool:
        """Whether to ring: a new gate, a lost engine or an ended run."""
        if view.state.plan is None:
            return False
        lost = view.link.status == "lost"
        ended = view.state.outcome if not view.state.running else ""
        ring = (
            bool(new_gates)
            or (lost and not self._lost)
            or bool(ended and self._outcome is not None and ended != self._outcome)
        )
        self._lost, self._outcome = lost, ended
        return ring and self._bell and not view.replaying

    def retitle(self, view: View, driver: Driver | None) -> None:
        title = title_of(view)
        if title != self._title and driver is not None and not driver.is_headless:
            self._title = title
            driver.write(f"\x1b]2;{title}\x07")
