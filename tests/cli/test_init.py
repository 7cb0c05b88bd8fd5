"""`devteam init`: what it tries, what it writes, what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import Config, load
from engine.core.model import CheckKind
from engine.perform.checks.presets.package import Candidate, LeftOut
from engine.perform.checks.run.spec import CheckSpec
from engine.service.clone_cures import telling_line
from engine.service.comparison import Compared, compare
from engine.service.findings import Finding
from engine.service.init import init_project, report_lines
from engine.service.local import Desk
from engine.service.rehearsing import open_rooms
from tests.cli.ground import Ground
from tests.engine import small

CASE = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        {body}\n"


def repository(tmp_path: Path, files: dict[str, str], ignored: str = "") -> Ground:
    home, folder = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    folder.mkdir()
    ground = Ground(folder, home)
    ground.git("init", "-q", "-b", "main")
    ground.write(".gitignore", ignored)
    for name, text in files.items():
        ground.write(name, text)
    ground.git("add", "-A")
    ground.git("commit", "-qm", "start")
    return ground


def written(ground: Ground) -> Config:
    return load(ground.folder / ".devteam/config.toml")


def test_what_the_tests_need_is_copied_and_the_written_configuration_is_green(tmp_path: Path) -> None:
    files = {"test_a.py": CASE.format(body="import _version"), "_version.py": "V = 1\n", "notes.txt": "never read\n"}
    ground = repository(tmp_path, files, "_version.py\nnotes.txt\n")
    before = ground.fingerprint()
    told = ground.run("init")
    assert told.code == 0, told.out + told.err
    assert "unittest: 1 passed here and in a clone" in told.out
    assert written(ground).workspace.copy == ("_version.py",), "what is read, and nothing else"
    assert len(told.out.splitlines()) < 30
    assert ground.fingerprint() == before, "nothing of the user's was touched"
    doctor = ground.run("doctor", "--run").out
    assert "check unittest: 1 passed here and in a clone" in doctor


def test_each_package_of_a_monorepo_has_its_checks_and_who_reads_whom_is_seen(tmp_path: Path) -> None:
    reads = "import sys\nsys.path.insert(0, '../../libs/core')\n"
    files = {
        "services/api/setup.py": "",
        "services/api/test_api.py": reads + CASE.format(body="import core"),
        "libs/core/setup.py": "",
        "libs/core/core.py": "X = 1\n",
        "libs/core/test_core.py": CASE.format(body="import core"),
    }
    ground = repository(tmp_path, files)
    told = ground.run("init")
    assert "unittest (services/api): 1 passed here and in a clone" in told.out, told.out + told.err
    checks = {check.name: check for check in written(ground).checks.run}
    assert checks["unittest (libs/core)"].paths == ("libs/core/**",)
    assert checks["unittest (services/api)"].paths == ("services/api/**", "libs/core/**")


def test_a_check_that_no_honest_change_can_pass_is_not_taken(tmp_path: Path) -> None:
    files = {"Makefile": "test:\n\ttrue\nlint:\n\tfalse\n"}
    ground = repository(tmp_path, files)
    told = ground.run("init")
    assert [check.name for check in written(ground).checks.run] == ["make test"]
    assert "left out make lint: it fails already" in told.out
    assert written(ground).checks.left_out[0].startswith("make lint: ")


def test_a_file_that_needs_what_is_not_installed_is_left_out_and_without_that_nobody_is_paid(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[project]\nname = 'x'\noptional-dependencies = {test = ['nobody-has-it>=2']}\n",
        "test_a.py": "def test_a():\n    assert True\n",
        "test_b.py": "import nobody_has_it\n\n\ndef test_b():\n    assert nobody_has_it\n",
        "test_c.py": "import to_be_written\n\n\ndef test_c():\n    assert to_be_written\n",
    }
    ground = repository(tmp_path, files)
    told = ground.run("init")
    words = "left out test_b.py: cannot be collected: nobody-has-it is not installed here → pip install nobody-has-it"
    assert words in told.out, told.out + told.err
    (check,) = written(ground).checks.run
    assert "--ignore=test_b.py" in check.command, "and what nobody declares may be what the task is about"
    config = ground.folder / ".devteam/config.toml"
    given = config.read_text().replace('    "--ignore=test_b.py",\n', "").replace(', "--ignore=test_b.py"', "")
    config.write_text(given + AGENT)
    ground.write("plan.md", PLAN)
    assert ground.run("plan", "--from", "plan.md").code == 0
    run = ground.run("run", "--unattended", "--trust", "all")
    assert "test_b.py cannot be collected: nobody-has-it is not installed" in run.out + run.err, run.out + run.err
    assert run.code == 3 and not list(ground.home.rglob("*implementer*")), "nobody was called"


def test_options_of_plug_ins_that_are_not_installed_are_named_and_gone_without(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = -ra --strict-markers --picked-by=nobody --disable-socket\n",
        "test_a.py": "def test_a():\n    assert True\n",
    }
    ground = repository(tmp_path, files)
    told = ground.run("init")
    assert "1 passed here and in a clone" in told.out and "pip install pytest-socket" in told.out, told.out + told.err
    (check,) = written(ground).checks.run
    assert check.command[-2:] == ("-o", "addopts=-ra --strict-markers")
    assert "without --picked-by=nobody --disable-socket" in check.why


def test_what_everything_needs_and_is_not_installed_is_the_next_thing_to_type(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "nobody-has-it>=2\n",
        "conftest.py": "import nobody_has_it\n",
        "test_a.py": "def test_a():\n    assert True\n",
    }
    said = repository(tmp_path, files).run("init").out.splitlines()
    assert said[-1].startswith("next: ") and said[-1].endswith(
        "-m pip install nobody-has-it, then: devteam init --force"
    ), said


def test_however_much_is_found_the_report_is_short_and_what_is_broken_stays_in_sight() -> None:
    many = [f"thing {number}" for number in range(30)]
    findings = [Finding(mark="ok", what=name, found="fine", hint="nothing") for name in many]
    findings.append(Finding(mark="bad", what="submodule", found="empty", hint="fill it"))
    result = Compared(left_out=tuple(LeftOut(name=name, reason="gone") for name in many), findings=tuple(findings))
    lines = report_lines(result, False, many, tuple(many), many)
    assert len(lines) < 25 and "  BROKEN   submodule: empty" in lines and "           → fill it" in lines
    assert "  left out and 27 more: .devteam/config.toml has them" in lines


async def test_a_slow_check_has_its_time_in_both_places_and_gets_it_written_down(tmp_path: Path) -> None:
    ground = repository(tmp_path, {"test_a.py": CASE.format(body="__import__('time').sleep(1.5)")})
    project = small.project_of(ground.folder, tmp_path / "state")
    command = ("python3", "-m", "unittest")
    spec = CheckSpec(name="t", kind=CheckKind.TESTS, command=command, parser="junit", runner="unittest", timeout=1.0)
    async with open_rooms(project, Config()) as rooms:
        result = await compare(rooms.rehearsal, [Candidate(check=spec)], lambda _text: None, choose=True)
    (one,) = result.tried
    assert not one.differs and not result.findings and one.spec.timeout >= 60


async def test_ways_that_come_to_no_end_are_not_all_waited_for_and_what_is_tried_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Django: a quarter of an hour for the first way, as much for each of the others, and nothing said meanwhile."""
    monkeypatch.setattr("engine.service.comparison.TIMEOUT", 0.5)
    ground = repository(tmp_path, {"test_a.py": CASE.format(body="pass")})
    first, *more = [
        CheckSpec(name=name, kind=CheckKind.TESTS, command=("sh", "-c", f"sleep 600; {name}"), timeout=0.5, why=name)
        for name in ("one", "two", "three", "four")
    ]
    said: list[str] = []
    project = small.project_of(ground.folder, tmp_path / "state")
    async with open_rooms(project, Config()) as rooms:
        result = await compare(rooms.rehearsal, [Candidate(check=first, instead=tuple(more))], said.append, choose=True)
    assert not result.tried and "did not finish" in result.left_out[0].reason, result
    assert said == ["one in a copy of your checkout", "two (two) instead, in a copy of your checkout"]


