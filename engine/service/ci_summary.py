"""A run for a CI server: a JUnit file with a case for each task, and a Markdown page for the step's summary."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Xml

from engine import files
from engine.core.clean import clean, clean_line
from engine.core.gates import waiting_questions
from engine.core.inside import waits
from engine.core.state import State, Status, TaskState
from engine.core.status_words import of_status
from engine.link.user_errors import UserError

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")


def must_be_writable(junit_file: Path | None, summary_file: Path | None) -> None:
    """Before anything is paid. Raises UserError with the place that is not."""
    for option, path in (("--junit", junit_file), ("--summary", summary_file)):
        if path is None:
            continue
        try:
            files.must_take(path, more=option == "--summary")
        except OSError as error:
            at = "" if error.filename in (None, str(path)) else f" ({error.filename})"
            words = f"{option} {path}: nothing can be written there: {error.strerror}{at}"
            raise UserError(words, "name another place; nothing was run") from error
    if junit_file is not None and summary_file is not None and _same(junit_file, summary_file):
        raise UserError(f"--junit and --summary are one file: {junit_file}", "give each a file of its own")


def write(state: State, junit_file: Path | None, summary_file: Path | None) -> list[str]:
    """The JUnit file is written anew; the summary is added to its file, as CI servers want it. Gives what could not be
    written, in words."""
    return [
        *(_unwritten("JUnit file", junit_file, lambda path: files.hand_over(path, junit(state)))),
        *(_unwritten("summary", summary_file, lambda path: files.hand_over_more(path, markdown(state)))),
    ]


def _unwritten(what: str, path: Path | None, put: Callable[[Path], None]) -> list[str]:
    if path is None:
        return []
    try:
        with contextlib.suppress(FileExistsError):  # a file in the folder's place: what is put there says so
            path.parent.mkdir(parents=True, exist_ok=True)
        put(path)
    except OSError as error:
        return [f"the {what} could not be written to {path}: {error.strerror}"]
    return []


def _same(one: Path, other: Path) -> bool:
    """By where they lead; a device takes both."""
    return os.path.realpath(one) == os.path.realpath(other) and (one.is_file() or not one.exists())


def junit(state: State) -> bytes:
    """Complete is a pass; skipped is skipped; everything else is a failure that says what it needs."""
    tasks = list(state.tasks.values())
    failed = [task for task in tasks if task.status not in (Status.COMPLETE, Status.SKIPPED)]
    skipped = [task for task in tasks if task.status is Status.SKIPPED]
    seconds = sum(_seconds(task) for task in tasks)
    numbers = {"tests": len(tasks), "failures": len(failed), "errors": 0, "skipped": len(skipped)}
    attributes = {**{name: str(value) for name, value in numbers.items()}, "time": f"{seconds:.3f}"}
    suites = Xml.Element("testsuites", {"name": "devteam", **attributes})
    suite = Xml.SubElement(suites, "testsuite", {"name": _text(state.sprint), **attributes})
    properties = Xml.SubElement(suite, "properties")
    for name, value in (
        ("outcome", state.outcome or ""),
        ("branch", state.branch),
        ("head", state.head),
        ("spent_usd", f"{state.spent_usd:.4f}"),
    ):
        Xml.SubElement(properties, "property", {"name": name, "value": _text(str(value))})
    for task in tasks:
        _case(suite, state, task)
    Xml.indent(suites)
    made: bytes = Xml.tostring(suites, encoding="utf-8", xml_declaration=True)
    return made + b"\n"


def _case(suite: Xml.Element, state: State, task: TaskState) -> None:
    name = _text(f"{task.id} {task.spec.title}")
    about = {"classname": _text(state.sprint), "name": name, "time": f"{_seconds(task):.3f}"}
    case = Xml.SubElement(suite, "testcase", about)
    reason = _text(task.reason or of_status(task.status).word)
    if task.status is Status.SKIPPED:
        Xml.SubElement(case, "skipped", {"message": reason})
    elif task.status is not Status.COMPLETE:
        failure = Xml.SubElement(case, "failure", {"message": reason, "type": task.status.value})
        said = [f"{check.name}: {check.verdict.value} {check.reason}" for check in task.checks if check.required]
        failure.text = _text("\n".join([*said, task.action and f"what to do: {task.action}"]).strip(), lines=True)
    elif task.commit:
        Xml.SubElement(case, "system-out").text = f"commit {task.commit}"


def markdown(state: State) -> str:
    """What somebody who opens the job wants to know first: done or not, what waits, then each task."""
    done, total = state.progress()
    lines = [
        f"## devteam: {_inline(state.outcome or 'not ended')}",
        "",
        f"{_inline(state.sprint)}: {done} of {total} tasks complete, ${state.spent_usd:.2f}, branch `{state.branch}`.",
        *([f"{_inline(state.outcome_reason)}", ""] if state.outcome_reason else [""]),
        "| | task | iterations | cost | |",
        "|---|---|---|---|---|",
    ]
    for task in state.tasks.values():
        note = task.commit[:12] if task.status is Status.COMPLETE else f"{task.reason} {task.action}".strip()
        title = f"{_inline(task.id)} {_inline(task.spec.title)}"
        word = of_status(task.status).word
        lines.append(f"| {word} | {title} | {task.iteration} | ${task.spent_usd:.2f} | {_inline(note)} |")
    open_ = [f"- {_inline(question.text)}: `devteam allow {task.id} …`" for task, question in waiting_questions(state)]
    open_ += [f"- {_inline(gate.title)}" for gate in state.open_gates()]
    if open_:
        lines += ["", "### Waits for you", "", *open_, f"- `{waits(state)}`"]
    return "\n".join(lines) + "\n"


def _seconds(task: TaskState) -> float:
    return max(0.0, task.ended_at - task.started_at) if task.started_at and task.ended_at else 0.0


def _text(text: str, *, lines: bool = False) -> str:
    """What XML can hold: the cleaner leaves no control character behind."""
    return clean(text) if lines else clean_line(text, 500)


def _inline(text: str) -> str:
    """One line of plain text: nothing in it is Markdown, a table's border or a tag."""
    return _MARKDOWN.sub(r"\\\1", clean_line(text, 300))
