"""What the repository's sprints decided and learnt the hard way: files of learnings/, found by files and words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import NamedTuple

from engine import files
from engine.core.clean import clean, clean_line
from engine.core.disputes import VOICES
from engine.core.events import LearningRecorded
from engine.core.model import Disputed, Struct
from engine.paths import RepoPaths, kebab

MOST_SHOWN = 5
MOST_CHARS = 1_600
LARGEST = 64_000
MOST_TASKS = 300
"""Files about single tasks that are read; decisions are all read."""
ALIKE = 0.75
"""Share of words two titles have in common to be the same learning."""
_FILE = re.compile(r"(\d{3,})-([a-z0-9][\w.-]*)\.md$")
_TASK = re.compile(r"\d{3,}-task-\d")
_FIELD = re.compile(r"^- (kind|origin|files|contradicted|settled): (.*)$", re.MULTILINE)
_WORD = re.compile(r"[a-z][a-z0-9_]{2,}")
_PLAIN = frozenset(
    {"the", "and", "for", "with", "that", "this", "from", "into", "not", "are", "was", "were", "has", "have", "its"}
    | {"our", "you", "your", "use", "used", "uses", "using", "add", "adds", "make", "makes", "made", "when", "then"}
    | {"than", "will", "can", "may", "must", "should", "task", "tasks", "test", "tests", "code", "file", "files"}
    | {"new", "all", "any", "kind", "origin", "decision", "why", "avoid", "planner", "implementer"}
)


class Learning(Struct, frozen=True, kw_only=True):
    """One file of learnings/."""

    name: str
    """sprint/file stem: what people and agents call it."""
    title: str
    text: str
    path: Path
    avoid: bool = False
    origin: str = ""
    files: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()
    """What was said against it since a human last spoke."""
    settled: str = ""
    """What the human said."""

    @property
    def dropped(self) -> bool:
        return self.settled.startswith("dropped ")


class Relevant(Struct, frozen=True, kw_only=True):
    """A learning that a prompt is given, and why that one."""

    learning: Learning
    why: str


def read_all(root: Path) -> tuple[Learning, ...]:
    """Every learning of every sprint, oldest sprint first; a file that cannot be read is left out.

    Of what tasks went through, which is one file a task, the latest: else every call would read all that ever was.
    """
    places = reversed(list(_places(RepoPaths(root=root).sprints)))
    found = (_read(place, place.stat()) for place in places)
    return tuple(one for one in found if one is not None)


def _places(folder: Path) -> Iterator[_Place]:
    """The files of learnings/ that are read, the newest first. Of a sprint whose tasks are too old only the decisions
    are looked for, and its folder is listed when it changed: a long history costs a call next to nothing."""
    left = MOST_TASKS
    for sprint in reversed(_names(folder)):
        inside = f"{folder}/{sprint}/learnings"
        for name in reversed(_learnt(inside) if left else _decisions(inside, _changed(inside))):
            if not _TASK.match(name):
                yield _Place(f"{inside}/{name}", sprint, name)
            elif left:
                left -= 1
                yield _Place(f"{inside}/{name}", sprint, name)


def _learnt(inside: str) -> list[str]:
    return [name for name in _names(inside) if _FILE.search(name)]


@lru_cache(maxsize=4096)
def _decisions(inside: str, _seen: int) -> tuple[str, ...]:
    return tuple(name for name in _learnt(inside) if not _TASK.match(name))


def _changed(inside: str) -> int:
    """When a file came into a folder or left it."""
    try:
        return os.stat(inside).st_mtime_ns  # noqa: PTH116  hundreds of them
    except OSError:
        return 0


def _names(folder: Path | str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  names, of thousands
    except OSError:
        return []


class _Place(NamedTuple):
    path: str
    sprint: str
    name: str

    def stat(self) -> tuple[int, int, int]:
        """What changes when the file does; nothing of a link."""
        try:
            seen = os.lstat(self.path)
        except OSError:
            return (0, 0, 0)
        return (seen.st_mtime_ns, seen.st_size, seen.st_ino) if S_ISREG(seen.st_mode) else (0, 0, 0)


@lru_cache(maxsize=MOST_TASKS + 200)
def _read(place: _Place, seen: tuple[int, int, int]) -> Learning | None:
    if not any(seen):
        return None
    try:
        with Path(place.path).open("rb") as file:
            text = file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return None
    return parse(f"{place.sprint}/{place.name.removesuffix('.md')}", text, Path(place.path))


def parse(name: str, text: str, path: Path) -> Learning:
    text = clean(text)
    first = next((line for line in text.splitlines() if line.strip()), name)
    fields = _FIELD.findall(text)
    values = dict(reversed(fields))
    spoken = max((place for place, (key, _words) in enumerate(fields) if key == "settled"), default=-1)
    return Learning(
        name=name,
        title=clean_line(first.lstrip("# ")),
        text=text,
        path=path,
        avoid=values.get("kind") == "avoid",
        origin=values.get("origin", ""),
        files=tuple(one.strip() for one in values.get("files", "").split(",") if one.strip()),
        disputes=tuple(words for key, words in fields[spoken + 1 :] if key == "contradicted"),
        settled=fields[spoken][1] if spoken >= 0 else "",
    )


def render(event: LearningRecorded, sprint: str) -> str:
    """A decision as a file of learnings/."""
    who = event.role.value if event.role is not None else "devteam"
    about = f", task {event.task}" if event.task else ""
    lines = [f"# {clean_line(event.text, 200)}", "", f"- kind: {'avoid' if event.avoid else 'decision'}"]
    lines.append(f"- origin: {sprint}{about}, {who}")
    lines += [f"- files: {', '.join(clean_line(path) for path in event.files[:20])}"] if event.files else []
    lines += ["", f"Why: {clean(event.why).strip()}"] if event.why.strip() else []
    if event.alternatives:
        lines += ["", "## Alternatives", "", *(f"- {clean_line(one)}" for one in event.alternatives)]
    return "\n".join(lines) + "\n"


def with_dispute(one: Learning, who: str) -> str:
    return f"{one.text.rstrip()}\n- contradicted: {clean_line(who, 300)}\n"


def disputed(learnings: Iterable[Learning]) -> dict[str, Disputed]:
    """What a run must know of: every learning somebody objects to."""
    return {
        one.name: Disputed(title=one.title, said=one.disputes, settled=one.settled)
        for one in learnings
        if one.disputes and not one.dropped
    }


def settle(root: Path, disputed: Mapping[str, Disputed]) -> None:
    """What the human said of a learning stands in its file."""
    spoken = {name: one.settled for name, one in disputed.items() if one.settled}
    for one in read_all(root) if spoken else ():
        words = clean_line(spoken.get(one.name, ""), 400)
        if words and one.settled != words:
            files.write(one.path, f"{one.text.rstrip()}\n- settled: {words}\n".encode(), mode=files.SHARED)


def doubtful(learnings: Iterable[Learning]) -> list[Learning]:
    """Contradicted so often that a human should say what holds."""
    return [one for one in learnings if len(one.disputes) >= VOICES and not one.dropped]


def file_name(number: int, event: LearningRecorded) -> str:
    words = [word for word in kebab(event.text).split("-") if word not in _PLAIN][:5]
    return f"{number:03d}-{'-'.join(words)[:48].strip('-') or 'decision'}.md"


def known(title: str, learnings: Iterable[Learning]) -> Learning | None:
    """The learning that says the same already."""
    words = _words(title)
    for one in learnings:
        theirs = _words(one.title)
        if words and theirs and len(words & theirs) / len(words | theirs) >= ALIKE:
            return one
    return None


def relevant(learnings: Sequence[Learning], words: str, files: Iterable[str]) -> tuple[Relevant, ...]:
    """The few that bear on these words and files, best first, each with what they have in common."""
    wanted, paths = _words(words), {path.strip("/") for path in files if path}
    folders = {str(PurePosixPath(path).parent) for path in paths} - {"."}
    scored = []
    for place, one in enumerate(learnings):
        if one.dropped:
            continue
        same = [path for path in one.files if path in paths]
        near = [path for path in one.files if str(PurePosixPath(path).parent) in folders and path not in same]
        shared = sorted(wanted & _words_of(one), key=lambda word: (-len(word), word))
        score = 5 * len(same) + 2 * bool(near) + len(shared) + (1 if one.avoid else 0)
        if same or near or len(shared) >= 2:
            parts = [f"same file {same[0]}"] if same else [f"near {near[0]}"] if near else []
            parts += [f"words {', '.join(shared[:4])}"] if shared else []
            scored.append((score, place, Relevant(learning=one, why="; ".join(parts))))
    scored.sort(key=lambda row: (-row[0], -row[1]))
    return tuple(row[2] for row in scored[:MOST_SHOWN])


def shown(one: Learning) -> str:
    """What a prompt points at: bounded, with its name so that an agent can contradict it."""
    text = one.text if len(one.text) <= MOST_CHARS else one.text[:MOST_CHARS] + "\n[… cut …]\n"
    return f"{text.rstrip()}\n\n(learning {one.name})\n"


@lru_cache(maxsize=MOST_TASKS + 200)
def _words_of(one: Learning) -> frozenset[str]:
    return _words(f"{one.title} {one.text}")


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _PLAIN
