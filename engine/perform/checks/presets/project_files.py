"""A repository's own settings files as data; a file that is missing or broken is an empty one."""

from __future__ import annotations

import configparser
import json
import tomllib
from pathlib import Path
from typing import Any

CAP = 2_000_000


def text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > CAP:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def toml(data: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def as_json(data: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def ini(data: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(data)
    except (configparser.Error, ValueError):
        return {}
    return {name: dict(parser[name]) for name in parser.sections()}


def table(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        value = data.get(key)
        data = value if isinstance(value, dict) else {}
    return data
