"""Comment: an editor for the human's words, with a history and a draft that is not lost by leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import TextArea

from tui.kit.canvas import Canvas, harmless
from tui.kit.paint import Line, wrap

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


TYPED_SECONDS = 0.5
"""After so many what was typed is in the file of drafts."""


class CommentScreen(ModalScreen[str | None]):
    """Dismisses with the text, or with None when it is left."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = [
        Binding("f2,ctrl+s", "send", "send", priority=True),
        Binding("escape", "leave", "leave", priority=True),
        Binding("ctrl+up,alt+up", "older(1)", "older", priority=True),
        Binding("ctrl+down,alt+down", "older(-1)", "newer", priority=True),
    ]

    def __init__(self, title: str, about: str, *, draft_key: str, may_be_empty: bool = False, begin: str = "") -> None:
        super().__init__()
        self.heading = title
        self.about = about
        self.draft_key = draft_key
        self.may_be_empty = may_be_empty
        self.begin = begin
        """What a text begins with: the place it is about."""
        self._back = 0
        self._own = ""
        self._text = ""
        self._due: Timer | None = None
        """Until what is typed is kept."""

    @property
    def dev(self) -> DevteamApp:
        return cast("DevteamApp", self.app)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="comment"):
            yield Canvas(id="about")
            yield TextArea(soft_wrap=True, show_line_numbers=False)

    def on_mount(self) -> None:
        box = self.query_one("#comment")
        box.border_title = Content(harmless(self.heading))
        box.border_subtitle = "f2 or ^s: send · esc: close, draft is kept · ^↑ ^↓: history"
        if self.dev.options.ascii:
            box.border_subtitle = "f2 or ^s: send - esc: close, draft is kept - ^up ^down: history"
        area = self.query_one(TextArea)
        draft = self.dev.drafts.get(self.draft_key)
        area.text = draft if self.begin in draft else f"{draft}\n{self.begin}".lstrip("\n")
        area.cursor_blink = False
        area.move_cursor(area.document.end)
        area.focus()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        canvas = self.query_one("#about", Canvas)
        width = self.query_one("#comment").content_region.width - 2
        if width > 0:
            lines: list[Line] = wrap(self.about, width, "muted")
            canvas.styles.height = len(lines)
            canvas.set_lines(lines)

    def action_send(self) -> None:
        text = self.query_one(TextArea).text.strip()
        if not text and not self.may_be_empty:
            self.dev.tell("write something first", "warning")
            return
        self._text, self._back = text, 0
        self._keep()  # until the engine has taken it
        if text and (not self.dev.comments or self.dev.comments[-1] != text):
            self.dev.comments.append(text)
        self.dismiss(text)

    def action_leave(self) -> None:
        self._text = self.query_one(TextArea).text
        self._keep()
        self.dismiss(None)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._text = event.text_area.text
        if self._due is None:
            self._due = self.set_timer(TYPED_SECONDS, self._keep)

    def on_unmount(self) -> None:
        if self._due is not None:  # the dashboard ends while somebody types
            self._keep()

    def _keep(self) -> None:
        """The words at hand; those of the history are not a draft while nobody has changed them."""
        if self._due is not None:
            self._due.stop()
            self._due = None
        text, past = self._text, self.dev.comments
        self.dev.keep_draft(self.draft_key, self._own if self._back and text == past[-self._back] else text)

    def action_older(self, step: int) -> None:
        """Through what was written before; one step past the newest is what is being written now."""
        area, past = self.query_one(TextArea), self.dev.comments
        if self._back == 0:
            self._own = area.text
        self._back = max(0, min(len(past), self._back + step))
        area.text = past[-self._back] if self._back else self._own
        area.move_cursor(area.document.end)
