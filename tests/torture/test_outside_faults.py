"""Faults that come from outside a running engine: no descriptors, no memory, a stopped process, a user at their editor.

The engine is the real command line in a process of its own. It may suspend itself; no task ends for it."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.core import events as ev
from engine.core.model import MachineFault, ResultKind
from engine.service.local import Desk
from tests.engine import small
from tests.patience import slowed, until
from tests.process.test_escapes import ORDINARY, interpreter

ROOT = Path(__file__).parents[2]
SLOW = small.SCENARIO.replace('output = ["trying"]', 'output = ["a", "b", "c", "d"]\ndelay = 0.5').replace(
    'output = ["mending"]', 'output = ["a", "b", "c", "d"]\ndelay = 0.5'
)
NO_PROCESSES = MachineFault.NO_PROCESSES
pytestmark = pytest.mark.torture


class Running:
    """`devteam run --unattended` in a small repository."""

    def __init__(
        self,
        place: Path,
        config: str = small.CONFIG,
        plan: str = small.PLAN,
        ordinary: tuple[str, ...] = (),
        scenario: str = SLOW,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`ordinary`: the command that starts an interpreter as a user without rights."""
        self.repo, home = place / "repo", place / "home"
        home.mkdir(exist_ok=True)
        self.sprint = small.make(self.repo, scenario=scenario, config=config, plan=plan)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
        self.env |= env or {}
        if ordinary:
            self.env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
            self.env["PYTHONPATH"] = os.pathsep.join((str(ROOT), *(one for one in sys.path if "site-packages" in one)))
            self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.project = small.project_of(self.repo, home / ".local" / "state")
        self.desk = Desk(project=self.project)
        self.argv = [
            *(ordinary or (sys.executable,)),
            "-P",
            "-m",
            "tui.cli.main",
            "run",
            "--unattended",
            "--trust",
            "all",
        ]
        self.out = (place / "out").open("w+")
        for path in (place, *place.rglob("*")) if ordinary else ():
            os.chown(path, ORDINARY, ORDINARY, follow_symlinks=False)
        self.process = subprocess.Popen(self.argv, cwd=self.repo, env=self.env, stdout=self.out, stderr=self.out)

    def events(self) -> list[ev.Fact]:
        return [one.event for one in self.desk.events(self.sprint.id)]

    def faults(self) -> set[MachineFault]:
        return {event.fault for event in self.events() if isinstance(event, ev.EffectFailed) and event.fault}

    def wait_for(self, kind: type) -> None:
        until(lambda: any(isinstance(event, kind) for event in self.events()), 60)

    def ended(self) -> str:
        self.process.wait(timeout=slowed(300))
        self.out.seek(0)
        return self.out.read()

    def holds(self) -> None:
        """Both tasks complete, once each; nothing ended for the machine's fault."""
        said = self.ended()
        assert "Traceback" not in said, said[-3000:]
        ends = [(event.task, event.decision) for event in self.events() if isinstance(event, ev.TaskEnded)]
        assert sorted(ends) == [("1.1", "COMPLETE"), ("1.2", "COMPLETE")], said[-3000:]
        assert self.process.returncode == 0, said[-3000:]
        subjects = [subject for subject, _ in small.branch(self.repo, self.sprint.branch)]
        assert sum(subject.startswith("impl(") for subject in subjects) == 2


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.process.kill()
    made.process.wait()
    made.out.close()


@contextmanager
def limited(pid: int, what: int, most: int) -> Iterator[None]:
    before = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, what, before)


def test_descriptors_run_out_for_a_while(running: Running) -> None:
    running.wait_for(ev.EffectStarted)
    used = len(list(Path(f"/proc/{running.process.pid}/fd").iterdir()))
    with limited(running.process.pid, resource.RLIMIT_NOFILE, used + 1):
        time.sleep(slowed(4.0))
    running.holds()


def test_memory_runs_out_for_a_while(running: Running) -> None:
    running.wait_for(ev.EffectStarted)
    size = int(Path(f"/proc/{running.process.pid}/statm").read_text().split()[0]) * resource.getpagesize()
    with limited(running.process.pid, resource.RLIMIT_AS, size + (1 << 20)):
        time.sleep(slowed(4.0))
    running.holds()


