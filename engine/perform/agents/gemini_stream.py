"""Reading `gemini -o stream-json`.

Traps: SIGTERM exits 0 without a result; a failed request's HTTP status is in the exit code (modulo 256) and in stderr,
not in the result; stats name tokens but no cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify
from engine.perform.agents.prices import price
from engine.perform.agents.stream import WRITES, Clock, Reader
from engine.perform.agents.wire import Object, at, count, decode, mapping, shown, status, text
from engine.perform.process.spawning import AgentCall, Finished, Output

Usage = Callable[[str], Tokens | None]
_ATTEMPT = re.compile(r"^Attempt \d+ failed(?: with status (\d{3}))?")
_SUGGESTED = re.compile(r"^Suggested retry after \S+ Retrying after (\d{1,9})ms")
_STATUS = re.compile(r"^\s+(?:status|code): (\d{3}),?$")
_NAME = re.compile(r"\b([A-Z]\w+Error): ")
_BODY = re.compile(r"\[API Error: (\{.*\})\]", re.DOTALL)
_EXITS = {code & 0xFF: code for code in (400, 401, 403, 404, 429, 500, 502, 503, 504)}
_OWN_EXITS = {41: ResultKind.AUTH, 53: ResultKind.TURNS, 55: ResultKind.DENIED, 130: ResultKind.CANCELLED}


class GeminiStream(Reader):
    agent = "gemini"

    def __init__(self, call: AgentCall, clock: Clock, *, usage: Usage | None = None) -> None:
        super().__init__(call, clock)
        self.usage = usage
        """Tokens of this session up to now, from its chat file; includes earlier calls of a resumed session."""
        self.before = (usage(call.session) if usage and call.session else None) or Tokens()
        self.results: list[Object] = []
        self.said: list[str] = []
        self.earlier: list[str] = []
        self.tools: dict[str, str] = {}
        self.status = 0
        self.name = ""

    def event(self, event: Object) -> list[Output]:
        match event.get("type"):
            case "init":
                self.session = text(event.get("session_id")) or self.session
                self.model = text(event.get("model"))
                return []
            case "message" if event.get("role") == "assistant":
                self.pending = None
                words = text(event.get("content"))
                self.said.append(words)
                return [Output(kind=OutputKind.TEXT, text=shown(words))]
            case "message":
                return []
            case "tool_use":
                return self._tool(event)
            case "tool_result":
                name = self.tools.get(text(event.get("tool_id")), "")
                if event.get("status") == "success":
                    self.worked.add(name)
                words = text(event.get("output")) or text(at(event, "error.message")) or text(event.get("status"))
                return [Output(kind=OutputKind.TOOL_RESULT, tool=name, text=shown(words))]
            case "error":
                return [Output(kind=OutputKind.ERROR, text=shown(text(event.get("message")) or event))]
            case "result":
                if event not in self.results:
                    self.results.append(event)
                return [Output(kind=OutputKind.USAGE, tokens=_tokens(mapping(event.get("stats"))))]
            case _:
                return self.raw(event)

    def _tool(self, event: Object) -> list[Output]:
        self.pending = None
        self.turn()
        self._watch_budget()
        self.earlier, self.said = [*self.earlier, *self.said], []
        name, given = text(event.get("tool_name")), mapping(event.get("parameters"))
        self.tools[text(event.get("tool_id"))] = name
        path = text(given.get("file_path")) or text(given.get("absolute_path")) or text(given.get("path"))
        kind = OutputKind.FILE_CHANGE if name in WRITES else OutputKind.TOOL_CALL
        return [Output(kind=kind, tool=name, path=path, text=shown(text(given.get("command"))))]

    def _watch_budget(self) -> None:
        """Gemini has no budget flag; its chat file tells what was used."""
        if self.call.max_usd is None or self.usage is None or self.stop:
            return
        spent = price(self.model or self.call.model, self._used() or Tokens())
        if spent is not None and spent > self.call.max_usd:
            self.stop = ResultKind.BUDGET

    def _used(self) -> Tokens | None:
        total = self.usage(self.session) if self.usage else None
        if total is None:
            return None
        return Tokens(
            input=max(0, total.input - self.before.input),
            output=max(0, total.output - self.before.output),
            cache_read=max(0, total.cache_read - self.before.cache_read),
        )

    def feed_error(self, line: bytes) -> list[Output]:
        words = shown(line).rstrip()
        if found := _ATTEMPT.match(words):
            code = status(found.group(1) or "")
            self.status = code or self.status
            self.retry(classify.by_status(code))
            super().feed_error(line)
            return [Output(kind=OutputKind.RETRY, text=shown(words.split("...")[0]))]
        if found := _SUGGESTED.match(words):
            self.retry(ResultKind.RATE, int(found.group(1)) / 1000)
        elif found := _STATUS.match(words):
            self.status = status(found.group(1))
        elif found := _NAME.search(words):
            self.name = found.group(1)
        if not words.startswith("    at "):
            super().feed_error(line)
        return []

    def finish(self, finished: Finished) -> AgentResult:
        kind = self.ended(finished)
        failed = next((r for r in self.results if r.get("status") != "success"), None)
        said = text(at(failed, "error.message")) if failed else ""
        if kind is None:
            kind = self._judge(finished, failed, said)
        self.lost_session = not self.results and bool(self.call.session) and any("resum" in e for e in self.errors)
        if self.results:
            stats = [_tokens(mapping(result.get("stats"))) for result in self.results]
            tokens: Tokens | None = max(stats, key=Tokens.total)
        else:
            tokens = self._used()
        nothing = failed is not None and _unspent(mapping(failed.get("stats")))
        words = "".join(self.said) or "".join(self.earlier)
        return self.close(
            finished,
            kind,
            text=words if kind is ResultKind.OK else "",
            said=said,
            tokens=tokens,
            cost_usd=0.0 if nothing else None,
        )

    def _judge(self, finished: Finished, failed: Object | None, said: str) -> ResultKind:
        if failed is not None and failed.get("status") == "error":
            return self._failure(finished, said)
        if not self.results:
            own = _OWN_EXITS.get(finished.exit_code or 0)
            return own or self.no_terminal(finished)
        if failed is not None:
            return ResultKind.NO_RESULT
        return ResultKind.OK if finished.exit_code == 0 else ResultKind.CRASH

    def _failure(self, finished: Finished, said: str) -> ResultKind:
        """The provider's body where it is quoted, stderr's status, the exit code, the error's name, then its words."""
        body = _BODY.search(said)
        error = mapping(mapping(decode(body.group(1).encode())).get("error")) if body else {}
        code = status(error.get("code")) or self.status or _EXITS.get(finished.exit_code or 0, 0)
        if classify.by_word(self.name) is ResultKind.LIMIT:
            return ResultKind.LIMIT
        found = classify.by_status(code) or classify.by_word(self.name) or classify.by_message(said)
        found = found or classify.by_word(text(error.get("status"))) or _OWN_EXITS.get(finished.exit_code or 0)
        return found or ResultKind.CRASH


def _unspent(stats: Object) -> bool:
    """The program itself says that no token was used."""
    used = (stats.get("input_tokens"), stats.get("output_tokens"))
    return all(type(number) is int and number == 0 for number in used)


def _tokens(stats: Object) -> Tokens:
    """Gemini counts cached tokens among the input; ours are disjoint."""
    read = count(stats.get("cached"))
    return Tokens(
        input=max(0, count(stats.get("input_tokens")) - read), output=count(stats.get("output_tokens")), cache_read=read
    )
