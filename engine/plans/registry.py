"""The plan formats there are, and the one that fits a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePath

from engine.core.model import Plan
from engine.plans.contract import PlanError, PlanFormat, PlanRefused
from engine.plans.json_plan import JSON
from engine.plans.native import NATIVE

FORMATS: tuple[PlanFormat, ...] = (JSON, NATIVE)


def format_of(path: PurePath, text: str) -> PlanFormat:
    """The first format that fits; PlanRefused where none does."""
    for candidate in FORMATS:
        if candidate.matches(path, text):
            return candidate
    known = ", ".join(sorted(each.name for each in FORMATS))
    raise PlanRefused(
        [
            PlanError(
                source=str(path),
                line=0,
                what="not a plan devteam can read",
                expected=f"one of: {known}",
                fix="devteam plan --from plan.md",
            )
        ]
    )


def read_text(path: Path) -> str:
    """The file with every byte kept (line ends, BOM); PlanRefused where it cannot be read as UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as failed:
        reason = failed.strerror or "cannot be read"
        raise PlanRefused(
            [
                PlanError(
                    source=str(path), line=0, what=reason, expected="a plan file", fix="devteam plan --from plan.md"
                )
            ]
        ) from failed
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as broken:
        line = data.count(b"\n", 0, broken.start) + 1
        raise PlanRefused(
            [
                PlanError(
                    source=str(path),
                    line=line,
                    what="not UTF-8 text",
                    expected="UTF-8",
                    fix=f"iconv -f LATIN1 -t UTF-8 {path.name} > plan.md",
                )
            ]
        ) from broken


def read_plan(path: Path) -> Plan:
    """The plan in a file, whatever its format."""
    text = read_text(path)
    return format_of(path, text).read(text, str(path))


def mark_tasks(path: Path, marks: Mapping[str, str]) -> bool:
    """Mark tasks in their file, in place; whether anything changed. The user's text is replaced whole or not at all."""
    text = read_text(path)
    return _replace(path, text, format_of(path, text).mark(text, marks))


def mark_plan(path: Path, status: str) -> bool:
    """Mark the plan's own status in its file; whether anything changed."""
    text = read_text(path)
    return _replace(path, text, format_of(path, text).mark_plan(text, status))


def _replace(path: Path, old: str, new: str) -> bool:
    if new == old:
        return False
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return True
