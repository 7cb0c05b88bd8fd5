"""From an idea to finished sprints: PRD → plan → sprints, until all is done, a human is needed, or a limit is met.

Every step can be done by hand (devteam prd, plan, run, land); this only does the next one, and says so each time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import assert_never

from msgspec.structs import replace

from engine.core import sprint_review
from engine.core.clean import clean_line
from engine.core.model import Struct, Verdict
from engine.core.planning_state import Until
from engine.core.state import State, Status
from engine.core.vocabulary import Outcome
from engine.plans.sprints import SprintFolder, list_sprints
from engine.project import stored_state
from engine.service import planning, work_queue
from engine.service.landing import land_sprint
from engine.service.local import Desk, SprintNotFound
from engine.session_options import Ask, Options

RULE = "═" * 43
MAX_ITERATIONS = 50
MAX_FAILURES = 5
PRD = "prd.md"
SEE = " (see "
Run = Callable[[Desk, SprintFolder, Options], Awaitable[State]]


class Standing(Struct, frozen=True, kw_only=True):
    """The seed's status block."""

    iteration: int
    done: int
    total: int
    current: str = ""
    failures: int = 0
    status: str = "CONTINUING"
    reason: str = ""

    def block(self) -> str:
        return "\n".join(
            (
                RULE,
                f"AUTONOMOUS MODE - Iteration {self.iteration}",
                RULE,
                f"Sprints: {self.done}/{self.total}",
                f"Current: {self.current or '~'}",
                f"Failures: {self.failures}/{MAX_FAILURES}",
                f"Status: {self.status}" + (f" ({self.reason})" if self.reason else ""),
                RULE,
            )
        )


