"""The engine's own checks of a drafted plan, before any reviewer is paid: what no agent's word can make right.

Everything here objects in words with a fix, to the planner first; after its rounds the human decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

from engine.core.model import Plan, TaskSpec
from engine.core.planning_state import PlanIssue
from engine.globs import may_meet
from engine.plans.graph import Placed, graph_errors
from engine.plans.native import NATIVE
from engine.plans.plan_format import PlanRefused
from engine.plans.write import render

Matches = Callable[[str, str], bool]
"""Whether a glob takes a path in: the one dialect of scopes."""

MOST_CRITERIA = 9
MOST_COMPLEX = 13
MOST_WORDS = 700
_VAGUE = re.compile(
    r"\b(?:works?(?: well| properly| correctly| fine| as expected| smoothly)?|good|nice|clean|robust|user[- ]friendly|"
    r"intuitive|properly|appropriately|high[- ]quality|better|improved|elegant|maintainable|readable|scalable|"
    r"fast|efficient|performant|secure|as expected|as needed|etc)\b",
    re.IGNORECASE,
)
_CONCRETE = re.compile(
    r"[`\"“0-9=<>/]|\b(?:returns?|raises?|fails?|passes|rejects?|accepts?|prints?|writes?|exits?|responds?|status|error|"
    r"empty|equals?|contains?|exists?|missing|refuses?|shows?|lists?|logs?|stores?|redirects?|within|only|never|"
    r"before|after|without|when|if|test|tests|says?|is|are|has|have)\b",
    re.IGNORECASE,
)
_WILD = re.compile(r"[*?\[{]")


def check_plan(plan: Plan, files: Sequence[str], matches: Matches, *, checks: bool) -> tuple[PlanIssue, ...]:
    """Every objection; none means that a reviewer may be asked. `checks`: the repository has a required check."""
    broken = [*_graph(plan), *_form(plan)]
    if broken:
        return tuple(broken)
    found: list[PlanIssue] = []
    for task in plan.tasks():
        if task.done or task.skipped:
            continue
        found += _criteria(task)
        found += _size(task)
        found += _scope(task, files, matches)
        if not checks and not task.verify:
            found.append(
                PlanIssue(
                    rule="unprovable",
                    task=task.id,
                    text="no check is configured here and it has no command of its own: nothing could prove it",
                    fix="give it `verify:` with a command that fails before and passes after",
                )
            )
    return (*found, *_overlaps(plan, files, matches))


def _graph(plan: Plan) -> Iterator[PlanIssue]:
    for error in graph_errors([Placed(task, 1) for task in plan.tasks()], "plan.md"):
        yield PlanIssue(rule="graph", text=error.what, fix=error.fix)


def _form(plan: Plan) -> Iterator[PlanIssue]:
    """A plan that plan.md cannot say as it is would run as another one."""
    try:
        same = NATIVE.read(render(plan), "plan.md")
    except PlanRefused as refused:
        for error in refused.errors:
            yield PlanIssue(rule="form", text=error.what, fix=error.fix or error.expected)
        return
    if [task.id for task in same.tasks()] != [task.id for task in plan.tasks()]:
        yield PlanIssue(rule="form", text="ids that plan.md cannot carry", fix="phase.number, like 1.2")


def _criteria(task: TaskSpec) -> Iterator[PlanIssue]:
    if not task.accept and not task.verify and not task.proof.startswith("none"):
        yield PlanIssue(
            rule="no-criteria",
            task=task.id,
            text="nothing says when it is done",
            fix="at least one criterion that a test or a command can show",
        )
    for criterion in task.accept:
        bare = " ".join(criterion.split())
        if len(bare) < 4 or (_VAGUE.search(bare) and not _CONCRETE.search(_VAGUE.sub("", bare))):
            yield PlanIssue(
                rule="vague",
                task=task.id,
                text=f"nobody could check “{bare}”",
                fix="say what input gives what result, or which command succeeds",
            )


def _size(task: TaskSpec) -> Iterator[PlanIssue]:
    reasons = []
    if task.complexity is not None and task.complexity >= MOST_COMPLEX:
        reasons.append(f"complexity {task.complexity}")
    if len(task.accept) > MOST_CRITERIA:
        reasons.append(f"{len(task.accept)} criteria")
    if len(task.description.split()) > MOST_WORDS:
        reasons.append(f"{len(task.description.split())} words of description")
    if reasons:
        yield PlanIssue(
            rule="too-large",
            task=task.id,
            text=f"more than one commit's worth ({', '.join(reasons)})",
            fix="split it into tasks that can be reviewed one by one",
        )


def _scope(task: TaskSpec, files: Sequence[str], matches: Matches) -> Iterator[PlanIssue]:
    """A glob that takes nothing in, under a folder that is not there and that the task does not speak of."""
    if not files:
        return
    folders = {path.rsplit("/", 1)[0] for path in files if "/" in path}
    folders |= {"/".join(folder.split("/")[:depth]) for folder in folders for depth in range(1, folder.count("/") + 2)}
    words = f"{task.title}\n{task.description}\n" + "\n".join(task.accept)
    for glob in task.scope:
        parent = _parent(glob)
        if not parent or parent in folders or glob.startswith("!"):
            continue
        top = parent.split("/")[0]
        known = top in folders
        if known or f"{top}/" in words or any(matches(glob, path) for path in files):
            continue
        yield PlanIssue(
            rule="unknown-scope",
            task=task.id,
            text=f"scope {glob}: there is no folder {top}, and the task does not say that it makes one",
            fix=f"a folder that is there ({', '.join(sorted({one.split('/')[0] for one in folders})[:6])}), or say so",
        )


def _parent(glob: str) -> str:
    """The folder a glob starts from; empty for the root or a pattern of any depth."""
    literal = _WILD.split(glob, maxsplit=1)[0].lstrip("/")
    return literal.rsplit("/", 1)[0] if "/" in literal else ""


def _overlaps(plan: Plan, files: Sequence[str], matches: Matches) -> Iterator[PlanIssue]:
    """Tasks of a phase that do not wait for each other run at the same time."""
    after = _reach(plan)
    for phase in plan.phases:
        pending = [task for task in phase.tasks if not task.done and not task.skipped]
        for one, other in combinations(pending, 2):
            if other.id in after[one.id] or one.id in after[other.id]:
                continue
            if shared := _shared(one, other, files, matches):
                yield PlanIssue(
                    rule="overlap",
                    task=other.id,
                    text=f"may run beside {one.id}, and both may touch {shared}",
                    fix=f"depends: {one.id}, or scopes that do not meet",
                )


def _reach(plan: Plan) -> dict[str, set[str]]:
    """What each task waits for, directly or not."""
    needs = {task.id: set(task.depends_on) for task in plan.tasks()}
    reach: dict[str, set[str]] = {}
    for start in needs:
        seen: set[str] = set()
        queue = list(needs[start])
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += needs.get(name, ())
        reach[start] = seen
    return reach


def _shared(one: TaskSpec, other: TaskSpec, files: Sequence[str], matches: Matches) -> str:
    """What both may touch: a file that is there, or patterns that a new file could match both of."""
    if not one.scope or not other.scope:
        return "everything (a task without a scope may change any file)"
    for left, right in product(_allowing(one), _allowing(other)):
        if not _both(left, right, files, matches) or _left_out(left, other) or _left_out(right, one):
            continue
        if left == right or not _WILD.search(right):
            return right
        if not _WILD.search(left):
            return left
        both = next((path for path in files if matches(left, path) and matches(right, path)), "")
        return both or f"files that {left} and {right} both name"
    return ""


def _both(left: str, right: str, files: Sequence[str], matches: Matches) -> bool:
    """Whether they may name the same file. A plain name means that one path."""
    for name, other in ((left, right), (right, left)):
        if not _WILD.search(name) and (name in files or "." in name.rsplit("/", 1)[-1]):
            return matches(other, name.lstrip("/"))
    rooted = [glob if _WILD.search(glob) else f"/{glob.lstrip('/')}" for glob in (left, right)]
    return may_meet(rooted[0], rooted[1])


def _allowing(task: TaskSpec) -> list[str]:
    return [glob for glob in task.scope if not glob.startswith("!")]


def _left_out(glob: str, task: TaskSpec) -> bool:
    """The task's scope takes out again all that the glob names."""
    out = [one[1:].strip("/").removesuffix("/**") for one in task.scope if one.startswith("!")]
    return any(f"{glob.strip('/')}/".startswith(f"{folder}/") for folder in out if not _WILD.search(folder))
