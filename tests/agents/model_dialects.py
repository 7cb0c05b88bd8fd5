"""The wire dialects of the fake model server: how one scripted turn is put into each provider's events."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_numbers = itertools.count(1)


def fresh(prefix: str) -> str:
    return f"{prefix}{next(_numbers):08d}"


@dataclass
class Turn:
    """What the model says in one response."""

    model: str
    text: str = ""
    thinking: str = ""
    tools: list[tuple[str, Any]] = field(default_factory=list)
    stop: str = ""
    usage: dict[str, int] = field(default_factory=dict)

    def tokens(self, name: str) -> int:
        return self.usage.get(name, {"input": 100, "output": 20}.get(name, 0))


Event = tuple[str | None, Any]


def anthropic(turn: Turn) -> Iterator[Event]:
    usage = {
        "input_tokens": turn.tokens("input"),
        "output_tokens": turn.tokens("output"),
        "cache_read_input_tokens": turn.tokens("cache_read"),
        "cache_creation_input_tokens": turn.tokens("cache_write"),
    }
    message = {
        "id": fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield "message_start", {"type": "message_start", "message": message}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if turn.thinking:
        deltas = [
            {"type": "thinking_delta", "thinking": turn.thinking},
            {"type": "signature_delta", "signature": "c2ln"},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if turn.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": turn.text}]))
    for name, given in turn.tools:
        start = {"type": "tool_use", "id": fresh("toolu_"), "name": name, "input": {}}
        blocks.append((start, [{"type": "input_json_delta", "partial_json": json.dumps(given)}]))
    for index, (start, deltas) in enumerate(blocks):
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    stop = turn.stop or ("tool_use" if turn.tools else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


def anthropic_whole(turn: Turn) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [{"type": "tool_use", "id": fresh("toolu_"), "name": n, "input": given} for n, given in turn.tools]
    return {
        "id": fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": content,
        "stop_reason": turn.stop or ("tool_use" if turn.tools else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": turn.tokens("input"), "output_tokens": turn.tokens("output")},
    }


def responses(turn: Turn) -> Iterator[Event]:
    items: list[dict[str, Any]] = []
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items.append(
            {"type": "message", "id": fresh("msg_"), "role": "assistant", "status": "completed", "content": content}
        )
    for name, given in turn.tools:
        if isinstance(given, str):
            items.append(
                {
                    "type": "custom_tool_call",
                    "id": fresh("ctc_"),
                    "call_id": fresh("call_"),
                    "name": name,
                    "input": given,
                }
            )
        else:
            items.append(
                {
                    "type": "function_call",
                    "id": fresh("fc_"),
                    "call_id": fresh("call_"),
                    "name": name,
                    "arguments": json.dumps(given),
                    "status": "completed",
                }
            )
    whole = {
        "id": fresh("resp_"),
        "object": "response",
        "status": "completed",
        "model": turn.model,
        "output": items,
        "error": None,
        "usage": {
            "input_tokens": turn.tokens("input"),
            "input_tokens_details": {"cached_tokens": turn.tokens("cache_read")},
            "output_tokens": turn.tokens("output"),
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.tokens("input") + turn.tokens("output"),
        },
    }
    number = itertools.count()

    def event(kind: str, **rest: Any) -> Event:
        return kind, {"type": kind, "sequence_number": next(number), **rest}

    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(items):
        yield event("response.output_item.added", output_index=index, item=item)
        if item["type"] == "message":
            where = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield event("response.output_text.delta", delta=turn.text, **where)
            yield event("response.output_text.done", text=turn.text, **where)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


def chat(turn: Turn) -> Iterator[Event]:
    base = {"id": fresh("chatcmpl-"), "object": "chat.completion.chunk", "created": 1, "model": turn.model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    if turn.text:
        yield chunk({"content": turn.text})
    for index, (name, given) in enumerate(turn.tools):
        function = {"name": name, "arguments": json.dumps(given)}
        yield chunk({"tool_calls": [{"index": index, "id": fresh("call_"), "type": "function", "function": function}]})
    yield chunk({}, turn.stop or ("tool_calls" if turn.tools else "stop"))
    usage = {
        "prompt_tokens": turn.tokens("input"),
        "completion_tokens": turn.tokens("output"),
        "total_tokens": turn.tokens("input") + turn.tokens("output"),
        "prompt_tokens_details": {"cached_tokens": turn.tokens("cache_read")},
    }
    yield None, {**base, "choices": [], "usage": usage}
    yield None, "[DONE]"


def gemini(turn: Turn) -> Iterator[Event]:
    parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"id": fresh("fc-"), "name": name, "args": given}} for name, given in turn.tools]
    yield (
        None,
        {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": turn.stop or "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": turn.tokens("input"),
                "candidatesTokenCount": turn.tokens("output"),
                "cachedContentTokenCount": turn.tokens("cache_read"),
                "totalTokenCount": turn.tokens("input") + turn.tokens("output"),
            },
            "modelVersion": turn.model,
            "responseId": fresh("r"),
        },
    )


def chat_whole(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    calls = [
        {"id": fresh("call_"), "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for name, given in turn.tools
    ]
    if calls:
        message["tool_calls"] = calls
    return {
        "id": fresh("chatcmpl-"),
        "object": "chat.completion",
        "created": 1,
        "model": turn.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": turn.tokens("input"), "completion_tokens": turn.tokens("output")},
    }


def error_body(dialect: str, status: int, kind: str, message: str, extra: dict[str, Any]) -> dict[str, Any]:
    match dialect:
        case "anthropic":
            return {"type": "error", "error": {"type": kind, "message": message, **extra}}
        case "gemini":
            return {"error": {"code": status, "message": message, "status": kind, "details": extra.get("details", [])}}
        case _:
            return {
                "error": {"message": message, "type": kind, "code": extra.get("code", kind), "param": None, **extra}
            }
