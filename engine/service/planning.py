"""Use cases of planning: a request becomes a sprint folder and a conversation; answers come from a file."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from engine import files
from engine.clock import SystemClock
from engine.config import ConfigRefused
from engine.config.to_policy import to_policy
from engine.core.forecast import PastTask, forecast
from engine.core.model import Struct
from engine.core.planning_state import Until
from engine.journal import JournalMissing
from engine.link.user_errors import UserError
from engine.other_sprints import of_other_sprints
from engine.plans.plain_list import CALLED_PLAN
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import read_plan, read_text
from engine.plans.sprints import SprintFolder, list_sprints, request_sprint
from engine.project import stored_state
from engine.service.local import Desk
from engine.service.plan_file import Derived, Imported, import_plan, words_of
from engine.service.sprint_numbers import highest_number
from engine.service.trust import trusted_hash
from engine.session_options import Ask, Untrusted

__all__ = ["Ask", "Imported", "Until", "answers_of", "begin", "expected", "import_or_request", "unfinished"]

Take = Callable[[Sequence[Derived]], bool]
MOST_CHARS = 400_000


class Request(Struct, frozen=True, kw_only=True):
    """What the planner is asked, and the file it came from."""

    text: str
    source: str = ""


def import_or_request(desk: Desk, path: Path, today: str, take: Take | None) -> Imported | Request:
    """A file with tasks in it is the user's own plan; any other text is a request to the planner.

    `take`: shows what the words of the tasks permit and says whether it is taken; None: nothing is derived.
    """
    text = read_text(path)
    try:
        derived = words_of(path) if take is not None else ()
        if derived and take is not None and not take(derived):
            derived = ()
        return import_plan(desk, path, today, derived)
    except PlanRefused as refused:
        prose = path.suffix.lower() in (".md", ".markdown", ".txt", ".rst", "") and text.strip()
        said = CALLED_PLAN.search(path.stem) or any("has no tasks" not in error.what for error in refused.errors)
        if not _one_issue(text) and (not prose or said):
            raise
    return Request(text=_one_issue(text) or text, source=str(path))


def _one_issue(text: str) -> str:
    """`gh issue view --json title,body`: one issue is a request, not a list of tasks."""
    try:
        issue = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(issue, dict) or not isinstance(issue.get("title"), str) or "body" not in issue:
        return ""
    number = f" (issue {issue['number']})" if isinstance(issue.get("number"), int) else ""
    labels = [one.get("name", "") for one in issue.get("labels") or () if isinstance(one, dict)]
    lines = [f"{issue['title']}{number}", "", str(issue.get("body") or "")]
    lines += ["", f"Labels: {', '.join(labels)}"] if labels else []
    return "\n".join(lines).strip()


def expected(desk: Desk, folder: SprintFolder) -> str:
    """What the plan will probably cost and take, from the tasks done here before; empty where nobody can say."""
    try:
        plan, config = read_plan(folder.plan_path), to_policy(desk.project.config())
    except (PlanRefused, ConfigRefused):
        return ""  # a run says what is wrong with it
    past: tuple[PastTask, ...] = ()
    with contextlib.suppress(JournalMissing), desk.viewer() as journal:
        past = of_other_sprints(journal, folder.id, SystemClock().now(), 0.0).tasks
    said = forecast(plan.tasks(), past, config.ladder.rungs).words()
    return f"{said}; budget ${config.budget.session_usd:.2f}"


_FILE = re.compile(r"\S+\.(md|markdown|mdown|txt|text|rst|org|adoc|json|jsonl|toml|ya?ml)", re.IGNORECASE)
"""One word with the ending of a document."""


def begin(desk: Desk, request: str, today: str, trust: str = "") -> SprintFolder:
    """A new sprint that begins with a request; nothing is made in a repository that may not be worked in."""
    words = request.strip()
    if not words:
        raise UserError("the request is empty", 'devteam plan "what to do"')
    if _FILE.fullmatch(words):
        here = "is a file's name" if Path(words).is_file() else "is a file's name, and there is no such file"
        raise UserError(f"{words} {here}, no request", f"devteam plan --from {shlex.quote(words)}")
    if len(words) > MOST_CHARS:
        raise UserError(f"the request has {len(words):,} characters", f"at most {MOST_CHARS:,}; put the rest in files")
    wanted, commands, known = trusted_hash(desk)
    if not known and trust not in (wanted, "all"):
        raise Untrusted(wanted, commands)
    return request_sprint(desk.root, words, today, highest_number(desk))


def prd_as_request(desk: Desk, path: Path, today: str, trust: str) -> SprintFolder:
    """A PRD the user has: it is the request, and nothing is written anew."""
    return begin(desk, read_text(path), today, trust)


def unfinished(desk: Desk, hint: str = "") -> SprintFolder:
    """The sprint whose planning goes on: the one named, else the newest that has no approved plan yet."""
    if hint:
        return adopted(desk, desk.sprint(hint))
    for folder in reversed(list_sprints(desk.root)):
        if _drafted_by_hand(folder):
            return adopted(desk, folder)
        if folder.request() and not folder.problem and stored_state(desk.project, folder).plan is None:
            return folder
    raise UserError("what is to be planned?", 'devteam plan "add login"   (or: devteam plan --from plan.md)')


def _drafted_by_hand(folder: SprintFolder) -> bool:
    return folder.status == "DRAFT" and not folder.request() and not folder.problem


def adopted(desk: Desk, folder: SprintFolder) -> SprintFolder:
    """A draft written by hand is talked about like any other: its title is the request, the file the first draft."""
    if not _drafted_by_hand(folder):
        return folder
    if stored_state(desk.project, folder).iterations:
        raise UserError(
            f"{folder.plan_path} says Status: DRAFT, but its sprint is under way",
            'write Status: APPROVED there, or change a task with: devteam replan TASK "…"',
        )
    plan = read_plan(folder.plan_path)
    files.write(folder.request_path, f"{plan.title}\n\n{plan.summary}".strip().encode() + b"\n", mode=files.SHARED)
    return folder


def answers_of(path: Path) -> dict[str, str]:
    """Answers beforehand: JSON (an object, or a list in order), or lines `1: answer`, `words of a question: answer`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}", "a text or JSON file with the answers") from error
    if text.lstrip().startswith(("{", "[")):
        return _json_answers(path, text)
    answers: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, answer = line.partition(":")
        if not colon or not answer.strip():
            hint = "lines such as `1: argon2`, or `which hash: argon2`"
            raise UserError(f"{path}:{number}: no answer in “{line.strip()[:60]}”", hint)
        answers[key.strip().removeprefix("Q").removeprefix("q") if key.strip()[1:].isdigit() else key.strip()] = (
            answer.strip()
        )
    return answers


def _json_answers(path: Path, text: str) -> dict[str, str]:
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: not JSON: {error}", '{"1": "argon2", "which tokens": "sessions"}') from error
    pairs = raw.items() if isinstance(raw, dict) else ((str(place), one) for place, one in enumerate(raw, 1))
    answers = {str(key): one for key, one in pairs if isinstance(one, str | int | float) and str(one).strip()}
    if len(answers) != len(raw):
        raise UserError(f"{path}: every answer is a text", '{"1": "argon2"}')
    return {key: str(one) for key, one in answers.items()}
