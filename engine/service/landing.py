"""Landing, checkpoints, baselines and rollback by hand. Journaled, and never on the user's own files unasked."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.clean import clean_line
from engine.core.fold import apply
from engine.core.model import Verdict
from engine.core.restoring import ends_of, opened_since
from engine.core.state import State, Status
from engine.core.task_state import status_of
from engine.core.verdict import of_checks
from engine.journal import Journal
from engine.paths import make_state
from engine.perform.checks.proof.check_result import check_result
from engine.perform.checks.proof.judge import measure_baseline
from engine.perform.checks.run.spec import CheckSpec, Setting
from engine.perform.dependencies import made_mounts
from engine.perform.process.environment import scrubbed
from engine.perform.process.probe import probe
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.run_checks import RoomTrees
from engine.perform.workspace.facts import Baseline, Checkpoint, LandReport, Rollback, WorkspaceError
from engine.perform.workspace.workspace import Workspace
from engine.project import engine_lock, load_state
from engine.service.local import Desk
from engine.settings import check_specs, integrity, open_workspace
from engine.view_writer import Views, give_back


def workspace_of(desk: Desk, hint: str) -> Workspace:
    make_state(desk.project.state)
    return open_workspace(desk.project, desk.sprint(hint).id, desk.project.config())


@contextlib.contextmanager
def _writing(desk: Desk, hint: str) -> Iterator[tuple[Journal, State]]:
    """The journal, for one command. A running engine keeps us out: it is the only writer."""
    project = desk.project
    clock = SystemClock()
    with (
        engine_lock(project, clock.now),
        Journal.open(project.repo.db, clock=clock.now, backup_dir=project.backups) as journal,
    ):
        yield journal, load_state(journal, desk.sprint(hint).id)


def land_sprint(desk: Desk, hint: str, *, branch: bool, patch: Path | None, apply: bool) -> tuple[bool, list[str]]:
    """Fast-forward the user's branch, or say what stands in the way and what else can be done."""
    workspace = workspace_of(desk, hint)
    if patch is not None:
        report = workspace.land_patch(patch.absolute())
        return report.ok, _landing(report)
    if branch:
        name = workspace.has_it().removeprefix("refs/heads/")
        return True, [f"the commits are on {name}", f"  git merge {workspace.name_to_merge()}"]
    if not apply:
        report = workspace.land(apply=False)
        return report.ok, _landing(report)
    with _writing(desk, hint) as (journal, state):
        report = workspace.land()
        detail = "; ".join((report.detail, *report.differs[:5]))
        event = ev.Landed(id="by-hand", ok=report.landed, commit=report.commit, detail=detail)
        journal.append(desk.sprint(hint).id, [event])
        problem = give_back(desk.root, desk.sprint(hint), state) if report.landed else ""
    return report.ok, [*_landing(report), *([problem] if problem else [])]


def _landing(report: LandReport) -> list[str]:
    lines = [f"landed {report.commit[:10]}: {report.detail}" if report.landed else report.detail]
    lines += [f"  {line}" for line in report.differs if len(report.differs) > 1]  # the first is in the detail
    lines += [f"  {change.change:<9} {change.path} +{change.added} −{change.removed}" for change in report.changes]
    if report.kept:
        lines.append(f"what was there before: {report.kept}")
    if report.offers:
        lines += ["you can also:", *(f"  {offer}" for offer in report.offers)]
    return lines


def save_checkpoint(desk: Desk, hint: str, description: str) -> str:
    workspace = workspace_of(desk, hint)
    sprint = desk.sprint(hint)
    now = SystemClock().now()
    with _writing(desk, hint) as (journal, state):
        files: dict[str, Path | bytes] = {"devteam.db": journal.backup()}
        repo = desk.project.repo
        for path in (repo.features, repo.progress, sprint.context_path, sprint.plan_path):
            if path.is_file():
                files[path.name] = path
        made = workspace.save_checkpoint(f"h{state.effect_count:05d}-{int(now)}", description, now, files)
        event = ev.CheckpointSaved(id="by-hand", checkpoint=made.id, commit=made.commit, reason=description)
        journal.append(sprint.id, [event])
    return f"checkpoint {made.id} at {made.commit[:10]}: {description}"


def checkpoints(desk: Desk, hint: str) -> list[Checkpoint]:
    return workspace_of(desk, hint).list_checkpoints()


def restore_checkpoint(desk: Desk, hint: str, checkpoint: str) -> str:
    """The branch, and with it how each task stood: done, blocked, skipped, or still to be done."""
    return _move(desk, hint, lambda workspace, now: workspace.restore_checkpoint(checkpoint, now)[0], checkpoint)


def create_baseline(desk: Desk, hint: str, milestone: str, description: str) -> str:
    workspace = workspace_of(desk, hint)
    with _writing(desk, hint) as (journal, _state):
        made = workspace.create_baseline(milestone, SystemClock().now(), description)
        event = ev.BaselineCreated(id="by-hand", milestone=made.milestone, ref=made.ref, commit=made.commit)
        journal.append(desk.sprint(hint).id, [event])
    return f"baseline {made.milestone} at {made.commit[:10]}"


def baselines(desk: Desk, hint: str) -> list[Baseline]:
    return workspace_of(desk, hint).list_baselines()


def roll_back_to_baseline(desk: Desk, hint: str, name: str) -> str:
    return _move(desk, hint, lambda workspace, now: workspace.roll_back_to_baseline(name, now))


