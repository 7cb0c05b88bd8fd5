"""The scripted agent: plays a scenario file (TOML) per task and attempt, through the same door as the real agents.

A step is chosen by task, role, iteration and attempt (and seat), never by how often it was called: an attempt that is
taken up again after a crash plays the same step.
"""

from __future__ import annotations

import hashlib
import marshal
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from engine.core.activity import OutputKind
from engine.core.clean import decode
from engine.core.model import AgentResult, ResultKind, Role, Struct, Tokens
from engine.perform.agents import headless
from engine.perform.agents.settings import AgentConfig
from engine.perform.agents.wire import shown
from engine.perform.process.spawning import AgentCall, Confinement, Finished, Output, ProcessSpec, Spawner

_SHORTEST_DELAY = 0.001
"""Seconds; what is shorter is no wait."""
_LONGEST_SCRIPT = 65_536
"""Some shells read what is piped to them byte by byte."""
_PLAYER = Path(__file__).with_name("player.py")
_KINDS = {
    "text": OutputKind.TEXT,
    "thinking": OutputKind.THINKING,
    "tool": OutputKind.TOOL_CALL,
    "tool_result": OutputKind.TOOL_RESULT,
    "file": OutputKind.FILE_CHANGE,
    "retry": OutputKind.RETRY,
    "limit": OutputKind.LIMIT,
    "usage": OutputKind.USAGE,
}
_PROCESS_FAULTS = frozenset(
    {"hang", "crash", "exit", "garbage", "endless_line", "flood", "orphan", "ignore_sigterm", "no_result"}
)
_RESULT_FAULTS = frozenset(kind.value for kind in ResultKind) - _PROCESS_FAULTS - {"ok"}


class ScenarioError(Exception):
    """A scenario file that cannot be played; says where and why."""


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One scripted call."""

    task: str = ""
    """Empty: any task."""
    role: Role = Role.IMPLEMENTER
    iteration: int = 0
    """0: any iteration."""
    attempt: int = 0
    seat: str = ""
    output: tuple[str | dict[str, Any], ...] = ()
    delay: float | None = None
    """Seconds between two lines of output; None: the scenario's."""
    edit: tuple[dict[str, Any], ...] = ()
    """{path, content} · {path, find, replace} · {path, delete = true} · {path, link}."""
    patch: str = ""
    """A unified diff, applied with git."""
    text: str = ""
    claim: str = "complete"
    issues: str = ""
    cost_usd: float | None = 0.01
    tokens: Tokens = Tokens(input=1200, output=300)
    structured: dict[str, Any] | None = None
    questions: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    fault: str = ""
    """A process fault (hang, crash, exit, garbage, endless_line, flood, orphan, ignore_sigterm, no_result) or a result
    kind (limit, rate, overloaded, auth, billing, context, model, network, refusal, denied …)."""
    exit: int = 3
    reset_in: float | None = None
    """Seconds until the limit of this step resets; once that time is over, the step after it is played."""
    error: str = ""
    hint: str = ""


