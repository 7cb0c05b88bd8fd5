"""What the dashboard knows and shows: one feed folded into one view, drawn by one frame timer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.link.own_time import ahead_of
from engine.link.protocol import Link
from tui.app.attention import Attention
from tui.app.feed import Feed
from tui.app.gate_queue import GateQueue
from tui.app.options import TuiOptions
from tui.app.terminal_app import TerminalApp
from tui.kit.one_clock import OneClock
from tui.kit.view import View, task_to_follow

PROMPT_SECONDS = 0.25
"""After a key or a click: what it asks for is drawn at once, not at the next tick."""


class LiveApp(TerminalApp):
    """Follows a link, or a recording with the live one behind it."""

    def __init__(self, link: Link, options: TuiOptions) -> None:
        super().__init__(options)
        self.feed = Feed(link, glyphs=self.glyphs)
        self.gates = GateQueue(self.options.clock)
        self.view = View(glyphs=self.glyphs)
        self._attention = Attention(self.options.bell)
        self._selected, self._following = "", True
        self._clock = OneClock()
        self._second = -1
        self._stale, self._drawing, self._hurried = True, False, False
        self._live_feed: Feed | None = None
        self._waiting_behind = 0
        """Gates of the live run behind a recording."""

    def frame(self) -> None:
        """The one flush timer: fold what came, and draw if anything that is seen may have changed."""
        self._hurried = False
        if not self.is_running:  # it is being left: pages lose their widgets one after the other
            return
        self.typed.look()
        changed = self.feed.flush()
        if self._live_feed is not None:
            self._live_feed.flush()
            changed = self._gates_behind() or changed
        second = int(self._now())
        ticking = second != self._second and (self.feed.state.running or self.view.gates())
        if not (changed or ticking or self._stale):
            return
        self._second = second
        self._stale, self._drawing = False, True
        try:
            self._draw()
        finally:
            self._drawing = False

    def _gates_behind(self) -> bool:
        """Somebody is needed in the live run while a moment of it is looked back at: that is said, and rung."""
        waiting = len(self._live_feed.state.open_gates()) if self._live_feed is not None else 0
        before, self._waiting_behind = self._waiting_behind, waiting
        if waiting > before and self.options.bell:
            self.bell()
        return waiting != before

    def _draw(self) -> None:
        self._compose_view()
        self._greet()
        for screen in reversed(self.screen_stack):
            show: Callable[[View], None] | None = getattr(screen, "show", None)
            if show is not None and screen.is_mounted:
                show(self.view)
            if not screen.is_modal:
                break

    def _now(self) -> float:
        link_time: Callable[[], float] | None = getattr(self.feed.link, "now", None)
        state = self.feed.state
        wall = link_time() if link_time is not None else self.options.clock() - ahead_of(state)
        return wall if self.replaying else self._clock.now(state, self.feed.status, wall)

    def _compose_view(self) -> None:
        feed = self.feed
        new = self.gates.update(feed.state)
        if new and len(new) == self.gates.total and not self._following:
            self.gates.turn_to(self._selected)  # the first gate takes nobody away from what they look at
        gate = self.gates.current
        if gate is not None and gate.task in feed.state.tasks:
            self._selected = gate.task  # what is shown is what an answer is about, always
        elif self._following:
            self._selected = task_to_follow(feed.state, self._selected)
        self.view = View(
            state=feed.state,
            now=self._now(),
            least=0.0 if self.replaying else self._clock.least(feed.state),
            link=feed.status,
            selected=self._selected,
            following=self._following,
            gate=gate,
            answers_in=self.answers_in(),
            checks=feed.checks,
            started=feed.started,
            countdown=feed.countdown,
            glyphs=self.glyphs,
            letters=self.options.ascii or self.no_color,
            replaying=self.replaying,
            until=getattr(feed.link, "end", 0.0) if self.replaying else 0.0,
            behind=self._live_feed.state if self._live_feed is not None else None,
        )
        self._clock.shown(self.view)
        while feed.notices:
            severity, words = feed.notices.popleft()
            self.tell(words, severity)
        if self._attention.needed(self.view, len(new)):
            self.bell()
        self._attention.retitle(self.view, self._driver)

    def _greet(self) -> None:
        """No sprint yet: the welcome screen, until there is one."""
        from tui.screens.welcome import Welcome

        none = self.feed.state.plan is None and self.feed.state.planning is None
        empty = none and self.feed.status.status not in ("connecting", "lost")
        if empty and self.options.in_repo and not any(isinstance(screen, Welcome) for screen in self.screen_stack):
            self.push_screen(Welcome())
            self.bottom = 3
        elif not none and isinstance(self.screen, Welcome):
            self.bottom = 2
            self.pop_screen()

    def want_output(self, tasks: Iterable[str]) -> None:
        """Ask for what agents said in these tasks, where it is not known yet: of past runs it lies in the logs."""
        for task in self.feed.missing_output(tasks):
            self.run_worker(self.feed.load_output(task), group="output", exit_on_error=False)

    def redraw(self) -> None:
        """Draw at the next frame, whatever has changed; for somebody who has just pressed a key that is now."""
        self._stale = True
        soon = self._hurried or self._drawing
        if not soon and self.options.clock() - self._touched_at < PROMPT_SECONDS:
            self._hurried = True  # also where a frame is due already: that one comes with the tick
            self.call_later(self.frame)

    @property
    def redraw_due(self) -> bool:
        """Something asked to be drawn since the last frame."""
        return self._stale

    # ── what is looked at ──

    def choose(self, task: str) -> None:
        """Look at a task: at its gate, where it has one; else every gate is put aside."""
        self._selected, self._following = task, False
        self.gates.turn_to(task)
        self.redraw()

    def follow(self) -> None:
        self._following = True
        self.gates.resume()
        self.redraw()

    @property
    def replaying(self) -> bool:
        return self._live_feed is not None or self.options.replay

    def attach(self, link: Link, *, keep: bool = False) -> None:
        """Show another sprint. With `keep` the present feed goes on behind, for `detach` to come back to."""
        if keep:
            self._live_feed = self.feed
            self._waiting_behind = len(self.feed.state.open_gates())
        self.feed = Feed(link, glyphs=self.glyphs)
        self.follow()
        self.run_worker(self.feed.run(), group="replay" if keep else "link", exclusive=True, exit_on_error=False)

    def detach(self) -> None:
        if self._live_feed is not None:
            self.feed, self._live_feed = self._live_feed, None
            self.workers.cancel_group(self, "replay")
            self.follow()

    def restart_feed(self) -> None:
        """Take a new snapshot: the recording's slider was moved."""
        self.feed = Feed(self.feed.link, glyphs=self.glyphs, flight=self.feed.flight)
        group = "replay" if self._live_feed is not None else "link"
        self.run_worker(self.feed.run(), group=group, exclusive=True, exit_on_error=False)
        self.redraw()

    def answers_in(self) -> float | None:
        """Until the demo answers the gate in sight; None if it never does."""
        gate = self.gates.current
        if not self.options.patience or gate is None or self.gates.sending:
            return None
        return max(0.0, self.options.patience - min(self.quiet(), self._now() - gate.opened_at))
