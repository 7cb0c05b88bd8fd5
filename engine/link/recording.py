"""A recording of a run, made from any link: its facts, and what its agents said meanwhile, in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from engine.core.activity import AnyActivity
from engine.core.effects import CallAgent
from engine.core.events import EffectStarted, Envelope, decode_envelope
from engine.link.protocol import GetEvents, GetOutput, Link

PAGE = 2000


async def record(link: Link) -> list[Envelope | AnyActivity]:
    """Everything there is to play again. What an agent said is in its log, not in the journal: it is asked for."""
    facts: list[Envelope] = []
    while True:
        answer = await link.fetch(GetEvents(after=facts[-1].seq if facts else 0, limit=PAGE))
        if answer.error or not answer.events:
            break
        facts += [decode_envelope(line) for line in answer.events]
    started = (fact.event.effect for fact in facts if isinstance(fact.event, EffectStarted))
    tasks = dict.fromkeys(effect.task for effect in started if isinstance(effect, CallAgent))
    said: list[AnyActivity] = []
    for task in tasks:
        said += (await link.fetch(GetOutput(task=task))).output
    return in_order(facts, said)


def in_order(facts: Sequence[Envelope], said: Sequence[AnyActivity]) -> list[Envelope | AnyActivity]:
    """By time; but facts stay in the journal's own order, whatever the clock did meanwhile."""
    times = accumulate((fact.at for fact in facts), max)
    items: list[tuple[float, Envelope | AnyActivity]] = [*zip(times, facts, strict=True)]
    items += [(one.at, one) for one in said]
    return [item for _, item in sorted(items, key=lambda timed: timed[0])]
