"""Structured answers: find the JSON in a text, and hold it against the part of JSON Schema that our schemas use."""

from __future__ import annotations

import json
import re
from typing import Any

from engine.perform.agents.wire import Object, too_deep

_FENCE = re.compile(r"^(`{3,})[ \t]*(?:json)?[ \t]*\r?\n(.*?)^\1`*[ \t]*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def find(text: str) -> Object | None:
    """The object of the whole text, or of its last fenced block that holds one."""
    candidates = [text.strip(), *(match.group(2) for match in reversed(list(_FENCE.finditer(text))))]
    for candidate in candidates:
        if not candidate.lstrip().startswith("{"):
            continue
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and not too_deep(value):
            return value
    return None


def faults(value: Any, schema: Object, where: str = "answer") -> list[str]:
    """What is wrong with a value, in words for the corrective retry; empty when it satisfies the schema."""
    wanted = schema.get("type")
    if isinstance(wanted, str) and not _is(value, wanted):
        return [f"{where} must be of type {wanted}"]
    found: list[str] = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, dict):
        found += [f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in value]
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                found += faults(value[name], inner, f"{where}.{name}")
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value[:200]):
            found += faults(item, schema["items"], f"{where}[{index}]")
    return found[:10]


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES.get(wanted, (object,)))


def request(schema: Object) -> str:
    """The words that ask for the answer where the program has no schema flag."""
    return (
        "\n\nEnd your reply with exactly one fenced block, opened by ```json and closed by ```, that holds one JSON "
        f"object satisfying this JSON Schema:\n\n```\n{json.dumps(schema)}\n```\n"
    )


def correction(found: list[str], schema: Object) -> str:
    """The one corrective retry."""
    listed = "\n".join(f"- {fault}" for fault in found) or "- it holds no JSON object"
    return (
        "Your reply could not be used:\n"
        f"{listed}\n\nDo no further work. Reply with nothing but the corrected answer." + request(schema)
    )
