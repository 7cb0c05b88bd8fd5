"""The loop. Reads the state, says what happens next: facts to record first, else effects to perform.

A take the next ready task           → TaskStarted, IterationStarted
B implement at the ladder's rung     → PrepareWorkspace, CallAgent, CheckScope
C checks, then review                → RunChecks, CallAgent
D decide, with the human's gates     → Decided, GateOpened
E commit, checkpoint, and back to A  → Commit, TaskEnded, SaveCheckpoint
"""

from __future__ import annotations

from typing import assert_never

from engine.core import (
    batch_review,
    budget,
    closing,
    council,
    disputes,
    footing,
    gate_steps,
    gates,
    ladder,
    machine,
    planning,
    regression,
    selection,
    sprint_review,
)
from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.decision import judge
from engine.core.effects import (
    AnyEffect,
    CheckScope,
    Commit,
    CreateBaseline,
    Finish,
    KeepTree,
    Land,
    PrepareWorkspace,
    Rollback,
    RunChecks,
    SaveCheckpoint,
    Wait,
)
from engine.core.model import Decision, Role, Struct
from engine.core.state import State, Status, TaskState
from engine.core.task_state import Step
from engine.core.vocabulary import Choice, Outcome


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
        return _only(() if state.working() else (closing.finish(state, Outcome.LIMIT, reason),))
    turn = Turn(state)
    if state.suspended is not None:
        machine.wait_it_out(turn, state.suspended)
        return _only((closing.finish(state, *turn.ending),)) if turn.ending else Decisions(effects=tuple(turn.effects))
    if planning.comes_first(state) or planning.over(state):
        return _plan(turn)
    _remarks(turn)
    running = [task for task in state.tasks.values() if task.status is Status.RUNNING]
    if not state.paused and _opened(turn, bool(running)):
        if len(running) < max(1, state.policy.lanes):
            _drop_doomed(turn)
            _take_tasks(turn)
        for task in running:
            _advance(turn, task)
        _keep_house(turn)
    planning.consider(turn)
    if planning.beside(state):
        planning.advance(turn)
    sprint_review.consider(turn)
    disputes.consider(turn)
    if turn.events:
        return Decisions(events=tuple(turn.events))
    if not turn.effects and not state.held() and not state.paused:
        turn.effects.extend(closing.close(turn))
    return Decisions(effects=tuple(turn.effects))


def _plan(turn: Turn) -> Decisions:
    """Before there is a plan there is nothing but the planning conversation."""
    if not planning.over(turn.state):
        planning.advance(turn)
    if turn.events:
        return Decisions(events=tuple(turn.events))
    if not turn.effects and not turn.state.held() and not turn.state.paused:
        planning.close(turn)
    return Decisions(effects=tuple(turn.effects))


# ── A ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _opened(turn: Turn, under_way: bool) -> bool:
    """The sprint's own workspace and the baseline of its checks come before the first task."""
    state = turn.state
    if not under_way and all(task.ended for task in state.tasks.values()):
        return True
    if state.sprint_error:
        turn.finish(Outcome.FAILED, state.sprint_error)
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
    if regression.go_back(turn):
        return False
    if reason := footing.refusal(state):
        turn.finish(Outcome.BLOCKED, reason)
        return False
    return True


def _drop_doomed(turn: Turn) -> None:
    for task, reason in selection.doomed(turn.state):
        first = selection.in_the_way(turn.state, task)
        opens = f"devteam retry {first}; this task then opens again by itself"
        action = opens if first else f"correct depends: in the plan, then: devteam retry {task.id}"
        turn.say(ev.TaskEnded(task=task.id, decision=Decision.BLOCKED, reason=reason, action=action))


def _take_tasks(turn: Turn) -> None:
    state = turn.state
    lanes = selection.free_lanes(state)
    for lane, task in zip(lanes, selection.ready(state) if lanes else (), strict=False):
        if task.resumes is not None:
            rung, score, reason = task.rung, task.complexity, "goes on from its kept tree"
        else:
            rung, score, reason = ladder.start(state, task)
        resumes = task.resumes is not None
        turn.say(ev.TaskStarted(task=task.id, lane=lane, rung=rung, complexity=score, reason=reason, resumes=resumes))


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
            gate_steps.iterate(turn, task)
        case Step.ROLLBACK:
            turn.do(
                Rollback(
                    id=turn.name(task.id, "rollback"),
                    task=task.id,
                    lane=task.lane,
                    tree=task.rollback,
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
            batch_review.ask(turn, task)
        case Step.DECIDE:
            turn.events.extend(judge(state, task))
        case Step.FIX_GATE | Step.BLOCKED_GATE | Step.TASK_GATE | Step.PERMISSION_GATE:
            gate_steps.ask(turn, task)
        case Step.COMMIT if selection.first_in_train(state, task):
            turn.do(
                Commit(
                    id=turn.name(task.id, "commit"),
                    task=task.id,
                    lane=task.lane,
                    tree=task.tree,
                    base=task.base,
                    message=f"impl({state.topic}): T{task.id} — {task.spec.title}",
                    evidence=task.evidence,
                    override=task.override if task.overridden else "",
                )
            )
        case Step.COMMIT:
            pass  # Those before it commit first; then the change is checked once on what they made.
        case Step.END:
            turn.say(closing.task_end(task))
        case _:
            assert_never(task.step)


# ── around the tasks ───────────────────────────────────────────────────────────────────────────────────────────────


def _remarks(turn: Turn) -> None:
    """Facts that are due whatever the tasks do."""
    state = turn.state
    if due := budget.warning(state):
        scope, spent, limit = due
        turn.say(ev.BudgetWarned(scope=scope, spent_usd=spent, limit_usd=limit))
    if not state.attended:
        for gate in state.open_gates():
            if planning.owns(gate):
                continue
            choice = gates.unattended_answer(gate)
            turn.say(ev.GateAnswered(gate=gate.id, choice=choice, by="unattended", tree=gate.tree))
    else:
        for gate in state.open_gates():
            if state.auto_mode(gate.kind) and not gate.forced:
                turn.say(ev.GateAnswered(gate=gate.id, choice=Choice.YES, by="auto", tree=gate.tree))
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
    for name in state.keeps:
        _keep(turn, state.tasks.get(name))
    if due and turn.sprint_free(SaveCheckpoint):
        turn.do(SaveCheckpoint(id=turn.name("sprint", "checkpoint"), reason=due))
    if state.milestones and turn.sprint_free(CreateBaseline):
        turn.do(CreateBaseline(id=turn.name("sprint", "baseline"), milestone=state.milestones[0]))
    if state.land_due and turn.sprint_free(Land):
        turn.do(Land(id=turn.name("sprint", "land")))


def _keep(turn: Turn, task: TaskState | None) -> None:
    """Pin what a task that was put aside had come to."""
    if (
        task is None
        or task.kept is None
        or any(isinstance(one, KeepTree) for one in turn.state.task_in_flight(task.id))
    ):
        return
    turn.do(
        KeepTree(
            id=turn.name(task.id, "keep"),
            task=task.id,
            tree=task.kept.tree,
            base=task.kept.base,
            name=f"iteration-{task.kept.iteration}",
            reason=task.kept.reason,
            evidence=task.evidence,
        )
    )


def _only(effects: tuple[Finish, ...]) -> Decisions:
    return Decisions(effects=effects)
