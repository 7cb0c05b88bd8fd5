"""The queue of `devteam run --all`: a text file that people edit while it is worked on; read anew each time."""

from __future__ import annotations

import re
from pathlib import Path

from engine.core.clean import clean_line
from engine.core.model import Struct
from engine.core.status_words import of_sprint
from engine.link.user_errors import UserError
from engine.plans.in_place import change
from engine.plans.sprints import list_sprints
from engine.project import stored_state
from engine.service.local import Desk
from engine.views import write_atomically

HEAD = """# Queue

devteam run --all works from top to bottom. Edit and reorder it at any time; it is read anew before each step.
A line is a sprint (its id, number or name) or `plan: what to do`. [x] done, [!] needs you, [-] left out.

"""
MARKS = {"open": " ", "done": "x", "blocked": "!", "skipped": "-"}
_LINE = re.compile(rb"^([ \t]*[-*+][ \t]+\[)([ xX!~-])(\][ \t]+)([^\r\n]*)", re.MULTILINE)


class Item(Struct, frozen=True, kw_only=True):
    """One line of the queue."""

    text: str
    status: str

    @property
    def request(self) -> str:
        """What is to be planned; empty for a sprint."""
        head, colon, words = self.text.partition(":")
        return words.strip() if colon and head.strip().lower() == "plan" else ""


def path_of(desk: Desk) -> Path:
    return desk.project.repo.folder / "queue.md"


def items(desk: Desk) -> tuple[Item, ...]:
    try:
        data = path_of(desk).read_bytes()
    except FileNotFoundError:
        return ()
    found = {"x": "done", "X": "done", "!": "blocked", "-": "skipped"}
    rows = ((match.group(4).decode("utf-8", "replace"), match.group(2).decode()) for match in _LINE.finditer(data))
    return tuple(Item(text=clean_line(words), status=found.get(box, "open")) for words, box in rows)


def fill(desk: Desk) -> tuple[Item, ...]:
    """The queue; made from the sprints that are not done where there is none."""
    if not path_of(desk).is_file():
        waiting = [
            folder.id
            for folder in list_sprints(desk.root)
            if not folder.problem and of_sprint(stored_state(desk.project, folder)) != "done"
        ]
        if not waiting:
            raise UserError("there is no sprint that is not done", 'devteam plan "what to do"')
        write_atomically(path_of(desk), HEAD + "".join(f"- [ ] {name}\n" for name in waiting))
    return items(desk)


def add(desk: Desk, *lines: str) -> None:
    """Put lines at the end; a queue that is being edited meanwhile loses nothing."""
    path = path_of(desk)
    if not path.is_file():
        write_atomically(path, HEAD)
    more = "".join(f"- [ ] {clean_line(line)}\n" for line in lines).encode()
    change(path, lambda old: old + (b"" if old.endswith(b"\n") or not old else b"\n") + more)


def mark(desk: Desk, text: str, status: str, becomes: str = "") -> None:
    """Change the mark of the first line that says this and is not done; `becomes`: another text for it (its sprint)."""

    def edit(old: bytes) -> bytes:
        for found in _LINE.finditer(old):
            if clean_line(found.group(4).decode("utf-8", "replace")) == text and found.group(2) in (b" ", b"~", b"!"):
                words = becomes.encode() if becomes else found.group(4)
                new = found.group(1) + MARKS[status].encode() + found.group(3) + words
                return old[: found.start()] + new + old[found.end() :]
        return old

    change(path_of(desk), edit)
