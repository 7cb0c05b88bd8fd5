"""The configuration: defaults, typing, refusals with their lines, the policy made of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config import Config, ConfigRefused, argv, commands_of, config_hash, load, parse, to_policy
from engine.config.commented import default_text
from engine.core.policy import LimitPolicy, Policy
from tests.depth import examples

ROOT = Path(__file__).parents[2]


def refused(text: str):
    with pytest.raises(ConfigRefused) as caught:
        parse(text, "c.toml")
    return caught.value.errors


def test_no_file_means_the_defaults_and_they_are_the_core_s_own(tmp_path):
    config = load(tmp_path / "config.toml")
    assert config == Config() == parse("", "c")
    assert to_policy(config) == Policy()


def test_a_file_of_an_editor_on_windows_is_read(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes("\ufefflanes = 3\r\n[identity]\r\nname = 'Zoë'\r\n".encode())
    config = load(path)
    assert (config.lanes, config.identity.name) == (3, "Zoë")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[[ladder.rungs]]\nname='a'\nagent='opencode'", id="speaks acp, no table"),
        pytest.param("[agents.opencode]\nprogram='/x/opencode'", id="speaks acp, program only"),
        pytest.param("[agents.qwen]\nadapter='acp'", id="speaks acp, said so"),
        pytest.param("[agents.aider]\nargv=['aider', '{prompt_file}']", id="any command by its argv"),
        pytest.param("[agents.new]\nadapter='acp'\nargv=['new', '--acp']", id="another that speaks acp"),
    ],
)
def test_every_agent_that_can_be_driven_can_be_named(text):
    assert parse(text, "c.toml")


def test_every_setting_of_the_policy_comes_from_the_config():
    """Each leaf of the policy moves when the config moves it."""
    text = """
    lanes = 2
    auto_land = true
    [task_loop]
    max_iterations = 11
    scope_retries = 2
    stuck_detection = false
    review = false
    scope_judge = true
    final_checks = false
    final_review = false
    halt_conditions = ["max_iterations_reached", "budget_exceeded"]
    [ladder]
    policy = "index"
    failures = [1, 4]
    task_value_usd = 3
    fallback = ["codex"]
    rungs = [{name = "a", agent = "codex", model = "m", reserve_usd = 0.5}, {name = "b", agent = "own"}]
    roles = {reviewer = "a"}
    [agents.own]
    adapter = "acp"
    argv = ["x"]
    [budget]
    session_usd = 1
    day_usd = 2
    warn_percent = 50
    low_percent = 10
    max_calls = 7
    max_seconds = 8
    [limits]
    calls_per_hour = 9
    max_wait_seconds = 10
    [timeouts]
    extend = 2.0
    implementation = 11
    checks = 12
    review = 13
    idle = 14
    [gates]
    detached = "pause"
    lease_hours = 2
    fix = "auto"
    task = "auto"
    force_fix_at = 5
    [monitor]
    window = 4
    recoveries = 1
    [rollback]
    enabled = false
    checks = ["own"]
    max_commits_to_search = 3
    [error_recovery]
    max_attempts = 4
    initial_delay_seconds = 2
    backoff_multiplier = 3
    jitter = 0.5
    [circuit_breaker]
    enabled = false
    failure_threshold = 6
    reset_timeout_seconds = 61
    [checkpoints]
    interval_minutes = 1
    on_phase_change = false
    on_task_complete = false
    [baselines]
    at = ["sprint_end"]
    """
    made, usual = (dict(leaves(to_policy(config))) for config in (parse(text, "c"), Config()))
    assert [path for path in usual if made.get(path) == usual[path]] == []


def leaves(value, path=()):
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from leaves(getattr(value, name), (*path, name))
    else:
        yield path, value


def test_failures_follow_the_number_of_rungs():
    one = 'ladder.rungs = [{name = "a", agent = "claude"}]'
    assert to_policy(parse(one, "c")).ladder.failures == (3,)
    assert to_policy(Config()).ladder.failures == (2, 2, 3)


def test_without_cost_tracking_money_bounds_nothing_and_json_keeps_it():
    policy = to_policy(parse("task_loop.cost_tracking = false\nbudget.max_calls = 5", "c"))
    assert policy.budget.session_usd >= 1e9 and policy.budget.max_calls == 5
    assert msgspec.json.decode(msgspec.json.encode(policy), type=Policy) == policy


REFUSED = [
    pytest.param("lanes = 0", 1, "lanes = 0", "from 1 to 16", id="range"),
    pytest.param("\nlane = 1", 2, "unknown key lane", "lanes", id="nearest key"),
    pytest.param("[budget]\nsession_usd = nan", 2, "budget.session_usd = nan", "a number above 0", id="nan"),
    pytest.param("[budget]\nday_usd = inf", 2, "budget.day_usd = inf", "a number above 0", id="inf"),
    pytest.param("[budget]\nday_usd = -0.5", 2, "budget.day_usd = -0.5", "a number above 0", id="negative"),
    pytest.param("[budget]\nday_usd = 0", 2, "budget.day_usd = 0", "a number above 0", id="zero"),
    pytest.param(
        '[budget]\nsession_usd = "10"', 2, 'budget.session_usd = "10"', "a number above 0", id="text for a number"
    ),
    pytest.param(
        "[budget]\nsession_usd = true", 2, "budget.session_usd = true", "a number above 0", id="bool for a number"
    ),
    pytest.param("[limits]\ncalls_per_hour = 0", 2, "limits.calls_per_hour = 0", "at least 1", id="no calls"),
    pytest.param("[limits]\ncalls_per_hour = 9999999999999999999", 2, "calls_per_hour", "whole number", id="huge"),
    pytest.param("[timeouts]\nchecks = 2020-01-01", 2, "timeouts.checks", "a number above 0", id="a date"),
    pytest.param('[gates]\nfix = "gatd"', 2, 'gates.fix = "gatd"', "one of auto, gated", id="choice"),
    pytest.param("quiet_hours = '25:00-07:00'", 1, 'quiet_hours = "25:00-07:00"', '"22:00-07:00"', id="hours"),
    pytest.param("quiet_hours = '22-7'", 1, "quiet_hours", '"22:00-07:00"', id="hours without minutes"),
    pytest.param('quiet_hours = "22:00-07:00\\n"', 1, "quiet_hours", '"22:00-07:00"', id="hours and a line"),
    pytest.param("[gates]\nfix = 1", 2, "gates.fix = 1", "one of auto, gated", id="choice of the wrong kind"),
    pytest.param("[budgt]\nx = 1", 1, "unknown key budgt", "budget", id="table"),
    pytest.param("budget = 3", 1, "budget = 3", "a table", id="value for a table"),
    pytest.param("[[budget]]", 1, "budget = ", "a table", id="list for a table"),
    pytest.param("[agents]\nclaude = 3", 2, "agents.claude = 3", "a table", id="value for a table in a table"),
    pytest.param("[checks.integrity.severity]\nsuppression = 'huamn'", 2, "suppression", "human", id="severity"),
    pytest.param("[[checks.run]]\nname = 'a'", 1, "checks.run[1] has no command", "text", id="missing"),
    pytest.param(
        "[[checks.run]]\nname='a'\ncommand='x'\nkind='test'", 4, 'checks.run[1].kind = "test"', "tests", id="kind"
    ),
    pytest.param("[[checks.run]]\nname='a'\ncommand=' '", 3, "check a has no command", "a command", id="blank command"),
    pytest.param(
        "[[checks.run]]\nname='a'\ncommand=[]", 3, "checks.run[1].command", "text or a list", id="empty command"
    ),
    pytest.param(
        "[[checks.run]]\nname='a'\ncommand='x'\n[[checks.run]]\nname='a'\ncommand='y'",
        5,
        "two checks",
        "own",
        id="two names",
    ),
    pytest.param("[checks]\npreset = 'none'", 2, "nothing to judge", "checks.run", id="no check at all"),
    pytest.param(
        "[[checks.held_out]]\nname='a'\ncommand='x'\nfolder='tests'",
        4,
        "tests is not",
        "absolute",
        id="held out inside",
    ),
    pytest.param("[ladder]\nrungs = []", 2, "no rungs", "at least one", id="no rungs"),
    pytest.param("[ladder]\nfailures = [1, 2]", 2, "2 numbers for 3 rungs", "one number a rung", id="failures"),
    pytest.param("[ladder]\nfailures = [1, 0, 1]", 2, "ladder.failures[2] = 0", "from 1 to 20", id="failures 0"),
    pytest.param("[ladder.roles]\nreviwer = 'opus'", 2, "unknown role reviwer", "reviewer", id="role"),
    pytest.param("[ladder.roles]\nreviewer = 'opsu'", 2, "wants the rung opsu", "opus", id="role's rung"),
    pytest.param("[ladder]\nfallback = ['codx']", 2, "fallback to codx", "codex", id="fallback"),
    pytest.param("[[ladder.rungs]]\nname='a'\nagent='cloud'", 3, "wants the agent cloud", "claude?", id="agent"),
    pytest.param(
        "[budget]\nsession_usd = 1", 0, "rung opus reserves $2", "less than", id="reservation over the budget"
    ),
    pytest.param("[agents.aider]\nargs=['x']", 1, "agent aider has no adapter", "command", id="adapter"),
    pytest.param("[agents.qwen]\nadapter='command'", 1, "agent qwen has no command line", "argv", id="known as acp"),
    pytest.param("[agents.aider]\nadapter='command'", 1, "agent aider has no command line", "argv", id="argv"),
    pytest.param("[task_loop]\ncost_tracking = false", 2, "without a bound", "max_calls", id="no bound"),
    pytest.param("[keys]\npause='p'\nstop='p'", 3, "same key p", "a key each", id="keys"),
    pytest.param("[workspace]\ncopy = ['../x']", 2, "workspace.copy has ../x", "inside", id="copy from outside"),
    pytest.param("[workspace]\nmounts = ['cache']", 2, "cache is not", "absolute", id="mount inside"),
]


@pytest.mark.parametrize(("text", "line", "what", "expected"), REFUSED)
def test_what_is_wrong_is_named_with_its_line(text, line, what, expected):
    errors = refused(text)
    assert len(errors) == 1, [str(error) for error in errors]
    (error,) = errors
    assert (error.source, error.line) == ("c.toml", line)
    assert what in error.what and expected in error.expected, str(error)
    assert error.key


HALTS = [
    pytest.param('["max_iterations_reached", "budget_exceeded"]', "", id="security may go"),
    pytest.param('["security_critical", "budget_exceeded"]', "lacks max_iterations_reached", id="iterations may not"),
    pytest.param('["security_critical", "max_iterations_reached"]', "lacks budget_exceeded", id="budget may not"),
    pytest.param(
        '["security_critical", "max_iterations_reached", "budget_exceeded", "rain"]',
        "unknown halt condition rain",
        id="unknown",
    ),
]


@pytest.mark.parametrize(("value", "words"), HALTS)
def test_only_security_critical_may_leave_the_halt_conditions(value, words):
    text = f"[task_loop]\nhalt_conditions = {value}"
    if not words:
        assert "security_critical" not in to_policy(parse(text, "c")).halt_conditions
        return
    (error,) = refused(text)
    assert words in error.what and error.line == 2


def test_all_errors_come_at_once_in_the_order_of_the_file():
    head = "lanes = 99\nlane = 1\n[budget]\nday_usd = -1\n[gates]\nfix = 'x'\n"
    errors = refused(head + "[task_loop]\nhalt_conditions = []\n[keys]\na=' '")
    assert [error.line for error in errors] == [1, 2, 4, 6, 8, 8, 10]


def test_a_broken_section_does_not_make_another_look_wrong():
    """The ladder leans on the agents: with a bad agent table it is not accused of naming one that does not exist."""
    errors = refused("[agents.mine]\nadapter = 'acp'\nargv = 3\n[[ladder.rungs]]\nname='a'\nagent='mine'")
    assert [error.line for error in errors] == [3]


BROKEN = [
    pytest.param("lanes = \n", 1, id="no value"),
    pytest.param("a = 1\n\n[budget\n", 3, id="open header"),
    pytest.param("lanes = 1\nlanes = 2\n", 2, id="key twice"),
    pytest.param('a = 1\nb = "open', 2, id="open text"),
    pytest.param("x = [1,\n 2\n", 2, id="open list"),
]


@pytest.mark.parametrize(("text", "line"), BROKEN)
def test_broken_toml_is_told_with_its_line(text, line):
    (error,) = refused(text)
    assert "not TOML" in error.what and error.line == line


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ConfigRefused, match="cannot be read"):
        load(tmp_path)
    path = tmp_path / "c.toml"
    path.write_bytes(b"lanes = 1\n# \xff\n")
    with pytest.raises(ConfigRefused, match=r"c\.toml:2: not UTF-8"):
        load(path)


SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
SECRETS = [
    pytest.param(f'api_key = "{SECRET}"', id="top level"),
    pytest.param('[agents.claude]\nANTHROPIC_API_KEY = "hunter2hunter2"', id="a key by its name"),
    pytest.param('[agents.claude.env]\nOPENAI_API_KEY = "hunter2hunter2"', id="in env"),
    pytest.param('[agents.claude]\nenv = {auth_token = "hunter2hunter2"}', id="token in env"),
    pytest.param(f'notify_command = "curl -H {SECRET} x"', id="inside a command"),
    pytest.param(f'[agents.claude]\nargs = ["--key", "{SECRET}"]', id="in a list"),
    pytest.param(f'[budget]\nsession_usd = "{SECRET}"', id="where a number belongs"),
    pytest.param(f'[gates]\nfix = "{SECRET}"', id="where a choice belongs"),
]


@pytest.mark.parametrize("text", SECRETS)
def test_secrets_are_refused_and_never_repeated(text):
    errors = refused(text)
    words = "\n".join(str(error) for error in errors)
    assert len(errors) == 1 and "looks like a secret" in words and "export" in words
    assert SECRET not in words and "hunter2" not in words


def test_a_secret_inside_a_value_of_the_wrong_kind_is_not_repeated_either():
    words = "\n".join(str(error) for error in refused(f'lanes = ["{SECRET}"]\n[gates]\nfix = {{x = "{SECRET}"}}'))
    assert "lanes = …" in words and SECRET not in words


def test_names_of_variables_and_token_paths_are_no_secrets():
    parse(
        "[agents.a]\nadapter='command'\nargv=['x']\nlogin_env=['ANTHROPIC_API_KEY']\nfields={input_tokens='a.b'}", "c"
    )


def test_the_hash_names_what_decides_and_nothing_else():
    usual = config_hash(Config())
    assert usual == config_hash(parse("lanes = 1\ntheme = 'x'\nkeys = {pause = 'p'}", "c"))
    for text in (
        "lanes = 2",
        "checks.jobs = 3",
        "sandbox.mode = 'none'",
        "workspace.setup = 'x'",
        "ladder.roles={reviewer='haiku'}",
    ):
        assert config_hash(parse(text, "c")) != usual


def test_every_command_of_the_repository_is_listed_for_trust():
    text = """
    notify_command = "ping me"
    [workspace]
    setup = "npm ci"
    [[checks.run]]
    name = "t"
    command = ["pytest", "a b"]
    [[checks.held_out]]
    name = "h"
    folder = "/h"
    command = "sh x"
    [agents.own]
    adapter = "command"
    argv = ["evil", "{prompt_file}"]
    args = ["-x"]
    """
    config = parse(text, "c")
    lines = [line for _, line in commands_of(config)]
    assert lines == ["ping me", "npm ci", "pytest 'a b'", "sh x", "evil '{prompt_file}' -x"]
    assert argv(config.checks.run[0].command) == ("pytest", "a b") and argv("a | b") == ("sh", "-c", "a | b")


def test_importing_the_config_stays_light():
    heavy = "('pydantic', 'rich', 'git', 'textual', 'tomli_w', 'jinja2', 'typer')"
    imports = "import sys, engine.config, engine.plans, engine.paths"
    code = f"{imports}; sys.exit(bool([name for name in {heavy} if name in sys.modules]))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


LINES = [line.removeprefix("#") if line[1:2] != " " else line for line in default_text().splitlines()]


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_whatever_is_typed_is_read_or_refused(data):
    """Cut, doubled or exchanged lines of a real file, with odd values: never anything but a Config or words."""
    odd = [
        "lanes = [",
        "x = 1",
        "[budget]",
        "[[ladder]]",
        "budget.day_usd = nan",
        "'a.b' = 1",
        "[agents.'x y']",
        "agents = 1",
        '"" = 2',
    ]
    some = data.draw(st.lists(st.sampled_from(LINES + odd * 5), max_size=8))
    start = data.draw(st.integers(0, len(LINES)))
    text = "\n".join([*LINES[:start], *some])
    try:
        parse(text, "c")
    except ConfigRefused as caught:
        assert caught.errors and all(error.what for error in caught.errors)


def test_a_field_of_the_policy_that_no_setting_feeds_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep its default whatever the user wrote."""

    class More(LimitPolicy, frozen=True, kw_only=True):
        unfed: int = 0

    monkeypatch.setattr(sys.modules[to_policy.__module__], "LimitPolicy", More)
    with pytest.raises(AttributeError, match="unfed"):
        to_policy(Config())
