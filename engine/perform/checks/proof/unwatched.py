"""What only the change itself stands for: expectations that it wrote, code that no test reads. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from engine.core.grants import Grant
from engine.core.harmless import HarmlessKind
from engine.core.model import CheckKind, Proof, TaskSpec
from engine.globs import matches
from engine.perform.checks.proof.file_grants import file_grant
from engine.perform.checks.proof.golden import stated
from engine.perform.checks.proof.harmless import Source, means_the_same, only_words
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.places import PROSE
from engine.perform.checks.run.measure import Measurement
from engine.plans.leanings import leans, spoken

PATTERN = re.compile(r"[*?\[]")


def written_by_itself(proofs: Sequence[Proof], changed: Sequence[Owned], grants: Sequence[Grant], words: str) -> str:
    """Expected data that only a pattern of the plan covers and nothing states, where no proof has a test of its own.

    `update the snapshots` lets them change; which answer is right it does not say. Who names the file knows it.
    """
    own = {one.path for one in changed if one.owner in (Owner.TEST, Owner.NEW_TEST)}
    if not proofs or any(proof.kind != "new" or not proof.path or proof.path in own for proof in proofs):
        return ""
    for one in changed:
        if one.owner is not Owner.DATA or one.before is None or one.after is None:
            continue
        named = [grant for grant in grants if not PATTERN.search(grant.target)]
        if file_grant(grants, one.path, one.before, one.after) is None or stated(one.before, one.after, words):
            continue
        if file_grant(named, one.path, one.before, one.after) is None:
            return one.path
    return ""


def unwatched(changed: Iterable[Owned], runs: Iterable[Measurement]) -> list[str]:
    """Source files with another meaning than before that no test read; none where reads are not seen.

    A file that is read may still have parts that no test runs: this says nothing of those.
    """
    seen = [run for run in runs if run.kind is CheckKind.TESTS and run.traced == "atime" and run.reads]
    if not seen:
        return []
    read = {path for run in seen for path in run.reads}
    return [
        one.path
        for one in changed
        if one.owner is Owner.SUBJECT and one.after is not None and language_of(one.path) and one.path not in read
        if not means_the_same(Source(path=one.path, before=one.before, after=one.after))
    ]


_ABOUT_WORDS = re.compile(
    r"\btest_\w|\b(?:tests?|fixtures?|specs?|doc\w*|comments?|words?|wording|typos?|spelling|format\w*|reformat\w*|layout|"
    r"white-?space|indent\w*|style|lint\w*|headers?|licen[cs]e|ci|build|config\w*)\b",
    re.I,
)


def same_code(changed: Sequence[Owned], task: TaskSpec) -> bool:
    """Only words of the program differ where its code was to be made anew: nothing was done.

    A task about words, about the tests, or with a file that is no program may well leave the code as it is.
    """
    subject = [one for one in changed if one.owner is Owner.SUBJECT]
    code = [one for one in subject if language_of(one.path)]
    text = "\n".join((task.title, task.description, *task.accept))
    if _ABOUT_WORDS.search(task.title) or leans(HarmlessKind.DOCS, task.title, text):
        return False
    if any(one.before is None or one.after is None for one in code):
        return False
    if any(not language_of(one.path) and not matches(one.path, PROSE) for one in subject):
        return False
    return all(only_words(Source(path=one.path, before=one.before, after=one.after)) for one in code)


def nothing_taken_away(changed: Sequence[Owned], task: TaskSpec) -> bool:
    """Something of the program was to go, and the program is what it was: only its tests and its documents went."""
    if _ABOUT_WORDS.search(task.title) or leans(HarmlessKind.DOCS, task.title, task.title):
        return False
    return bool(changed) and not any(one.owner is Owner.SUBJECT and not matches(one.path, PROSE) for one in changed)


def spoken_of(path: str, task: TaskSpec) -> bool:
    """The plan names the file: by its path, by its words, or as the scope of the task."""
    text = "\n".join((task.title, task.description, *task.accept, *task.scope))
    stem = path.rpartition("/")[2].partition(".")[0]
    exact = [glob for glob in task.scope if not PATTERN.search(glob)]
    return path in text or matches(path, exact) or spoken(stem, text)
