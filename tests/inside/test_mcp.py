"""`devteam mcp` with the SDK's own client over stdio: reads for everybody, a gate only with the user's word."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine.service.local import open_desk
from tests.cli.ground import CONFIG, ROOT, Ground, make, trusted

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
"""It is imported where it is used: to collect these tests every worker would pay a second for it."""

GATED = CONFIG.replace('"auto"', '"gated"')


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A sprint that waits at its first gate, without an engine."""
    place = tmp_path_factory.mktemp("mcp")
    ground = trusted(make(place / "repo", place / "home", config=GATED))
    assert ground.run("run").code == 3
    return ground


def client(ground: Ground, answers: Any = None) -> Any:
    import mcp

    words = ["-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tui.cli.main import main; main()", "mcp"]
    started = mcp.StdioServerParameters(
        command=sys.executable, args=words, env=ground.environment(), cwd=str(ground.folder)
    )
    return mcp.Client(started, elicitation_callback=answers)


def text(result: Any) -> str:
    return "".join(getattr(part, "text", "") for part in result.content)


def answering(action: str, confirm: str, asked: list[str]) -> Any:
    import mcp

    async def answer(_context: Any, params: Any) -> Any:
        asked.append(params.message)
        return mcp.types.ElicitResult(action=action, content={"confirm": confirm} if action == "accept" else None)

    return answer


async def test_what_an_agent_may_read_and_what_only_the_user_may_say(gated: Ground) -> None:
    import mcp

    from engine.service.mcp_tools import server

    asked: list[str] = []
    async with client(gated, answering("decline", "", asked)) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
        assert set(tools) == {"status", "sprints", "gates", "plan", "evidence", "answer_gate"}
        assert all(tool.annotations.read_only_hint is (name != "answer_gate") for name, tool in tools.items())
        status = (await agent.call_tool("status", {})).structured_content
        assert status.get("result", status)["gates"][0]["gate"] == "G1"
        assert status.get("result", status) | {"seq": 0} == gated.status() | {"seq": 0}
        assert "1.1 Write one" in text(await agent.call_tool("plan", {}))
        assert '"verdict"' in text(await agent.call_tool("evidence", {"task": "1.1"}))
        assert "devteam answer G1" in text(await agent.call_tool("gates", {}))
        missing = await agent.call_tool("evidence", {"task": "9"})
        assert missing.is_error and "tasks: 1.1, 1.2" in text(missing)
        wrong = await agent.call_tool("answer_gate", {"gate": "G1", "choice": "rm -rf"})
        assert wrong.is_error and "is no answer to G1" in text(wrong) and not asked
        refused = await agent.call_tool("answer_gate", {"gate": "G1", "choice": "yes"})
        assert "not answered" in text(refused) and asked[0].startswith("G1: ")
    # The same server without a process of its own: each costs a second of imports.
    here = server(open_desk(gated.folder, gated.environment(), gated.home))
    async with mcp.Client(here, elicitation_callback=answering("accept", "no", asked)) as agent:
        assert "not answered" in text(await agent.call_tool("answer_gate", {"gate": "G1", "choice": "yes"}))
    async with mcp.Client(here) as agent:  # one that cannot ask
        with pytest.raises(mcp.shared.exceptions.MCPError):
            await agent.call_tool("answer_gate", {"gate": "G1", "choice": "yes"})
    assert [gate["gate"] for gate in gated.status()["gates"]] == ["G1"], "nobody has answered it"
    async with mcp.Client(here, elicitation_callback=answering("accept", "yes", asked)) as agent:
        done = text(await agent.call_tool("answer_gate", {"gate": "G1", "choice": "comment", "text": "use argon2"}))
    assert "not answered" not in done
    assert not [gate for gate in gated.status()["gates"] if gate["gate"] == "G1"]
    told = [json.loads(line)["event"] for line in gated.run("log", "--json").out.splitlines()]
    (answered,) = [event for event in told if event["type"] == "gate_answered"]
    assert (answered["choice"], answered["text"], answered["by"]) == ("comment", "use argon2", "you, over MCP")


@pytest.mark.parametrize(("command", "module", "extra"), [("mcp", "mcp", "mcp"), ("serve", "textual_serve", "serve")])
def test_without_its_package_the_extra_is_named(
    gated: Ground, tmp_path: Path, command: str, module: str, extra: str
) -> None:
    hidden = tmp_path / module
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('hidden')\n")
    env = {**gated.environment(), "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(gated.argv(command), cwd=gated.folder, env=env, capture_output=True, text=True, input="")
    assert (done.returncode, done.stdout) == (4, "")
    assert f"extra: {extra}" in done.stderr and f"devteam[{extra}]" in done.stderr
