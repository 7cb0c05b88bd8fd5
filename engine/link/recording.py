"""A recording of a run, made from any link: its facts, and what its agents said meanwhile, in the order of time."""

from __future__ import annotations

from engine.core.activity import AnyActivity
from engine.core.effects import CallAgent
from engine.core.events import EffectStarted, Envelope, decode_envelope
from engine.link.contract import GetEvents, GetOutput, Link

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
    items: list[Envelope | AnyActivity] = list(facts)
    for task in tasks:
        items += (await link.fetch(GetOutput(task=task))).output
    return sorted(items, key=lambda item: item.at)
