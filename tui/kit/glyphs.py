"""The signs of the interface, in Unicode and in ASCII. A sign never stands alone: a word and a colour go with it."""

from __future__ import annotations

from typing import assert_never

from engine.core import status_words
from engine.core.model import Decision, Health, Struct, Verdict
from engine.core.state import Status
from engine.core.vocabulary import Outcome


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


def of_verdict(verdict: Verdict | None, glyphs: Glyphs) -> tuple[str, str, str]:
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
        case None:
            return glyphs.wait, "", "muted"
        case _:
            assert_never(verdict)


def of_status(status: Status, glyphs: Glyphs) -> tuple[str, str, str]:
    """Sign, word and style of a task's status."""
    words = status_words.of_status(status)
    return sign_of(words, glyphs), words.word, words.style


def of_outcome(outcome: Outcome, glyphs: Glyphs) -> tuple[str, str, str]:
    """Sign, word and style of a run's end."""
    words = status_words.of_outcome(outcome)
    return sign_of(words, glyphs), words.word, words.style


def of_health(health: Health, glyphs: Glyphs) -> tuple[str, str]:
    """Sign and style of a health; the word is its value."""
    words = status_words.of_health(health)
    return sign_of(words, glyphs), words.style


def sign_of(words: status_words.Words, glyphs: Glyphs) -> str:
    return str(getattr(glyphs, words.sign))


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
        case Decision.PARKED:
            return "gate"
        case Decision.HALT | Decision.BLOCKED:
            return "bad"
        case _:
            assert_never(decision)
