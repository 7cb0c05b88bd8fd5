"""The dashboard's application: how it starts and ends, and one registry of actions. Panes and screens do the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from engine.core.state import GateState
from engine.core.vocabulary import Choice
from engine.link.protocol import Link
from tui.app.command_search import Commands
from tui.app.drafts import Drafts
from tui.app.live_app import LiveApp
from tui.app.options import Leave, TuiOptions
from tui.app.steering import Steering
from tui.app.terminal_life import end_with_terminal
from tui.kit import keys as key_registry

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.screens.page import Page

SECOND_CTRL_C = 2.0


class DevteamApp(LiveApp):
    """Talks to an engine only through its link; keeps its own State by folding what the link delivers."""

    CSS_PATH = "app.tcss"
    TITLE = "devteam"
    COMMANDS = {Commands}
    COMMAND_PALETTE_BINDING = "ctrl+backslash"
    BINDINGS: ClassVar[list[BindingType]] = [*key_registry.bindings()]
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-normal"), (180, "-huge")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-short"), (32, "-tall")]
    PAUSE_GC_ON_SCROLL = True

    def __init__(self, link: Link, options: TuiOptions | None = None) -> None:
        super().__init__(link, options or TuiOptions())
        self.keys = key_registry.key_map(self.options.keys)
        self.set_keymap(
            {name: keys for name, keys in self.keys.keys.items() if key_registry.BY_NAME[name].keys != keys}
        )
        self.steering = Steering(self)
        self.comments: list[str] = []
        """What the user wrote this session, for the editor's history."""
        self.drafts = Drafts(self.options.drafts)
        self._interrupted = 0.0

    # ── starting ──

    def get_default_screen(self) -> Screen[None]:
        from textual.screen import Screen

        return Screen(id="_default")

    def on_mount(self) -> None:
        self.begin_themes()
        for problem in self.keys.problems:
            self.tell(problem, "warning")
        if self.options.greeting:
            self.tell(self.options.greeting)
        self.take_title()
        self.app_resume_signal.subscribe(self, lambda _app: self.repaint())
        self.push_screen(self._first_screen())
        self.run_worker(self.feed.run(), group="link", exclusive=True, exit_on_error=False)
        self.set_interval(1 / self.options.fps, self.frame)
        if self.options.watch and self.options.user_themes is not None:
            from tui.app.theme_watch import watch_themes

            self.run_worker(watch_themes(self, self.options.user_themes), group="themes", exit_on_error=False)

    def _first_screen(self) -> Page:
        if not self.options.in_repo:
            from tui.screens.welcome import Welcome

            return Welcome()
        if self.options.replay:
            from tui.screens.replay import ReplayScreen

            return ReplayScreen()
        from tui.screens.dashboard import Dashboard

        return Dashboard()

    async def on_unmount(self) -> None:
        try:
            await self.feed.link.close()
        except Exception as error:  # noqa: BLE001 the named boundary: a link that fails to close keeps nobody here
            self.log(error)
        self.give_title_back()

    # ── actions ──

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action != "act":
            return super().check_action(action, parameters)
        name = str(parameters[0])
        gate = self.view.gate
        if name in key_registry.GATE_CHOICES:
            return gate is not None and key_registry.GATE_CHOICES[name] in gate.choices
        return True

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        heard = await super()._check_bindings(key, priority)
        if not heard and not priority and not self.screen.is_modal and self._answers_gates(key):
            self.typed.lost(key)
        return heard

    def _answers_gates(self, key: str) -> bool:
        return any(key in self.keys.keys[name].split(",") for name in key_registry.GATE_CHOICES)

    def action_act(self, name: str) -> None:
        self.act(name)

    def act(self, name: str) -> None:
        """Run an action of the registry: the screen's own way first, then the app's. Shown at once."""
        from tui.app import actions

        own = getattr(self.screen, f"do_{name}", None)
        if own is not None:
            own()
        elif name in key_registry.GATE_CHOICES:
            self.steering.answer(name)
        else:
            actions.run(self, name)
        self.redraw()
        self.frame()

    def draft_key(self, name: str) -> str:
        return f"{self.feed.state.sprint}/{name}"

    def keep_draft(self, key: str, text: str) -> None:
        """What is being written, as it is written; said once if it cannot be kept."""
        before = self.drafts.problem
        self.drafts.keep(key, text)
        if self.drafts.problem and self.drafts.problem != before:
            self.tell(f"your text is kept only while the dashboard is open: {self.drafts.problem}", "warning")

    def look_back(self, at: float) -> None:
        from tui.app import actions

        actions.look_back(self, at)

    def open_ask(self, gate: GateState) -> None:
        from tui.app import dialogs
        from tui.screens.ask import AskScreen

        self.push_screen(AskScreen(gate, dialogs.cited(self)))

    def open_comment(self, gate: GateState, choice: Choice) -> None:
        from tui.app import dialogs

        dialogs.comment_on_gate(self, gate, choice)

    def action_help_quit(self) -> None:
        """ctrl+c: once a hint, twice leaves. It never ends the work."""
        now = self.options.clock()
        if now - self._interrupted <= SECOND_CTRL_C:
            self.exit(Leave())
        self._interrupted = now
        then = "the run stops and can be resumed" if self.options.inline else "the engine keeps running"
        self.tell(f"press ctrl+c again to leave the dashboard; {then}")

    def run_is_over(self) -> bool:
        """The engine was in this process, and has ended with its run."""
        return self.options.inline and self.view.link.status == "ended"

    async def action_quit(self) -> None:
        self.exit(Leave())


def run_tui(link: Link, options: TuiOptions | None = None) -> Leave:
    """Run the dashboard until the user leaves it. The link is closed then; the engine behind it goes on."""
    from textual.messages import ExitApp

    app = DevteamApp(link, options)
    end_with_terminal(0, lambda: app.post_message(ExitApp()))
    return app.run() or Leave()
