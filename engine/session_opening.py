"""What a session says before its run: a new sprint, an edited plan, and what the journal does not know of."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from engine.clock import Clock
from engine.core import events as ev
from engine.core.model import Plan
from engine.core.state import State
from engine.engine_log import EngineLog
from engine.journal import Journal
from engine.perform.reconcile import at_start, unheard_calls
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace
from engine.plans.sprints import SprintFolder
from engine.project import Project, topic_of
from engine.runner import Runner
from engine.session_options import Ask
from engine.users_edits import UsersEdits


def first_words(
    runner: Runner, sprint: SprintFolder, ask: Ask | None, edits: UsersEdits, journal: Journal, state: State,
    plan: Plan | None,
) -> None:  # fmt: skip
    """What is to be said before the run: a new sprint, an edited plan, a journal that had to be restored."""
    stale = state.planning is not None and state.planning.approve  # given to a call before this one
    if sprint.request() and (not state.sprint or ((ask is not None or stale) and state.plan is None)):
        runner.append(_requested(sprint, ask or Ask()))
        if plan is not None and state.planning is None:  # written by hand: what the conversation begins with
            runner.append(ev.PlanDrafted(id="", plan=plan, by="you"))
    if not sprint.request() and not state.sprint and plan is not None:
        topic = topic_of(plan, sprint)
        runner.append(ev.SprintCreated(sprint=sprint.id, plan=plan, branch=sprint.branch, topic=topic))
    elif plan is not None:
        runner.append(*edits.of_plan(plan))
    if journal.recovery is not None:
        runner.append(ev.Noted(text=journal.recovery.words(), level="warning"))


def _requested(sprint: SprintFolder, ask: Ask) -> ev.PlanRequested:
    return ev.PlanRequested(
        sprint=sprint.id,
        request=sprint.request(),
        branch=sprint.branch,
        topic=sprint.slug,
        source=ask.source,
        with_prd=ask.with_prd,
        approve=ask.approve,
        given=ask.given,
    )


async def reconciled(
    project: Project, sprint: SprintFolder, workspace: Workspace, journal: Journal, state: State, last: float,
    clock: Clock, log: EngineLog,
) -> list[ev.AnyEvent]:  # fmt: skip
    """Journal against branch and logs; `last`: when the journal's last event was recorded."""

    def told_so_far() -> Iterator[ev.Fact]:
        """Every event there is, by a connection of its own: a thread may ask."""
        reading = Journal.open(journal.path, clock=clock.now, backup_dir=project.backups, read_only=True)
        with reading as own:
            yield from (envelope.event for envelope in own.read())

    def commits() -> set[str]:
        return {one.commit for one in told_so_far() if isinstance(one, ev.Committed)}

    def calls() -> set[str]:
        return {one.effect.id for one in told_so_far() if isinstance(one, ev.EffectStarted)}

    spend = unheard_calls(project.state.logs_of(sprint.id), state, last, calls)
    try:
        found = await asyncio.to_thread(at_start, workspace, state, commits, clock.now())
    except WorkspaceError as error:  # the run meets it again, and waits for it by its name
        log.write("reconcile", problem=error.message)
        found = []
    said = [ev.Noted(text=words, level="warning") for words in workspace.heard()]
    return [*([spend] if spend is not None else []), *said, *found]
