"""A gate in plain lines and as data: everything the dashboard shows of it, for a phone and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from engine.core.clean import clean_line
from engine.core.gate_choices import BY_CHOICE, meaning
from engine.core.state import GateState, State, TaskState
from engine.core.wording import plural


def gate_lines(state: State, gate: GateState, since: str, told: str = "") -> Iterator[str]:
    """Title, what is asked, criteria with proof, the change, what was asked and answered, and the answers it takes.

    `told`: what a command needs besides to reach this sprint."""
    task = state.tasks.get(gate.task)
    yield f"{gate.id}  {gate.kind.value} gate: {clean_line(gate.title, 500)}"
    yield f"  open since {since}" if gate.open else f"  answered: {gate.choice}" + (f" by {gate.by}" if gate.by else "")
    for line in gate.body.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        yield f"  {' ' * min(indent, 12)}{clean_line(line, 2000)}"
    if task is not None:
        yield from _measured(task, gate.body)
    for question, answer in gate.questions:
        yield f"  you asked: {clean_line(question, 2000)}"
        for line in (answer or "(the answer is being written)").splitlines():
            yield f"    {clean_line(line, 2000)}"
    if not gate.open:
        return
    for choice in gate.choices:
        meant, record = meaning(gate.kind, choice), BY_CHOICE.get(choice)
        words = ' "…"' if record is not None and record.needs_text else ""
        does = f"    {meant.short}: {meant.long}" if meant is not None else ""
        yield f"  devteam answer {gate.id} {choice.value}{words}{told}{does}"


def _measured(task: TaskState, told: str) -> Iterator[str]:
    """`told`: what the gate's own words say already."""
    if task.changes:
        added, removed = sum(item.added for item in task.changes), sum(item.removed for item in task.changes)
        yield f"  change: {plural(len(task.changes), 'file')} +{added} −{removed}"
        for item in task.changes[:30]:
            yield f"    {item.change:<8} {clean_line(item.path)} +{item.added} −{item.removed}"
    for result in task.checks:
        counted = f" {result.counts.passed}/{result.counts.total}" if result.counts and result.counts.total else ""
        why = f"  {clean_line(result.reason)}" if result.reason else ""
        yield f"  check {result.name}: {result.verdict.value}{counted}{why}"
    if task.proof is not None:
        yield f"  proof: {task.proof.value}" + (f": {clean_line(task.proof_reason)}" if task.proof_reason else "")
        for proof in task.proofs[:10]:
            yield f"    {proof.kind}: {clean_line(proof.name)}" + (f"  ({clean_line(proof.red)})" if proof.red else "")
    review = task.review
    if review is None:
        return
    for criterion in review.criteria:
        where = f"  {clean_line(criterion.reference)}" if criterion.reference else ""
        yield f"  {'met  ' if criterion.met else 'UNMET'} {clean_line(criterion.text)}{where}"
    for issue in review.issues:
        if f"ISSUE: {issue.text}" in told:
            continue
        place = f" ({clean_line(issue.path)}:{issue.line})" if issue.path else ""
        yield f"  ISSUE {clean_line(issue.text, 2000)}{place}"
        for word, text in (("FIX", issue.fix), ("ALTERNATIVE", issue.alternative), ("CONFIDENCE", issue.confidence)):
            if text:
                yield f"    {word}: {clean_line(text, 2000)}"
    for note in review.notes:
        if f"- {note}" in told:
            continue
        yield f"  note: {clean_line(note, 2000)}"


def gate_data(state: State, gate: GateState) -> dict[str, Any]:
    """The same for programs."""
    task = state.tasks.get(gate.task)
    data: dict[str, Any] = {**_plain(gate), "open": gate.open}
    if task is not None:
        data["change"] = _plain(task.changes)
        data["checks"] = _plain(task.checks)
        data["proof"] = _plain(task.proof)
        data["proof_reason"] = task.proof_reason
        data["proofs"] = _plain(task.proofs)
        data["questions_for_you"] = _plain(task.questions)
        data["review"] = _plain(task.review)
    data["answers"] = {
        choice.value: meant.long for choice in gate.choices if (meant := meaning(gate.kind, choice)) is not None
    }
    return data


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)
