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
        about="Answer the gate: accept the review, approve and commit, or give the permission",
        gates={
            GateKind.FIX: Meaning(short="fix it", long="the review goes to the next attempt"),
            GateKind.TASK: Meaning(short="commit", long="approve, commit, next task", approves=True),
            GateKind.PERMISSION: Meaning(
                short="allow it", long="the permission joins the task; its kept tree is checked again", approves=True
            ),
            GateKind.QUESTION: Meaning(short="as assumed", long="the planner's own assumption holds"),
            GateKind.PLAN: Meaning(short="approve", long="the plan is taken as it is shown"),
            GateKind.PRD: Meaning(short="approve", long="a plan is made of it"),
            GateKind.SPRINT: Meaning(short="fix it", long="the tasks concerned are opened again with the review"),
            GateKind.LEARNING: Meaning(short="drop it", long="no later prompt is given it"),
        },
    ),
    ChoiceRecord(
        choice=Choice.RETRY,
        key="r",
        about="Try the blocked task again, with a comment if you like",
        gates={GateKind.BLOCKED: Meaning(short="try again", long="with your words, if you give any")},
        may_have_text=True,
    ),
    ChoiceRecord(
        choice=Choice.AUTO,
        key="a",
        about="Answer the gate with yes, and every later gate of its kind by itself",
        gates={
            GateKind.FIX: Meaning(short="fix, and all later ones", long="later reviews are passed on without asking"),
            GateKind.TASK: Meaning(
                short="commit, and all later ones", long="later tasks are approved without asking", approves=True
            ),
        },
    ),
    ChoiceRecord(
        choice=Choice.SKIP,
        key="s",
        about="Override the reviewer, or go on with the next task",
        gates={
            GateKind.FIX: Meaning(short="override", long="the reviewer is overruled for this tree", approves=True),
            GateKind.BLOCKED: Meaning(short="next task", long="this one stays undone"),
            GateKind.PERMISSION: Meaning(short="leave it parked", long="the sprint goes on; see devteam questions"),
            GateKind.PLAN: Meaning(short="drop it", long="the plan there was stays"),
            GateKind.PRD: Meaning(short="drop it", long="nothing is planned"),
            GateKind.SPRINT: Meaning(short="override", long="the sprint is taken as it is; the report says so"),
            GateKind.LEARNING: Meaning(short="keep it", long="it holds; what was said against it is settled"),
        },
    ),
    ChoiceRecord(
        choice=Choice.ACCEPT,
        key="k",
        about="Keep the blocked task's work as it is: its checks are green, the rest is your decision",
        gates={
            GateKind.BLOCKED: Meaning(
                short="accept as is", long="committed, and recorded as your override", approves=True
            )
        },
    ),
    ChoiceRecord(
        choice=Choice.REPLAN,
        key="u",
        about="Have the blocked task planned anew: the planner revises its scope or splits it",
        gates={
            GateKind.BLOCKED: Meaning(short="plan it anew", long="revised or split; you see the difference first"),
        },
        may_have_text=True,
    ),
    ChoiceRecord(
        choice=Choice.STOP,
        key="t",
        about="Stop the sprint at this task",
        gates=dict.fromkeys(
            (kind for kind in GateKind if kind not in (GateKind.FIX, GateKind.TASK, GateKind.LEARNING)),
            Meaning(short="end the run", long="it can be taken up again"),
        ),
    ),
    ChoiceRecord(
        choice=Choice.ASK,
        key="?",
        about="Ask a question about the gate; nothing is decided by it",
        gates=dict.fromkeys(
            (kind for kind in GateKind if kind is not GateKind.LEARNING),
            Meaning(short="ask", long="a read-only agent answers; nothing is decided"),
        ),
        needs_text=True,
    ),
    ChoiceRecord(
        choice=Choice.COMMENT,
        key="c",
        about="Answer the gate with your own direction",
        gates={
            GateKind.FIX: Meaning(short="fix my way", long="your words go with the review"),
            GateKind.TASK: Meaning(short="change it", long="your words start a fix round"),
            GateKind.PERMISSION: Meaning(short="another way", long="no permission: your words start a fix round"),
            GateKind.QUESTION: Meaning(short="answer", long="your words are the answer"),
            GateKind.PLAN: Meaning(short="change it", long="your words go to the planner"),
            GateKind.PRD: Meaning(short="change it", long="your words go to its writer"),
            GateKind.SPRINT: Meaning(short="fix my way", long="the tasks concerned are opened again with your words"),
            GateKind.LEARNING: Meaning(short="correct it", long="your words stand in it and go to later prompts"),
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
            words = "your words" if record.needs_text else "your words, if you like" if record.may_have_text else ""
            shown = f"`{record.choice.value}`" + (f" + {words}" if words else "")
            rows.append(f"| {shown} | `{record.key}` | {kind.value} | {meant.short}: {meant.long} |")
    return "\n".join(rows) + "\n"
