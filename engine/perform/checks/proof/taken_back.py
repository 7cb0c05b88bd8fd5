"""A change in several places of old lines: each alone taken back must be noticed by a test.

`a <= x <= b` that became `a < x < b` to mend one end has changed the other one too. Where one sign, with the old one
back in its place, leaves every test green, nothing shows that this part of the change is wanted.
"""

from __future__ import annotations

import asyncio
import difflib
import io
import tokenize
import warnings
from collections.abc import Sequence

from engine.core.grants import Rule
from engine.core.model import Proof, Struct
from engine.perform.checks.proof import text_conditions
from engine.perform.checks.proof.faults import Fault, unproven
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.seen_cases import COLLECT, by_id
from engine.perform.checks.proof.source_text import shell_by_its_first_line
from engine.perform.checks.proof.source_tokens import TokenKind, tokens
from engine.perform.checks.proof.trial import Ahead, Trial
from engine.perform.checks.proof.unneeded_conditions import conditions
from engine.perform.checks.run.measure import BAD, Measurement
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

RUNNERS = frozenset({"pytest", "unittest"})
MOST = 2
MOST_IDLE = 4
LONGEST = 30.0
"""Seconds that a whole run may take to be made again for this."""
WORDS = frozenset({"and", "or", "True", "False", "min", "max", "any", "all", "in", "is", "not"})
BRACKETS = frozenset("()[]{},;:.")
_LEFT_OUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})


class Part(Struct, frozen=True, kw_only=True):
    """One sign of the change, and the file with the old one back."""

    path: str
    line: int
    was: str
    now: str
    source: bytes
    sign: bool = False
    """A sign or number that took the place of another; else a condition."""
    idle: bool = False
    """A condition that hangs on nothing that is given."""


