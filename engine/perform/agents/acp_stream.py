"""Reading the Agent Client Protocol: JSON-RPC messages of an agent to outputs, its answer to the prompt to a result.

Accounting is uneven between agents: a cumulative cost, tokens only, or nothing. What cannot be told is None.
"""

from __future__ import annotations

import re

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify
from engine.perform.agents.acp_accounts import cost_of, tokens_of
from engine.perform.agents.codex_stream import codex_kind, reset_time
from engine.perform.agents.prices import price
from engine.perform.agents.stream import Clock, Reader
from engine.perform.agents.wire import Object, at, count, decode, mapping, objects, shown, status, text
from engine.perform.process.spawning import AgentCall, Finished, Output

_STOPS = {
    "max_turn_requests": ResultKind.TURNS,
    "max_tokens": ResultKind.CONTEXT,
    "refusal": ResultKind.REFUSAL,
    "cancelled": ResultKind.CANCELLED,
}
_QUIET = frozenset({"available_commands_update", "current_mode_update", "config_option_update", "plan"})
_HARMLESS = frozenset({"read", "search", "think", "fetch"})
_FAILED_REQUEST = re.compile(r'level=ERROR .*message="stream error" .*small=false .*error\.error="([^"]*)"')
_WAITING = b"[qwen-code] Waiting for API capacity"
_PATIENCE = 3
"""Failed requests of one call before it is ended: opencode would go on, on a full context for ever."""
_AUTH_REQUIRED = -32000
_COUNTS_TURNS = frozenset({"claude-agent-acp", "codex-acp"})
"""Programs whose answer counts all of its turn's requests, also in a resumed session; opencode counts the last one."""


