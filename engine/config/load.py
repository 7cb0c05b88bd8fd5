"""Reads .devteam/config.toml: a typed Config, or every error at once with its line."""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path

import msgspec
from msgspec import inspect

from engine import files
from engine.config import locate
from engine.config.config_errors import ConfigError, ConfigRefused
from engine.config.rules import NEEDS, check_rules
from engine.config.sections import Config
from engine.config.validate import check, dotted, find_secrets

COSMETIC = ("theme", "keys")
"""Change nothing of what is done or judged, so they stay out of the hash."""


def load(path: Path) -> Config:
    """The configuration in a file; the defaults where there is none; ConfigRefused where it is wrong."""
    try:
        data = files.ordinary(path)
    except FileNotFoundError:
        return Config()
    except OSError as failed:
        what = f"cannot be read: {failed.strerror or failed}"
        raise ConfigRefused([ConfigError(source=str(path), what=what, expected="a readable file")]) from failed
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as broken:
        line = data.count(b"\n", 0, broken.start) + 1
        raise ConfigRefused([ConfigError(source=str(path), line=line, what="not UTF-8 text")]) from broken
    return parse(text.replace("\r\n", "\n"), str(path))


def parse(text: str, source: str) -> Config:
    """The configuration in a text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise ConfigRefused([_broken(text, source, str(broken))]) from broken
    except RecursionError as deep:
        raise ConfigRefused([ConfigError(source=source, what="nested too deeply for a configuration")]) from deep
    places = _places(text)
    errors: list[ConfigError] = []
    bad: set[str | int] = set()

    def report(path: locate.Path, what: str, expected: str, fix: str) -> None:
        line, column = locate.nearest(places, path)
        error = ConfigError(
            source=source, line=line, column=column, key=dotted(path), what=what, expected=expected, fix=fix
        )
        errors.append(error)
        bad.update(path[:1])

    secrets = set(find_secrets(data, (), report))

    def told_once(path: locate.Path, what: str, expected: str, fix: str) -> None:
        if path not in secrets:
            report(path, what, expected, fix)

    check(_kind(), data, (), told_once)
    unread = frozenset(bad)

    def where_all_was_read(path: locate.Path, what: str, expected: str, fix: str) -> None:
        if not unread.intersection(NEEDS.get(dotted(path), NEEDS.get(str(path[0]), path[:1]))):
            report(path, what, expected, fix)

    try:
        config = msgspec.convert({key: value for key, value in data.items() if key not in unread}, Config)
        check_rules(config, where_all_was_read)
    except msgspec.ValidationError as missed:
        report((), str(missed), "", "")
    if errors:
        raise ConfigRefused(sorted(dict.fromkeys(errors), key=lambda error: (error.line, error.column)))
    return config


@cache
def _kind() -> inspect.Type:
    return inspect.type_info(Config)


def _places(text: str) -> dict[locate.Path, locate.Place]:
    try:
        return locate.locate(text)
    except (ValueError, RecursionError):
        return {}


def _broken(text: str, source: str, message: str) -> ConfigError:
    """tomllib tells the place in its message."""
    found = re.search(r"\(at line (\d+), column (\d+)\)", message)
    line, column = (int(part) for part in found.groups()) if found else (text.rstrip("\n").count("\n") + 1, 0)
    what = re.sub(r" \(at [^)]*\)$", "", message)
    return ConfigError(source=source, line=line, column=column, what=f"not TOML: {what}", expected='key = "value"')


def config_hash(config: Config) -> str:
    """Names everything that decides what is done and judged; the same for the same settings, however written."""
    data = {key: value for key, value in msgspec.to_builtins(config).items() if key not in COSMETIC}
    return hashlib.sha256(msgspec.json.encode(data, order="deterministic")).hexdigest()[:32]
