"""A session: one engine on one repository. Puts the rooms together, holds the lock, runs a sprint, keeps the views."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shlex
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from engine import VERSION, learnings, state_folder, tidying, views
from engine.attendance import Attendance
from engine.bus import Bus
from engine.channel.messages import PROTOCOL, Reply, Welcome
from engine.channel.server import ChannelServer
from engine.clock import Clock
from engine.config import Config, ConfigRefused, config_hash, to_policy
from engine.core import events as ev
from engine.core.commands import Ack, AnyCommand, Stop
from engine.core.model import Plan
from engine.core.policy import Policy
from engine.core.sandboxes import SandboxName
from engine.core.state import State
from engine.core.waiting import waits_for
from engine.engine_log import EngineLog
from engine.inside import by_session
from engine.journal import EngineLock, Journal, JournalError
from engine.notify import Notifier
from engine.other_sprints import elsewhere
from engine.paths import make_state
from engine.perform.agents.session import NAME as SESSION
from engine.perform.agents.session import SessionAgent
from engine.perform.calls import Calls
from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.checks.trust import is_trusted, trust
from engine.perform.dependencies import Dependencies
from engine.perform.machine import OnThisMachine, Performs
from engine.perform.process.environment import NETWORK, scrubbed
from engine.perform.process.probe import probe, run_id_of
from engine.perform.process.reaper import end_orphans, is_no_child_of_ours
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Adapter
from engine.perform.reconcile import at_start, unheard_calls
from engine.perform.run_checks import Judging
from engine.perform.secrets.redact import Redactor
from engine.perform.secrets.redacted_facts import Redacted, redacting
from engine.perform.shell import Shell
from engine.perform.surveying import Surveyor
from engine.perform.workspace import git_service
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace
from engine.plans.change import describe_change
from engine.plans.plan_format import PlanRefused
from engine.plans.registry import read_plan
from engine.plans.sprints import SprintFolder
from engine.project import Project, fingerprint, load_state, topic_of
from engine.runner import Boundary, Observer, Runner, RunOptions
from engine.session_options import Ask, Options, Unsafe, Untrusted
from engine.settings import (
    Unready,
    agents_of,
    check_specs,
    held_out,
    integrity,
    leave_aside,
    open_workspace,
    server_of,
    setup_steps,
    what_runs,
)
from engine.told_learnings import Lessons, lessons_for
from engine.view_writer import Views, as_marked

SETTLED = 1.0
"""Seconds into a run before its files are watched; what was edited until then is read at once."""


FIRST_VIEWER_SECONDS = 20.0
"""How long the one who started the run may take to look on before it counts as left alone."""
BACKUP_SECONDS = 600.0
"""A backup copies and verifies the whole journal, so not every checkpoint makes one: each names its place in it."""


class Session:
    """Opened with `Session.open`; `run` runs the sprint to its end."""

    def __init__(self, project: Project, sprint: SprintFolder, clock: Clock, options: Options) -> None:
        self.project = project
        self.sprint = sprint
        self.bus = Bus()
        self._clock = clock
        self._options = options
        self._boundary: Boundary = lambda _where, _effect: None
        self._around: Callable[[Performs], Performs] = lambda performer: performer
        self._runner: Runner | None = None
        self.opened_at = 0
        """The last sequence number before this session said anything: who watches later reads on from here."""
        self._backed_up = float("-inf")
        self._stack = contextlib.AsyncExitStack()
        self.answering: Callable[[bytes], bytes] = lambda _query: b'{"error":"this engine answers no queries"}'
        """How a viewer's query is answered, in the link's own form."""
        self.order = ""
        """What the user's own session is to do next, where it is the implementer."""

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls,
        project: Project,
        sprint: SprintFolder,
        clock: Clock,
        options: Options,
        boundary: Boundary = lambda _where, _effect: None,
        around: Callable[[Performs], Performs] = lambda performer: performer,
    ) -> AsyncIterator[Session]:
        """Take the lock, verify the journal, end what an earlier run left, and be ready to run.

        `around` may put itself around whoever performs the effects: for drills, in which something goes wrong."""
        session = cls(project, sprint, clock, options)
        session._boundary = boundary
        session._around = around
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
        helpers = [asyncio.create_task(self._watch_files()), asyncio.create_task(self._log.beat())]
        if self._options.follows_viewers:
            helpers.append(asyncio.create_task(self._attendance.attend(FIRST_VIEWER_SECONDS)))
        try:
            async with self._channel.serving():
                state = await self.runner.run(self._run_options, self._found)
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
        plan = None if self.sprint.unplanned() else read_plan(self.sprint.plan_path)
        moved_from = state_folder.moved_from(project.state.root, project.root)
        places = make_state(project.state)
        self._stack.enter_context(EngineLock.acquire(places.lock, self._clock.now))
        specs = check_specs(config, project.root)
        held = held_out(config, project.home)
        self._check_trust(config)
        agents = agents_of(project, config, self._clock.now, options.speed)
        agents.must_be_here(to_policy(config).ladder.rungs)
        if plan is not None and not self.sprint.request():
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
        if not mode.unattended and not options.attended and not options.no_sandbox:
            what = "there is no sandbox here" if mode.name is SandboxName.NONE else "the sandbox here is not enough"
            why = "; ".join((mode.detail, *(mode.lost[:1] if mode.name is not SandboxName.NONE else ())))
            raise Unsafe(
                f"{what} for work that nobody watches ({why}); say --no-sandbox to run unattended all the same"
            )
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
        surveyor = Surveyor(
            workspace=workspace,
            checks=tuple((spec.name, shlex.join(spec.command)) for spec in specs),
            required=any(spec.required for spec in specs),
            decisions=lambda: tuple(one.title for one in learnings.read_all(project.root) if not one.dropped)[-30:],
            now=self._clock.now,
        )
        calls = Calls(
            spawner=spawner,
            adapter_of=self._with_session(agents.adapter, workspace),
            login_of=agents.login,
            checkout=workspace.checkout,
            lane_path=workspace.lane_path,
            diff_of=workspace.diff,
            mounts_of=lambda: workspace.mounts,
            hide=hide,
            state_dir=places.root,
            homes=places.homes_of(self.sprint.id),
            logs=places.logs_of(self.sprint.id),
            user_home=project.home,
            context_of=lambda state: views.context(state) + surveyor.context(state) + dependencies.context(),
            lessons_of=self._lessons,
            secrets=secrets,
            publish=self.bus.publish,  # what agents say is redacted where it comes in
            now=self._clock.now,
        )
        dependencies = Dependencies(
            workspace=workspace,
            steps=setup_steps(config, project.repo.init_script),
            spawner=spawner,
            env=scrubbed(project.env, NETWORK),
            hide=hide,
            redact=redactor.text,
            server=server_of(config, project, spawner, redactor.text),
        )
        self._stack.push_async_callback(dependencies.close)
        self._stack.callback(git_service.close_all)
        shell = Shell(
            workspace=workspace,
            dependencies=dependencies,
            judging=judging,
            calls=calls,
            surveyor=surveyor,
            now=self._clock.now,
            keepsakes=lambda: self._keepsakes(journal),
            publish=publish,
        )
        on_machine = OnThisMachine(
            self._around(shell),
            spawner,
            state_root=places.root,
            checkout=workspace.checkout,
            repository=lambda: asyncio.to_thread(_found, workspace),
        )
        self._log = EngineLog(project.state.root, redactor.text, self._clock.now)
        self._stack.callback(self._log.close)
        self._log.write("opened", version=VERSION, sprint=self.sprint.id, run=run_id, sandbox=mode.name)
        self._views = Views(project, self.sprint)
        self._notifier = Notifier(config.notify_command, config.quiet_hours, spawner, project, self._clock)
        self._config_hash = config_hash(config)
        self._seen: tuple[tuple[int, ...], ...] = ()
        self._runner = Runner(
            journal=journal,
            stream=self.sprint.id,
            state=state,
            performer=Redacted(on_machine, redactor),
            clock=self._clock,
            bus=self.bus,
            fingerprint=fingerprint(),
            observers=(self._views, self._notifier, self._log),
            on_bug=self._log.bug,
            boundary=self._boundary,
            outside=self._edits,
        )
        self._must_be_approved(state, plan)
        self._attendance = Attendance(
            state=lambda: self.state,
            send=self.runner.put,
            note=lambda text: self.runner.tell(ev.Noted(text=text, level="warning", hint="devteam run goes on")),
            clock=self._clock,
        )
        self._channel = ChannelServer(
            places.socket,
            bus=self.bus,
            obey=self._obey,
            answer=lambda query: self.answering(query),
            facts=self._recorded,
            inflight=lambda: self.state.inflight,
            welcome=self._welcome,
            on_viewers=self._attendance.viewers,
            admitted=is_no_child_of_ours,
        )
        last = journal.last_at()
        self._first_words(journal, state, plan)
        self._found = await self._reconciled(workspace, last)
        keep = config.workspace.keep_sprints
        self._found += await asyncio.to_thread(
            tidying.at_start, project, workspace.store, keep, self._clock.now(), self.sprint.id
        )
        if moved_from is not None and state.sprint:
            self.runner.append(ev.Noted(text=f"the repository was moved here from {moved_from}; its state came along"))
        others = elsewhere(journal, self.sprint.id, self._clock.now(), options.utc_offset)
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
            day_spent_usd=others.spent_usd,
            recent_calls=others.calls,
            measured=others.measured,
            until=options.until,
            history=others.tasks,
            disputed=learnings.disputed(learnings.read_all(self.project.root)),
        )

    def _policy(self, config: Config) -> Policy:
        """The configuration's, with what the command line said over it: an edit of the file does not undo that."""
        policy, options = to_policy(config), self._options
        if options.by_session is not None:
            policy = by_session(policy)
        return replace(
            policy,
            lanes=1 if options.by_session else options.lanes or policy.lanes,
            max_iterations=options.max_iterations or policy.max_iterations,
        )

    def _with_session(self, adapter_of: Callable[[str], Adapter], workspace: Workspace) -> Callable[[str], Adapter]:
        """The adapters of the run; where the user's own session implements, it is one of them."""
        work = self._options.by_session
        if work is None:
            return adapter_of

        def take() -> None:
            workspace.prepare(0, workspace.user_tree())

        def ask(order: str) -> None:
            self.order = order
            self.runner.put(Stop(now=True, by="the session's turn"))

        session = SessionAgent(work=work.said, session=work.session, take=take, ask=ask)
        return lambda name: session if name == SESSION else adapter_of(name)

    def _check_trust(self, config: Config) -> None:
        root = self.project.state.root
        wanted, commands = what_runs(self.project, config)
        if self._options.trust in (wanted, "all"):
            trust(root, wanted, self._clock.now())
        elif commands and not is_trusted(root, wanted):
            raise Untrusted(wanted, commands)

    def _must_be_checkable(self, plan: Plan, specs: tuple[CheckSpec, ...]) -> None:
        """No agent is paid for work that nothing could ever prove."""
        unproven = [task.id for task in plan.tasks() if not task.verify and not task.done and not task.skipped]
        if unproven and not any(spec.required for spec in specs):
            hint = "add [[checks.run]] to .devteam/config.toml, or `verify: COMMAND` to the tasks in plan.md"
            raise Unready(f"no check is configured, so no task could ever pass (tasks {', '.join(unproven)})", hint)

    def _must_be_approved(self, state: State, plan: Plan | None) -> None:
        """A draft never runs, whoever wrote it. One that the planning conversation is about is what it talks of."""
        by_hand = not self.sprint.request() or (state.plan is not None and self._views.edited())
        if plan is not None and plan.status == "DRAFT" and by_hand:
            said = f"{self.sprint.plan_path} says Status: DRAFT, and a draft never runs"
            hint = f"devteam plan --sprint {self.sprint.id}   (it is checked and reviewed, then you are asked)"
            raise Unready(said, f"{hint}; or write Status: APPROVED there")

    def _first_words(self, journal: Journal, state: State, plan: Plan | None) -> None:
        """What is to be said before the run: a new sprint, an edited plan, a journal that had to be restored."""
        runner, ask = self.runner, self._options.planning
        if self.sprint.request() and (not state.sprint or (ask is not None and state.plan is None)):
            runner.append(self._requested(ask or Ask()))
            if plan is not None and state.planning is None:  # written by hand: what the conversation begins with
                runner.append(ev.PlanDrafted(id="", plan=plan, by="you"))
        if not self.sprint.request() and not state.sprint and plan is not None:
            topic = topic_of(plan, self.sprint)
            runner.append(ev.SprintCreated(sprint=self.sprint.id, plan=plan, branch=self.sprint.branch, topic=topic))
        elif plan is not None:
            runner.append(*self._plan_edit(plan))
        if journal.recovery is not None:
            runner.append(ev.Noted(text=journal.recovery.words(), level="warning"))

    async def _reconciled(self, workspace: Workspace, last: float) -> list[ev.AnyEvent]:
        """Journal against branch and logs; `last`: when the journal's last event was recorded."""
        state = self.state

        def commits() -> set[str]:
            return {one.commit for one in self._told_so_far() if isinstance(one, ev.Committed)}

        def calls() -> set[str]:
            return {one.effect.id for one in self._told_so_far() if isinstance(one, ev.EffectStarted)}

        spend = unheard_calls(self.project.state.logs_of(self.sprint.id), state, last, calls)
        try:
            found = await asyncio.to_thread(at_start, workspace, state, commits, self._clock.now())
        except WorkspaceError as error:  # the run meets it again, and waits for it by its name
            self._log.write("reconcile", problem=error.message)
            found = []
        said = [ev.Noted(text=words, level="warning") for words in workspace.heard()]
        return [*([spend] if spend is not None else []), *said, *found]

    def _told_so_far(self) -> Iterator[ev.Fact]:
        """Every event there is, by a connection of its own: a thread may ask."""
        path, now = self._journal.path, self._clock.now
        with Journal.open(path, clock=now, backup_dir=self.project.backups, read_only=True) as journal:
            yield from (envelope.event for envelope in journal.read())

    def _requested(self, ask: Ask) -> ev.PlanRequested:
        return ev.PlanRequested(
            sprint=self.sprint.id,
            request=self.sprint.request(),
            branch=self.sprint.branch,
            topic=self.sprint.slug,
            source=ask.source,
            with_prd=ask.with_prd,
            approve=ask.approve,
            given=ask.given,
        )

    def _lessons(self, state: State, task: str) -> Lessons:
        return lessons_for(self.project.root, state, task)

    def _keepsakes(self, journal: Journal) -> dict[str, Path | bytes]:
        """What a checkpoint keeps besides git."""
        now = self._clock.now()
        if not 0 <= now - self._backed_up < BACKUP_SECONDS:
            journal.backup()
            self._backed_up = now
        files: dict[str, Path | bytes] = {"journal.json": journal.place()}
        # Progress and features are views: the place in the journal is a copy of all they were made from.
        if self.sprint.context_path.is_file():
            files[self.sprint.context_path.name] = self.sprint.context_path
        if self.sprint.plan_path.is_file():  # without its ticks, which the journal has: the same text is kept once
            files[self.sprint.plan_path.name] = self.sprint.plan_path.read_bytes().replace(b"- [x] ", b"- [ ] ")
        return files

    # ── while it runs ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _obey(self, command: AnyCommand) -> Reply:
        """A command from another process; acknowledged once its facts are recorded."""
        ack = await self.runner.put(command)
        return Reply(call=0, ok=ack.ok, detail=ack.detail, late=ack.late)

    def _recorded(self, after: int, limit: int) -> list[ev.Envelope]:
        """Facts from the journal by a connection of its own, for a viewer that begins or was behind."""
        reading = Journal.open(
            self.project.repo.db, clock=self._clock.now, backup_dir=self.project.backups, read_only=True
        )
        with reading as journal:
            return list(itertools.islice(journal.read(self.sprint.id, after=after), limit))

    def _welcome(self, viewers: int) -> Welcome:
        state = self.state
        done, total = state.progress()
        return Welcome(
            protocol=PROTOCOL,
            version=VERSION,
            pid=os.getpid(),
            root=str(self.project.root),
            sprint=self.sprint.id,
            title=self.sprint.title,
            viewers=viewers,
            health=state.health.value,
            spent_usd=state.spent_usd,
            done=done,
            total=total,
            waiting=waits_for(state),
            attended=state.attended,
            since=state.run_started_at,
        )

    async def _watch_files(self) -> None:
        """An edit of plan.md or config.toml is taken up between tasks, and announced.

        The folders are watched, not the files: most editors save by renaming a new file over the old one.
        """
        await self._clock.sleep(SETTLED)  # the import costs as much as ten calls of git: not before the first agent
        from watchfiles import awatch

        self.runner.tell(*self._edits())
        watched = {str(path) for path in self._edited_by_the_user()}
        folders = {path.parent for path in self._edited_by_the_user() if path.parent.is_dir()}
        async for _changes in awatch(
            *folders, watch_filter=lambda _change, path: path in watched, debounce=400, step=100, recursive=False
        ):
            self.runner.tell(*self._edits())

    def reread(self) -> None:
        """Somebody here has just edited plan.md or config.toml."""
        self.runner.tell(*self._edits())

    def _edited_by_the_user(self) -> tuple[Path, Path]:
        return self.sprint.plan_path, self.project.repo.config

    def _edits(self) -> list[ev.AnyEvent]:
        """What the user changed since the last look. Costs two stats when nothing was."""
        seen = tuple(_signature(path) for path in self._edited_by_the_user())
        was, self._seen = self._seen, seen
        if seen == was:
            return []
        edited = [before != after for before, after in zip(was or ((), ()), seen, strict=True)]
        try:
            plan = self._read_plan() if edited[0] else None
            config = self.project.config() if edited[1] else None
        except (PlanRefused, ConfigRefused) as refused:
            said = str(refused).splitlines()[0]
            return [ev.Noted(text=f"not taken up: {said}", level="warning", hint="mend it and save again")]
        changed = self._plan_edit(plan) if plan is not None else []
        if config is not None and config_hash(config) != self._config_hash:
            self._config_hash = config_hash(config)
            said = "budgets, gates, ladder and limits of the new config.toml hold from now on; checks from the next run"
            changed.append(ev.PolicyChanged(policy=self._policy(config), summary=said))
        return changed

    def _read_plan(self) -> Plan | None:
        """plan.md, where more than the engine's own marks may be new in it."""
        path = self.sprint.plan_path
        if self.sprint.unplanned():
            return None
        data = path.read_bytes() if path.is_file() else b""
        if self._views.read_all_of(data):
            return None
        plan = read_plan(path)
        if path.read_bytes() == data:
            self._views.has_read(data)
        return plan

    def _plan_edit(self, plan: Plan) -> list[ev.AnyEvent]:
        """The user's edit of plan.md: of the plan that runs, or of a draft, which is then checked and asked about."""
        known = self.state.plan
        if known is None:
            return self._draft_edit(plan)
        summary = describe_change(as_marked(known, self.state), replace(plan, status=known.status))
        return [ev.PlanChanged(plan=plan, summary=summary)] if summary else []

    def _draft_edit(self, plan: Plan) -> list[ev.AnyEvent]:
        planning = self.state.planning
        draft = planning.plan if planning is not None and planning.under_way else None
        if draft is None or not self._views.edited():
            return []
        same = not describe_change(draft, replace(plan, status=draft.status))
        return [] if same else [ev.PlanDrafted(id="", plan=plan, by="you")]


def _signature(path: Path) -> tuple[int, ...]:
    """Another file, another content, or none."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _found(workspace: Workspace) -> None:
    """Raises when the repository or the sprint's branch is not there."""
    workspace.stands()
