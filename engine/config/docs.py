"""docs/config.md, made from the sections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import inspect

from engine import files
from engine.agent_records import docs_table, login_table
from engine.config.field_text import docs_of, own_default, struct_of, toml
from engine.config.sections import Config
from engine.config.validate import describe
from engine.core import gate_choices

PAGE = Path(__file__).parents[2] / "docs" / "config.md"
Lines = Iterator[str]


def page() -> str:
    """docs/config.md."""
    lines = [
        "# Settings",
        "",
        "`.devteam/config.toml` holds your settings; without it the defaults below are in force. `devteam init` writes",
        "one with comments. A wrong key or value stops the start, with its line and the nearest right one.",
        "Made by `python -m engine.config --write-docs` from the docstrings in `engine/config`.",
        "",
    ]
    return "\n".join((*lines, *_chapter(Config, "", Config()))) + "\n"


def _chapter(kind: type, path: str, default: Any, array: bool = False) -> Lines:
    fields = inspect.type_info(kind).fields  # type: ignore[attr-defined]
    words = docs_of(kind)
    if path:
        yield f"## `[[{path}]]`" if array else f"## `[{path}]`"
        yield ""
    yield str(kind.__doc__)
    yield ""
    yield "| key | kind | default | |"
    yield "|---|---|---|---|"
    below: list[tuple[inspect.Field, str]] = []
    for field in fields:
        inner = f"{path}.{field.name}".removeprefix(".")
        if struct_of(field.type) is not None:
            below.append((field, inner))
            if not isinstance(field.type, inspect.StructType) and field.name in words:
                yield f"| `{field.name}` | see `{_header(field, inner)}` | | {words[field.name]} |"
            continue
        shown = "required" if default is None and field.required else _default(field, default)
        yield f"| `{field.name}` | {describe(field.type)} | {shown} | {_cell(words[field.name])} |"
    yield ""
    for field, inner in below:
        struct = struct_of(field.type)
        if struct is not None:
            value = getattr(default, field.name) if isinstance(field.type, inspect.StructType) else None
            name = f"{inner}.NAME" if isinstance(field.type, inspect.DictType) else inner
            yield from _chapter(struct, name, value, isinstance(field.type, inspect.VarTupleType))


def _header(field: inspect.Field, path: str) -> str:
    return f"[[{path}]]" if isinstance(field.type, inspect.VarTupleType) else f"[{path}.NAME]"


def _default(field: inspect.Field, default: Any) -> str:
    value = getattr(default, field.name) if default is not None else own_default(field)
    if value == {}:
        return "`{}`"
    return f"`{' '.join(toml('x', value).removeprefix('x = ').split()).replace('[ ', '[').replace(', ]', ']')}`"


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


def with_agents(text: str) -> str:
    """docs/agents.md with its tables of agents and logins made from their records."""
    return _with_table(_with_table(text, docs_table()), login_table())


def with_gates(text: str) -> str:
    """docs/gates.md with its table of answers made from their records."""
    return _with_table(text, gate_choices.table())


def _with_table(text: str, table: str) -> str:
    """The table in place of the one with the same head."""
    start = text.index(table[: table.index("\n")])
    end = text.index("\n\n", start) + 1
    return text[:start] + table.rstrip("\n") + "\n" + text[end:]


def write_docs(path: Path = PAGE) -> None:
    for name, made in (("agents.md", with_agents), ("gates.md", with_gates)):
        beside = path.with_name(name)
        files.write(beside, made(beside.read_text("utf-8")), mode=files.SHARED, durable=False)
    files.write(path, page(), mode=files.SHARED, durable=False)
