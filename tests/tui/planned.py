"""A planning conversation as a recording: at its questions, and at the plan's approval; and what pages of the
repository (statistics, learnings) are told."""

from __future__ import annotations

from functools import cache

from engine.core import events as ev
from engine.core.gate_choices import offered
from engine.core.model import PhaseSpec, Plan, Role, TaskSpec
from engine.core.planning_state import PlanIssue, PlanQuestion
from engine.core.statistics import SprintStatistics, Statistics
from engine.core.vocabulary import GateKind
from engine.link.protocol import Answered, GetLearnings, GetStatistics, LearningLine
from tests.tui.links import LiveLink
from tests.tui.recorder import START, Recorder

REQUEST = "Add login with rate limiting\n\nPeople sign in with e-mail and password; guessing must be slow."
CONTEXT = "# Context\n\nA Flask application in src/, pytest in tests/.\n\n    src/app/store.py  keeps users in sqlite\n"
DRAFT = Plan(
    title="Login with rate limiting",
    topic="login",
    status="DRAFT",
    summary="Hashed passwords, a login endpoint, a limit by address.",
    phases=(
        PhaseSpec(
            id="1",
            title="Accounts",
            tasks=(
                TaskSpec(
                    id="1.1",
                    title="Hash passwords with scrypt",
                    description="Only salted hashes are stored.",
                    accept=("no plain password is stored", "a wrong password is refused"),
                    scope=("src/auth/**", "tests/auth/**"),
                    verify=("python -m pytest -q tests/auth",),
                ),
                TaskSpec(
                    id="1.2",
                    title="Login endpoint with session cookies",
                    accept=("a right password gives a session",),
                    depends_on=("1.1",),
                    scope=("src/web/**",),
                ),
            ),
        ),
    ),
)
FIGURES = ((3, 4, 2, 0.9, 600, 3, 2), (5, 5, 3, 1.2, 900, 6, 2), (6, 7, 5, 1.1, 800, 8, 1), (4, 4, 4, 0.5, 400, 4, 0))


@cache
def conversation(until: str) -> tuple[object, ...]:
    """Until `questions` are asked, or until the plan's `approval`; `objected`: the same, with an objection left."""
    rec = Recorder("005-login")
    rec.fact(ev.PlanRequested(sprint="005-login", request=REQUEST, branch="devteam/005-login", topic="login"))
    rec.fact(ev.RunStarted(run="r1", pid=1, version="0.1.0", policy=rec.policy, sandbox="bwrap", attended=True))
    rec.fact(ev.Surveyed(id="e1", facts="python, pytest", base="b", tree="t"))
    rec.fact(ev.ContextGathered(id="e2", text=CONTEXT))
    asked = (
        PlanQuestion(text="Which hash?", assumption="scrypt, as the standard library has it"),
        PlanQuestion(text="How many tries a minute?", assumption="five"),
    )
    rec.fact(ev.QuestionsAsked(id="e3", role=Role.PLANNER, questions=asked))
    for number, one in enumerate(asked, 1):
        body = f"If you do not say: {one.assumption}"
        choices = offered(GateKind.QUESTION)
        rec.fact(
            ev.GateOpened(
                gate=f"G{number}", task="", kind=GateKind.QUESTION, title=one.text, body=body, choices=choices
            )
        )
    if until != "questions":
        rec.wait(30)
        rec.fact(ev.GateAnswered(gate="G1", choice="yes", by="you"))
        rec.fact(ev.GateAnswered(gate="G2", choice="comment", text="ten", by="you"))
        rec.fact(ev.PlanDrafted(id="e4", plan=DRAFT))
        rec.fact(ev.PlanChecked(id="e5", version=1, plan=DRAFT, notes=("1.1: verify taken from the repository",)))
        issue = PlanIssue(text="nothing says how long a session lives", task="1.2", fix="add a criterion")
        good = until == "approval"
        rec.fact(ev.PlanReviewed(id="e6", version=1, approved=good, issues=() if good else (issue,), summary="Clear."))
        rec.fact(
            ev.GateOpened(
                gate="G3",
                task="",
                kind=GateKind.PLAN,
                title="Plan: Login with rate limiting",
                body="Expected: about $0.40",
                choices=offered(GateKind.PLAN),
                tree="plan-1",
                attempt=1,
            )
        )
    return tuple(rec.items)


def live_planning(until: str) -> LiveLink:
    link = LiveLink(conversation(until), name="005-login", at_end=False)  # type: ignore[arg-type]
    link.sent = []
    return link


def statistics() -> tuple[SprintStatistics, ...]:
    found = []
    for number, (done, tasks, first, usd, seconds, claims, wrong) in enumerate(FIGURES, 1):
        figures = Statistics(
            sprints=1,
            tasks=tasks,
            complete=done,
            first_pass=first,
            iterations=done + 2,
            resolved_by={"haiku": first, "sonnet": done - first, "council": 1 if number == 2 else 0},
            claims=claims,
            contradicted=wrong,
            usd=usd * 1.3,
            usd_complete=usd,
            seconds_complete=seconds,
            forecast_tasks=done,
            forecast_usd=usd * 1.1,
            forecast_seconds=seconds * 0.8,
            forecast_spent=usd,
            forecast_took=seconds,
        )
        name = f"{number:03}-{('login', 'export', 'search', 'billing')[number - 1]}"
        found.append(SprintStatistics(sprint=name, title=f"Sprint {number}", at=START + number, figures=figures))
    return tuple(found)


LEARNINGS = (
    LearningLine(
        name="001-login/001-scrypt",
        title="Hash with scrypt, never bcrypt",
        text="# Hash with scrypt, never bcrypt\n\n- kind: decision\n- why: the standard library has it\n",
        files=("src/auth/passwords.py",),
    ),
    LearningLine(
        name="002-export/001-no-pandas",
        title="Do not read CSV with pandas",
        text="# Do not read CSV with pandas\n\nIt took 4 s to import.\n\n    import csv\n",
        avoid=True,
        disputes=("T3.1 (sonnet): pandas is a dependency by now",),
    ),
    LearningLine(name="002-export/002-old", title="An old rule", text="# An old rule\n", dropped=True),
)


def with_repository(link: LiveLink) -> LiveLink:
    """The link also knows what the repository's pages ask for."""
    known = link.fetch

    async def fetch(query: object) -> Answered:
        if isinstance(query, GetStatistics):
            return Answered(statistics=statistics())
        if isinstance(query, GetLearnings):
            return Answered(learnings=LEARNINGS)
        return await known(query)  # type: ignore[arg-type]

    link.fetch = fetch  # type: ignore[method-assign,assignment]
    return link
