"""`python -m tests.without_bwrap`: the tests of processes, sandbox, secrets and whole runs, with bubblewrap hidden.

`make test` ends with `--lean`: without the cases that name a sandbox mode of their own (conformance: none), which ran a
minute before and cannot tell whether bubblewrap is installed; `make test-no-bwrap` runs those too.

Each folder of PATH that has a `bwrap` is replaced by one with links to everything else in it: what the engine then
finds is a machine where it is not installed. Not a switch of the product.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests import run_suite

TESTS = (
    "tests/process",
    "tests/checks/test_sandboxed.py",
    "tests/agents/test_conformance.py",
    "tests/engine/test_secrets.py",
    "tests/engine/test_session.py",
    "tests/engine/test_demo.py",
    "tests/cli/test_run.py",
)


NAMED = ("bwrap", "namespaces", "landlock", "none")


def hidden(path: str, farm: Path) -> str:
    """PATH without bubblewrap."""
    folders = []
    for number, folder in enumerate(path.split(os.pathsep)):
        if not (Path(folder) / "bwrap").exists():
            folders.append(folder)
            continue
        mirror = farm / str(number)
        mirror.mkdir(parents=True, exist_ok=True)
        for program in Path(folder).iterdir():
            link = mirror / program.name
            if program.name != "bwrap" and not os.path.lexists(link):
                link.symlink_to(program)
        folders.append(str(mirror))
    return os.pathsep.join(folders)


def main() -> int:
    path = hidden(os.environ.get("PATH", os.defpath), run_suite.ROOT / ".venv" / "without-bwrap")
    workers = [word for word in sys.argv if word.startswith("--workers=")]
    given = [word for word in sys.argv[1:] if word not in workers] or [*TESTS]
    if given[0] == "--lean":
        given = [
            *(one for one in TESTS if "conformance" not in one),
            "-k",
            " and ".join(f"not [{mode}" for mode in NAMED),
            *given[1:],
        ]
    return run_suite.run(
        ["-m", "not torture and not real", *given],
        {**os.environ, "PATH": path},
        workers=int(workers[0].partition("=")[2]) if workers else run_suite.WORKERS,
        cache=f"{run_suite.CACHE}/without-bwrap",
    )


if __name__ == "__main__":
    sys.exit(main())
