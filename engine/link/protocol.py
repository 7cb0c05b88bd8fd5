"""How a user interface reaches an engine. Every message has a JSON form: the engine may live in another process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec

from engine.core.activity import AnyActivity
from engine.core.commands import Ack, AnyCommand
from engine.core.events import Envelope
from engine.core.evidence import EvidenceRecord
from engine.core.model import Struct
from engine.core.state import State
from engine.core.statistics import SprintStatistics
from engine.core.vocabulary import LinkState


class LinkStatus(Struct, frozen=True, kw_only=True):
    """The state of the connection itself."""

    status: LinkState
    detail: str = ""
    hint: str = ""
    last_sign: float = 0.0
    """When the engine that is gone was last alive: until another one has begun its run, time stands there."""


Item = Envelope | AnyActivity | LinkStatus
"""What a link delivers: facts in order without gaps, live activity (coalesced under load), and its own state."""


class Query(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="query"):
    """Base of questions that change nothing."""


class GetDiff(Query, frozen=True, kw_only=True, tag="diff"):
    """Unified diff of a task's tree against its base (iteration 0) or of one iteration's change."""

    task: str
    iteration: int = 0
    context: int = 0
    """Lines around each change; 0: as many as git shows by itself."""


class GetEvidence(Query, frozen=True, kw_only=True, tag="evidence"):
    """Evidence records of a task, newest first."""

    task: str


class GetReport(Query, frozen=True, kw_only=True, tag="report"):
    """The seed-style text: of an iteration, of a task (iteration 0) or of the sprint (task empty)."""

    task: str = ""
    iteration: int = 0


class GetOutput(Query, frozen=True, kw_only=True, tag="output"):
    """The live output of an effect that is over, or of a task's last effects."""

    effect: str = ""
    task: str = ""
    limit: int = 5000


class GetPrompt(Query, frozen=True, kw_only=True, tag="prompt"):
    """What was sent to an agent."""

    effect: str


class GetEvents(Query, frozen=True, kw_only=True, tag="events"):
    after: int = 0
    limit: int = 1000


class GetSprints(Query, frozen=True, kw_only=True, tag="sprints"):
    pass


class GetStatistics(Query, frozen=True, kw_only=True, tag="statistics"):
    """What every sprint of the repository adds up to, oldest first: the points of the statistics page."""


class GetLearnings(Query, frozen=True, kw_only=True, tag="learnings"):
    """What the repository's sprints decided and learnt the hard way, oldest first."""


class GetFile(Query, frozen=True, kw_only=True, tag="file"):
    """One of the sprint's own files: plan.md, context.md, report.md, progress.txt, config.toml."""

    name: str


AnyQuery = (
    GetDiff
    | GetEvidence
    | GetReport
    | GetOutput
    | GetPrompt
    | GetEvents
    | GetSprints
    | GetStatistics
    | GetLearnings
    | GetFile
)


class SprintLine(Struct, frozen=True, kw_only=True):
    """A sprint in a list."""

    id: str
    title: str
    status: str
    done: int
    total: int
    spent_usd: float = 0.0
    at: float = 0.0
    """When it was last worked on; 0: never."""


class LearningLine(Struct, frozen=True, kw_only=True):
    """A learning, for people to look at."""

    name: str
    title: str
    text: str
    avoid: bool = False
    dropped: bool = False
    files: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()
    """What agents said against it since a human last spoke."""


class Answered(Struct, frozen=True, kw_only=True):
    """The answer to a query: text, or data, or both; `error` says why there is none."""

    text: str = ""
    evidence: tuple[EvidenceRecord, ...] = ()
    output: tuple[AnyActivity, ...] = ()
    events: tuple[bytes, ...] = ()
    """Envelopes as JSON lines."""
    sprints: tuple[SprintLine, ...] = ()
    statistics: tuple[SprintStatistics, ...] = ()
    learnings: tuple[LearningLine, ...] = ()
    path: str = ""
    """A file the user may open."""
    error: str = ""


class Link(Protocol):
    """The one door between a user interface and an engine."""

    async def snapshot(self) -> State:
        """State as of now; `state.seq` is where `follow` goes on."""
        ...

    def follow(self, after: int) -> AsyncIterator[Item]:
        """How the link stands, everything after a sequence number, then what comes. Ends when the link is closed."""
        ...

    async def send(self, command: AnyCommand) -> Ack: ...

    async def fetch(self, query: AnyQuery) -> Answered: ...

    async def close(self) -> None: ...
