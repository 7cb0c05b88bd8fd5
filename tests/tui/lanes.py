"""Recorded sprints with as many lanes as wanted: work in every stage, climbs, commits, and gates on request."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.activity import OutputKind
from engine.core.model import (
    Criterion,
    Decision,
    FileChange,
    Health,
    Issue,
    PhaseSpec,
    Plan,
    Proof,
    ProofVerdict,
    Review,
    Role,
    TaskSpec,
)
from engine.core.policy import BudgetPolicy, Policy
from engine.link.protocol import Answered, GetDiff
from tests.tui.links import LiveLink
from tests.tui.recorder import Recorder, others, tests

TITLES = (
    "Parse the configuration file",
    "Hash passwords with scrypt",
    "Login endpoint with session cookies",
    "Rate limit logins by address",
    "Export invoices as CSV",
    "Session expiry after 30 idle minutes",
    "Audit log for every login attempt",
    "Search index over customers",
)
STAGES = ("implement", "checks", "review", "implement")
SAID = (
    "I will read the module and its tests first.",
    "The existing tests cover the happy path only; a failing one comes first.",
    "The parser accepts an empty value where the criterion wants an error.",
    "Running the tests of this package before going on with the next change.",
    "Two of them fail as expected; now the smallest change that turns them green.",
)

DIFF = """diff --git a/src/app/part.py b/src/app/part.py
--- a/src/app/part.py
+++ b/src/app/part.py
@@ -10,9 +10,12 @@ def load(path):
     text = path.read_text()
-    rows = text.split("\\n")
+    rows = text.splitlines()
     out = []
     for row in rows:
-        out.append(row.split(","))
+        if not row.strip():
+            continue
+        out.append([cell.strip() for cell in row.split(",")])
     return out


@@ -40,4 +43,8 @@ def dump(rows):
     return "\\n".join(",".join(row) for row in rows)
