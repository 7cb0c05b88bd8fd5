"""What is installed, who is logged in, which ladder fits: known without spending and without opening a login."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from engine.agent_records import CLAUDE, CODEX, GEMINI
from engine.config import parse
from engine.core.model import Rung
from engine.core.sandboxes import SandboxName
from engine.perform.agents.ladders import propose_ladder
from engine.perform.agents.launch import place
from engine.perform.agents.login import login_mounts, login_of
from engine.perform.agents.registry import AgentInfo, UnknownAgentError, adapter, adapter_kind, looked_for, survey
from engine.perform.agents.settings import AgentConfig
from engine.perform.process.spawner import ProcessSpawner
from engine.perform.process.spawning import Mount
from tests.agents.conftest import NOW, MakeCall


def login_file(home: Path, name: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("not to be read", encoding="utf-8")
    path.chmod(0)
    return path


async def test_survey(spawner: ProcessSpawner, tmp_path: Path, fake_programs: dict[str, str]) -> None:
    home = tmp_path / "user-home"
    login_file(home, ".codex/auth.json")
    env = {"PATH": f"{Path(fake_programs['claude']).parent}:/usr/bin:/bin", "ANTHROPIC_API_KEY": "x"}
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no library >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    agents = {
        "helper": AgentConfig(argv=("sh", "-c", "true")),
        "broken": AgentConfig(adapter="acp", argv=(str(broken),)),
        "absent": AgentConfig(argv=("no-such-program",)),
    }
    rungs = (Rung(name="low", agent="claude"), Rung(name="top", agent="codex"), Rung(name="mid", agent="claude"))
    infos = {info.name: info for info in await survey(env, spawner, home=home, agents=agents, rungs=rungs)}
    assert set(infos) == {*looked_for(), "helper", "broken", "absent"}
    claude, codex = infos["claude"], infos["codex"]
    assert (claude.installed, claude.version, claude.login, claude.rungs) == (
        True,
        "2.1.999",
        "ANTHROPIC_API_KEY",
        ("low", "mid"),
    )
    assert (codex.version, codex.login, codex.rungs) == ("0.999.0", "~/.codex/auth.json", ("top",))
    assert (infos["gemini"].version, infos["gemini"].login) == ("0.999.0", "")
    assert infos["helper"].usable()
    assert not infos["broken"].usable()
    assert "no library" in infos["broken"].problem
    assert "not on PATH" in infos["absent"].problem


def info(name: str, **more: object) -> AgentInfo:
    base: dict[str, object] = {"name": name, "adapter": name, "installed": True}
    return AgentInfo(**{**base, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("infos", "agents"),
    [
        pytest.param([info("claude")], ["claude"] * 3, id="all claude"),
        pytest.param([info("codex")], ["codex"] * 3, id="all codex"),
        pytest.param([info("gemini")], ["gemini"] * 2, id="all gemini"),
        pytest.param([info("claude"), info("codex")], ["claude", "claude", "codex"], id="mixed"),
        pytest.param([info("codex"), info("claude", installed=False)], ["codex"] * 3, id="not installed"),
        pytest.param([info("codex"), info("claude", problem="x")], ["codex"] * 3, id="does not start"),
        pytest.param([info("codex"), info("claude", login="KEY")], ["claude"] * 3, id="only one is logged in"),
        pytest.param([info("codex", login="K"), info("claude", login="K"), info("gemini", login="K")],
                     ["gemini", "claude", "codex"], id="all three"),
        pytest.param([info("opencode", adapter="acp")], ["opencode"], id="only another one"),
        pytest.param([], [], id="nothing"),
    ],
)  # fmt: skip
def test_ladders(infos: list[AgentInfo], agents: list[str]) -> None:
    assert [rung.agent for rung in propose_ladder(infos)] == agents


def test_a_ladder_need_not_be_mixed() -> None:
    assert propose_ladder([info("claude"), info("codex")], mix=False) == CLAUDE.rungs
    for ladder in (CLAUDE.rungs, CODEX.rungs, GEMINI.rungs):
        assert len({rung.name for rung in ladder}) == len(ladder)
        assert [rung.reserve_usd for rung in ladder] == sorted(rung.reserve_usd for rung in ladder)


def test_a_login_is_mounted_by_name_only(tmp_path: Path) -> None:
    """The file cannot be read here (mode 0, and it is a folder's only content): only its name is used."""
    path = login_file(tmp_path, ".claude/.credentials.json")
    assert login_mounts("claude", tmp_path, {}) == ((Mount(source=path, dest=path, writable=True),), ())


def test_a_key_in_the_environment_needs_no_file(tmp_path: Path) -> None:
    login_file(tmp_path, ".codex/auth.json")
    assert login_mounts("codex", tmp_path, {"CODEX_API_KEY": "x", "HOME": "/h"}) == ((), ("CODEX_API_KEY",))


def test_configured_logins(tmp_path: Path) -> None:
    path = login_file(tmp_path, ".config/mine.json")
    config = AgentConfig(login_files=(".config/mine.json",), login_env=("MY_KEY",))
    assert login_mounts("mine", tmp_path, {}, config)[0] == (Mount(source=path, dest=path, writable=True),)
    assert login_mounts("mine", tmp_path, {"MY_KEY": "x"}, config) == ((), ("MY_KEY",))


def test_the_configuration_is_private_where_the_login_allows(make_call: MakeCall, tmp_path: Path) -> None:
    call = make_call()
    home = Path(call.env["HOME"])
    login_file(home, ".claude/.credentials.json")
    fenced = place(call, SandboxName.BWRAP, "claude", AgentConfig())
    assert (fenced.private, fenced.home, fenced.host_home) == (True, home, call.home)
    assert fenced.mounts[0].writable
    # Nothing can be mounted: the user's own folder, not a copy of the login.
    open_air = place(call, SandboxName.NONE, "claude", AgentConfig())
    assert (open_air.private, open_air.config) == (False, home)
    with_key = place(make_call(env={**call.env, "ANTHROPIC_API_KEY": "x"}), SandboxName.NONE, "claude", AgentConfig())
    assert (with_key.private, with_key.config) == (True, call.home)


@pytest.mark.parametrize(
    ("name", "config", "kind"),
    [
        pytest.param("claude", AgentConfig(), "claude", id="own"),
        pytest.param("opencode", AgentConfig(), "acp", id="known to speak ACP"),
        pytest.param("gemini", AgentConfig(adapter="acp"), "acp", id="configured"),
        pytest.param("mine", AgentConfig(argv=("x",)), "command", id="by its command"),
        pytest.param("fast", AgentConfig(adapter="claude", program="claude-next"), "claude", id="a second claude"),
    ],
)
def test_adapter_kinds(name: str, config: AgentConfig, kind: str) -> None:
    assert adapter_kind(name, config) == kind
    assert adapter(name, config, clock=lambda: NOW)


def test_an_unknown_agent_says_what_to_type() -> None:
    with pytest.raises(UnknownAgentError, match=r"\[agents.nobody\]"):
        adapter("nobody", AgentConfig(), clock=lambda: NOW)


def test_listing_agents_imports_nothing_heavy() -> None:
    code = "import sys, engine.perform.agents.registry, engine.perform.agents.ladders, engine.prompts\n"
    code += "print([m for m in ('acp', 'pydantic', 'genai_prices', 'jinja2', 'textual') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "[]"


PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page_are_configurations_that_can_be_driven(example: str) -> None:
    config = parse(example, "docs/agents.md")
    for name, section in config.agents.items():
        assert adapter(name, msgspec.convert(msgspec.to_builtins(section), AgentConfig), clock=lambda: NOW)
    for rung in config.ladder.rungs:
        assert adapter(rung.agent, AgentConfig(), clock=lambda: NOW)


def test_the_page_names_every_agent_and_its_login() -> None:
    for name in looked_for():
        assert f"`{name}`" in PAGE
        login = login_of(name)
        assert not login.files or f"`~/{login.files[0]}`" in PAGE
        assert f"`{login.env[0]}`" in PAGE
