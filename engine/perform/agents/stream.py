"""What every stream reader shares: the state of one call and how the process's own end weighs in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, assert_never

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify, wire
from engine.perform.agents.prices import price
from engine.perform.agents.wire import Object, decode, shown
from engine.perform.process.spawning import AgentCall, Finished, Output

Clock = Callable[[], float]
LONG_RETRY = 60.0
"""A program that means to wait longer than this before its next try is ended: waiting is our policy's business."""
WRITES = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "replace", "edit", "write", "patch"})


class Stream(Protocol):
    """A pure reader: lines in, output out; one result at the end. It never raises, whatever it is fed."""

    stop: ResultKind | None
    """Set when the program is to be ended now, and what the call then ended as."""
    lost_session: bool
    """The session to be resumed is gone and nothing was spent: the driver starts a fresh one."""

    def feed(self, line: bytes) -> list[Output]: ...

    def feed_block(self, block: bytes) -> list[Output]:
        """Several lines at once: what `feed` makes of each, text that is no event in pieces of whole lines."""
        ...

    def feed_error(self, line: bytes) -> list[Output]: ...

    def finish(self, finished: Finished) -> AgentResult: ...


class Reader:
    """Base of the readers: JSON lines go to `event`, anything else is shown raw."""

    agent = ""

    def __init__(self, call: AgentCall, clock: Clock) -> None:
        self.call = call
        self.clock = clock
        self.stop: ResultKind | None = None
        self.lost_session = False
        self.session = call.session
        self.model = ""
        self.denials: dict[str, None] = {}
        self.worked: set[str] = set()
        """Tools that did succeed: a denial of such a tool was no missing permission."""
        self.pending: ResultKind | None = None
        """The trouble the program is retrying on; it is the reason when the call then runs out of time."""
        self.reset_at: float | None = None
        self.turns = 0
        self.errors: list[str] = []
        """The program's own words on stderr, for the error text."""

    def feed(self, line: bytes) -> list[Output]:
        event = decode(line)
        if event is None:
            return [Output(kind=OutputKind.RAW, text=shown(line))] if line.strip() else []
        return self.event(event)

    def feed_block(self, block: bytes) -> list[Output]:
        outputs: list[Output] = []
        for part, is_event in wire.parts(block):
            outputs += self.feed(part) if is_event else wire.pieces(part, OutputKind.RAW)
            if self.stop:
                break
        return outputs

    def feed_error(self, line: bytes) -> list[Output]:
        if text := shown(line).strip():
            self.errors = [*self.errors[-19:], text]
        return []

    def event(self, event: Object) -> list[Output]:
        raise NotImplementedError

    def raw(self, event: Object) -> list[Output]:
        return [Output(kind=OutputKind.RAW, text=shown(event))]

    def turn(self) -> None:
        """One more step of the program's own loop; past the cap the call ends. For programs without a flag for it."""
        self.turns += 1
        if self.call.max_turns is not None and self.turns > self.call.max_turns:
            self.stop = ResultKind.TURNS

    def retry(self, kind: ResultKind | None, seconds: float = 0.0) -> None:
        self.pending = kind or ResultKind.NETWORK
        if seconds > LONG_RETRY:
            self.stop = self.pending
            self.reset_at = self.clock() + seconds

    def ended(self, finished: Finished) -> ResultKind | None:
        """How the process's end alone decides; None when it exited by itself and its words count."""
        match finished.reason:
            case "exited":
                return None
            case "stopped":
                return self.stop or ResultKind.CANCELLED
            case "cancelled":
                return ResultKind.CANCELLED
            case "timeout" | "idle":
                return self.pending or ResultKind.TIMEOUT
            case "not_started":
                return ResultKind.NOT_STARTED
            case "flood":
                return ResultKind.CRASH
            case _:
                assert_never(finished.reason)

    def explain(self, kind: ResultKind, finished: Finished, said: str = "") -> str:
        """The error in words: the program's own where there are any, else how the process ended."""
        if kind is ResultKind.OK:
            return ""
        last = next((line for line in reversed(self.errors) if line), "")
        match finished.reason:
            case "not_started":
                return finished.error or f"{self.agent} could not be started"
            case "timeout":
                return said or f"{self.agent} was ended after {finished.seconds:.0f} s, its time for one call"
            case "idle":
                return said or f"{self.agent} said nothing for {self.call.idle_timeout:.0f} s and was ended"
            case "flood":
                return f"{self.agent} printed more than may be read and was ended"
            case "cancelled":
                return f"{self.agent} was stopped"
            case "stopped" if kind is ResultKind.TURNS:
                return f"{self.agent} took more than {self.call.max_turns} turns and was ended"
            case "stopped" if kind is ResultKind.BUDGET:
                return f"{self.agent} passed the call's budget of ${self.call.max_usd or 0:.2f} and was ended"
            case "stopped" | "exited":
                return said or last or f"{self.agent} ended with exit code {finished.exit_code} and no result"
            case _:
                assert_never(finished.reason)

    def no_terminal(self, finished: Finished) -> ResultKind:
        """The stream has no end: the trouble it was retrying on, what stderr says, else crash or no result."""
        if self.pending:
            return self.pending
        if finished.exit_code:
            return classify.by_message("\n".join(self.errors)) or ResultKind.CRASH
        return ResultKind.NO_RESULT

    def denied(self, kind: ResultKind) -> ResultKind:
        """A run that ended well, but was refused a tool it never got: the missing permission is the news."""
        missing = [name for name in self.denials if name not in self.worked]
        if kind is ResultKind.OK and missing and not self.call.read_only:
            return ResultKind.DENIED
        return kind

    def close(
        self,
        finished: Finished,
        kind: ResultKind,
        *,
        text: str = "",
        said: str = "",
        tokens: Tokens | None = None,
        cost_usd: float | None = None,
        structured: Object | None = None,
        priced: bool = True,
    ) -> AgentResult:
        """The one result. A cost the program gave is taken; tokens are priced where it gave none and they are whole."""
        kind = self.denied(kind)
        denials = tuple(self.denials)
        estimate = False
        model = self.model or self.call.model
        if priced and tokens is not None and tokens.total() and not cost_usd:
            cost_usd, estimate = price(model, tokens), True
        error = self.explain(kind, finished, said)
        if kind is ResultKind.DENIED:
            error = f"{self.agent} was refused: {', '.join(denials)}"
        hint = classify.hint(self.agent, kind, model=model, denials=denials)
        if finished.reason == "not_started":
            hint = f"`devteam agents` shows what is installed; set `program` under [agents.{self.agent}]."
        return AgentResult(
            kind=kind,
            text=text,
            structured=structured,
            session=self.session,
            model=model,
            tokens=tokens or Tokens(),
            cost_usd=cost_usd,
            cost_is_estimate=estimate and cost_usd is not None,
            reset_at=self.reset_at if kind in (ResultKind.LIMIT, ResultKind.RATE, ResultKind.OVERLOADED) else None,
            denials=denials,
            exit_code=finished.exit_code,
            error=error[:2_000],
            hint=hint,
            seconds=finished.seconds,
        )