class AcpStream(Reader):
    def __init__(self, call: AgentCall, clock: Clock, *, agent: str, program: str, fenced: bool) -> None:
        super().__init__(call, clock)
        self.agent = agent
        self.program = program
        self.fenced = fenced
        self.asked = False
        """The prompt is out: what comes before is the replay of a resumed session."""
        self.said: list[str] = []
        self.earlier: list[str] = []
        self.answer: Object | None = None
        self.failure: Object | None = None
        self.costs: list[float | None] = []
        self.cost_before: float | None = None if call.session else 0.0
        self.metered: Tokens | None = None
        """The sum of what single requests are said to have used."""
        self.tools: dict[str, tuple[str, str, str]] = {}
        """Kind, path and title by the call's id, as far as they are told."""
        self.broken: list[str] | None = None
        """codex-acp: the turn failed in spite of its good answer, and what it then said of it."""
        self.complaints = 0
        self.complaint = ""

    def event(self, event: Object) -> list[Output]:
        match event.get("method"):
            case "session/update":
                update = mapping(at(event, "params.update"))
                return self._update(update) if self.asked else self._replay(update)
            case "session/request_permission":
                return self._permission(mapping(event.get("params")))
            case None:
                return self._response(event)
            case _:
                return self.raw(event)

    def _response(self, event: Object) -> list[Output]:
        result = mapping(event.get("result"))
        if "stopReason" in result:
            self.answer = result
            if self.program in _COUNTS_TURNS and not self.costs:
                self._watch_budget(price(self.model or self.call.model, tokens_of(mapping(result.get("usage")))))
            return []
        if isinstance(event.get("error"), dict):
            self.failure = event["error"]
            return [Output(kind=OutputKind.ERROR, text=shown(_complaint(event["error"])))]
        return []

    def feed_error(self, line: bytes) -> list[Output]:
        """opencode and qwen say nothing over the protocol while they retry. opencode logs each failed request; qwen
        says after some tries, and half a minute into the pause before the next one, that it waits."""
        super().feed_error(line)
        if line.startswith(_WAITING):
            self.stop = self.pending = ResultKind.RATE
            self.complaint = shown(line)
            return [Output(kind=OutputKind.RETRY, text=self.complaint)]
        found = _FAILED_REQUEST.search(line[:8_000].decode("utf-8", "replace"))
        if not found:
            return []
        self.complaints += 1
        self.complaint = found.group(1)
        self.retry(classify.by_message(self.complaint))
        if self.complaints >= _PATIENCE:
            self.stop = self.stop or self.pending
        return [Output(kind=OutputKind.RETRY, text=shown(self.complaint))]

    def _replay(self, update: Object) -> list[Output]:
        if update.get("sessionUpdate") == "usage_update" and update.get("cost") is not None:
            self.cost_before = cost_of(update)
        return []

    def _update(self, update: Object) -> list[Output]:
        self._meter(mapping(at(update, "_meta.usage")))
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                words = text(at(update, "content.text"))
                if self.broken is not None:
                    self.broken.append(words)
                    return [Output(kind=OutputKind.ERROR, text=shown(words))]
                self.pending = None
                self.said.append(words)
                return [Output(kind=OutputKind.TEXT, text=shown(words))] if words else []
            case "agent_thought_chunk":
                return [Output(kind=OutputKind.THINKING, text=shown(text(at(update, "content.text"))))]
            case "user_message_chunk":
                return []
            case "tool_call":
                return self._tool(update)
            case "tool_call_update":
                return self._progress(update)
            case "usage_update":
                if update.get("cost") is not None:  # else it is about the context only
                    self.costs.append(cost_of(update))
                    self._watch_budget(self._spent())
                return [Output(kind=OutputKind.USAGE, text=shown(f"{count(update.get('used'))} tokens in context"))]
            case "session_info_update":
                return self._codex(mapping(at(update, "_meta.codex")))
            case str(kind) if kind in _QUIET:
                return []
            case _:
                return self.raw(update)

    def _codex(self, told: Object) -> list[Output]:
        """codex-acp answers a failed turn like a good one; the state of its thread says which it was."""
        state = at(told, "threadStatus.type")
        if state == "systemError" and self.broken is None:
            self.broken = []
        elif state == "active":
            self.broken = None
        error = mapping(told.get("error"))
        if not error:
            return []
        words = text(error.get("additionalDetails")) or text(error.get("message"))
        details = mapping(error.get("codexErrorInfo"))
        code = next((code for one in details.values() if (code := status(at(one, "httpStatusCode")))), 0)
        self.retry(classify.by_status(code) or codex_kind(words))
        return [Output(kind=OutputKind.RETRY, text=shown(words))]

    def _tool(self, update: Object) -> list[Output]:
        self.turn()
        self.pending = None
        self.earlier, self.said = [*self.earlier, *self.said], []
        return self._named(update)

    def _named(self, update: Object) -> list[Output]:
        """A call is often announced before its input is known, and said what it is about by an update."""
        call = text(update.get("toolCallId"))
        kind, path, title = self.tools.get(call, ("", "", ""))
        path = text(at(update, "locations.0.path")) or text(at(update, "rawInput.filePath")) or path
        told = (text(update.get("kind")) or kind or "other", path, text(update.get("title")) or title)
        if self.tools.get(call) == told:
            return []
        self.tools[call] = told
        shape = OutputKind.FILE_CHANGE if told[0] in ("edit", "delete", "move") else OutputKind.TOOL_CALL
        return [Output(kind=shape, tool=told[0], path=told[1], text=shown(told[2]))]

    def _progress(self, update: Object) -> list[Output]:
        name = self.tools.get(text(update.get("toolCallId")), ("other",))[0]
        match update.get("status"):
            case "completed":
                self.worked.add(name)
            case "failed":
                pass
            case _:
                return self._named(update)
        parts = [text(at(part, "content.text")) for part in objects(update.get("content"))]
        words = "\n".join(filter(None, parts)) or text(update.get("status"))
        return [Output(kind=OutputKind.TOOL_RESULT, tool=name, text=shown(words))]

    def _permission(self, params: Object) -> list[Output]:
        kind = text(at(params, "toolCall.kind")) or "other"
        choice = self.permit(params)
        if choice is None and not self.call.read_only:
            self.denials[kind] = None
        words = f"{text(at(params, 'toolCall.title')) or kind}: {'allowed' if choice else 'refused'}"
        return [Output(kind=OutputKind.TOOL_CALL, tool=kind, text=shown(words))]

    def permit(self, params: Object) -> str | None:
        """The id of the option to allow with; None refuses. Read-only roles may look; they may run things only where
        the mount forbids writing."""
        kind = text(at(params, "toolCall.kind"))
        harmless = kind in _HARMLESS or (kind == "execute" and self.fenced)
        if self.call.read_only and not harmless:
            return None
        by_kind = {text(option.get("kind")): text(option.get("optionId")) for option in objects(params.get("options"))}
        return by_kind.get("allow_once") or by_kind.get("allow_always") or None

    def refuse(self, params: Object) -> str | None:
        by_kind = {text(option.get("kind")): text(option.get("optionId")) for option in objects(params.get("options"))}
        return by_kind.get("reject_once") or by_kind.get("reject_always") or None

    def _meter(self, usage: Object) -> None:
        """qwen tells the tokens of each request: they are priced as they come."""
        if usage:
            self.metered = (self.metered or Tokens()) + tokens_of(usage)
            self._watch_budget(price(self.model or self.call.model, self.metered))

    def _watch_budget(self, spent: float | None) -> None:
        if spent is not None and self.call.max_usd is not None and spent > self.call.max_usd:
            self.stop = ResultKind.BUDGET

    def _spent(self) -> float | None:
        """The session's cost is cumulative. A total that shrinks or cannot be read is not believed."""
        if not self.costs or self.cost_before is None or any(cost is None for cost in self.costs):
            return None
        known = [cost for cost in self.costs if cost is not None]
        rising = all(one <= two for one, two in zip([self.cost_before, *known], known, strict=False))
        return known[-1] - self.cost_before if rising else None

    def finish(self, finished: Finished) -> AgentResult:
        kind = self.ended(finished)
        if kind is None or (finished.reason == "stopped" and self.stop is None):
            kind = self._judge(finished)
        words = "".join(self.said) or "".join(self.earlier)
        said = _complaint(self.failure) if self.failure else "".join(self.broken or ()).strip() or self.complaint
        if kind in (ResultKind.LIMIT, ResultKind.RATE) and self.broken:
            self.reset_at = reset_time(said, self.clock())
        whole = self.metered is not None or self.program in _COUNTS_TURNS
        tokens = self.metered or tokens_of(mapping((self.answer or {}).get("usage")))
        if self.call.session and not whole:
            tokens = Tokens()
        return self.close(
            finished,
            kind,
            text=words if kind is ResultKind.OK else "",
            said=said,
            tokens=tokens if tokens.total() else None,
            cost_usd=self._spent(),
            # Of a turn that broke off, the last request is not told.
            priced=whole and kind in (ResultKind.OK, ResultKind.BUDGET),
        )

    def _judge(self, finished: Finished) -> ResultKind:
        if self.failure is not None:
            return _failure(self.failure)
        if self.broken is not None:
            return self.pending or codex_kind("".join(self.broken).strip()) or ResultKind.CRASH
        if self.answer is None:
            return self.no_terminal(finished)
        stop = self.answer.get("stopReason")
        quota = at(self.answer, "_meta.quota")
        if isinstance(quota, dict) and quota.get("token_count", 0) is None:
            return self.pending or ResultKind.NO_RESULT  # it keeps count, and no request came to an end
        if stop == "end_turn":
            # opencode answers so even when its last request had failed: then nothing came after the complaint.
            return self.pending or ResultKind.OK
        return _STOPS.get(stop, ResultKind.NO_RESULT) if isinstance(stop, str) else ResultKind.NO_RESULT


def _failure(error: Object) -> ResultKind:
    """Codes are coarse in this protocol; agents put what they know into `data`, each in its own way."""
    data = error.get("data")
    looked = [data, at(data, "error"), at(data, "data"), at(data, "error.data")]
    for place in looked:
        code = status(at(place, "statusCode")) or status(at(place, "status")) or status(at(place, "code"))
        if kind := classify.by_status(code):
            return kind
    for place in looked:
        words = (text(at(place, name)) for name in ("errorKind", "kind", "code", "type", "name"))
        if kind := classify.by_word(*words):
            return kind
    if error.get("code") == _AUTH_REQUIRED:
        return ResultKind.AUTH
    return classify.by_message(_complaint(error)) or ResultKind.CRASH


def _complaint(error: Object) -> str:
    data = error.get("data")
    inner = text(data) or text(at(data, "message")) or text(at(data, "details")) or text(at(data, "error.message"))
    if body := decode(inner.encode("utf-8", "replace")):
        inner = text(at(body, "error.message")) or inner
    return ": ".join(filter(None, (text(error.get("message")), inner))) or "the agent answered with an error"
