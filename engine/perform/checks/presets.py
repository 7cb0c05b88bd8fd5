"""Which checks a repository wants, read from its files alone; nothing is run. One file an ecosystem."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from engine.perform.checks.preset_compiled import detect_go, detect_java, detect_make, detect_rust
from engine.perform.checks.preset_javascript import detect_javascript
from engine.perform.checks.preset_python import detect_python
from engine.perform.checks.spec import CheckSpec

Which = Callable[[str], str | None]


def detect(folder: Path, which: Which = shutil.which) -> tuple[CheckSpec, ...]:
    """Checks for the checkout at `folder`. `which` finds programs on the user's PATH."""
    found = [
        *detect_python(folder, which),
        *detect_javascript(folder, which),
        *detect_go(folder),
        *detect_rust(folder),
        *detect_java(folder),
    ]
    if not found:
        found = list(detect_make(folder))
    names: set[str] = set()
    unique = []
    for spec in found:
        if spec.name not in names:
            names.add(spec.name)
            unique.append(spec)
    return tuple(unique)
