"""Reading Claude Code's stream-json (and qwen's, which is the same shape).

Traps this file is about: an API failure is `subtype:"success"` with `is_error:true`; SIGINT exits 0; `total_cost_usd`
accumulates over a resumed session in some versions and not in others; `assistant` lines repeat start-of-message usage.
"""

from __future__ import annotations

import re

from engine.core.activity import OutputKind
from engine.core.model import AgentResult, ResultKind, Tokens
from engine.perform.agents import classify
from engine.perform.agents.stream import WRITES, Clock, Reader
from engine.perform.agents.wire import Object, count, epoch, mapping, money, objects, seconds, shown, status, text
from engine.perform.process.spawning import AgentCall, Finished, Output

_LEGACY_LIMIT = re.compile(r"usage limit reached\|(\d{10})")
_TEXT = OutputKind.TEXT
_QUIET = frozenset({"init", "status", "informational", "notification", "thinking_tokens", "background_tasks_changed"})


class ClaudeStream(Reader):
    agent = "claude"

    def __init__(self, call: AgentCall, clock: Clock) -> None:
        super().__init__(call, clock)
        self.results: list[Object] = []
        self.failure: Object = {}
        """The synthetic assistant line before an API-error result: the best classifier there is."""
        self.limited = False
        self.tools: dict[str, str] = {}

    def event(self, event: Object) -> list[Output]:
        if session := text(event.get("session_id")):
            self.session = session
        match event.get("type"):
            case "assistant":
                return self._assistant(event)
            case "user":
                return self._user(event)
            case "result":
                return self._result(event)
            case "rate_limit_event":
                return self._limit(mapping(event.get("rate_limit_info")))
            case "system":
                return self._system(event)
            case "stream_event":
                return []
            case _:
                return self.raw(event)

    def _system(self, event: Object) -> list[Output]:
        match event.get("subtype"):
            case "init":
                self.model = text(event.get("model"))
                return []
            case "api_retry":
                code, word = status(event.get("error_status")), text(event.get("error"))
                kind = classify.by_status(code) or classify.by_word(word)
                self.retry(kind, seconds(event.get("retry_delay_ms")))
                why = f"{word} {code or ''}".strip()
                tries = f"{event.get('attempt')}/{event.get('max_retries')}"
                return [Output(kind=OutputKind.RETRY, text=shown(f"try {tries} after {why}"))]
            case str(subtype) if subtype in _QUIET or subtype.startswith("hook_"):
                words = text(event.get("content"))
                return [Output(kind=OutputKind.TEXT, text=shown(words))] if words else []
            case _:
                return self.raw(event)

    def _assistant(self, event: Object) -> list[Output]:
        message = mapping(event.get("message"))
        if event.get("is_api_error_message") is True or event.get("error"):
            self.failure = event
            self._limit(mapping(mapping(event.get("api_error_params")).get("rate_limit_info")))
            return [Output(kind=OutputKind.ERROR, text=shown(_said(message)))]
        self.pending = None
        if "model" in message and (model := text(message["model"])) and not event.get("parent_tool_use_id"):
            self.model = model
        out: list[Output] = []
        for block in objects(message.get("content")):
            kind = block.get("type")
            if kind == "text":
                out.append(Output(kind=_TEXT, text=shown(text(block.get("text")))))
            elif kind in ("thinking", "redacted_thinking"):
                out.append(Output(kind=OutputKind.THINKING, text=shown(text(block.get("thinking")))))
            elif kind == "tool_use":
                out.append(self._tool(block))
            else:
                out += self.raw(block)
        return out

    def _tool(self, block: Object) -> Output:
        name, given = text(block.get("name")), mapping(block.get("input"))
        self.tools[text(block.get("id"))] = name
        path = text(given.get("file_path")) or text(given.get("notebook_path")) or text(given.get("path"))
        words = text(given.get("command")) or text(given.get("pattern")) or text(given.get("description"))
        kind = OutputKind.FILE_CHANGE if name in WRITES else OutputKind.TOOL_CALL
        return Output(kind=kind, tool=name, path=path, text=shown(words))

    def _user(self, event: Object) -> list[Output]:
        out: list[Output] = []
        for block in objects(mapping(event.get("message")).get("content")):
            if block.get("type") != "tool_result":
                continue
            name = self.tools.get(text(block.get("tool_use_id")), "")
            if block.get("is_error") is not True and name:
                self.worked.add(name)
            content = block.get("content")
            words = content if isinstance(content, str) else "\n".join(text(b.get("text")) for b in objects(content))
            out.append(Output(kind=OutputKind.TOOL_RESULT, tool=name, text=shown(words)))
        return out

    def _limit(self, info: Object) -> list[Output]:
        if not info:
            return []
        when = epoch(info.get("resetsAt"))
        if info.get("status") == "rejected":
            self.limited, self.reset_at = True, when or self.reset_at
        words = f"{info.get('rateLimitType', 'usage')} limit: {info.get('status')}"
        return [Output(kind=OutputKind.LIMIT, text=shown(words))]

    def _result(self, event: Object) -> list[Output]:
        same = text(event.get("uuid"))
        if not any(event == seen or (same and text(seen.get("uuid")) == same) for seen in self.results):
            self.results.append(event)
        for denial in objects(event.get("permission_denials")):
            self.denials[text(denial.get("tool_name")) or "a tool"] = None
        return [Output(kind=OutputKind.USAGE, tokens=_tokens([event]))]

    def finish(self, finished: Finished) -> AgentResult:
        kind = self.ended(finished)
        last = self.results[-1] if self.results else {}
        words = text(last.get("result"))
        if not self.results:
            self.lost_session = finished.reason == "exited" and any("No conversation found" in e for e in self.errors)
            return self.close(finished, kind or self.no_terminal(finished))
        if kind is None:
            kind = self._judge(finished)
        listed = last.get("errors")
        errors = [text(item) for item in listed] if isinstance(listed, list) else []
        said = "; ".join(filter(None, errors)) or (words if last.get("is_error") is True else "")
        structured = last.get("structured_output")
        return self.close(
            finished,
            kind,
            text=words if kind in (ResultKind.OK, ResultKind.DENIED) else "",
            said=said,
            tokens=_tokens(self.results),
            cost_usd=self._cost(),
            structured=structured if isinstance(structured, dict) else None,
        )

    def _judge(self, finished: Finished) -> ResultKind:
        """Every result must say, in so many words, that it is no error; then the exit code must agree."""
        for result in self.results:
            if result.get("is_error") is True or text(result.get("subtype")).startswith("error"):
                return self._failure(result, finished)
        if not all(r.get("is_error") is False and r.get("subtype") == "success" for r in self.results):
            return ResultKind.NO_RESULT
        return ResultKind.OK if finished.exit_code == 0 else ResultKind.CRASH

    def _failure(self, result: Object, finished: Finished) -> ResultKind:
        match text(result.get("subtype")), text(result.get("terminal_reason")):
            case ("error_max_turns", _) | (_, "max_turns"):
                return ResultKind.TURNS
            case ("error_max_budget_usd", _) | (_, "budget_exhausted"):
                return ResultKind.BUDGET
            case ("error_max_structured_output_retries", _):
                return ResultKind.NO_RESULT
            case (_, "prompt_too_long"):
                return ResultKind.CONTEXT
        words = (text(result.get("api_error")), text(self.failure.get("api_error")), text(self.failure.get("error")))
        said = text(result.get("result"))
        if self.limited or "usage_limit_reached" in words:
            return ResultKind.LIMIT
        if legacy := _LEGACY_LIMIT.search(said):
            self.reset_at = epoch(int(legacy.group(1)))
            return ResultKind.LIMIT
        if result.get("stop_reason") == "refusal":
            return ResultKind.REFUSAL
        if (code := status(result.get("api_error_status"))) and (kind := classify.by_status(code)):
            return kind
        if kind := classify.by_word(*words[:2]) or classify.by_message(said) or classify.by_word(words[2]):
            return kind
        interrupted = result.get("subtype") == "error_during_execution" and finished.exit_code == 0
        return ResultKind.CANCELLED if interrupted else ResultKind.CRASH

    def _cost(self) -> float | None:
        """This run's own cost. `model_usage_since_last_result` where there is one; on a fresh session the total is as
        good and also counts subagents, so the larger of the two. Without the field the total is per run, or counts
        too much on a resumed session of a version in between: too much is the safe side."""
        total = 0.0
        for result in self.results:
            whole = money(result.get("total_cost_usd"))
            since = result.get("model_usage_since_last_result")
            if isinstance(since, dict):
                parts = [money(mapping(usage).get("costUSD")) for usage in since.values()]
                if any(part is None for part in parts):
                    return None
                amount = sum(part for part in parts if part is not None)
                fresh = not self.call.session and len(self.results) == 1
                if fresh and whole is None:
                    return None
                total += max(amount, whole or 0.0) if fresh else amount
            elif whole is None:
                return None
            else:
                total += whole
        return money(total)


def _tokens(results: list[Object]) -> Tokens:
    """This run's tokens: per model where given (subagents counted), else the main loop's own `usage`."""
    given, out, read, write = 0, 0, 0, 0
    for result in results:
        since = result.get("model_usage_since_last_result", result.get("modelUsage"))
        if isinstance(since, dict) and since:
            models = [mapping(usage) for usage in since.values()]
            given += sum(count(m.get("inputTokens")) for m in models)
            out += sum(count(m.get("outputTokens")) for m in models)
            read += sum(count(m.get("cacheReadInputTokens")) for m in models)
            write += sum(count(m.get("cacheCreationInputTokens")) for m in models)
        else:
            usage = mapping(result.get("usage"))
            given += count(usage.get("input_tokens"))
            out += count(usage.get("output_tokens"))
            read += count(usage.get("cache_read_input_tokens"))
            write += count(usage.get("cache_creation_input_tokens"))
    return Tokens(input=given, output=out, cache_read=read, cache_write=write)


def _said(message: Object) -> str:
    return "\n".join(text(block.get("text")) for block in objects(message.get("content")))
