"""A session: one engine on one repository. Puts the rooms together, holds the lock, runs a sprint, keeps the views."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from msgspec.structs import replace

from engine import VERSION, views
from engine.bus import Bus
from engine.clock import Clock
from engine.config import Config, ConfigRefused, config_hash, to_policy
from engine.core import events as ev
from engine.core.commands import AnyCommand
from engine.core.model import Plan, Struct
from engine.core.policy import Policy
from engine.core.state import State
from engine.elsewhere import elsewhere
from engine.inbox import BadCommand, Inbox
from engine.journal import EngineLock, Journal, JournalError
from engine.notify import Notifier
from engine.paths import make_state
from engine.perform.calls import Calls
from engine.perform.checks.spec import CheckSpec, Setting
from engine.perform.checks.trust import is_trusted, trust
from engine.perform.environment import NETWORK, scrubbed
from engine.perform.judging import Judging
from engine.perform.probe import probe, run_id_of
from engine.perform.process import ProcessSpawner
from engine.perform.reaper import end_orphans
from engine.perform.redact import Redactor
from engine.perform.redacted import Redacted, redacting
from engine.perform.setup import Dependencies
from engine.perform.shell import Shell
from engine.plans.change import describe_change
from engine.plans.contract import PlanRefused
from engine.plans.registry import read_plan
from engine.plans.sprints import SprintFolder
from engine.project import Project, fingerprint, load_state, topic_of
from engine.runner import Ack, Boundary, Observer, Runner, RunOptions
from engine.settings import (
    Unready,
    agents_of,
    check_specs,
    held_out,
    integrity,
    leave_aside,
    open_workspace,
    setup_steps,
    what_runs,
)
from engine.viewing import Views, as_marked

SETTLED = 1.0
"""Seconds into a run before its files are watched; what was edited until then is read at once."""


BACKUP_SECONDS = 600.0
"""A backup copies and verifies the whole journal, so not every checkpoint makes one: each names its place in it."""


class Untrusted(Exception):  # noqa: N818  it is a question, not a fault
    """The repository's check commands were never confirmed, or have changed since."""

    def __init__(self, hash_: str, commands: tuple[tuple[str, str], ...]) -> None:
        super().__init__("the check commands of this repository are not trusted yet")
        self.hash = hash_
        self.commands = commands


class Unsafe(Exception):  # noqa: N818  it is an answer, not a fault
    """Unattended work without a sandbox has to be asked for by name."""


class Options(Struct, frozen=True, kw_only=True):
    """How a session is started."""

    attended: bool = True
    waits: bool = True
    max_iterations: int = 0
    lanes: int = 0
    trust: str = ""
    """Hash of the check commands to trust; "all" trusts what is there (the demo's own repository)."""
    no_sandbox: bool = False
    speed: float = 1.0
    utc_offset: float = 0.0


