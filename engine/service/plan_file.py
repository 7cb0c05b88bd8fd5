"""`devteam plan --from`: a sprint made of a plan file, and the permissions that its words give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.core.grant_grammar import check_entry
from engine.core.grants import GrantError
from engine.core.model import Plan, Struct
from engine.link.user_errors import UserError
from engine.plans.design_doc import DESIGN_DOC
from engine.plans.explaining import explain
from engine.plans.foreign import Explained, Foreign
from engine.plans.registry import foreign_format, format_of, read_text
from engine.plans.source import remember, write_back
from engine.plans.sprints import SprintFolder, new_sprint
from engine.plans.task_blocks import TASK_BLOCKS
from engine.plans.words import Derived as Derived
from engine.plans.words import derive
from engine.plans.write import render
from engine.service.local import Desk
from engine.service.sprint_numbers import highest_number

LARGEST = 1_000_000
"""Bytes of a file beside a plan that are read."""


class Imported(Struct, frozen=True, kw_only=True):
    """A sprint made of a plan the user has already, and what was made of that plan."""

    sprint: SprintFolder
    understood: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def import_plan(desk: Desk, path: Path, today: str, derived: Sequence[Derived] = ()) -> Imported:
    """A sprint of a plan file. A plan of another tool is written anew as plan.md, and remembered as its source."""
    text = read_text(path)
    read = _foreign(path, text)
    if read is None:
        sprint = new_sprint(desk.root, text, path.name, today, derived, highest_number(desk))
        form = format_of(path, text)
        remember(sprint, desk.root, path, form.name)
        said = explain(form, form.read(text, str(path)), text)
        return Imported(sprint=sprint, understood=said.understood, guessed=said.guessed, unused=said.unused)
    tool, plan, said = read
    sprint = new_sprint(desk.root, render(_approved(tool, plan)), "plan.md", today, derived, highest_number(desk))
    remember(sprint, desk.root, path, tool.name)
    if tool.name == DESIGN_DOC.name:
        write_back(sprint, desk.root, {task.id: "in_progress" for task in plan.tasks()})
    return Imported(
        sprint=sprint,
        understood=(f"{tool.what}: {'; '.join(said.understood)}",),
        guessed=said.guessed,
        unused=said.unused,
    )


def _approved(form: Foreign, plan: Plan) -> Plan:
    """Handing a plan over approves it, unless it calls itself a draft (only .loop/ plans have the word)."""
    draft = form.name == TASK_BLOCKS.name and plan.status == "DRAFT"
    return plan if draft else replace(plan, status="APPROVED")


def _foreign(path: Path, text: str) -> tuple[Foreign, Plan, Explained] | None:
    """The plan of another tool, with what the files beside it add; None where the file is a plan of ours."""
    form = foreign_format(path.absolute(), text)
    if form is None:
        return None
    plan, said = form.parse(text, str(path))
    texts: dict[str, str] = {}
    for companion in form.companions(path.absolute()):
        folder = Path(companion.anchor)
        for found in sorted(folder.glob(str(companion.relative_to(companion.anchor)))):
            if found.is_file() and found.stat().st_size <= LARGEST:
                name = found.name if found.parent == path.absolute().parent else f"{found.parent.name}/{found.name}"
                texts[name] = read_text(found)
    if texts:
        plan, more = form.enrich(plan, texts)
        said = Explained(
            understood=(*said.understood, *more.understood),
            guessed=(*said.guessed, *more.guessed),
            unused=(*said.unused, *more.unused),
        )
    return form, plan, said


def words_of(path: Path) -> tuple[Derived, ...]:
    """The `allow:` and `proof:` lines that the words of a plan file give, for the user to see first."""
    text = read_text(path)
    if (read := _foreign(path, text)) is not None:
        return derive(read[1])
    return derive(format_of(path, text).read(text, str(path)))


def allowed_entry(entry: str) -> str:
    """An entry of `allow:` as it is kept; UserError with what to write where it is none."""
    try:
        return check_entry(entry)
    except GrantError as wrong:
        raise UserError(wrong.what, f"{wrong.fix}\n  {wrong.expected}" if wrong.fix else wrong.expected) from None
