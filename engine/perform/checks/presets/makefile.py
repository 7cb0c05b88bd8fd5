"""Makefiles, read just far enough: which recipes, prerequisites and variables the targets of the checks depend on."""

from __future__ import annotations

import re

from engine.core.model import Struct

TARGET = re.compile(r"^(?P<names>[^\s:=#][^:=#]*):(?!=)(?P<needs>[^=]*)$")
VARIABLE = re.compile(r"^(?:export\s+|override\s+)?(?P<name>[\w.-]+)\s*(?::|\?|\+|!)?=")
DIRECTIVE = re.compile(r"^(-?include|sinclude|export|unexport|ifn?eq|ifn?def|else|endif|define|vpath|\.[A-Z]+)")
ALWAYS = ("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "PATH")


class Makefile(Struct, frozen=True, kw_only=True):
    """What a makefile says, in its order."""

    targets: dict[str, tuple[str, list[str]]]
    """What each needs, and its recipe."""
    variables: dict[str, list[str]]
    directives: list[str]

    def default(self) -> set[str]:
        """The target that `make` alone makes."""
        return set(list(self.targets)[:1])


def parse(text: str) -> Makefile:
    targets: dict[str, tuple[str, list[str]]] = {}
    variables: dict[str, list[str]] = {}
    directives: list[str] = []
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for name in current:
                needs, recipe = targets[name]
                targets[name] = (needs, [*recipe, line.strip()])
        elif DIRECTIVE.match(line):
            directives.append(line.strip())
            current = []
        elif (match := VARIABLE.match(line)) is not None:
            variables.setdefault(match["name"], []).append(line.strip())
            current = []
        elif (match := TARGET.match(line.rstrip())) is not None:
            current = match["names"].split()
            for name in current:
                needs, recipe = targets.get(name, ("", []))
                targets[name] = (needs + " " + match["needs"].strip(), recipe)
    return Makefile(targets=targets, variables=variables, directives=directives)


def makefile_steering(old: str, new: str, used: set[str], *, default: bool = False) -> list[str]:
    """What changed of the targets in `used` (none: of none), of what they need and of the variables they mention.

    `default`: a check also makes what `make` alone makes.
    """
    before, after = parse(old), parse(new)
    used = used | (before.default() | after.default() if default else set())
    if not used:
        return []
    targets, variables, directives = before.targets, before.variables, _without_phony(before, after)
    targets_now, variables_now, directives_now = after.targets, after.variables, _without_phony(after, after)
    reasons = [] if directives == directives_now else ["directives"]
    pending, seen, texts = sorted(used), set[str](), [""]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        here, there = targets.get(name), targets_now.get(name)
        if here != there:
            reasons.append(f"target {name}")
        for needs, recipe in filter(None, (here, there)):
            pending += needs.replace("|", " ").split()
            texts += [needs, *recipe]
    mentioned = set(ALWAYS)
    pending_texts = texts
    while pending_texts:
        names = set(re.findall(r"\$[({]([\w.-]+)[)}]", " ".join(pending_texts))) - mentioned
        mentioned |= names
        pending_texts = [line for name in names for line in (*variables.get(name, ()), *variables_now.get(name, ()))]
    reasons += [f"variable {name}" for name in sorted(mentioned) if variables.get(name) != variables_now.get(name)]
    return reasons


def _without_phony(makefile: Makefile, now: Makefile) -> list[str]:
    """The directives; a target that is phony now as well is left out, one that no longer is stays."""
    kept = {word for line in now.directives if line.startswith(".PHONY") for word in line.split()}
    return [line for line in makefile.directives if not (line.startswith(".PHONY") and set(line.split()) <= kept)]
