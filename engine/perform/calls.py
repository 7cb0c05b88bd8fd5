"""One agent call from effect to facts: brief it, confine it, hear it, redact and clean it, read its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.activity import AgentOutput, AnyActivity, OutputKind
from engine.core.budget import charge
from engine.core.clean import clean
from engine.core.effects import CallAgent
from engine.core.model import AgentResult, ResultKind, Role, SessionSummary
from engine.core.other_clock import meant
from engine.core.sprint_review_state import SPRINT_LANE
from engine.core.state import State, TaskState
from engine.perform import briefing, planning_calls, sprint_review_calls
from engine.perform.agents.hidden_files import hint_for_hidden
from engine.perform.agents.session import NAME as SESSION
from engine.perform.call_answers import answers_of, learnt_of
from engine.perform.output_log import OutputLog
from engine.perform.process.spawning import Adapter, AgentCall, Mount, Output, Spawner
from engine.perform.role_prompts import role_prompt
from engine.perform.secrets.redact import Redactor
from engine.perform.session_summary import summarise
from engine.prompts import BATCH_REVIEW, SCHEMAS, render
from engine.prompts.fields import Fields, Note, ReviewerFields
from engine.prompts.rendering import order

TRIED = 3
"""Earlier attempts a councillor is shown as diffs."""
TEXT_KEPT = 16_000
OUTPUT_KEPT = 8_000
SPOKEN = frozenset({OutputKind.TEXT, OutputKind.THINKING, OutputKind.TOOL_CALL, OutputKind.FILE_CHANGE})
"""Output that shows a program at work, not only starting."""
LOOKED_AT = 1_000_000
"""Characters of one text that are looked through for secrets before it is cut to what is kept."""


class Lessons(msgspec.Struct, frozen=True, kw_only=True):
    """Learnings for one call: files by name, and why each was chosen."""

    files: Mapping[str, str]
    why: tuple[str, ...] = ()


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent may see of the user's: environment and login files."""

    env: Mapping[str, str]
    mounts: tuple[Mount, ...] = ()


