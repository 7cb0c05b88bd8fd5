"""Reading any program: plain text, or JSON lines with dotted paths from the configuration."""

from __future__ import annotations

from collections import deque

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.stream import Clock, Reader
from engine.perform.agents.wire import Object, at, count, money, pieces, shown, status, text
from engine.perform.process.spawning import AgentCall, Finished, Output

_KEPT = 400_000
_COUNTS = {"input": "input_tokens", "output": "output_tokens", "cache_read": "cache_read", "cache_write": "cache_write"}


class TextStream(Reader):
    """Every line is text. There is no terminal event: exit 0 is all such a program can say, and the checks judge."""

    def __init__(self, call: AgentCall, clock: Clock, agent: str) -> None:
        super().__init__(call, clock)
        self.agent = agent
        self.session = ""
        self.blocks: deque[bytes] = deque()
        self.length = 0

    def feed(self, line: bytes) -> list[Output]:
        return self.feed_block(line)

    def feed_block(self, block: bytes) -> list[Output]:
        self.blocks.append(block)
        self.length += len(block)
        while self.length > _KEPT and len(self.blocks) > 1:
            self.length -= len(self.blocks.popleft())
        return pieces(block, OutputKind.TEXT)

    def finish(self, finished: Finished) -> AgentResult:
        kind = self.ended(finished)
        if kind is None:
            kind = ResultKind.OK if finished.exit_code == 0 else self.no_terminal(finished)
        return self.close(finished, kind, text=b"\n".join(self.blocks).decode("utf-8", "replace").replace("\r\n", "\n"))


class FieldStream(Reader):
    """JSON lines. With `done` configured a good run must print that line; without, exit 0 and some text must do."""

    def __init__(self, call: AgentCall, clock: Clock, agent: str, config: AgentConfig) -> None:
        super().__init__(call, clock)
        self.agent = agent
        self.fields = config.fields
        self.sums = config.sums
        self.said: list[str] = []
        self.error = ""
        self.status = 0
        self.done = False
        self.costs: list[float | None] = []
        self.counts: dict[str, list[int]] = {}

    def event(self, event: Object) -> list[Output]:
        out: list[Output] = []
        self.session = self._text(event, "session") or self.session
        self.model = self._text(event, "model") or self.model
        if tool := self._text(event, "tool"):
            self.turn()
            out.append(Output(kind=OutputKind.TOOL_CALL, tool=tool, path=self._text(event, "path")))
        if words := self._text(event, "text"):
            self.said.append(words)
            out.append(Output(kind=OutputKind.TEXT, text=shown(words)))
        if thought := self._text(event, "thinking"):
            out.append(Output(kind=OutputKind.THINKING, text=shown(thought)))
        wrong = self._at(event, "error")
        if wrong:
            self.error = self.error or shown(wrong)
            self.status = self.status or status(self._at(event, "status"))
            out.append(Output(kind=OutputKind.ERROR, text=self.error))
        self._account(event)
        self.done = self.done or self._is_done(event)
        return out or self.raw(event)

    def _account(self, event: Object) -> None:
        if (cost := self._at(event, "cost")) is not None:
            self.costs.append(money(cost))
        for name, field in _COUNTS.items():
            if (value := self._at(event, field)) is not None:
                self.counts.setdefault(name, []).append(count(value))

    def _at(self, event: Object, field: str) -> object:
        path = self.fields.get(field, "")
        return at(event, path) if path else None

    def _text(self, event: Object, field: str) -> str:
        return text(self._at(event, field))

    def _is_done(self, event: Object) -> bool:
        path, _, value = self.fields.get("done", "").partition("=")
        found = at(event, path) if path else None
        return found is not None and (not value or str(found) == value)

    def finish(self, finished: Finished) -> AgentResult:
        kind = self.ended(finished)
        if kind is None:
            kind = self._judge(finished)
        cost: float | None = None
        if self.costs and None not in self.costs:
            known = [value for value in self.costs if value is not None]
            cost = money(sum(known)) if self.sums else max(known)
        used = {name: sum(values) if self.sums else max(values) for name, values in self.counts.items()}
        return self.close(
            finished,
            kind,
            text="\n".join(self.said),
            said=self.error,
            tokens=Tokens(**used) if used else None,
            cost_usd=cost,
        )

    def _judge(self, finished: Finished) -> ResultKind:
        if self.error:
            return classify.by_status(self.status) or classify.by_message(self.error) or ResultKind.CRASH
        if finished.exit_code != 0:
            return self.no_terminal(finished)
        ended = self.done if self.fields.get("done") else bool(self.said)
        return ResultKind.OK if ended else ResultKind.NO_RESULT
