"""Expected data that the change wrote, with other answers in it: tests that stay green compare nothing with it.

A comparison that masks what differs, a test that writes the file before it reads it, a program that prints the file:
it stands there with the right answer or a wrong one, and no test hangs on it.
"""

from __future__ import annotations

import asyncio
import difflib
import posixpath
import re
from collections.abc import Collection, Sequence

from engine.core.grants import Rule
from engine.core.model import Proof
from engine.perform.checks.proof.faults import Fault, unproven
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.seen_cases import by_id
from engine.perform.checks.proof.told_words import MOST
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.measure import BAD
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

MOST_FILES = 2
MOST_TESTS = 3
SCATTERED = 3
"""Lines whose numbers nobody compares: one or two may be a date that a test leaves out."""
_EXPECTED = re.compile(
    r"(?:^|[/._-])(?:golden|expect\w*|snap\w*|approved|want(?:ed)?|ref|reference|out(?:put)?)s?(?=[/._-]|$)", re.I
)
_LISTS = re.compile(r"glob|iterdir|listdir|scandir|os\.walk|ReadDir|readdir|\bls\b|find\b|\*\.", re.IGNORECASE)
_BESIDE_SUBJECT = frozenset({Owner.DATA, Owner.SUPPORT, Owner.NEW_SUPPORT, Owner.TEST, Owner.NEW_TEST})


def is_expected(path: str) -> bool:
    """By its name or its folder's: what a program is compared with. What it reads may say things nobody looks at."""
    return not language_of(path) and _EXPECTED.search(path) is not None


def told_otherwise(before: bytes | None, after: bytes, *, numbers: bool) -> tuple[bytes, int] | None:
    """The file with every digit (every letter) of the lines that came another one, and how many lines that are."""
    if len(after) > MOST or (before is not None and len(before) > MOST):
        return None
    try:
        old, new = (before or b"").decode().splitlines(keepends=True), after.decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        return None
    count = 0
    for tag, _, _, start, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for at in range(start, stop) if tag in ("insert", "replace") else ():
            line = re.sub(r"\d" if numbers else r"[^\W\d_]", lambda one: _other(one[0]), new[at])
            count += line != new[at]
            new[at] = line
    return ("".join(new).encode(), count) if count else None


def _other(sign: str) -> str:
    if sign.isdigit():
        return str((int(sign) + 1) % 10)
    return ("y" if sign.islower() else "Y") if sign in "xX" else ("x" if sign.islower() else "X")


def spoken_of(path: str, tests: Collection[str]) -> bool:
    """A test names the file, or its folder and goes through what is there."""
    name, folder = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
    stem = name.partition(".")[0]
    return any(
        re.search(rf"(?<![\w.]){re.escape(name)}", text)
        or (
            folder
            and re.search(rf"(?<!\w){re.escape(folder)}(?!\w)", text)
            and (re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", text) or _LISTS.search(text))
        )
        for text in tests
    )


async def deaf_data(trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof]) -> list[Fault]:
    """The first file of expected data whose answers no test hears."""
    data = [one for one in trial.change.owned if one.owner in _BESIDE_SUBJECT and is_expected(one.path)]
    for one in [one for one in data if one.after is not None][:MOST_FILES]:
        for spec in specs:
            mine = [proof for proof in proofs if proof.check == spec.name]
            if mine and await _is_deaf(trial, spec, one, mine):
                text = f"the tests pass whatever {one.path} says: nothing is compared with it"
                return [unproven(Rule.OWN_EXPECTATION, text, path=one.path)]
    return []


_OUTPUT = re.compile(r"(?:^|[/._-])out(?:put)?s?(?=[/._-]|$)", re.IGNORECASE)
"""What a run writes to look at it afterwards may lie there as well."""
_WRITES = re.compile(
    r"\bwrite_(?:text|bytes)\(|\bopen\([^)\n]*,\s*[\"'][wax]|\bwriteFile(?:Sync)?\(|\bWriteFile\(|\bos\.Create\(|\bcopy\w*\("
    r"|\btee\b|\b(?:cp|mv)\s+\S|(?<![-=<>&\d])>{1,2}\s*[\"$\w/]"
)
"""In a test: something may be put where the next line reads it."""


async def records(trial: Trial, specs: Sequence[CheckSpec], proofs: Sequence[Proof], fresh: str) -> list[Fault]:
    """Tests that write the expected data they compare with, where the change has none: the answer is held to itself.

    `fresh`: the new lines of the tests and of what helps them.
    """
    if not _WRITES.search(fresh):
        return []
    for spec in specs:
        paths = tuple(dict.fromkeys(proof.path for proof in proofs if proof.check == spec.name and proof.path))
        picks = runner_of(spec).picks_files
        files = trial.files_for(spec, paths[:MOST_TESTS]) if picks else ()
        if (picks and not files) or not any(proof.check == spec.name for proof in proofs):
            continue
        left = await trial.leavings(spec, trial.change.rooms.r4, files)
        if wrote := [path for path in left if is_expected(path) and not _OUTPUT.search(path)]:
            text = f"the tests write {wrote[0]} themselves, and compare with what they wrote"
            return [unproven(Rule.OWN_EXPECTATION, text, path=wrote[0])]
    return []


async def _is_deaf(trial: Trial, spec: CheckSpec, one: Owned, proofs: Sequence[Proof]) -> bool:
    rooms = trial.change.rooms
    files: tuple[str, ...] = ()
    if runner_of(spec).picks_files:
        paths = dict.fromkeys(proof.path for proof in proofs if proof.path)
        texts = await asyncio.to_thread(trial.trees.contents, rooms.r4, list(paths))
        naming = [path for path, text in texts.items() if spoken_of(one.path, [text.decode("utf-8", "replace")])]
        files = trial.files_for(spec, naming[:MOST_TESTS])
        if not files:
            return False
    lost = 0
    for numbers in (True, False):
        made = told_otherwise(one.before, one.after or b"", numbers=numbers)
        if made is None:
            continue
        tree = await asyncio.to_thread(trial.trees.edit, rooms.r4, {one.path: made[0]})
        if files:
            runs = await trial.files("expected data", tree, spec, files, trial.on_base())
        else:
            runs = await trial.whole("expected data", tree, [spec])
        red = any(case.outcome in BAD for run in runs for case in by_id(run).values())
        if red or any(run.ended != "exited" or run.exit_code != 0 for run in runs):
            return lost >= SCATTERED
        lost += made[1]
    return lost > 0
