"""Learnings that agents contradict: after the second voice a human says what holds. Nothing waits for the answer."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.gate_choices import offered
from engine.core.model import Disputed
from engine.core.state import GateState, State
from engine.core.vocabulary import Choice, GateKind

VOICES = 2
"""So many tasks contradict a learning, and the human is asked about it."""
KEPT = 50


def consider(turn: Turn) -> None:
    """A question a learning, while somebody attends: unattended it only waits."""
    state = turn.state
    if not state.attended or state.paused:
        return
    for name, one in state.disputed.items():
        if len(one.said) >= VOICES and not one.gate:
            turn.say(_gate(turn.gate_name(), name, one))
            return


def _gate(gate: str, name: str, one: Disputed) -> ev.GateOpened:
    known = one.title or f"{name} (devteam learnings show {name})"
    lines = [f"Learning: {known}", *(f"AGAINST: {words}" for words in one.said)]
    return ev.GateOpened(
        gate=gate,
        task="",
        kind=GateKind.LEARNING,
        title=f"Learning {name} is contradicted {len(one.said)} times",
        body="\n".join(lines),
        choices=offered(GateKind.LEARNING),
        tree=name,
    )


def waits(state: State, gate: GateState) -> bool:
    """Whether the end of a run waits for a gate: for this kind only where somebody sits there to answer it."""
    return gate.kind is not GateKind.LEARNING or (state.attended and state.waits)


def said(state: State, event: ev.LearningDisputed) -> State:
    """One voice a task: an agent that says it in every iteration says it once."""
    known = state.disputed.get(event.name, Disputed())
    voice = f"{state.sprint}, task {event.task}" if event.task else f"{state.sprint}, {event.role or 'an agent'}"
    if any(words.split(": ")[0] == voice for words in known.said):
        return state
    now = replace(known, said=(*known.said, f"{voice}: {event.why}")[-10:], settled="")
    return replace(state, disputed=dict(list({**state.disputed, event.name: now}.items())[-KEPT:]))


def run_started(state: State, found: dict[str, Disputed]) -> State:
    """The files say what stands: what was settled or dropped there meanwhile is asked no more."""
    asked = {gate.tree: gate for gate in state.open_gates() if gate.kind is GateKind.LEARNING}
    gates = {gate.id: replace(gate, choice=Choice.WITHDRAWN) for name, gate in asked.items() if name not in found}
    kept: dict[str, Disputed] = {}
    for name, one in found.items():
        known = state.disputed.get(name, Disputed())
        if known.settled and known.settled != one.settled:  # said, and not in the file yet
            kept[name] = replace(one, said=(), settled=known.settled)
        else:
            kept[name] = replace(one, gate=asked[name].id if name in asked else "", settled="")
    return replace(state, disputed=kept, gates={**state.gates, **gates})


def gate_opened(state: State, event: ev.GateOpened) -> State:
    one = state.disputed.get(event.tree, Disputed())
    return replace(state, disputed={**state.disputed, event.tree: replace(one, gate=event.gate)})


def gate_answered(state: State, gate: GateState) -> State:
    one = replace(state.disputed.get(gate.tree, Disputed()), gate="")
    words = {Choice.YES: "dropped", Choice.SKIP: "kept", Choice.COMMENT: "corrected"}
    word = words.get(gate.choice) if gate.choice is not None else None
    if word is not None:
        text = " ".join(gate.text.split())
        one = replace(one, said=(), settled=f"{word} by {gate.by or 'you'}" + (f": {text}" if text else ""))
    return replace(state, disputed={**state.disputed, gate.tree: one})