def parts(path: str, before: bytes, after: bytes) -> list[Part]:
    """Signs, numbers and a few words that took the place of others, where the change to the file is more than one."""
    old, new = _tokens(before), _tokens(after)
    was_texts, now_texts = ([token.string for token in some] for some in (old, new))
    steps = difflib.SequenceMatcher(None, was_texts, now_texts, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    if len(changed) < 2:
        return []
    found = []
    for tag, first, last, start, end in changed:
        if tag != "replace" or last - first != 1 or end - start != 1:
            continue
        was, now = old[first], new[start]
        if was.type == now.type and _small(was) and _small(now):
            source = _put_back(after, now, was.string)
            if source is not None:
                line = now.start[0]
                found.append(Part(path=path, line=line, was=was.string, now=now.string, source=source, sign=True))
    return found


def _tokens(source: bytes) -> list[tokenize.TokenInfo]:
    try:
        every = list(tokenize.generate_tokens(io.StringIO(source.decode("utf-8", "replace")).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return []
    return [token for token in every if token.type not in _LEFT_OUT]


def text_parts(path: str, before: bytes, after: bytes) -> list[Part]:
    """The same by the words and signs of JavaScript, Go and C."""
    if language_of(path) not in text_conditions.LANGUAGES - {"shell"}:
        return []
    text = after.decode("utf-8", "replace")
    old, new = tokens(before.decode("utf-8", "replace")), tokens(text)
    steps = difflib.SequenceMatcher(
        None, [token.text for token in old], [token.text for token in new], autojunk=False
    ).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    found = []
    for tag, first, last, start, end in changed if len(changed) > 1 else ():
        if tag == "replace" and last - first == end - start == 1:
            was, now = old[first], new[start]
            plain = was.kind is now.kind and was.kind in (TokenKind.SIGN, TokenKind.NUMBER)
            begins = start > 2 and new[start - 1].text == "=" and "for" in (new[start - 3].text, new[start - 4].text)
            if plain and not begins and was.text not in BRACKETS and now.text not in BRACKETS:
                source = text[: now.at] + was.text + text[now.end :]
                line = text.count("\n", 0, now.at) + 1
                found.append(Part(path=path, line=line, was=was.text, now=now.text, source=source.encode(), sign=True))
    return found


def _small(token: tokenize.TokenInfo) -> bool:
    return token.type in (tokenize.OP, tokenize.NUMBER) or token.string in WORDS


def _put_back(after: bytes, token: tokenize.TokenInfo, was: str) -> bytes | None:
    lines = after.decode("utf-8", "replace").splitlines(keepends=True)
    row, column = token.start
    line = lines[row - 1]
    lines[row - 1] = line[:column] + was + line[column + len(token.string) :]
    text = "".join(lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "taken back", "exec")
    except (SyntaxError, ValueError):
        return None
    return text.encode()


def _pool(trial: Trial) -> list[Part]:
    files = [
        (one.path, trial.change.had(one), one.after)
        for one in trial.change.owned
        if one.owner is Owner.SUBJECT and one.after is not None
        if trial.change.had(one) is not None or not _is_python(one.path)
    ]
    words = trial.change.ground.words
    signs: list[Part] = []
    wide: list[Part] = []
    for path, before, after in files:
        old = before or b""
        signs += parts(path, old, after) if _is_python(path) else text_parts(path, old, after)
        language = language_of(path) or shell_by_its_first_line(after)
        if _is_python(path):
            found = conditions(old, after, words)
        else:
            found = (
                text_conditions.conditions(old, after, language, words) if language in text_conditions.LANGUAGES else []
            )
        wide += [
            Part(path=path, line=one.line, was=f"“{one.always}”", now=f"“{one.text}”", source=one.source, idle=one.idle)
            for one in found
        ]
    idle = [part for part in wide if part.idle]
    return [*idle[:MOST_IDLE], *signs[:MOST], *[part for part in wide if not part.idle][:MOST]]


def _is_python(path: str) -> bool:
    return path.endswith(".py")


async def taken_back_ahead(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Ahead]:
    """The runs of the file that proves the change which `unnoticed` will ask for first."""
    files = [proof.path for proof in proofs if proof.check == spec.name and proof.path.endswith(".py")][:1]
    if spec.runner not in RUNNERS or not files:
        return []
    return [await _alone(trial, part, files[0]) for part in _pool(trial)]


async def _alone(trial: Trial, part: Part, file: str) -> Ahead:
    tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r2, {part.path: part.source})
    return Ahead(tree=tree, files=(file,), ask=trial.on_base())


async def unnoticed(
    trial: Trial, specs: Sequence[CheckSpec], now: dict[str, Measurement], proofs: Sequence[Proof] = ()
) -> list[Fault]:
    """The first parts of a change, each taken back alone, that no check of tests notices.

    The first file that proves the change is asked alone: mostly it notices, and the others need not be.
    """
    pool = _pool(trial)
    if proofs and all(proof.kind == "fixed" for proof in proofs):
        # The user's own test was red: an end that it leaves open is the user's, and a fix may well mend both.
        pool = [part for part in pool if not part.sign]
    seconds = sum(one.seconds for one in now.values())
    if not pool or not specs or seconds > LONGEST:
        return []
    for part in pool:
        if await _noticed(trial, specs, part, proofs):
            continue
        tree = await asyncio.to_thread(trial.trees.edit, trial.change.rooms.r4, {part.path: part.source})
        runs = await trial.whole("taken back", tree, specs)
        if all(_as_good(run, now.get(run.check)) for run in runs):
            text = f"{part.path}:{part.line} with {part.was} in place of {part.now} every test is green"
            more = "it hangs on nothing that is given, and" if part.idle else ""
            more += " nothing shows that this part of the change is wanted"
            return [unproven(Rule.MORE_CHANGED, f"{text}: {more.strip()}", path=part.path, line=part.line)]
    return []


async def _noticed(trial: Trial, specs: Sequence[CheckSpec], part: Part, proofs: Sequence[Proof]) -> bool:
    """Whether a test that proves the change is red without this part of it."""
    for spec in specs:
        mine = {proof.name: proof.path for proof in proofs if proof.check == spec.name and proof.path}
        if mine and runner_of(spec).picks_files:
            run = await _alone(trial, part, next(iter(mine.values())))
            seen = await trial.files("taken back", run.tree, spec, run.files, run.ask)
            cases = [case for one in seen for case in by_id(one).values()]
            if any(case.outcome in BAD and (case.id in mine or case.error == COLLECT) for case in cases):
                return True
    return False


def _as_good(run: Measurement, now: Measurement | None) -> bool:
    if run.ended != "exited":
        return False
    if now is not None and not now.report.counts_tests:
        return run.exit_code == 0 == now.exit_code
    if not run.report.complete or not run.report.cases:
        return False
    bad, known = ({case.id for case in by_id(one).values() if case.outcome in BAD} for one in (run, now))
    return bad <= known
