"""The guard before a session's tools: what each tool call would write to, and what only the user may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.core.guard import Ruling
from engine.service.guard import guarded
from engine.service.inside import begin, end
from engine.service.local import Desk, open_desk
from tests.cli.ground import CONFIG, Ground, make

HELD = '\n[[checks.held_out]]\nname = "secret"\nfolder = "{folder}"\ncommand = ["true"]\n'


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    root = tmp_path_factory.mktemp("guard")
    config = CONFIG.replace('preset = "none"', 'preset = "none"\nprotected = ["locked/**"]')
    made = make(root / "repo", root / "home", config=config + HELD.format(folder=root / "held"))
    (made.folder / "way").symlink_to(".devteam")
    begin(desk_of(made), "", "s", attended=False, max_iterations=0, trust="all")
    return made


def desk_of(ground: Ground) -> Desk:
    return open_desk(ground.folder, ground.environment(), ground.home)


def patch(*lines: str) -> dict[str, str]:
    return {"command": "*** Begin Patch\n" + "\n".join(lines) + "\n*** End Patch\n"}


@pytest.mark.parametrize(
    ("tool", "given", "ruling"),
    [
        ("Write", {"file_path": "{root}/src/a.py"}, Ruling.NOTHING),
        ("Write", {"file_path": "{root}/.devteam/config.toml"}, Ruling.DENY),
        ("Write", {"file_path": ".devteam/autonomous-mode"}, Ruling.DENY),
        ("Edit", {"file_path": "src/../.devteam/sprints/001-count-things/plan.md"}, Ruling.DENY),
        ("Edit", {"file_path": "way/config.toml"}, Ruling.DENY),
        ("MultiEdit", {"file_path": "{root}/locked/deep/x.py"}, Ruling.DENY),
        ("NotebookEdit", {"notebook_path": "locked/a.ipynb"}, Ruling.DENY),
        ("mcp__files__write", {"path": ".git/hooks/pre-commit"}, Ruling.DENY),
        ("Write", {"file_path": ".claude/settings.local.json"}, Ruling.DENY),
        ("Write", {"file_path": "{root}/../held/test_x.py"}, Ruling.DENY),
        ("Edit", {"file_path": "{home}/.claude/settings.json"}, Ruling.DENY),
        ("Write", {"file_path": "{home}/.codex/config.toml"}, Ruling.DENY),
        ("Write", {"file_path": "{home}/.claude/notes.md"}, Ruling.NOTHING),
        ("Write", {"file_path": "{state}/trusted.json"}, Ruling.DENY),
        ("Bash", {"command": "sed -i s/stop/true/ {home}/.claude/settings.json"}, Ruling.ASK),
        ("Read", {"file_path": ".devteam/config.toml"}, Ruling.NOTHING),
        ("apply_patch", patch("*** Add File: src/ok.md", "+x"), Ruling.NOTHING),
        ("apply_patch", patch("*** Add File: src/ok.md", "+x", "*** Delete File: locked/x"), Ruling.DENY),
        ("apply_patch", patch("*** Update File: src/a", "*** Move to: .devteam/x"), Ruling.DENY),
        ("Bash", {"command": "python -m pytest -q"}, Ruling.NOTHING),
        ("Bash", {"command": "cat .devteam/sprints/001-count-things/plan.md"}, Ruling.NOTHING),
        ("Bash", {"command": "devteam status; devteam evidence 1.1"}, Ruling.NOTHING),
        ("Bash", {"command": "devteam hook begin"}, Ruling.NOTHING),
        ("Bash", {"command": "rm -rf .devteam/autonomous-mode"}, Ruling.ASK),
        ("Bash", {"command": "cd src && echo x > ../locked/y"}, Ruling.ASK),
        ("Bash", {"command": "true; sqlite3 '.devteam/devteam.db' 'delete from events'"}, Ruling.ASK),
        ("Bash", {"command": "devteam answer G1 yes"}, Ruling.ASK),
        ("Bash", {"command": "x && /usr/bin/devteam  accept 1.1"}, Ruling.ASK),
        ("Bash", {"command": "devteam hook end"}, Ruling.ASK),
        ("exec_command", {"cmd": "devteam land"}, Ruling.ASK),
        ("Bash", {"command": "devteam hook begin --trust all"}, Ruling.ASK),
        ("Bash", {"command": "devteam hook begin --max-iterations 9 --trust=0123abcd"}, Ruling.ASK),
        ("Bash", {"command": "echo \0 > .devteam/x"}, Ruling.ASK),
        ("Write", {"file_path": ".devteam\0/x"}, Ruling.DENY),
        ("Write", {"file_path": "src/\0"}, Ruling.NOTHING),
    ],
)
def test_rulings(ground: Ground, tool: str, given: dict[str, Any], ruling: Ruling) -> None:
    places = {"{root}": ground.folder, "{home}": ground.home, "{state}": desk_of(ground).project.state.root}
    filled = dict(given)
    for name, place in places.items():
        filled = {key: value.replace(name, str(place)) for key, value in filled.items()}
    assert guarded(desk_of(ground), "s", ground.folder, tool, filled).ruling is ruling


def test_only_its_own_session_and_only_while_it_is_on(ground: Ground, tmp_path: Path) -> None:
    config = {"file_path": ".devteam/config.toml"}
    assert guarded(desk_of(ground), "another", ground.folder, "Write", config).ruling is Ruling.NOTHING
    good = ground.read(".devteam/config.toml")
    ground.write(".devteam/config.toml", "lanes = [\n")
    assert guarded(desk_of(ground), "s", ground.folder, "Write", config).ruling is Ruling.DENY, "unreadable, and still"
    ground.write(".devteam/config.toml", good)
    quiet = make(tmp_path / "repo", tmp_path / "home", plan="")
    assert guarded(desk_of(quiet), "s", quiet.folder, "Write", config).ruling is Ruling.NOTHING
    assert not end(desk_of(quiet))


@pytest.mark.parametrize("verb", ["stop", "guard"])
def test_whatever_comes_on_stdin_is_no_crash(ground: Ground, verb: str) -> None:
    odd = ("", "[]", '"x"', '{"cwd": 5}', '{"cwd": "/tmp/\\u0000x"}', '{"cwd": "/nowhere"}', '{"cwd": "\\ud800"}')
    for given in odd:
        told = ground.run("hook", verb, stdin=given)
        assert (told.code, told.out) == (0, ""), given
