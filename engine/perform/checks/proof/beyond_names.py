"""A rename or move that does more than that: the program under the new names is not the program that was there. Pure.

The words of the task let old tests be rewritten by the names. Whatever else the change does hides behind that, and the
tests that would show it may not be there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engine.core.grants import Grant, GrantKind
from engine.core.harmless import HarmlessKind, kinds_of
from engine.core.model import TaskSpec
from engine.perform.checks.proof.found_names import FoundNames, as_grants
from engine.perform.checks.proof.imports import language_of
from engine.perform.checks.proof.moved_whole import moved_whole
from engine.perform.checks.proof.names_only import names_only
from engine.perform.checks.proof.owned import Owned
from engine.perform.checks.proof.permissions import Transformed
from engine.perform.checks.proof.renames import renames_of

_NAMES = (GrantKind.RENAME, GrantKind.MOVE)


def beyond_names(
    task: TaskSpec | None, changed: Sequence[Owned], grants: Sequence[Grant], there: Transformed, files: Collection[str]
) -> str:
    """What to say of a task that asks for names and places alone, and a change that does more; empty: it does not."""
    if task is None or kinds_of(task.proof) != (HarmlessKind.MOVE,):
        return ""
    named = [grant for grant in grants if grant.kind in _NAMES]
    if not named or any(_is_data(end, files) for grant in named for end in (grant.target, grant.to)):
        return ""
    known = {*files, *(one.path for one in changed)}
    plan = renames_of(grants, changed, known)
    found = FoundNames(renames=(*plan, *there.found.renames), grants=(*there.found.grants, *as_grants(plan), *named))
    if moved_whole(changed) or names_only(changed, found, known):
        return ""
    return "the plan asks for names and places alone, and the program is another one under the new names too"


def _is_data(end: str, files: Collection[str]) -> bool:
    """A file that is no source: what reads it has to know the new place."""
    return any(path == end or path.endswith(f"/{end}") for path in files) and not language_of(end)
