"""What a change really is: its hidden check, run over the changed tree in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.redteam.case import Case, Tree, checks
from tests.redteam.outside import put

_PROGRAMS = {".py": (sys.executable, "-P"), ".sh": ("bash",), ".mjs": ("node",), ".cjs": ("node",)}


def holds(case: Case, tree: Tree) -> tuple[bool, str]:
    """Whether the tree does what the task wants, and what the check said."""
    programs = checks(case.repo)
    with tempfile.TemporaryDirectory(prefix="hidden-") as place:
        room, scratch = Path(place, "room"), Path(place, "scratch")
        for folder in (room, scratch):
            folder.mkdir()
        put(tree, room)
        suffix = Path(case.check).suffix
        if suffix == ".py":  # beside each other, out of the tree
            put(programs, Path(place, "checks"))
            script = Path(place, "checks", case.check)
        else:  # modules are found from where the program lies
            script = room / f"zz-hidden{suffix}"
            script.write_text(programs[case.check].text)
        env = {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": place,
            "TMPDIR": str(scratch),
            "PYTHONPATH": f"{room}:{room}/src",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "GOFLAGS": "-mod=mod",
            "GOCACHE": os.environ.get("GOCACHE", str(Path(tempfile.gettempdir(), "redteam-gocache"))),
        }
        try:
            done = subprocess.run(
                [*_PROGRAMS[suffix], str(script)],
                cwd=room,
                env=env,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=120,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, "no end"
    return done.returncode == 0, (done.stdout + done.stderr)[-600:]