def test_processes_run_out_for_a_while() -> None:
    """RLIMIT_NPROC counts a user's processes, and root's not at all: the engine runs as a user that nobody else is."""
    setpriv, python = shutil.which("setpriv"), interpreter()
    if os.geteuid() != 0 or not setpriv or not python:
        pytest.skip("only root can become a user of its own here")
    with tempfile.TemporaryDirectory(prefix="ordinary-") as folder:
        place = Path(os.path.realpath(folder))
        become = (setpriv, f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--", python)
        running = Running(place, ordinary=become)
        try:
            # Whoever opens a journal first makes its files: that has to be the engine.
            until(lambda: (running.repo / ".devteam" / "devteam.db-shm").exists(), 60)
            running.wait_for(ev.EffectStarted)
            pid = running.process.pid
            before = resource.getrlimit(resource.RLIMIT_NPROC)  # the child has what we have

            def most(number: int) -> None:  # by the user itself: not every root may do that to others
                words = f"import resource; resource.prlimit({pid}, resource.RLIMIT_NPROC, ({number}, {before[1]}))"
                subprocess.run([*become, "-c", words], check=True)

            most(1)
            until(lambda: NO_PROCESSES in running.faults(), 60)
            assert running.process.poll() is None, "it is suspended, not over"
            time.sleep(slowed(3.0))
            most(before[0])
            running.ended()
            for path in (place, *place.rglob("*")):  # git reads no repository of somebody else
                os.chown(path, 0, 0, follow_symlinks=False)
            running.holds()
            assert any(isinstance(event, ev.MachineProbed) and event.ok for event in running.events())
        finally:
            running.process.kill()
            running.process.wait()
            running.out.close()


def test_an_engine_that_was_stopped_longer_than_idle_throws_no_agent_away(tmp_path: Path) -> None:
    running = Running(tmp_path, small.CONFIG + "\n[timeouts]\nidle = 3\n")
    try:
        running.wait_for(ev.EffectStarted)
        until(lambda: any(type(getattr(e, "effect", None)).__name__ == "CallAgent" for e in running.events()), 60)
        running.process.send_signal(signal.SIGSTOP)
        time.sleep(slowed(8.0))
        running.process.send_signal(signal.SIGCONT)
        running.holds()
        kinds = [event.result.kind for event in running.events() if isinstance(event, ev.AgentFinished)]
        assert set(kinds) == {ResultKind.OK}, kinds
    finally:
        running.process.kill()
        running.process.wait()
        running.out.close()


def test_no_line_of_five_thousand_that_the_user_appends_meanwhile_is_lost(running: Running) -> None:
    """In place and by rename, as editors save, while the engine ticks its boxes."""
    plan, wrote = running.sprint.plan_path, []
    done = threading.Event()

    def at_the_editor() -> None:
        for number in range(5000):
            line = f"<!-- line {number} -->\n"
            with plan.open("a") as file:
                file.write(line)
            wrote.append(line)
            if number % 100 == 0:
                time.sleep(0.02)
            if done.is_set() and number >= 5000:
                return

    typing = threading.Thread(target=at_the_editor)
    running.wait_for(ev.EffectStarted)
    typing.start()
    typing.join()
    running.holds()
    text = plan.read_text()
    lost = [line for line in wrote if line not in text]
    assert not lost, f"{len(lost)} lines lost, e.g. {lost[0]}"
    assert text.count("- [x]") == 2


def test_a_task_that_an_editor_saves_by_rename_in_mid_run_is_done_too(running: Running) -> None:
    running.wait_for(ev.EffectStarted)
    more = "\n- [ ] 1.3 Write a third\n      scope: third.txt\n      proof: none\n      complexity: 1\n"
    scenario = running.repo / ".devteam" / "scenario.toml"
    plan = running.sprint.plan_path
    fresh = plan.with_suffix(".swp")
    fresh.write_text(plan.read_text().rstrip("\n") + "\n" + more)
    fresh.rename(plan)
    said = running.ended()
    ended = {event.task: event.decision for event in running.events() if isinstance(event, ev.TaskEnded)}
    started = {event.task for event in running.events() if isinstance(event, ev.TaskStarted)}
    assert "1.3" in started, said[-2000:]
    assert scenario.exists()
    assert ended["1.1"] == ended["1.2"] == "COMPLETE"
    assert "All tasks complete" not in said or ended.get("1.3") == "COMPLETE"


def test_a_lowered_budget_holds_from_the_next_task_on(running: Running) -> None:
    running.wait_for(ev.EffectStarted)
    config = running.repo / ".devteam" / "config.toml"
    fresh = config.with_suffix(".swp")
    fresh.write_text(config.read_text() + "\n[budget]\nmax_calls = 1\n")
    fresh.rename(config)
    said = running.ended()
    assert any(isinstance(event, ev.PolicyChanged) for event in running.events()), said[-2000:]
    assert running.process.returncode == 2, said[-2000:]


def test_a_deleted_settings_folder_is_said_and_waited_for(running: Running) -> None:
    """Journal, plan and configuration are in it: nothing can be recorded, and who looks at the terminal is told so."""
    running.wait_for(ev.EffectStarted)
    place, aside = running.repo / ".devteam", running.repo.parent / "aside"
    shutil.copytree(place, aside)
    shutil.rmtree(place)
    until(lambda: "Bring the folder back" in Path(running.out.name).read_text(), 120)
    assert running.process.poll() is None
    shutil.copytree(aside, place)
    said = running.ended()
    assert "Traceback" not in said, said[-3000:]
