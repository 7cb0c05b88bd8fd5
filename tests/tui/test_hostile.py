"""Text from outside is hostile: nothing is executed, nothing is broken, no control byte reaches a real terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from engine.core.activity import AgentOutput, OutputKind
from engine.core.events import Envelope
from engine.core.fold import fold
from engine.core.model import Role
from engine.link.protocol import LinkStatus
from tests.depth import examples
from tests.patience import patience
from tests.tui.driving import app_on, press, settle
from tests.tui.hostile import ATTACKS, EVERYTHING, LONG, MARKERS, hostile, recorder
from tui.app.attention import title_of
from tui.kit.canvas import harmless
from tui.kit.glyphs import UNICODE
from tui.kit.layout import wrapped
from tui.kit.paint import fit, outside, wrap
from tui.kit.stream import rows_of
from tui.kit.view import View
from tui.panels.gate_text import gate_body, gate_title
from tui.panels.header import header_lines, notice_line
from tui.panels.health import health_lines
from tui.panels.iteration import iteration_lines
from tui.panels.ladder import ladder_lines
from tui.panels.task_rows import task_rows
from tui.screens.ask import talk_lines
from tui.screens.cost import cost_lines
from tui.screens.council import council_lines
from tui.screens.plan import plan_lines

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2028\u2029]")
PAGE_KEYS = ("i", "e", "d", "dollar_sign", "l", "b", "p", "o", "comma", "f1", "escape")


def painted(app: object) -> str:
    """Every cell of the screen as text, in rows."""
    screen = app.screen  # type: ignore[attr-defined]
    strips = screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def together(*names: str) -> str:
    return " ".join(ATTACKS[name] for name in names)


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(together("markup", "click", "format"), id="markup"),
        pytest.param(together("osc52", "title", "csi", "c1", "dcs", "nul", "cr"), id="control"),
        pytest.param(together("bidi", "wide", "surrogate", "newlines"), id="unicode"),
    ],
)
async def test_every_screen_takes_it(attack: str) -> None:
    link = hostile(attack)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        for key in ("", *PAGE_KEYS, "question_mark", "escape", "g", "g", "c", "escape"):
            if key:
                await press(pilot, key)
            found = CONTROL.search(painted(app).replace("\n", ""))
            assert found is None, (key, found)
        assert link.sent == []


async def test_a_click_in_agent_text_does_nothing() -> None:
    link = hostile(ATTACKS["click"])
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.options.clock.pass_guard()  # type: ignore[attr-defined]
        bar = app.screen.query_one("#gate-buttons").region
        for y in range(3, 39, 3):
            for x in (6, 50, 95):
                if not bar.y <= y < bar.bottom:
                    await pilot.click(offset=(x, y))
        await settle(pilot)
        assert link.sent == []
        assert app.gates.current is not None


async def test_megabyte_lines() -> None:
    app = app_on(hostile(LONG))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await press(pilot, "i", "e", "d", "p", "escape", "3")
        assert "1,000,000" in app.screen.query_one("#output-0").lines.whole_text()


TEXT = st.text(alphabet=st.characters(codec="utf-16", min_codepoint=0, max_codepoint=0x10FFFF), max_size=300)


@pytest.mark.parametrize("attack", [pytest.param(text, id=name) for name, text in ATTACKS.items()])
@pytest.mark.parametrize("width", [20, 33, 120])
def test_every_panel_draws_it_as_text(attack: str, width: int) -> None:
    """Each panel's own function, without a screen: what it hands to the canvas is harmless already."""
    state = fold(item for item in recorder(attack).items if isinstance(item, Envelope))
    view = View(state=state, now=state.now, selected="1.1", link=LinkStatus(status="lost", detail=attack, hint=attack))
    gate = view.gates()[0]
    drawn = [
        *header_lines(view, width),
        notice_line(view, width),
        *(line for _, line in task_rows(view, width)),
        *iteration_lines(view, width, 12),
        *ladder_lines(view, width, 20),
        *health_lines(view, width, 20),
        gate_title(view, gate, 1, 2, width),
        *gate_body(view, gate, width),
        *talk_lines(gate, [attack], width),
        *plan_lines(view, width),
        *council_lines(view, state.tasks["1.2"], width),
        *cost_lines(view, [], width, 40),
    ]
    for line in drawn:
        for text, _ in line:
            assert CONTROL.search(text) is None, text
    assert CONTROL.search(title_of(view)) is None


@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(TEXT)
def test_painting_primitives_hold_their_width(text: str) -> None:
    clean = outside(text)
    assert CONTROL.search(clean) is None
    assert cell_len(fit(clean, 17)) <= 17
    assert all(cell_len(piece) <= 20 for piece in wrapped(harmless(text), 20))
    assert all(sum(cell_len(part) for part, _ in line) <= 30 for line in wrap(clean, 30))


@settings(max_examples=examples(100), deadline=None)
@given(TEXT, st.sampled_from(list(OutputKind)))
def test_output_rows_are_single_lines(text: str, kind: OutputKind) -> None:
    output = AgentOutput(effect="e", kind=kind, role=Role.IMPLEMENTER, text=text, tool=text, path=text)
    for row in rows_of(output, UNICODE):
        assert CONTROL.search(harmless(row.text)) is None


def test_no_control_byte_on_a_real_terminal() -> None:
    """The dashboard in a pty, through all its screens: what it writes holds none of the attacks' bytes."""
    written = _in_a_terminal([b"i", b"e", b"d", b"$", b"l", b"b", b"p", b"o", b",", b"\x1bOP", b"\x1b", b"g", b"q"])
    assert b"007-hostile" in written
    for marker in MARKERS:
        assert marker not in written, marker
    assert EVERYTHING.encode("utf-8", "replace") not in written


def _in_a_terminal(keys: list[bytes]) -> bytes:
    root = Path(__file__).parents[2]
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(root)
        os.environ.update(TERM="xterm-256color", TEXTUAL_ANIMATIONS="none")
        os.environ.pop("NO_COLOR", None)
        os.execv(sys.executable, [sys.executable, "-m", "tests.tui.hostile"])
    ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    os.kill(pid, signal.SIGWINCH)
    out = bytearray()
    deadline = time.monotonic() + patience(60)
    try:
        _drain(master, out, deadline, until=b"007-hostile")
        for key in keys:
            os.write(master, key)
            before = len(out)
            _drain(master, out, min(deadline, time.monotonic() + patience(8)), grown=before, quiet=0.25)
    finally:
        _drain(master, out, time.monotonic() + patience(3))
        os.close(master)
        _reap(pid)
    return bytes(out)


def _drain(
    master: int, out: bytearray, deadline: float, until: bytes = b"", grown: int = -1, quiet: float = 0.5
) -> None:
    """Read until the words are there, or until it has been quiet for a while after growing."""
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], quiet)
        if ready:
            try:
                out += os.read(master, 65536)
            except OSError:
                return
        elif until:
            if until in out:
                return
        elif grown < 0 or len(out) > grown:
            return


def _reap(pid: int) -> None:
    for _ in range(600):
        done, _ = os.waitpid(pid, os.WNOHANG)
        if done:
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
