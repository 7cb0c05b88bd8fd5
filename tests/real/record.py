"""Records the parser fixtures of tests/agents/fixtures from the real CLIs: `python -m tests.real.record`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import time
from typing import Any

from engine.core.model import Role
from tests.agents.fake_model_server import FakeModelServer, Step, drop, fail, say, use
from tests.agents.replay import FIXTURES
from tests.real.agents import CACHE, OVER_ACP, PACKAGES, ROOT, RealAgent, build, install
from tests.real.test_agents import FAILURES, SCHEMA, answer, dialect, shell, write


def scenes(agent: RealAgent) -> dict[str, tuple[list[Step], dict[str, Any]]]:
    """What is recorded of each CLI: steps of the model, and fields of the call."""
    kind = dialect(agent)
    failures = {name: ([make(kind)], {"timeout": 40.0}) for name, make in FAILURES.items()}
    good = [write(agent), say("Wrote it.\nSTATUS: complete\nISSUES: none")]
    reading: dict[str, Any] = {"role": Role.REVIEWER, "read_only": True}
    found: dict[str, tuple[list[Step], dict[str, Any]]] = {
        "ok": (good, {}),
        "thinking": ([say("Thought about it.", thinking="hmm")], {}),
        "failing-tool": ([shell(agent, "exit 3"), say("It failed.\nSTATUS: failed")], {}),
        "schema": ([answer(agent, '{"verdict": "pass", "n": 3}')], {**reading, "schema": SCHEMA}),
        **failures,
    }
    if agent.name in OVER_ACP:
        return found
    if kind == "claude":
        found["turns"] = ([shell(agent, "true", times=5)], {"max_turns": 2})
        found["budget"] = ([shell(agent, "true", usage={"input": 900_000, "output": 100}, times=5)], {"max_usd": 1.0})
        found["recovered"] = ([fail(529, "overloaded_error", "x", times=1), say("Fine.")], {})
    if kind == "codex":
        extra = {"resets_at": 1794900000, "plan_type": "pro"}
        found["limit"] = ([fail(429, "usage_limit_reached", "limit", extra=extra)], {})
        patch = "*** Begin Patch\n*** Add File: p.txt\n+x\n*** End Patch\n"
        found["patch"] = ([use("apply_patch", patch), say("Patched.")], {})
        found["reconnected"] = ([drop(times=1), say("Fine.")], {})
    return found


def scrubbed(data: bytes, agent: RealAgent) -> bytes:
    text = data.decode("utf-8", "replace")
    for path, name in ((agent.place, "/place"), (ROOT, "/repo")):
        text = text.replace(str(path), name).replace(str(path).replace("/", "-").replace(".", "-"), name)
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text).encode()


async def record(names: list[str]) -> None:
    FIXTURES.mkdir(exist_ok=True)
    index = json.loads((FIXTURES / "index.json").read_text(encoding="utf-8"))
    with FakeModelServer() as server:
        for name in names:
            install(name)
            probe = build(name, CACHE / "real" / f"probe-{time.time_ns()}", server, "none")
            for scene in scenes(probe):
                agent = build(name, CACHE / "real" / f"record-{os.getpid()}-{time.time_ns()}", server, "bwrap")
                steps, fields = scenes(agent)[scene]
                agent.script(steps)
                result = await agent.run(**fields)
                key = f"{name}-{scene}"
                log = agent.place / "logs" / "call.log"
                (FIXTURES / f"{key}.stdout").write_bytes(scrubbed(log.read_bytes(), agent))
                errors = log.with_name("call.log.stderr")
                if errors.exists() and errors.stat().st_size:
                    (FIXTURES / f"{key}.stderr").write_bytes(scrubbed(errors.read_bytes(), agent)[:4_000])
                raw = log.read_bytes()
                spoke = b'"stopReason"' in raw or b'"error":{"code"' in raw
                acp = name in ("opencode", *OVER_ACP)
                index[key] = {
                    "agent": "acp" if acp else dialect(agent),
                    **({"program": name} if acp else {}),
                    "exit_code": 0 if acp else result.exit_code,
                    "kind": result.kind.value,
                    # An ACP agent that retried in vain was ended by us, without an answer of its own.
                    **({"reason": "stopped"} if acp and not spoke else {}),
                    **({"reset": True} if result.reset_at else {}),
                    **({"read_only": True} if fields.get("read_only") else {}),
                }
                print(key, result.kind.value, result.error[:100])
                shutil.rmtree(agent.place, ignore_errors=True)
            shutil.rmtree(probe.place, ignore_errors=True)
    (FIXTURES / "index.json").write_text(json.dumps(index, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1:] or [*PACKAGES, *OVER_ACP]))
