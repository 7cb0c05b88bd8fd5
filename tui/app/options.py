"""What the dashboard is started with, and what it may ask of whoever started it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.core.commands import Ack
from engine.core.model import Struct
from engine.link.own_time import now
from engine.link.protocol import Link
from tui.app.theme import DEFAULT


class Leave(Struct, frozen=True, kw_only=True):
    """Why the dashboard ended. action: detach, land, sprint, plan, demo, init or doctor; the caller does the rest."""

    action: str = "detach"
    argument: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuiOptions:
    """Everything that comes from outside: nothing in the dashboard reads the environment or the clock by itself."""

    theme: str = DEFAULT
    ascii: bool = False
    keys: Mapping[str, str] = field(default_factory=dict)
    """Action name to keys, from [keys] in the config."""
    clock: Callable[[], float] = now
    user_themes: Path | None = None
    """Folder of the user's own themes."""
    saved: Path | None = None
    """The file that keeps what the user chooses here; None: nothing is kept."""
    drafts: Path | None = None
    """The file of texts that were written and not sent; None: they last as long as the dashboard."""
    watch: bool = True
    """Reload themes when their files change."""
    editor: str = ""
    """$VISUAL or $EDITOR."""
    pager: str = ""
    save_folder: Path = Path()
    """Where screenshots and saved output go."""
    by: str = "you"
    """Who answers: kept with every answer."""
    in_repo: bool = True
    """False outside a git repository: the welcome screen says so."""
    replay: bool = False
    """The link is a recording: show the time slider."""
    inline: bool = False
    """The engine is in this process: leaving stops the run, resumably."""
    patience: float = 0.0
    """Seconds after the last key in which the demo answers an open gate by itself; 0: it never does."""
    greeting: str = ""
    """Words shown once at the start."""
    bell: bool = True
    fps: float = 15.0
    restart: Callable[[], Awaitable[Ack]] | None = None
    """Starts an engine again for a sprint that lost its own."""
    land: Callable[[], Awaitable[Ack]] | None = None
    """Brings the sprint's commits to the user's branch; without it the engine is told to (LandNow)."""
    open_sprint: Callable[[str], Awaitable[Link]] | None = None
    """A link to another sprint; without it choosing one leaves with Leave(action="sprint")."""
    run_program: Callable[[list[str]], int] | None = None
    """Runs an editor or pager in the foreground; the default starts it directly."""
