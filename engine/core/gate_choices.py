"""The registry of gate answers: one record a choice. Core, dashboard, command line and docs read it.

To add one: a member in `vocabulary.Choice`, a record here, its meaning in `fold_gates.answered` (mypy points there).
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.model import Struct
from engine.core.vocabulary import Choice, GateKind


class Meaning(Struct, frozen=True, kw_only=True):
    """What a choice does at one kind of gate: short for its button, long for the help below it."""

    short: str
    long: str
    approves: bool = False
    """Lets the tree through, so it binds to the tree that was shown."""


class ChoiceRecord(Struct, frozen=True, kw_only=True):
    """Everything about one answer."""

    choice: Choice
    key: str
    """The letter: in the dashboard, and as the short form on the command line."""
    about: str
    """One sentence for help and palette."""
    gates: Mapping[GateKind, Meaning]
    needs_text: bool = False
    may_have_text: bool = False


RECORDS: tuple[ChoiceRecord, ...] = (
    ChoiceRecord(
        choice=Choice.YES,
        key="y",
        about="Approve: accept the review, commit, or give the permission",
        gates={
            GateKind.FIX: Meaning(short="fix it", long="another attempt with the review"),
            GateKind.TASK: Meaning(short="commit", long="approve, commit, next task", approves=True),
            GateKind.PERMISSION: Meaning(
                short="allow it", long="adds the permission to the task and checks its kept code again", approves=True
            ),
            GateKind.QUESTION: Meaning(short="use the default", long="the planner's assumption holds"),
            GateKind.PLAN: Meaning(short="approve", long="the sprint uses the plan as shown"),
            GateKind.PRD: Meaning(short="approve", long="a plan is drafted from it"),
            GateKind.SPRINT: Meaning(short="fix it", long="reopens the tasks concerned with the review"),
            GateKind.LEARNING: Meaning(short="drop it", long="later prompts do not contain it"),
        },
    ),
    ChoiceRecord(
        choice=Choice.RETRY,
        key="r",
        about="Retry the blocked task, with an optional comment",
        gates={GateKind.BLOCKED: Meaning(short="try again", long="with your comment, if you give one")},
        may_have_text=True,
    ),
    ChoiceRecord(
        choice=Choice.AUTO,
        key="a",
        about="Approve this gate and later gates of this kind automatically",
        gates={
            GateKind.FIX: Meaning(short="fix, and all later ones", long="later reviews go to the agent without asking"),
            GateKind.TASK: Meaning(
                short="commit, and all later ones", long="later tasks are approved without asking", approves=True
            ),
        },
    ),
    ChoiceRecord(
        choice=Choice.SKIP,
        key="s",
        about="Override the reviewer, or skip to the next task",
        gates={
            GateKind.FIX: Meaning(short="override", long="commits without the reviewer's approval", approves=True),
            GateKind.BLOCKED: Meaning(short="next task", long="this one stays undone"),
            GateKind.PERMISSION: Meaning(short="leave it parked", long="the sprint continues; see devteam questions"),
            GateKind.PLAN: Meaning(short="reject it", long="the present plan stays"),
            GateKind.PRD: Meaning(short="reject it", long="nothing is planned"),
            GateKind.SPRINT: Meaning(short="override", long="accepts the sprint as it is; recorded in the report"),
            GateKind.LEARNING: Meaning(short="keep it", long="it stays; the objections are settled"),
        },
    ),
    ChoiceRecord(
        choice=Choice.ACCEPT,
        key="k",
        about="Accept the blocked task's work as it is; its checks pass",
        gates={
            GateKind.BLOCKED: Meaning(
                short="accept as is", long="committed, and recorded as your override", approves=True
            )
        },
    ),
    ChoiceRecord(
        choice=Choice.REPLAN,
        key="u",
        about="Replan the blocked task: the planner revises or splits it",
        gates={
            GateKind.BLOCKED: Meaning(
                short="replan it", long="the planner revises or splits it; you approve the difference"
            ),
        },
        may_have_text=True,
    ),
    ChoiceRecord(
        choice=Choice.STOP,
        key="t",
        about="Stop the run at this task",
        gates=dict.fromkeys(
            (kind for kind in GateKind if kind not in (GateKind.FIX, GateKind.TASK, GateKind.LEARNING)),
            Meaning(short="stop the run", long="it can be resumed"),
        ),
    ),
    ChoiceRecord(
        choice=Choice.ASK,
        key="?",
        about="Ask a question about the gate; nothing is decided",
        gates=dict.fromkeys(
            (kind for kind in GateKind if kind is not GateKind.LEARNING),
            Meaning(short="ask", long="a read-only agent answers; nothing is decided"),
        ),
        needs_text=True,
    ),
    ChoiceRecord(
        choice=Choice.COMMENT,
        key="c",
        about="Answer the gate with a comment",
        gates={
            GateKind.FIX: Meaning(short="fix my way", long="another attempt with your comment and the review"),
            GateKind.TASK: Meaning(short="change it", long="another attempt with your comment"),
            GateKind.PERMISSION: Meaning(short="another way", long="no permission; another attempt with your comment"),
            GateKind.QUESTION: Meaning(short="answer", long="your text is the answer"),
            GateKind.PLAN: Meaning(short="change it", long="your comment goes to the planner"),
            GateKind.PRD: Meaning(short="change it", long="your comment goes to the author"),
            GateKind.SPRINT: Meaning(short="fix my way", long="reopens the tasks concerned with your comment"),
            GateKind.LEARNING: Meaning(short="correct it", long="your text replaces it in later prompts"),
        },
        needs_text=True,
    ),
)
"""In the order in which a gate shows them."""

BY_CHOICE: Mapping[Choice, ChoiceRecord] = {record.choice: record for record in RECORDS}


def offered(kind: GateKind) -> tuple[Choice, ...]:
    """What a gate of this kind offers."""
    return tuple(record.choice for record in RECORDS if kind in record.gates)


def meaning(kind: GateKind, choice: Choice) -> Meaning | None:
    record = BY_CHOICE.get(choice)
    return record.gates.get(kind) if record is not None else None


def read(word: str) -> Choice:
    """The choice that somebody typed, as a word or its letter; UNKNOWN if it is none."""
    said = word.strip().lower()
    for record in RECORDS:
        if said in (record.key, record.choice.value):
            return record.choice
    return Choice.UNKNOWN


def spoken() -> str:
    """yes, auto … and their letters: for the help of the command line."""
    words = ", ".join(record.choice.value for record in RECORDS)
    return f"{words}; {' '.join(record.key for record in RECORDS)} for short"


def table() -> str:
    """The table of docs/gates.md."""
    rows = ["| answer | key | gate | what it does |", "|---|---|---|---|"]
    for record in RECORDS:
        for kind, meant in record.gates.items():
            words = "a text" if record.needs_text else "an optional text" if record.may_have_text else ""
            shown = f"`{record.choice.value}`" + (f" + {words}" if words else "")
            rows.append(f"| {shown} | `{record.key}` | {kind.value} | {meant.short}: {meant.long} |")
    return "\n".join(rows) + "\n"
