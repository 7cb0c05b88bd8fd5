"""The whole loop with the real CLIs: a task from plan to commit, and what a provider may do on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.core import events as ev
from engine.core.effects import CallAgent, Wait
from engine.core.model import AgentResult, ResultKind, Role, Verdict
from engine.core.state import State, Status
from engine.link.protocol import GetPrompt
from engine.service.local import Desk
from engine.service.queries import Answers
from tests.agents.fake_model_server import Step, fail, say
from tests.engine import small
from tests.real.agents import PACKAGES, ROOT
from tests.real.conftest import MakeLoop
from tests.real.loops import CRITERION, Loop
from tests.real.test_agents import running

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]
MESSAGE = "impl(greeting): T1.1 — Write a greeting"


def check_done(loop: Loop, state: State, before: dict[str, object]) -> None:
    """The work is in a commit on the sprint branch, judged by checks, and what is the user's is untouched."""
    task = state.tasks["1.1"]
    assert state.outcome == "done", (state.outcome_reason, task.error, task.blocker)
    assert task.status is Status.COMPLETE
    commits = [subject for subject, _tree in small.branch(loop.folder, state.branch)]
    assert commits == ["devteam: your files when 001-say-hello started", MESSAGE]
    assert small.git(loop.folder, "show", f"{state.branch}:hello.txt") == "hello\n"
    assert small.git(loop.folder, "diff", "--name-only", f"{state.branch}~1", state.branch).split() == ["hello.txt"]
    judged = [one for one in loop.events() if isinstance(one, ev.ChecksFinished) and one.purpose == "task"]
    verdicts = {result.name: result.verdict for result in judged[-1].results}
    assert verdicts == dict.fromkeys(("words", "verify-1", "proof"), Verdict.PASS)
    assert judged[-1].evidence
    assert small.user_side(loop.folder) == before
    assert not (loop.folder / "hello.txt").exists(), "the result lands only when the user says so"
    assert loop.survivors() == []


@pytest.mark.parametrize("name", PACKAGES)
async def test_a_task_is_done_end_to_end(real_loop: MakeLoop, name: str) -> None:
    loop = real_loop(name)
    script = loop.script(loop.good())
    before = small.user_side(loop.folder)
    state = await loop.run()
    check_done(loop, state, before)
    task = state.tasks["1.1"]
    assert (task.iteration, task.attempt) == (1, 1)
    assert task.review is not None
    assert [(one.text, one.met) for one in task.review.criteria] == [(CRITERION, True)]
    check_accounts(loop, state)
    check_prompts(loop, [str(request["body"]) for request in script.requests if request["main"]])


def check_accounts(loop: Loop, state: State) -> None:
    """Every call's cost and tokens, and their sums by role, rung and task."""
    results = {role: loop.results(role)[0] for role in ("implementer", "reviewer")}
    for role, result in results.items():
        assert result.kind is ResultKind.OK
        assert result.cost_usd
        assert result.tokens.output > 0
        used = state.usage_by_role[role]
        assert (used.calls, used.successes) == (1, 1)
        assert used.cost_usd == pytest.approx(result.cost_usd)
        assert used.tokens == result.tokens
    total = sum(result.cost_usd or 0.0 for result in results.values())
    assert state.usage_by_rung["only"].calls == 2
    assert state.usage_by_rung["only"].cost_usd == pytest.approx(total)
    assert state.tasks["1.1"].spent_usd == pytest.approx(total)
    assert state.spent_usd == pytest.approx(total)


def check_prompts(loop: Loop, sent: list[str]) -> None:
    """What was sent is stored once for each call, is what the model got, and a user interface finds it."""
    project = loop.project()
    calls = loop.effects(CallAgent)
    assert [call.role for call in calls] == [Role.IMPLEMENTER, Role.REVIEWER]
    kept = sorted(path.name for path in project.state.logs_of(loop.sprint().id).glob("*prompt*"))
    assert kept == sorted(f"{call.id}.prompt.md" for call in calls)
    answers = Answers(Desk(project=project), loop.sprint(), State)
    texts = [answers.answer(GetPrompt(effect=call.id)).text for call in calls]
    for text, request in zip(texts, (sent[0], sent[-1]), strict=True):
        first = text.strip().splitlines()[0]
        assert first
        assert first in request


