"""What a recording knows: its times, the output of its agents, the evidence of its checks."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.activity import Activity, AgentOutput, AnyActivity
from engine.core.events import ChecksFinished, Envelope
from engine.core.evidence import EvidenceRecord
from engine.link.protocol import (
    GetOutput,
)


def rising(times: Sequence[float]) -> list[float]:
    """Times that never go back: an activity without one happens when its neighbour did."""
    out: list[float] = []
    latest = next((at for at in times if at > 0), 0.0)
    for at in times:
        latest = max(latest, at)
        out.append(latest)
    return out


def outputs(played: Sequence[Envelope | AnyActivity], query: GetOutput) -> list[AnyActivity]:
    def wanted(item: Envelope | AnyActivity) -> bool:
        if not isinstance(item, Activity) or not isinstance(item, AgentOutput):
            return False
        return item.effect == query.effect if query.effect else item.task == query.task

    found = [item for item in played if not isinstance(item, Envelope) and wanted(item)]
    return found[-query.limit :]


def evidence(played: Sequence[Envelope | AnyActivity], task: str) -> list[EvidenceRecord]:
    """What the recording knows of a task's checks, newest first."""
    return [
        EvidenceRecord(
            task=task,
            iteration=item.event.iteration,
            hash=item.event.evidence,
            at=item.at,
            tree=item.event.tree,
            results=item.event.results,
            findings=item.event.findings,
        )
        for item in reversed(played)
        if isinstance(item, Envelope) and isinstance(item.event, ChecksFinished) and item.event.task == task
    ]
