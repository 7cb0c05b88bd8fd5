"""How hard a task looks (0–14), and the rung it starts at.

A plan may say it; else it is read from the task's words and shape. 5 is ordinary feature work. Words of the title weigh
fully; in the description only hard words count, and half, since every description mentions docs or config somewhere.

| score | tier | starts at |
|---|---|---|
| 0–4 | simple: boilerplate, config, docs, file moves, dependency updates | the lowest rung (haiku) |
| 5–8 | moderate: features, tests, bug fixes, migrations, endpoints; and whatever is uncertain | the middle (sonnet) |
| 9–14 | complex: architecture, security, several systems, performance, five files and more | the top (opus) |
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.core.model import Rung, Struct, TaskSpec

MAX = 14
ORDINARY = 5
SIMPLE_TO = 4
MODERATE_TO = 8

LOW = {
    "boilerplate": r"boiler ?plate|scaffold(?:ing)?|skeleton|stubs?|placeholder|hello world",
    "configuration": r"config(?:uration|s)?|\.?gitignore|editorconfig|env(?:ironment)? variables?|linter rules?",
    "documentation": r"docs|documentation|doc ?strings?|document the|readme|changelog|code comments?|typos?|licen[cs]e",
    "file operations": r"file operations?|(?:rename|move|copy|delete|remove) (?:\w+ ){0,3}(?:files?|folders?|modules?)",
    "dependency update": r"dependency updates?|dependencies|bump|upgrade \w+ to|pin versions?|lock ?files?",
}
"""Kept to words that mean little else: a `settings page` or `comments on posts` is a feature."""
ORDINARY_WORK = {
    "feature": r"feature|implement|add|create|build|support|page|form|screen|view|command|button",
    "tests": r"tests?|coverage|fixtures?",
    "bug fix": r"bugs?|fix(?:es)?|repro(?:duce|duction)?|crash(?:es)?|regression",
    "migration": r"migrations?|migrate|schemas?|tables?|models?",
    "endpoint": r"endpoints?|apis?|routes?|handlers?|webhooks?",
    "review": r"reviews?",
}
HIGH = {
    "architecture": r"architect(?:ure|ural)?|re-?design|re-?architect|rewrite the|plug-?in system|state machine",
    "security": r"security|vulnerabilit(?:y|ies)|threat model|cryptograph(?:y|ic)|encrypt(?:ion|ed)?|sandbox(?:ing)?|"
    r"privilege escalation|(?:sql|code|command|prompt) injection|csrf|xss|audits?(?! (?:log|trail))",
    "several systems": r"multi-?(?:system|service|tenant|region)|distributed|cross-(?:service|system|platform)|"
    r"micro-?services?|across (?:services|systems)|consensus|replication",
    "concurrency": r"race conditions?|deadlocks?|concurren(?:t|cy)|thread[- ]safe(?:ty)?|lock-free",
    "performance": r"performance|optimi[sz](?:e|ation)|latency|throughput|memory leaks?|profiling|scal(?:ing|ability)",
    "many files": r"(?:[5-9]|\d{2,}|five|six|seven|eight|nine|ten|many)\+? files|whole code ?base|"
    r"complex interactions?",
}


def _compiled(families: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for name, words in families.items()}


_LOW, _ORDINARY, _HIGH = _compiled(LOW), _compiled(ORDINARY_WORK), _compiled(HIGH)


READ = 20_000
"""Characters of a task's words that are looked at."""


class Measured(Struct, frozen=True, kw_only=True):
    """A task's complexity. `uncertain`: nothing speaks for a score, or words speak against each other."""

    score: int
    uncertain: bool = False
    why: str = ""
    """What was found, in words."""

    @property
    def tier(self) -> str:
        return tier(self.score)


def tier(score: int) -> str:
    return "simple" if score <= SIMPLE_TO else "moderate" if score <= MODERATE_TO else "complex"


@lru_cache(maxsize=2048)
def assess(spec: TaskSpec) -> Measured:
    """The plan's own figure, else an estimate. Asked for at every frame of the dashboard, so remembered."""
    if spec.complexity is not None:
        return Measured(score=max(0, min(MAX, spec.complexity)), why="the plan says so")
    low, hard = _families(_LOW, spec.title), _families(_HIGH, spec.title)
    described = [name for name in _families(_HIGH, spec.description) if name not in hard]
    ordinary = _families(_ORDINARY, spec.title)
    shape, shown = _shape(spec)
    score = ORDINARY + shape
    if low:
        score -= 2 + len(low)
    if hard:
        score += 3 + min(len(hard), 4)
    score += 2 * min(len(described), 2)
    found = [*low, *hard, *described, *shown] or ordinary
    contradiction = bool(low and (hard or shape > 1))
    return Measured(
        score=max(0, min(MAX, score)),
        uncertain=contradiction or not found,
        why=("speaks for and against: " if contradiction else "") + ", ".join(found)
        if found
        else "nothing to judge by",
    )


def _families(patterns: dict[str, re.Pattern[str]], text: str) -> list[str]:
    return [name for name, pattern in patterns.items() if pattern.search(text, 0, READ)]


def _shape(spec: TaskSpec) -> tuple[int, list[str]]:
    """Points for what can be counted: places to touch, criteria, dependencies, length."""
    facts = [
        (2 if len(spec.scope) >= 5 else 0, f"{len(spec.scope)} places in scope"),
        (2 if len(spec.accept) >= 8 else 1 if len(spec.accept) >= 5 else 0, f"{len(spec.accept)} criteria"),
        (1 if len(spec.depends_on) >= 3 else 0, f"{len(spec.depends_on)} dependencies"),
        (1 if len(spec.verify) >= 3 else 0, f"{len(spec.verify)} verify commands"),
        (1 if len(spec.description) >= 1500 else 0, "a long description"),
    ]
    return sum(points for points, _ in facts), [words for points, words in facts if points]


def rung_index(score: int | None, uncertain: bool, rungs: tuple[Rung, ...]) -> int:
    """Low → the first rung, high → the last; the rest, and what is uncertain or unknown, → sonnet or the middle."""
    if not uncertain and score is not None and score <= SIMPLE_TO:
        return 0
    if not uncertain and score is not None and score > MODERATE_TO:
        return len(rungs) - 1
    named = [index for index, rung in enumerate(rungs) if "sonnet" in f"{rung.name} {rung.model}".lower()]
    return named[0] if named else max(0, (len(rungs) - 1) // 2)


def start_rung(spec: TaskSpec, measured: Measured, rungs: tuple[Rung, ...]) -> tuple[int, str]:
    """Where a task starts, and why. The rung the plan names wins."""
    for index, rung in enumerate(rungs):
        if spec.agent and rung.name.lower() == spec.agent.lower():
            return index, f"the plan asks for {rung.name}"
    index = rung_index(measured.score, measured.uncertain, rungs)
    words = (
        f"complexity {measured.score}/{MAX} ({'uncertain' if measured.uncertain else measured.tier}: {measured.why})"
    )
    missing = f"no rung is called {spec.agent}; " if spec.agent else ""
    return index, f"{missing}{words}"
