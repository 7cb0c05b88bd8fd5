"""Our hooks in the real Claude Code and Codex: a session works a sprint until it is proven, and not a turn more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents.fake_model_server import FakeModelServer, Step, say, use
from tests.cli.ground import PLAN, Ground, make, trusted
from tests.patience import patience
from tests.real.agents import CACHE, ROOT, program

pytestmark = pytest.mark.real

ONE_TASK = PLAN[: PLAN.index("- [ ] 1.2")] + PLAN[PLAN.index("Closing") :]
DONE = "Wrote it.\nSTATUS: complete\nISSUES: none"


class Inside:
    """A repository with our hooks installed, and a real program that is told by the model server what to do."""

    def __init__(self, name: str, place: Path, server: FakeModelServer) -> None:
        self.name, self.server, self.key = name, server, place.name
        self.ground: Ground = trusted(make(place / "repo", place / "home", plan=ONE_TASK))
        bin_ = place / "bin"
        bin_.mkdir()
        # The very program, found on PATH as an installed one is.
        (bin_ / "devteam").write_text(f'#!/bin/sh\nexec env PYTHONPATH={ROOT} {sys.executable} -m tui.cli.main "$@"\n')
        (bin_ / "devteam").chmod(0o755)
        self.ground.env["PATH"] = f"{bin_}:{os.environ['PATH']}"
        # Codex's commands run in a login shell.
        (self.ground.home / ".bash_profile").write_text(f"export PATH={self.ground.env['PATH']}\n")
        done = self.ground.run("hooks", "install", "--skill", "--agent", name, "--user")
        assert done.code == 0, done.err

    def write(self, path: str, text: str) -> Step:
        if self.name == "claude":
            return use("Write", {"file_path": str(self.ground.folder / path), "content": text})
        lines = "".join(f"+{line}\n" for line in text.splitlines())
        return use("apply_patch", f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")

    def shell(self, command: str) -> Step:
        if self.name == "claude":
            return use("Bash", {"command": command, "description": "run it"})
        return use("exec_command", {"cmd": command})

    def run(self, prompt: str, steps: list[Step]) -> tuple[str, list[dict[str, Any]]]:
        """(its stdout, the requests it sent to the model)"""
        script = self.server.script(self.key, steps)
        url = self.server.url(self.key)
        env = {**self.ground.environment(), "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1"}
        if self.name == "claude":
            env |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy"}
            env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
            argv = [program("claude"), "-p", "--output-format", "stream-json", "--verbose"]
            argv += ["--permission-mode", "bypassPermissions", prompt]
        else:
            env |= {"CODEX_API_KEY": "dummy"}
            provider = f'{{name="fake",base_url="{url}/v1",env_key="CODEX_API_KEY",wire_api="responses"}}'
            argv = [program("codex"), "exec", "--json", "-m", "gpt-5.5", "-c", 'model_provider="fake"']
            argv += ["-c", f"model_providers.fake={provider}", "-c", "analytics.enabled=false", "--disable", "plugins"]
            argv += ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", prompt]
        done = subprocess.run(
            argv, cwd=self.ground.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=patience(120),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout, script.requests


@pytest.fixture(params=["claude", "codex"])
def inside(request: pytest.FixtureRequest, model_server: FakeModelServer) -> Iterator[Inside]:
    program(request.param)
    place = CACHE / "real" / f"inside-{request.param}-{uuid.uuid4().hex[:8]}"  # codex keeps nothing below /tmp
    place.mkdir(parents=True)
    yield Inside(request.param, place, model_server)
    shutil.rmtree(place)


def test_a_session_is_kept_until_its_work_is_proven(inside: Inside) -> None:
    steps = [
        inside.shell("devteam hook begin"),
        inside.write(".devteam/sprints/001-count-things/plan.md", "# nothing to do"),
        inside.write("src/one.txt", "BAD"),
        say(DONE),
        inside.shell("rm src/one.txt"),
        inside.write("src/one.txt", "one"),
        say(DONE),
        say("this turn must not come"),
    ]
    said, requests = inside.run("work", steps)
    sent = json.dumps(requests)
    assert "## Task 1.1: Write one" in sent, "what the command printed"
    assert "is protected while devteam drives this session" in sent, "the guard"
    assert "is BAD" in sent and "shape: FAIL" in sent, "the stop hook's reason, from the evidence"
    assert "this turn must not come" not in said
    assert inside.ground.status()["outcome"] == "done"
    assert not (inside.ground.folder / ".devteam/autonomous-mode").exists()
    assert inside.ground.git("log", "--format=%s", "-1", "devteam/001-count-things").startswith("impl(count): T1.1")


def test_nobody_is_kept_for_ever(inside: Inside) -> None:
    """A session that never gets it right, and changes its files each time."""
    tries = [one for n in range(12) for one in (inside.shell(f"echo BAD {n} > src/one.txt"), say(f"try {n}"))]
    said, _requests = inside.run("work", [inside.shell("devteam hook begin"), *tries])
    assert "try 1" in said and "try 9" not in said
    assert (inside.ground.folder / ".devteam/autonomous-mode").exists(), "it is not over, the session only ended"
    assert inside.ground.status()["outcome"] == "blocked"


def test_the_commands_are_there(inside: Inside) -> None:
    if inside.name == "codex":
        said, requests = inside.run("hello", [say("hello")])
        assert all(f"devteam-{name}" in json.dumps(requests) for name in ("implement", "plan", "status", "answer"))
        assert "devteam-autonomous-mode" in json.dumps(requests)
        return
    said, requests = inside.run("/devteam:status", [say("it stands there")])
    first = json.loads(said.splitlines()[0])
    assert {f"devteam:{name}" for name in ("implement", "plan", "status", "answer")} <= set(first["slash_commands"])
    assert "devteam-autonomous-mode" in first["skills"]
    assert "Run `devteam status`" in json.dumps(requests)
