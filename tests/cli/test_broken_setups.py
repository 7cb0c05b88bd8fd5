"""`devteam doctor --run` on set-ups broken on purpose: each is found, and the line that mends it is named."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.ground import Ground

CASE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_sound(self):\n        pass\n\n    def test_odd(self):\n"
LADDER = '[[ladder.rungs]]\nname = "small"\nagent = "{agent}"\nreserve_usd = 0.1\n'
CHECKS = '[checks]\npreset = "none"\n'
TESTS = '[[checks.run]]\nname = "tests"\nkind = "tests"\ncommand = ["python3", "-m", "unittest"]\nrunner = "unittest"\n'
SCRIPTED = LADDER.format(agent="scripted") + '[scripted]\nscenario = ".devteam/scenario.toml"\n'
OWN = LADDER.format(agent="own")


@dataclass
class Broken:
    mends: str
    """What the output must name."""
    odd: str = "        pass\n"
    files: dict[str, str] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)
    config: str = ""
    agent: str = SCRIPTED
    checks: str = TESTS
    also: Callable[[Ground], None] = lambda _ground: None


def _server(ground: Ground) -> None:
    """Something on the host's loopback that only a process with the network reaches."""
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ground.write("port.txt", str(server.server_port))


def _unfetched(ground: Ground) -> None:
    inner = ground.home / "inner"
    inner.mkdir()
    for argv in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        ground.git("-C", str(inner), *argv)
    head = ground.git("-C", str(inner), "rev-parse", "HEAD")
    ground.write(".gitmodules", f'[submodule "vendor"]\n\tpath = vendor\n\turl = {inner}\n')
    ground.git("update-index", "--add", "--cacheinfo", f"160000,{head},vendor")


def _script(text: str, name: str = "agents/agent.sh") -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        path = ground.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    return make


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def _rates(ground: Ground, name: str = "rates/eu.csv") -> None:
    (ground.home / name).parent.mkdir()
    (ground.home / name).write_text("1\n")
    _link(ground.folder / "eu.csv", ground.home / name)


READS = "        with open({path!r}) as file:\n            self.assertTrue(file.read())\n"
TABLE = {
    "generated-module": Broken('workspace.copy = ["_version.py"]', "        import _version\n", ignored={"_version.py": "V = 1\n"}),
    "ignored-data": Broken('workspace.copy = ["data/built.json"]', READS.format(path="data/built.json"), ignored={"data/built.json": "{}\n"}),
    "secret-file": Broken('workspace.copy = [".env"]', READS.format(path=".env"), ignored={".env": "A=1\n"}),
    "unfetched-submodule": Broken("git submodule update --init", also=_unfetched),
    "needs-the-network": Broken("network = true", '        import urllib.request\n        with self.assertRaises(urllib.request.HTTPError):\n            urllib.request.urlopen("http://127.0.0.1:" + open("port.txt").read())\n', also=_server),
    "reads-its-git": Broken("a clean room has no .git", "        import subprocess\n        done = subprocess.run(['git', 'log'], capture_output=True, text=True)\n        self.assertEqual(done.stderr, '')\n"),
    "missing-tool": Broken("pip install sparkle", checks=TESTS + '[[checks.run]]\nname = "sparkle"\nkind = "lint"\ncommand = ["sparkle", "."]\ninstall = "pip install sparkle"\n'),
    "missing-interpreter": Broken('[[checks.run]] "tests"', checks=TESTS.replace('"python3"', '".venv/bin/python"')),
    "no-tests": Broken('[[checks.run]] "tests"', checks=TESTS.replace('"unittest"]', '"unittest", "discover", "-s", "none"]'), files={"none/empty.py": ""}),
    "red-lint": Broken("an exit code cannot tell", checks=TESTS + '[[checks.run]]\nname = "lint"\nkind = "lint"\ncommand = "exit 1"\n'),
    "too-slow": Broken("did not finish within 1 s", "        import time\n        time.sleep(30)\n", checks=TESTS + "timeout = 1\n"),
    "copy-names-nothing": Broken("take it out of workspace.copy", config='[workspace]\ncopy = ["gone.json"]\n'),
    "mount-names-nothing": Broken("take it out of workspace.mounts", config='[workspace]\nmounts = ["~/gone"]\n'),
    "setup-without-its-tool": Broken("install no-such-manager", config='[workspace]\nsetup = "no-such-manager sync"\n'),
    "setup-fails": Broken("try it in your checkout", config='[workspace]\nsetup = "echo no mirror >&2; exit 3"\n'),
    "folder-gone": Broken('folder = "web"', checks=TESTS + 'folder = "web"\n'),
    "agent-not-installed": Broken("install own", agent=OWN + '[agents.own]\nadapter = "command"\nargv = ["no-such-agent"]\n'),
    "agent-interpreter-gone": Broken("mend the first line", agent=OWN + '[agents.own]\nadapter = "command"\nargv = ["{home}/bin/agent"]\n', also=_script("#!/opt/none/bin/python9\n", "bin/agent")),
    "agent-script-ignored": Broken('workspace.copy = ["tools/agent.sh"]', agent=OWN + '[agents.own]\nadapter = "command"\nargv = ["/bin/sh", "tools/agent.sh"]\n', ignored={"tools/agent.sh": "echo hi\n"}),
    "not-executable": Broken("chmod +x ./check.sh", checks=TESTS + '[[checks.run]]\nname = "script"\nkind = "tests"\ncommand = ["./check.sh"]\n', files={"check.sh": "#!/bin/sh\nexit 0\n"}),
    "environment-of-an-older-python": Broken("leads to /opt/none/python9, which is gone", checks=TESTS.replace('"python3"', '".venv/bin/python"'), also=lambda ground: _link(ground.folder / ".venv/bin/python", Path("/opt/none/python9"))),
    "report-never-written": Broken("the report out.xml was not written", checks=TESTS.replace('runner = "unittest"', 'parser = "junit"\nreport = "out.xml"')),
    "a-name-twice": Broken("two checks are called tests", checks=TESTS + TESTS),
    "unknown-runner": Broken('runner = "unittest"', checks=TESTS.replace('runner = "unittest"', 'runner = "unitest"')),
    "reserve-above-the-budget": Broken("less than budget.session_usd", agent=SCRIPTED.replace("0.1", "50.0")),
    "not-text": Broken("not UTF-8 text", also=lambda ground: (ground.folder / ".devteam/config.toml").write_bytes(b'[checks]\npreset = "n\xff"\n') and None),
    "another-git-was-killed": Broken(".git/index.lock", also=lambda ground: (ground.folder / ".git/index.lock").write_text("x") and None),
    "configuration-wrong": Broken("unknown key workspace.copies; expected copy", config='[workspace]\ncopies = ["x"]\n'),
    "merge-in-progress": Broken("git merge --abort", also=lambda ground: (ground.folder / ".git/MERGE_HEAD").write_text("0" * 40) and None),
}  # fmt: skip


