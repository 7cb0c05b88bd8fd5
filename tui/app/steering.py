"""What a human tells the engine: gate answers, pause, stop, cancel, steer, skip, retry, land. All through the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core import commands as cmd
from engine.core.commands import Ack
from engine.core.gate_choices import BY_CHOICE
from engine.core.state import Status
from engine.core.vocabulary import Choice, GateKind
from tui.app.options import Leave
from tui.kit.keys import GATE_CHOICES
from tui.kit.paint import outside

if TYPE_CHECKING:
    from tui.app.application import DevteamApp


class Steering:
    """The actions that change something. Each one says what came of it."""

    def __init__(self, app: DevteamApp) -> None:
        self.app = app
        self._sent = 0
        self._restarting = False

    # ── sending ──

    async def send(self, command: cmd.AnyCommand, done: str, draft: str = "") -> Ack:
        """Send, wait for the acknowledgement, say it; `draft`: of these words, which are kept until it is there."""
        try:
            ack = await self.app.feed.link.send(command)
        except Exception as error:  # noqa: BLE001 the named boundary: a link that fails is told, not thrown
            ack = Ack(ok=False, detail=f"the engine cannot be reached: {error}")
        if ack.ok:
            if draft:
                self.app.drafts.drop(draft)
            if told := outside(ack.detail) or done:
                self.app.tell(told)
        else:
            self.app.tell(outside(ack.detail) or "the engine refused", "warning")
        return ack

    def _id(self) -> str:
        self._sent += 1
        return f"tui-{self._sent}"

    def _later(self, command: cmd.AnyCommand, done: str, draft: str = "") -> None:
        self.app.run_worker(self.send(command, done, draft), group="commands", exit_on_error=False)

    # ── gates ──

    def answer(self, name: str) -> None:
        """A gate key was pressed. Ignored until the gate has been in sight long enough to be read as a gate."""
        gates = self.app.gates
        gate = self.app.view.gate
        if gate is None or gates.current is None or gates.current.id != gate.id or not gates.ready or gates.sending:
            self.app.typed.lost(self.app.keys.keys[name].split(",")[0])
            return  # only what the frame on screen shows can be answered
        choice = GATE_CHOICES[name]
        if choice not in gate.choices:
            return
        if choice is Choice.ASK:
            self.app.open_ask(gate)
            return
        record = BY_CHOICE[choice]
        if record.needs_text or record.may_have_text:
            self.app.open_comment(gate, choice)
            return
        self.send_answer(gate.id, choice)

    def send_answer(self, gate: str, choice: Choice, text: str = "", draft: str = "") -> None:
        gates = self.app.gates
        objection = gates.objection(choice, text) if gates.current is not None and gates.current.id == gate else ""
        if objection:
            self.app.tell(objection, "warning")
            return
        gates.sending = choice
        self.app.redraw()
        command = cmd.Answer(id=self._id(), by=self.app.options.by, gate=gate, choice=choice, text=text)
        self.app.run_worker(self._answer(command, draft), group="commands", exit_on_error=False)

    async def _answer(self, command: cmd.Answer, draft: str) -> None:
        ack = await self.send(command, f"{command.gate}: {command.choice}", draft)
        if ack.ok:
            self.app.follow()
        else:
            self.app.gates.sending = ""
            self.app.gates.appeared()
            self.app.redraw()

    def approve(self, gate: str) -> None:
        """One of several that were approved together."""
        command = cmd.Answer(id=self._id(), by=self.app.options.by, gate=gate, choice=Choice.YES)
        self._later(command, f"{gate}: yes")

    async def ask(self, gate: str, question: str) -> Ack:
        command = cmd.Answer(id=self._id(), by=self.app.options.by, gate=gate, choice=Choice.ASK, text=question)
        return await self.send(command, "")  # the conversation shows it

    def set_auto(self, kind: GateKind) -> None:
        on = not self.app.feed.state.auto_mode(kind)
        said = f"{kind} gates are answered automatically now" if on else f"{kind} gates are asked again"
        self._later(cmd.SetAuto(id=self._id(), by=self.app.options.by, gate_kind=kind, auto=on), said)

    # ── the sprint ──

    def pause(self) -> None:
        """The key that holds the sprint and lets it go on: also when it stands because its engine is lost."""
        by = self.app.options.by
        link = self.app.feed.status
        starting = self._restarting or (link.status == "connecting" and link.last_sign)
        if starting:  # asked twice: a second engine is no pause
            self.app.tell("the engine is starting …")
            return
        if link.status == "lost" and self.app.options.restart is not None:
            self._restarting = True
            self.app.run_worker(self._restart(), group="restart", exclusive=True, exit_on_error=False)
            return
        if self.app.feed.state.paused:
            self._later(cmd.Resume(id=self._id(), by=by), "the sprint is resumed")
        else:
            self._later(cmd.Pause(id=self._id(), by=by), "paused: running calls end, no new one starts")

    async def _restart(self) -> None:
        try:
            if self.app.options.restart is not None:
                self.app.tell("starting the engine again …")
                ack = await self.app.options.restart()
                self.app.tell(ack.detail, "information" if ack.ok else "error")
        finally:
            self._restarting = False

    def stop(self, now: bool) -> None:
        self._later(
            cmd.Stop(id=self._id(), by=self.app.options.by, now=now), "the run is stopping; resume it with: devteam run"
        )

    def cancel(self) -> None:
        self._later(cmd.Cancel(id=self._id(), by=self.app.options.by), "the sprint is cancelled; its commits are kept")

    def attended(self) -> None:
        there = not self.app.feed.state.attended
        said = "attended: gates are asked" if there else "unattended: the ladder decides, no gate is opened"
        self._later(cmd.SetAttended(id=self._id(), by=self.app.options.by, attended=there), said)

    def land(self) -> None:
        self.app.run_worker(self._land(), group="commands", exit_on_error=False)

    async def _land(self) -> None:
        hook = self.app.options.land
        if hook is not None:
            try:
                ack = await hook()
            except Exception as error:  # noqa: BLE001 the named boundary: the caller's hook
                ack = Ack(ok=False, detail=f"landing failed: {error}")
            self.app.tell(
                outside(ack.detail) or ("landed" if ack.ok else "not landed"), "information" if ack.ok else "warning"
            )
        elif self.app.run_is_over():  # it was in this process, which holds the repository's lock until it leaves
            self.app.exit(Leave(action="land"))
        else:
            await self.send(cmd.LandNow(id=self._id(), by=self.app.options.by), "landing")

    # ── the task ──

    def steer(self, task: str, text: str, draft: str) -> None:
        self._later(
            cmd.Steer(id=self._id(), by=self.app.options.by, task=task, text=text),
            f"T{task}: the next attempt gets your note",
            draft,
        )

    def skip(self, task: str) -> None:
        self._later(
            cmd.Skip(id=self._id(), by=self.app.options.by, task=task), f"T{task} is skipped when its current step ends"
        )

    def retry(self, task: str, text: str, draft: str) -> None:
        command = cmd.Retry(id=self._id(), by=self.app.options.by, task=task, text=text)
        self._later(command, f"T{task} is reopened", draft)

    def may_skip(self, task: str) -> str:
        """Why a task cannot be skipped; empty if it can."""
        found = self.app.feed.state.tasks.get(task)
        if found is None:
            return "no task is selected"
        return f"T{task} has ended already: {found.status.value}" if found.ended else ""

    def may_retry(self, task: str) -> str:
        found = self.app.feed.state.tasks.get(task)
        if found is None:
            return "no task is selected"
        if not found.ended:
            return f"T{task} has not ended; steer it instead"
        return f"T{task} is complete" if found.status is Status.COMPLETE else ""
