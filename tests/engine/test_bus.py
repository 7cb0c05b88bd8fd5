"""The bus: facts always arrive, live output is bounded and joined."""

from __future__ import annotations

from engine.bus import ACTIVITY_KEPT, JOIN_LIMIT, Bus
from engine.core.activity import AgentOutput, CheckProgress, OutputKind
from engine.core.events import Envelope, Noted
from engine.core.model import Role


def fact(number: int) -> Envelope:
    return Envelope(seq=number, stream="s", at=0.0, event=Noted(text=str(number)))


def words(text: str, effect: str = "e", kind: OutputKind = OutputKind.TEXT) -> AgentOutput:
    return AgentOutput(effect=effect, kind=kind, role=Role.IMPLEMENTER, seat=f"seat of {effect}", text=text)


async def test_facts_are_never_dropped_and_keep_their_order() -> None:
    bus = Bus()
    heard = bus.subscribe()
    for number in range(20_000):
        bus.publish(fact(number))
    taken = await heard.take()
    assert [one.seq for one in taken if isinstance(one, Envelope)] == list(range(20_000))


async def test_live_output_is_bounded_for_a_slow_reader() -> None:
    bus = Bus()
    heard = bus.subscribe()
    for number in range(ACTIVITY_KEPT + 500):
        bus.publish(CheckProgress(effect="e", check=str(number), state="running"))
    taken = await heard.take()
    assert len(taken) == ACTIVITY_KEPT
    assert heard.dropped == 500
    assert isinstance(taken[-1], CheckProgress)
    assert taken[-1].check == str(ACTIVITY_KEPT + 499)


async def test_streamed_text_of_one_effect_is_joined_and_of_two_is_not() -> None:
    bus = Bus()
    heard = bus.subscribe()
    bus.publish(words("a"))
    bus.publish(words("b"))
    bus.publish(words("c", effect="other"))
    bus.publish(words("tool", effect="other", kind=OutputKind.TOOL_CALL))
    taken = [one for one in await heard.take() if isinstance(one, AgentOutput)]
    assert [(one.effect, one.text) for one in taken] == [("e", "a\nb"), ("other", "c"), ("other", "tool")]
    assert [one.seat for one in taken] == ["seat of e", "seat of other", "seat of other"]


async def test_joined_text_loses_nothing_and_has_a_limit() -> None:
    bus = Bus()
    heard = bus.subscribe()
    said = [f"{number} " + "x" * (number * 37 % 900) for number in range(200)]
    taken: list[str] = []
    for number, text in enumerate(said):
        bus.publish(words(text))
        if number % 60 == 59:
            taken += [one.text for one in await heard.take() if isinstance(one, AgentOutput)]
    taken += [one.text for one in await heard.take() if isinstance(one, AgentOutput)]
    assert "\n".join(taken) == "\n".join(said)
    assert max(map(len, taken)) <= JOIN_LIMIT
    assert len(taken) < len(said) / 4


async def test_every_subscriber_hears_and_a_closed_one_ends() -> None:
    bus = Bus()
    first, second = bus.subscribe(), bus.subscribe()
    bus.publish(fact(1))
    second.close()
    bus.publish(fact(2))
    bus.close()
    assert [one.seq async for one in first if isinstance(one, Envelope)] == [1, 2]
    assert [one.seq async for one in second if isinstance(one, Envelope)] == [1]
