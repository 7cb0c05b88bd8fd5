"""The signs of the interface, in Unicode and in ASCII. A sign never stands alone: a word and a colour go with it."""

from __future__ import annotations

from engine.core.model import Decision, Health, Struct, Verdict
from engine.core.state import Status


class Glyphs(Struct, frozen=True, kw_only=True):
    """One set of signs; every sign is one cell wide, also in tmux and over ssh."""

    ascii: bool = False
    ok: str = "✔"
    bad: str = "✘"
    run: str = "▶"
    wait: str = "·"
    gate: str = "‖"
    skip: str = "»"
    stop: str = "■"
    none: str = "–"
    warn: str = "▲"
    dot: str = "●"
    half: str = "◐"
    down: str = "▼"
    flip: str = "⇄"
    up: str = "↑"
    arrow: str = "→"
    sep: str = "·"
    dash: str = "—"
    minus: str = "−"
    ellipsis: str = "…"
    bar: str = "│"
    rule: str = "─"
    full: str = "▰"
    empty: str = "▱"
    block: str = "█"
    shade: str = "░"
    unit: str = "▮"
    cursor: str = "▌"
    open: str = "▾"
    closed: str = "▸"
    tool: str = "▸"
    change: str = "±"
    think: str = "∴"
    spark: str = "▁▂▃▄▅▆▇█"
    knob: str = "◆"


UNICODE = Glyphs()
ASCII = Glyphs(
    ascii=True,
    ok="+",
    bad="x",
    run=">",
    wait=".",
    gate="#",
    skip="~",
    stop="!",
    none="-",
    warn="!",
    dot="*",
    half="o",
    down="v",
    flip="%",
    up="^",
    arrow="->",
    sep="-",
    dash="-",
    minus="-",
    ellipsis="...",
    bar="|",
    rule="-",
    full="#",
    empty=".",
    block="#",
    shade=".",
    unit="|",
    cursor=">",
    open="v",
    closed=">",
    tool=">",
    change="~",
    think=":",
    spark="_.-=*#@%"[:8],
    knob="O",
)

_TO_ASCII = str.maketrans("·—–−…→│─═×±↑⏎", "----~>|-=x~^/")
"""One cell for one cell, so that nothing moves."""


def plain_ascii(text: str) -> str:
    """Devteam's own typography without the typographic characters; other scripts stay as they are."""
    return text.translate(_TO_ASCII)


def of_verdict(verdict: Verdict | str | None, glyphs: Glyphs) -> tuple[str, str, str]:
    """Sign, word and style of a verdict."""
    match verdict:
        case Verdict.PASS:
            return glyphs.ok, "pass", "good"
        case Verdict.FAIL:
            return glyphs.bad, "fail", "bad"
        case Verdict.ERROR:
            return glyphs.warn, "error", "bad"
        case Verdict.NOT_RUN:
            return glyphs.none, "not run", "warn"
        case _:
            return glyphs.wait, "", "muted"


def of_status(status: Status, glyphs: Glyphs) -> tuple[str, str, str]:
    """Sign, word and style of a task's status."""
    match status:
        case Status.COMPLETE:
            return glyphs.ok, "done", "good"
        case Status.RUNNING:
            return glyphs.run, "run", "accent"
        case Status.BLOCKED:
            return glyphs.stop, "blocked", "bad"
        case Status.SKIPPED:
            return glyphs.skip, "skipped", "muted"
        case Status.HALTED:
            return glyphs.stop, "halted", "bad"
        case Status.BUDGET_EXHAUSTED:
            return glyphs.stop, "budget", "warn"
        case _:
            return glyphs.wait, "next", "muted"


def of_health(health: Health, glyphs: Glyphs) -> tuple[str, str]:
    """Sign and style of a health; the word is its value."""
    match health:
        case Health.PROGRESSING:
            return glyphs.dot, "good"
        case Health.STALLED:
            return glyphs.half, "warn"
        case Health.FLIP_FLOPPING:
            return glyphs.flip, "warn"
        case Health.REGRESSING:
            return glyphs.down, "bad"
        case _:
            return glyphs.stop, "bad"


def of_decision(decision: Decision | None) -> str:
    """Style of a decision."""
    match decision:
        case Decision.COMPLETE:
            return "good"
        case Decision.ITERATE:
            return "accent"
        case Decision.ESCALATE | Decision.COUNCIL | Decision.BUDGET_EXHAUSTED:
            return "warn"
        case Decision.SKIPPED | None:
            return "muted"
        case _:
            return "bad"
