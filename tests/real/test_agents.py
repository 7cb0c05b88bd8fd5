"""The real CLIs through our adapters: what a provider may do to them, and what becomes of it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.activity import OutputKind
from engine.core.model import ResultKind, Role
from tests.agents.fake_model_server import Step, drop, fail, hang, say, use
from tests.real.agents import OVER_ACP, PACKAGES, RealAgent

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]
AGENTS = (*PACKAGES, *OVER_ACP)
Make = Callable[..., RealAgent]
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["verdict", "n"],
    "additionalProperties": False,
}
ANSWER = '{"verdict": "pass", "n": 3}'


def dialect(agent: RealAgent) -> str:
    """Whose tools and whose provider it is: claude, codex, gemini, opencode or qwen."""
    return next((name for name in ("claude", "codex") if agent.name.startswith(name)), agent.name)


def write(agent: RealAgent, **more: object) -> Step:
    path = str(agent.place / "checkout" / "hello.txt")
    match dialect(agent):
        case "claude":
            return use("Write", {"file_path": path, "content": "hello\n"}, **more)
        case "codex":
            return use("exec_command", {"cmd": "echo hello > hello.txt"}, **more)
        case "gemini":
            return use("write_file", {"file_path": "hello.txt", "content": "hello\n"}, **more)
        case "qwen":
            return use("write_file", {"file_path": path, "content": "hello\n"}, **more)
        case _:
            return use("write", {"filePath": path, "content": "hello\n"}, **more)


def shell(agent: RealAgent, command: str, **more: object) -> Step:
    match dialect(agent):
        case "claude":
            return use("Bash", {"command": command, "description": "run it"}, **more)
        case "codex":
            return use("exec_command", {"cmd": command}, **more)
        case "gemini":
            return use("run_shell_command", {"command": command, "description": "run it"}, **more)
        case "qwen":
            given = {"command": command, "description": "run it", "is_background": False}
            return use("run_shell_command", given, **more)
        case _:
            return use("bash", {"command": command, "description": "run it"}, **more)


@pytest.mark.parametrize("name", AGENTS)
async def test_a_file_is_written(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    agent.script([write(agent), say("Wrote it.\nSTATUS: complete\nISSUES: none")])
    result = await agent.run()
    assert (result.kind, result.error) == (ResultKind.OK, "")
    assert (agent.clone / "hello.txt").read_text() == "hello\n"
    assert result.claim == "complete"
    assert result.session
    assert result.cost_usd or name == "qwen"  # its model m1 has no price
    assert result.tokens.output >= 20
    assert {OutputKind.TEXT} < {output.kind for output in agent.outputs}


@pytest.mark.parametrize("name", AGENTS)
async def test_a_session_goes_on_and_is_charged_once(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    script = agent.script([say("First. The word is heron."), say("Second.")])
    first = await agent.run("Remember the word heron.")
    second = await agent.run("Which word?", session=first.session)
    assert (second.kind, second.text) == (ResultKind.OK, "Second.")
    assert second.session == first.session
    assert "heron" in str([request["body"] for request in script.requests if request["main"]][-1])
    if name == "qwen":  # its model m1 has no price
        assert (first.cost_usd, second.cost_usd) == (None, None)
        return
    assert second.cost_usd is not None
    assert 0 < second.cost_usd <= (first.cost_usd or 0) * 1.5


@pytest.mark.parametrize("name", AGENTS)
async def test_a_reader_cannot_write(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    script = agent.script([write(agent), shell(agent, "echo x > hello.txt"), say("I looked.")])
    result = await agent.run(role=Role.REVIEWER, read_only=True)
    assert result.kind in (ResultKind.OK, ResultKind.NO_RESULT, ResultKind.CRASH, ResultKind.CANCELLED)
    assert not list(agent.clone.iterdir())
    offered = str(next(request["body"] for request in script.requests if request["main"]))
    for tool in {"claude": ("Write", "Edit"), "claude-old": ("Write", "Edit"), "gemini": ("write_file",)}.get(name, ()):
        assert not re.search(rf"""['"]name['"]: ['"]{tool}['"]""", offered), f"{tool} is offered to a reader"


FAILURES: dict[str, Callable[[str], Step]] = {
    # opencode hands on the provider's words only, so they are such as providers use.
    "rate": lambda d: fail(429, "RESOURCE_EXHAUSTED" if d == "gemini" else "rate_limit_error", "Rate limit reached"),
    "overloaded": lambda d: (
        fail(529, "overloaded_error", "Overloaded")
        if d == "claude"
        else fail(503, "UNAVAILABLE", "The model is overloaded")
    ),
    "auth": lambda d: fail(401, "UNAUTHENTICATED" if d == "gemini" else "authentication_error", "Invalid API key"),
    "model": lambda d: fail(404, "NOT_FOUND" if d == "gemini" else "not_found_error", "model: nope does not exist"),
    "context": lambda d: fail(
        400,
        "INVALID_ARGUMENT" if d == "gemini" else "invalid_request_error",
        {
            "claude": "prompt is too long: 220000 tokens > 200000 maximum",
            "gemini": "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        }.get(d, "Your input exceeds the context window of this model."),
        extra={} if d in ("claude", "gemini") else {"code": "context_length_exceeded"},
    ),
    "network": lambda d: drop(),
}


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("name", AGENTS)
async def test_failures(real_agent: Make, name: str, kind: str) -> None:
    agent = real_agent(name)
    agent.script([FAILURES[kind](dialect(agent))])
    # qwen tries for more than a minute before it says that it waits, and says nothing of a 503: the idle timer ends it.
    patience = 120.0 if (name, kind) == ("qwen", "rate") else 30.0
    result = await agent.run(timeout=2 * patience, idle_timeout=patience)
    kind = "timeout" if (name, kind) == ("qwen", "overloaded") else kind
    assert result.kind.value == kind, (result.kind, result.error)
    assert result.error
    if kind in ("auth", "model"):
        assert result.hint


@pytest.mark.parametrize("name", ["claude", "claude-old", "codex"])
async def test_a_usage_limit_names_its_reset(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    reset = int(time.time()) + 7200
    if name == "codex":
        extra = {"resets_at": reset, "plan_type": "pro"}
        agent.script([fail(429, "usage_limit_reached", "limit", extra=extra)])
    else:
        agent.env.pop("ANTHROPIC_API_KEY")
        agent.env["CLAUDE_CODE_OAUTH_TOKEN"] = "sk-ant-oat01-dummy-for-loopback"
        headers = {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": str(reset),
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-5h-status": "rejected",
            "anthropic-ratelimit-unified-5h-reset": str(reset),
        }
        agent.script([fail(429, "rate_limit_error", "limit", headers=headers)])
    result = await agent.run()
    assert result.kind is ResultKind.LIMIT, result.error
    assert result.reset_at == pytest.approx(reset, abs=60)


@pytest.mark.parametrize("name", AGENTS)
async def test_a_hang_is_ended(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    agent.script([hang()])
    began = time.monotonic()
    result = await agent.run(idle_timeout=8.0)
    assert result.kind in (ResultKind.TIMEOUT, ResultKind.NETWORK), result.error
    assert time.monotonic() - began < 40


@pytest.mark.parametrize("name", AGENTS)
async def test_money_is_capped(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    step = shell(agent, "true", usage={"input": 100_000, "output": 5_000}, times=12)
    script = agent.script([step, say("Done.")])
    if name == "qwen":
        agent.env["OPENAI_MODEL"] = agent.model = "gpt-5.5"  # one that has a price
    result = await agent.run(max_usd=0.4)
    assert result.kind is ResultKind.BUDGET, result.error
    if name not in ("opencode", "claude-agent-acp", "codex-acp"):  # tell cost or tokens at the end of a turn only
        assert len([request for request in script.requests if request["main"]]) <= 6


@pytest.mark.parametrize("name", AGENTS)
async def test_turns_are_capped(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    script = agent.script([shell(agent, "true", times=12), say("Done.")])
    result = await agent.run(max_turns=3)
    assert result.kind is ResultKind.TURNS, result.error
    assert len([request for request in script.requests if request["main"]]) <= 7


def answer(agent: RealAgent, words: str) -> Step:
    if agent.name in ("claude", "claude-old") and words.startswith("{"):
        return use("StructuredOutput", {"verdict": "pass", "n": 3})
    native = agent.name in ("claude", "claude-old", "codex")
    return say(words if native else f"Here:\n\n```json\n{words}\n```")


@pytest.mark.parametrize("name", AGENTS)
async def test_a_structured_answer_is_kept(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    agent.script([answer(agent, ANSWER)])
    result = await agent.run(role=Role.REVIEWER, read_only=True, schema=SCHEMA)
    assert (result.kind, result.structured) == (ResultKind.OK, {"verdict": "pass", "n": 3}), result.error


@pytest.mark.parametrize("name", AGENTS)
async def test_a_broken_answer_is_corrected_once(real_agent: Make, name: str) -> None:
    agent = real_agent(name)
    # Claude reminds the model once by itself before it gives up.
    refusals = 2 if name in ("claude", "claude-old") else 1
    agent.script([*[say("I would rather not.") for _ in range(refusals)], answer(agent, ANSWER)])
    result = await agent.run(role=Role.REVIEWER, read_only=True, schema=SCHEMA)
    assert (result.kind, result.structured) == (ResultKind.OK, {"verdict": "pass", "n": 3}), result.error
    assert OutputKind.RETRY in {output.kind for output in agent.outputs}


def running(marker: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("mode", ["", "none"])
@pytest.mark.parametrize("name", AGENTS)
async def test_a_kill_mid_tool_leaves_no_survivor(real_agent: Make, name: str, mode: str) -> None:
    agent = real_agent(name, mode)
    marker = f"7{time.time_ns() % 10**9}"
    if mode == "none" and dialect(agent) == "gemini":
        agent.adapter.config = type(agent.adapter.config)(
            program=agent.adapter.config.program, allow=("run_shell_command",)
        )
    if mode == "none" and dialect(agent) == "claude":
        agent.adapter.config = type(agent.adapter.config)(program=agent.adapter.config.program, allow=("Bash",))
    detached = f"setsid nohup tail -s {marker}1 -f /dev/null >/dev/null 2>&1 & tail -s {marker}2 -f /dev/null"
    agent.script([shell(agent, detached)])
    task = asyncio.create_task(agent.run())
    for _ in range(400):
        await asyncio.sleep(0.1)
        if any(f"tail\0-s\0{marker}2" in Path(f"/proc/{pid}/cmdline").read_text() for pid in running(f"{marker}2")):
            break
        if task.done():
            pytest.fail(f"ended before the tool ran: {task.result()}")
    assert running(f"{marker}2")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running(marker) == []


@pytest.mark.parametrize("name", ["claude", "claude-old"])
async def test_a_refused_tool_is_named(real_agent: Make, name: str) -> None:
    """Without a sandbox and without a grant, a tool that asks is refused, and the result says which."""
    agent = real_agent(name, "none")
    agent.script([use("WebFetch", {"url": "http://127.0.0.1:9/x", "prompt": "read"}), say("All done.")])
    result = await agent.run()
    assert result.kind is ResultKind.DENIED, (result.kind, result.error)
    assert result.denials == ("WebFetch",)
    assert "allow" in result.hint
    assert "WebFetch" in result.hint