class Calls:
    """Performs CallAgent effects."""

    def __init__(
        self,
        *,
        spawner: Spawner,
        adapter_of: Callable[[str], Adapter],
        login_of: Callable[[str], Login],
        checkout: Path,
        lane_path: Callable[[int], Path],
        diff_of: Callable[[str, str], str],
        mounts_of: Callable[[], tuple[Mount, ...]],
        hide: tuple[Path, ...],
        state_dir: Path,
        homes: Path,
        logs: Path,
        user_home: Path,
        context_of: Callable[[State, str], str],
        lessons_of: Callable[[State, str], Lessons],
        secrets: tuple[str, ...],
        publish: Callable[[AnyActivity], None],
        now: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._spawner = spawner
        self._adapter_of = adapter_of
        self._login_of = login_of
        self._checkout = checkout
        self._lane_path = lane_path
        self._diff_of = diff_of
        self._mounts_of = mounts_of
        self._hide = hide
        self._state_dir = state_dir
        self._homes = homes
        self._logs = logs
        self._user_home = user_home
        self._context_of = context_of
        self._lessons_of = lessons_of
        self._secrets = secrets
        self._redactor = Redactor(secrets)
        self._publish = publish
        self._reasons: dict[str, tuple[str, ...]] = {}
        self._now = now
        self._wall = wall

    async def perform(self, effect: CallAgent, state: State) -> list[ev.AnyEvent]:
        adapter = self._adapter_of(effect.rung.agent)
        call = self._brief(effect, state)
        with closing(OutputLog(call.log.with_suffix(".jsonl"))) as log:
            words = 0

            def emit(output: Output) -> None:
                nonlocal words
                words += output.kind in SPOKEN
                said = self._heard(effect, output)
                log.add(said)
                self._publish(said)

            result = await adapter.call(call, self._spawner, emit)
        if result.kind in (ResultKind.CRASH, ResultKind.NO_RESULT) and not words and not result.tokens.total():
            hidden = (self._checkout.parent, self._user_home) if self._spawner.mode.mounts else ()
            hint = hint_for_hidden(f"{result.error}\n{result.text}", self._checkout, hidden)
            result = replace(result, silent=True, hint=hint or result.hint)
        return self._facts(effect, state, self._cleaned(result))

    def _brief(self, effect: CallAgent, state: State) -> AgentCall:
        seat = f"-{effect.seat}" if effect.seat else ""
        whose = effect.task or ("sprint" if effect.lane == SPRINT_LANE else "plan")
        home = self._homes / whose / f"{effect.role.value}{seat}"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The user's own session is in no sandbox of ours: it finds its files where they are.
        mounted = self._spawner.mode.mounts and effect.rung.agent != SESSION
        seen_home = self._user_home if mounted else home
        brief = briefing.Brief(folder=home / "brief", seen=seen_home / "brief", redact=self._redactor.text)
        fields = self._fields(effect, state, brief)
        login = self._login_of(effect.rung.agent)
        scratch = self._state_dir / "scratch" / effect.id
        return AgentCall(
            effect=effect.id,
            role=effect.role,
            model=effect.rung.model,
            prompt=self._prompt(effect, state, fields),
            task=effect.task,
            iteration=effect.iteration,
            attempt=effect.attempt,
            seat=effect.seat,
            session=effect.session,
            read_only=effect.read_only,
            schema=BATCH_REVIEW if effect.trees else SCHEMAS.get(effect.role),
            timeout=effect.timeout,
            idle_timeout=effect.idle_timeout,
            max_usd=effect.cap_usd or None,
            longest=effect.longest,
            checkout=self._checkout,
            clone=self._lane_path(max(0, effect.lane)),
            home=home,
            scratch=scratch,
            log=self._log(effect.id),
            env=login.env,
            mounts=(*self._mounts_of(), *login.mounts),
            hide=self._hide,
            secrets=self._secrets,
        )

    def _prompt(self, effect: CallAgent, state: State, fields: Fields) -> str:
        """The role's words; where its template has no place of its own for what the user wants of it, at the end."""
        text = render(effect.role, fields)
        wanted = "" if hasattr(fields, "role_prompt") else role_prompt(self._checkout, state, effect)
        return (
            f"{text}\n## What the user wants of this role\n\n{order(self._redactor.text(wanted))}\n" if wanted else text
        )

    def _fields(self, effect: CallAgent, state: State, brief: briefing.Brief) -> Fields:
        if effect.lane == SPRINT_LANE:
            diff = self._redactor.text(self._diff_of(state.base, state.head))
            context = brief.write("context.md", self._context_of(state, effect.task))
            wanted = self._redactor.text(role_prompt(self._checkout, state, effect))
            return sprint_review_calls.fields(effect, state, brief, diff, context, wanted)
        if not effect.task:
            lessons = self._told(effect, state, brief)
            return planning_calls.fields(effect, state, brief, lessons)
        task = state.tasks[effect.task]
        context = brief.write("context.md", self._context_of(state, effect.task))
        diff, diff_file = "", ""
        lessons = ()
        if effect.role is Role.IMPLEMENTER:
            lessons = self._told(effect, state, brief)
        elif task.base and task.tree:
            diff = self._redactor.text(self._diff_of(task.base, task.tree))
            if len(diff) > briefing.SHORT_DIFF:
                diff_file = brief.write("change.diff", diff)
        return briefing.fields(
            effect,
            state,
            diff,
            diff_file,
            context,
            lessons,
            role_prompt=self._redactor.text(role_prompt(self._checkout, state, effect)),
            tried=self._tried(task) if effect.role is Role.COUNCILLOR else (),
            others=self._others(effect, state, brief),
        )

    def _others(self, effect: CallAgent, state: State, brief: briefing.Brief) -> tuple[ReviewerFields, ...]:
        """The other tasks of a batch, each with its own change; long ones as files, so that the prompt stays short."""
        told = []
        for name in effect.trees:
            task = state.tasks[name]
            if name == effect.task:
                continue
            diff, kept = self._redactor.text(self._diff_of(task.base, effect.trees[name])), ""
            if len(diff) > briefing.SHORT_DIFF // len(effect.trees):
                diff, kept = "", brief.write(f"change-{name}.diff", diff)
            told.append(briefing.under_review(state, task, diff, kept))
        return tuple(told)

    def _told(self, effect: CallAgent, state: State, brief: briefing.Brief) -> tuple[str, ...]:
        """The learnings that bear on this call, as files; which ones and why is remembered for the facts."""
        told = self._lessons_of(state, effect.task)
        self._reasons[effect.id] = told.why
        return tuple(brief.write(name, text) for name, text in told.files.items())

    def _tried(self, task: TaskState) -> tuple[Note, ...]:
        """The last different trees of earlier iterations, as diffs against the task's base."""
        seen = {task.tree: 0}
        for record in task.history:
            if record.tree and task.base:
                seen.setdefault(record.tree, record.iteration)
        older = [(tree, number) for tree, number in seen.items() if number][-TRIED:]
        return tuple(
            Note(
                origin=f"the change as iteration {number} had it",
                text=self._redactor.text(self._diff_of(task.base, tree))[: briefing.SHORT_DIFF // 4],
            )
            for tree, number in older
        )

    def _heard(self, effect: CallAgent, output: Output) -> AgentOutput:
        return AgentOutput(
            effect=effect.id,
            task=effect.task,
            lane=effect.lane,
            at=self._now(),
            kind=output.kind,
            role=effect.role,
            seat=effect.seat,
            text=self._shown(output, output.text, OUTPUT_KEPT),
            tool=self._shown(output, output.tool, 200) if output.tool else "",
            path=self._shown(output, output.path, 1000) if output.path else "",
            tokens=output.tokens,
        )

    def _shown(self, output: Output, text: str, length: int) -> str:
        if not text:
            return ""
        return clean(text[:length]) if output.redacted else self._kept(text, length)

    def _kept(self, text: str, length: int = TEXT_KEPT) -> str:
        """What is kept of a text: redacted before it is cut, because half a secret is not recognised."""
        return clean(self._redactor.text(text[:LOOKED_AT])[:length])

    def _cleaned(self, result: AgentResult) -> AgentResult:
        """What is stored of an answer: redacted, cleaned, capped."""
        return replace(
            result,
            text=self._kept(result.text),
            claim_text=self._kept(result.claim_text),
            session=self._kept(result.session, 500),
            model=self._kept(result.model, 200),
            error=self._kept(result.error),
            hint=self._kept(result.hint),
            denials=tuple(self._kept(denial) for denial in result.denials[:20]),
            structured=self._cleaned_data(result.structured),
        )

    def _cleaned_data(self, data: Any) -> Any:
        match data:
            case str():
                return self._kept(data)
            case dict():
                return {self._kept(str(key), 200): self._cleaned_data(value) for key, value in data.items()}
            case list() | tuple():
                return [self._cleaned_data(item) for item in data[:500]]
            case _:
                return data

    def _by_our_clock(self, result: AgentResult) -> AgentResult:
        if result.reset_at is None:
            return result
        return replace(result, reset_at=meant(result.reset_at, self._now(), self._wall()))

    def _facts(self, effect: CallAgent, state: State, result: AgentResult) -> list[ev.AnyEvent]:
        result = self._by_our_clock(result)
        answers: list[ev.AnyEvent] = []
        if result.kind is ResultKind.OK:
            answers = answers_of(effect, state, result)
            if not answers and effect.role not in (Role.IMPLEMENTER, Role.ANSWERER):
                words = f"no valid {effect.role.value} answer in what it said"
                result = replace(result, kind=ResultKind.NO_RESULT, error=words)
        elif effect.role is Role.ANSWERER:
            answers = [ev.GateReplied(gate=effect.gate, id=effect.id, answer=f"(no answer: {result.error})")]
        finished = ev.AgentFinished(
            id=effect.id,
            task=effect.task,
            role=effect.role,
            rung=effect.rung,
            result=result,
            iteration=effect.iteration,
            seat=effect.seat,
            tasks=tuple(effect.trees),
            charged_usd=charge(result, effect.reserve_usd),
            reserved_usd=effect.reserve_usd,
            summary=self._summary(effect, state, result),
        )
        if result.kind is ResultKind.OK:
            answers += learnt_of(effect, state, result)
        told = self._reasons.pop(effect.id, ())
        if told and effect.attempt == 1:
            answers.append(ev.Noted(text=f"was told learnings: {'; '.join(told)}", task=effect.task))
        return [finished, *answers]

    def _summary(self, effect: CallAgent, state: State, result: AgentResult) -> SessionSummary | None:
        """What a full session did, in this call and the ones it was resumed from."""
        if effect.role is not Role.IMPLEMENTER or result.kind is not ResultKind.CONTEXT:
            return None
        task = state.tasks[effect.task]
        resumed = task.session_calls if effect.session and effect.session == task.session else ()
        return summarise([self._log(call).with_suffix(".jsonl") for call in (*resumed, effect.id)])

    def _log(self, effect: str) -> Path:
        return self._logs / f"{effect}.raw"
