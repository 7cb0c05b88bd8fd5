"""The link to an engine in another process: the journal is followed without gaps, queries change nothing."""

from __future__ import annotations

import asyncio

import pytest

from engine.core.commands import Pause
from engine.core.events import Envelope
from engine.core.evidence import EvidenceRecord
from engine.link.codec import Recorded, decode_item, encode_item
from engine.link.protocol import (  # fmt: skip
    Answered,
    AnyQuery,
    GetDiff,
    GetEvents,
    GetEvidence,
    GetFile,
    GetOutput,
    GetPrompt,
    GetReport,
    GetSprints,
    GetStatistics,
    LinkStatus,
)
from engine.perform.checks.run.evidence import Judgement
from engine.service.links import attached_link
from engine.service.local import Desk, open_desk
from tests.cli.ground import Ground, Told


@pytest.fixture
def desk(finished: tuple[Ground, Told, str]) -> Desk:
    ground, _, _ = finished
    return open_desk(ground.folder, ground.environment(), ground.home)


def _ask(desk: Desk, query: AnyQuery) -> Answered:
    async def asked() -> Answered:
        link = attached_link(desk, desk.sprint())
        await link.snapshot()
        return await link.fetch(query)

    return asyncio.run(asked())


def test_a_finished_sprint_is_followed_to_its_end(desk: Desk, finished: tuple[Ground, Told, str]) -> None:
    async def followed() -> tuple[list[int], list[str]]:
        link = attached_link(desk, desk.sprint())
        seqs: list[int] = []
        words: list[str] = []
        async for item in link.follow(0):
            if isinstance(item, Envelope):
                seqs.append(item.seq)
            elif isinstance(item, LinkStatus):
                words.append(item.status)
            if len(seqs) >= len(finished[1].lines()):
                break
        return seqs, words

    seqs, words = asyncio.run(followed())
    assert seqs == [line["seq"] for line in finished[1].lines()]
    assert words[0] == "ended"


@pytest.mark.parametrize(
    ("query", "field", "expected"),
    [
        pytest.param(GetDiff(task="1.1"), "text", "+one", id="diff"),
        pytest.param(GetDiff(task="1.2", iteration=1), "text", "+BAD", id="diff of an iteration"),
        pytest.param(GetDiff(task="9"), "error", "no task 9", id="diff of no task"),
        pytest.param(GetReport(task="1.2", iteration=1), "text", "Iteration 1/10", id="iteration report"),
        pytest.param(GetReport(task="1.2", iteration=7), "error", "no iteration 7", id="no such iteration"),
        pytest.param(GetReport(), "text", "successfully completed", id="summary"),
        pytest.param(GetFile(name="plan.md"), "text", "# Count things", id="file"),
        pytest.param(GetFile(name="../../../etc/passwd"), "error", "not one of", id="a file elsewhere"),
        pytest.param(GetPrompt(effect="../../trusted"), "error", "prompt.md", id="a prompt elsewhere"),
    ],
)
def test_queries(desk: Desk, query: AnyQuery, field: str, expected: str) -> None:
    assert expected in getattr(_ask(desk, query), field)


def test_queries_with_data(desk: Desk) -> None:
    assert _ask(desk, GetSprints()).sprints[0].done == 2
    (point,) = _ask(desk, GetStatistics()).statistics
    assert (point.figures.complete, point.figures.sprints) == (2, 1)
    assert len(_ask(desk, GetEvents(after=3, limit=5)).events) == 5
    assert [record.iteration for record in _ask(desk, GetEvidence(task="1.2")).evidence] == [2, 1]
    assert _ask(desk, GetOutput(task="1.1")).error == ""


def test_evidence_that_was_tampered_with_is_not_shown_as_evidence(desk: Desk) -> None:
    paths = sorted(path for path in desk.project.state.evidence.rglob("*") if path.is_file())
    before = {path: path.read_bytes() for path in paths}
    try:
        for path in paths:
            path.chmod(0o600)
            path.write_bytes(before[path].replace(b"PASS", b"FAIL"))
        records = _ask(desk, GetEvidence(task="1.1")).evidence
        assert records and all(record.error and not record.results for record in records)
    finally:
        for path, data in before.items():
            path.write_bytes(data)


def test_evidence_crosses_the_link_whole_and_typed(desk: Desk) -> None:
    """Whatever the store keeps is shown, and a recording of the answer is the answer."""
    assert {*Judgement.__struct_fields__} - {"schema"} <= {*EvidenceRecord.__struct_fields__}
    query = GetEvidence(task="1.1")
    answer = _ask(desk, query)
    (record, *_) = answer.evidence
    assert (record.task, record.accepted, record.checks[0].exit_code) == ("1.1", True, 0)
    recorded = decode_item(encode_item(Recorded(query=query, answer=answer)))
    assert recorded == Recorded(query=query, answer=answer)


def test_a_command_without_an_engine_is_never_queued(desk: Desk) -> None:
    ack = desk.tell(Pause(by="test"))
    assert not ack.ok
    assert "no engine is running" in ack.detail