def test_what_passes_the_second_time_is_luck_and_no_difference(tmp_path: Path) -> None:
    sound, red = (CASE.format(body=f"self.assertEqual(1, {number})") for number in (1, 2))
    ground = repository(tmp_path, {"test_a.py": sound, "test_b.py": CASE.format(body="pass")})
    world = {"unittest in a clone": red, "once more in a clone": sound}

    def happens(text: str) -> None:
        if text in world:
            ground.write("test_a.py", world[text])

    desk = Desk(project=small.project_of(ground.folder, tmp_path / "state"))
    said = list(init_project(desk, force=False, today="today", progress=happens))
    words = "unittest: test_a.T.test_a failed in a clone and passes there now, with nothing changed"
    assert f"  found    flaky: {words}" in said, said
    assert not any("BROKEN" in line or "network" in line for line in said), said
    assert any("2 passed here and in a clone" in line for line in said)


def test_names_that_are_others_in_every_run_are_no_difference(tmp_path: Path) -> None:
    moving = CASE.format(body="pass") + '\n\nimport time\n\nsetattr(T, f"test_at_{time.time_ns()}", T.test_a)\n'
    ground = repository(tmp_path, {"test_a.py": moving})
    desk = Desk(project=small.project_of(ground.folder, tmp_path / "state"))
    said = list(init_project(desk, force=False, today="today", progress=lambda _text: None))
    assert any("2 passed here and in a clone" in line for line in said), said
    assert any("test_at_…: another name in every run" in line for line in said), said
    assert not any("BROKEN" in line or "network" in line for line in said), said


