"""The planning conversation: survey → gather → (PRD) → draft ⇄ questions → own checks → review → the user's gate.

Loop work like any other: it reads the state and says facts or effects. A draft never runs; what the checks or the
reviewer object to goes back to the planner, at most `ROUNDS` times, then to the human.
"""

from __future__ import annotations

from typing import assert_never

from engine.core import budget, closing
from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.effects import CheckPlan, Survey
from engine.core.forecast import forecast
from engine.core.gate_choices import offered
from engine.core.model import Health, Plan, Role, TaskSpec
from engine.core.planning_state import PLANNING_LANE, Goal, Planning, PlanQuestion, Stage, Until
from engine.core.state import GateState, State, Status, TaskState
from engine.core.vocabulary import Choice, Council, GateKind, Outcome, Recovery

ROUNDS = 3
"""Revisions before the human is asked; a word of theirs starts the count again."""
ASKING = 3
"""Rounds of questions; a planner that still asks gets its own assumptions."""
GATES = frozenset({GateKind.QUESTION, GateKind.PLAN, GateKind.PRD})
FIRST = ("yes", "comment", "ask", "stop")
KEEP_OLD = ("yes", "skip", "comment", "ask")
"""Another plan for a sprint under way: skip keeps the old one."""
BY_APPROVE = "--approve"
NOBODY = "assumption"


def comes_first(state: State) -> bool:
    """There is no plan yet: nothing else can be done."""
    return state.planning is not None and state.planning.under_way and state.plan is None


def beside(state: State) -> bool:
    """Another plan is talked about while the sprint goes on."""
    return state.planning is not None and state.planning.under_way and state.plan is not None


def over(state: State) -> str:
    """Why the run has reached what it was started for, in words; empty: it has not."""
    planning = state.planning
    if planning is None or not state.until or (state.plan is not None and planning.goal is Goal.REPLAN):
        return ""
    if planning.stage is Stage.APPROVED:
        return f"the plan is approved (by {planning.approved_by}): devteam run works on it"
    writing = planning.stage in (Stage.GATHER, Stage.PRD, Stage.PRD_GATE)
    writing = writing or (planning.stage is Stage.QUESTIONS and planning.back is Stage.PRD)
    if state.until is Until.PRD and planning.prd and not writing:
        return f"the PRD is approved: devteam plan --sprint {state.sprint} makes a plan of it"
    return ""


def consider(turn: Turn) -> None:
    """A task that went round in circles until its recoveries were used up is planned anew, once; the user is asked."""
    state = turn.state
    planning = state.planning
    if planning is None or planning.under_way or state.paused:
        return  # a plan the user wrote is theirs to revise: devteam replan
    for task in state.tasks.values():
        if _circled(task) and task.id not in state.replanned:
            words = f"Task {task.id} ({task.spec.title}) ended {task.status.value}: {task.reason}"
            turn.say(
                ev.PlanRequested(
                    sprint=state.sprint,
                    request=f"{planning.request}\n\n{words}",
                    goal=Goal.REPLAN,
                    task=task.id,
                    approve=planning.approve,
                    by="devteam",
                )
            )
            return


def _circled(task: TaskState) -> bool:
    """Its own failure, not a blocker outside it, and every recovery was tried."""
    stuck = task.health is Health.STALLED or task.recovery is Recovery.HUMAN or task.council is Council.DONE
    ended = task.status in (Status.BLOCKED, Status.HALTED) and task.iteration >= 2
    return ended and stuck and not task.mend and task.claim != "blocked"


def owns(gate: GateState) -> bool:
    return gate.kind in GATES


def advance(turn: Turn) -> None:
    """The next step of the conversation."""
    state, planning = turn.state, turn.state.planning
    if planning is None:
        return
    if due := budget.warning(state):
        scope, spent, limit = due
        turn.say(ev.BudgetWarned(scope=scope, spent_usd=spent, limit_usd=limit))
    _talk(turn, planning)
    if state.paused:
        return
    if planning.blocker:
        turn.finish(Outcome.FAILED, planning.blocker + (f" — {planning.action}" if planning.action else ""))
        return
    if state.sprint_error and comes_first(state):
        turn.finish(Outcome.FAILED, state.sprint_error)
        return
    match planning.stage:
        case Stage.QUESTIONS:
            _questions(turn, planning)
        case Stage.GATE | Stage.PRD_GATE:
            _gate(turn, planning)
        case Stage.GATHER | Stage.PRD | Stage.DRAFT | Stage.CHECK | Stage.REVIEW:
            _work(turn, planning)
        case Stage.APPROVED | Stage.DROPPED:
            return
        case _:
            assert_never(planning.stage)


