"""A command whose scripts or settings a change edits, with leave: it must still be able to say no.

It is run once more over the change with every program of the subject emptied. Where the base's command fails on that
and the change's does not, it does not look any more: a failure, whatever the plan allows.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping

from engine.perform.checks.proof.faults import Fault, fail
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.owned import Owner
from engine.perform.checks.proof.trial import Trial
from engine.perform.checks.run.runners import runner_of
from engine.perform.checks.run.spec import CheckSpec

EDITED = frozenset({Owner.SUPPORT, Owner.CONFIG, Owner.STEERING, Owner.DATA, Owner.TEST})
MOST_FILES = 400


async def blind_faults(trial: Trial, spec: CheckSpec) -> list[Fault]:
    """For a check judged by its exit code alone; runners of our own plant tests that must fail."""
    change = trial.change
    edited = [one.path for one in change.owned if one.owner in EDITED and one.after is not None]
    if runner_of(spec).picks_files or not edited:
        return []
    r0 = trial.reference.of(spec)
    if r0 is None or r0.report.counts_tests:
        return []
    emptied = []
    for tree in (change.rooms.base, change.rooms.r4):
        paths = await asyncio.to_thread(trial.trees.files, tree)
        programs = [path for path in paths if language_of(path) or _is_program(trial, tree, path)]
        chain = started_by(spec, change.ground.sources)
        subject = [
            path
            for path in programs
            if path not in edited and not change.ground.is_test(path) and path.rpartition("/")[2] not in chain
        ]
        if not subject or len(subject) > MOST_FILES:
            return []
        emptied.append(await asyncio.to_thread(trial.trees.edit, tree, dict.fromkeys(subject, b"")))
    base = (await trial.whole("emptied", emptied[0], [spec]))[0]
    if base.ended != "exited" or base.exit_code in (0, None, 126, 127):
        return []  # the base's own command does not notice: nothing follows
    now = (await trial.whole("emptied R4", emptied[1], [spec]))[0]
    if now.ended == "exited" and now.exit_code == 0:
        text = (
            f"{spec.name} passes even with every program emptied, since {edited[0]} was changed; on the base it fails"
        )
        return [fail("blind", text, check=spec.name)]
    return []


def started_by(spec: CheckSpec, sources: Mapping[str, bytes]) -> str:
    """The command, and what the recipes of the targets that it names say: whoever stands there runs the tests."""
    told = " ".join(spec.command)
    words = set(re.findall(r"[\w.-]+", told))
    for path, text in sources.items():
        if path.rpartition("/")[2].lower() not in ("makefile", "gnumakefile"):
            continue
        lines = text.decode("utf-8", "replace")
        for _ in range(4):  # a target may need others
            for target in re.finditer(r"^([\w. -]+):([^=\n][^\n]*|)\n((?:\t[^\n]*\n?)*)", lines, re.MULTILINE):
                if words & set(target[1].split()):
                    words |= set(target[2].split())
                    told += "" if target[3] in told else f" {target[3]}"
    return told


def _is_program(trial: Trial, tree: str, path: str) -> bool:
    if "." in path.rpartition("/")[2] and not path.endswith((".sh", ".awk", ".sed")):
        return False
    return (trial.trees.show(tree, path) or b"").startswith(b"#!")
