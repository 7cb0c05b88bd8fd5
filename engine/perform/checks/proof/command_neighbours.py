"""The proofs of a plain command among their neighbours: where its tests are shell scripts. Two runs; it only asks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from msgspec.structs import replace

from engine.core.grants import Rule
from engine.core.model import Proof
from engine.perform.checks.proof import varied_shell
from engine.perform.checks.proof.changed_lines import changed_lines
from engine.perform.checks.proof.faults import Fault, question
from engine.perform.checks.proof.not_done import added_text
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

MOST_FILES = 2
LONGEST = 30.0
"""Seconds that the command may take to be run twice more."""


async def command_faults(trial: Trial, spec: CheckSpec, proofs: Sequence[Proof]) -> list[Fault]:
    """What has to be asked about the lines of shell that prove a change."""
    r0 = trial.reference.of(spec)
    if runner_of(spec).picks_files or not proofs or r0 is None or r0.seconds > LONGEST:
        return []
    rooms, owned = trial.change.rooms, trial.change.owned
    found: list[Fault] = []
    scripts = [one for one in owned if one.owner is not Owner.SUBJECT and one.after is not None]
    for one in [one for one in scripts if varied_shell.is_shell(one.path, one.after or b"")][:MOST_FILES]:
        made = varied_shell.varied(one.after or b"", sorted(changed_lines(one.before, one.after)))
        if made is None:
            continue
        text, copies = made
        seen = []
        for name, tree in (("neighbours", rooms.r2), ("neighbours R3", rooms.r3)):
            edited = await asyncio.to_thread(trial.trees.edit, tree, {one.path: text})
            runs = await trial.whole(name, edited, [spec])
            seen.append(varied_shell.told(runs[0].output))
        for doubt in varied_shell.doubts(copies, seen[1], seen[0]):
            if (words := _borne_out(doubt, owned, trial.change.ground.words)) is not None:
                where = f"{one.path}:{doubt.line}"
                said = " and ".join(words)
                text_ = f"{where}: {doubt.others} inputs beside {said} give what they gave before the change"
                fault = question(
                    Rule.SPECIAL_CASED, text_, f"accept {Rule.SPECIAL_CASED} in {one.path}", None, spec.name
                )
                found.append(replace(fault, path=one.path, line=doubt.line))
    return found[:1]


def _borne_out(doubt: varied_shell.Doubt, owned: Sequence[Owned], words: str) -> tuple[str, ...] | None:
    """The words of the line that the change itself has, and the task does not speak of beside its examples."""
    prose = re.sub(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\w+\([^()]*\)", " ", words)
    left = tuple(word for word in doubt.words if not re.search(rf"(?<![\w.]){re.escape(word)}(?![\w]|\.\d)", prose))
    mine = [one for one in owned if one.owner is Owner.SUBJECT]
    added = "\n".join(added_text(one.before, one.after) for one in mine)
    had = b"\n".join(one.before or b"" for one in mine).decode("utf-8", "replace")
    return tuple(word for word in left if _has(added, word) and not _has(had, word)) or None


def _has(text: str, word: str) -> bool:
    edge = r"\w" if re.search(r"\w", word) else r"(?!)"
    return re.search(rf"(?<!{edge}){re.escape(word)}(?!{edge})", text) is not None
