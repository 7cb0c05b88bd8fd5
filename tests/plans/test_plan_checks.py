"""The engine's own checks of a draft: each objects to what it is for and to nothing else."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.globs import matcher, may_meet
from engine.plans.plan_checks import check_plan
from tests.depth import examples

FILES = ("src/auth/login.py", "src/shop/cart.py", "tests/test_cart.py", "README.md")


def task(name: str = "1.1", *scope: str, **fields: object) -> TaskSpec:
    given_fields = {"accept": ("a wrong password gives 401",), "scope": scope or (f"src/{name}.py",), **fields}
    return TaskSpec(id=name, title=f"Do {name}", **given_fields)  # type: ignore[arg-type]


def rules(*tasks: TaskSpec, phases: int = 1, checks: bool = True, files: tuple[str, ...] = FILES) -> list[str]:
    groups = enumerate((tasks[at::phases] for at in range(phases)), 1)
    plan = Plan(title="x", phases=tuple(PhaseSpec(id=str(n), title=f"P{n}", tasks=tuple(one)) for n, one in groups))
    found = check_plan(plan, files, lambda glob, path: matcher((glob,))(path.encode()), checks=checks)
    assert all(issue.text and issue.fix for issue in found), "every objection says what to do"
    return list(dict.fromkeys(f"{issue.rule} {issue.task}".strip() for issue in found))


def test_a_sound_plan_is_not_objected_to() -> None:
    docs = task("1.3", "docs/", "README.md", "Makefile", proof="none (docs)", accept=())
    assert rules(task("1.1"), task("1.2", "tests/**", depends_on=("1.1",)), docs, files=(*FILES, "docs/x.md")) == []


ALONE = [
    pytest.param({"accept": ()}, "no-criteria", id="no criteria"),
    pytest.param({"accept": ("works well",)}, "vague", id="nobody could check it"),
    pytest.param({"accept": ("fast and secure",)}, "vague", id="words of praise"),
    pytest.param({"accept": ("is fast: under 200 ms",)}, "", id="praise with a measure"),
    pytest.param({"complexity": 13}, "too-large", id="too complex for a commit"),
    pytest.param({"accept": tuple(f"returns {n}" for n in range(10))}, "too-large", id="many criteria"),
    pytest.param({"description": "word " * 701}, "too-large", id="an essay"),
    pytest.param({"scope": ("lib/core/**",)}, "unknown-scope", id="a folder that is not there"),
    pytest.param({"scope": ("lib/core/**",), "description": "Makes lib/core."}, "", id="a folder it makes"),
]


@pytest.mark.parametrize(("fields", "rule"), ALONE)
def test_a_task_alone(fields: dict[str, object], rule: str) -> None:
    assert rules(task(**fields)) == ([f"{rule} 1.1"] if rule else [])


BESIDE = [
    pytest.param(("a.py",), ("a.py",), True, id="the same file"),
    pytest.param(("src/**",), ("src/shop/*",), True, id="below"),
    pytest.param(("src/*.py",), ("*_new.py",), True, id="a file that is not there yet"),
    pytest.param(("src/auth",), ("src/auth/x_*.py",), True, id="a folder by its name"),
    pytest.param(("src/**", "!src/shop/**"), ("src/shop/**",), False, id="taken out"),
    pytest.param(("src/auth/**",), ("src/shop/**", "tests/**"), False, id="apart"),
    pytest.param(("README.md",), ("docs/",), False, id="a file and a folder"),
    pytest.param(("docs/",), ("src/",), False, id="two folders"),
    pytest.param(("README.md",), ("**/test_*.py",), False, id="a file and tests anywhere"),
]


@pytest.mark.parametrize(("left", "right", "meet"), BESIDE)
def test_tasks_that_run_beside_each_other(left: tuple[str, ...], right: tuple[str, ...], meet: bool) -> None:
    known = (*FILES, "docs/x.md", "Makefile")
    assert rules(task("1.1", *left), task("1.2", *right), files=known) == (["overlap 1.2"] if meet else [])
    assert rules(task("1.1", *right), task("1.2", *left), files=known) == (["overlap 1.2"] if meet else [])
    assert rules(task("1.1", *left), task("1.2", *right, depends_on=("1.1",)), files=known) == []
    assert rules(task("1.1", *left, done=True), task("1.2", *right), files=known) == []


def test_a_task_without_a_scope_may_touch_anything() -> None:
    assert rules(task("1.1"), task("1.2", scope=())) == ["overlap 1.2"]


@pytest.mark.parametrize("needs", [("1.2",), ("9.9",)], ids=["a cycle", "waits for nothing"])
def test_the_graph_comes_first(needs: tuple[str, ...]) -> None:
    assert rules(task("1.1", depends_on=needs), task("1.2", depends_on=("1.1",), accept=()))[0] == "graph"


def test_phases_are_barriers_and_a_repository_without_checks_needs_commands() -> None:
    assert rules(task("1.1"), task("2.1", "src/1.1.py"), phases=2) == []
    assert rules(task(), checks=False) == ["unprovable 1.1"]
    assert rules(task(verify=("pytest -q",)), checks=False) == []
    assert rules(task("1.1", "anything/at/all/**"), files=()) == [], "an empty repository has no folders yet"


NAME = st.text("ab*?.", min_size=1, max_size=3)
GLOB = st.builds(
    lambda parts, lead, tail: f"{'/' if lead else ''}{'/'.join(parts)}{'/' if tail else ''}",
    st.lists(st.one_of(NAME, st.just("**")), min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
)
PATH = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


@given(left=GLOB, right=GLOB, path=PATH)
@example(left="src/*.py", right="*_a.py", path="src/x_a.py")
@settings(max_examples=examples(1500), deadline=None)
def test_patterns_that_share_a_path_are_said_to_meet(left: str, right: str, path: str) -> None:
    if matcher((left,))(path.encode()) and matcher((right,))(path.encode()):
        assert may_meet(left, right) and may_meet(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [("src/a/**", "src/b/**"), ("src/*.py", "src/*.js"), ("src/**/x.py", "tests/**"), ("a?c/z", "abb/z")],
)
def test_patterns_that_cannot_meet(left: str, right: str) -> None:
    assert not may_meet(left, right)
