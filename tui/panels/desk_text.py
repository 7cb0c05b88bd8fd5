"""What the desk says: the queue with its reasons, every criterion with its proof, what each key will cause. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from engine.core.evidence import EvidenceRecord, RunRecord
from engine.core.gate_choices import meaning
from engine.core.gates import approves
from engine.core.model import Proof, ProofVerdict, Verdict
from engine.core.state import GateState, State, Status, TaskState
from engine.core.vocabulary import Choice, GateKind
from engine.core.wording import plural
from tui.kit.glyphs import of_verdict
from tui.kit.keys import GATE_CHOICES, KeyMap
from tui.kit.needs import Need, NeedKind, held_up
from tui.kit.outlook import cost_of
from tui.kit.paint import BLANK, Line, Span, cells_of, crop, outside, spread, width_of, wrap, wrap_to
from tui.kit.view import View
from tui.kit.wording import duration, money, short_hash
from tui.panels.gate_text import gate_name, issue_lines, left_to_do, review_tail, said_lines, void_lines


def _label(kind: GateKind) -> str:
    """What a card calls the gate."""
    match kind:
        case GateKind.TASK:
            return "commit"
        case GateKind.SPRINT:
            return "final review"
        case (
            GateKind.FIX
            | GateKind.BLOCKED
            | GateKind.PERMISSION
            | GateKind.QUESTION
            | GateKind.PLAN
            | GateKind.PRD
            | GateKind.LEARNING
        ):
            return str(kind)
        case _:
            assert_never(kind)


def queue_rows(view: View, cards: Sequence[Need], width: int) -> list[tuple[int, Line]]:
    """The cards, each in one or two rows; with every row the number of its card."""
    rows: list[tuple[int, Line]] = []
    for number, card in enumerate(cards):
        rows += [(number, line) for line in card_lines(view, card, width)]
    return rows


def card_lines(view: View, card: Need, width: int) -> list[Line]:
    glyphs = view.glyphs
    task, gate = view.state.tasks.get(card.task), view.state.gates.get(card.gate)
    here = (view.gate is not None and card.gate == view.gate.id) or (view.gate is None and card.task == view.selected)
    sign, style = {
        NeedKind.GATE: (glyphs.gate, "gate"),
        NeedKind.QUESTION: (glyphs.gate, "warn"),
        NeedKind.BLOCKED: (glyphs.stop, "bad"),
    }[card.kind]
    word = _label(gate.kind) if gate is not None else card.kind.value
    title = f"{outside(card.task)} {outside(task.spec.title)}" if task is not None else ""
    if task is None and gate is not None:
        title = gate_name(view, gate)
    right: list[Span] = []
    if card.complete and task is not None:
        right.append(
            (f"{glyphs.ok} proven ", "good")
            if task.proof is ProofVerdict.PROVEN
            else (f"{glyphs.ok} harmless ", "muted")
        )
    if card.since and card.kind is NeedKind.GATE:
        right.append((duration(view.now - card.since), "muted"))
    mark: Span = (glyphs.cursor if here else " ", "accent bold")
    head: list[Span] = [mark, (f"{sign} ", style), (f"{word} ", f"{style} bold")]
    room = width - width_of(head)
    above = cells_of(title) + width_of(right) + 1 <= room  # else what stands at the right goes below: titles are whole
    first, *more = wrap(title, room - (width_of(right) + 1 if above else 0), "fg bold" if here else "fg", rest="   ")
    lines = [spread([*head, *first[1:]], right if above else [], width, gap=1), *more]
    below = [] if above else right
    why = outside(card.why, 300)
    frees = f"unblocks {_some(card.frees)}" if card.frees else ""
    said = f"{why.rstrip('.')}; {frees}" if frees else why
    for words, tone in ((said, "muted"), (outside(card.again, 300), "warn")):
        if not words:
            continue
        inner = width - (width_of(below) + 1 if below else 0)
        told = (
            wrap(words, inner, tone, first="   ")
            if here
            else wrap_to(words, inner, tone, 2, first="   ", ellipsis=glyphs.ellipsis)
        )
        lines += [spread(told[0], below, width, gap=1), *told[1:]]
        below = []
    return [crop(line, width) for line in lines]


def _some(names: Sequence[str], most: int = 3) -> str:
    """2.1 and 2.2; 2.1, 2.2, 2.3 and 4 more."""
    shown = [outside(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join(shown) if len(shown) < 3 else f"{', '.join(shown[:-1])} and {shown[-1]}"


# ── the proof ──────────────────────────────────────────────────────────────────────────────────────────────────────


def proof_lines(view: View, gate: GateState | None, records: Sequence[EvidenceRecord], width: int) -> list[Line]:
    """Everything that speaks for the change, criterion by criterion, and what speaks against it."""
    task = view.task
    if task is None or (gate is not None and gate.task not in view.state.tasks):
        return said_lines(view, gate, None, width) if gate is not None else [(("nothing to show", "muted"),)]
    record = next((one for one in records if one.tree == task.tree and not one.error), None)
    lines: list[Line] = []
    if gate is not None and gate.kind in (GateKind.BLOCKED, GateKind.PERMISSION, GateKind.SPRINT):
        lines += [*said_lines(view, gate, task, width), BLANK]
    elif task.ended and (task.reason or task.action):
        lines += wrap(outside(task.reason), width, "fg")
        if task.action:
            lines += wrap(outside(left_to_do(task.action, task.reason)), width, "accent", first="to do: ")
        lines.append(BLANK)
    if task.review is not None and task.review.issues:
        lines.append(((plural(len(task.review.issues), "change") + " requested", "warn bold"),))
        for number, issue in enumerate(task.review.issues, 1):
            lines += issue_lines(issue, number, width)
        lines.append(BLANK)
    lines += _criteria(view, task, width)
    lines += _verdict(view, task, record, width)
    lines += _checks(view, task, width)
    if task.review is not None:
        lines += [BLANK, *review_tail(view, task.review, width)] if task.review.notes or task.review.summary else []
    if gate is not None and gate.kind is GateKind.TASK:
        said = said_lines(view, gate, task, width, told=lines)
        lines += [BLANK, *said] if said else []
    return lines


def _criteria(view: View, task: TaskState, width: int) -> list[Line]:
    """Every criterion of the plan with the reviewer's word on it and the proof at the same place."""
    glyphs = view.glyphs
    answers = {item.text: item for item in task.review.criteria} if task.review is not None else {}
    texts = list(dict.fromkeys([*task.spec.accept, *answers]))
    if not texts:
        return []
    lines: list[Line] = [(("CRITERIA", "muted bold"),)]
    for text in texts:
        found = answers.get(text)
        if found is None:
            sign, style = glyphs.wait, "muted"
        else:
            sign, _, style = of_verdict(Verdict.PASS if found.met else Verdict.FAIL, glyphs)
        first, *rest = wrap(outside(text), width, "fg", first="  ")
        lines += [((f"{sign} ", style), *first[1:]), *rest]
        if found is None:
            lines.append((("  not reviewed yet", "muted"),))
            continue
        own = next((proof for proof in task.proofs if _same_place(found.reference, proof)), None)
        if found.reference and own is None:  # else the proof below is what the reviewer names
            lines += _placed([("  ", ""), ("reviewer: ", "muted")], outside(found.reference), width)
        if own is not None:
            lines += _proof(view, own, width)
    return lines


