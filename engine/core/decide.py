"""The loop. Reads the state, says what happens next: facts to record first, else effects to perform.

A take the next ready task           → TaskStarted, IterationStarted
B implement at the ladder's rung     → PrepareWorkspace, CallAgent, CheckScope
C checks, then review                → RunChecks, CallAgent
D decide, with the human's gates     → Decided, GateOpened
E commit, checkpoint, and back to A  → Commit, TaskEnded, SaveCheckpoint
"""

from __future__ import annotations

from engine.core import budget, closing, council, gates, selection
from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.complexity import assess, start_rung
from engine.core.effects import (
    AnyEffect,
    CheckScope,
    Commit,
    CreateBaseline,
    Finish,
    Land,
    PrepareWorkspace,
    Rollback,
    RunChecks,
    SaveCheckpoint,
    Wait,
)
from engine.core.judgement import judge
from engine.core.model import Decision, Role, Struct
from engine.core.state import State, Status, Step, TaskState
from engine.core.verdict import for_human


class Decisions(Struct, frozen=True, kw_only=True):
    """Facts to record, or effects to perform: never both, because a fact may change what is to be done."""

    events: tuple[ev.AnyEvent, ...] = ()
    effects: tuple[AnyEffect, ...] = ()


def decide(state: State) -> Decisions:
    """What happens next. Empty: wait for an effect to land, or for the human."""
    if not state.running:
        return Decisions()
    if state.stopping:
        return _only(() if state.working() else (closing.stopped(state),))
    if reason := budget.exceeded(state):
        return _only(() if state.working() else (closing.finish(state, "limit", reason),))
    turn = Turn(state)
    _remarks(turn)
    running = [task for task in state.tasks.values() if task.status is Status.RUNNING]
    if not state.paused and _opened(turn, bool(running)):
        if len(running) < max(1, state.policy.lanes):
            _drop_doomed(turn)
            _take_tasks(turn)
        for task in running:
            _advance(turn, task)
        _keep_house(turn)
    if turn.events:
        return Decisions(events=tuple(turn.events))
    if not turn.effects and not state.held() and not state.paused:
        turn.effects.extend(closing.close(turn))
    return Decisions(effects=tuple(turn.effects))


# ── A ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _opened(turn: Turn, under_way: bool) -> bool:
    """The sprint's own workspace and the baseline of its checks come before the first task."""
    state = turn.state
    if not under_way and all(task.ended for task in state.tasks.values()):
        return True
    if state.sprint_error:
        turn.finish("failed", state.sprint_error)
        return False
    if not state.head or not state.base:
        if turn.sprint_free(PrepareWorkspace):
            turn.do(PrepareWorkspace(id=turn.name("sprint", "workspace"), iteration=0))
        return False
    if state.baseline_run != state.run:
        if turn.sprint_free(RunChecks):
            turn.do(
                RunChecks(
                    id=turn.name("sprint", "baseline"),
                    tree=state.head_tree,
                    base=state.head,
                    purpose="baseline",
                    timeout=state.policy.timeouts.checks,
                )
            )
        return False
    return True


def _drop_doomed(turn: Turn) -> None:
    for task, reason in selection.doomed(turn.state):
        action = f"mend what it depends on, then: devteam retry {task.id}"
        turn.say(ev.TaskEnded(task=task.id, decision=Decision.BLOCKED, reason=reason, action=action))


def _take_tasks(turn: Turn) -> None:
    state = turn.state
    lanes = selection.free_lanes(state)
    for lane, task in zip(lanes, selection.ready(state) if lanes else (), strict=False):
        measured = assess(task.spec)
        rung, reason = start_rung(task.spec, measured, state.policy.ladder.rungs)
        turn.say(ev.TaskStarted(task=task.id, lane=lane, rung=rung, complexity=measured.score, reason=reason))


# ── B, C, D, E ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _advance(turn: Turn, task: TaskState) -> None:
    """The next step of one task."""
    state = turn.state
    busy = state.task_in_flight(task.id)
    if task.skip_asked and not task.commit:
        if all(isinstance(effect, Wait) for effect in busy):
            turn.say(ev.TaskEnded(task=task.id, decision=Decision.SKIPPED, reason="skipped by you"))
        return
    if task.step is Step.COUNCIL:
        council.sit(turn, task)
        return
    if busy or not turn.rested(task):
        return
    match task.step:
        case Step.NEXT:
            _iterate(turn, task)
        case Step.ROLLBACK:
            turn.do(
                Rollback(
                    id=turn.name(task.id, "rollback"),
                    task=task.id,
                    lane=task.lane,
                    tree=task.before,
                    iteration=task.iteration,
                    reason=f"{task.health.value}: {task.health_reason}",
                )
            )
        case Step.PREPARE:
            turn.do(
                PrepareWorkspace(
                    id=turn.name(task.id, "workspace"),
                    task=task.id,
                    lane=task.lane,
                    iteration=task.iteration,
                    tree=task.tree,
                    base=task.base,
                )
            )
        case Step.IMPLEMENT:
            turn.call(task, Role.IMPLEMENTER)
        case Step.SCOPE:
            turn.do(
                CheckScope(
                    id=turn.name(task.id, "scope"),
                    task=task.id,
                    lane=task.lane,
                    iteration=task.iteration,
                    attempt=task.attempt,
                    before=task.before,
                    base=task.base,
                )
            )
        case Step.SCOPE_JUDGE:
            turn.call(task, Role.SCOPE_JUDGE)
        case Step.CHECKS:
            turn.do(
                RunChecks(
                    id=turn.name(task.id, "checks"),
                    task=task.id,
                    lane=task.lane,
                    tree=task.tree,
                    base=task.base,
                    iteration=task.iteration,
                    timeout=state.policy.timeouts.checks,
                )
            )
        case Step.REVIEW:
            turn.call(task, Role.REVIEWER)
        case Step.DECIDE:
            turn.events.extend(judge(state, task))
        case Step.FIX_GATE | Step.BLOCKED_GATE | Step.TASK_GATE:
            _gate(turn, task)
        case Step.COMMIT:
            turn.do(
                Commit(
                    id=turn.name(task.id, "commit"),
                    task=task.id,
                    lane=task.lane,
                    tree=task.tree,
                    base=task.base,
                    message=f"impl({state.topic}): T{task.id} — {task.spec.title}",
                    evidence=task.evidence,
                )
            )
        case Step.END:
            turn.say(closing.task_end(task))


