"""Checks of the packages a change touches: in a monorepo a task is judged by what it can have broken."""

from __future__ import annotations

from collections.abc import Sequence

from engine.globs import matches
from engine.perform.checks.run.spec import CheckSpec


def needed(specs: Sequence[CheckSpec], changed: Sequence[str]) -> tuple[CheckSpec, ...]:
    """Those that judge a changed file. A file that no package's check claims may matter to all of them: then all.

    The final checks of a sprint run every check, whatever was touched.
    """
    claimed = [spec for spec in specs if spec.paths]
    if not claimed or not changed:
        return tuple(specs)
    for path in changed:
        if not any(matches(path, spec.paths) for spec in claimed):
            return tuple(specs)
    wanted = tuple(spec for spec in specs if not spec.paths or any(matches(path, spec.paths) for path in changed))
    return wanted if any(spec.required for spec in wanted) else tuple(specs)
