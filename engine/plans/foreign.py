"""What a plan of another tool offers: it is read, explained, and has its progress written back in place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from msgspec.structs import replace

from engine.core.clean import clean
from engine.core.model import PhaseSpec, Plan, Struct, TaskSpec
from engine.plans import fields
from engine.plans.drafts import Line, lines_of
from engine.plans.graph import Placed, graph_errors
from engine.plans.plan_format import PLAN_STATUSES, PlanError, PlanRefused

MAX_CHARS = 2_000_000
_FENCE = re.compile(r"(`{3,}|~{3,})")
_PATH = re.compile(r"(?<![\w/.:-])((?:[\w.-]+/)*[\w.-]+\.[A-Za-z]{1,5}|(?:[\w.-]+/)+)(?![\w/])")
_NO_PATH = re.compile(r"^(?:e\.g\.|i\.e\.|etc\.|v?\d[\d.]*|.*\.(?:com|org|io|net|dev))$", re.IGNORECASE)


class Explained(Struct, frozen=True, kw_only=True):
    """What was made of a file, for the user to see before anything runs."""

    understood: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


class Foreign:
    """Base of the formats of other tools. `parse` gives the plan and what was made of it; the rest is shared."""

    name = ""
    what = ""
    """In words, for docs and messages."""

    def matches(self, path: PurePath, text: str) -> bool:
        raise NotImplementedError

    def mark(self, text: str, marks: Mapping[str, str]) -> str:
        raise NotImplementedError

    def parse(self, text: str, source: str) -> tuple[Plan, Explained]:
        raise NotImplementedError

    def read(self, text: str, source: str) -> Plan:
        return self.parse(text, source)[0]

    def explain(self, text: str, source: str) -> Explained:
        return self.parse(text, source)[1]

    def mark_plan(self, text: str, status: str) -> str:
        """Most of these files state no status of their own."""
        if status not in PLAN_STATUSES:
            raise ValueError(f"unknown plan status {status!r}; one of {', '.join(PLAN_STATUSES)}")
        return text

    def companions(self, path: PurePath) -> tuple[PurePath, ...]:
        """Files beside it that say more: requirements, a proposal."""
        return ()

    def enrich(self, plan: Plan, texts: Mapping[str, str]) -> tuple[Plan, Explained]:
        """The plan with what its companions (by file name) add."""
        return plan, Explained()


def finished(
    source: str, title: str, phases: Iterable[tuple[str, list[tuple[TaskSpec, int]]]], summary: str = ""
) -> Plan:
    """The plan of these phases (title, tasks with their lines); PlanRefused with every error of the graph."""
    kept = [(name, tasks) for name, tasks in phases if tasks]
    errors = graph_errors([Placed(task, line) for _, tasks in kept for task, line in tasks], source)
    if errors:
        raise PlanRefused(errors)
    return Plan(
        title=fields.tidy_heading(title) or fields.title_of(source),
        phases=tuple(
            PhaseSpec(
                id=str(number), title=fields.tidy_heading(name) or "Tasks", tasks=tuple(task for task, _ in tasks)
            )
            for number, (name, tasks) in enumerate(kept, 1)
        ),
        status="DRAFT",
        summary=fields.tidy_description("", summary.splitlines()),
    )


def refused(source: str, line: int, what: str, expected: str = "", fix: str = "") -> PlanRefused:
    return PlanRefused([PlanError(source=source, line=line, what=what, expected=expected, fix=fix)])


def prose_lines(text: str, source: str) -> Iterator[Line]:
    """Lines outside code fences and comments."""
    if len(text) > MAX_CHARS:
        raise refused(source, 0, f"the file has {len(text):,} characters", f"at most {MAX_CHARS:,}")
    fence, comment = "", False
    for line in lines_of(text):
        if comment:
            comment = "-->" not in line.body
            continue
        opening = _FENCE.match(line.body)
        if fence:
            if opening and line.body.strip("`~") == "" and line.body.startswith(fence):
                fence = ""
            continue
        if opening:
            fence = opening.group(1)
            continue
        if line.body.startswith("<!--") and "-->" not in line.body:
            comment = True
            continue
        yield line


def paths_in(words: str) -> list[str]:
    """Paths that a sentence names: a guess at a scope, always shown as one."""
    found = (match.group(1) for match in _PATH.finditer(clean(words).replace("`", " ")))
    good = [path.removeprefix("./") for path in found if not _NO_PATH.match(path) and "://" not in path]
    return list(dict.fromkeys(path + "**" if path.endswith("/") else path for path in good if ".." not in path))


def with_accept(task: TaskSpec, more: Iterable[str]) -> TaskSpec:
    tidy = (fields.tidy_criterion(one) for one in more)
    return replace(task, accept=tuple(dict.fromkeys((*task.accept, *(one for one in tidy if one)))))


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with these spans replaced, from the back."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