def close(turn: Turn) -> None:
    """Nothing can be done now: wait for the human if somebody waits for them, else end the run with the words."""
    state = turn.state
    if turn.ending is not None:
        turn.do(closing.finish(state, *turn.ending))
        return
    if reason := over(state):
        turn.do(closing.finish(state, Outcome.DONE, reason))
        return
    parked = [gate for gate in state.open_gates() if owns(gate)]
    if parked and not (state.attended and state.waits):
        first = parked[0]
        names = ", ".join(f"{gate.id} ({gate.kind})" for gate in parked)
        said = f"waiting for an answer to {names} — devteam answer {first.id} {'|'.join(first.choices)}"
        turn.do(closing.finish(state, Outcome.BLOCKED, said))
    elif state.planning is not None and state.planning.stage is Stage.DROPPED and state.plan is None:
        turn.do(closing.finish(state, Outcome.STOPPED, "the plan was dropped"))


# ── agents ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _work(turn: Turn, planning: Planning) -> None:
    state = turn.state
    if planning.surveyed != state.run:
        if turn.sprint_free(Survey):
            turn.do(Survey(id=turn.name("plan", "survey"), lane=PLANNING_LANE))
        return
    if planning.stage is Stage.CHECK:
        if turn.sprint_free(CheckPlan):
            turn.do(CheckPlan(id=turn.name("plan", "check"), lane=PLANNING_LANE, version=planning.version))
        return
    if any(not call.task and not call.gate for call in state.calls_in_flight()) or not turn.sprint_free(Survey):
        return
    asked = desk(state, planning)
    if turn.rested(asked):
        turn.call(asked, _ROLES[planning.stage])


_ROLES = {
    Stage.GATHER: Role.GATHERER,
    Stage.PRD: Role.PRD_WRITER,
    Stage.DRAFT: Role.PLANNER,
    Stage.REVIEW: Role.PLAN_REVIEWER,
}


def desk(state: State, planning: Planning) -> TaskState:
    """The conversation as what `Turn` calls agents for: no task, a lane of its own, one iteration a draft."""
    spec = TaskSpec(id="", title="the plan", description=planning.request)
    return TaskState(
        spec=spec,
        phase=-1,
        lane=PLANNING_LANE,
        iteration=planning.version + 1 if planning.stage is not Stage.REVIEW else planning.version,
        attempt=planning.asked + 1,
        tries=planning.tries,
        not_before=planning.not_before,
        long=planning.long,
    )


def _talk(turn: Turn, planning: Planning) -> None:
    """What the human asks at a gate of the conversation is answered by a read-only agent, and changes nothing."""
    state = turn.state
    for gate in state.open_gates():
        pending = next((question for question, answer in gate.questions if not answer), "")
        if not owns(gate) or not pending or any(call.gate == gate.id for call in state.calls_in_flight()):
            continue
        asked = desk(state, planning)
        if planning.surveyed != state.run:
            if turn.sprint_free(Survey):
                turn.do(Survey(id=turn.name("plan", "survey"), lane=PLANNING_LANE))
        elif reason := turn.refusal(asked, Role.ANSWERER):
            turn.say(ev.GateReplied(gate=gate.id, id="", answer=f"(no answer now: {reason})"))
        else:
            turn.call(asked, Role.ANSWERER, gate=gate.id, question=pending)


# ── the human ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _questions(turn: Turn, planning: Planning) -> None:
    """Each question is a gate of its own; what was answered beforehand, or nobody can be asked, is only recorded."""
    state = turn.state
    before = len(planning.answers)
    for place, question in enumerate(planning.questions):
        gate = state.gates.get(planning.open_gates.get(question.text, ""))
        if given := _given(planning, question, before + place + 1):
            if gate is None:
                turn.say(ev.QuestionAnswered(question=question.text, answer=given, by="--answers"))
        elif not state.attended or planning.asked > ASKING:
            if gate is None:
                turn.say(ev.QuestionAnswered(question=question.text, answer=question.assumption, by=NOBODY))
            elif gate.open:
                turn.say(ev.GateAnswered(gate=gate.id, choice=Choice.YES, by="unattended", tree=gate.tree))
        elif gate is None:
            turn.say(_open_question(planning, question, place + 1, turn.gate_name()))


def _given(planning: Planning, question: PlanQuestion, number: int) -> str:
    """An answer given beforehand: by its number, or by words that only this question has."""
    if answer := planning.given.get(str(number), ""):
        return answer
    words = " ".join(question.text.casefold().split())
    for key, answer in planning.given.items():
        wanted = " ".join(key.casefold().split())
        if not wanted.isdigit() and wanted and wanted in words:
            return answer
    return ""


