"""The config.toml that `devteam init` writes: every setting with its meaning, for somebody who sees it first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import inspect

from engine import files
from engine.config.field_text import docs_of, own_default, struct_of, toml
from engine.config.load import parse
from engine.config.sections import Config

WIDTH = 100
AGENT_EXAMPLE = """\
[agents.aider]
adapter = "command"
argv = ["aider", "--yes-always", "--model", "{model}", "--message-file", "{prompt_file}"]
login_env = ["OPENAI_API_KEY"]
"""
CHECK_EXAMPLE = """\
[[checks.run]]
name = "tests"
kind = "tests"
command = "make test"
"""
EXAMPLES = {"agents": AGENT_EXAMPLE, "checks.run": CHECK_EXAMPLE}
Lines = Iterator[str]


def default_text(config: Config | None = None) -> str:
    """A config.toml for a newcomer: every setting with its meaning. Defaults stand there as `#key = value`."""
    intro = [
        "# Settings of devteam for this repository. Commit this file; secrets belong into the environment.",
        "# A line such as `#lanes = 1` shows a default: take the # away to change it.",
        "",
    ]
    lines = "\n".join((*intro, *_table(Config, "", config or Config(), Config())))
    while "\n\n\n" in lines:
        lines = lines.replace("\n\n\n", "\n\n")
    return lines.rstrip("\n") + "\n"


def _comment(words: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(words, WIDTH)]


def _setting(name: str, value: Any, default: Any) -> list[str]:
    lines = toml(name, value).split("\n")
    return [f"#{line}" for line in lines] if value == default else lines


def _table(kind: type, path: str, value: Any, default: Any) -> Lines:
    """Plain values first, then what needs a table of its own: TOML's order."""
    words = docs_of(kind)
    fields = inspect.type_info(kind).fields  # type: ignore[attr-defined]
    if path:
        yield from ("", *_comment(str(kind.__doc__)), f"[{path}]")
    plain = [
        field for field in fields if struct_of(field.type) is None and not isinstance(field.type, inspect.DictType)
    ]
    for field in plain:
        yield from _comment(words[field.name])
        yield from _setting(field.name, getattr(value, field.name), getattr(default, field.name))
    for field in fields:
        if field in plain:
            continue
        inner = f"{path}.{field.name}".removeprefix(".")
        mine, usual = getattr(value, field.name), getattr(default, field.name)
        if isinstance(field.type, inspect.StructType):
            yield from _table(field.type.cls, inner, mine, usual)
            continue
        yield ""
        yield from _comment(words[field.name])
        struct = struct_of(field.type)
        if struct is None:
            header = [f"[{inner}]", *(line for key, one in mine.items() for line in toml(key, one).split("\n"))]
            yield from header if mine else [f"#[{inner}]"]
        elif isinstance(field.type, inspect.VarTupleType):
            yield from _array(inner, mine, usual)
        else:
            yield from _named(inner, mine)


def _array(path: str, mine: tuple[Any, ...], usual: tuple[Any, ...]) -> Lines:
    if not mine:
        yield from _example(path)
    for one in mine:
        lines = [f"[[{path}]]", *_non_default(one)]
        yield from ("", *(f"#{line}" for line in lines)) if mine == usual else ("", *lines)


def _named(path: str, mine: dict[str, Any]) -> Lines:
    if not mine:
        yield from _example(path)
    for name, one in mine.items():
        yield ""
        yield f"[{path}.{toml(name, 0).split(' = ')[0]}]"
        yield from _non_default(one)


def _non_default(one: Any) -> Lines:
    """Tables inside (env, fields …) as inline tables, so that they stay with their owner."""
    for field in inspect.type_info(type(one)).fields:  # type: ignore[attr-defined]
        value = getattr(one, field.name)
        if not field.required and value == own_default(field):
            continue
        if isinstance(value, dict):
            inside = ", ".join(toml(key, inner) for key, inner in value.items())
            yield f"{field.name} = {{ {inside} }}"
        else:
            yield from toml(field.name, value).split("\n")


def _example(path: str) -> Lines:
    if path in EXAMPLES:
        yield "# For example:"
        yield from (f"#   {line}" for line in EXAMPLES[path].splitlines())


def write_default(path: Path, detected: Config | None = None) -> Path:
    """Write the commented file with what was detected; FileExistsError where there is one already."""
    config = detected or Config()
    text = default_text(config)
    if parse(text, str(path)) != config:
        raise AssertionError("the written configuration does not read as the one that was meant")
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_new(path, text, mode=files.SHARED)
    return path