def _placed(said: list[Span], place: str, width: int) -> list[Line]:
    """Words with a place in the code behind them, or below where that is too long: a place is no use in half."""
    if width_of(said) + cells_of(place) <= width:
        return [(*said, (place, "accent"))]
    path, sign, test = place.partition("::")
    parts = [place] if 4 + cells_of(place) <= width or not sign else [f"{path}{sign}", test]
    *signs, (words, style) = said
    name, below = words.rstrip(), [line for part in parts for line in wrap(part, width, "accent", first="    ")]
    if cells_of(name) > width - width_of(signs) and " " not in name:  # a name is not broken
        return [crop(signs, width), *wrap(name, width, style, first="    "), *below]
    head, *more = wrap(name, width - width_of(signs), style)
    inset = " " * width_of(signs)
    return [(*signs, *head[1:]), *(((inset, ""), *line[1:]) for line in more), *below]


def _same_place(reference: str, proof: Proof) -> bool:
    """The reviewer names this very test, by its id or by its line; a test of the same file is another one."""
    if "::" in reference:
        return reference == proof.name
    return bool(proof.line) and reference == f"{proof.path}:{proof.line}"


def _proof(view: View, proof: Proof, width: int) -> list[Line]:
    place = f"{proof.path}:{proof.line}" if proof.path and proof.line else proof.path
    name = outside(proof.name).rsplit("::", 1)[-1] if "::" in proof.name else outside(proof.name)
    lines = _placed(
        [(f"  {view.glyphs.ok} ", "good"), (f"{proof.kind} ", "muted"), (f"{name}  ", "fg")], outside(place), width
    )
    if proof.red:
        lines += wrap(outside(proof.red), width, "muted", first="    failed before: ", rest="      ")
    if proof.boundary:
        lines += wrap(outside(proof.boundary), width, "muted", first="    across processes: ", rest="      ")
    return lines