def roll_back(desk: Desk, hint: str, how: str, kind: str = "") -> tuple[bool, str]:
    """check: does the branch pass its checks? auto, smart: go back to a good commit. undo: as it was before.

    `kind`: judge by the checks of this kind alone."""
    if how == "undo":
        return True, _move(desk, hint, lambda workspace, now: workspace.roll_back_undo(now))
    good = functools.cache(_judge_commits(desk, hint, kind))
    most = desk.project.config().rollback.max_commits_to_search
    if how == "check":
        workspace = workspace_of(desk, hint)
        tip = workspace.head()
        if good(tip):
            return True, f"{tip[:10]}: every {f'{kind} ' if kind else ''}check passes"
        found = workspace.roll_back_check(good, most)
        where = f"the last good commit is {found[:10]}" if found else f"no good commit within {most}"
        return False, f"{tip[:10]}: the checks do not pass; {where}\n  → devteam rollback smart {kind}".rstrip()
    if how == "auto":
        return True, _move(desk, hint, lambda workspace, now: workspace.roll_back_auto(now, good))
    return True, _move(desk, hint, lambda workspace, now: workspace.roll_back_smart(now, good, most))


def _move(desk: Desk, hint: str, act: Callable[[Workspace, float], Rollback], checkpoint: str = "") -> str:
    """Move the sprint branch; tasks whose commits went with it are open again."""
    workspace = workspace_of(desk, hint)
    with _writing(desk, hint) as (journal, state):
        moved = act(workspace, SystemClock().now())
        then = _state_at(journal, desk.sprint(hint).id, checkpoint) if checkpoint else None
        ends = ends_of(then, state) if then is not None else {}
        since = opened_since(then, state) if then is not None else ()
        if not moved.moved and not ends and not since:
            return f"{moved.reason}: everything is as it was then" if checkpoint else moved.reason
        gone = since + tuple(
            task.id for task in state.tasks.values() if task.on_branch and not workspace.is_reachable(task.commit)
        )
        event = ev.BranchMoved(
            commit=moved.commit,
            tree=moved.tree,
            backup=moved.backup,
            reason=moved.reason,
            reopened=gone,
            restored=_back_again(desk.sprint(hint).id, journal, state, workspace),
            ended=ends,
        )
        journal.append(desk.sprint(hint).id, [event])
        # At once: a box that still says done would be read as the user's word at the next start.
        Views(desk.project, desk.sprint(hint)).flush(load_state(journal, desk.sprint(hint).id))
    again = f"; open again: {', '.join(gone)}" if gone else ""
    again += f"; complete again: {', '.join(event.restored)}" if event.restored else ""
    again += "".join(f"; {name}: {status_of(end.decision).value} again" for name, end in ends.items())
    name = workspace.branch.removeprefix("refs/heads/")
    before = f"; before: {moved.backup}" if moved.backup else ""
    return f"{name} is at {moved.commit[:10]} ({moved.reason}){before}{again}"


def _state_at(journal: Journal, stream: str, checkpoint: str) -> State | None:
    """The sprint as it was when the checkpoint was made; None where the journal does not know it."""
    state = State()
    for envelope in journal.read(stream):
        state = apply(state, envelope)
        if isinstance(envelope.event, ev.CheckpointSaved) and envelope.event.checkpoint == checkpoint:
            return state
    return None


def _back_again(stream: str, journal: Journal, state: State, workspace: Workspace) -> dict[str, str]:
    """Open tasks whose own recorded commits are on the branch."""
    recorded = {one.event.task: one.event.commit for one in journal.read(stream) if isinstance(one.event, ev.Committed)}
    return {
        name: commit
        for name, commit in recorded.items()
        if name in state.tasks and state.tasks[name].status is not Status.COMPLETE and workspace.is_reachable(commit)
    }


def _judge_commits(desk: Desk, hint: str, kind: str) -> Callable[[str], bool]:
    """Whether a commit's tree passes the checks of this kind (or of `rollback.checks`), measured in the clean room."""
    project = desk.project
    config = project.config()
    found = check_specs(config, project.root)
    specs = _specs_of(found, kind) if kind else tuple(s for s in found if s.kind in config.rollback.checks) or found
    clock = SystemClock()
    places = make_state(project.state)
    scratch = places.root / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    workspace = workspace_of(desk, hint)
    workspace.mounts = (*workspace.mounts, *made_mounts(workspace))

    async def measured(commit: str) -> bool:
        mode = await probe(config.sandbox.mode, scratch=scratch, home=project.home)
        spawner = ProcessSpawner(mode, "rollback", clock.monotonic, home=project.home, scratch=scratch)
        setting = Setting(
            checkout=workspace.checkout,
            scratch=scratch,
            evidence=places.evidence,
            env=scrubbed(project.env),
            mounts=workspace.mounts,
            hide=(places.root,),
            policy=integrity(config),
        )
        measured_here = await measure_baseline(
            base=workspace.tree_of(commit),
            specs=specs,
            trees=RoomTrees(workspace),
            spawner=spawner,
            setting=setting,
            clock=clock.now,
        )
        # Outright: what was broken before is no excuse for a commit that is to be gone back to.
        results = [check_result(spec, found) for spec in specs if (found := measured_here.of(spec)) is not None]
        return of_checks(results)[0] is Verdict.PASS

    return lambda commit: asyncio.run(measured(commit))


def _specs_of(found: tuple[CheckSpec, ...], kind: str) -> tuple[CheckSpec, ...]:
    there = sorted({spec.kind.value for spec in found})
    if kind not in there:
        said = f"there is no {clean_line(kind)} check; kinds of this repository: {', '.join(there) or 'none'}"
        raise WorkspaceError(said, hint="devteam rollback check")
    return tuple(spec for spec in found if spec.kind.value == kind)
