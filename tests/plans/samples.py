"""Plans for the tests: one text per format that says the same, and a strategy for any plan."""

from __future__ import annotations

import json
from pathlib import PurePath

from hypothesis import strategies as st

from engine.core.model import PhaseSpec, Plan, TaskSpec
from engine.plans import PlanFormat, fields, render
from engine.plans.json_plan import JSON
from engine.plans.native import NATIVE

WORDS = st.text(
    st.one_of(st.sampled_from("ab1 .:-#*_`[]()>~xX|\t—é漢"), st.characters(codec="utf-8", exclude_categories=["Cc"])),
    min_size=1,
    max_size=30,
)
LINES = st.lists(
    st.one_of(
        WORDS,
        st.sampled_from(
            ["scope: /etc", "- [ ] 9.9 not a task", "## Phase 7: no", "```", "<!-- x", "verify: rm -rf /", "", "  deep"]
        ),
    ),
    max_size=5,
)


ALLOW = (
    "rename shop.cart.add to shop.cart.put",
    "edit tests/data/{a,b}.json",
    "delete tests tests/test_a.py::test_x[a, b]",
    "suppress F401 in src/__init__.py",
    "change behaviour",
    "delete-tests",
    "tests/test_a.py::test_x",
)


def as_json(plan: Plan) -> str:
    """The plan as a JSON format would have it."""
    phases = [
        {
            "title": phase.title,
            "scaffold": phase.scaffold,
            "tasks": [
                {
                    "id": task.id,
                    "title": task.title,
                    "description": task.description,
                    "acceptanceCriteria": task.accept,
                    "scope": task.scope,
                    "dependsOn": task.depends_on,
                    "verify": task.verify,
                    "complexity": task.complexity,
                    "agent": task.agent,
                    "allow": task.allow,
                    "proof": task.proof,
                    "passes": task.done,
                    **({"status": "skipped"} if task.skipped else {}),
                }
                for task in phase.tasks
            ],
        }
        for phase in plan.phases
    ]
    head = {"title": plan.title, "description": plan.summary, "topic": plan.topic, "status": plan.status}
    return json.dumps({**head, "phases": phases}, indent=2, ensure_ascii=False)


WRITERS = {"native": render, "json": as_json}
NAMES = {"native": PurePath("plan.md"), "json": PurePath("prd.json")}


def formats() -> tuple[PlanFormat, ...]:
    return (NATIVE, JSON)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan a reader can give: texts are tidy, ids unique, dependencies backwards."""
    phases = []
    earlier: list[str] = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        tasks = []
        for place in range(1, draw(st.integers(1, 3)) + 1):
            done = draw(st.booleans())
            tasks.append(
                TaskSpec(
                    id=f"{number}.{place}",
                    title=fields.tidy_title(draw(WORDS)) or "Title",
                    description=fields.tidy_description("", draw(LINES)),
                    accept=_tidy(draw(st.lists(WORDS, max_size=3)), fields.tidy_criterion),
                    scope=_tidy(draw(st.lists(st.sampled_from(["src/**", "a/{b,c}.py", "*.md"]), max_size=3))),
                    depends_on=tuple(draw(st.lists(st.sampled_from(earlier), unique=True))) if earlier else (),
                    verify=_tidy(draw(st.lists(WORDS, max_size=2)), fields.command),
                    complexity=draw(st.none() | st.integers(0, 14)),
                    agent=draw(st.sampled_from(["", "sonnet"])),
                    allow=_tidy(draw(st.lists(st.sampled_from(ALLOW), max_size=3))),
                    proof=draw(st.sampled_from(["", "none", "required"])),
                    done=done,
                    skipped=not done and draw(st.booleans()),
                )
            )
        earlier += [task.id for task in tasks]
        title = fields.tidy_heading(draw(WORDS)) or "Tasks"
        phases.append(PhaseSpec(id=str(number), title=title, tasks=tuple(tasks), scaffold=draw(st.booleans())))
    return Plan(
        title=fields.tidy_heading(draw(WORDS)) or "Plan",
        phases=tuple(phases),
        status=draw(st.sampled_from(["DRAFT", "APPROVED", "IN_PROGRESS", "COMPLETE"])),
        topic=draw(st.sampled_from(["", "auth"])),
        summary=fields.tidy_description("", draw(LINES)),
    )


def _tidy(items, tidy=str):
    return tuple(dict.fromkeys(item for raw in items if (item := tidy(raw))))
