"""A recipe of checks that only grew: the commands it had are all there, in their order, and others come after. Pure.

Such an edit takes nothing away, so it is support for the tests that the change adds: in R2 and R3 with them, not in R1.
"""

from __future__ import annotations

import re

from engine.perform.checks.presets import project_files as reading
from engine.perform.checks.presets.makefile import parse

MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
_HIDES = re.compile(r"\|\||;|\||(?<!&)&(?!&)|\bexit\b|\btrue\b|^\s*-|^\s*@-|\bset\b|\$\(shell|`")
"""What may hide that a command failed."""


def only_grew(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether a file of recipes differs only by commands that were added behind those it had."""
    if before is None or after is None or before == after:
        return False
    old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    name = path.rpartition("/")[2]
    if name == "package.json":
        return _package_grew(old, new)
    return name in MAKEFILES and _makefile_grew(old, new)


def _package_grew(old: str, new: str) -> bool:
    before, after = reading.as_json(old), reading.as_json(new)
    was, now = reading.table(before, "scripts"), reading.table(after, "scripts")
    if {**before, "scripts": None} != {**after, "scripts": None} or not set(was) <= set(now):
        return False
    grown = [name for name in was if was[name] != now[name]]
    hooks = [name for name in set(now) - set(was) if name.startswith(("pre", "post"))]
    return bool(grown) and not hooks and all(_appended(str(was[name]), str(now[name])) for name in grown)


def _appended(was: str, now: str) -> bool:
    more = now.removeprefix(f"{was} && ")
    return more != now and not _HIDES.search(was) and not _HIDES.search(more)


def _makefile_grew(old: str, new: str) -> bool:
    before, after = parse(old), parse(new)
    if before.variables != after.variables or not _more(before.directives, after.directives):
        return False
    if not set(before.targets) <= set(after.targets) or list(before.targets)[:1] != list(after.targets)[:1]:
        return False
    grown = [name for name, rule in before.targets.items() if rule != after.targets[name]]
    for name in grown:
        (needs, recipe), (needs_now, recipe_now) = before.targets[name], after.targets[name]
        more = recipe_now[len(recipe) :]
        if recipe_now[: len(recipe)] != recipe or any(map(_HIDES.search, more)):
            return False
        if needs_now.split()[: len(needs.split())] != needs.split():
            return False
    return bool(grown)


def _more(before: list[str], after: list[str]) -> bool:
    """The same directives; only .PHONY may name more."""
    others = [[line for line in lines if not line.startswith(".PHONY")] for lines in (before, after)]
    phony = [
        {word for line in lines if line.startswith(".PHONY") for word in line.split()} for lines in (before, after)
    ]
    return others[0] == others[1] and phony[0] <= phony[1]
