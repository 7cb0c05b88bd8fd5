"""The file for a newcomer and the page for everybody: made from the docstrings, and true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec import inspect

from engine.config import Config, ConfigRefused, load, parse
from engine.config.check_settings import CheckConfig, Checks, HeldOutConfig
from engine.config.commented import EXAMPLES, default_text, write_default
from engine.config.docs import PAGE, page
from engine.config.field_text import docs_of, struct_of
from engine.config.looping import Ladder, RungConfig
from engine.config.renamed import RENAMED
from engine.config.working import AgentConfig, Workspace
from engine.core.policy import Policy

DETECTED = Config(
    lanes=3,
    notify_command="echo \"a 'b'\"",
    keys={"pause": "p"},
    ladder=Ladder(rungs=(RungConfig(name="a", agent="own"),), roles={"reviewer": "a"}, failures=(2,)),
    checks=Checks(
        run=(CheckConfig(name="tests", command=("pytest", "-q"), env={"A B": "c"}), CheckConfig(name="x", command="y")),
        held_out=(HeldOutConfig(name="h", folder="/h", command="z"),),
        protected=("ci/**",),
    ),
    agents={"own": AgentConfig(adapter="command", argv=("x", "{prompt_file}"), fields={"text": "a.b"})},
    workspace=Workspace(setup="npm ci", copy=(".env.test",)),
)


@pytest.mark.parametrize("config", [Config(), DETECTED], ids=["defaults", "detected"])
def test_the_written_file_reads_as_what_was_meant(tmp_path, config):
    path = write_default(tmp_path / ".devteam/config.toml", config)
    tomllib.loads(path.read_text("utf-8"))
    assert load(path) == config


def test_taking_the_marks_away_gives_the_defaults_too():
    """So the commented defaults are no lie."""
    text = re.sub(r"^#(?=[^ \n])|^#(?= {4})", "", default_text(), flags=re.MULTILINE)
    assert text.count("\nmax_iterations = 10\n") == 1
    rungs = msgspec.structs.replace(Config().ladder)
    assert parse(text, "c") == msgspec.structs.replace(Config(), ladder=rungs)


def test_the_examples_in_the_comments_work():
    for text in EXAMPLES.values():
        assert parse(text, "c") != Config()


def test_an_existing_file_is_never_overwritten(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("lanes = 2\n")
    with pytest.raises(FileExistsError):
        write_default(path)
    assert path.read_text() == "lanes = 2\n"


def test_a_configuration_that_would_be_refused_is_not_written(tmp_path):
    with pytest.raises(ConfigRefused):
        write_default(tmp_path / "c.toml", Config(lanes=99))
    assert not (tmp_path / "c.toml").exists()


def test_the_page_is_current():
    assert PAGE.read_text("utf-8") == page(), "run: python -m engine.config --write-docs"


def sections(kind=Config, seen=()):
    yield kind
    for field in inspect.type_info(kind).fields:
        inner = struct_of(field.type)
        if inner is not None and inner not in seen:
            yield from sections(inner, (*seen, inner))


@pytest.mark.parametrize("kind", list(dict.fromkeys(sections())), ids=lambda kind: kind.__name__)
def test_every_field_has_its_docstring(kind):
    assert kind.__doc__
    silent = [
        field.name
        for field in inspect.type_info(kind).fields
        if field.name not in docs_of(kind) and not isinstance(field.type, inspect.StructType)
    ]
    assert silent == []
    assert all(words.endswith((".", "]")) for words in docs_of(kind).values())


SEED_SETTINGS = {
    "task_loop.max_iterations": "task_loop.max_iterations",
    "task_loop.escalation_threshold": "ladder.failures",
    "task_loop.stuck_detection": "task_loop.stuck_detection",
    "task_loop.cost_tracking": "task_loop.cost_tracking",
    "task_loop.timeouts.implementation": "timeouts.implementation",
    "task_loop.timeouts.quality_gates": "timeouts.checks",
    "task_loop.timeouts.requirements": "timeouts.review",
    "task_loop.halt_conditions": "task_loop.halt_conditions",
    "baseline_triggers.automatic": "baselines.at",
    "checkpoint_protocol.auto_save.interval_minutes": "checkpoints.interval_minutes",
    "checkpoint_protocol.auto_save.on_phase_change": "checkpoints.on_phase_change",
    "checkpoint_protocol.auto_save.on_feature_complete": "checkpoints.on_task_complete",
    "error_recovery.retry_defaults.max_attempts": "error_recovery.max_attempts",
    "error_recovery.retry_defaults.initial_delay_ms": "error_recovery.initial_delay_seconds",
    "error_recovery.retry_defaults.backoff_multiplier": "error_recovery.backoff_multiplier",
    "error_recovery.circuit_breaker.enabled": "circuit_breaker.enabled",
    "error_recovery.circuit_breaker.failure_threshold": "circuit_breaker.failure_threshold",
    "error_recovery.circuit_breaker.reset_timeout_seconds": "circuit_breaker.reset_timeout_seconds",
    "cost_tracking.alerts.session_budget": "budget.session_usd",
    "cost_tracking.alerts.daily_budget": "budget.day_usd",
    "cost_tracking.alerts.warn_at_percent": "budget.warn_percent",
    "auto_rollback.enabled": "rollback.enabled",
    "auto_rollback.detection.checks": "rollback.checks",
    "auto_rollback.rollback_strategy.auto_on_regression": "rollback.enabled",
    "auto_rollback.rollback_strategy.max_commits_to_search": "rollback.max_commits_to_search",
    "task_gate_mode": "gates.task",
    "fix_gate_mode": "gates.fix",
}


@pytest.mark.parametrize("seed", SEED_SETTINGS)
def test_every_setting_of_the_seeds_has_its_place(seed):
    here = SEED_SETTINGS[seed]
    value = Config()
    for part in here.split("."):
        value = getattr(value, part)
    assert f"`[{here.rsplit('.', 1)[0]}]`" in PAGE.read_text("utf-8")


def test_old_names_lead_to_places_that_exist():
    known = {field.name for kind in sections() for field in inspect.type_info(kind).fields}
    for words in RENAMED.values():
        named = re.findall(r"\[+([a-z_.]+)\]+", words)
        assert all(part in known for name in named for part in name.split(".")), words
    with pytest.raises(ConfigRefused, match=r"session_usd in \[budget\]"):
        parse("session_budget = 3", "c")


def test_the_command_line_writes_and_checks(tmp_path, capsys):
    from engine.config.__main__ import main

    bad = tmp_path / "c.toml"
    bad.write_text("lanes = 0")
    assert main([str(bad)]) == 4 and "c.toml:1:1" in capsys.readouterr().err
    assert main([str(Path("absent"))]) == 0 and main([]) == 4


def settings_of(section: type[msgspec.Struct]) -> set[str]:
    """Names of all settings below a section."""
    names = set()
    for field in inspect.type_info(section).fields:
        inner = struct_of(field.type)
        names |= settings_of(inner) if inner is not None else {field.name}
    return names


READ = re.compile(r"\.(\w+)\b")


def test_every_setting_is_read_by_something():
    """A documented setting that nothing reads is a promise nobody keeps."""
    engine = Path(__file__).parents[2] / "engine"
    shown = [*engine.rglob("*.py"), *(engine.parent / "tui").rglob("*.py")]
    readers = [path for path in shown if path.parent.name != "config" or path.name == "to_policy.py"]
    read = {name for path in readers for name in READ.findall(path.read_text("utf-8"))}
    assert settings_of(Config) - read == set()
    decided = {
        name
        for path in (engine / "core").glob("*.py")
        if path.name != "policy.py"
        for name in READ.findall(path.read_text("utf-8"))
    }
    assert settings_of(Policy) - decided - {"roles", "failures"} == set(), "policy.py itself reads roles and failures"