# ── what a provider may do ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["claude", "claude-old", "codex"])
async def test_a_usage_limit_is_waited_for_and_not_charged(real_loop: MakeLoop, name: str) -> None:
    loop = real_loop(name)
    reset = int(time.time()) + 25
    if name == "codex":
        limit = fail(429, "usage_limit_reached", "limit", extra={"resets_at": reset, "plan_type": "pro"})
    else:
        loop.env.pop("ANTHROPIC_API_KEY")
        loop.env["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-oat01-dummy-for-loopback"
        headers = {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": str(reset),
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-5h-status": "rejected",
            "anthropic-ratelimit-unified-5h-reset": str(reset),
        }
        limit = fail(429, "rate_limit_error", "limit", headers=headers)
    script = loop.script([limit])
    waited: list[float] = []

    def watch(event: ev.AnyEvent) -> None:
        match event:
            case ev.EffectStarted(effect=Wait() as wait):
                waited.append(wait.until)
                script.steps[:] = loop.good()
            case ev.EffectStarted(effect=CallAgent()) if waited:
                assert time.time() >= reset - 1, "called before the reset"
            case _:
                pass

    before = small.user_side(loop.folder)
    state = await loop.run(watch)
    check_done(loop, state, before)
    assert len(waited) == 1
    # Codex tells the minute only.
    assert reset - 1 <= waited[0] <= reset + (61 if name == "codex" else 2)
    assert state.tasks["1.1"].iteration == 1
    assert [result.kind for result in loop.results("implementer")] == [ResultKind.LIMIT, ResultKind.OK]


async def test_an_overloaded_provider_is_asked_again(real_loop: MakeLoop) -> None:
    loop = real_loop("claude")
    script = loop.script([fail(529, "overloaded_error", "Overloaded")])

    def watch(event: ev.AnyEvent) -> None:
        if isinstance(event, ev.AgentFinished) and event.result.kind is ResultKind.OVERLOADED:
            script.steps[:] = loop.good()

    before = small.user_side(loop.folder)
    state = await loop.run(watch)
    check_done(loop, state, before)
    assert state.tasks["1.1"].iteration == 1
    assert [result.kind for result in loop.results("implementer")] == [ResultKind.OVERLOADED, ResultKind.OK]
    assert [wait.reason for wait in loop.effects(Wait)] == ["trying again after a failure (try 2)"]


@pytest.mark.parametrize(
    ("name", "command"), [("claude", "`claude` and type /login"), ("codex", "`codex login`"), ("gemini", "`gemini`")]
)
async def test_a_refused_login_blocks_the_run_and_names_the_command(
    real_loop: MakeLoop, name: str, command: str
) -> None:
    loop = real_loop(name)
    kind = "UNAUTHENTICATED" if name == "gemini" else "authentication_error"
    loop.script([fail(401, kind, "Invalid API key")])
    state = await loop.run()
    assert state.outcome == "blocked"
    result = loop.results()[0]
    assert result.kind is ResultKind.AUTH
    assert result.hint
    assert result.hint in state.outcome_reason
    assert command in state.outcome_reason
    assert state.tasks["1.1"].status is not Status.COMPLETE
    assert loop.survivors() == []


@pytest.mark.parametrize("name", PACKAGES)
async def test_a_full_context_is_taken_over_by_a_fresh_session(real_loop: MakeLoop, name: str) -> None:
    """The session overflows after it has written half; the fresh one finds that half, and a summary in its prompt."""
    loop = real_loop(name)
    script = loop.script([loop.write("half\n"), overflow(loop)])
    seen: list[int] = []

    def watch(event: ev.AnyEvent) -> None:
        if isinstance(event, ev.AgentFinished) and event.result.kind is ResultKind.CONTEXT:
            seen.append(len(script.requests))
            mend = loop.shell("grep -qx half hello.txt && echo hello > hello.txt")
            script.steps[:] = [mend, *loop.good()[1:]]

    before = small.user_side(loop.folder)
    state = await loop.run(watch)
    check_done(loop, state, before)
    first, second = [call for call in loop.effects(CallAgent) if call.role is Role.IMPLEMENTER]
    assert [result.kind for result in loop.results("implementer")] == [ResultKind.CONTEXT, ResultKind.OK]
    assert (first.session, second.session) == ("", "")
    assert [(call.iteration, call.attempt) for call in (first, second)] == [(1, 1), (1, 2)]
    told = next(str(one["body"]) for one in script.requests[seen[0] :] if one["main"])
    assert "Another session worked on this task until its context was full" in told
    assert "`hello.txt` (added, +1 " in told
    assert "that session, its tool calls in order" in told
    (made,) = [one.summary for one in loop.events() if isinstance(one, ev.AgentFinished) and one.summary]
    assert any("hello.txt" in line for line in made.tools), made.tools


def overflow(loop: Loop) -> Step:
    if loop.agent == "claude":
        return fail(400, "invalid_request_error", "prompt is too long: 220000 tokens > 200000 maximum")
    if loop.agent == "gemini":
        words = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
        return fail(400, "INVALID_ARGUMENT", words)
    words = "Your input exceeds the context window of this model."
    return fail(400, "invalid_request_error", words, extra={"code": "context_length_exceeded"})


async def test_a_resumed_session_that_overflows_is_summed_up_whole(real_loop: MakeLoop) -> None:
    """The first iteration's session is resumed and overflows at once: its summary has what it did the first time."""
    loop = real_loop("claude")
    wrong = [loop.write("bad\n"), say("Done.\nSTATUS: complete\nISSUES: none")]
    script = loop.script([*wrong, overflow(loop)])

    def watch(event: ev.AnyEvent) -> None:
        if isinstance(event, ev.AgentFinished) and event.result.kind is ResultKind.CONTEXT:
            script.steps[:] = [loop.shell("echo hello > hello.txt"), *loop.good()[1:]]

    before = small.user_side(loop.folder)
    state = await loop.run(watch)
    check_done(loop, state, before)
    first, second, third = [call for call in loop.effects(CallAgent) if call.role is Role.IMPLEMENTER]
    kinds = [result.kind for result in loop.results("implementer")]
    assert kinds == [ResultKind.OK, ResultKind.CONTEXT, ResultKind.OK]
    assert (first.session, bool(second.session), third.session) == ("", True, "")
    assert (second.iteration, third.iteration, state.tasks["1.1"].iteration) == (2, 2, 2)
    (made,) = [one.summary for one in loop.events() if isinstance(one, ev.AgentFinished) and one.summary]
    assert [line.split(":")[0] for line in made.tools] == ["Write"]


@pytest.mark.parametrize("name", PACKAGES)
async def test_a_broken_review_is_corrected_within_the_call(real_loop: MakeLoop, name: str) -> None:
    loop = real_loop(name)
    # Claude reminds the model once by itself before it gives up.
    broken = [say("Looks fine to me.") for _ in range(2 if loop.agent == "claude" else 1)]
    loop.script([*loop.good()[:-1], *broken, loop.review()])
    before = small.user_side(loop.folder)
    state = await loop.run()
    check_done(loop, state, before)
    assert state.tasks["1.1"].iteration == 1
    reviews: list[AgentResult] = loop.results("reviewer")
    assert [result.kind for result in reviews] == [ResultKind.OK]
    assert reviews[0].cost_usd is not None
    assert state.usage_by_role["reviewer"].cost_usd == pytest.approx(reviews[0].cost_usd)


@pytest.mark.parametrize("name", PACKAGES)
async def test_a_killed_engine_leaves_nobody_and_the_next_run_completes(real_loop: MakeLoop, name: str) -> None:
    loop = real_loop(name)
    marker = f"7{time.time_ns() % 10**9}"
    script = loop.script([loop.shell(f"setsid tail -s {marker}1 -f /dev/null & tail -s {marker}2 -f /dev/null")])
    before = small.user_side(loop.folder)
    line = [sys.executable, "-m", "tests.real.engine_life", str(loop.folder), str(loop.place / "home")]
    engine = subprocess.Popen(line, cwd=ROOT, env=loop.env, stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not _tailing(f"{marker}2") and engine.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        assert _tailing(f"{marker}1"), "the tool did run"
    finally:
        os.kill(engine.pid, signal.SIGKILL)
        engine.wait()
    script.steps[:] = loop.good()
    state = await loop.run()
    check_done(loop, state, before)
    assert running(marker) == []
    assert state.tasks["1.1"].iteration == 1
    lost = [one for one in loop.events() if isinstance(one, ev.EffectInterrupted)]
    assert len(lost) == 1


def _tailing(marker: str) -> list[int]:
    """Only the tool itself, not the shells whose command line names it."""
    return [pid for pid in running(marker) if f"tail\0-s\0{marker}" in Path(f"/proc/{pid}/cmdline").read_text()]
