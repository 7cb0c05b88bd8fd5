"""`python -m tests.as_ordinary_user [pytest arguments]`: processes, sandbox and workspace as a user without rights.

Started by root it becomes a user that no machine has, with a Python that everybody may start; started by anybody else
it only runs the tests. With `--no-bwrap` in front, bubblewrap is hidden as in `tests.without_bwrap`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.process.test_escapes import ORDINARY, interpreter
from tests.without_bwrap import hidden

ROOT = Path(__file__).parents[1]
TESTS = ("tests/process", "tests/workspace")


def main() -> int:
    given = sys.argv[1:]
    without = given[:1] == ["--no-bwrap"]
    with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
        place = Path(os.path.realpath(folder))
        place.chmod(0o755)
        own = place / "own"
        own.mkdir()
        words = ["-p", "no:cacheprovider", "-m", "not torture and not real", f"--basetemp={own / 'tmp'}"]
        words += given[without:] or TESTS
        path = "/usr/local/bin:/usr/bin:/bin"
        if (found := shutil.which("bwrap")) and not shutil.which("bwrap", path=path):
            path = f"{Path(found).parent}:{path}"  # unpacked somewhere for this run
        if without:
            path = hidden(path, place / "programs")
        command = [sys.executable]
        if os.geteuid() == 0:
            setpriv, python = shutil.which("setpriv"), interpreter()
            if not setpriv or not python:
                sys.stderr.write("no setpriv, or no Python of this version that an ordinary user may start\n")
                return 2
            os.chown(own, ORDINARY, ORDINARY)
            command = [setpriv, f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--", python]
        places = [str(ROOT), *(entry for entry in sys.path if "site-packages" in entry)]
        env = {"PATH": path, "HOME": str(own), "TMPDIR": str(own), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        env["PYTHONPATH"] = os.pathsep.join(places)  # the engines that tests start need them too
        return subprocess.run([*command, "-m", "pytest", *words], cwd=ROOT, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
