"""One agent call from effect to facts: brief it, confine it, hear it, redact and clean it, read its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.activity import AgentOutput, AnyActivity
from engine.core.budget import charge
from engine.core.clean import clean
from engine.core.effects import CallAgent
from engine.core.model import AgentResult, ResultKind, Role, SessionSummary
from engine.core.state import State
from engine.perform import briefing
from engine.perform.contract import Adapter, AgentCall, Mount, Output, Spawner
from engine.perform.redact import Redactor
from engine.perform.summary import summarise
from engine.prompts import SCHEMAS, parse_councillor, parse_diagnosis, parse_review, parse_scope, render

TEXT_KEPT = 16_000
OUTPUT_KEPT = 8_000
LOOKED_AT = 1_000_000
"""Characters of one text that are looked through for secrets before it is cut to what is kept."""


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
        user_home: Path,
        context_of: Callable[[State], str],
        lessons_of: Callable[[State], Mapping[str, str]],
        secrets: tuple[str, ...],
        publish: Callable[[AnyActivity], None],
        now: Callable[[], float],
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
        self._user_home = user_home
        self._context_of = context_of
        self._lessons_of = lessons_of
        self._secrets = secrets
        self._redactor = Redactor(secrets)
        self._publish = publish
        self._now = now

    async def perform(self, effect: CallAgent, state: State) -> list[ev.AnyEvent]:
        adapter = self._adapter_of(effect.rung.agent)
        call = self._brief(effect, state)
        with call.log.with_suffix(".jsonl").open("ab", buffering=0) as log:

            def emit(output: Output) -> None:
                said = self._heard(effect, output)
                log.write(msgspec.json.encode(said) + b"\n")
                self._publish(said)

            result = await adapter.call(call, self._spawner, emit)
        return self._facts(effect, state, self._cleaned(result))

    def _brief(self, effect: CallAgent, state: State) -> AgentCall:
        task = state.tasks[effect.task]
        seat = f"-{effect.seat}" if effect.seat else ""
        home = self._state_dir / "homes" / effect.task / f"{effect.role.value}{seat}"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen_home = self._user_home if self._spawner.mode == "bwrap" else home
        brief = briefing.Brief(folder=home / "brief", seen=seen_home / "brief", redact=self._redactor.text)
        context = brief.write("context.md", self._context_of(state))
        diff, diff_file = "", ""
        lessons: tuple[str, ...] = ()
        if effect.role is Role.IMPLEMENTER:
            lessons = tuple(brief.write(name, text) for name, text in self._lessons_of(state).items())
        elif task.base and task.tree:
            diff = self._redactor.text(self._diff_of(task.base, task.tree))
            if len(diff) > briefing.SHORT_DIFF:
                diff_file = brief.write("change.diff", diff)
        fields = briefing.fields(effect, state, diff, diff_file, context, lessons)
        login = self._login_of(effect.rung.agent)
        scratch = self._state_dir / "scratch" / effect.id
        return AgentCall(
            effect=effect.id,
            role=effect.role,
            model=effect.rung.model,
            prompt=render(effect.role, fields),
            task=effect.task,
            iteration=effect.iteration,
            attempt=effect.attempt,
            seat=effect.seat,
            session=effect.session,
            read_only=effect.read_only,
            schema=SCHEMAS.get(effect.role),
            timeout=effect.timeout,
            idle_timeout=effect.idle_timeout,
            max_usd=effect.reserve_usd,
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

    def _heard(self, effect: CallAgent, output: Output) -> AgentOutput:
        return AgentOutput(
            effect=effect.id,
            task=effect.task,
            lane=effect.lane,
            at=self._now(),
            kind=output.kind,
            role=effect.role,
            seat=effect.seat,
            text=self._kept(output.text, OUTPUT_KEPT),
            tool=self._kept(output.tool, 200),
            path=self._kept(output.path, 1000),
            tokens=output.tokens,
        )

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

    def _facts(self, effect: CallAgent, state: State, result: AgentResult) -> list[ev.AnyEvent]:
        answer: ev.AnyEvent | None = None
        if result.kind is ResultKind.OK:
            answer = _answer(effect, state, result)
            if answer is None and effect.role in (Role.REVIEWER, Role.SCOPE_JUDGE, Role.COUNCILLOR, Role.SYNTHESIST):
                words = f"no valid {effect.role.value} answer in what it said"
                result = replace(result, kind=ResultKind.NO_RESULT, error=words)
        elif effect.role is Role.ANSWERER:
            answer = ev.GateReplied(gate=effect.gate, id=effect.id, answer=f"(no answer: {result.error})")
        finished = ev.AgentFinished(
            id=effect.id,
            task=effect.task,
            role=effect.role,
            rung=effect.rung,
            result=result,
            iteration=effect.iteration,
            seat=effect.seat,
            charged_usd=charge(result, effect.reserve_usd),
            reserved_usd=effect.reserve_usd,
            summary=self._summary(effect, state, result),
        )
        return [finished] if answer is None else [finished, answer]

    def _summary(self, effect: CallAgent, state: State, result: AgentResult) -> SessionSummary | None:
        """What a full session did, in this call and the ones it was resumed from."""
        if effect.role is not Role.IMPLEMENTER or result.kind is not ResultKind.CONTEXT:
            return None
        task = state.tasks[effect.task]
        resumed = task.session_calls if effect.session and effect.session == task.session else ()
        return summarise([self._log(call).with_suffix(".jsonl") for call in (*resumed, effect.id)])

    def _log(self, effect: str) -> Path:
        return self._state_dir / "logs" / f"{effect}.raw"


def _answer(effect: CallAgent, state: State, result: AgentResult) -> ev.AnyEvent | None:
    task = state.tasks[effect.task]
    match effect.role:
        case Role.REVIEWER:
            review = parse_review(result.structured, task.spec.accept)
            if review is None:
                return None
            return ev.ReviewFinished(id=effect.id, task=effect.task, tree=effect.tree, review=review)
        case Role.SCOPE_JUDGE:
            judged = parse_scope(result.structured)
            if judged is None:
                return None
            return ev.ScopeJudged(id=effect.id, task=effect.task, in_scope=judged.in_scope, reason=judged.reason)
        case Role.COUNCILLOR:
            diagnosis = parse_councillor(result.structured)
            said = diagnosis.text() if diagnosis is not None else result.text.strip()
            return ev.DiagnosisGiven(id=effect.id, task=effect.task, seat=effect.seat, text=said) if said else None
        case Role.SYNTHESIST:
            synthesis = parse_diagnosis(result.structured)
            if synthesis is None:
                return None
            return ev.CouncilFinished(id=effect.id, task=effect.task, diagnosis=synthesis)
        case Role.ANSWERER:
            return ev.GateReplied(gate=effect.gate, id=effect.id, answer=result.text.strip() or "(no answer)")
        case _:
            return None
