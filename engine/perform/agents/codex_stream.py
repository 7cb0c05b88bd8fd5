"""Reading `codex exec --json`.

Traps: an `error` line is a retry, only `turn.failed` is an end; usage is cumulative over the thread; no cost and no
model are printed; a usage limit names a clock time in words, no epoch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify
from engine.perform.agents.prices import price
from engine.perform.agents.stream import Clock, Reader
from engine.perform.agents.wire import Object, at, count, decode, mapping, objects, shown, text
from engine.perform.process.spawning import AgentCall, Finished, Output

Usage = Callable[[str], Tokens | None]
"""Tokens a thread has used up to now, from its session file; None when unknown."""
_WAITING = re.compile(r"^Reconnecting\.\.\. ")
_AT = re.compile(r"try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th),? (\d{4}) )?(\d{1,2}):(\d{2}) (AM|PM)")
_IN = re.compile(r"try again in ((?:\d+(?:\.\d+)? ?[a-z]+,? ?)+)")
_SPAN = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|m|h|d|second|minute|hour|day)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "second": 1, "minute": 60, "hour": 3600, "day": 86400}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PATIENCE = 3
"""Rounds of "waiting for network" before the call is ended: codex itself would wait for ever."""
_TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search"})
_NOTHING = Tokens()
_NO_HELPERS = "could not create PATH aliases"


class CodexStream(Reader):
    agent = "codex"

    def __init__(
        self,
        call: AgentCall,
        clock: Clock,
        *,
        before: Tokens | None = _NOTHING,
        usage: Usage | None = None,
        sandboxed: bool = False,
    ) -> None:
        """`before`: what the resumed thread had used already; None: unknown. `sandboxed`: codex's own sandbox is on."""
        super().__init__(call, clock)
        self.before = before
        self.usage = usage
        self.sandboxed = sandboxed
        self.total: Tokens | None = None
        self.completed = 0
        self.failed = ""
        self.said = ""
        self.waits = 0
        self.acted = False

    def event(self, event: Object) -> list[Output]:
        match event.get("type"):
            case "thread.started":
                self.session = text(event.get("thread_id")) or self.session
                return []
            case "turn.started":
                return []
            case "turn.completed":
                self.completed += 1
                self.total = _tokens(mapping(event.get("usage")))
                return [Output(kind=OutputKind.USAGE, tokens=self._used())]
            case "turn.failed":
                self.failed = text(mapping(event.get("error")).get("message")) or "the turn failed without a word"
                return [Output(kind=OutputKind.ERROR, text=shown(self.failed))]
            case "error":
                return self._trouble(text(event.get("message")))
            case "item.started" | "item.updated" | "item.completed":
                return self._item(mapping(event.get("item")), done=event.get("type") == "item.completed")
            case _:
                return self.raw(event)

    def _trouble(self, message: str) -> list[Output]:
        if not _WAITING.match(message):
            return [Output(kind=OutputKind.ERROR, text=shown(message))]
        self.retry(codex_kind(message))
        if "waiting for network" in message:
            self.waits += 1
            if self.waits >= _PATIENCE:
                self.stop = ResultKind.NETWORK
        return [Output(kind=OutputKind.RETRY, text=shown(message))]

    def _item(self, item: Object, *, done: bool) -> list[Output]:
        kind = text(item.get("type"))
        if done and kind in _TOOLS:
            self.pending = None
            self.acted = self.acted or item.get("status") == "completed"
            self.turn()
            self._watch_budget()
        match kind:
            case "agent_message" if done:
                self.said = text(item.get("text"))
                return [Output(kind=OutputKind.TEXT, text=shown(self.said))]
            case "reasoning" if done:
                return [Output(kind=OutputKind.THINKING, text=shown(text(item.get("text"))))]
            case "command_execution" if done:
                words = f"exit {item.get('exit_code')}\n{text(item.get('aggregated_output'))}"
                return [Output(kind=OutputKind.TOOL_RESULT, tool="shell", text=shown(words))]
            case "command_execution":
                return [Output(kind=OutputKind.TOOL_CALL, tool="shell", text=shown(text(item.get("command"))))]
            case "file_change" if done:
                return [
                    Output(kind=OutputKind.FILE_CHANGE, path=text(change.get("path")), text=text(change.get("kind")))
                    for change in objects(item.get("changes"))
                ]
            case "error":
                return [Output(kind=OutputKind.ERROR, text=shown(text(item.get("message"))))]
            case "agent_message" | "reasoning" | "file_change":
                return []
            case _:
                return self.raw(item)

    def _watch_budget(self) -> None:
        """Codex has no budget flag; its session file tells what was used, and past the budget the call is ended."""
        if self.call.max_usd is None or self.usage is None or self.stop:
            return
        total = self.usage(self.session)
        if total is None:
            return
        self.total = total
        used = self._used()
        spent = price(self.call.model, used) if used is not None else None
        if spent is not None and spent > self.call.max_usd:
            self.stop = ResultKind.BUDGET

    def _used(self) -> Tokens | None:
        """This call's share of the thread's tokens; None when it cannot be told."""
        if self.total is None or self.before is None:
            return None
        one, two = self.total, self.before
        parts = (one.input - two.input, one.output - two.output)
        cache = (one.cache_read - two.cache_read, one.cache_write - two.cache_write)
        if min(*parts, *cache) < 0:
            return None
        return Tokens(input=parts[0], output=parts[1], cache_read=cache[0], cache_write=cache[1])

    def finish(self, finished: Finished) -> AgentResult:
        kind = self.ended(finished)
        if kind is None:
            kind = self._judge(finished)
        if kind is ResultKind.LIMIT or kind is ResultKind.RATE:
            self.reset_at = self.reset_at or reset_time(self.failed, self.clock())
        if kind is not ResultKind.OK and self.total is None and self.usage is not None and self.session:
            self.total = self.usage(self.session)
        used = self._used()
        nothing = kind is not ResultKind.OK and self.failed and self.total is None and not self.acted and not self.said
        return self.close(
            finished,
            kind,
            text=self.said if kind in (ResultKind.OK, ResultKind.DENIED) else "",
            said=self.failed,
            tokens=used,
            cost_usd=0.0 if nothing else None,
        )

    def _judge(self, finished: Finished) -> ResultKind:
        if self.failed:
            return codex_kind(self.failed) or ResultKind.CRASH
        if not self.completed:
            self.lost_session = any("no rollout found" in line for line in self.errors)
            return self.no_terminal(finished)
        if finished.exit_code != 0:
            return ResultKind.CRASH
        if self.sandboxed and not self.call.read_only and not self.acted and any(_NO_HELPERS in e for e in self.errors):
            self.denials["codex's own sandbox cannot start below a temporary folder"] = None
        return ResultKind.OK


