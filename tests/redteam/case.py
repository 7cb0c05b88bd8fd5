"""Cases as data: repositories and changes to them, read from text files that quote programs as they are.

A line that starts with `%% ` is a directive; what follows belongs to it.

    %% file PATH          the whole file            %% exec PATH        the same, executable
    %% edit PATH          with %% old / %% new      %% append PATH      at the end of the file
    %% prepend PATH       before its first line     %% delete PATH
    %% move OLD NEW       as it is at that point    %% link PATH TARGET a symbolic link
    %% replace OLD NEW PATH…                        a word, in these files
    %% like REPO          (repositories) start from another one
    %% case wrong|honest REPO NAME                  a new case; `key: value` lines follow
"""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Literal

HERE = Path(__file__).parent
REPOS = HERE / "repos"
CASES = HERE / "cases"
CHECKS = HERE / "checks"


@dataclasses.dataclass(frozen=True)
class File:
    text: str
    mode: Literal["100644", "100755", "120000"] = "100644"
    """As git writes it; a link's text is its target."""


Tree = dict[str, File]


class CaseError(Exception):
    """A case file that cannot be read, with its place."""


@dataclasses.dataclass(frozen=True)
class Step:
    word: str
    args: tuple[str, ...]
    body: str
    place: str


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    repo: str
    wrong: bool
    title: str
    kind: str
    """The mechanism or the sort of work, for the table."""
    about: str
    fields: tuple[str, ...]
    """Further lines of the plan: accept, scope, allow, proof, verify."""
    steps: tuple[Step, ...]
    held_out: bool
    sandboxed: bool
    """Only under bubblewrap: it reaches for other processes."""
    check: str = ""
    """The program in `checks/REPO.txt` that shows what the change is: it ends with 0 after an honest one only."""

    @property
    def base(self) -> Tree:
        return repository(self.repo)

    @functools.cached_property
    def after(self) -> Tree:
        return apply(self.base, self.steps)

    def plan(self) -> str:
        lines = ["# Work", "", f"- [ ] 1.1 {self.title}"]
        if self.about:
            lines.append(f"  description: {self.about}")
        lines += [f"  {line}" for line in self.fields]
        return "\n".join(lines) + "\n"


FOREIGN: dict[str, Tree] = {}
"""Repositories that are not kept as text here."""


@functools.cache
def repository(name: str) -> Tree:
    if name in FOREIGN:
        return FOREIGN[name]
    return apply({}, _steps((REPOS / f"{name}.txt").read_text(), name))


@functools.cache
def checks(name: str) -> Tree:
    """The programs that show what the changes to a repository are. No judge ever sees them."""
    return apply({}, _steps((CHECKS / f"{name}.txt").read_text(), f"checks of {name}"))


def repositories() -> list[str]:
    return sorted(path.stem for path in REPOS.glob("*.txt"))


def cases(*folders: Path) -> list[Case]:
    """Every case of the suite; `folders` hold cases that were kept back while the gate was built."""
    found = [case for path in sorted(CASES.glob("*.txt")) for case in _read(path, path.stem.startswith("heldout"))]
    for folder in folders:
        found += [case for path in sorted(folder.glob("*.txt")) for case in _read(path, True)]
    names = [case.name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CaseError(f"used twice: {', '.join(sorted(twice))}")
    return found


def apply(tree: Tree, steps: tuple[Step, ...]) -> Tree:
    out = dict(tree)
    for step in steps:
        _apply(out, step)
    return out


def _apply(out: Tree, step: Step) -> None:
    args = step.args
    match step.word:
        case "like":
            out.update(repository(args[0]))
        case "file":
            out[args[0]] = File(step.body)
        case "exec":
            out[args[0]] = File(step.body, "100755")
        case "link":
            out[args[0]] = File(args[1], "120000")
        case "append" | "prepend":
            old = _at(out, step)
            text = old.text + step.body if step.word == "append" else step.body + old.text
            out[args[0]] = File(text, old.mode)
        case "delete":
            _at(out, step)
            del out[args[0]]
        case "move":
            out[args[1]] = _at(out, step)
            del out[args[0]]
        case "replace":
            for path in args[2:]:
                if args[0] not in out[path].text:
                    raise CaseError(f"{step.place}: {args[0]!r} is not in {path}")
                out[path] = dataclasses.replace(out[path], text=re.sub(rf"\b{args[0]}\b", args[1], out[path].text))
        case "edit":
            old = _at(out, step)
            text = old.text
            for part in step.body.split("%% old\n")[1:]:
                was, found, now = part.partition("%% new\n")
                if was not in text:  # a part of a line
                    was, now = was.removesuffix("\n"), now.removesuffix("\n")
                if not found or text.count(was) != 1:
                    raise CaseError(f"{step.place}: {text.count(was)} × in {args[0]}: {was!r}")
                text = text.replace(was, now)
            out[args[0]] = File(text, old.mode)
        case _:
            raise CaseError(f"{step.place}: unknown directive {step.word}")


def _at(out: Tree, step: Step) -> File:
    if step.args[0] not in out:
        raise CaseError(f"{step.place}: no file {step.args[0]}")
    return out[step.args[0]]


def _steps(text: str, place: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for part in re.split(r"^%% (?!old$|new$)", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        word, *args = head.split()
        steps.append(Step(word, tuple(args), body, place))
    return tuple(steps)


_HEAD = re.compile(r"^(title|kind|about|accept|scope|allow|proof|verify|depends|sandboxed|check): ?(.*)$")


def _read(path: Path, held_out: bool) -> list[Case]:
    found: list[Case] = []
    for part in re.split(r"^%% case ", path.read_text(), flags=re.MULTILINE)[1:]:
        head, _, rest = part.partition("\n")
        words = head.split(maxsplit=2)
        if len(words) != 3 or words[0] not in ("wrong", "honest"):
            raise CaseError(f"{path.name}: {head!r}")
        sort, repo, name = words
        top, mark, body = rest.partition("%% ")
        keys: dict[str, list[str]] = {}
        for line in top.splitlines():
            if line.strip() and not line.startswith("#"):
                match = _HEAD.match(line)
                if match is None:
                    raise CaseError(f"{path.name}: {name}: {line!r}")
                keys.setdefault(match[1], []).append(match[2])
        fields = [f"{key}: {value}" for key in ("scope", "allow", "proof", "verify") for value in keys.get(key, ())]
        if "accept" in keys:
            fields += ["accept:", *(f"  - {value}" for value in keys["accept"])]
        found.append(
            Case(
                name=name,
                repo=repo,
                wrong=sort == "wrong",
                title=keys["title"][0],
                kind=keys["kind"][0],
                about=keys.get("about", [""])[0],
                fields=tuple(fields),
                steps=_steps(mark + body, f"{path.name}: {name}"),
                held_out=held_out,
                sandboxed="sandboxed" in keys,
                check=keys.get("check", [""])[0],
            )
        )
    return found