class GateStep(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the scenario's human answers a gate."""

    kind: str = ""
    task: str = ""
    choice: str = "yes"
    text: str = ""
    ask: str = ""
    """A question to ask first."""


class Scenario(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole scenario."""

    title: str = ""
    delay: float = 0.0
    call: tuple[Step, ...] = ()
    gate: tuple[GateStep, ...] = ()
    expect: dict[str, str] = {}
    """Status by task at the end: the demo fails if it ended otherwise."""

    def step(self, call: AgentCall) -> Step | None:
        """The most particular step for a call: the one that names most of it; the later of equals."""
        best: tuple[int, int] | None = None
        found: Step | None = None
        for index, step in enumerate(self.call):
            if step.role is not call.role or step.task not in ("", call.task) or step.seat not in ("", call.seat):
                continue
            if step.iteration not in (0, call.iteration) or step.attempt not in (0, call.attempt):
                continue
            named = bool(step.task) * 8 + bool(step.iteration) * 4 + bool(step.attempt) * 2 + bool(step.seat)
            if best is None or (named, index) > best:
                best, found = (named, index), step
        return found

    def answer(self, kind: str, task: str) -> GateStep | None:
        return next((gate for gate in self.gate if gate.kind in ("", kind) and gate.task in ("", task)), None)


def load(path: Path) -> Scenario:
    """Read a scenario; a broken one is refused with its place."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        scenario = msgspec.convert(raw, Scenario)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: not TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise ScenarioError(f"{path}: {error}") from error
    for number, step in enumerate(scenario.call, 1):
        if step.fault and step.fault not in _PROCESS_FAULTS | _RESULT_FAULTS:
            known = ", ".join(sorted(_PROCESS_FAULTS | _RESULT_FAULTS))
            raise ScenarioError(f"{path}: call {number}: unknown fault '{step.fault}'; one of: {known}")
    return scenario


def from_config(_name: str, config: AgentConfig, clock: Callable[[], float]) -> ScriptedAgent:
    """A scripted agent whose `program` is its scenario."""
    return ScriptedAgent(load(Path(config.program)), now=clock)


class ScriptedAgent:
    """The adapter."""

    name = "scripted"

    def __init__(self, scenario: Scenario, *, speed: float = 1.0, now: Callable[[], float]) -> None:
        self._scenario = scenario
        self._speed = speed
        self._now = now
        self._limited: dict[tuple[str, str, int, int], float] = {}

    async def call(self, call: AgentCall, spawner: Spawner, emit: Callable[[Output], None]) -> AgentResult:
        step = self._scenario.step(call)
        if step is None:
            words = f"the scenario has no {call.role.value} step for task {call.task}, iteration {call.iteration}"
            return AgentResult(kind=ResultKind.MODEL, error=words, cost_usd=0.0, hint="add a [[call]] to the scenario")
        stream = _Stream(call.max_turns)
        played = self._played(call, step)
        argv, stdin = _in_shell(played) or _in_python(played)
        spec = ProcessSpec(
            argv=argv,
            cwd=call.checkout,
            env=call.env,
            stdin=stdin,
            timeout=call.timeout,
            longest=call.longest,
            idle_timeout=call.idle_timeout,
            confine=Confinement(
                checkout=call.checkout,
                clone=call.clone,
                writable=not call.read_only,
                home=call.home,
                mounts=call.mounts,
                hide=call.hide,
            ),
        )
        return stream.result(await headless.listen(stream, call, spec, spawner, emit), call)

    def _played(self, call: AgentCall, step: Step) -> dict[str, Any]:
        fault = step.fault
        kind, reset_at = ResultKind.OK.value, None
        if fault in _RESULT_FAULTS:
            kind, fault = fault, ""
        key = (call.task, call.role.value, call.iteration, step.attempt)
        if step.reset_in is not None:
            until = self._limited.setdefault(key, self._now() + step.reset_in)
            if self._now() >= until:
                kind, fault = ResultKind.OK.value, ""
            else:
                reset_at = until
        works = kind in (ResultKind.OK, ResultKind.CONTEXT)  # a session that fills up has worked until then
        delay = (self._scenario.delay if step.delay is None else step.delay) / max(self._speed, 1e-6)
        session = call.session or hashlib.sha256(f"{call.task}/{call.role}/{call.effect}".encode()).hexdigest()[:12]
        result = {
            "kind": kind,
            "text": step.text,
            "claim": step.claim if call.role is Role.IMPLEMENTER else "",
            "claim_text": step.issues,
            "session": session,
            "cost_usd": step.cost_usd if kind == "ok" else 0.0,
            "tokens": msgspec.to_builtins(step.tokens),
            "structured": step.structured,
            "denials": list(step.denials),
            "reset_at": reset_at,
            "error": step.error or (f"scripted {kind}" if kind != "ok" else ""),
            "hint": step.hint,
        }
        patched = [line[6:] for line in step.patch.splitlines() if line.startswith("+++ b/")]
        return {
            "start": _line(type="start", model=call.model, session=session),
            "output": [_line(**(said if isinstance(said, dict) else _text(said))) for said in step.output],
            "edit": [(change, _file(change.get("path", ""))) for change in step.edit] if works else [],
            "patch": step.patch if works else "",
            "patched": [_file(path) for path in patched],
            "delay": delay,
            "fault": fault,
            "exit": step.exit,
            "result": _line(type="result", **result),
            "ok": kind == ResultKind.OK,
        }


def _in_python(played: dict[str, Any]) -> tuple[tuple[str, ...], bytes]:
    """The player's command, and what it reads."""
    return (sys.executable, "-I", "-S", "-c", _PLAYER.read_text(encoding="utf-8")), marshal.dumps(played)


def _in_shell(played: dict[str, Any]) -> tuple[tuple[str, ...], bytes] | None:
    """A step that only speaks and writes whole files, as lines for a shell: an agent that does nearly nothing then
    costs nearly nothing. None where it takes the player: it waits, misbehaves, or does more to a file."""
    changes = [change for change, _ in played["edit"]]
    if played["delay"] >= _SHORTEST_DELAY or played["fault"] or played["patch"]:
        return None
    for change in changes:
        words = [change.get("path"), change.get("content")]
        if len(change) != len(words) or not all(isinstance(word, str) and "\0" not in word for word in words):
            return None
    lines = [_said(played["start"]), *map(_said, played["output"])]
    for change, line in played["edit"]:
        folder, _, _ = change["path"].rpartition("/")
        if folder:
            lines.append(f"[ -d {shlex.quote(folder)} ] || mkdir -p -- {shlex.quote(folder)} || exit 1")
        lines.append(f"printf %s {shlex.quote(change['content'])} > {shlex.quote(change['path'])} || exit 1")
        lines.append(_said(line))
    lines += [_said(played["result"]), f"exit {0 if played['ok'] else 1}", ""]
    script = "\n".join(lines).encode()
    return (("/bin/sh",), script) if len(script) <= _LONGEST_SCRIPT else None


def _said(line: bytes) -> str:
    return f"printf '%s\\n' {shlex.quote(line.decode())}"


def _line(**event: object) -> bytes:
    return msgspec.json.encode(event)


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _file(path: object) -> bytes:
    return _line(type="file", path=str(path))


def _raw(line: bytes) -> Output:
    return Output(kind=OutputKind.RAW, text=decode(line[:2000]))


class _Stream:
    """Parses the player's JSON lines. Success is exit 0 and a result line without error."""

    def __init__(self, max_turns: int | None) -> None:
        self._turns_left = max_turns
        self._result: dict[str, Any] | None = None
        self.stop: ResultKind | None = None

    def feed(self, line: bytes) -> list[Output]:
        try:
            event = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return [_raw(line)]
        if not isinstance(event, dict):
            return [_raw(line)]
        kind = event.get("type")
        if kind == "result":
            self._result = event
        elif kind in _KINDS:
            text, tool, path = (shown(str(event.get(key, ""))) for key in ("text", "tool", "path"))
            self._count(_KINDS[kind])
            return [Output(kind=_KINDS[kind], text=text, tool=tool, path=path)]
        elif kind != "start":
            return [_raw(line)]
        return []

    def feed_block(self, block: bytes) -> list[Output]:
        return [output for line in block.split(b"\n") for output in self.feed(line)]

    def feed_error(self, line: bytes) -> list[Output]:
        return []

    def _count(self, kind: OutputKind) -> None:
        """The cap on turns, as it is counted for programs that have none of their own."""
        if self._turns_left is None or kind not in (OutputKind.TOOL_CALL, OutputKind.FILE_CHANGE):
            return
        self._turns_left -= 1
        if self._turns_left < 0:
            self.stop = ResultKind.TURNS

    def result(self, finished: Finished, call: AgentCall) -> AgentResult:
        ended = {"timeout": ResultKind.TIMEOUT, "idle": ResultKind.TIMEOUT, "cancelled": ResultKind.CANCELLED}
        stderr = decode(finished.stderr[-2000:]).strip()
        if self.stop is not None:
            return self._failed(self.stop, "the turns of this call are used up", finished, call)
        if finished.reason in ended:
            return self._failed(ended[finished.reason], f"ended by devteam: {finished.reason}", finished, call)
        if finished.reason != "exited":
            return self._failed(ResultKind.CRASH, finished.error or f"ended: {finished.reason}", finished, call)
        if self._result is None:
            kind = ResultKind.NO_RESULT if finished.exit_code == 0 else ResultKind.CRASH
            said = stderr.splitlines()[-1] if stderr else f"exit {finished.exit_code} without a result"
            return self._failed(kind, said, finished, call)
        body = {key: value for key, value in self._result.items() if key != "type"}
        try:
            result = msgspec.convert(body, AgentResult)
        except msgspec.ValidationError as error:
            return self._failed(ResultKind.NO_RESULT, f"broken result: {error}", finished, call)
        if result.kind is ResultKind.OK and finished.exit_code != 0:
            return self._failed(ResultKind.CRASH, f"exit {finished.exit_code} after a good result", finished, call)
        return msgspec.structs.replace(
            result, exit_code=finished.exit_code, seconds=finished.seconds, model=call.model, log=str(call.log)
        )

    def _failed(self, kind: ResultKind, words: str, finished: Finished, call: AgentCall) -> AgentResult:
        return AgentResult(
            kind=kind,
            error=words,
            exit_code=finished.exit_code,
            seconds=finished.seconds,
            model=call.model,
            log=str(call.log),
        )