def _open_question(planning: Planning, question: PlanQuestion, place: int, name: str) -> ev.GateOpened:
    assumed = question.assumption.strip()
    body = f"If you do not say: {assumed}" if assumed else "The planner states no assumption."
    return ev.GateOpened(
        gate=name,
        task="",
        kind=GateKind.QUESTION,
        title=question.text,
        body=body,
        attempt=place,
        choices=tuple(choice for choice in offered(GateKind.QUESTION) if assumed or choice is not Choice.YES),
        tree=planning.binding,
    )


def _gate(turn: Turn, planning: Planning) -> None:
    if planning.gate:
        return
    if planning.approved_by and planning.plan is not None:
        turn.say(approved(planning, planning.plan, planning.approved_by))
        return
    clean = not planning.issues and planning.reviewed == planning.version
    if planning.stage is Stage.PRD_GATE:
        if planning.approve:
            # Nobody reviews a PRD for the user; who approved beforehand gets what was asked for.
            turn.say(ev.GatePassed(task="", kind=GateKind.PRD, by=BY_APPROVE, tree=planning.binding))
        else:
            turn.say(_opened(turn, planning, GateKind.PRD, "The PRD is written", planning.prd))
        return
    plan = planning.plan
    if plan is None:
        return
    if planning.approve and clean:
        turn.say(approved(planning, plan, BY_APPROVE))
        return
    turn.say(_opened(turn, planning, GateKind.PLAN, _title(planning, plan), plan_body(turn.state, planning, plan)))


def _opened(turn: Turn, planning: Planning, kind: GateKind, title: str, body: str) -> ev.GateOpened:
    return ev.GateOpened(
        gate=turn.gate_name(),
        task="",
        kind=kind,
        title=title,
        body=body,
        attempt=planning.version,
        # Only a plan that replaces one may be dropped; only a first one may end the run.
        choices=tuple(
            choice
            for choice in offered(kind)
            if choice is not (Choice.STOP if planning.goal is Goal.REPLAN else Choice.SKIP)
        ),
        tree=planning.binding,
        forced=bool(planning.issues),
    )


def approved(planning: Planning, plan: Plan, by: str) -> ev.PlanApproved:
    return ev.PlanApproved(plan=plan, by=by, version=planning.version, summary=planning.review)


def _title(planning: Planning, plan: Plan) -> str:
    if planning.goal is Goal.REPLAN:
        about = f" for task {planning.task}" if planning.task else ""
        return f"Another plan{about}: {plan.title}"
    word = "approved by its reviewer" if planning.reviewed == planning.version else "not approved by its reviewer"
    return f"Plan: {plan.title} — {word} (draft {planning.version})"


def plan_body(state: State, planning: Planning, plan: Plan) -> str:
    """What is shown is what `yes` approves: objections first, then cost and time, then every task."""
    lines = [f"OBJECTION: {issue.words()}" for issue in planning.issues]
    expected = forecast(plan.tasks(), state.past, state.policy.ladder.rungs)
    lines.append(f"Expected: {expected.words()}; budget ${state.policy.budget.session_usd:.2f}")
    lines += [f"Review: {planning.review}"] if planning.review else []
    lines += [f"Assumed: {one.question} → {one.answer}" for one in planning.answers if one.by == NOBODY]
    lines += [f"Note: {note}" for note in planning.notes]
    if planning.goal is Goal.REPLAN and state.plan is not None:
        lines += difference(state.plan, plan)
    else:
        for phase in plan.phases:
            lines.append(f"Phase {phase.id}: {phase.title}" + (" (scaffold)" if phase.scaffold else ""))
            lines += [line for task in phase.tasks for line in _task_lines(task)]
    lines += [f"Later: {request}" for request in planning.later]
    return "\n".join(lines)


def _task_lines(task: TaskSpec) -> list[str]:
    extra = [f"needs {', '.join(task.depends_on)}"] if task.depends_on else []
    extra += [f"complexity {task.complexity}"] if task.complexity is not None else []
    extra += [f"proof: {task.proof}"] if task.proof else []
    lines = [f"  {task.id} {task.title}" + (f"  ({'; '.join(extra)})" if extra else "")]
    lines += [f"      accept: {criterion}" for criterion in task.accept]
    lines += [f"      scope: {', '.join(task.scope)}"] if task.scope else []
    lines += [f"      verify: {command}" for command in task.verify]
    lines += [f"      allow: {permission}" for permission in task.allow]
    return lines


def difference(old: Plan, new: Plan) -> list[str]:
    """What a replan changes, task by task, as lines of a diff."""
    before = {task.id: _task_lines(task) for task in old.tasks()}
    after = {task.id: _task_lines(task) for task in new.tasks()}
    lines: list[str] = []
    for name in [*before, *(name for name in after if name not in before)]:
        was, now = before.get(name, []), after.get(name, [])
        if was != now:
            lines += [f"- {line}" for line in was if line not in now]
            lines += [f"+ {line}" for line in now if line not in was]
    return lines or ["(no change)"]
