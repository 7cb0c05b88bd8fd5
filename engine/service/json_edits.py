"""Changing somebody else's JSON file without disturbing it: everything but the one place stays byte for byte."""

from __future__ import annotations

import json
import re
from typing import Any

from engine.plans.json_spans import Value, elements, pairs, value_at

_INDENT = re.compile(r"\n([ \t]+)\S")


def add_member(text: str, start: int, key: str, value: Any) -> str:
    """A member at the end of the object that begins at `start`."""
    return _added(text, start, [one for _key, one in pairs(text, start)], value, f"{json.dumps(key)}: ", "}")


def add_element(text: str, start: int, value: Any) -> str:
    """An element at the end of the list that begins at `start`."""
    return _added(text, start, elements(text, start), value, "", "]")


def replace_value(text: str, old: Value, value: Any) -> str:
    return text[: old.start] + _rendered(text, value, _indent_at(text, old.start)) + text[old.end :]


def drop_element(text: str, start: int, number: int) -> str:
    found = elements(text, start)
    return _dropped(text, start, [(one.start, one.end) for one in found], number)


def drop_member(text: str, start: int, key: str) -> str:
    found = pairs(text, start)
    number = max(index for index, (name, _value) in enumerate(found) if name.value == key)
    return _dropped(text, start, [(name.start, value.end) for name, value in found], number)


def _added(text: str, start: int, there: list[Value], value: Any, before: str, close: str) -> str:
    unit = _unit(text)
    flat = "\n" not in text
    inner = _indent_at(text, start) + unit
    if there:
        last = max(one.end for one in there)
        gap = " " if flat else f"\n{inner}"
        return f"{text[:last]},{gap}{before}{_rendered(text, value, inner)}{text[last:]}"
    end = text.index(close, start)
    if flat:
        return f"{text[: start + 1]}{before}{_rendered(text, value, inner)}{text[end:]}"
    return f"{text[: start + 1]}\n{inner}{before}{_rendered(text, value, inner)}\n{_indent_at(text, start)}{text[end:]}"


def _dropped(text: str, start: int, spans: list[tuple[int, int]], number: int) -> str:
    first, last = spans[number]
    if number:
        return text[: spans[number - 1][1]] + text[last:]
    if len(spans) > 1:
        return text[:first] + text[spans[1][0] :]
    close = value_at(text, start).end - 1
    return text[: start + 1] + text[close:]


def _rendered(text: str, value: Any, indent: str) -> str:
    if "\n" not in text:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).splitlines()
    return f"\n{indent}".join(lines)


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _indent_at(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