def _iterate(turn: Turn, task: TaskState) -> None:
    state = turn.state
    limit = state.policy.max_iterations + task.granted
    if task.iteration >= limit:
        reason = f"max_iterations_reached: {task.iteration} iterations"
        turn.say(ev.TaskEnded(task=task.id, decision=Decision.HALT, reason=reason, action=f"devteam retry {task.id}"))
        return
    top = len(state.policy.ladder.rungs) - 1
    rung = top if task.top_next or task.council == "done" else min(task.rung, top)
    turn.say(ev.IterationStarted(task=task.id, iteration=task.iteration + 1, rung=rung))


def _gate(turn: Turn, task: TaskState) -> None:
    """Put the question to the human, or go on where none is needed."""
    state = turn.state
    if task.gate:
        return
    match task.step:
        case Step.FIX_GATE if gates.fix_gate_needed(state, task):
            turn.say(gates.open_fix(state, task, turn.gate_name()))
        case Step.FIX_GATE:
            _iterate(turn, task)
        case Step.TASK_GATE if not state.attended and for_human(task):
            turn.say(gates.nobody_looked(task))
        case Step.TASK_GATE if state.attended and (for_human(task) or not state.auto_mode("task")):
            turn.say(gates.open_task(state, task, turn.gate_name()))
        case Step.TASK_GATE:
            turn.say(gates.pass_task(state, task))
        case _ if named := gates.name_blocker(task):
            turn.say(named)
        case _ if state.attended:
            turn.say(gates.open_blocked(state, task, turn.gate_name()))
        case _ if task.mend:
            turn.finish("blocked", f"{task.id}: {task.blocker}" + (f" — {task.action}" if task.action else ""))
        case _ if task.blocker or task.decision is Decision.BLOCKED:
            turn.say(closing.task_end(task))
        case _:
            _iterate(turn, task)


# ── around the tasks ───────────────────────────────────────────────────────────────────────────────────────────────


def _remarks(turn: Turn) -> None:
    """Facts that are due whatever the tasks do."""
    state = turn.state
    if due := budget.warning(state):
        scope, spent, limit = due
        turn.say(ev.BudgetWarned(scope=scope, spent_usd=spent, limit_usd=limit))
    if not state.attended:
        for gate in state.open_gates():
            choice = gates.unattended_answer(gate)
            turn.say(ev.GateAnswered(gate=gate.id, choice=choice, by="unattended", tree=gate.tree))
    for gate in state.open_gates():
        pending = next((question for question, answer in gate.questions if not answer), "")
        task = state.tasks.get(gate.task)
        if not pending or task is None or any(call.gate == gate.id for call in state.calls_in_flight()):
            continue
        # A question must never hold up the task, so it is answered now or not at all.
        if reason := turn.refusal(task, Role.ANSWERER):
            turn.say(ev.GateReplied(gate=gate.id, id="", answer=f"(no answer now: {reason})"))
        else:
            turn.call(task, Role.ANSWERER, gate=gate.id, question=pending)


def _keep_house(turn: Turn) -> None:
    """Checkpoints, baselines and landing: beside the tasks, never in their way."""
    state = turn.state
    if not state.head:
        return
    interval = state.policy.checkpoints.interval_seconds
    due = state.checkpoint_due
    if not due and interval > 0 and state.now - state.checkpoint_at >= interval and state.tasks:
        due = f"every {interval / 60:.0f} min"
    if due and turn.sprint_free(SaveCheckpoint):
        turn.do(SaveCheckpoint(id=turn.name("sprint", "checkpoint"), reason=due))
    if state.milestones and turn.sprint_free(CreateBaseline):
        turn.do(CreateBaseline(id=turn.name("sprint", "baseline"), milestone=state.milestones[0]))
    if state.land_due and turn.sprint_free(Land):
        turn.do(Land(id=turn.name("sprint", "land")))


def _only(effects: tuple[Finish, ...]) -> Decisions:
    return Decisions(effects=effects)
