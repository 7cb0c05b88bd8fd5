"""One instance of every event and every effect, every field filled by its type: what the golden file is made of."""

from __future__ import annotations

import enum
import types
import typing
from typing import Any

import msgspec

from engine.core import effects as ef
from engine.core import events as ev

EVENTS: tuple[type[ev.AnyEvent], ...] = ev.AnyEvent.__args__  # type: ignore[attr-defined]
EFFECTS: tuple[type[ef.AnyEffect], ...] = ef.AnyEffect.__args__  # type: ignore[attr-defined]


def every_effect() -> list[ef.AnyEffect]:
    return [_filled(kind) for kind in EFFECTS]


def every_event() -> list[ev.AnyEvent]:
    """Every type of event; an intent for every type of effect."""
    others = [_filled(kind) for kind in EVENTS if kind is not ev.EffectStarted]
    return [*others, *(ev.EffectStarted(effect=effect) for effect in every_effect())]


def _filled(kind: Any) -> Any:
    return kind(**{field.name: _value(field.type, field.name) for field in msgspec.structs.fields(kind)})


def _value(kind: Any, name: str) -> Any:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _value(next(arg for arg in args if arg is not type(None)), name)
    if origin is tuple:
        return tuple(_value(arg, name) for arg in args if arg is not ...)
    if origin is dict:
        return {name: 1 if args[1] is Any else _value(args[1], name)}
    if origin is typing.Literal:
        return args[-1]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return list(kind)[-1]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _filled(kind)
    # Never the default: what equals it is left out of the JSON form, and would hold nothing.
    return {bool: True, int: 7, float: 7.5, str: f"a {name}"}[kind]
