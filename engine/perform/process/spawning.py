"""The doors between the rooms of engine/perform: how a process is asked for, how an agent is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, MachineFault, Role, Struct, Tokens
from engine.core.sandboxes import SandboxName
from engine.core.vocabulary import FailureKind


class Mount(Struct, frozen=True, kw_only=True):
    """A host path made visible inside the sandbox."""

    source: Path
    dest: Path
    writable: bool = False
    loose: bool = False
    """The folder itself is private and can be written to, what it holds is read-only: for tools that insist on keeping
    something beside it. Where nothing can be mounted it is an ordinary one."""


class Confinement(Struct, frozen=True, kw_only=True):
    """What a process may see and write. Each field is honoured as far as the sandbox mode in force allows."""

    checkout: Path
    """Path of the user's checkout: the clone is mounted there."""
    clone: Path
    """The tree the process works on."""
    writable: bool = True
    """The clone is writable (agents that implement, checks) or read-only (reviewers)."""
    network: bool = False
    home: Path | None = None
    """Private HOME of the process (made by the caller); mounted over the user's own."""
    mounts: tuple[Mount, ...] = ()
    """Login files, dependency folders, report folders …"""
    hide: tuple[Path, ...] = ()
    """Further paths to hide, e.g. the state directory."""


class ProcessSpec(Struct, frozen=True, kw_only=True):
    """One process to be started. `env` is complete: the spawner adds only the run id."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | None = None
    """Given to the child and closed; None is /dev/null."""
    timeout: float = 300.0
    longest: float = 0.0
    """Seconds it may take while it is still heard of; 0: not more than `timeout`."""
    idle_timeout: float = 0.0
    """Ends the child when it says nothing this long; 0: no idle timer."""
    max_line: int = 1_000_000
    """Longer lines are cut, and the cut is marked."""
    max_total: int = 64_000_000
    """More output than this ends the child."""
    max_rate: int = 0
    """Lines a second the reader passes on; more is counted, not passed. 0: all."""
    confine: Confinement | None = None
    memory_bytes: int = 0
    graceful: bool = True
    """SIGTERM first (not for programs that ignore it and leave children)."""
    keep_stdin: bool = False
    """Leave stdin open for a conversation (ACP)."""


Ending = Literal["exited", "stopped", "timeout", "idle", "flood", "cancelled", "not_started"]
"""How a process came to its end. stopped: its reader had seen enough."""


class Finished(Struct, frozen=True, kw_only=True):
    """How a process ended."""

    reason: Ending
    exit_code: int | None = None
    """Negative for a signal."""
    stdout: bytes = b""
    """The last part of stdout (at most 256 KiB)."""
    stderr: bytes = b""
    """The last part of stderr (at most 64 KiB)."""
    seconds: float = 0.0
    dropped: int = 0
    error: str = ""
    """Why it could not start."""


OnLine = Callable[[bytes], None]


class Conversation(Protocol):
    """A process that is spoken with while it runs."""

    @property
    def finished(self) -> Finished | None:
        """How it ended; None while it runs."""
        ...

    async def read(self) -> bytes:
        """The next chunk of stdout; b"" when there will be no more."""
        ...

    async def write(self, data: bytes) -> None:
        """To its stdin. What a dead or deaf process does not take is dropped: the end is seen by reading."""
        ...

    async def stop(self) -> Finished:
        """End it and all it started."""
        ...


class Spawner(Protocol):
    """The one way to start a process (engine/perform/process/spawner.py)."""

    @property
    def mode(self) -> SandboxName:
        """The sandbox mode in force."""
        ...

    async def run(self, spec: ProcessSpec, on_line: OnLine | None = None, on_stderr: OnLine | None = None) -> Finished:
        """Run to the end. Cancelling the awaiting task ends the child and all it started before this returns."""
        ...

    def converse(self, spec: ProcessSpec, on_stderr: OnLine | None = None) -> AbstractAsyncContextManager[Conversation]:
        """Start it with stdin left open (ACP). All limits of the spec hold; leaving the block ends it."""
        ...


class Output(Struct, frozen=True, kw_only=True):
    """One normalised event of an agent's stream; text is as it came, the caller cleans it."""

    kind: OutputKind
    text: str = ""
    tool: str = ""
    path: str = ""
    tokens: Tokens | None = None
    redacted: bool = False
    """Made of a stream that was redacted where it came in: nobody need look at its text again."""


class AgentCall(Struct, frozen=True, kw_only=True):
    """Everything an adapter needs for one call."""

    effect: str
    role: Role
    model: str
    prompt: str
    task: str = ""
    iteration: int = 0
    attempt: int = 0
    seat: str = ""
    session: str = ""
    read_only: bool = False
    schema: dict[str, Any] | None = None
    """JSON schema the answer must satisfy (reviewer, councillor, planner …)."""
    timeout: float = 300.0
    longest: float = 0.0
    """Seconds it may take while it is still heard of; 0: not more than `timeout`."""
    idle_timeout: float = 120.0
    max_usd: float | None = None
    max_turns: int | None = None
    checkout: Path = Path()
    """Where the process believes to be."""
    clone: Path = Path()
    home: Path = Path()
    """Private HOME/config directory of this role and task, kept between calls."""
    scratch: Path = Path()
    log: Path = Path()
    """The raw stream goes here."""
    env: Mapping[str, str] = {}
    """Allowlisted environment with the provider's credentials, if any."""
    mounts: tuple[Mount, ...] = ()
    hide: tuple[Path, ...] = ()
    secrets: tuple[str, ...] = ()
    """Values to blot out of whatever the adapter stores, besides those in `env`."""


class Adapter(Protocol):
    """One agent program. Growth is another file with this contract, never a flag in an old one."""

    name: str

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        """Never raises for what the program does: every ending is a ResultKind. Cancellation passes through."""
        ...


class PerformError(Exception):
    """The engine's own part of an effect failed. kind: transient (again, later), permanent or recoverable."""

    def __init__(
        self, message: str, *, kind: FailureKind = "transient", hint: str = "", fault: MachineFault | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint
        self.fault = fault
        """The machine's fault: the run is suspended, no task is touched."""