def _verdict(view: View, task: TaskState, record: EvidenceRecord | None, width: int) -> list[Line]:
    """PROVEN and why, the runs behind it, and on which tree."""
    if task.proof is None and record is None:
        return []
    proof = task.proof or (record.proof if record is not None else None)
    style = {ProofVerdict.PROVEN: "good", ProofVerdict.HARMLESS: "good", ProofVerdict.UNPROVEN: "warn"}.get(
        proof or ProofVerdict.ERROR, "bad"
    )
    lines: list[Line] = [BLANK]
    right: list[Span] = [(f"tree {short_hash(task.tree)}", "muted")]
    lines.append(spread([("PROOF ", "muted bold"), (proof.value if proof else "", f"{style} bold")], right, width))
    if task.proof_reason:
        lines += wrap(_breakable(outside(task.proof_reason), width - 2), width, "muted", first="  ")
    said = [item.reference for item in task.review.criteria] if task.review is not None else []
    for one in task.proofs:
        if not any(_same_place(reference, one) for reference in said):
            lines += _proof(view, one, width)
    for run in _last_runs(record.runs if record is not None else ()):
        lines.append(_run(view, run, width))
    return lines


def _last_runs(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """One line a run and check, the last one of each."""
    return list({(run.run, run.check): run for run in runs}.values())[:12]


RUNS = {
    "R0": "before",
    "R1": "old tests",
    "R2": "new tests",
    "R3": "new on old code",
    "R4": "together",
}
"""What each run of a proof was, in words."""
DECIDING = ("R1", "R2", "R4", "verify", "held out")
"""Runs that must pass; of the others it is what they say together that counts."""


def _run(view: View, run: RunRecord, width: int) -> Line:
    """A run with its sign: a new test that fails on the old code is as it must be, and other runs have no sign."""
    bad = bool(run.failing) or run.ended not in ("", "ok", "exited") or run.exit_code not in (None, 0)
    ended = f"exit {run.exit_code}" if run.ended == "exited" and run.exit_code is not None else outside(run.ended)
    counted = f"{run.passed}/{run.tests} pass" if run.tests else ended
    sign, style = view.glyphs.wait, "muted"
    if run.run in DECIDING:
        sign, style = (view.glyphs.bad, "bad") if bad else (view.glyphs.ok, "good")
    elif (run.run == "R3" and bad) or (run.run == "R0" and not bad):
        sign, style = view.glyphs.ok, "good"
    name = f"{run.run} {RUNS[run.run]}" if run.run in RUNS else outside(run.run)
    left: list[Span] = [(f"  {sign} ", style), (f"{name}: ", "muted"), (f"{outside(run.check)} {counted}", "fg")]
    room = short_hash(run.room)
    return spread(left, [(room, "muted")] if width_of(left) + len(room) < width else [], width, gap=1)


def _breakable(words: str, width: int) -> str:
    """Test ids that are wider than a line, in two words: a path, and the test's name."""
    return " ".join(word.replace("::", ":: ", 1) if cells_of(word) > width else word for word in words.split(" "))


def _checks(view: View, task: TaskState, width: int) -> list[Line]:
    if not task.checks:
        return []
    lines: list[Line] = [BLANK, (("CHECKS", "muted bold"),)]
    names = min(12, max(cells_of(outside(result.name)) for result in task.checks))
    for result in task.checks:
        sign, word, style = of_verdict(result.verdict, view.glyphs)
        counts = result.counts
        said = f"{counts.passed} of {counts.total} pass" if counts is not None and counts.total else word
        if result.reason and style != "good":
            said = f"{said}: {outside(result.reason)}"
        took = [(f"{result.seconds:.1f} s", "muted")] if result.seconds else []
        name = outside(result.name)
        gap = " " * max(2, names + 2 - cells_of(name))
        lines.append(spread([(f"{sign} ", style), (f"{name}{gap}", "fg"), (said, "muted")], took, width))
    return lines


# ── what a key will cause ──────────────────────────────────────────────────────────────────────────────────────────


def freed(state: State, task: str) -> tuple[str, ...]:
    """Tasks that can start once this one is complete."""
    ended = {one.id for one in state.tasks.values() if one.status in (Status.COMPLETE, Status.SKIPPED)} | {task}
    return tuple(
        one.id
        for one in state.tasks.values()
        if one.status is Status.PENDING and task in one.spec.depends_on and set(one.spec.depends_on) <= ended
    )


def consequence(state: State, gate: GateState, choice: Choice) -> str:
    """What an answer brings about, in words."""
    task = state.tasks.get(gate.task)
    meant = meaning(gate.kind, choice)
    if meant is None:
        return ""
    if task is not None and approves(gate.kind, choice):
        starts = freed(state, task.id)
        said = "commits without the reviewer's approval" if choice is Choice.SKIP else "commits"
        if starts:
            said += f", starts {_some(starts)}, about {money(cost_of(state, starts))}"
        if choice is Choice.AUTO:
            said += ", and approves later tasks automatically"
        return said
    if task is not None and gate.kind is GateKind.FIX and choice in (Choice.YES, Choice.AUTO, Choice.COMMENT):
        rung = task.rung
        words = "with your comment" if choice is Choice.COMMENT else "with the review"
        more = "; later reviews automatically" if choice is Choice.AUTO else ""
        price = state.prices.get(state.rung_name(rung))
        about = f", about {money(price.usd)}" if price is not None and price.usd else ""
        return f"another attempt at {state.rung_name(rung)} {words}{about}{more}"
    if choice is Choice.SKIP and gate.kind is GateKind.BLOCKED and (held := held_up(state, gate.task)):
        return f"{meant.short}; {_some(held)} cannot run"
    return meant.long if meant.short == choice.value else f"{meant.short}: {meant.long}"


def consequence_lines(view: View, gate: GateState, keys: KeyMap, width: int) -> list[Line]:
    """y: commits, starts 2.1 and 2.2, about $0.40 — one line for each answer that is offered."""
    lines = void_lines(view, gate, width)
    for name, choice in GATE_CHOICES.items():
        if choice in gate.choices and choice is not Choice.ASK:
            words = consequence(view.state, gate, choice)
            lines.append(
                crop([(f"{keys.shown(name)} ", "gate bold"), (words, "fg" if choice is Choice.YES else "muted")], width)
            )
    return lines
