"""A run for a CI server: the workflow of docs/ci.md, its shell steps run as the server runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import junitparser
import pytest
import yaml
from msgspec.structs import replace

from engine.core.state import Status
from engine.service.ci_summary import junit, markdown
from tests.cli.ground import CHECK, ROOT, SCENARIO, Ground, make
from tests.core.parts import a_state, a_task

WORKFLOW = yaml.safe_load(re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.S)[1])  # type: ignore[index]
NEVER = SCENARIO.replace('content = "two', 'content = "BAD')


class Server:
    """What a runner does: each step in a shell of its own, in order; after a failure only those that say always()."""

    def __init__(self, ground: Ground, place: Path) -> None:
        self.ground = ground
        self.bin = place / "bin"
        self.bin.mkdir()
        for name in ("sudo", "pipx", "npm"):  # nothing is installed from here
            self._program(name, "exit 0")
        self._program("devteam", f'PYTHONPATH={ROOT} exec {sys.executable} -m tui.cli.main "$@"')
        self.summary = place / "summary.md"
        self.origin = place / "origin.git"
        subprocess.run(["git", "init", "-q", "--bare", str(self.origin)], check=True)
        ground.git("remote", "add", "origin", str(self.origin))

    def _program(self, name: str, line: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{line}\n")
        (self.bin / name).chmod(0o755)

    def run(self, job: dict[str, Any], variables: dict[str, str]) -> dict[str, int]:
        env = {**self.ground.environment(), "GITHUB_STEP_SUMMARY": str(self.summary), "CI": "true"}
        env["PATH"] = f"{self.bin}:{os.environ['PATH']}"
        given = {
            key: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: variables.get(found[1], ""), str(value))
            for key, value in job["env"].items()
        }
        codes: dict[str, int] = {}
        for step in job["steps"]:
            if "run" not in step or (any(codes.values()) and step.get("if") != "always()"):
                continue
            shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(shell, cwd=self.ground.folder, env={**env, **given}, capture_output=True, text=True)
            codes[step["name"]] = done.returncode
        return codes


@pytest.mark.parametrize("which", ["good", pytest.param("stuck", marks=pytest.mark.torture), "untrusted"])
def test_the_workflow_of_the_docs(tmp_path: Path, which: str) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home", scenario=NEVER if which == "stuck" else SCENARIO)
    server = Server(ground, tmp_path)
    words = ground.run("trust", "--show").out.split()
    trust = words[words.index("hash") + 1].rstrip(":") if which != "untrusted" else "0" * 16
    codes = server.run(WORKFLOW["jobs"]["sprint"], {"vars.DEVTEAM_TRUST": trust})
    if which == "untrusted":
        assert codes["Run the sprint"] == 4
        assert not (ground.folder / "devteam-junit.xml").exists() and not server.summary.exists()
        return
    suite = next(iter(junitparser.JUnitXml.fromfile(str(ground.folder / "devteam-junit.xml"))))
    lines = (ground.folder / "devteam-events.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["event"]["type"] == "run_ended"
    page = server.summary.read_text()
    good = which == "good"
    assert (suite.tests, suite.failures) == (2, 0 if good else 1)
    assert codes["Run the sprint"] == (0 if good else 3) and codes["Push its branch"] == 0
    assert ("## devteam: done" in page) is good and "| done | 1.1 Write one |" in page
    pushed = subprocess.run(["git", "-C", str(server.origin), "branch"], capture_output=True, text=True).stdout
    assert "devteam/001-count-things" in pushed


def test_hostile_words_stay_words() -> None:
    title = "a | b <script>\x1b[31m]]> \ud800 `x` [y](z)"
    task = a_task(status=Status.BLOCKED, reason=title)
    task = replace(task, spec=replace(task.spec, title=title))
    state = replace(a_state(task), sprint="001-x", branch="devteam/001-x")
    suite = next(iter(junitparser.JUnitXml.fromstring(junit(state))))
    assert suite.failures == 1
    (case,) = suite
    assert [type(result).__name__ for result in case.result] == ["Failure"]
    page = markdown(state)
    row = next(line for line in page.splitlines() if line.startswith("| blocked"))
    assert re.sub(r"\\.", "", row).count("|") == 6 and "<script" not in row.replace("\\<", "") and "\x1b" not in row


UNWRITABLE = {
    "below a file": ("--junit", "check.sh/devteam.xml", "Not a directory"),
    "in /proc": ("--junit", "/proc/here/devteam.xml", "(/proc)"),
    "its name too long": ("--summary", "n" * 300, "File name too long"),
    "a link to itself": ("--summary", "loop", "Too many levels"),
}


@pytest.mark.parametrize("case", UNWRITABLE)
def test_a_place_that_takes_no_file_is_refused_before_anything_is_paid(tmp_path: Path, case: str) -> None:
    option, name, why = UNWRITABLE[case]
    ground = make(tmp_path / "repo", tmp_path / "home")
    (ground.folder / "loop").symlink_to("loop")
    before = sorted(ground.folder.iterdir())
    for way in ((), ("--detach",)):
        told = ground.run("run", "--unattended", "--trust", "all", option, name, *way)
        assert told.code == 4 and told.out == ""
        assert f"{option} {name}: nothing can be written there" in told.err and why in told.err
    assert sorted(ground.folder.iterdir()) == before
    assert ground.status()["iterations"] == 0


def test_a_place_lost_during_the_run_is_named_and_nothing_else_is_lost(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    out = tmp_path / "out"
    (tmp_path / "second").mkdir()
    (tmp_path / "gone").symlink_to("second")
    ground.write("check.sh", f"{CHECK}rm -f {tmp_path}/gone; : > {tmp_path}/gone\n")
    ground.git("commit", "-aqm", "takes the folder away")
    options = ("--junit", str(tmp_path / "gone/devteam.xml"), "--summary", str(out / "new/page.md"))
    told = ground.run("run", "--unattended", "--no-sandbox", "--trust", "all", *options)
    assert told.code == 0, told.err
    assert f"the JUnit file could not be written to {tmp_path}/gone/devteam.xml: Not a directory" in told.err
    assert "devteam report --junit FILE" in told.err
    page = (out / "new/page.md").read_text()
    assert "## devteam: done" in page
    again = ground.run("report", "--junit", str(out / "devteam.xml"), "--summary", str(out / "new/page.md"))
    assert (again.code, again.out) == (0, "")
    assert next(iter(junitparser.JUnitXml.fromfile(str(out / "devteam.xml")))).tests == 2
    assert (out / "new/page.md").read_text() == page * 2
    full = ground.run("report", "--junit", "/dev/full")
    assert full.code == 1 and "No space left on device" in full.err


def test_a_run_in_the_background_writes_them_too(tmp_path: Path) -> None:
    ground = make(tmp_path / "repo", tmp_path / "home")
    told = ground.run("run", "--detach", "--trust", "all", "--junit", "devteam.xml")
    assert told.code == 0, told.err
    ground.until((ground.folder / "devteam.xml").exists, 60)
    ground.until(lambda: not ground.run("ps", "--json").out)
    assert ground.run("run", "--all", "--junit", "x.xml").code == 4
