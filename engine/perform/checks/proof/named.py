"""Which red tests of the base a task is about, by its words: those must turn green, whatever else is shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from engine.core.harmless import nothing_to_show
from engine.core.model import Struct, TaskSpec
from engine.perform.checks.run.measure import Case

COMMON = frozenset(
    """
    test tests testing fix fixes fixed bug bugs issue error errors fails failing failure should must when with without
    from into that this then than have does doesn make makes made return returns returned value values function method
    class module file files code case cases correct correctly wrong wrongly work works working handle handles handling
    support supports add adds added new use uses using used change changes improve improved update updates result
    results call calls given some every each only also never always instead raise raises raised
    """.split()  # noqa: SIM905
)
"""Words that say nothing about which test is meant."""


BUG = re.compile(
    r"\b(?:fix\w*|bugs?|broken|wrong\w*|crash\w*|fail\w*|defect|regression|correct\w*|repair)\b", re.IGNORECASE
)


class Named(Struct, frozen=True, kw_only=True):
    """Ids that the task names outright, and ids whose words it shares: these are asked about, words decide nothing."""

    outright: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    hinted: frozenset[str] = frozenset()
    """One word in common, no more."""


def task_text(task: TaskSpec | None) -> str:
    return "\n".join((task.title, task.description, *task.accept)) if task else ""


def named(task: TaskSpec | None, red: Sequence[Case]) -> Named:
    """`red` are the tests that fail on the base."""
    text = task_text(task)
    outright = frozenset(case.id for case in red if _outright(case, text))
    told = _words(text)
    overlaps = {case.id: len(told & _words(_own_name(case.id))) for case in red}
    best = max(overlaps.values(), default=0)
    nearest = frozenset(id for id, score in overlaps.items() if best and score == best) - outright
    # one word in common says something only of a bug, and only where there is nothing else it could mean
    bug = best == 1 and len(red) == 1 and BUG.search(task.title if task else "") is not None
    meant = task is not None and not nothing_to_show(task.proof) and (best >= 2 or bug)
    return Named(
        outright=outright,
        shared=nearest if meant else frozenset(),
        hinted=frozenset() if meant else nearest,
    )


def _outright(case: Case, text: str) -> bool:
    name = _own_name(case.id)
    wanted = [case.id, case.path, case.path.rpartition("/")[2]]
    if len(name) > 8 and ("_" in name or any(letter.isupper() for letter in name[1:])):
        wanted.append(name)
    return any(one and re.search(r"(?<![\w/.])" + re.escape(one) + r"(?!\w|::)", text) for one in wanted)


def _own_name(id: str) -> str:
    return re.split(r"::|\.(?=[^.\s]+$)", id.partition("[")[0])[-1].strip()


def _words(text: str) -> frozenset[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    words = re.findall(r"[a-z]{4,}", spaced.lower().replace("_", " "))
    return frozenset(_stem(word) for word in words if word not in COMMON)


def _stem(word: str) -> str:
    for end in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 4:
            return word[: -len(end)]
    return word


def still_red(names: Named, green: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """(ids that the task names and that are not green, none of those whose words it shares is green)."""
    passed = frozenset(green)
    left = tuple(sorted(names.outright - passed))
    return left, bool(names.shared) and not names.shared & passed
