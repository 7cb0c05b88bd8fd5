"""A run for a CI server: a JUnit file with a case for each task, and a Markdown page for the step's summary."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

from engine import files
from engine.core.clean import clean, clean_line
from engine.core.gates import waiting_questions
from engine.core.inside import waits
from engine.core.state import State, Status, TaskState
from engine.core.status_words import of_status

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~])")


def write(state: State, junit_file: Path | None, summary_file: Path | None) -> None:
    """The JUnit file is written anew; the summary is added to its file, as CI servers want it."""
    if junit_file is not None:
        junit_file.parent.mkdir(parents=True, exist_ok=True)
        files.hand_over(junit_file, junit(state))
    if summary_file is not None:
        with files.appending(summary_file, mode=files.SHARED) as page:
            page.write(markdown(state).encode("utf-8", "replace"))


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