def lay(tmp_path: Path, broken: Broken) -> Ground:
    home, folder = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    folder.mkdir()
    ground = Ground(folder, home)
    ground.git("init", "-q", "-b", "main")
    ground.write("test_a.py", CASE + broken.odd)
    ground.write(".gitignore", "".join(f"/{name}\n" for name in broken.ignored))
    for name, text in {**broken.files, **broken.ignored}.items():
        ground.write(name, text)
    ground.write(".devteam/scenario.toml", '[[call]]\ntext = "x"\n')
    config = "\n".join((CHECKS, broken.checks, broken.agent.replace("{home}", str(home)), broken.config))
    ground.write(".devteam/config.toml", config)
    ground.git("add", "-A")
    ground.git("commit", "-qm", "start")
    broken.also(ground)
    return ground


@pytest.mark.parametrize("name", TABLE)
def test_every_broken_set_up_is_found_with_its_cure(tmp_path: Path, name: str) -> None:
    broken = TABLE[name]
    ground = lay(tmp_path, broken)
    before = ground.fingerprint() if name != "merge-in-progress" else ""
    told = ground.run("doctor", "--run")
    assert told.code == 1, told.out
    bad = told.out[told.out.index("bad") :]
    assert broken.mends in bad, told.out
    if before:
        assert ground.fingerprint() == before, "nothing of the user's was touched"


def test_a_sound_set_up_is_green(tmp_path: Path) -> None:
    told = lay(tmp_path, Broken("")).run("doctor", "--run")
    assert told.code == 0, told.out
    assert "2 passed here and in a clone" in told.out


OUTSIDE = {
    "file-of-the-users": Broken('workspace.mounts = ["~/.shoprc"]', "        import os\n        self.assertTrue(open(os.path.expanduser('~/.shoprc')).read())\n", also=lambda ground: (ground.home / ".shoprc").write_text("x") and None),
    "link-out-of-the-repository": Broken('workspace.mounts = ["~/rates/eu.csv"]', READS.format(path="eu.csv"), also=_rates),
    "declared-and-not-installed": Broken("python3 -m pip install sparkle", "        import sparkle\n", files={"requirements.txt": "sparkle\n"}),
    "file-that-nobody-has": Broken("", READS.format(path="never.csv")),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_red_tests_lack_outside_of_the_repository_is_named(tmp_path: Path, name: str) -> None:
    """Red in the checkout's copy as well as in a clone: what a task may be about is no broken set-up, so it is a note."""
    told = lay(tmp_path, OUTSIDE[name]).run("doctor", "--run")
    assert told.code == 0, told.out
    assert "1 passed, 1 red already" in told.out
    notes = [line for line in told.out.splitlines() if "tests:" in line and line.startswith("note")]
    assert bool(notes) is bool(OUTSIDE[name].mends) and OUTSIDE[name].mends in told.out, told.out
