"""workspace.setup and .devteam/init.sh: run once in a clone of their own, their folders shown to agents and checks."""

from __future__ import annotations

from pathlib import Path

from tests.cli.ground import CONFIG, PLAN, SCENARIO, Ground, make, trusted

SETUP = "mkdir -p node_modules && echo made >> node_modules/dep"
CHECK = """test "$(cat node_modules/dep)" = made || { echo "no dependency"; exit 1; }
test ! -f generated/late || test -d generated
touch node_modules/tampered 2>/dev/null && echo "it can be written" && exit 1
exit 0
"""


def _ground(tmp_path: Path, home: Path, setup: str) -> Ground:
    config = CONFIG + f'[workspace]\nsetup = "{setup}"\n'
    ground = make(tmp_path / "repo", home, config=config, plan=PLAN.split("- [ ] 1.2")[0], scenario=SCENARIO)
    ground.write("check.sh", CHECK)
    ground.write(".gitignore", "node_modules/\ngenerated/\n")
    ground.git("add", "-A", "--", "check.sh", ".gitignore")
    ground.git("commit", "-qm", "needs a dependency")
    return ground


def _notes(events: list[dict[str, object]]) -> list[str]:
    return [str(event["text"]) for event in events if event["type"] == "noted"]


def test_the_setup_runs_once_and_its_folders_are_seen_by_every_check(tmp_path: Path, home: Path) -> None:
    ground = trusted(_ground(tmp_path, home, SETUP))
    before = ground.fingerprint()
    told = ground.run("run", "--unattended", "--json")
    assert told.code == 0, told.out[-1500:]
    notes = _notes(told.events())
    assert [note.split(" in ")[0] for note in notes] == ["workspace.setup ran"]
    assert "made: node_modules" in notes[0]
    assert not (ground.folder / "node_modules").exists()
    assert ground.fingerprint() == before
    # The next session finds what was made; an init.sh of the user's runs at each.
    ground.write(".devteam/init.sh", "mkdir -p generated && echo late > generated/late\n")
    source = ground.write("../next.md", PLAN.split("- [ ] 1.2")[0].replace("Count", "Recount"))
    assert ground.run("plan", "--from", str(source)).code == 0
    assert ground.run("run", "--unattended").code == 4, "init.sh is not trusted yet"
    again = trusted(ground).run("run", "--unattended", "--json")
    assert again.code == 0, again.out[-1500:]
    assert "generated" in _notes(again.events())[-1]


def test_a_setup_that_fails_stops_before_any_agent_is_paid(tmp_path: Path, home: Path) -> None:
    ground = trusted(_ground(tmp_path, home, "echo no such package >&2; exit 7"))
    told = ground.run("run", "--unattended", "--json")
    assert told.code == 1, told.out[-800:]
    assert "workspace.setup failed (exit 7): no such package" in told.out
    assert "agent_finished" not in [event["type"] for event in told.events()]
