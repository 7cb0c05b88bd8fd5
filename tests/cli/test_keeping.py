"""land, checkpoint, baseline, rollback: by hand, journaled, and never on the user's own files unasked."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.core.commands import LandNow, Steer
from engine.service.links import attached_link
from engine.service.local import open_desk
from tests.cli.ground import CONFIG, SCENARIO, make, trusted
from tests.patience import patience
from tui.cli.dashboard import save_folder

PLAN_FILE = ".devteam/sprints/001-count-things/plan.md"


def test_a_sprint_is_taken_back_and_landed(tmp_path: Path, home: Path) -> None:
    ground = trusted(make(tmp_path / "repo", home))
    assert ground.run("run", "--unattended").code == 0
    before = ground.fingerprint()

    assert "before I go" in ground.run("checkpoint", "save", "before I go").out
    assert "before I go" in ground.run("checkpoint", "list").out
    assert ground.run("baseline", "create", "mine", "my words").code == 0
    assert "my words" in ground.run("baseline", "list").out
    for code, *words in ((4, "checkpoint", "restore", "x"), (4, "baseline", "rollback", "x"), (1, "rollback", "undo")):
        told = ground.run(*words)
        assert (told.code, told.out) == (code, ""), words
        assert "devteam" in told.err

    good = ground.run("rollback", "check")
    assert (good.code, "every check passes" in good.out) == (0, True)
    config = ground.read(".devteam/config.toml")
    sad = '\n[[checks.run]]\nname = "sad"\nkind = "own"\ncommand = ["false"]\n'
    ground.write(".devteam/config.toml", config + sad)
    bad = ground.run("rollback", "check")
    assert (bad.code, "no good commit within 10" in bad.out) == (1, True), "none of its kinds: judged by all checks"
    ground.write(".devteam/config.toml", config + sad + '[rollback]\nchecks = ["lint"]\n')
    assert ground.run("rollback", "check").code == 0, "judged by the kinds the configuration names"
    ground.write(".devteam/config.toml", config + sad + "[rollback]\nmax_commits_to_search = 1\n")
    assert "no good commit within 1\n" in ground.run("rollback", "check").out
    ground.write(".devteam/config.toml", config)
    back = ground.run("baseline", "rollback", "feature_complete-1.1")
    assert (back.code, "open again: 1.2" in back.out) == (0, True)
    assert "- [x] 1.1" in ground.read(PLAN_FILE)
    assert "- [ ] 1.2" in ground.read(PLAN_FILE), "a box that says done would be believed at the next start"
    assert ground.status()["tasks"] == {"1.1": "complete", "1.2": "pending"}
    assert ground.fingerprint() == before
    undone = ground.run("rollback", "undo")
    assert (undone.code, "complete again: 1.2" in undone.out) == (0, True)
    assert ground.status()["tasks"] == {"1.1": "complete", "1.2": "complete"}
    assert ground.run("baseline", "rollback", "feature_complete-1.1").code == 0

    again = ground.run("run", "--unattended", "--json")
    assert again.code == 0, again.out[-800:]
    assert "plan_changed" not in [event["type"] for event in again.events()]
    assert len(ground.git("log", "--format=%s", "main..devteam/001-count-things").splitlines()) == 2

    ground.write("src/zero.txt", "changed\n")
    refused = ground.run("land")
    assert refused.code == 1
    assert "modified since: src/zero.txt" in refused.out
    assert "git merge devteam/001-count-things" in refused.out
    assert ground.run("land", "--patch", str(tmp_path / "x.patch")).code == 0
    assert "+one" in (tmp_path / "x.patch").read_text()
    ground.git("checkout", "-q", "src/zero.txt")
    landed = ground.run("land")
    assert (landed.code, landed.out.startswith("landed ")) == (0, True)
    assert ground.git("rev-parse", "main") == ground.git("rev-parse", "devteam/001-count-things")
    assert ground.read("src/one.txt") == "one\n"
    assert ground.git("status", "--porcelain", "--", "src") == ""
    assert "nothing to land" in ground.run("land").out

    for words in (["retry", "1.2"], ["skip", "9"], ["steer", "9", "x"]):
        assert ground.run(*words).code == 4, words


def test_the_dashboards_landing_needs_no_engine(tmp_path: Path, home: Path) -> None:
    ground = trusted(make(tmp_path / "repo", home))
    assert ground.run("run", "--unattended").code == 0
    desk = open_desk(ground.folder, ground.environment(), ground.home)
    link = attached_link(desk, desk.sprint())
    ground.write("src/zero.txt", "changed\n")
    refused = asyncio.run(link.send(LandNow(by="you")))
    assert not refused.ok
    assert "modified since: src/zero.txt" in refused.detail
    ground.git("checkout", "-q", "src/zero.txt")
    saved = save_folder(desk)
    saved.mkdir(parents=True)
    (saved / "devteam-1.svg").write_text("a picture\n")
    assert ground.git("status", "--porcelain", "--", str(saved)) == ""
    landed = asyncio.run(link.send(LandNow(by="you")))
    assert landed.ok, "a picture of the screen stands in nobody's way"
    assert landed.detail.startswith("landed ")
    assert ground.git("rev-parse", "main") == ground.git("rev-parse", "devteam/001-count-things")


def test_a_checkpoint_brings_back_what_was_blocked(tmp_path: Path, home: Path) -> None:
    needs = SCENARIO.replace('text = "Two, badly."', 'claim = "blocked"\nissues = "a key for the shop"')
    ground = trusted(make(tmp_path / "repo", home, scenario=needs))
    assert ground.run("run", "--unattended").code == 3
    assert ground.run("checkpoint", "save", "one is blocked").code == 0
    point = ground.run("checkpoint", "list").out.splitlines()[-1].split()[0]
    assert ground.run("retry", "1.2", "the key is there").code == 0
    assert ground.status()["tasks"]["1.2"] == "pending"
    back = ground.run("checkpoint", "restore", point)
    assert (back.code, "1.2: blocked again" in back.out) == (0, True), back.out
    assert ground.status()["tasks"] == {"1.1": "complete", "1.2": "blocked"}
    assert "- [!] 1.2" in ground.read(PLAN_FILE)
    assert "everything is as it was then" in ground.run("checkpoint", "restore", point).out


def test_commands_reach_the_sprint_that_is_meant(tmp_path: Path, home: Path) -> None:
    """Two sprints with a task 1.1 each: without a word the latest is told, and its name is said where it refuses."""
    ground = trusted(make(tmp_path / "repo", home))
    assert ground.run("run", "--unattended").code == 0
    second = ground.run("plan", "--from", str(home / "plan.md"))
    assert (second.code, "from 2 of 2 tasks like ones done here before" in second.out) == (0, True), second.out
    refused = ground.run("retry", "1.1", "better")
    assert (refused.code, "(in 002-count-things; another one: --sprint)" in refused.out) == (4, True), refused.out
    told = ground.run("retry", "1.1", "better", "--sprint", "1")
    assert told.code == 0, told.out
    assert "- [ ] 1.1" in ground.read(PLAN_FILE), "its box is open again at once"
    link = attached_link(desk := open_desk(ground.folder, ground.environment(), ground.home), desk.sprint("1"))
    assert asyncio.run(link.send(Steer(task="1.1", text="mind the gap", by="you"))).ok, "what is shown is what is told"
    assert desk.state("1").tasks["1.1"].comments == ("better", "mind the gap")


def test_sprints_deleted_from_the_settings_folder_come_back(tmp_path: Path, home: Path) -> None:
    """`git clean -fdx` between two runs takes plan, settings and journal; nothing is done or paid a second time."""
    ground = make(tmp_path / "repo", home, config=CONFIG, scenario=SCENARIO)
    assert ground.run("run", "--unattended", "--trust", "all").code == 0
    settings = {name: ground.read(f".devteam/{name}") for name in ("config.toml", "scenario.toml")}
    before = ground.git("rev-parse", "devteam/001-count-things")
    ground.git("clean", "-fdxq")
    assert not (ground.folder / ".devteam").exists()
    told = ground.run("run", "--unattended", "--trust", "all")
    assert told.code == 4 and "001-count-things back from the journal; config.toml is not" in told.err
    assert not (ground.folder / ".devteam/config.toml").exists(), "nothing runs by settings that nobody chose"
    for name, text in settings.items():
        ground.write(f".devteam/{name}", text)
    assert ground.status()["completed_unwatched"] == ["1.1", "1.2"]
    assert ground.read(PLAN_FILE).count("- [x]") == 2
    assert ground.run("retry", "1.2", "say it louder").code == 0
    assert ground.run("run", "--unattended", "--trust", "all").code in (0, 3)
    ground.git("merge-base", "--is-ancestor", before, "devteam/001-count-things")
    assert len(ground.git("log", "--format=%h", "--grep=T1.1", "devteam/001-count-things").split()) == 1
    assert ground.run("land").code == 0


def test_a_settings_folder_deleted_under_a_run_is_written_back_at_its_end(tmp_path: Path, home: Path) -> None:
    slow = SCENARIO.replace(
        'task = "1.2"\niteration = 1', 'task = "1.2"\niteration = 1\noutput = ["a", "b", "c", "d"]\ndelay = 0.5', 1
    )
    ground = make(tmp_path / "repo", home, config=CONFIG, scenario=slow)
    engine = ground.start("run", "--unattended", "--trust", "all")
    ground.until(lambda: "[x] 1.1" in ground.read(".devteam/progress.txt") if ground.begun() else False)
    (ground.folder / ".devteam/sprints").rename(tmp_path / "deleted")
    (ground.folder / ".devteam/config.toml").unlink()
    out, err = engine.communicate(timeout=patience(60))
    assert engine.returncode == 0, out + err
    assert "is written back when the run ends" in out
    assert ground.read(".devteam/config.toml") == CONFIG
    assert ground.read(".devteam/sprints/001-count-things/plan.md").count("- [x]") == 2
    assert ground.run("land").code == 0
