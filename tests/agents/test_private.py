"""What the engine writes into an agent's HOME stays there, whatever links the agent left."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import Role
from engine.core.sandboxes import SandboxName
from engine.files import write_inside
from engine.perform.agents import launch
from engine.perform.agents.registry import adapter
from engine.perform.agents.settings import AgentConfig
from tests.agents.conftest import NOW, MakeCall

MINE = "the user's own"


@pytest.mark.parametrize("trap", ["folder", "file", "nothing"])
def test_a_link_is_not_written_through(tmp_path: Path, trap: str) -> None:
    mine, folder = tmp_path / "mine", tmp_path / "home" / "brief"
    mine.mkdir()
    (mine / "a.md").write_text(MINE)
    folder.parent.mkdir()
    if trap == "folder":
        folder.symlink_to(mine)
    elif trap == "file":
        folder.mkdir()
        (folder / "a.md").symlink_to(mine / "a.md")
    write_inside(folder, "a.md", "ours")
    write_inside(folder, "a.md", "ours again")
    assert (mine / "a.md").read_text() == MINE
    assert (folder / "a.md").read_text() == "ours again"
    assert (folder / "a.md").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("agent", "config", "file"),
    [
        pytest.param("gemini", AgentConfig(), ".gemini/settings.json", id="gemini's settings"),
        pytest.param("codex", AgentConfig(), "answer-schema.json", id="codex's schema"),
        pytest.param("mine", AgentConfig(argv=("cat", "{prompt_file}")), "prompt.md", id="a command's prompt"),
    ],
)
@pytest.mark.parametrize("mode", ["bwrap", "none"])
def test_no_adapter_writes_through_a_link(
    agent: str, config: AgentConfig, file: str, mode: str, make_call: MakeCall, tmp_path: Path
) -> None:
    call = make_call(
        role=Role.REVIEWER, read_only=True, schema={"type": "object"}, env={"GEMINI_API_KEY": "x", "PATH": ""}
    )
    mine, place = tmp_path / "mine.txt", call.home / file
    mine.write_text(MINE)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(mine)
    made = adapter(agent, config, clock=lambda: NOW)
    made.spec(call, launch.place(call, SandboxName(mode), agent, config))  # type: ignore[attr-defined]
    assert mine.read_text() == MINE
    assert place.is_file()
    assert not place.is_symlink()


@pytest.mark.parametrize("read_only", [True, False])
def test_gemini_offers_a_reader_no_writing_tool(read_only: bool, make_call: MakeCall) -> None:
    call = make_call(read_only=read_only, env={"GEMINI_API_KEY": "x", "PATH": ""})
    made = adapter("gemini", AgentConfig(), clock=lambda: NOW)
    made.spec(call, launch.place(call, SandboxName.BWRAP, "gemini", AgentConfig()))  # type: ignore[attr-defined]
    settings = (call.home / ".gemini" / "settings.json").read_text()
    assert ('"exclude": ["write_file", "replace"]' in settings) is read_only
