"""The plan formats there are, and the one that fits a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath

from engine import files, plugins
from engine.core.model import Plan
from engine.plans.beads import BEADS
from engine.plans.design_doc import DESIGN_DOC
from engine.plans.foreign import Foreign
from engine.plans.github_issues import GITHUB_ISSUES
from engine.plans.in_place import change
from engine.plans.json_plan import JSON
from engine.plans.kiro import KIRO
from engine.plans.native import NATIVE
from engine.plans.openspec import OPENSPEC
from engine.plans.plain_list import PLAIN_LIST
from engine.plans.plan_format import PlanError, PlanFormat, PlanRefused
from engine.plans.spec_kit import SPEC_KIT
from engine.plans.task_blocks import TASK_BLOCKS
from engine.plans.task_master import TASK_MASTER

FORMATS: tuple[PlanFormat, ...] = (JSON, NATIVE)
"""What a sprint's own plan is written in."""
FOREIGN: tuple[Foreign, ...] = (
    TASK_MASTER,
    GITHUB_ISSUES,
    BEADS,
    KIRO,
    SPEC_KIT,
    OPENSPEC,
    DESIGN_DOC,
    TASK_BLOCKS,
    PLAIN_LIST,
)
"""Plans of other tools, the most particular first: read by `devteam plan --from`, marked in place."""


def foreign_format(path: PurePath, text: str) -> Foreign | None:
    """The format of another tool that fits the file."""
    return next((form for form in FOREIGN if form.matches(path, text)), None)


def named(name: str) -> PlanFormat | None:
    """The format of that name, of other tools or of our own."""
    return next((form for form in (*FOREIGN, *_formats()) if form.name == name), None)


GROUP = "devteam.plans"
"""Entry points of third parties: each names a PlanFormat."""


def _formats() -> Iterator[PlanFormat]:
    """Ours first, so that only a file of none of them makes us look among what is installed."""
    yield from FORMATS
    for plugin in plugins.installed(GROUP, PlanFormat):  # type: ignore[type-abstract]
        if plugin.value is not None:
            yield plugin.value


def format_of(path: PurePath, text: str) -> PlanFormat:
    """The first format that fits; PlanRefused where none does."""
    for candidate in _formats():
        if candidate.matches(path, text):
            return candidate
    known = ", ".join(sorted(each.name for each in _formats()))
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
        return _text(path, path.read_bytes())
    except OSError as failed:
        raise _unreadable(path, failed) from failed


def _unreadable(path: Path, failed: OSError) -> PlanRefused:
    what = failed.strerror or "cannot be read"
    error = PlanError(source=str(path), line=0, what=what, expected="a plan file", fix="devteam plan --from plan.md")
    return PlanRefused([error])


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as broken:
        error = PlanError(
            source=str(path),
            line=data.count(b"\n", 0, broken.start) + 1,
            what="not UTF-8 text",
            expected="UTF-8",
            fix=f"iconv -f LATIN1 -t UTF-8 {path.name} > plan.md",
        )
        raise PlanRefused([error]) from broken


def read_plan(path: Path) -> Plan:
    """The plan in a sprint's own file, whatever its format."""
    return parse_plan(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """A sprint's own plan file as it is."""
    try:
        return files.ordinary(path)
    except OSError as failed:
        raise _unreadable(path, failed) from failed


def parse_plan(path: Path, data: bytes) -> Plan:
    """The plan that a file of that name with this content is."""
    text = _text(path, data)
    return format_of(path, text).read(text, str(path))


Wrote = Callable[[bytes, bytes], None]
"""Told what a file held and what was put there instead."""


def mark_tasks(path: Path, marks: Mapping[str, str], wrote: Wrote | None = None) -> bool:
    """Mark tasks in their file, in place; whether anything changed. An edit of the user's at the same time is kept."""
    return _change(path, lambda text: format_of(path, text).mark(text, marks), wrote)


def ticked(path: PurePath, data: bytes, task: str) -> bytes:
    """A plan file's content with one task done; what is no plan, or has no such task, as it is."""
    try:
        text = data.decode("utf-8")
        return format_of(path, text).mark(text, {task: "done"}).encode("utf-8")
    except (PlanRefused, UnicodeDecodeError):
        return data


def mark_plan(path: Path, status: str, wrote: Wrote | None = None) -> bool:
    """Mark the plan's own status in its file; whether anything changed."""
    return _change(path, lambda text: format_of(path, text).mark_plan(text, status), wrote)


def _change(path: Path, edit: Callable[[str], str], wrote: Wrote | None) -> bool:
    last = (b"", b"")

    def edited(data: bytes) -> bytes:
        nonlocal last
        last = data, edit(_text(path, data)).encode("utf-8")
        return last[1]

    try:
        changed = change(path, edited)
    except FileNotFoundError as failed:
        raise _unreadable(path, failed) from failed
    if changed and wrote is not None:
        wrote(*last)
    return changed
