"""Every agent devteam knows, one record each: its adapter, login, ladder, hint and row in the docs.

Configuration choices, `devteam agents`, `devteam init`, error texts and the table in docs/agents.md are made from here.
A record is data; the adapter's module is imported when the agent is called.
"""

from __future__ import annotations

from functools import cache

from engine import plugins
from engine.core.model import Rung, Struct

GROUP = "devteam.agents"
"""Entry points of third parties: each names an AgentRecord."""


class Login(Struct, frozen=True, kw_only=True):
    """The names of one program's login: environment variables, files below HOME."""

    env: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    extra_env: tuple[str, ...] = ()
    """No login by themselves, but part of one: endpoints, regions, projects."""


class DocsRow(Struct, frozen=True, kw_only=True):
    """What docs/agents.md says of it."""

    driven: str
    answers: str = "fenced JSON"
    turns: str = "counted by devteam"
    budget: str = "none"
    cost: str = "unknown"


class AcpFacts(Struct, frozen=True, kw_only=True):
    """How it speaks the Agent Client Protocol, as far as it differs from others."""

    command: tuple[str, ...] = ()
    """Empty: its own name."""
    tells_cost: bool = False
    """It tells the cost of a turn, maybe a moment after the turn's end."""
    put_away_seconds: float = 0.0
    """It writes its session down only after it has answered: ended before, it could not be resumed."""


class AgentRecord(Struct, frozen=True, kw_only=True):
    """Everything about one agent."""

    name: str
    """As in `agent = "NAME"` of a rung."""
    adapter: str
    """`module:Class`, made as Class(name, config, clock)."""
    docs: DocsRow
    login: Login = Login()
    rungs: tuple[Rung, ...] = ()
    """The ladder `devteam init` proposes, cheapest first; empty: one rung with the agent's own default model."""
    install: str = ""
    """What to type where the program is missing."""
    login_hint: str = ""
    """What to type where its login is missing."""
    billing_hint: str = ""
    """What to do where its account has run out."""
    looked_for: bool = True
    """Whether `devteam agents` looks for a program of this name without being told."""
    over_acp: AcpFacts = AcpFacts()
    acp: bool = False
    """It speaks the Agent Client Protocol: also a choice of `adapter` for agents like it."""


_ACP = "engine.perform.agents.acp:Acp"
_ACP_DOCS = DocsRow(driven="Agent Client Protocol", budget="as soon as the agent tells cost or tokens")
_AT_END = DocsRow(
    driven="Agent Client Protocol", budget="at the end of the turn, when it tells its cost", cost="its own figure"
)

