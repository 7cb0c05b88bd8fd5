"""The contract of a test runner: how the engine starts one in a room and reads what it did. One file an ecosystem.

A runner is engine-owned: it decides the options, the order and the reporters; the room gives the tests. It never reads
a verdict out of the tree. The registry is `runners.RUNNERS`; a check without a runner is a plain command, judged by its
parser or its exit code, and the verdict says that this is weaker evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from engine.core.model import Struct
from engine.perform.checks.run.measure import Report
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.process.spawning import Finished


class Prepared(Struct, frozen=True, kw_only=True):
    """What is really started. `reports` is a folder outside the room that only this run writes to."""

    argv: tuple[str, ...]
    reports: Path
    stdin: bytes | None = None
    env: Mapping[str, str] = {}
    """Added to the check's environment; nothing in it may tell the subject that it is being judged."""
    account: Path | None = None
    report: Path | None = None
    coverage: Path | None = None


class RunRequest(Struct, frozen=True, kw_only=True):
    """One run of one check in one room."""

    spec: CheckSpec
    room: Path
    """The folder that holds the tree; the process starts there."""
    checkout: Path
    """The user's checkout: where the sandbox mounts the room, if there is one."""
    reports: Path
    key: bytes
    """Fresh for each run: an account that is kept inside the subject's process is chained with it."""
    files: tuple[str, ...] | None = None
    """Test files of the room to run, in this order (R2, R3, a proof alone); None: the whole check."""
    ids: tuple[str, ...] | None = None
    """Tests to run, where the runner can name them; with `files` given they are of those, and may be left aside."""
    known: Report | None = None
    """What R0 saw: plug-ins to name instead of discovering, the settings file. None: this is R0."""
    own_settings: bool = False
    """R4: the room's own settings file is looked for, though plug-ins are named."""
    helpers: tuple[str, ...] = ()
    """Modules beside the tests whose assertions are compared too."""
    subject: tuple[str, ...] = ()
    """Set: these files of the subject run behind a process boundary; a runner that cannot says so in `problems`."""
    beside: bool = False
    """With `subject`: behind the same boundary, but in a copy of the test's own process."""
    stop_early: bool = False
    canaries: bool = True
    brief: bool = False
    """Only outcomes and messages are read of this run: no tracebacks, and assertions that hold are not counted."""
    disguise: bool = False
    """Another process id, parent, terminal, home and environment than the other runs have."""


class TestRunner(Protocol):
    """One ecosystem's tests."""

    name: str
    """As in CheckSpec.runner."""
    picks_files: bool
    """Can run single files: R2 and R3 then run each in a process of its own; else they run the whole check."""
    suffixes: tuple[str, ...]
    """How its test files may end."""
    loads: tuple[str, ...]
    """Python modules that every run of it loads first: several runs may share that (`sitting`). Empty: they may not."""
    weaker: str
    """What this runner cannot see, in words, for the verdict (no canaries, no assertions …); empty: nothing."""

    def prepare(self, request: RunRequest) -> Prepared:
        """The process to start; may write into `request.reports`, never into the room."""
        ...

    def read(
        self, request: RunRequest, prepared: Prepared, finished: Finished, stdout: bytes, started: float
    ) -> Report:
        """Never raises for what a tool wrote: what cannot be read is a problem of the Report.

        Ids are relative to the room. `Case.path` is the test's file. Canaries are counted in `Report.canaries`, and are
        never among the cases. `reached` and `place` are filled where the runner can see assertions.
        """
        ...