class Controller:
    """Works the queue. `lands`: brings each sprint's commits onto the user's branch before the next one begins."""

    def __init__(
        self,
        desk: Desk,
        options: Options,
        run: Run,
        say: Callable[[Standing], None],
        *,
        today: str,
        lands: bool,
        max_iterations: int = MAX_ITERATIONS,
        max_usd: float = 0.0,
    ) -> None:
        self._desk = desk
        self._options = options
        self._run = run
        self._say = say
        self._today = today
        self._lands = lands
        self._max_iterations = max_iterations
        self._max_usd = max_usd
        self._iteration = 0
        self._failures = 0
        self._failed_at = ""
        self._spent = 0.0

    async def work(self) -> Outcome:
        """To the end of the queue; the worst outcome of its sprints."""
        worst = Outcome.DONE
        self._take_up()
        while True:
            item = next((one for one in work_queue.items(self._desk) if one.status == "open"), None)
            if item is None:
                waits = [one.text for one in work_queue.items(self._desk) if one.status == "blocked"]
                ended = Outcome.BLOCKED if waits and worst is Outcome.DONE else worst
                said = f"needs you: {', '.join(waits)}" if waits else "the queue is worked off"
                self._tell("", "COMPLETE" if ended is Outcome.DONE else "ENDED", said)
                return ended
            if limit := self._limit():
                self._tell(item.text, "CIRCUIT_BREAKER" if self._failures >= MAX_FAILURES else "LIMIT", limit)
                return Outcome.LIMIT
            self._iteration += 1
            self._tell(item.text)
            outcome = await self._step(item)
            if outcome in (Outcome.STOPPED, Outcome.INTERRUPTED):
                return outcome
            if outcome is not Outcome.DONE:
                worst = outcome if worst is Outcome.DONE else worst

    def _take_up(self) -> None:
        """What needed the human at the last start and can go on by now is open again: an answer, a retry, a grant."""
        for item in work_queue.items(self._desk):
            if item.status != "blocked" or item.request:
                continue
            with contextlib.suppress(SprintNotFound):
                if _can_go_on(stored_state(self._desk.project, self._desk.sprint(item.text))):
                    work_queue.mark(self._desk, item.text, "open")

    def needs(self) -> list[str]:
        """What the human is needed for, sprint by sprint, with what to type."""
        lines: list[str] = []
        for item in work_queue.items(self._desk):
            if item.status != "blocked" or item.request:
                continue
            try:
                state = stored_state(self._desk.project, self._desk.sprint(item.text))
            except SprintNotFound as unknown:
                lines.append(f"{item.text}: {str(unknown).splitlines()[0]}")
                continue
            gates = [f"devteam answer {gate.id} {'|'.join(gate.choices)}" for gate in state.open_gates()]
            tasks = [f"{task.id}: {task.action}" for task in state.tasks.values() if task.ended and task.action]
            lines.append(f"{item.text}: {clean_line(state.outcome_reason.split(' — ')[0]) or 'needs you'}")
            lines += [f"  → {clean_line(words, 400)}" for words in (*gates, *tasks)]
        return lines

    def _limit(self) -> str:
        if self._iteration >= self._max_iterations:
            return f"{self._iteration} iterations"
        if self._failures >= MAX_FAILURES:
            return f"{self._failures} failures at {self._failed_at}"
        if self._max_usd and self._spent >= self._max_usd:
            return f"${self._spent:.2f} of ${self._max_usd:.2f} are spent"
        return ""

    async def _step(self, item: work_queue.Item) -> Outcome:
        """The next thing for the item on top: make its sprint, its PRD, its plan, or work on it."""
        desk = self._desk
        if item.request:
            folder = planning.begin(desk, item.request, self._today, self._options.trust)
            work_queue.mark(desk, item.text, "open", becomes=folder.id)
            return Outcome.DONE
        folder = planning.adopted(desk, desk.sprint(item.text))
        before = stored_state(desk.project, folder)
        until = _next(before, folder, self._options.planning)
        ask = replace(self._options.planning or Ask(), with_prd=until is Until.PRD)
        state = await self._run(desk, folder, replace(self._options, until=until, planning=ask))
        self._spent += max(0.0, state.spent_usd - before.spent_usd)
        outcome = state.outcome or Outcome.FAILED
        if until is not Until.SPRINT and outcome is Outcome.DONE:
            self._queue_later(state)
            self._failures = 0
            return outcome
        if outcome in (Outcome.STOPPED, Outcome.INTERRUPTED):
            return outcome
        return self._over(item, folder, state, outcome)

    def _queue_later(self, state: State) -> None:
        """What the planner left for later sprints goes behind this one, once the plan is approved."""
        if state.plan is None or state.planning is None:
            return
        known = {one.text for one in work_queue.items(self._desk)}
        # A planner that leaves the same for later again and again would never come to an end.
        known |= {clean_line(f"plan: {folder.request()}") for folder in list_sprints(self._desk.root)}
        prd = f"{SEE}.devteam/sprints/{state.sprint}/{PRD})" if state.planning.prd else ""
        later = state.planning.later
        wanted = {clean_line(f"plan: {request}"): clean_line(f"plan: {request}{prd}") for request in later}
        bare = {line.split(SEE)[0] for line in known}
        work_queue.add(self._desk, *(line for words, line in wanted.items() if words not in bare))

    def _over(self, item: work_queue.Item, folder: SprintFolder, state: State, outcome: Outcome) -> Outcome:
        point = f"{folder.id} - {_stuck_at(state)}"
        if outcome is Outcome.DONE:
            self._failures, self._failed_at = 0, ""
        elif point == self._failed_at:
            self._failures += 1
        else:
            self._failures, self._failed_at = 1, point
        moved = state.head and state.head != state.base and state.landed != state.head
        green = state.final is None or state.final is Verdict.PASS
        if self._lands and moved and green and not sprint_review.wants_changes(state):
            ok, lines = land_sprint(self._desk, folder.id, branch=False, patch=None, apply=True)
            if not ok:
                self._tell(folder.id, "CONTINUING", clean_line(lines[0]))
        match outcome:
            case Outcome.DONE:
                work_queue.mark(self._desk, item.text, "done")
            case Outcome.BLOCKED | Outcome.LIMIT:
                work_queue.mark(self._desk, item.text, "blocked")
            case Outcome.FAILED | Outcome.STOPPED | Outcome.CANCELLED | Outcome.INTERRUPTED | Outcome.ERROR:
                if self._failures >= MAX_FAILURES or state.tasks:
                    work_queue.mark(self._desk, item.text, "blocked")
            case _:
                assert_never(outcome)
        return outcome

    def _tell(self, current: str, status: str = "CONTINUING", reason: str = "") -> None:
        rows = work_queue.items(self._desk)
        done = sum(one.status == "done" for one in rows)
        self._say(
            Standing(
                iteration=self._iteration,
                done=done,
                total=len(rows),
                current=clean_line(current, 100),
                failures=self._failures,
                status=status,
                reason=reason,
            )
        )


def _next(state: State, folder: SprintFolder, ask: Ask | None) -> Until:
    """PRD first where one is wanted, then the plan, then the work."""
    if not folder.request() or state.plan is not None:
        return Until.SPRINT
    wants_prd = ask is not None and ask.with_prd and f"/{PRD})" not in folder.request()
    if wants_prd and (state.planning is None or not state.planning.prd):
        return Until.PRD
    return Until.PLAN


def _can_go_on(state: State) -> bool:
    """Something can be done without a further word of the human."""
    if state.open_gates():
        return False
    if state.plan is None:
        return state.planning is not None and state.planning.under_way
    left = [task for task in state.tasks.values() if not task.ended]
    # With every task done, only the final checks, the final review or the landing are missing: they may hold by now.
    return bool(left) or all(task.status in (Status.COMPLETE, Status.SKIPPED) for task in state.tasks.values())


def _stuck_at(state: State) -> str:
    return next(
        (task.id for task in state.tasks.values() if task.ended and task.status is not Status.COMPLETE), "planning"
    )
