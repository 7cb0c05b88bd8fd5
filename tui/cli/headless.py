"""A run without the dashboard: one line an event, gates asked on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from engine.core import events as ev
from tui.cli import say
from tui.cli.words import event_line

if TYPE_CHECKING:
    from engine.core.state import State
    from engine.link.running import Session

_STYLE = {
    "run_ended": "bold",
    "task_ended": "bold",
    "committed": "green",
    "gate_opened": "bold yellow",
    "decided": "cyan",
    "effect_failed": "red",
    "noted": "yellow",
    "health_changed": "dim",
}


Show = Callable[[ev.Envelope, "State"], None]


def printer(json: bool) -> Show:
    """Prints events as JSON lines, as coloured lines on a terminal, or as plain ones."""
    if json:
        return _undisturbed(lambda envelope, _state: say.json_line(ev.encode_envelope(envelope)))
    if not sys.stdout.isatty():
        return _undisturbed(_plain)
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def show(envelope: ev.Envelope, state: State) -> None:
        if line := event_line(envelope):
            done, total = state.progress()
            head = Text(f"{done}/{total} ${state.spent_usd:.2f} ", style="dim")
            console.print(head + Text(line, style=_STYLE.get(ev.type_of(envelope.event), "")))

    return _undisturbed(show)


def _undisturbed(show: Show) -> Show:
    """The run goes on when its words cannot be written any more: the reader left, the disk is full."""

    def shown(envelope: ev.Envelope, state: State) -> None:
        try:
            show(envelope, state)
        except (OSError, SystemExit):
            say.hush()

    return shown


def _plain(envelope: ev.Envelope, _state: State) -> None:
    if line := event_line(envelope):
        say.out(line)
        sys.stdout.flush()


def attendant() -> Callable[[Session], Coroutine[None, None, None]]:
    """Puts each gate to the person at the terminal."""

    async def attend(session: Session) -> None:
        import asyncio

        heard = session.bus.subscribe()
        for gate in session.state.open_gates():
            await _ask(session, gate.id)
        async for message in heard:
            if isinstance(message, ev.Envelope) and isinstance(message.event, ev.GateOpened | ev.GateReplied):
                await asyncio.sleep(0)
                await _ask(session, message.event.gate)

    return attend


async def _ask(session: Session, gate_id: str) -> None:
    import asyncio

    from engine.core.commands import Answer

    while True:
        gate = session.state.gates.get(gate_id)
        if gate is None or not gate.open or any(not answer for _question, answer in gate.questions):
            return
        say.out(f"\n{gate.title}\n{gate.body}")
        said = await asyncio.to_thread(input, f"{gate.id} [{'/'.join(gate.choices)}] ")
        choice, _, text = said.strip().partition(" ")
        if not choice:
            continue
        ack = await session.send(Answer(gate=gate.id, choice=choice, text=text.strip(), by="you"))
        say.out(ack.detail)
        if ack.ok:
            return
