"""What goes wrong for a newcomer: words that say what, where and what to type; the exit code; no traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.journal.mark import MarkFile
from tests.cli.ground import CONFIG, Ground, Told, make, trusted


def _ground(tmp_path: Path) -> Ground:
    home, folder = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    folder.mkdir()
    return Ground(folder, home)


@pytest.mark.parametrize("words", [["status"], ["init"], ["run"], ["plan", "--from", "x.md"], ["trust"]], ids=" ".join)
def test_outside_a_repository(tmp_path: Path, words: list[str]) -> None:
    told = _ground(tmp_path).run(*words)
    assert told.code == 4
    assert "is not inside a git repository" in told.err
    assert "git init" in told.err


def test_in_a_bare_repository(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    ground.git("init", "-q", "--bare")
    told = ground.run("status")
    assert told.code == 4
    assert "bare repository" in told.err
    assert "git clone" in told.err


def test_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    ground.env["PWD"] = str(ground.folder)
    import subprocess

    line = f"rmdir {ground.folder} && {' '.join(ground.argv('status'))}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=ground.folder, env=ground.environment(), capture_output=True, text=True
    )
    assert done.returncode == 4
    assert "the folder you are in is gone" in done.stderr


def test_a_repository_without_a_sprint(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    ground.git("init", "-q")
    for words in (["status"], ["run"], ["log"], ["report"], ["cost"], ["land"], ["answer", "G1", "yes"], ["pause"]):
        told = ground.run(*words)
        assert told.code == 4, words
        assert "devteam plan --from plan.md" in told.err, words
    assert ground.run("sprints").code == 0


PLANS = {
    "cycle": ("# P\n\n- [ ] 1.1 A\n  depends: 1.2\n- [ ] 1.2 B\n  depends: 1.1\n", "1.1 → 1.2"),
    "unknown dependency": ("# P\n\n- [ ] 1.1 A\n  depends: 1.7\n", ":4:"),
    "duplicate id": ("# P\n\n- [ ] 1.1 A\n- [ ] 1.1 B\n", ":4:"),
    "empty": ("# P\n", "no tasks"),
    "no permission": ("# P\n\n- [ ] 1.1 A\n  allow: everything\n", ":4: allow: does not know “everything”"),
    "misspelt field": ("# P\n\n- [ ] 1.1 A\n  depnds: 1.2\n", "depends:"),
}


def test_plans_with_mistakes(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    ground.git("init", "-q")
    for name, (text, expected) in PLANS.items():
        ground.write("plan.md", text)
        told = ground.run("plan", "--from", "plan.md")
        assert told.code == 4, name
        assert "plan.md" in told.err
        assert expected in told.err, told.err
    assert not (ground.folder / ".devteam" / "sprints").exists() or ground.run("sprints", "--json").out == ""


DERIVED = "# P\n\n- [ ] 1.1 Rename add to plus\n- [ ] 1.2 Fix the crash\n"


def test_permissions_from_words_are_shown_and_written_into_the_plan(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    ground.git("init", "-q")
    ground.write("plan.md", DERIVED)
    told = ground.run("plan", "--from", "plan.md")
    assert told.code == 0 and "1.1    allow: rename add to plus   (Rename add to plus)" in told.out
    written = ground.read(".devteam/sprints/001-p/plan.md")
    assert written == DERIVED.replace("plus\n", "plus\n  proof: none (move)\n  allow: rename add to plus\n")
    assert ground.run("plan", "--from", "plan.md", "--no-derive").code == 0
    assert ground.read(".devteam/sprints/002-p/plan.md") == DERIVED


ABSENT = CONFIG.replace('"scripted"', '"mine"') + '[agents.mine]\nadapter = "command"\nargv = ["no-such-program"]\n'


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    root = tmp_path_factory.mktemp("errors")
    return make(root / "repo", root / "home")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("config.toml", CONFIG + "[budgt]\nx = 1\n", "unknown key budgt; expected budget", id="wrong key"),
        pytest.param("config.toml", "x = [", "config.toml:1", id="not TOML"),
        pytest.param("config.toml", CONFIG + "[budget]\nsession_usd = nan\n", "session_usd", id="a limit that is none"),
        pytest.param("config.toml", CONFIG.replace('"scripted"', '"nobody"'), "nobody", id="an unknown agent"),
        pytest.param("config.toml", ABSENT, "no-such-program is not on PATH", id="an agent that is not installed"),
        pytest.param("config.toml", CONFIG.split("[checks]")[0], "no check is configured", id="no check"),
        pytest.param("config.toml", CONFIG.replace("scenario =", "#"), "has no scenario", id="no scenario"),
        pytest.param("scenario.toml", '[[call]]\nfault = "boom"\n', "unknown fault 'boom'", id="unknown fault"),
        pytest.param("scenario.toml", "[[call", "not TOML", id="broken scenario"),
        pytest.param("devteam.db", "no database", "not a devteam journal", id="corrupt journal"),
    ],
)  # fmt: skip
def test_broken_files_stop_the_start(ready: Ground, name: str, text: str, expected: str) -> None:
    path = ready.folder / ".devteam" / name
    before = path.read_bytes() if path.exists() else None
    try:
        path.write_text(text)
        told = ready.run("run", "--unattended", "--trust", "all")
        assert told.code == (1 if name == "devteam.db" else 4), told.out
        assert expected in told.err
        assert told.out == ""
    finally:
        path.unlink() if before is None else path.write_bytes(before)


def test_wrong_words_are_bad_input(ready: Ground) -> None:
    for words in (["bogus"], ["run", "--bogus"], ["run", "--lanes", "99"], ["answer"], ["auto", "fix", "maybe"]):
        told = ready.run(*words)
        assert (told.code, told.out) == (4, ""), words
        assert told.err


def test_an_untrusted_repository_is_not_run(ready: Ground) -> None:
    """Whatever the repository brings to be run is part of what is trusted, not only its checks."""
    trusted(ready)
    config = ready.folder / ".devteam" / "config.toml"
    changes = {
        "check shape": config.read_text().replace("check.sh", "other.sh"),
        "notify_command": f"notify_command = 'true'\n{config.read_text()}",
        "workspace.setup": config.read_text() + "[workspace]\nsetup = 'true'\n",
        "agents.mine": config.read_text() + "[agents.mine]\nadapter = 'command'\nargv = ['true']\n",
    }
    before = config.read_text()
    for name, text in changes.items():
        config.write_text(text)
        told = ready.run("run", "--unattended")
        config.write_text(before)
        assert (told.code, told.out) == (4, ""), name
        assert f"    {name}: " in told.err
        assert "--trust" in told.err
    init = ready.folder / ".devteam" / "init.sh"
    init.write_text("touch built\n")
    assert "init.sh" in ready.run("run", "--unattended").err
    init.unlink()
    assert ready.run("trust", "--hash", "0" * 16).code == 0, "known commands need no hash"


def test_doctor_names_each_trouble(tmp_path: Path, home: Path) -> None:
    ground = make(tmp_path / "repo", home, config=CONFIG.replace('"scripted"', '"claude"') + "[budgt]\n")
    ground.env["PATH"] = f"{Path(shutil.which('git') or '').parent}"
    told = ground.run("doctor", "--json")
    marks = {row["what"]: row["mark"] for row in told.lines()}
    assert told.code == 1
    assert marks["configuration"] == "bad"
    assert marks["git"] == "ok"
    assert marks["journal"] == "ok", "not begun"
    write_mark(ground.folder / ".devteam" / "devteam.db", 45)
    row = next(row for row in ground.run("doctor", "--json").lines() if row["what"] == "journal")
    assert row["mark"] == "bad" and "45 events" in row["found"] and "devteam.db back" in row["hint"]


def write_mark(journal: Path, seq: int) -> None:
    """A journal was here and has had so many events."""
    made = MarkFile(journal)
    made.write(seq, bytes(32))
    made.close()


def test_a_folder_that_cannot_be_written(tmp_path: Path, home: Path, finished: tuple[Ground, Told, str]) -> None:
    """Read-only for everybody, root included: a file where the state directory has to be."""
    done, _, _ = finished
    ground = Ground(done.folder, home, {"XDG_STATE_HOME": str(tmp_path / "file")})
    home.mkdir()
    (tmp_path / "file").write_text("in the way")
    assert ground.run("status").code == 0
    told = ground.run("run", "--unattended")
    assert told.code in (1, 4)
    assert str(tmp_path / "file") in told.err


def test_init_proposes_and_keeps_what_was_there(tmp_path: Path) -> None:
    ground = _ground(tmp_path)
    ground.git("init", "-q")
    ground.write("package.json", '{"name": "x", "scripts": {"test": "node --test"}}\n')
    told = ground.run("init")
    assert told.code == 0, told.err
    assert "wrote .devteam/config.toml" in told.out
    assert "check " in told.out
    again = ground.run("init")
    assert again.code == 4
    assert "devteam init --force" in again.err
    forced = ground.run("init", "--force")
    assert forced.code == 0
    assert "kept as config.toml.before-" in forced.out


def test_a_repository_made_anew_in_the_same_place(tmp_path: Path, home: Path) -> None:
    for _ in range(2):
        ground = trusted(make(tmp_path / "repo", home))
        told = ground.run("run", "--unattended", "--json", "--max-iterations", "1")
        assert "committed" in [event["type"] for event in told.events()], told.out[-500:]
        shutil.rmtree(ground.folder)
