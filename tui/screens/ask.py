"""Ask: a conversation beside the gate. The answer streams in; nothing is decided here, and escape goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from engine.core.effects import CallAgent
from engine.core.state import GateState
from tui.kit.canvas import Canvas, harmless
from tui.kit.paint import BLANK, Line, outside, wrap
from tui.kit.view import View
from tui.panels.gate_text import gate_name

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


def talk_lines(gate: GateState, streamed: list[str], width: int) -> list[Line]:
    """Questions and answers; the last answer as far as it has come."""
    lines: list[Line] = []
    for number, (question, answer) in enumerate(gate.questions):
        if number:
            lines.append(BLANK)
        lines += wrap(outside(question), width, "fg bold", first="you     ")
        text = answer or "\n".join(streamed)
        for at, paragraph in enumerate((text or "…").split("\n")):
            first = " " * 8 if at else "answer  "
            lines += wrap(outside(paragraph), width, "fg" if answer else "muted", first=first, rest=" " * 8)
    if not lines:
        lines = wrap(
            "Ask about the change, the evidence or the review. A read-only agent answers; nothing is decided.",
            width,
            "muted",
        )
    return lines


class Talk(Canvas, can_focus=True):
    """The conversation so far."""


class AskScreen(ModalScreen[None]):
    CSS_PATH = "dialogs.tcss"
    BINDINGS = [
        Binding("escape", "leave", "back to the gate", priority=True),
        Binding("f2,ctrl+s", "send", "ask", priority=True),
    ]

    def __init__(self, gate: GateState, begin: str = "") -> None:
        super().__init__()
        self.gate = gate
        self.begin = begin
        """What a question begins with: the hunk that it is about."""
        self._sent = ""
        """What the engine has not yet taken."""

    @property
    def dev(self) -> DevteamApp:
        return cast("DevteamApp", self.app)

    @property
    def _draft(self) -> str:
        return self.dev.draft_key(f"ask-{self.gate.id}")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="ask"):
            yield Talk(id="talk")
            yield Input(placeholder="your question; enter: ask, esc: back to the gate")

    def on_mount(self) -> None:
        self.query_one("#ask").border_title = Content(f"ASK {harmless(gate_name(self.dev.view, self.gate))}")
        box = self.query_one(Input)
        box.cursor_blink = False
        draft = self.dev.drafts.get(self._draft)
        box.value = draft if self.begin in draft else f"{draft} {self.begin}".lstrip()
        box.select_on_focus = False
        box.focus()
        box.cursor_position = len(box.value)
        self.call_after_refresh(self.dev.redraw)

    def show(self, view: View) -> None:
        talk = self.query_one("#talk", Talk)
        gate = view.state.gates.get(self.gate.id, self.gate)
        width = talk.scrollable_content_region.width
        if width <= 0:
            return
        lines = talk_lines(gate, self._streamed(view), width)
        if not gate.open:
            by = f" by {outside(gate.by)}" if gate.by else ""
            lines += [BLANK, *wrap(f"This gate was answered in the meantime: {gate.choice}{by}.", width, "warn")]
        if talk.set_lines(lines):
            talk.scroll_end(animate=False)

    def _streamed(self, view: View) -> list[str]:
        for effect in view.state.inflight.values():
            if isinstance(effect, CallAgent) and effect.gate == self.gate.id:
                return self.dev.feed.answers.get(effect.id, [])
        return []

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_send()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.dev.keep_draft(self._draft, event.value or self._sent)

    def action_send(self) -> None:
        box = self.query_one(Input)
        if question := box.value.strip():
            self._sent, box.value = question, ""
            self.run_worker(self._send(question), exit_on_error=False)

    async def _send(self, question: str) -> None:
        """What the engine does not take comes back into the box, unless something new stands there."""
        ack = await self.dev.steering.ask(self.gate.id, question)
        box = self.query_one(Input)
        self._sent = ""
        if not ack.ok and not box.value:
            box.value = question
            box.cursor_position = len(question)
        self.dev.keep_draft(self._draft, box.value)

    def action_leave(self) -> None:
        self.dismiss(None)
