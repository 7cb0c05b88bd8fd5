"""Test files that cannot be loaded because something they declare is not installed: nobody's code can mend that."""

from __future__ import annotations

import re
from collections.abc import Collection

from engine.perform.checks.run.measure import Report

SHORT = 2
MISSING = re.compile(r"No module named '([\w.]+)'|Cannot find (?:module|package) '([^'./][^']*)'")


def not_installed(report: Report, declared: Collection[str]) -> dict[str, str]:
    """By file: the dependency that is missing.

    Only what the project declares: a module that no file has and nobody declares may be what the task is about.
    """
    found = {}
    for case in report.cases:
        if case.error == "CollectError" and (said := MISSING.search(case.text)) is not None:
            module = _distribution(said[1] or said[2]).lower().replace("_", "-")
            if name := next((name for name in sorted(declared) if _provides(name, module)), ""):
                found[case.path or case.id] = name
    return found


def _provides(name: str, module: str) -> bool:
    """PyYAML is imported as yaml, python-dateutil as dateutil."""
    return name == module or (len(module) > SHORT and name in (f"py{module}", f"python-{module}", f"{module}-py"))


def _distribution(module: str) -> str:
    """The name something is installed by, as near as the import tells: `a.b` is a, `@x/y/z` is @x/y."""
    if module.startswith("@"):
        return "/".join(module.split("/")[:2])
    return re.split(r"[./]", module)[0]
