"""`devteam agents`, `doctor` and `init` on machines with different agents: who is there, and what is missing."""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path

import pytest

from engine.service import doctor
from tests.cli.ground import Ground

KEY = "dummy-key-that-nobody-may-see"


def machine(tmp_path: Path, *agents: str, **env: str) -> Ground:
    """An empty repository, and a PATH with git and those agents only; each tells whether it was shown a key."""
    programs, folder = tmp_path / "bin", tmp_path / "repo"
    programs.mkdir()
    folder.mkdir()
    (tmp_path / "home").mkdir()
    for name in agents:
        program = programs / name
        told = f"echo $ANTHROPIC_API_KEY$CODEX_API_KEY > {tmp_path}/shown-{name}"
        program.write_text(f"#!/bin/sh\n{told}\necho 1.2.3\n")
        program.chmod(0o755)
    for name in ("git", "sh"):
        (programs / name).symlink_to(shutil.which(name) or "")
    ground = Ground(folder, tmp_path / "home", {"PATH": str(programs), **env})
    ground.git("init", "-q")
    return ground


def ladder(ground: Ground) -> list[tuple[str, str]]:
    """Agent and model of each rung, as devteam itself reads what init wrote; the default ladder is left commented."""
    config = tomllib.loads((ground.folder / ".devteam" / "config.toml").read_text())
    rungs = config.get("ladder", {}).get("rungs", [])
    return [(rung["agent"], rung["model"]) for rung in rungs]


@pytest.mark.parametrize(
    ("agents", "words", "rungs"),
    [
        pytest.param(("claude",), "haiku → sonnet → opus", [], id="all Claude: the default"),
        pytest.param(
            ("codex",),
            "luna → terra → sol",
            [("codex", "gpt-5.6-luna"), ("codex", "gpt-5.6-terra"), ("codex", "gpt-5.6-sol")],
            id="all Codex",
        ),
        pytest.param(
            ("claude", "codex"),
            "haiku → sonnet → sol",
            [("claude", "haiku"), ("claude", "sonnet"), ("codex", "gpt-5.6-sol")],
            id="mixed",
        ),
    ],
)
def test_init_writes_a_ladder_for_what_is_there(
    tmp_path: Path, agents: tuple[str, ...], words: str, rungs: list[tuple[str, str]]
) -> None:
    ground = machine(tmp_path, *agents)
    told = ground.run("init")
    assert told.code == 0, told.err
    assert f"ladder   {words}" in told.out
    assert ladder(ground) == rungs
    used = {row["name"]: row["rungs"] for row in ground.run("agents", "--json").lines() if row.get("rungs")}
    assert set(used) == set(agents)
    assert [name for row in used.values() for name in row] == words.split(" → ")


def test_init_without_any_agent_says_so(tmp_path: Path) -> None:
    told = machine(tmp_path).run("init")
    assert told.code == 0
    assert "none found" in told.out
    assert "devteam demo" in told.out


def test_an_agent_that_is_logged_in_comes_before_one_that_is_not(tmp_path: Path) -> None:
    ground = machine(tmp_path, "claude", "codex", CODEX_API_KEY=KEY)
    assert "ladder   luna → terra → sol" in ground.run("init").out


def test_a_login_in_the_environment_is_seen_by_its_name_and_shown_to_nobody(tmp_path: Path) -> None:
    ground = machine(tmp_path, "claude", "codex", ANTHROPIC_API_KEY=KEY)
    told = ground.run("agents", "--json")
    rows = {row["name"]: row for row in told.lines()}
    assert (rows["claude"]["version"], rows["claude"]["login"]) == ("1.2.3", "ANTHROPIC_API_KEY")
    assert "login" not in rows["codex"]
    assert rows["gemini"]["problem"].startswith("gemini is not on PATH → npm install -g ")
    assert KEY not in told.out + told.err
    assert (tmp_path / "shown-claude").read_text().strip() == "", "a version needs no key"


def test_doctor_names_the_command_of_each_login(tmp_path: Path) -> None:
    ground = machine(tmp_path, "claude", "codex", "opencode", ANTHROPIC_API_KEY=KEY)
    rows = {row["what"]: row for row in ground.run("doctor", "--json").lines()}
    assert (rows["agent claude"]["mark"], rows["agent claude"].get("hint", "")) == ("ok", "")
    assert (rows["agent codex"]["mark"], rows["agent codex"]["hint"]) == (
        "note",
        "Run `codex login`, or set CODEX_API_KEY.",
    )


def test_doctor_names_the_rungs_that_cannot_run(tmp_path: Path) -> None:
    ground = machine(tmp_path, "claude")
    ground.run("init")
    (tmp_path / "bin" / "claude").unlink()
    told = ground.run("doctor", "--json")
    row = next(row for row in told.lines() if row["what"] == "agent claude")
    assert told.code == 1
    assert row["mark"] == "bad"
    assert row["found"].startswith("claude is not on PATH → npm install -g ")
    assert row["found"].endswith("; rungs: haiku, sonnet, opus")


@pytest.mark.parametrize(("most", "said"), [(5, "note"), (6, ""), (0, "")], ids=["too few", "enough", "unknown"])
def test_doctor_says_when_a_repository_has_more_files_than_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, said: str
) -> None:
    """Two watches a file, a lane's and a room's; it then looks through all of them in each iteration."""
    ground = machine(tmp_path)
    for name in "abc":
        (ground.folder / name).write_text(name)
    ground.git("add", "-A")
    monkeypatch.setattr(doctor, "most_watches", lambda: most)
    found = {one.what: one for one in doctor.examine(ground.folder, {**os.environ, **ground.env}, ground.home)}
    assert found["repository"].mark == "ok"
    assert ("watches" in found) is bool(said)
    if said:
        assert (found["watches"].mark, found["watches"].found.split(" watches")[0]) == (said, "3 files are more than 5")
        assert found["watches"].hint == "sudo sysctl fs.inotify.max_user_watches=100000"
