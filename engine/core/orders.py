"""The pure rule that turns a human's command into events, or refuses it with words."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core import commands as cmd
from engine.core import events as ev
from engine.core import gate_choices, gates
from engine.core.clean import clean_line
from engine.core.fold_gates import still_asked
from engine.core.grant_grammar import check_entry
from engine.core.grant_places import places_of, unknown_place
from engine.core.grants import GrantError
from engine.core.model import Decision, Struct
from engine.core.planning_state import Goal
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step
from engine.core.vocabulary import Choice, Council, GateKind
from engine.core.vocabulary import Outcome as Ended


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
            kind = next((kind for kind in gates.MAY_BE_AUTO if kind == command.gate_kind), None)
            if kind is None:
                return _no(f"there is no '{command.gate_kind}' gate to set to auto; choose fix or task")
            event = ev.AutoChanged(gate_kind=kind, auto=command.auto, by=by)
            return _yes(f"{kind} gate: {'auto' if command.auto else 'gated'}", event)
        case cmd.Pause():
            return _no("already paused") if state.paused else _yes("paused after the running steps", ev.Paused(by=by))
        case cmd.Resume():
            return _yes("going on", ev.Resumed(by=by)) if state.paused else _no("it is not paused")
        case cmd.Stop():
            words = "stopping now" if command.now else "stopping after the running steps"
            return _yes(f"{words}; devteam run goes on from here", ev.StopRequested(now=command.now, by=by))
        case cmd.Cancel():
            if not state.running and state.outcome in (Ended.DONE, Ended.CANCELLED):
                return _no(f"the sprint is {state.outcome.value} already: {state.outcome_reason}")
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
        case cmd.Replan():
            return _replan(state, command)
        case cmd.Steer() | cmd.Skip() | cmd.Retry() | cmd.Allow() | cmd.CallCouncil() | cmd.Accept():
            return _task(state, command)


def _answer(state: State, command: cmd.Answer) -> Outcome:
    gate = state.gates.get(command.gate) or state.gates.get(command.gate.upper())
    if gate is None:
        waiting = ", ".join(gate.id for gate in state.open_gates()) or "none"
        return _no(f"there is no gate {command.gate}; open gates: {waiting}")
    choice, text = gate_choices.read(command.choice), command.text
    if gate.kind is GateKind.QUESTION and choice not in gate.choices:
        # The answer to a question is its words: devteam answer G3 "argon2".
        choice, text = Choice.COMMENT, f"{command.choice} {command.text}".strip()
    if choice is Choice.UNKNOWN and gate.open:
        said = clean_line(command.choice)[:60]
        return _no(f"'{said}' is no answer to a {gate.kind} gate; choose one of: {', '.join(gate.choices)}")
    if reason := gates.problem(gate, state.tasks.get(gate.task), choice, text):
        return _no(reason)
    if choice is Choice.ASK:
        return _yes("asked", ev.GateAsked(gate=gate.id, question=text, by=command.by))
    event = ev.GateAnswered(gate=gate.id, choice=choice, text=text, by=command.by or "you", tree=gate.tree)
    if choice is Choice.REPLAN:
        task = state.tasks[gate.task]
        why = f"Task {task.id} ({task.spec.title}) went nowhere: {task.blocker or task.reason}"
        asked = _replan(state, cmd.Replan(task=gate.task, text=f"{text}\n\n{why}".strip(), by=command.by))
        return replace(asked, events=(event, *asked.events)) if asked.ok else asked
    return _yes(f"{gate.id}: {choice}", event)


def _replan(state: State, command: cmd.Replan) -> Outcome:
    task = state.tasks.get(command.task)
    if command.task and task is None:
        return _no(f"there is no task {command.task}; tasks: {', '.join(state.tasks) or 'none'}")
    if task is not None and task.status is Status.COMPLETE:
        return _no(f"task {task.id} is complete; plan more work with: devteam plan")
    if state.plan is None:
        return _no("there is no plan yet; say it at the plan gate")
    if state.planning is not None and state.planning.under_way:
        return _no("another plan is talked about already; answer its gate first")
    if not command.text.strip():
        return _no(f'say what should be different: devteam replan {command.task} "…"')
    request = ev.PlanRequested(
        sprint=state.sprint, request=command.text, goal=Goal.REPLAN, task=command.task, by=command.by or "you"
    )
    return _yes("the planner revises the plan; you are asked before it holds", request)


AboutTask = cmd.Steer | cmd.Skip | cmd.Retry | cmd.Allow | cmd.CallCouncil | cmd.Accept


def _task(state: State, command: AboutTask) -> Outcome:
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
            return _retry(state, task, command)
        case cmd.Allow():
            return _allow(task, command)
        case cmd.CallCouncil():
            if task.council is not Council.NONE:
                return _no(f"the Bug Council has looked at task {task.id} already: devteam report --task {task.id}")
            if task.status is Status.COMPLETE or task.commit or not task.history:
                word = "committed" if task.commit else task.status.value
                return _no(f"task {task.id} is {word}: a council needs an attempt that failed")
            asked = ev.CouncilRequested(task=task.id, by=command.by)
            now = task.ended or task.gate
            return _yes("the Bug Council sits" if now else "the Bug Council sits once this iteration has failed", asked)
        case cmd.Accept():
            if not task.ended or task.status is Status.COMPLETE:
                return _no(f"task {task.id} is {task.status.value}: only an ended, incomplete task can be accepted")
            if task.kept is None or not task.kept.green:
                return _no(f"task {task.id} has no kept work with green checks: devteam retry {task.id}")
            return _yes(f"task {task.id} is taken as it is", ev.TaskAccepted(task=task.id, by=command.by))


def _retry(state: State, task: TaskState, command: cmd.Retry) -> Outcome:
    """Words that say what opening the task again means: from where, at which rung."""
    if not task.ended:
        return _no(
            f"task {task.id} is {task.status.value}: only an ended task can be retried; devteam steer gives it a note"
        )
    if task.status is Status.COMPLETE and not command.text.strip():
        return _no(f'task {task.id} is complete: say what to change, devteam retry {task.id} "…"')
    names = [rung.name for rung in state.policy.ladder.rungs]
    if command.rung and command.rung.lower() not in [name.lower() for name in names]:
        return _no(f"the ladder has no rung {command.rung}; it has: {', '.join(names)}")
    complete = task.status is Status.COMPLETE
    if command.from_tree and (task.kept is None or complete):
        return _no(f"nothing is kept of task {task.id}: devteam retry {task.id} starts afresh")
    green = task.kept is not None and task.kept.green and not command.rung
    from_tree = not complete and (green if command.from_tree is None else command.from_tree)
    event = ev.RetryRequested(
        task=task.id, text=command.text, by=command.by, from_tree=from_tree, rung=command.rung.strip()
    )
    return _yes(f"task {task.id} is open again, {'from its kept tree' if from_tree else 'afresh'}", event)


def _allow(task: TaskState, command: cmd.Allow) -> Outcome:
    try:
        entry = check_entry(command.entry)
    except GrantError as error:
        return _no(str(error))
    if entry in task.spec.allow:
        return _no(f"task {task.id} has this permission already")
    if task.status is Status.COMPLETE:
        return _no(f"task {task.id} is complete: there is nothing to allow")
    waits = task.status is Status.PARKED or task.step is Step.PERMISSION_GATE
    said = "its kept tree is checked again" if waits else "its next check knows it"
    if waits and task.questions:
        if odd := unknown_place(entry, _places(task)):
            asked = "; ".join(f'devteam allow {task.id} "{one.allow}"' for one in task.questions[:3])
            return _no(f"nothing in the work that waits is called {odd}; what it asks for: {asked}")
        if task.status is Status.PARKED and (left := still_asked(task, (entry,))):
            said = f"still asked ({len(left)}): " + "; ".join(f'devteam allow {task.id} "{one.allow}"' for one in left)
    return _yes(f"task {task.id} may: {entry}; {said}", ev.PermissionGranted(task=task.id, entry=entry, by=command.by))


def _places(task: TaskState) -> list[str]:
    """Files and tests that the work is about: what it changed, and what its questions name."""
    named = [text for one in task.questions for text in (one.path, *places_of(one.allow)) if text]
    return [*(change.path for change in (*task.changes, *task.attempt_changes)), *named]


def _yes(detail: str, *events: ev.AnyEvent) -> Outcome:
    return Outcome(ok=True, detail=detail, events=events)


def _no(detail: str) -> Outcome:
    return Outcome(ok=False, detail=detail)
