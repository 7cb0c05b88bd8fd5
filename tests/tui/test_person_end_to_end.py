"""A person's whole session in a real terminal, from an empty repository to `land`: a sentence, the planner's questions,
the plan's approval, four lanes, every gate, a lost engine, the morning after. By keys alone, and with the mouse."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.core.state import State, Status
from engine.plans.sprints import list_sprints
from engine.project import open_project
from engine.service.local import Desk
from tests.engine import small
from tests.patience import Deadline
from tests.tui.test_end_to_end import Terminal

pytestmark = [pytest.mark.torture, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]

FILES = ("one", "two", "three", "four")
TASK = (
    '{{ id = "1.{number}", title = "Write {name}", description = "", accept = ["{name}.txt says `good`"], '
    'scope = ["{name}.txt"], depends_on = [], complexity = 1, verify = [], proof = "none", allow = [] }}'
)


def scenario() -> str:
    """Two questions, a plan of four tasks side by side; the second is objected to once, the fourth cannot be done."""
    tasks = ", ".join(TASK.format(number=number, name=name) for number, name in enumerate(FILES, 1))
    steps = [
        '[[call]]\nrole = "gatherer"\ntext = "Nothing is here yet."\n',
        '[[call]]\nrole = "planner"\nattempt = 1\n[call.structured]\nstatus = "NEEDS_CLARIFICATION"\ntitle = ""\n'
        'topic = ""\nsummary = ""\nphases = []\nlater = []\ndecisions = []\n'
        'questions = [{ text = "Which word?", assumption = "good" }, { text = "Upper case?", assumption = "no" }]\n',
        '[[call]]\nrole = "planner"\nattempt = 2\n[call.structured]\nstatus = "READY"\ntitle = "Good words"\n'
        'topic = "words"\nsummary = ""\nquestions = []\nlater = []\ndecisions = []\n'
        f'phases = [{{ id = "1", title = "Words", scaffold = false, tasks = [{tasks}] }}]\n',
        '[[call]]\nrole = "plan-reviewer"\n[call.structured]\napproved = true\nissues = []\nsummary = "clear"\n',
        '[[call]]\nrole = "answerer"\ntext = "because it was asked for"\n',
    ]
    for number, name in enumerate(FILES, 1):
        output = ", ".join(f'"{name} says {line}"' for line in range(12))
        stuck = '\nclaim = "blocked"\nissues = "a key for the fourth file is needed"' if name == "four" else ""
        edit = f'edit = [{{ path = "{name}.txt", content = "good\\n" }}]'
        steps.append(f'[[call]]\ntask = "1.{number}"\ndelay = 0.5\noutput = [{output}]\n{edit}{stuck}\n')
        criteria = f'criteria = [{{ text = "{name}.txt says `good`", met = true, reference = "{name}.txt:1" }}]'
        review = f'[[call]]\ntask = "1.{number}"\nrole = "reviewer"\n[call.structured]\napproved = true\nissues = []\n'
        steps.append(f'{review}notes = []\nsummary = "fine"\n{criteria}\n')
    issue = '{ text = "the line has no end", path = "two.txt", line = 1, fix = "end it", alternative = "" }'
    steps.append(
        '[[call]]\ntask = "1.2"\nrole = "reviewer"\niteration = 1\n[call.structured]\napproved = false\n'
        f'issues = [{issue}]\nnotes = []\nsummary = "nearly"\n'
        'criteria = [{ text = "two.txt says `good`", met = false, reference = "two.txt:1" }]\n'
    )
    steps.append('[[call]]\ntask = "1.2"\niteration = 2\nedit = [{ path = "two.txt", content = "good\\nend\\n" }]\n')
    criteria = ", ".join(
        f'{{ task = "1.{number}", text = "{name}.txt says `good`", met = true, reference = "1" }}'
        for number, name in enumerate(FILES, 1)
    )
    steps.append(
        '[[call]]\nrole = "sprint-reviewer"\n[call.structured]\napproved = true\nissues = []\nsummary = "they fit"\n'
        f"criteria = [{criteria}]\n"
    )
    return "\n".join(steps)


GATED = small.CONFIG.replace('fix = "auto"', 'fix = "gated"').replace('task = "auto"', 'task = "gated"')
CONFIG = f"lanes = 4\n{GATED}"


class Person:
    """Looks at the screen, knows the facts of the run, and acts by keys or by the mouse."""

    def __init__(self, terminal: Terminal, folder: Path, mouse: bool) -> None:
        self.terminal, self.folder, self.mouse = terminal, folder, mouse
        state = folder.parent / "state"
        env = {"PATH": os.environ["PATH"], "HOME": str(Path.home()), "XDG_STATE_HOME": str(state), "LANG": "C.UTF-8"}
        self._desk = Desk(project=open_project(folder, env, Path.home()))

    def state(self) -> State:
        found = list_sprints(self.folder)
        return self._desk.state(found[-1].id) if found else State()

    def engine(self) -> int:
        holder = self._desk.engine()
        return holder.pid if holder is not None else 0

    def until(self, fact: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
        deadline = Deadline(seconds)
        while not fact():
            assert not deadline.over(), f"{what} never came:\n{self.terminal.screen()}"
            time.sleep(0.3)

    def press(self, key: str, words: str) -> None:
        """The key, or a click on the words that name it."""
        if not self.mouse:
            self.terminal.keys(key)
            return
        rows = self.terminal.wait(words, seconds=30).split("\n")
        row = max(at for at, line in enumerate(rows) if words in line)
        column = rows[row].index(words) + 1
        for ending in ("M", "m"):
            code = f"\x1b[<0;{column + 1};{row + 1}{ending}"
            self.terminal.keys("-l", code)
            time.sleep(0.1)

    def until_done(self, key: str, words: str, fact: Callable[[], bool], what: str) -> None:
        """Act as people do: not while it has only just come into sight, and again if that was too early."""
        deadline = Deadline(60)
        while not fact():
            assert not deadline.over(), f"{what}: {key} did nothing:\n{self.terminal.screen()}"
            time.sleep(1.0)
            if not fact() and words in self.terminal.screen():
                self.press(key, words)
                time.sleep(0.7)


@pytest.fixture(params=["keys", "mouse"])
def person(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Person]:
    folder = tmp_path / "repo"
    folder.mkdir()
    small.git(folder, "init", "-q", "-b", "main")
    (folder / ".devteam").mkdir()
    (folder / ".devteam/config.toml").write_text(CONFIG)
    (folder / ".devteam/scenario.toml").write_text(scenario())
    program = f"{shlex.quote(sys.executable)} -m tui.cli.main tui --trust all"
    command = f"cd {shlex.quote(str(folder))}; {program}; echo LEFT $?; sleep 60"
    terminal = Terminal(tmp_path / "tmux", 140, 40, command)
    someone = Person(terminal, folder, request.param == "mouse")
    yield someone
    if pid := someone.engine():
        os.kill(pid, signal.SIGTERM)
    terminal.close()


def open_kinds(person: Person) -> list[str]:
    return [gate.kind.value for gate in person.state().open_gates()]


@pytest.mark.timeout(600)
def test_from_an_empty_repository_to_landed(person: Person) -> None:
    terminal = person.terminal
    terminal.wait("Describe what you want")
    person.press("Enter", "Describe what you want")
    terminal.wait("NEW REQUEST")
    terminal.keys("write good words")
    terminal.wait("write good words")
    terminal.keys("C-s")

    person.until(lambda: open_kinds(person) == ["question", "question"], "the planner's questions")
    terminal.wait("Which word?")
    person.until_done("y", "use the default", lambda: len(open_kinds(person)) < 2, "the first question")
    person.until_done("y", "use the default", lambda: "question" not in open_kinds(person), "the second question")
    person.until(lambda: open_kinds(person) == ["plan"], "the plan's approval")
    shown = terminal.wait("EXPECTED")
    assert "Write one" in shown and "Write four" in shown, "what is approved is shown"
    person.until_done("y", "approve: the sprint", lambda: bool(person.state().tasks), "the approval")

    def lanes() -> int:
        return sum(task.status is Status.RUNNING for task in person.state().tasks.values())

    person.until(lambda: lanes() == 4, "four lanes")
    terminal.wait("FLIGHT · 4 lanes at work")

    before = person.engine()
    assert before
    os.kill(before, signal.SIGKILL)
    terminal.wait("ENGINE LOST")
    person.until_done("Space", "start engine", lambda: person.engine() not in (0, before), "another engine")

    answers = {"task": ("y", "yes      commits"), "fix": ("y", "yes      another"), "blocked": ("s", "next task")}
    asked: set[str] = set()
    deadline = Deadline(240)
    while not (person.state().outcome and not person.state().running):
        assert not deadline.over(), f"the run never ended:\n{terminal.screen()}"
        gates = person.state().open_gates()
        screen = terminal.screen()
        shown_now = next((gate for gate in gates if f" {gate.id}  waiting" in screen), None)
        if shown_now is None:
            time.sleep(0.3)
            continue
        kind = shown_now.kind.value
        asked.add(kind)
        key, words = answers[kind]
        gone = shown_now.id
        person.until_done(
            key, words, lambda gone=gone: gone not in {gate.id for gate in person.state().open_gates()}, kind
        )
    assert asked == {"task", "fix", "blocked"}, "every gate was asked on the way"

    terminal.wait("MEASURED")
    person.until_done("L", "L land", lambda: "LAND" in terminal.screen(), "the question")
    person.until_done("L", "land it", lambda: (person.folder / "one.txt").exists(), "the landing")
    log = subprocess.run(
        ["git", "log", "--format=%s", "main"], cwd=person.folder, capture_output=True, text=True, check=True
    )
    assert sum("Write" in line for line in log.stdout.splitlines()) == 3
    assert not (person.folder / "four.txt").exists(), "what was skipped is not landed"
    terminal.keys("q")
    left = terminal.wait("LEFT")
    assert "LEFT 0" in left and "Traceback" not in left