def codex_kind(message: str) -> ResultKind | None:
    """Codex reports in words only; sometimes the words are the provider's JSON, which is better."""
    body = decode(message.encode("utf-8", "replace"))
    if body is not None:
        found = classify.by_word(text(at(body, "error.code")), text(at(body, "error.type")))
        if found:
            return found
    return classify.by_message(message)


def _tokens(usage: Object) -> Tokens:
    """Codex counts cached tokens among the input; ours are disjoint."""
    read, write = count(usage.get("cached_input_tokens")), count(usage.get("cache_write_input_tokens"))
    return Tokens(
        input=max(0, count(usage.get("input_tokens")) - read - write),
        output=count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=write,
    )


tokens_of = _tokens


def reset_time(message: str, now: float) -> float | None:
    """The moment a limit's words name: "try again at 4:06 AM", "… at Nov 17th, 2026 1:03 PM", "… in 1.5s"."""
    if span := _IN.search(message):
        return now + sum(float(number) * _SECONDS[unit] for number, unit in _SPAN.findall(span.group(1)))
    found = _AT.search(message)
    if not found:
        return None
    month, day, year, hour, minute, half = found.groups()
    here = datetime.fromtimestamp(now).astimezone()
    try:
        when = here.replace(
            hour=int(hour) % 12 + (12 if half == "PM" else 0), minute=int(minute), second=0, microsecond=0
        )
        if month:
            when = when.replace(year=int(year), month=_MONTHS.index(month) + 1, day=int(day))
        # The words leave out the seconds: the reset is somewhere in that minute, so it is past only when the minute is.
        when += timedelta(minutes=1)
        if not month and when <= here:
            when += timedelta(days=1)
    except ValueError:
        return None
    return when.timestamp()
