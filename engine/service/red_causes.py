"""Tests that are red in the checkout's copy and in the clone alike, for want of something outside of the repository."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from engine.perform.checks.presets.dependencies import declared
from engine.perform.checks.presets.package import Package
from engine.perform.checks.run.measure import BAD, PASSED
from engine.perform.checks.run.uncollectable import lacked
from engine.service.clone_cures import Tried
from engine.service.findings import Finding

NO_FILE = re.compile(
    r"No such file or directory: b?'([^'\n]+)'|ENOENT: no such file or directory, \w+ '([^'\n]+)'"
    r"|open ([^\s:]+): no such file or directory"
)
"""As Python, node and Go say it."""


def red_causes(one: Tried, checkout: Path, home: Path) -> Iterator[Finding]:
    """Files of the user's that the sandbox hides, and declared packages that are not installed, with their line.

    By what red tests say, held against what is there: a file that nobody has and a package that nobody declares may be
    what a task is about.
    """
    cases = one.there.report.cases
    bad = [case.text for case in cases if case.outcome in BAD]
    if not bad or not any(case.outcome == PASSED for case in cases):
        return
    hidden = Counter(place for text in bad for place in _hidden(text, checkout / one.spec.folder, checkout, home))
    for place, count in hidden.most_common(3):
        tests = "a test that is red reads" if count == 1 else f"{count} tests that are red read"
        words = f"{one.spec.name}: {tests} {place}, which checks do not see"
        yield Finding(mark="note", what="outside", found=words, hint=f'workspace.mounts = ["{place}"]')
    wanted = declared(Package(checkout, one.spec.folder, lambda _name: None))
    missing = Counter(name for text in bad if (name := lacked(text, wanted)))
    for name, count in missing.most_common(3):
        tests = "1 test is" if count == 1 else f"{count} tests are"
        install = f"{one.spec.command[0]} -m pip install {name}" if one.spec.runner in PYTHON else "npm install"
        words = f"{one.spec.name}: {tests} red because {name} is not installed here"
        yield Finding(mark="note", what="not installed", found=words, hint=install)


PYTHON = ("pytest", "unittest", "django")


def _hidden(text: str, folder: Path, checkout: Path, home: Path) -> set[str]:
    """Files or folders named there that the user has outside of the checkout, as workspace.mounts has them."""
    found = set()
    for match in NO_FILE.finditer(text):
        path = folder / next(name for name in match.groups() if name)
        try:
            real = Path(os.path.realpath(path))
            there = real.exists() and not real.is_relative_to(os.path.realpath(checkout))
        except (OSError, ValueError):
            continue
        if there:
            inside = real.is_relative_to(home)
            found.add(f"~/{real.relative_to(home)}" if inside else str(real))
    return found
