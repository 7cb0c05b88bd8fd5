"""Reading the Agent Client Protocol: JSON-RPC messages of an agent to outputs, its answer to the prompt to a result.

Accounting is uneven between agents: a cumulative cost, tokens only, or nothing. What cannot be told is None.
"""

from __future__ import annotations

import re
from typing import Any

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify
from engine.perform.agents.stream import Clock, Reader
from engine.perform.agents.wire import Object, at, count, decode, items, mapping, money, objects, shown, status, text
from engine.perform.contract import AgentCall, Finished, Output

_STOPS = {
    "max_turn_requests": ResultKind.TURNS,
    "max_tokens": ResultKind.CONTEXT,
    "refusal": ResultKind.REFUSAL,
    "cancelled": ResultKind.CANCELLED,
}
_QUIET = frozenset(
    {"available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "plan"}
)
_HARMLESS = frozenset({"read", "search", "think", "fetch"})
_FAILED_REQUEST = re.compile(r'level=ERROR .*message="stream error" .*small=false .*error\.error="([^"]*)"')
_PATIENCE = 3
"""Failed requests of one call before it is ended: opencode would go on, on a full context for ever."""
_AUTH_REQUIRED = -32000


class AcpStream(Reader):
    def __init__(self, call: AgentCall, clock: Clock, *, agent: str, fenced: bool) -> None:
        super().__init__(call, clock)
        self.agent = agent
        self.fenced = fenced
        self.asked = False
        """The prompt is out: what comes before is the replay of a resumed session."""
        self.said: list[str] = []
        self.earlier: list[str] = []
        self.answer: Object | None = None
        self.failure: Object | None = None
        self.costs: list[float | None] = []
        self.cost_before: float | None = None if call.session else 0.0
        self.tools: dict[str, str] = {}
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
            return []
        if isinstance(event.get("error"), dict):
            self.failure = event["error"]
            return [Output(kind=OutputKind.ERROR, text=shown(_complaint(event["error"])))]
        return []

    def feed_error(self, line: bytes) -> list[Output]:
        """opencode says nothing over the protocol while it retries, but logs each failed request."""
        super().feed_error(line)
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
        if update.get("sessionUpdate") == "usage_update":
            self.cost_before = _cost(update)
        return []

    def _update(self, update: Object) -> list[Output]:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self.pending = None
                words = text(at(update, "content.text"))
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
                self.costs.append(_cost(update))
                self._watch_budget()
                return [Output(kind=OutputKind.USAGE, text=shown(f"{count(update.get('used'))} tokens in context"))]
            case str(kind) if kind in _QUIET:
                return []
            case _:
                return self.raw(update)

    def _tool(self, update: Object) -> list[Output]:
        self.turn()
        self.pending = None
        self.earlier, self.said = [*self.earlier, *self.said], []
        kind, title = text(update.get("kind")) or "other", text(update.get("title"))
        self.tools[text(update.get("toolCallId"))] = kind
        path = text(at(update, "locations.0.path")) or text(at(update, "rawInput.filePath"))
        shape = OutputKind.FILE_CHANGE if kind in ("edit", "delete", "move") else OutputKind.TOOL_CALL
        return [Output(kind=shape, tool=kind, path=path, text=shown(title))]

    def _progress(self, update: Object) -> list[Output]:
        name = self.tools.get(text(update.get("toolCallId")), "other")
        match update.get("status"):
            case "completed":
                self.worked.add(name)
            case "failed":
                pass
            case _:
                return []
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

    def _watch_budget(self) -> None:
        spent = self._spent()
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
        said = _complaint(self.failure) if self.failure else self.complaint
        tokens = _tokens(self.answer or {}) if not self.call.session else Tokens()
        return self.close(
            finished,
            kind,
            text=words if kind is ResultKind.OK else "",
            said=said,
            tokens=tokens if tokens.total() else None,
            cost_usd=self._spent(),
            priced=False,  # some agents count only the last step of a turn
        )

    def _judge(self, finished: Finished) -> ResultKind:
        if self.failure is not None:
            return _failure(self.failure)
        if self.answer is None:
            return self.no_terminal(finished)
        stop = self.answer.get("stopReason")
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


def _cost(update: Object) -> float | None:
    cost: Any = update.get("cost")
    return money(at(cost, "amount")) if text(at(cost, "currency")) in ("USD", "") else None


def _tokens(answer: Object) -> Tokens:
    usage = mapping(answer.get("usage"))
    return Tokens(
        input=count(usage.get("inputTokens")),
        output=count(usage.get("outputTokens")) + count(usage.get("thoughtTokens")),
        cache_read=count(usage.get("cachedReadTokens")),
        cache_write=count(usage.get("cachedWriteTokens")),
    )


def offered(session: Object, kind: str) -> list[str]:
    """Ids a new session offers: `kind` is modes or models."""
    place, name = {"modes": ("modes.availableModes", "id"), "models": ("models.availableModels", "modelId")}[kind]
    return [text(option.get(name)) for option in objects(at(session, place)) if text(option.get(name))]


def model_option(session: Object) -> tuple[str, list[str]]:
    """The configuration option that chooses the model, and its values."""
    for option in objects(session.get("configOptions")):
        if "model" in (option.get("category"), option.get("id")):
            values = [text(value.get("value")) for value in _flat(option.get("options"))]
            return text(option.get("id")), [value for value in values if value]
    return "", []


def _flat(options: Any) -> list[Object]:
    """Options may come in named groups."""
    found: list[Object] = []
    for option in items(options):
        if isinstance(option, dict):
            found += objects(option.get("options")) or [option]
    return found