def test_a_repository_without_a_commit_is_told_what_that_means(tmp_path: Path) -> None:
    ground = repository(tmp_path, {"Makefile": "test:\n\ttrue\n"})
    ground.git("update-ref", "-d", "HEAD")
    words = "there is no commit yet: the sprint starts from the files as they are"
    assert words in ground.run("init").out and words in ground.run("doctor").out


AGENT = """
[[ladder.rungs]]
name = "one"
agent = "own"

[agents.own]
adapter = "command"
argv = ["sh", "-c", "cat"]
"""
PLAN = "# P\n\nStatus: APPROVED\nTopic: p\n\n## Phase 1: One\n\n- [ ] 1.1 Do it\n  accept: done\n"


def test_a_variable_that_the_tests_ask_for_is_taken_over_and_never_one_that_may_be_a_secret(tmp_path: Path) -> None:
    body = "import os; self.assertEqual(os.environ['APP_ENV'] + os.environ.get('X_TOKEN', ''), 'test')"
    ground = repository(tmp_path, {"test_a.py": CASE.format(body=body)})
    told = ground.run("init")
    assert "KeyError: 'APP_ENV' → export APP_ENV=…" in told.out
    assert "next: export APP_ENV=…, then: devteam init --force" in told.out
    ground.env.update(APP_ENV="test", X_TOKEN="abc")
    told = ground.run("init", "--force")
    assert "unittest asks for APP_ENV: taken over from your environment" in told.out, told.out
    assert "unittest: 1 passed here and in a clone" in told.out
    assert written(ground).checks.run[0].env == {"APP_ENV": "test"}
    secret = CASE.format(body="import os; os.environ['X_TOKEN']")
    ground.write("test_a.py", secret + "\n    def test_b(self):\n        pass\n")
    ground.git("commit", "-qam", "a secret")
    told = ground.run("init", "--force")
    assert 'env = { X_TOKEN = "…" }' in told.out and not written(ground).checks.run[0].env


GREET = "def greet(name):\n    return f'Hello, {name}!'\n"
GREET_TEST = """import unittest

from greet import greet


class T(unittest.TestCase):
    def test_greet(self):
        self.assertEqual(greet("Ann"), "Hello, Ann!")
        self.assertEqual(greet("Bo"), "Hello, Bo!")
"""
GREET_PLAN = """# Greetings

- [ ] 1.1 Add greet(name)
  accept: greet("Ann") returns "Hello, Ann!"
  scope: *.py
"""
RUNG = """
[agents.stub]
argv = ["sh", "{script}"]

[[ladder.rungs]]
name = "stub"
agent = "stub"
model = "stub"
reserve_usd = 0.1
"""


