"""Keys in the order in which they were typed: one at a time, and none before what the last one opened is there.

A key goes to the widget that has the focus and comes back to the application if nobody wants it; what it opens needs a
moment until it has the keys. What is typed meanwhile waits, so that a text never acts as commands of the screen behind.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Input, TextArea

from tui.kit.keys import key_words

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.app.terminal_app import TerminalApp

BURST = 0.5
"""Seconds between two letters of somebody who writes."""
LAPS = 2
"""Ways of a key's follower before the next key sets out."""
LEAVING = ("escape", "ctrl+c")
"""Keys that are heard whatever was typed before."""
LONGEST = 5.0
"""Seconds after which a key that never came back (its widget is gone) holds up no other."""

Typed = Key | Paste


class Arrived(Message, bubble=True):
    """Follows a key on its way: when it is back, the key was acted on."""


class TypedAhead:
    def __init__(
        self, app: TerminalApp, hand_on: Callable[[Typed], Awaitable[None]], clock: Callable[[], float]
    ) -> None:
        self._app, self._hand_on, self._clock = app, hand_on, clock
        self._waiting: deque[Typed] = deque()
        self._since: float | None = None
        """When the key that is on its way set out."""
        self._laps = 0
        self._screen: Screen[object] | None = None
        """The screen that is known to have the keys."""
        self._lost = ""
        """A key that was meant to open something and could not: the text after it is nobody's command."""
        self._said = False
        self._typed_at = 0.0

    @property
    def busy(self) -> bool:
        """A key is on its way, or waits."""
        return bool(self._waiting) or self._since is not None

    async def take(self, event: Typed) -> None:
        self._waiting.append(event)
        await self.go_on()

    def look(self) -> None:
        """Now and then: what set out for a widget that is gone never comes back."""
        if self._since is not None and asyncio.get_running_loop().time() - self._since > LONGEST:
            self._app.call_later(self._settled)

    async def go_on(self) -> None:
        """The next key, if its turn has come."""
        while self._since is None and self._waiting:
            if self._app.screen is not self._screen:
                self._screen = self._app.screen
                self._follow()  # behind its mounting and the choice of who has the keys
                continue
            event = self._waiting.popleft()
            if self._is_part_of_a_lost_text(event):
                continue
            self._since = asyncio.get_running_loop().time()
            await self._hand_on(event)
            self._follow()

    def arrived(self) -> None:
        """What a widget said when it heard the key goes the same way, behind this: a second lap is behind that. A focus
        that was asked for on the way is given first."""
        self._laps += 1
        if self._laps < LAPS and self._set_out():
            return
        self._app.call_later(self._settled)

    async def _settled(self) -> None:
        self._since = None
        await self.go_on()

    def _follow(self) -> None:
        self._since, self._laps = asyncio.get_running_loop().time(), 0
        if not self._set_out():
            self.arrived()

    def _set_out(self) -> bool:
        return (self._app.focused or self._app.screen).post_message(Arrived())

    # ── a text without a place ──

    def lost(self, key: str) -> None:
        """This key did nothing, because what it is for is not here (yet): if a text follows, it goes nowhere."""
        self._lost, self._typed_at = key, self._clock()

    def _is_part_of_a_lost_text(self, event: Typed) -> bool:
        if not self._lost:
            return False
        if isinstance(event, Key) and event.key == self._lost:
            return False  # tried again
        before, self._typed_at = self._typed_at, self._clock()
        leaves = isinstance(event, Key) and event.key in LEAVING
        writes = isinstance(self._app.focused, Input | TextArea)
        if leaves or writes or self._typed_at - before >= BURST:
            self._lost, self._said = "", False
            return False
        if not self._said:
            self._said = True
            self._app.tell(
                f"{key_words(self._lost)} did nothing just now: what you typed after it is left out", "warning"
            )
        return True