CLAUDE = AgentRecord(
    name="claude",
    adapter="engine.perform.agents.claude:Claude",
    install="npm install -g @anthropic-ai/claude-code",
    login_hint="Run `claude` and type /login, or set ANTHROPIC_API_KEY.",
    billing_hint='Add credit to the account behind your login (`claude` and /usage shows it), then `devteam run`.',
    docs=DocsRow(
        driven="`claude -p`, stream-json", answers="schema flag", turns="its own", budget="its own",
        cost="its own figure",
    ),
    login=Login(
        env=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
        files=(".claude/.credentials.json",),
        extra_env=(
            "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
            "ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "AWS_REGION",
        ),
    ),
    rungs=(
        Rung(name="haiku", agent="claude", model="haiku", reserve_usd=0.25),
        Rung(name="sonnet", agent="claude", model="sonnet", reserve_usd=1.0),
        Rung(name="opus", agent="claude", model="opus", reserve_usd=2.0),
    ),
)  # fmt: skip
CODEX = AgentRecord(
    name="codex",
    adapter="engine.perform.agents.codex:Codex",
    install="npm install -g @openai/codex",
    login_hint="Run `codex login`, or set CODEX_API_KEY.",
    billing_hint='Check plan and billing of the account behind `codex login`, then `devteam run`.',
    docs=DocsRow(
        driven="`codex exec --json`", answers="schema flag", budget="from its session file",
        cost="tokens × price list",
    ),
    login=Login(
        env=("CODEX_API_KEY", "OPENAI_API_KEY"),
        files=(".codex/auth.json",),
        extra_env=("OPENAI_ORGANIZATION", "OPENAI_PROJECT"),
    ),
    rungs=(
        Rung(name="luna", agent="codex", model="gpt-5.6-luna", reserve_usd=0.25),
        Rung(name="terra", agent="codex", model="gpt-5.6-terra", reserve_usd=1.0),
        Rung(name="sol", agent="codex", model="gpt-5.6-sol", reserve_usd=2.0),
    ),
)  # fmt: skip
GEMINI = AgentRecord(
    name="gemini",
    adapter="engine.perform.agents.gemini:Gemini",
    over_acp=AcpFacts(command=("gemini", "--acp")),
    install="npm install -g @google/gemini-cli",
    login_hint="Run `gemini` and type /auth, or set GEMINI_API_KEY.",
    billing_hint="Enable billing for the key's project, or `gemini` and /auth for another login, then `devteam run`.",
    docs=DocsRow(driven="`gemini -o stream-json`", budget="from its chat file", cost="tokens × price list"),
    login=Login(
        env=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        files=(".gemini/oauth_creds.json",),
        extra_env=(
            "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI",
        ),
    ),
    rungs=(
        Rung(name="flash", agent="gemini", model="gemini-2.5-flash", reserve_usd=0.25),
        Rung(name="pro", agent="gemini", model="gemini-2.5-pro", reserve_usd=1.0),
    ),
)  # fmt: skip
OPENCODE = AgentRecord(
    name="opencode",
    adapter=_ACP,
    over_acp=AcpFacts(command=("opencode", "acp", "--print-logs", "--log-level", "ERROR"), tells_cost=True),
    acp=True,
    install="npm install -g opencode-ai",
    login_hint="Run `opencode auth login`.",
    docs=_AT_END,
    login=Login(
        env=("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        files=(".local/share/opencode/auth.json",),
        extra_env=("OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG"),
    ),
)
QWEN = AgentRecord(
    name="qwen",
    adapter=_ACP,
    over_acp=AcpFacts(command=("qwen", "--acp")),
    acp=True,
    install="npm install -g @qwen-code/qwen-code",
    login_hint="Run `qwen` and type /auth.",
    docs=DocsRow(driven=_ACP_DOCS.driven, budget=_ACP_DOCS.budget, cost="tokens × price list"),
    login=Login(
        env=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
        files=(".qwen/oauth_creds.json",),
        extra_env=("OPENAI_BASE_URL", "OPENAI_MODEL"),
    ),
)
COPILOT = AgentRecord(
    name="copilot",
    adapter=_ACP,
    over_acp=AcpFacts(command=("copilot", "--acp")),
    acp=True,
    install="npm install -g @github/copilot",
    login_hint="Run `copilot` and type /login.",
    docs=_ACP_DOCS,
    login=Login(
        env=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
        files=(".copilot/config.json",),
        extra_env=("COPILOT_PROVIDER_BASE_URL", "COPILOT_MODEL", "COPILOT_OFFLINE"),
    ),
)
CLAUDE_ACP = AgentRecord(
    name="claude-agent-acp",
    adapter=_ACP,
    over_acp=AcpFacts(tells_cost=True, put_away_seconds=1.0),
    acp=True,
    install="npm install -g @agentclientprotocol/claude-agent-acp",
    login_hint="Run `claude` and type /login, or set ANTHROPIC_API_KEY.",
    docs=_AT_END,
    login=CLAUDE.login,
)
CODEX_ACP = AgentRecord(
    name="codex-acp",
    adapter=_ACP,
    acp=True,
    install="npm install -g @agentclientprotocol/codex-acp",
    login_hint="Run `codex login`, or set CODEX_API_KEY.",
    docs=DocsRow(driven=_AT_END.driven, budget=_AT_END.budget, cost="tokens × price list"),
    login=CODEX.login,
)
SCRIPTED = AgentRecord(
    name="scripted",
    adapter="engine.perform.agents.scripted:from_config",
    looked_for=False,
    docs=DocsRow(
        driven="a scenario file: the demo, the tests", answers="as scripted", turns="as scripted",
        budget="as scripted", cost="as scripted",
    ),
)  # fmt: skip

BUILT_IN: tuple[AgentRecord, ...] = (
    CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, COPILOT, CLAUDE_ACP, CODEX_ACP, SCRIPTED,
)  # fmt: skip

TEMPLATES = {"acp": _ACP, "command": "engine.perform.agents.command:Command"}
"""Adapters for agents of the user's own, by `adapter = "NAME"`."""


@cache
def records() -> dict[str, AgentRecord]:
    """By name: our own, then what is installed. A plug-in never takes the name of one of ours."""
    found = {one.name: one for one in BUILT_IN}
    for plugin in plugins.installed(GROUP, AgentRecord):
        if plugin.value is not None:
            found.setdefault(plugin.value.name, plugin.value)
    return found


def record(name: str) -> AgentRecord | None:
    """One agent; only a name that is not ours makes us look among what is installed."""
    return next((one for one in BUILT_IN if one.name == name), None) or records().get(name)


def docs_table() -> str:
    """The table of docs/agents.md."""
    head = (
        "| agent | how it is driven | structured answers | turn cap | budget cap | cost |\n|---|---|---|---|---|---|\n"
    )
    own = DocsRow(
        driven="a command line of yours",
        turns="counted where the output names tools",
        cost="a field of its output, else unknown",
    )
    rows = [*((f"`{one.name}`", one.docs) for one in BUILT_IN), ("any other", own)]
    return head + "".join(
        f"| {name} | {row.driven} | {row.answers} | {row.turns} | {row.budget} | {row.cost} |\n" for name, row in rows
    )


def login_table() -> str:
    """The table of logins in docs/agents.md."""
    head = "| agent | in the environment | in a file | to log in |\n" + "|---" * 4 + "|\n"
    rows = [
        f"| `{one.name}` | {_quoted(one.login.env)} | {_quoted(one.login.files, '~/')} | {one.login_hint} |\n"
        for one in BUILT_IN
        if one.looked_for
    ]
    return head + "".join(rows) + "| any other | what `login_env` names | what `login_files` names | its own way |\n"


def _quoted(names: tuple[str, ...], before: str = "") -> str:
    return ", ".join(f"`{before}{name}`" for name in names)


def adapter_names() -> tuple[str, ...]:
    """What `adapter` of an [agents.NAME] table may say."""
    return (*(one.name for one in records().values() if not one.acp), *TEMPLATES)
