"""The pure rule that turns a human's command into events, or refuses it with words."""

from __future__ import annotations

from engine.core import commands as cmd
from engine.core import events as ev
from engine.core import gates
from engine.core.model import Decision, Struct
from engine.core.state import State, Status


class Outcome(Struct, frozen=True, kw_only=True):
    """What a command comes to."""

    ok: bool
    detail: str
    events: tuple[ev.AnyEvent, ...] = ()


def obey(state: State, command: cmd.AnyCommand) -> Outcome:
    """The events a command comes to; a refusal says why and what to type."""
    by = command.by
    match command:
        case cmd.Answer():
            return _answer(state, command)
        case cmd.SetAuto():
            if command.gate_kind not in ("fix", "task"):
                return _no(f"there is no '{command.gate_kind}' gate to set to auto; choose fix or task")
            event = ev.AutoChanged(gate_kind=command.gate_kind, auto=command.auto, by=by)
            return _yes(f"{command.gate_kind} gate: {'auto' if command.auto else 'gated'}", event)
        case cmd.Pause():
            return _no("already paused") if state.paused else _yes("paused after the running steps", ev.Paused(by=by))
        case cmd.Resume():
            return _yes("going on", ev.Resumed(by=by)) if state.paused else _no("it is not paused")
        case cmd.Stop():
            words = "stopping now" if command.now else "stopping after the running steps"
            return _yes(f"{words}; devteam run goes on from here", ev.StopRequested(now=command.now, by=by))
        case cmd.Cancel():
            return _yes("cancelled; commits stay on the sprint branch", ev.SprintCancelled(by=by))
        case cmd.LandNow():
            if not state.head or state.head == state.base:
                return _no("there is nothing to land yet")
            if state.landed == state.head:
                return _no("everything on the sprint branch is landed already")
            return _yes("landing", ev.LandRequested(by=by))
        case cmd.SetAttended():
            return _yes(
                "attended" if command.attended else "unattended", ev.AttendanceChanged(attended=command.attended)
            )
        case cmd.Steer() | cmd.Skip() | cmd.Retry():
            return _task(state, command)


def _answer(state: State, command: cmd.Answer) -> Outcome:
    gate = state.gates.get(command.gate) or state.gates.get(command.gate.upper())
    if gate is None:
        waiting = ", ".join(gate.id for gate in state.open_gates()) or "none"
        return _no(f"there is no gate {command.gate}; open gates: {waiting}")
    choice = gates.normalise(command.choice)
    if reason := gates.problem(gate, state.tasks.get(gate.task), choice, command.text):
        return _no(reason)
    if choice == "ask":
        return _yes("asked", ev.GateAsked(gate=gate.id, question=command.text, by=command.by))
    event = ev.GateAnswered(gate=gate.id, choice=choice, text=command.text, by=command.by or "you", tree=gate.tree)
    return _yes(f"{gate.id}: {choice}", event)


def _task(state: State, command: cmd.Steer | cmd.Skip | cmd.Retry) -> Outcome:
    task = state.tasks.get(command.task)
    if task is None:
        return _no(f"there is no task {command.task}; tasks: {', '.join(state.tasks) or 'none'}")
    match command:
        case cmd.Steer():
            if not command.text.strip():
                return _no("a note needs words")
            if task.ended:
                return _no(f"task {task.id} has ended ({task.status.value}); devteam retry {task.id} opens it again")
            return _yes("the next attempt is told", ev.Steered(task=task.id, text=command.text, by=command.by))
        case cmd.Skip():
            if task.ended:
                return _no(f"task {task.id} has ended already ({task.status.value})")
            if task.status is Status.PENDING:
                ended = ev.TaskEnded(
                    task=task.id, decision=Decision.SKIPPED, reason=f"skipped by {command.by or 'you'}"
                )
                return _yes(f"task {task.id} is skipped", ended)
            return _yes(f"task {task.id} will be skipped", ev.SkipRequested(task=task.id, by=command.by))
        case cmd.Retry():
            if not task.ended or task.status is Status.COMPLETE:
                return _no(f"task {task.id} is {task.status.value}: only an ended, incomplete task can be retried")
            return _yes(
                f"task {task.id} is open again", ev.RetryRequested(task=task.id, text=command.text, by=command.by)
            )


def _yes(detail: str, *events: ev.AnyEvent) -> Outcome:
    return Outcome(ok=True, detail=detail, events=events)


def _no(detail: str) -> Outcome:
    return Outcome(ok=False, detail=detail)
