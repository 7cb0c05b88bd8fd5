"""Sprint folders `.devteam/sprints/NNN-slug/`: made whole or not at all, listed, and found by what people type."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from engine import files
from engine.core.model import Plan, Struct
from engine.paths import RepoPaths, kebab
from engine.plans import fields
from engine.plans.native import NATIVE
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import format_of, read_plan
from engine.plans.unformatted import ensure_unformatted
from engine.plans.write import render

if TYPE_CHECKING:
    from engine.plans.words import Derived

SLUG_LENGTH = 40
SLUG_WORDS = 5
STOP_WORDS = frozenset(
    (
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "our",
        "so",
        "that",
        "the",
        "their",
        "this",
        "to",
        "up",
        "via",
        "we",
        "with",
    )
)
GITIGNORE = """\
# Written by devteam. Kept in git: config.toml, init.sh, and of each sprint plan.md, report.md and learnings/.
# What follows belongs to this machine or is written anew from the journal.
devteam.db*
saved/
progress.txt
features.json
loop-state.md
context.md
tracking.md
sprints/.new-*
sprints/*/.draft
sprints/.lock
autonomous-mode
"""
LOOP_STATE = "# Loop State\n**Iteration**: 0\n**Status**: INITIALIZING\n"

FILES = ("plan.md", "context.md", "loop-state.md", "tracking.md", "learnings/.gitkeep")

SPRINT_FOLDER = re.compile(r"(\d{3,})-([a-z0-9][a-z0-9-]*)$")


class SprintFolder(Struct, frozen=True):
    """A sprint on disk. `problem` says why its plan cannot be read; then title and status are empty."""

    id: str
    """NNN-slug."""
    number: int
    slug: str
    path: Path
    title: str = ""
    status: str = ""
    problem: str = ""

    @property
    def plan_path(self) -> Path:
        return self.path / "plan.md"

    @property
    def request_path(self) -> Path:
        """What a sprint that began with planning was asked for."""
        return self.path / "request.md"

    @property
    def prd_path(self) -> Path:
        return self.path / "prd.md"

    def request(self) -> str:
        """The request of a sprint that began with planning; empty where it began with a plan."""
        try:
            return self.request_path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def unplanned(self) -> bool:
        """It has a request and no plan yet."""
        return self.request_path.is_file() and not self.plan_path.is_file()

    @property
    def context_path(self) -> Path:
        return self.path / "context.md"

    @property
    def loop_state_path(self) -> Path:
        return self.path / "loop-state.md"

    @property
    def tracking_path(self) -> Path:
        return self.path / "tracking.md"

    @property
    def report_path(self) -> Path:
        return self.path / "report.md"

    @property
    def learnings(self) -> Path:
        return self.path / "learnings"

    @property
    def branch(self) -> str:
        return f"devteam/{self.id}"

    def line(self) -> str:
        return f"[{self.id}] Status: {self.status or 'unreadable'}" + (f"  {self.title}" if self.title else "")


def slug_of(plan: Plan, source_name: str = "") -> str:
    """Three to five key words of the title; of the topic or the file's name where the title has no letters."""
    for words in (plan.title, plan.topic, PurePath(source_name).stem):
        all_words = kebab(words).split("-")
        key_words = [word for word in all_words if word not in STOP_WORDS] or all_words
        slug = "-".join(key_words[:SLUG_WORDS])
        while len(slug) > SLUG_LENGTH and "-" in slug:
            slug = slug.rsplit("-", 1)[0]
        if slug:
            return slug[:SLUG_LENGTH].strip("-")
    return "sprint"


def new_sprint(
    root: Path,
    plan_text: str,
    source_name: str,
    clock_date: str,
    derived: Sequence[Derived] = (),
    above: int = 0,
) -> SprintFolder:
    """Make the next sprint folder from a plan; PlanRefused where the plan is not sound. Nothing is overwritten.

    `clock_date` is today as YYYY-MM-DD; `derived` are lines that the user took beside the plan's own; `above` is the
    highest number that is known elsewhere than in the sprint folders. The folder is filled under a passing name and
    renamed when it is whole.
    """
    # The words of a plan are read with some hundred expressions, which nobody waits for who only looks.
    from engine.plans.grant_lines import with_lines
    from engine.plans.words import with_derived

    form = format_of(PurePath(source_name), plan_text)
    plan = form.read(plan_text, source_name)
    if form.name == NATIVE.name:
        text = with_lines(plan_text, source_name, derived)
    else:
        text = render(with_derived(plan, derived))
    slug = slug_of(plan, source_name)
    contents = (text, _context(plan, source_name, clock_date), LOOP_STATE, _tracking(plan, slug, clock_date), "")
    return _made(root, slug, dict(zip(FILES, contents, strict=True)), plan.title, plan.status, above)


def request_sprint(root: Path, request: str, clock_date: str, above: int = 0) -> SprintFolder:
    """Make the next sprint folder from a request: its plan is written by the planning conversation."""
    words = next((line.strip(" #*") for line in request.splitlines() if line.strip(" #*")), "sprint")
    title = fields.tidy_heading(words)[:120] or "Sprint"
    plan = Plan(title=title, phases=())
    slug = slug_of(plan)
    context = f"# Context: {title}\n\nWritten by planning, {clock_date}.\n"
    contents = {
        "request.md": request.rstrip() + "\n",
        "context.md": context,
        "loop-state.md": LOOP_STATE,
        "tracking.md": _tracking(plan, slug, clock_date),
        "learnings/.gitkeep": "",
    }
    return _made(root, slug, contents, title, "DRAFT", above)


def _made(root: Path, slug: str, contents: dict[str, str], title: str, status: str, above: int) -> SprintFolder:
    """The folder is filled under a passing name and renamed when it is whole."""
    paths = RepoPaths(root=root)
    paths.sprints.mkdir(parents=True, exist_ok=True)
    with _only_one(paths.sprints):
        ensure_gitignore(root)
        taken = [int(match.group(1)) for entry in paths.sprints.iterdir() if (match := SPRINT_FOLDER.match(entry.name))]
        number = max((*taken, above)) + 1
        sprint_id = f"{number:03d}-{slug}"
        draft = Path(tempfile.mkdtemp(prefix=".new-", dir=paths.sprints))
        (draft / "learnings").mkdir()
        final = paths.sprint(sprint_id)
        try:
            for name, content in contents.items():
                files.write_new(draft / name, content, mode=files.SHARED)
            draft.chmod(0o755)
            draft.rename(final)
        except OSError:
            _discard(draft)
            raise
        files.sync(paths.sprints)
    return SprintFolder(id=sprint_id, number=number, slug=slug, path=final, title=title, status=status)


def list_sprints(root: Path) -> tuple[SprintFolder, ...]:
    """Every sprint by number, also those whose plan cannot be read."""
    return tuple(opened(*found) for found in sprint_folders(root))


def sprint_folders(root: Path) -> list[tuple[Path, int, str]]:
    """Path, number and slug of every sprint, by number."""
    folder = RepoPaths(root=root).sprints
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        match = SPRINT_FOLDER.match(path.name)
        if match and path.is_dir():
            found.append((path, int(match.group(1)), match.group(2)))
    return sorted(found, key=lambda one: one[1:])


def newest(folders: Sequence[tuple[Path, int, str]]) -> SprintFolder:
    """The newest that is not complete, else the newest."""
    newest_first = (opened(*found) for found in reversed(folders))
    return next((sprint for sprint in newest_first if sprint.status != "COMPLETE"), None) or opened(*folders[-1])


def opened(path: Path, number: int, slug: str) -> SprintFolder:
    sprint = SprintFolder(id=path.name, number=number, slug=slug, path=path)
    if sprint.unplanned():
        title = fields.tidy_heading(sprint.request().split("\n", 1)[0])[:120]
        return SprintFolder(id=path.name, number=number, slug=slug, path=path, title=title, status="DRAFT")
    try:
        plan = read_plan(sprint.plan_path)
    except PlanRefused as refused:
        return SprintFolder(id=path.name, number=number, slug=slug, path=path, problem=str(refused))
    return SprintFolder(id=path.name, number=number, slug=slug, path=path, title=plan.title, status=_status(plan))


def _status(plan: Plan) -> str:
    """The plan's own word; its boxes know better where it has no status line for the engine to keep."""
    tasks = plan.tasks()
    if plan.status == "DRAFT" or not tasks:
        return plan.status
    if all(task.done or task.skipped for task in tasks):
        return "COMPLETE"
    return "IN_PROGRESS" if any(task.done for task in tasks) else plan.status


def ensure_gitignore(root: Path) -> None:
    """Write `.devteam/.gitignore`; to one that is there, add only the lines it lacks. Formatters are told, too."""
    path = RepoPaths(root=root).gitignore
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        files.write_new(path, GITIGNORE, mode=files.SHARED)
    except FileExistsError:
        data = path.read_bytes()
        there = {line.strip() for line in data.splitlines()}
        lines = (line.encode() for line in GITIGNORE.splitlines() if not line.startswith("#"))
        lacking = [line for line in lines if line not in there]
        if lacking:
            gap = b"" if not data or data.endswith(b"\n") else b"\n"
            with files.appending(path) as file:
                file.write(gap + b"\n".join(lacking) + b"\n")
    ensure_unformatted(root)


def _context(plan: Plan, source_name: str, clock_date: str) -> str:
    return (
        f"# Context: {plan.title}\n\nFrom {PurePath(source_name).name}, {clock_date}. Written anew before each task.\n"
    )


def _tracking(plan: Plan, slug: str, clock_date: str) -> str:
    """The derived view of seed 001's tracking file, before the first task."""
    done = [task.id for task in plan.tasks() if task.done]
    return (
        "---\n"
        f"topic: {plan.topic or slug}\n"
        "status: not-started\n"
        "task_gate_mode: gated\n"
        "fix_gate_mode: gated\n"
        "fix_attempts: 0\n"
        "current_phase: ~\n"
        "current_task: ~\n"
        "completed_phases: []\n"
        f"phases: [{', '.join(f'{number} pending' for number, _ in enumerate(plan.phases, 1))}]\n"
        f"completed_tasks: [{', '.join(done)}]\n"
        f"started: {clock_date}\n"
        f"updated: {clock_date}\n"
        "---\n"
    )


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Two makers at once would take the same number. The lock dies with its holder; what the dead left is removed."""
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for stale in folder.glob(".new-*"):
            _discard(stale)
        yield
    finally:
        os.close(handle)


def _discard(draft: Path) -> None:
    """Take away a folder that was never finished: only what this module puts there, so no link can lead it astray."""
    for name in (*FILES, "request.md"):
        (draft / name).unlink(missing_ok=True)
    for folder in (draft / "learnings", draft):
        with suppress(OSError):
            folder.rmdir()
