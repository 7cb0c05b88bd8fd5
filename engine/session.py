"""A session: one engine on one repository. Puts the rooms together, holds the lock, runs a sprint, keeps the views."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace

from engine import VERSION, learnings, preconditions, sign_of_life, state_folder, tidying
from engine.attendance import Attendance
from engine.bus import Bus
from engine.channel.messages import Reply, Welcome
from engine.channel.server import ChannelServer
from engine.clock import Clock
from engine.config import Config, config_hash, to_policy
from engine.core import events as ev
from engine.core.commands import Ack, AnyCommand, Stop
from engine.core.policy import Policy
from engine.core.state import State
from engine.engine_log import EngineLog
from engine.inside import by_session
from engine.journal import Journal, JournalError
from engine.keepsakes import Keepsakes
from engine.memory_pool import one_pool
from engine.notify import Notifier
from engine.other_sprints import of_other_sprints
from engine.paths import make_state
from engine.perform.agents.session import NAME as SESSION
from engine.perform.agents.session import SessionAgent
from engine.perform.machine import Performs
from engine.perform.process.probe import probe, run_id_of
from engine.perform.process.reaper import end_orphans, is_no_child_of_ours
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Adapter
from engine.perform.workspace import git_service
from engine.perform.workspace.workspace import Workspace
from engine.performers import Room, performers
from engine.plans.registry import read_plan
from engine.plans.sprints import SprintFolder
from engine.project import Project, engine_lock, fingerprint, load_state
from engine.run_options import Boundary, Observer, RunOptions
from engine.runner import Runner
from engine.session_opening import first_words, reconciled
from engine.session_options import Options
from engine.settings import agents_of, check_specs, leave_aside, open_workspace
from engine.told_to_viewers import Recorded, welcome
from engine.users_edits import UsersEdits
from engine.view_writer import Views

FIRST_VIEWER_SECONDS = 20.0
"""How long the one who started the run may take to look on before it counts as left alone."""


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
        self._config_text = b""
        self._alone = asyncio.Event()
        self._over = False
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
        one_pool()
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
        helpers = [
            asyncio.create_task(self._edits.watch(lambda facts: self.runner.tell(*facts), self._clock)),
            asyncio.create_task(self._log.beat()),
            asyncio.create_task(sign_of_life.give(self.project.state.alive, self._clock.now, lambda: self.state.run)),
        ]
        if self._options.follows_viewers:
            helpers.append(asyncio.create_task(self._attendance.attend(FIRST_VIEWER_SECONDS)))
        elif self._options.at_terminal:
            helpers.append(asyncio.create_task(self._once_alone()))
        try:
            async with self._channel.serving():
                state = await self.runner.run(self._run_options, self._found)
            with contextlib.suppress(JournalError):  # without a backup, a good end is a good end all the same
                self._journal.backup()
            return state
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
            self._views.put_back(self._config_text)
            self._views.flush(self.state)
            self._over = True
            await self._notifier.close()
            self.bus.close()

    def left_alone(self) -> None:
        """The terminal that was asked is gone."""
        self._alone.set()

    async def _once_alone(self) -> None:
        await self._alone.wait()
        await self._attendance.attend(0.0)  # nobody comes back to it

    async def send(self, command: AnyCommand) -> Ack:
        return await self.runner.send(command)

    def watch(self, observer: Observer) -> None:
        """Call `observer` with every batch of facts, as soon as it is in the journal."""
        self.runner.watch(observer)

    # ── putting it together ────────────────────────────────────────────────────────────────────────────────────────

    async def _assemble(self) -> None:
        project, options = self.project, self._options
        config = project.config()
        with contextlib.suppress(OSError):
            self._config_text = project.repo.config.read_bytes()
        plan = None if self.sprint.unplanned() else read_plan(self.sprint.plan_path)
        moved_from = state_folder.moved_from(project.state.root, project.root)
        places = make_state(project.state)
        self._stack.enter_context(engine_lock(project, self._clock.now))
        specs = check_specs(config, project.root)
        preconditions.commands_are_trusted(project, config, options.trust, self._clock.now())
        agents = agents_of(project, config, self._clock, options.speed)
        agents.must_be_here(to_policy(config).ladder.rungs)
        if plan is not None and not self.sprint.request():
            preconditions.something_can_prove_it(plan, specs)
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
        preconditions.may_be_left_alone(mode, options)
        run_id = uuid.uuid4().hex
        spawner = ProcessSpawner(mode, run_id, self._clock.monotonic, home=project.home, scratch=scratch)
        room = Room(
            project=project,
            config=config,
            sprint=self.sprint.id,
            places=places,
            workspace=workspace,
            spawner=spawner,
            agents=agents,
            specs=specs,
            scratch=scratch,
            bus=self.bus,
            clock=self._clock,
        )
        performing = performers(
            room,
            adapter_of=self._with_session(agents.adapter, workspace),
            keepsakes=Keepsakes(self.sprint, journal, self._clock).of_now,
            around=self._around,
        )
        self._stack.push_async_callback(performing.dependencies.close)
        self._stack.callback(git_service.close_all)
        self._log = EngineLog(project.state.root, performing.redactor.text, self._clock.now)
        self._stack.callback(self._log.close)
        self._log.write("opened", version=VERSION, sprint=self.sprint.id, run=run_id, sandbox=mode.name)
        self._views = Views(project, self.sprint)
        self._notifier = Notifier(
            config.notify_command, config.quiet_hours, spawner, project, self._clock, failed=self._unheard
        )  # fmt: skip
        self._edits = UsersEdits(
            project,
            self.sprint,
            views=self._views,
            state=lambda: self.state,
            policy_of=self._policy,
            config=config,
        )
        self._runner = Runner(
            journal=journal,
            stream=self.sprint.id,
            state=state,
            performer=performing.performer,
            clock=self._clock,
            bus=self.bus,
            fingerprint=fingerprint(),
            observers=(self._views, self._notifier, self._log),
            on_bug=self._log.bug,
            boundary=self._boundary,
            outside=self._edits.look,
        )
        by_hand = not self.sprint.request() or (state.plan is not None and self._views.edited())
        preconditions.is_no_draft(self.sprint, plan, by_hand=by_hand)
        self._attendance = Attendance(
            state=lambda: self.state,
            send=self.runner.put,
            note=lambda text: self.runner.tell(ev.Noted(text=text, level="warning", hint="devteam run goes on")),
            clock=self._clock,
            asked_for=not options.asks_nobody,
        )
        self._channel = ChannelServer(
            places.socket,
            bus=self.bus,
            obey=self._obey,
            answer=lambda query: self.answering(query),
            facts=Recorded(project, self.sprint, self._clock),
            inflight=lambda: self.state.inflight,
            welcome=self._welcome,
            on_viewers=self._attendance.viewers,
            admitted=is_no_child_of_ours,
        )
        last = journal.last_at()
        first_words(self.runner, self.sprint, options.planning, self._edits, journal, state, plan)
        self._found = await reconciled(
            project, self.sprint, workspace, journal, self.state, last, self._clock, self._log
        )
        keep = config.workspace.keep_sprints
        self._found += await asyncio.to_thread(
            tidying.at_start, project, workspace.store, keep, self._clock.now(), self.sprint.id
        )
        if moved_from is not None and state.sprint:
            self.runner.append(ev.Noted(text=f"the repository was moved here from {moved_from}; its state came along"))
        others = of_other_sprints(journal, self.sprint.id, self._clock.now(), options.utc_offset)
        boot, booted_at = self._clock.boot()
        self._run_options = RunOptions(
            run=run_id,
            boot=boot,
            booted_at=booted_at,
            last_sign=sign_of_life.last(project.state.alive, state.run).at,
            pid=os.getpid(),
            policy=self._policy(config),
            attended=options.attended,
            waits=options.waits,
            sandbox=mode.name,
            version=VERSION,
            utc_offset=options.utc_offset,
            max_iterations=options.max_iterations,
            config_hash=config_hash(config),
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

    # ── while it runs ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _obey(self, command: AnyCommand) -> Reply:
        """A command from another process; acknowledged once its facts are recorded."""
        ack = await self.runner.put(command)
        return Reply(call=0, ok=ack.ok, detail=ack.detail, late=ack.late)

    def _unheard(self, how: str, said: str) -> None:
        """The user's notify_command failed. What it said may hold an address that is a secret: it stays out of the
        journal."""
        self._log.write("notify_command", problem=how, said=said)
        words = f"notify_command failed ({how}): nobody is told until it works"
        note = ev.Noted(text=words, level="warning", hint="devteam log --engine has what it said")
        if not self._over:
            self.runner.tell(note)
            return
        with contextlib.suppress(JournalError):
            self.runner.append(note)

    def _welcome(self, viewers: int) -> Welcome:
        here = self._options.at_terminal and not self._alone.is_set()
        return welcome(self.project, self.sprint, self.state, viewers + here)

    def reread(self) -> None:
        """Somebody here has just edited plan.md or config.toml."""
        self.runner.tell(*self._edits.look())
