"""What the JSON formats of other tools share: decoding with places, members changed without touching the rest."""

from __future__ import annotations

import json
from typing import Any

from engine.plans.foreign import refused
from engine.plans.json_spans import Value, members, value_at


def decoded(text: str, source: str) -> Value:
    """The whole document with its places; PlanRefused where it is not JSON."""
    start = 1 if text.startswith("\ufeff") else 0
    try:
        json.loads(text[start:])
        return value_at(text, start)
    except json.JSONDecodeError as broken:
        raise refused(source, broken.lineno, f"not JSON: {broken.msg} (column {broken.colno})") from broken
    except (RecursionError, ValueError) as broken:
        raise refused(source, 0, "JSON nested too deeply, or with numbers too long, for a plan") from broken


def with_members(text: str, start: int, changes: dict[str, Any]) -> list[tuple[int, int, str]]:
    """Edits that give the object at `start` these members: changed where they are, else put in front."""
    inside = members(text, start)
    edits = []
    missing = []
    for key, value in changes.items():
        new = json.dumps(value, ensure_ascii=False)
        if key in inside:
            edits.append((inside[key].start, inside[key].end, new))
        else:
            missing.append(f"{json.dumps(key)}: {new}")
    if missing:
        comma = ", " if inside else ""
        edits.append((start + 1, start + 1, ", ".join(missing) + comma))
    return edits


def word(data: dict[str, Any], *keys: str) -> str:
    """The first of these members that is a text with something in it."""
    return next((data[key] for key in keys if isinstance(data.get(key), str) and data[key].strip()), "")
