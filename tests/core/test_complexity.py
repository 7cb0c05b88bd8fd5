"""Complexity and the start rung: the seed's own examples, shapes, ladders of any length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.complexity import Measured, assess, rung_index, start_rung, tier
from engine.core.model import Rung, TaskSpec
from engine.core.policy import DEFAULT_RUNGS

WORDS = [
    # the seed's list for haiku
    pytest.param("Boilerplate generation", "haiku", id="boilerplate"),
    pytest.param("Simple config changes", "haiku", id="config"),
    pytest.param("Documentation updates", "haiku", id="docs"),
    pytest.param("Straightforward file operations", "haiku", id="files"),
    pytest.param("Dependency updates", "haiku", id="dependencies"),
    pytest.param("Fix typo in README", "haiku", id="typo"),
    pytest.param("Bump requests to 2.32", "haiku", id="bump"),
    pytest.param("Rename the old module", "haiku", id="rename"),
    # for sonnet
    pytest.param("Standard feature implementation", "sonnet", id="feature"),
    pytest.param("Writing tests", "sonnet", id="tests"),
    pytest.param("Code reviews", "sonnet", id="reviews"),
    pytest.param("Bug fixes with clear reproduction steps", "sonnet", id="bugs"),
    pytest.param("Database migrations", "sonnet", id="migrations"),
    pytest.param("API endpoints", "sonnet", id="endpoints"),
    pytest.param("Add a settings page", "sonnet", id="settings are a feature"),
    pytest.param("Comments on posts", "sonnet", id="comments are a feature"),
    pytest.param("User profile and audit log", "sonnet", id="profile and audit log are features"),
    pytest.param("Transactional email via dependency injection", "sonnet", id="harmless injection"),
    pytest.param("Hash passwords", "sonnet", id="nothing to judge by"),
    pytest.param("Document the security architecture", "sonnet", id="words against each other"),
    pytest.param(
        "Document the security and performance of the distributed architecture", "sonnet", id="many against one"
    ),
    # for opus
    pytest.param("Complex architecture decisions", "opus", id="architecture"),
    pytest.param("Security audits", "opus", id="security"),
    pytest.param("Multi-system debugging", "opus", id="several systems"),
    pytest.param("Performance optimization", "opus", id="performance"),
    pytest.param("Tasks touching 5+ files with complex interactions", "opus", id="many files"),
    pytest.param("Fix the race condition in the scheduler", "opus", id="race"),
]


@pytest.mark.parametrize(("title", "rung"), WORDS)
def test_words_choose_the_rung(title, rung):
    spec = TaskSpec(id="1.1", title=title)
    index, reason = start_rung(spec, assess(spec), DEFAULT_RUNGS)
    assert DEFAULT_RUNGS[index].name == rung, reason
    assert f"{assess(spec).score}/14" in reason


SHAPES = [
    pytest.param({}, 0, id="bare"),
    pytest.param({"scope": ("a", "b", "c", "d")}, 0, id="four places"),
    pytest.param({"scope": ("a", "b", "c", "d", "e")}, 2, id="five places"),
    pytest.param({"accept": ("x",) * 5}, 1, id="five criteria"),
    pytest.param({"accept": ("x",) * 8}, 2, id="eight criteria"),
    pytest.param({"depends_on": ("1", "2", "3")}, 1, id="three dependencies"),
    pytest.param({"verify": ("a", "b", "c")}, 1, id="three verify commands"),
    pytest.param({"description": "x " * 800}, 1, id="long description"),
    pytest.param({"description": "Mind the race condition."}, 2, id="a hard word in the description"),
    pytest.param({"description": "Update the docs and the config."}, 0, id="easy words in the description"),
]


@pytest.mark.parametrize(("fields", "points"), SHAPES)
def test_shape_adds_points(fields, points):
    plain = assess(TaskSpec(id="1", title="Add a page")).score
    assert assess(TaskSpec(id="1", title="Add a page", **fields)).score == plain + points == 5 + points


def test_a_task_with_much_to_touch_and_prove_starts_at_the_top():
    spec = TaskSpec(id="1", title="Add x", scope=("a", "b", "c", "d", "e"), accept=("x",) * 8)
    assert start_rung(spec, assess(spec), DEFAULT_RUNGS)[0] == 2


TIERS = [(0, "simple"), (4, "simple"), (5, "moderate"), (8, "moderate"), (9, "complex"), (14, "complex")]


@pytest.mark.parametrize(("score", "name"), TIERS)
def test_tiers(score, name):
    assert tier(score) == name == Measured(score=score).tier


def rungs(*names: str) -> tuple[Rung, ...]:
    return tuple(Rung(name=name, agent="x") for name in names)


LADDERS = [
    pytest.param(rungs("only"), (0, 0, 0), id="one"),
    pytest.param(rungs("cheap", "dear"), (0, 0, 1), id="two"),
    pytest.param(rungs("haiku", "sonnet"), (0, 1, 1), id="two with sonnet on top"),
    pytest.param(rungs("sonnet", "opus"), (0, 0, 1), id="two with sonnet below"),
    pytest.param(DEFAULT_RUNGS, (0, 1, 2), id="the seed's"),
    pytest.param(rungs("a", "b", "c", "d"), (0, 1, 3), id="four"),
    pytest.param(rungs("a", "b", "c", "sonnet-4", "e"), (0, 3, 4), id="five with sonnet"),
]


@pytest.mark.parametrize(("ladder", "wanted"), LADDERS)
def test_ladders_of_any_length(ladder, wanted):
    assert tuple(rung_index(score, False, ladder) for score in (2, 6, 11)) == wanted
    assert rung_index(2, True, ladder) == rung_index(12, True, ladder) == rung_index(None, False, ladder) == wanted[1]


def test_the_plan_s_word_wins():
    assert (
        start_rung(TaskSpec(id="1", title="Security audit", agent="Haiku"), Measured(score=12), DEFAULT_RUNGS)[0] == 0
    )
    assert assess(TaskSpec(id="1", title="Security audit", complexity=1)).score == 1
    index, reason = start_rung(TaskSpec(id="1", title="x", agent="gpt"), Measured(score=2), DEFAULT_RUNGS)
    assert index == 0 and "no rung is called gpt" in reason


@given(
    st.text(max_size=80),
    st.text(max_size=80),
    st.lists(st.text(max_size=5), max_size=12),
    st.integers(-5, 30) | st.none(),
)
def test_any_task_has_a_score_and_a_rung(title, description, many, complexity):
    spec = TaskSpec(
        id="1", title=title, description=description, accept=tuple(many), scope=tuple(many), complexity=complexity
    )
    measured = assess(spec)
    assert 0 <= measured.score <= 14 and measured.why and assess(spec) == measured
    assert 0 <= start_rung(spec, measured, DEFAULT_RUNGS)[0] <= 2
