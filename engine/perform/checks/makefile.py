"""Makefiles, read just far enough: which recipes, prerequisites and variables the targets of the checks depend on."""

from __future__ import annotations

import re

TARGET = re.compile(r"^(?P<names>[^\s:=#][^:=#]*):(?!=)(?P<needs>[^=]*)$")
VARIABLE = re.compile(r"^(?:export\s+|override\s+)?(?P<name>[\w.-]+)\s*(?::|\?|\+|!)?=")
DIRECTIVE = re.compile(r"^(-?include|sinclude|export|unexport|ifn?eq|ifn?def|else|endif|define|vpath|\.[A-Z]+)")
ALWAYS = ("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "PATH")


def _parse(text: str) -> tuple[dict[str, tuple[str, list[str]]], dict[str, list[str]], list[str]]:
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
    return targets, variables, directives


def makefile_steering(old: str, new: str, used: set[str]) -> list[str]:
    """What changed of the targets in `used` (none: of none), of what they need and of the variables they mention."""
    if not used:
        return []
    (targets, variables, directives), (targets_now, variables_now, directives_now) = _parse(old), _parse(new)
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
