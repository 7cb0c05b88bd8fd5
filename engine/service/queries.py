"""Answers to a user interface's queries: diffs, evidence, reports, output, files. They change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine import report
from engine.closing_summary import summary
from engine.core import events as ev
from engine.core.activity import AnyActivity
from engine.core.clean import clean
from engine.core.effects import CallAgent, CheckScope
from engine.core.evidence import CheckRun, EvidenceRecord
from engine.core.state import State
from engine.learnings import read_all
from engine.link.protocol import (
    Answered,
    AnyQuery,
    GetDiff,
    GetEvents,
    GetEvidence,
    GetFile,
    GetLearnings,
    GetOutput,
    GetPrompt,
    GetReport,
    GetSprints,
    GetStatistics,
    LearningLine,
)
from engine.plans.sprints import SprintFolder
from engine.service.local import Desk
from engine.service.recorded import outputs

if TYPE_CHECKING:
    from engine.perform.checks.run.measure import Measurement

FILES = ("plan.md", "context.md", "report.md", "loop-state.md", "tracking.md")
TEXT_CAP = 2_000_000


class Answers:
    """Answers from a journal and a state directory, live or past."""

    def __init__(self, desk: Desk, sprint: SprintFolder, state: Callable[[], State]) -> None:
        self._desk = desk
        self._project = desk.project
        self._sprint = sprint
        self._state = state

    def answer(self, query: AnyQuery) -> Answered:
        match query:
            case GetDiff():
                return self._diff(query)
            case GetEvidence():
                return self._evidence(query.task)
            case GetReport():
                return self._report(query)
            case GetOutput():
                return self._output(query)
            case GetPrompt():
                return self._file(self._log(query.effect, ".prompt.md"))
            case GetEvents():
                lines = []
                for envelope in self._desk.events(self._sprint.id, query.after):
                    lines.append(ev.encode_envelope(envelope))
                    if len(lines) >= query.limit:
                        break
                return Answered(events=tuple(lines))
            case GetSprints():
                return Answered(sprints=tuple(self._desk.sprints()))
            case GetStatistics():
                return Answered(statistics=tuple(self._desk.statistics()))
            case GetLearnings():
                return Answered(learnings=tuple(self._learnings()))
            case GetFile():
                return self._named_file(query.name)

    def _diff(self, query: GetDiff) -> Answered:
        task = self._state().tasks.get(query.task)
        if task is None:
            return Answered(error=f"there is no task {query.task}")
        before, after = task.base, task.tree
        if query.iteration:
            before, after = self._trees_of(query.task, query.iteration)
        if not before or not after:
            return Answered(error=f"task {query.task} has changed nothing yet")
        from engine.perform.workspace.facts import WorkspaceError
        from engine.perform.workspace.workspace import Workspace

        try:
            workspace = Workspace.open(
                self._project.root, self._project.state.root, self._sprint.id, home=self._project.home, mounts=()
            )
            return Answered(text=clean(workspace.diff(before, after, context=query.context)))
        except WorkspaceError as error:
            return Answered(error=str(error))

    def _trees_of(self, task: str, iteration: int) -> tuple[str, str]:
        """The trees before and after an iteration."""
        before = after = ""
        scopes: dict[str, CheckScope] = {}
        for envelope in self._desk.events(self._sprint.id):
            match envelope.event:
                case ev.EffectStarted(effect=CheckScope() as effect):
                    if effect.task == task and effect.iteration == iteration:
                        scopes[effect.id] = effect
                        before = before or effect.before
                case ev.ScopeChecked() as scoped if scoped.id in scopes:
                    after = scoped.tree
                case _:
                    pass
        return before, after

    def _evidence(self, task: str) -> Answered:
        from engine.perform.checks.run.evidence import Store, TamperedError

        store = Store(self._project.state.evidence)
        records = []
        for envelope in self._desk.events(self._sprint.id):
            event = envelope.event
            if not isinstance(event, ev.ChecksFinished) or event.task != task or not event.evidence:
                continue
            try:
                judgement = store.verify(event.evidence)
                parts = [store.load_check(result.evidence) for result in event.results if result.evidence]
                known = {
                    **msgspec.structs.asdict(judgement),
                    "checks": tuple(_check_run(part.measurement) for part in parts),
                }
                del known["schema"]
            except (TamperedError, msgspec.DecodeError) as error:
                known = {"error": str(error)}
            known |= {"task": task, "hash": event.evidence, "iteration": event.iteration, "at": envelope.at}
            records.append(EvidenceRecord(**known))
        return Answered(evidence=tuple(reversed(records)))

    def _report(self, query: GetReport) -> Answered:
        state = self._state()
        if not query.task:
            return Answered(text=summary(state))
        task = state.tasks.get(query.task)
        if task is None:
            return Answered(error=f"there is no task {query.task}; tasks: {', '.join(state.tasks)}")
        if query.iteration:
            found = list(report.iterations(self._desk.events(self._sprint.id), query.task, query.iteration))
            return Answered(text=found[-1]) if found else Answered(error=f"no iteration {query.iteration} yet")
        return Answered(text=report.completion(state, task))

    def _output(self, query: GetOutput) -> Answered:
        effects = [query.effect] if query.effect else self._calls_of(query.task)
        lines: list[AnyActivity] = []
        for effect in effects:
            lines += outputs(self._log(effect, ".jsonl"))
        return Answered(output=tuple(lines[-query.limit :]))

    def _log(self, effect: str, ending: str) -> Path:
        """A log of a call. Older versions kept the logs of all sprints together."""
        name = f"{Path(effect).name}{ending}"
        places = self._project.state
        own = places.logs_of(self._sprint.id) / name
        return own if own.is_file() else places.logs / name

    def _calls_of(self, task: str) -> list[str]:
        return [
            envelope.event.effect.id
            for envelope in self._desk.events(self._sprint.id)
            if isinstance(envelope.event, ev.EffectStarted)
            and isinstance(envelope.event.effect, CallAgent)
            and envelope.event.effect.task == task
        ]

    def _learnings(self) -> Iterator[LearningLine]:
        for one in read_all(self._desk.root):
            yield LearningLine(
                name=one.name,
                title=one.title,
                text=one.text[:TEXT_CAP],
                avoid=one.avoid,
                dropped=one.dropped,
                files=one.files,
                disputes=one.disputes,
            )

    def _named_file(self, name: str) -> Answered:
        if name in FILES:
            return self._file(self._sprint.path / name)
        if name in ("config.toml", "progress.txt", "features.json"):
            return self._file(self._project.repo.folder / name)
        return Answered(error=f"{name} is not one of the sprint's files")

    def _file(self, path: Path) -> Answered:
        try:
            return Answered(text=clean(path.read_text(encoding="utf-8", errors="replace")[:TEXT_CAP]), path=str(path))
        except OSError as error:
            return Answered(error=f"{path}: {error.strerror}")


def _check_run(measured: Measurement) -> CheckRun:
    return CheckRun(
        name=measured.check,
        argv=measured.argv,
        exit_code=measured.exit_code,
        seconds=measured.seconds,
        sandbox=measured.sandbox,
        artefacts=measured.artefacts,
    )
