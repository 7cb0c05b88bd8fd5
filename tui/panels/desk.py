"""The desk: what waits for somebody, what speaks for it, and the change hunk by hunk. One card is in sight."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message

from engine.core.evidence import EvidenceRecord
from engine.core.wording import plural
from engine.link.protocol import Answered, AnyQuery, GetDiff, GetEvidence
from tui.kit.diffing import FileDiff, parse
from tui.kit.framed import Framed
from tui.kit.hunks import Hunk, Look, hunk_lines, same
from tui.kit.needs import Need, needs
from tui.kit.paint import BLANK, Line, outside, wrap
from tui.kit.rows import Row
from tui.kit.sheet import Sheet
from tui.kit.view import View
from tui.panels.desk_text import proof_lines, queue_rows
from tui.panels.draft_text import about_planning, asked_lines, draft_lines, draft_title
from tui.panels.gate_text import heading

SIDEWAYS = 16
WIDE = 100
"""Cells from which proof and change stand side by side."""


class Queue(Framed):
    """The cards. Up and down go through them; the card in sight is the one that is answered."""

    DEFAULT_CSS = """
    Queue { height: auto; }
    """
    BINDINGS = [
        Binding("up,k", "card(-1)", "previous card", show=False),
        Binding("down,j", "card(1)", "next card", show=False),
    ]

    class Chosen(Message):
        def __init__(self, card: Need) -> None:
            super().__init__()
            self.card = card

    def __init__(self) -> None:
        super().__init__(id="queue")
        self.cards: list[Need] = []
        self._rows: list[int] = []
        self._at = 0

    def show(self, view: View, cards: list[Need], width: int) -> None:
        self.cards = cards
        rows = queue_rows(view, cards, width)
        self._rows = [number for number, _ in rows]
        self._at = next(
            (
                number
                for number, card in enumerate(cards)
                if (view.gate is not None and card.gate == view.gate.id)
                or (view.gate is None and card.task == view.selected)
            ),
            -1,
        )
        self.set_lines([line for _, line in rows] or [(("nothing is waiting for you", "muted"),)])

    def action_card(self, step: int) -> None:
        if self.cards:
            at = self._at if self._at >= 0 else -step
            self.post_message(self.Chosen(self.cards[max(0, min(len(self.cards) - 1, at + step))]))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = offset.y + self.scroll_offset.y if offset is not None else -1
        if 0 <= row < len(self._rows):
            self.post_message(self.Chosen(self.cards[self._rows[row]]))


class Hunks(Sheet):
    """The change of the card in sight."""

    BINDINGS = [
        Binding("right", "sideways(1)", "right", show=False),
        Binding("left", "sideways(-1)", "left", show=False),
    ]

    class Changed(Message):
        """It is to be drawn another way."""

    def __init__(self) -> None:
        super().__init__(id="hunks")
        self.look = Look()
        self.hunks: list[Hunk] = []

    def action_sideways(self, step: int) -> None:
        self.look = Look(wrapped=False, left=max(0, self.look.left + step * SIDEWAYS))
        self.post_message(self.Changed())

    def toggle_wrap(self) -> None:
        self.look = Look(wrapped=not self.look.wrapped)
        self.post_message(self.Changed())

    def step_hunk(self, step: int) -> None:
        rows = [hunk.row for hunk in self.hunks]
        top = round(self.scroll_offset.y)
        target = next((row for row in rows if row > top), None) if step > 0 else None
        if step < 0:
            target = next((row for row in reversed(rows) if row < top), 0)
        if target is not None:
            self.scroll_to(y=target, animate=False)

    def hunk_in_sight(self) -> Hunk | None:
        """The one whose beginning was scrolled to last."""
        top = round(self.scroll_offset.y)
        seen = [hunk for hunk in self.hunks if hunk.row <= top + 1]
        return seen[-1] if seen else self.hunks[0] if self.hunks else None


class Desk(Horizontal):
    """Proof at the left, the change at the right; on a narrow screen one of them at a time."""

    DEFAULT_CSS = """
    Desk { height: 1fr; }
    Desk #reasons { width: 1fr; }
    Desk #proof { height: 1fr; }
    Desk #hunks { width: 1fr; height: 1fr; }
    """

    def __init__(
        self,
        fetch: Callable[[AnyQuery], Awaitable[Answered]],
        redraw: Callable[[], None],
        said: Callable[[str], Sequence[Row]],
        key_of: Callable[[str], str],
    ) -> None:
        super().__init__(id="desk")
        self._ask, self._redraw, self._said, self._key_of = fetch, redraw, said, key_of
        self._key = ("", "?")
        self._files: list[FileDiff] = []
        self._records: tuple[EvidenceRecord, ...] = ()
        self._error = ""
        self.loaded = True
        self.reading = False
        """On a narrow screen: the change is looked at."""
        self._sized = (-1, False)
        self._laid: tuple[object, ...] = ()
        """What the hunks were drawn from: a long change is not laid out anew for a clock."""
        self._lines: list[Line] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="reasons"):
            yield Queue()
            yield Sheet(id="proof")
        yield Hunks()

    @property
    def hunks(self) -> Hunks:
        return self.query_one(Hunks)

    @property
    def proof(self) -> Sheet:
        return self.query_one("#proof", Sheet)

    @property
    def queue(self) -> Queue:
        return self.query_one(Queue)

    def cited(self) -> str:
        """Where the hunk in sight lies, while the change has the keys."""
        hunk = self.hunks.hunk_in_sight() if self.hunks.has_focus else None
        return hunk.cite() if hunk is not None else ""

    def show(self, view: View) -> None:
        if not self.display or self.size.width <= 0:
            return
        self._load(view)
        self._arrange()
        cards = needs(view.state)
        width, _ = self.queue.room
        if width > 0:
            self.queue.border_title = f"WAITING FOR YOU {view.glyphs.sep} {len(cards)}"
            self.queue.show(view, cards, width)
        if about_planning(view.state, view.gate):
            self._draw_planning(view)
            return
        width, _ = self.proof.room
        if width > 0:
            self.proof.set_title("CRITERIA AND PROOF" if view.task is not None else "")
            self._set_proof(proof_lines(view, view.gate, self._records, width))
        width, _ = self.hunks.room
        if width > 0:
            self._draw_hunks(view, width)

    def _draw_planning(self, view: View) -> None:
        """A question of the planner, or a plan to approve: what is asked, and what it is about."""
        width, _ = self.proof.room
        if width > 0 and view.gate is not None:
            self.proof.set_title(heading(view.gate, None)[0])
            self._set_proof(asked_lines(view, view.gate, width))
        width, _ = self.hunks.room
        if width > 0:
            self.hunks.hunks, self._laid = [], ()
            self.hunks.set_title(*draft_title(view))
            self.hunks.set_lines(draft_lines(view, view.gate, width))

    def _set_proof(self, lines: list[Line]) -> None:
        """The cards above may have what these lines leave free, and two fifths in any case."""
        height = self.size.height
        self.queue.styles.max_height = max(4, height * 2 // 5, height - len(lines) - 2)
        self.proof.set_lines(lines)

    def _arrange(self) -> None:
        """As much room for the proof as its words need, the rest for the code."""
        width = self.size.width
        if (width, self.reading) == self._sized:
            return
        self._sized = (width, self.reading)
        narrow = width < WIDE
        reasons = self.query_one("#reasons")
        reasons.display = not (narrow and self.reading)
        self.hunks.display = not narrow or self.reading
        reasons.styles.width = "1fr" if narrow else max(44, min(72, width * 2 // 5))

    def _draw_hunks(self, view: View, width: int) -> None:
        task = view.task
        issues = task.review.issues if task is not None and task.review is not None else ()
        hunks = self.hunks
        if not self._files:
            hunks.hunks, self._laid = [], ()
            said = self._said(task.id) if task is not None and self.loaded and not self._error else ()
            why = outside(self._error) if self._error else "no change to show" if self.loaded else "loading the change"
            hunks.set_title(f"OUTPUT OF T{outside(task.id)}" if said and task is not None else "CHANGE")
            lines = [line for row in said for line in wrap(outside(row.text), width, row.style)]
            hunks.set_lines([((f"{why}; last output:" if said else why, "muted"),), *lines])
            return
        laid = (self._files, issues, width, view.glyphs, hunks.look)
        if not same(laid, self._laid):
            self._laid = laid
            self._lines, hunks.hunks = hunk_lines(self._files, issues, width, view.glyphs, hunks.look)
        lines = self._lines
        sep = view.glyphs.sep
        wrap_key, hunk_key, full_key = (self._key_of(name) for name in ("wrap", "match_next", "diff"))
        how = f"from column {hunks.look.left + 1}" if hunks.look.left else f"{wrap_key}: wrap"
        if hunks.look.wrapped:
            how = f"wrapped, {wrap_key}: cut"
        files = plural(len(self._files), "file")
        hunks.set_title(
            f"CHANGE OF T{outside(task.id) if task else ''} {sep} {files}, {plural(len(hunks.hunks), 'hunk')}",
            f"{hunk_key}: next hunk {sep} {how} {sep} {full_key}: full screen",
        )
        hunks.set_lines(lines or [BLANK])

    # ── what it asks for ──

    def _load(self, view: View) -> None:
        task = view.task
        key = (task.id, task.tree) if task is not None else ("", "")
        if key == self._key:
            return
        self._key = key
        self._files, self._records, self._error = [], (), ""  # never another task's change
        self.hunks.look = Look()
        self.hunks.scroll_to(y=0, animate=False)
        self.proof.scroll_to(y=0, animate=False)
        if task is not None:
            self.loaded = False
            self.run_worker(self._fetch(key), group="desk", exclusive=True, exit_on_error=False)

    async def _fetch(self, key: tuple[str, str]) -> None:
        diff = await self._ask(GetDiff(task=key[0]))
        evidence = await self._ask(GetEvidence(task=key[0]))
        if key != self._key:
            return
        self._files = parse(diff.text) if diff.text else []
        self._error, self._records, self.loaded = diff.error, evidence.evidence, True
        self._redraw()

    def on_hunks_changed(self, event: Hunks.Changed) -> None:
        event.stop()
        self._redraw()