+
+
+def count(rows):
+    return sum(len(row) for row in rows)
diff --git a/tests/test_part.py b/tests/test_part.py
new file mode 100644
--- /dev/null
+++ b/tests/test_part.py
@@ -0,0 +1,6 @@
+from app.part import load
+
+
+def test_blank_lines_are_passed_over(tmp_path):
+    (tmp_path / "a.csv").write_text("a,b\\n\\nc,d\\n")
+    assert load(tmp_path / "a.csv") == [["a", "b"], ["c", "d"]]
"""


def _plan(lanes: int, more: int) -> Plan:
    first = tuple(
        TaskSpec(
            id=f"1.{number + 1}",
            title=TITLES[number % len(TITLES)],
            accept=("an empty value is refused with the line's number", "every old test still passes"),
            scope=("src/**", "tests/**"),
            complexity=2 + number % 8,
        )
        for number in range(2 * lanes)
    )
    second = tuple(
        TaskSpec(id=f"2.{number + 1}", title=f"Follow-up {number + 1}", depends_on=(f"1.{number % (2 * lanes) + 1}",))
        for number in range(more)
    )
    phases = (PhaseSpec(id="1", title="Foundation", tasks=first), PhaseSpec(id="2", title="Follow-ups", tasks=second))
    return Plan(title="Several things at once", topic="many", status="APPROVED", phases=phases)


def _call(rec: Recorder, task: str, cost: float, seconds: float) -> None:
    call = rec.begin_call(task, Role.IMPLEMENTER)
    for number, words in enumerate(SAID):
        rec.say(call, OutputKind.TEXT, f"{words} (T{task})", after=seconds / 12)
        rec.say(call, OutputKind.TOOL_CALL, tool="Edit", path=f"src/app/part_{number}.py", after=seconds / 12)
    rec.end_call(call, cost, after=seconds / 6)
    rec.scope(task, (FileChange(path=f"src/app/part_{task}.py", change="modified", added=21, removed=4),))


def _tested(rec: Recorder, task: str, passed: int, total: int, *, proven: bool = False) -> None:
    effect = rec.begin_checks(task)
    rec.wait(6.0)
    bad = tuple(f"tests/test_part.py::test_{n}" for n in range(total - passed))
    results = (tests(passed, total, failing=bad), *others())
    proof = Proof(
        kind="new",
        name="tests/test_part.py::test_blank_lines_are_passed_over",
        check="tests",
        path="tests/test_part.py",
        line=4,
        red="AssertionError: a blank line gave an empty row",
    )
    rec.fact(
        ev.ChecksFinished(
            id=effect.id,
            task=task,
            tree=effect.tree,
            base="b",
            purpose="task",
            results=results,
            evidence="9f86d081884c7d65",
            iteration=effect.iteration,
            proof=ProofVerdict.PROVEN if proven else ProofVerdict.UNPROVEN,
            proofs=(proof,) if proven else (),
        )
    )


APPROVED = Review(
    approved=True,
    criteria=(
        Criterion(text="an empty value is refused with the line's number", met=True, reference="src/app/part.py:14"),
        Criterion(text="every old test still passes", met=True, reference="tests/test_part.py:4"),
    ),
    summary="Small, and its test was red before.",
)
OBJECTED = Review(
    approved=False,
    criteria=(Criterion(text="an empty value is refused with the line's number", met=False),),
    issues=(
        Issue(
            text="A row of blanks is passed over silently: the criterion wants an error with the line's number.",
            fix="Raise ValueError with the number of the line.",
            alternative="Count the rows that were passed over and report them.",
            confidence="high",
            path="src/app/part.py",
            line=15,
        ),
    ),
)


@cache
def several(lanes: int, gates: int = 0, more: int = 0, ended: bool = False) -> tuple[object, ...]:
    """Each lane has a finished task, then one that climbed; the first `gates` of them wait for somebody."""
    policy = Policy(lanes=lanes, budget=BudgetPolicy(session_usd=20.0))
    rec = Recorder("004-several", policy)
    plan = _plan(lanes, more or lanes)
    rec.fact(ev.SprintCreated(sprint="004-several", plan=plan, branch="devteam/004-several", topic="many"))
    rec.fact(
        ev.RunStarted(run="r1", pid=1, policy=policy, attended=True, sandbox="bwrap", version="0.1.0", utc_offset=0.0)
    )
    begun = rec.now
    for lane in range(lanes):  # each lane's story at its own pace; what they tell is put in the order of time below
        rec.now = begun + 3.0 * lane
        _finished(rec, lane)
        _climbed(rec, lane, lanes, gates, ended)
    for lane in range(lanes):
        rec.answer(GetDiff(task=f"1.{lanes + lane + 1}"), Answered(text=DIFF))
    items = _in_order(rec.items)
    if ended:
        rec.now = max(item.at for item in items if hasattr(item, "at"))
        rec.seq = len([item for item in items if isinstance(item, ev.Envelope)])
        rec.items = items
        rec.fact(ev.RunEnded(run="r1", outcome="stopped", reason="stopped by you"))
        return tuple(rec.items)
    return tuple(items)


def _in_order(items: list[object]) -> list[object]:
    """By time, facts numbered anew."""
    timed = sorted((item for item in items if hasattr(item, "at")), key=lambda item: item.at)  # type: ignore[attr-defined]
    seq, out = 0, []
    for item in timed:
        if isinstance(item, ev.Envelope):
            seq += 1
            item = replace(item, seq=seq)
        out.append(item)
    return [*out, *(item for item in items if not hasattr(item, "at"))]


def _finished(rec: Recorder, lane: int) -> None:
    done = f"1.{lane + 1}"
    rec.start_task(done, lane, 0, 2, "complexity 2: haiku")
    rec.iterate(done)
    _call(rec, done, 0.03, 20.0 + 7 * (lane % 5))
    _tested(rec, done, 40 + lane, 40 + lane, proven=True)
    rec.review(done, APPROVED)
    rec.decide(done, Decision.COMPLETE, "all checks pass, every criterion met")
    rec.commit(done, TITLES[lane % len(TITLES)])


def _climbed(rec: Recorder, lane: int, lanes: int, gates: int, ended: bool) -> None:
    task = f"1.{lanes + lane + 1}"
    rec.start_task(task, lane, lane % 2, 5, "complexity 5: sonnet")
    rec.iterate(task)
    _call(rec, task, 0.09, 30.0 + 4 * (lane % 3))
    _tested(rec, task, 38, 43)
    rec.health(task, Health.PROGRESSING, "5 tests fail, 38 pass")
    rec.decide(task, Decision.ESCALATE, "2 failures at this rung", rung=lane % 2 + 1)
    rec.iterate(task)
    _call(rec, task, 0.31, 40.0)
    stage = STAGES[lane % len(STAGES)] if lane >= gates and not ended else ""
    if stage == "checks":
        rec.progress(rec.begin_checks(task), "tests")
        return
    if stage == "implement":
        _tested(rec, task, 41, 43)
        rec.health(task, Health.PROGRESSING, "2 tests fail, 41 pass")
        rec.decide(task, Decision.ITERATE, "2 tests fail, 41 pass")
        rec.iterate(task)
        call = rec.begin_call(task, Role.IMPLEMENTER)
        for words in SAID:
            rec.say(call, OutputKind.TEXT, f"{words} (T{task})")
        rec.say(call, OutputKind.TOOL_CALL, tool="Bash", text="python -m pytest -q tests/test_part.py")
        rec.say(call, OutputKind.TOOL_RESULT, "1 failed, 42 passed in 0.84s")
        return
    _tested(rec, task, 43, 43, proven=True)
    rec.health(task, Health.PROGRESSING, "all 43 tests pass")
    if lane < gates:
        kind = "task" if lane % 2 else "fix"
        rec.review(task, APPROVED if kind == "task" else OBJECTED, 0.2)
        rec.decide(task, Decision.COMPLETE if kind == "task" else Decision.ITERATE, "as the review says")
        said = "approved" if kind == "task" else "needs changes (attempt 2)"
        rec.gate(f"G{lane + 1}", task, kind, f"Task {task}: {said}", "", attempt=2)
    elif stage == "review":
        call = rec.begin_call(task, Role.REVIEWER, rung=2)
        rec.say(call, OutputKind.TOOL_CALL, tool="Read", path="src/app/part.py")


def live_lanes(lanes: int, gates: int = 0, more: int = 0, ended: bool = False) -> LiveLink:
    link = LiveLink(several(lanes, gates, more, ended), name="004-several", at_end=False)  # type: ignore[arg-type]
    link.sent = []
    return link


def with_long_titles(lanes: int) -> LiveLink:
    """As several lanes, with titles of every length up to a hundred cells."""
    made, *rest = several(lanes)
    assert isinstance(made, ev.Envelope) and isinstance(made.event, ev.SprintCreated)
    plan = made.event.plan

    def longer(spec: TaskSpec, at: int) -> TaskSpec:
        more = "also for those who come by the other door, and say so in the log and in the documentation"
        return replace(spec, title=f"{spec.title} {more[: 12 * (at % 6)]}".strip())

    phases = tuple(
        replace(phase, tasks=tuple(longer(spec, at) for at, spec in enumerate(phase.tasks))) for phase in plan.phases
    )
    created = replace(made.event, plan=replace(plan, phases=phases))
    link = LiveLink((replace(made, event=created), *rest), name="004-several", at_end=False)  # type: ignore[arg-type]
    link.sent = []
    return link


def many_tasks(count: int) -> LiveLink:
    """One lane at work in a plan of so many tasks."""
    return live_lanes(1, more=count)
