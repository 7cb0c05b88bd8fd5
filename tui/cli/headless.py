"""A run without the dashboard: one line an event, gates asked on the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, ParamSpec

from engine.core import events as ev
from engine.core.clean import clean_line
from tui.cli import printing as say
from tui.cli.event_text import event_line

if TYPE_CHECKING:
    from engine.core.state import GateState, State
    from engine.service.running import Session, Subscription

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
P = ParamSpec("P")


def printer(json: bool) -> Show:
    """Prints events as JSON lines, as coloured lines on a terminal, or as plain ones."""
    if json:
        return undisturbed(lambda envelope, _state: say.json_line(ev.encode_envelope(envelope)))
    if not sys.stdout.isatty():
        return undisturbed(_plain)
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def show(envelope: ev.Envelope, state: State) -> None:
        if line := event_line(envelope):
            done, total = state.progress()
            head = Text(f"{done}/{total} ${state.spent_usd:.2f} ", style="dim")
            console.print(head + Text(line, style=_STYLE.get(ev.type_of(envelope.event), "")))

    return undisturbed(show)


def held(reason: str) -> None:
    """Why nothing goes on, where no event can say it."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"waiting: {clean_line(reason, 600)}\n")


def undisturbed(show: Callable[P, None]) -> Callable[P, None]:
    """The run goes on when its words cannot be written any more: the reader or the terminal is gone, the disk full."""

    def shown(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            show(*args, **kwargs)
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
        heard = session.bus.subscribe()
        try:
            with Keyboard(session.left_alone) as keyboard:
                while not keyboard.closed:
                    gate = _waiting(session)
                    if gate is None:
                        if not await heard.take():
                            return
                        continue
                    await _ask(session, gate, keyboard, heard)
            if gate := _waiting(session):
                say.out(f"\nno more answers from here: devteam answer {gate.id} {'|'.join(gate.choices)}")
                say.flush()
        except OSError:  # lost in the middle of a question
            say.hush()
            session.left_alone()
        finally:
            heard.close()

    return attend


def _waiting(session: Session) -> GateState | None:
    """The oldest open gate that does not wait for an answer of ours itself."""
    gates = session.state.open_gates()
    return next((gate for gate in gates if all(answer for _question, answer in gate.questions)), None)


async def _ask(session: Session, gate: GateState, keyboard: Keyboard, heard: Subscription) -> None:
    """One question. It is dropped when the gate is answered elsewhere (devteam answer, the dashboard)."""
    from engine.core.commands import Answer

    say.out(f"\n{gate.title}\n{gate.body}")
    choices = [*gate.choices, "edit"] if gate.kind == "plan" else list(gate.choices)
    sys.stdout.write(f"{gate.id} [{'/'.join(choices)}] ")
    say.flush()
    line = asyncio.ensure_future(keyboard.line())
    try:
        while not line.done() and _is_open(session, gate.id):
            news = asyncio.ensure_future(heard.take())
            await asyncio.wait((line, news), return_when=asyncio.FIRST_COMPLETED)
            if not news.done():
                news.cancel()
                await asyncio.gather(news, return_exceptions=True)
            elif not news.result():
                return
        if not line.done():
            say.out("(answered elsewhere)")
            return
        choice, _, text = (line.result() or "").strip().partition(" ")
        if choice in ("e", "edit") and gate.kind == "plan":
            await _edit(session, keyboard)
        elif choice:
            ack = await session.send(Answer(gate=gate.id, choice=choice, text=text.strip(), by="you"))
            say.out(ack.detail)
    finally:
        line.cancel()
        await asyncio.gather(line, return_exceptions=True)


async def _edit(session: Session, keyboard: Keyboard) -> None:
    """plan.md in $EDITOR; what is saved is checked, and asked about anew."""
    import click

    keyboard.__exit__()
    try:
        await asyncio.to_thread(click.edit, filename=str(session.sprint.plan_path))
    except click.ClickException as failed:
        say.out(f"{failed.format_message()}: edit {session.sprint.plan_path} yourself; it is taken up when you save it")
    finally:
        keyboard.__enter__()
    session.reread()


def _is_open(session: Session, name: str) -> bool:
    gate = session.state.gates.get(name)
    return gate is not None and gate.open


class Keyboard:
    """Lines typed at the terminal, without a thread: nothing that waits for a key keeps the process alive."""

    def __init__(self, gone: Callable[[], None]) -> None:
        """`gone` is called when the terminal is lost; the end of what is typed (^D) is not that."""
        self.closed = False
        self._gone = gone
        self._pending = b""
        self._typed = asyncio.Event()

    def __enter__(self) -> Keyboard:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._read)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())

    async def line(self) -> str | None:
        """The next whole line; None when there will be none."""
        while b"\n" not in self._pending:
            if self.closed:
                return None
            self._typed.clear()
            await self._typed.wait()
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace")

    def _read(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), 65536)
        except OSError:
            data = b""
        if not data:
            self.closed = True
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            if _hung_up(sys.stdin.fileno()):
                self._gone()
        self._pending += data
        self._typed.set()


def _hung_up(terminal: int) -> bool:
    look = select.poll()
    look.register(terminal, 0)
    return any(seen & (select.POLLHUP | select.POLLERR) for _fd, seen in look.poll(0))