@pytest.mark.parametrize(("tested", "ends"), [(True, "1 of 1"), (False, "0 of 1")], ids=["with-a-test", "without"])
def test_from_an_empty_repository_to_the_first_proven_task(tmp_path: Path, tested: bool, ends: str) -> None:
    """No tests yet is no fault where the configuration says so; a task that brings none stays unproven."""
    ground = repository(tmp_path, {"README.md": "# Greetings\n"})
    bare = ground.run("init")
    assert "devteam init --force --tests pytest|unittest|node" in bare.out
    assert "'jest' is no runner" in ground.run("init", "--force", "--tests", "jest").err
    told = ground.run("init", "--force", "--tests", "unittest")
    assert "finds no tests yet: each task brings its own" in told.out
    assert [(one.name, one.starts_empty) for one in written(ground).checks.run] == [("unittest", True)]
    script = tmp_path / "agent.sh"
    new = {"greet.py": GREET, **({"test_greet.py": GREET_TEST} if tested else {})}
    writes = "".join(f"cat > {name} <<'EOT'\n{text}EOT\n" for name, text in new.items())
    script.write_text(f"cat > /dev/null\n{writes}echo 'STATUS: complete'\n")
    config = ground.folder / ".devteam/config.toml"
    quiet = config.read_text().replace("[task_loop]\n", "[task_loop]\nreview = false\nfinal_review = false\n", 1)
    config.write_text(quiet + RUNG.format(script=script))
    ground.write("greetings.md", GREET_PLAN)
    assert ground.run("plan", "--from", "greetings.md").code == 0
    done = ground.run("run", "--unattended", "--trust", "all", "--max-iterations", "1")
    assert f"{ends} task" in done.out, done.out + done.err
    assert ("→ PROVEN" in done.out) is tested


def test_test_files_that_the_runner_does_not_find_are_no_empty_start(tmp_path: Path) -> None:
    files = {"setup.cfg": "[tool:pytest]\npython_files = check_*.py\n", "tests/test_a.py": "def test_a():\n    pass\n"}
    ground = repository(tmp_path, files)
    told = ground.run("init")
    assert "finds no tests yet" not in told.out
    assert not [one for one in written(ground).checks.run if one.starts_empty]


SETUP = (
    "import sys\n\n# ext_modules\n"
    "assert sys.argv[1:] == ['-q', 'build_ext', '--inplace'], sys.argv\n"
    "made = open('fast.c').read()\nassert 'error' not in made\nopen('fast.so', 'w').write(made.upper())\n"
)


def test_what_is_compiled_is_built_in_the_room_from_the_sources_there(tmp_path: Path) -> None:
    """Copied, an extension module would say what it said in the checkout, whatever a change does to its sources."""
    reads = "self.assertEqual(open('fast.so').read(), 'ONE')"
    ground = repository(tmp_path, {"test_a.py": CASE.format(body=reads), "setup.py": SETUP, "fast.c": "one"}, "*.so\n")
    ground.write("fast.so", "ONE")
    told = ground.run("init")
    assert "built: fast.so: built in each room before the tests, from the sources there" in told.out, told.out
    (check,) = written(ground).checks.run
    assert check.build[1:] == ("setup.py", "-q", "build_ext", "--inplace")
    assert written(ground).workspace.copy == ()
    assert "1 passed here and in a clone" in ground.run("doctor", "--run").out
    ground.write("setup.py", "import nothing_of_that_name\n")
    ground.git("commit", "-qam", "cannot be built")
    told = ground.run("init", "--force")
    assert "copied: the checks need fast.so" in told.out, told.out
    assert "a change of their sources is not seen by the tests" in told.out
    assert written(ground).workspace.copy == ("fast.so",)


def test_the_telling_line_of_an_error_is_no_frame_of_its_stack() -> None:
    text = "TypeError: no comments\n    at ruleErrorHandler (/a/linter.js:10:28)\n    at f (/a/b.js:1:2)\n"
    assert telling_line(text) == "TypeError: no comments"
