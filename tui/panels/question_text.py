"""A gate in full, open or answered: what is asked, why, what each answer means, and what was said. Pure."""

from __future__ import annotations

from engine.core.gate_choices import meaning
from engine.core.state import GateState
from engine.core.vocabulary import GateKind
from tui.kit.keys import GATE_CHOICES, KeyMap
from tui.kit.needs import Need
from tui.kit.paint import BLANK, Line, crop, outside, pad, wrap
from tui.kit.view import View
from tui.kit.wording import duration
from tui.panels.gate_text import gate_body, gate_name


def question_lines(view: View, gate: GateState, card: Need | None, keys: KeyMap, width: int) -> list[Line]:
    """One gate: the words of who asks, the reason, the answers."""
    lines = wrap(gate_name(view, gate), width, "fg bold")
    if card is not None:
        lines += wrap(outside(card.why), width, "muted")
        if card.again:
            lines += wrap(outside(card.again), width, "warn")
    lines.append(BLANK)
    lines += gate_body(view, gate, width)
    lines += _assumed(view, gate, width)
    lines.append(BLANK)
    if gate.open:
        lines += _answers(gate, keys, width)
    else:
        by = f" by {outside(gate.by)}" if gate.by else ""
        lines += wrap(f"answered: {gate.choice}{by}", width, "good")
        lines += wrap(outside(gate.text), width, "fg", first="  ") if gate.text else []
    return lines


def _assumed(view: View, gate: GateState, width: int) -> list[Line]:
    """What the planner takes to be so if nobody says."""
    planning = view.state.planning
    if gate.kind is not GateKind.QUESTION or planning is None:
        return []
    text = next((question for question, name in planning.open_gates.items() if name == gate.id), "")
    found = next((one for one in planning.questions if one.text == text or one.text in gate.body), None)
    if found is None or not found.assumption or found.assumption in gate.body:
        return []
    return wrap(outside(found.assumption), width, "accent", first="default: ")


def _answers(gate: GateState, keys: KeyMap, width: int) -> list[Line]:
    lines: list[Line] = [(("POSSIBLE ANSWERS", "muted bold"),)]
    for name, choice in GATE_CHOICES.items():
        meant = meaning(gate.kind, choice)
        if choice in gate.choices and meant is not None:
            first, *rest = wrap(f"{meant.short}: {meant.long}", width - 14, "fg")
            head = (f"{keys.shown(name)} ", "gate bold"), (pad(choice.value, 12), "fg")
            lines.append((*head, *first[1:]))
            lines += [((" " * 14, ""), *line[1:]) for line in rest]
    return lines


def question_row(view: View, gate: GateState, width: int) -> Line:
    glyphs = view.glyphs
    name = gate_name(view, gate)
    if gate.open:
        waits = duration(view.now - gate.opened_at)
        return crop([(f" {glyphs.gate} ", "gate"), (f"{waits} ", "muted"), (name, "fg")], width)
    return crop([(f" {glyphs.ok} ", "good"), (f"{gate.choice} ", "muted"), (name, "muted")], width)