class Session:
    """Opened with `Session.open`; `run` runs the sprint to its end."""

    def __init__(self, project: Project, sprint: SprintFolder, clock: Clock, options: Options) -> None:
        self.project = project
        self.sprint = sprint
        self.bus = Bus()
        self._clock = clock
        self._options = options
        self._boundary: Boundary = lambda _where, _effect: None
        self._runner: Runner | None = None
        self.opened_at = 0
        """The last sequence number before this session said anything: who watches later reads on from here."""
        self._backed_up = float("-inf")
        self._stack = contextlib.AsyncExitStack()

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        project: Project,
        sprint: SprintFolder,
        clock: Clock,
        options: Options,
        boundary: Boundary = lambda _where, _effect: None,
    ) -> AsyncIterator[Session]:
        """Take the lock, verify the journal, end what an earlier run left, and be ready to run."""
        session = cls(project, sprint, clock, options)
        session._boundary = boundary
        async with session._stack:
            await session._assemble()
            yield session

    @property
    def runner(self) -> Runner:
        if self._runner is None:
            raise RuntimeError("the session is not open")
        return self._runner

    @property
    def state(self) -> State:
        return self.runner.state

    async def run(self) -> State:
        """The sprint, to the end of this run. Commands from other processes and edits of the plan come in meanwhile."""
        helpers = [asyncio.create_task(self._hear_inbox()), asyncio.create_task(self._watch_files())]
        try:
            state = await self.runner.run(self._run_options)
            with contextlib.suppress(
                JournalError
            ):  # A backup that cannot be made must not turn a good end into a bad one.
                self._journal.backup()
            return state
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
            self._views.flush(self.state)
            await self._notifier.close()
            self.bus.close()

    async def send(self, command: AnyCommand) -> Ack:
        return await self.runner.send(command)

    def watch(self, observer: Observer) -> None:
        """Call `observer` with every batch of facts, as soon as it is in the journal."""
        self.runner.watch(observer)

    # ── putting it together ────────────────────────────────────────────────────────────────────────────────────────

    async def _assemble(self) -> None:
        project, options = self.project, self._options
        config = project.config()
        plan = read_plan(self.sprint.plan_path)
        places = make_state(project.state)
        self._stack.enter_context(EngineLock.acquire(places.lock, self._clock.now))
        specs = check_specs(config, project.root)
        held = held_out(config, project.home)
        self._check_trust(config)
        agents = agents_of(project, config, self._clock.now, options.speed)
        agents.must_be_here(to_policy(config).ladder.rungs)
        self._must_be_checkable(plan, specs)
        await asyncio.to_thread(leave_aside, project, self._clock.now())
        journal = self._stack.enter_context(
            Journal.open(project.repo.db, clock=self._clock.now, backup_dir=project.backups)
        )
        self._journal = journal
        state = load_state(journal, self.sprint.id)
        self.opened_at = state.seq
        if state.running:
            await asyncio.to_thread(end_orphans, state.run)
        scratch = places.root / "scratch"
        scratch.mkdir(mode=0o700, exist_ok=True)
        # A probe that was killed in its first moment is not yet bound to its engine's life.
        await asyncio.to_thread(end_orphans, run_id_of(scratch))
        wanted = "none" if options.no_sandbox else config.sandbox.mode
        mode, workspace = await asyncio.gather(
            probe(wanted, scratch=scratch, home=project.home),
            asyncio.to_thread(open_workspace, project, self.sprint.id, config),
        )
        if mode.name == "none" and not options.attended and not options.no_sandbox:
            raise Unsafe(f"there is no sandbox here ({mode.detail}); say --no-sandbox to run unattended all the same")
        run_id = uuid.uuid4().hex
        spawner = ProcessSpawner(mode, run_id, self._clock.monotonic, home=project.home, scratch=scratch)
        secrets = agents.secrets(config)
        redactor = Redactor(secrets)
        publish = redacting(self.bus.publish, redactor)
        hide = (places.root,)
        setting = Setting(
            checkout=workspace.checkout,
            scratch=scratch,
            evidence=places.evidence,
            env=scrubbed(project.env),
            mounts=workspace.mounts,
            hide=hide,
            jobs=config.checks.jobs,
            policy=integrity(config),
            config_hash=config_hash(config),
        )
        judging = Judging(
            workspace=workspace,
            specs=specs,
            held_out=held,
            setting=setting,
            spawner=spawner,
            now=self._clock.now,
            publish=publish,
            redact=redactor.text,
        )
        calls = Calls(
            spawner=spawner,
            adapter_of=agents.adapter,
            login_of=agents.login,
            checkout=workspace.checkout,
            lane_path=workspace.lane_path,
            diff_of=workspace.diff,
            mounts_of=lambda: workspace.mounts,
            hide=hide,
            state_dir=places.root,
            user_home=project.home,
            context_of=views.context,
            lessons_of=views.lessons,
            secrets=secrets,
            publish=publish,
            now=self._clock.now,
        )
        dependencies = Dependencies(
            workspace=workspace,
            steps=setup_steps(config, project.repo.init_script),
            spawner=spawner,
            env=scrubbed(project.env, NETWORK),
            hide=hide,
            redact=redactor.text,
        )
        shell = Shell(
            workspace=workspace,
            dependencies=dependencies,
            judging=judging,
            calls=calls,
            now=self._clock.now,
            keepsakes=lambda: self._keepsakes(journal),
            publish=publish,
        )
        self._views = Views(project, self.sprint)
        self._notifier = Notifier(config.notify_command, spawner, project, self._clock.now)
        self._config_hash = config_hash(config)
        self._runner = Runner(
            journal=journal,
            stream=self.sprint.id,
            state=state,
            performer=Redacted(shell, redactor),
            clock=self._clock,
            bus=self.bus,
            fingerprint=fingerprint(),
            observers=(self._views, self._notifier),
            boundary=self._boundary,
        )
        self._first_words(journal, state, plan)
        spent, recent, known = elsewhere(journal, self.sprint.id, self._clock.now(), options.utc_offset)
        self._run_options = RunOptions(
            run=run_id,
            pid=os.getpid(),
            policy=self._policy(config),
            attended=options.attended,
            waits=options.waits,
            sandbox=mode.name,
            version=VERSION,
            utc_offset=options.utc_offset,
            max_iterations=options.max_iterations,
            config_hash=self._config_hash,
            checks=tuple(spec.name for spec in specs),
            day_spent_usd=spent,
            recent_calls=recent,
            measured=known,
        )

    def _policy(self, config: Config) -> Policy:
        """The configuration's, with what the command line said over it: an edit of the file does not undo that."""
        policy, options = to_policy(config), self._options
        return replace(
            policy,
            lanes=options.lanes or policy.lanes,
            max_iterations=options.max_iterations or policy.max_iterations,
        )

    def _check_trust(self, config: Config) -> None:
        root = self.project.state.root
        wanted, commands = what_runs(self.project, config)
        if self._options.trust in (wanted, "all"):
            trust(root, wanted, self._clock.now())
        elif not is_trusted(root, wanted):
            raise Untrusted(wanted, commands)

    def _must_be_checkable(self, plan: Plan, specs: tuple[CheckSpec, ...]) -> None:
        """No agent is paid for work that nothing could ever prove."""
        unproven = [task.id for task in plan.tasks() if not task.verify and not task.done and not task.skipped]
        if unproven and not any(spec.required for spec in specs):
            hint = "add [[checks.run]] to .devteam/config.toml, or `verify: COMMAND` to the tasks in plan.md"
            raise Unready(f"no check is configured, so no task could ever pass (tasks {', '.join(unproven)})", hint)

    def _first_words(self, journal: Journal, state: State, plan: Plan) -> None:
        """What is to be said before the run: a new sprint, an edited plan, a journal that had to be restored."""
        runner = self.runner
        if not state.sprint:
            topic = topic_of(plan, self.sprint)
            runner.append(ev.SprintCreated(sprint=self.sprint.id, plan=plan, branch=self.sprint.branch, topic=topic))
        else:
            self._take_up_plan(plan)
        if journal.recovery is not None:
            runner.append(ev.Noted(text=journal.recovery.words(), level="warning"))

    def _take_up_plan(self, plan: Plan) -> None:
        known = self.state.plan
        summary = describe_change(as_marked(known, self.state), replace(plan, status=known.status)) if known else ""
        if summary:
            self.runner.append(ev.PlanChanged(plan=plan, summary=summary))

    def _keepsakes(self, journal: Journal) -> dict[str, Path | bytes]:
        """What a checkpoint keeps besides git."""
        repo, now = self.project.repo, self._clock.now()
        if not 0 <= now - self._backed_up < BACKUP_SECONDS:
            journal.backup()
            self._backed_up = now
        files: dict[str, Path | bytes] = {"journal.json": journal.place()}
        for path in (repo.features, repo.progress, self.sprint.context_path, self.sprint.plan_path):
            if path.is_file():
                files[path.name] = path
        return files

    # ── while it runs ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _hear_inbox(self) -> None:
        """Commands from other processes; each is acknowledged by an event before its file goes."""
        inbox = Inbox(self.project.state.inbox, self._clock)
        async for batch in inbox.arrivals():
            for name, command in batch:
                if isinstance(command, BadCommand):
                    self.runner.tell(ev.Noted(text=command.reason, level="warning", hint=command.hint))
                else:
                    await self.runner.send(command)
                inbox.done(name)

    async def _watch_files(self) -> None:
        """An edit of plan.md or config.toml is taken up between tasks, and announced."""
        await self._clock.sleep(SETTLED)  # the import costs as much as ten calls of git: not before the first agent
        from watchfiles import awatch

        self._reread()
        paths = [path for path in (self.sprint.plan_path, self.project.repo.config) if path.exists()]
        async for _changes in awatch(*paths, debounce=400, step=100, recursive=False):
            self._reread()

    def _reread(self) -> None:
        try:
            self._take_up_plan(read_plan(self.sprint.plan_path))
            config = self.project.config()
        except (PlanRefused, ConfigRefused) as refused:
            said = str(refused).splitlines()[0]
            self.runner.tell(ev.Noted(text=f"not taken up: {said}", level="warning", hint="mend it and save again"))
            return
        if config_hash(config) != self._config_hash:
            self._config_hash = config_hash(config)
            said = "budgets, gates, ladder and limits of the new config.toml hold from now on; checks from the next run"
            self.runner.tell(ev.PolicyChanged(policy=self._policy(config), summary=said))
        self.runner.tell()
