"""The recorded sprint that drives every widget test and picture. `python -m tests.tui.recordings` writes it out."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from engine.core import events as ev
from engine.core.activity import OutputKind
from engine.core.model import (
    CheckKind,
    Criterion,
    Decision,
    Diagnosis,
    FileChange,
    Health,
    Issue,
    PhaseSpec,
    Plan,
    ResultKind,
    Review,
    Role,
    TaskSpec,
    Verdict,
)
from engine.core.policy import BudgetPolicy, Policy
from engine.link.codec import encode_item
from engine.link.protocol import Answered, GetDiff, GetFile, GetSprints, SprintLine
from engine.link.replay import ReplayLink
from tests.tui.recorder import START, Item, Recorder, check, others, tests

FIXTURE = Path(__file__).parent / "fixtures" / "sprint.jsonl"

PLAN = Plan(
    title="Add login with rate limiting",
    topic="login",
    status="APPROVED",
    summary="Accounts with hashed passwords, a login endpoint, and protection against guessing.",
    phases=(
        PhaseSpec(
            id="1",
            title="Accounts",
            tasks=(
                TaskSpec(
                    id="1.1",
                    title="User model",
                    description="A user table with a unique e-mail.",
                    accept=(
                        "a user can be stored and found by e-mail",
                        "a second user with the same e-mail is refused",
                    ),
                    scope=("src/auth/**", "tests/auth/**"),
                    complexity=2,
                ),
                TaskSpec(
                    id="1.2",
                    title="Hash passwords",
                    description="Store only salted hashes; verify in constant time.",
                    accept=(
                        "no plain password is ever stored or logged",
                        "verification takes constant time",
                        "old hashes are upgraded on login",
                    ),
                    scope=("src/auth/**", "tests/auth/**"),
                    depends_on=("1.1",),
                    complexity=6,
                ),
                TaskSpec(
                    id="1.3",
                    title="Login endpoint",
                    description="POST /login returns a session cookie.",
                    accept=("wrong credentials answer 401", "the cookie is HttpOnly and SameSite=Lax"),
                    scope=("src/api/**", "tests/api/**"),
                    depends_on=("1.1",),
                    complexity=5,
                ),
            ),
        ),
        PhaseSpec(
            id="2",
            title="Hardening",
            tasks=(
                TaskSpec(
                    id="2.1",
                    title="Rate limit logins",
                    accept=("five failures lock an address for a minute", "the counter survives a restart"),
                    scope=("src/api/**", "src/limits/**", "tests/**"),
                    depends_on=("1.3",),
                    complexity=9,
                ),
                TaskSpec(
                    id="2.2",
                    title="Session expiry",
                    accept=("sessions end after 30 idle minutes",),
                    scope=("src/auth/**", "tests/auth/**"),
                    depends_on=("1.3",),
                    complexity=4,
                ),
                TaskSpec(
                    id="2.3",
                    title="Audit log",
                    accept=("every login attempt leaves one line", "no line holds a password"),
                    scope=("src/audit/**", "tests/audit/**"),
                    depends_on=("1.2",),
                    complexity=3,
                ),
            ),
        ),
    ),
)

DIFF = '''diff --git a/src/auth/passwords.py b/src/auth/passwords.py
new file mode 100644
--- /dev/null
+++ b/src/auth/passwords.py
@@ -0,0 +1,24 @@
+"""Hash and verify passwords with scrypt."""
+
+import hashlib
+import hmac
+import os
+
+N, R, P = 2**14, 8, 1
+
+
+def hash_password(password: str) -> str:
+    salt = os.urandom(16)
+    digest = hashlib.scrypt(password.encode(), salt=salt, n=N, r=R, p=P)
+    return f"scrypt${N}${salt.hex()}${digest.hex()}"
+
+
+def verify(password: str, stored: str) -> bool:
+    _, cost, salt, digest = stored.split("$")
+    made = hashlib.scrypt(
+        password.encode(), salt=bytes.fromhex(salt), n=int(cost), r=R, p=P
+    )
+    return hmac.compare_digest(made.hex(), digest)
+
+
+# TODO: upgrade old hashes on login
diff --git a/src/auth/models.py b/src/auth/models.py
--- a/src/auth/models.py
+++ b/src/auth/models.py
@@ -4,14 +4,15 @@
 from dataclasses import dataclass

+from auth.passwords import hash_password

 @dataclass
 class User:
     email: str
-    password: str
+    password_hash: str

     @classmethod
     def create(cls, email: str, password: str) -> "User":
-        return cls(email=email, password=password)
+        return cls(email=email, password_hash=hash_password(password))

     def __repr__(self) -> str:
-        return f"User({self.email}, {self.password})"
+        return f"User({self.email})"
'''

FAILING = ("tests/auth/test_passwords.py::test_upgrade", "tests/auth/test_passwords.py::test_constant_time")
PASSWORDS = (
    FileChange(path="src/auth/passwords.py", change="added", added=58),
    FileChange(path="src/auth/models.py", change="modified", added=9, removed=7),
    FileChange(path="tests/auth/test_passwords.py", change="added", added=41),
    FileChange(path="src/auth/__init__.py", change="modified", added=3, removed=1),
)
NEEDS_CHANGES = Review(
    approved=False,
    criteria=(
        Criterion(text="no plain password is ever stored or logged", met=True, reference="src/auth/models.py:17"),
        Criterion(text="verification takes constant time", met=True, reference="src/auth/passwords.py:21"),
        Criterion(text="old hashes are upgraded on login", met=False),
    ),
    issues=(
        Issue(
            text="Old hashes are never upgraded: verify() throws the cost away after checking.",
            fix="Return needs_upgrade from verify() and re-hash in login() when it is true.",
            alternative="Upgrade in a nightly job; slower to take effect.",
            confidence="high",
            path="src/auth/passwords.py",
            line=21,
        ),
        Issue(
            text="The cost parameters are module constants that tests cannot lower.",
            fix="Take them from Settings with the present values as defaults.",
            alternative="Monkeypatch in tests only.",
            confidence="medium",
            path="src/auth/passwords.py",
            line=7,
        ),
    ),
    notes=("Prefer argon2 once the wheel is available on this platform.",),
    summary="Sound hashing; one criterion is not met yet.",
)


def _implement(rec: Recorder, task: str, cost: float, *, lines: int = 6, path: str = "src/auth/passwords.py") -> None:
    call = rec.begin_call(task, Role.IMPLEMENTER)
    rec.say(call, OutputKind.TEXT, "I will look at how users are stored today, then write the tests first.")
    rec.say(call, OutputKind.TOOL_CALL, "src/auth", tool="Glob", path="src/auth/**/*.py")
    rec.say(call, OutputKind.TOOL_RESULT, "\n".join(f"src/auth/module_{number}.py" for number in range(lines)))
    rec.say(call, OutputKind.TOOL_CALL, tool="Read", path="src/auth/models.py")
    rec.say(call, OutputKind.THINKING, "The model keeps the password as it came.\nIt must never be kept.")
    rec.say(call, OutputKind.FILE_CHANGE, "+58 −0", path=path)
    rec.say(call, OutputKind.TOOL_CALL, "python -m pytest tests/auth -q", tool="Bash")
    rec.say(call, OutputKind.TOOL_RESULT, "..........F.F\n2 failed, 41 passed in 3.21s")
    rec.say(
        call, OutputKind.TEXT, "Two tests still fail. The upgrade path needs the old cost, which verify() throws away."
    )
    rec.end_call(call, cost, text="Passwords are hashed with scrypt; verification uses compare_digest.")


@cache
def sprint() -> tuple[tuple[Item, ...], dict[str, int]]:
    """The whole story, and where its moments are."""
    policy = Policy(lanes=2, budget=BudgetPolicy(session_usd=8.0))
    rec = Recorder("003-add-login", policy)
    rec.fact(ev.SprintCreated(sprint=rec.sprint, plan=PLAN, branch="devteam/003-add-login", topic="login"))
    rec.mark("created")
    rec.fact(
        ev.RunStarted(
            run="r1",
            pid=4711,
            policy=policy,
            attended=True,
            sandbox="bwrap",
            version="0.1.0",
            checks=("tests", "types", "lint", "security", "build"),
        )
    )

    # 1.1 goes through at once.
    rec.start_task("1.1", 0, 0, 2, "complexity 2: haiku")
    rec.iterate("1.1")
    _implement(rec, "1.1", 0.03, path="src/auth/models.py")
    rec.scope("1.1", (FileChange(path="src/auth/models.py", change="added", added=34),))
    rec.end_checks(rec.begin_checks("1.1"), (tests(31, 31, new=4), *others()))
    rec.review(
        "1.1", Review(approved=True, criteria=(Criterion(text="stored and found", met=True),), summary="Good."), 0.09
    )
    rec.health("1.1", Health.PROGRESSING, "all checks pass (31 tests)")
    rec.decide("1.1", Decision.COMPLETE, "all checks pass, every criterion met")
    rec.gate(
        "G1",
        "1.1",
        "task",
        "Task 1.1: User model — approved",
        "Phase: 1 — Accounts\n\nA user table with a unique e-mail.",
    )
    rec.fact(ev.GateAnswered(gate="G1", choice="yes", by="you"), 21.0)
    rec.commit("1.1", "User model")

    # 1.2 fails twice at haiku and climbs; 1.3 runs beside it.
    rec.start_task("1.2", 0, 0, 6, "complexity 6: haiku")
    rec.iterate("1.2")
    rec.mark("first_call")
    _implement(rec, "1.2", 0.02)
    rec.scope("1.2", PASSWORDS[:2])
    rec.end_checks(rec.begin_checks("1.2"), (tests(36, 43, failing=FAILING), *others()))
    rec.health("1.2", Health.PROGRESSING, "36 of 43 tests pass")
    rec.decide("1.2", Decision.ITERATE, "tests: 7 fail")
    rec.start_task("1.3", 1, 1, 5, "complexity 5: sonnet")
    rec.iterate("1.3")
    rec.iterate("1.2")
    _implement(rec, "1.2", 0.02)
    rec.scope("1.2", PASSWORDS)
    rec.end_checks(rec.begin_checks("1.2"), (tests(39, 43, failing=FAILING), *others()))
    rec.health("1.2", Health.PROGRESSING, "39 of 43 tests pass")
    rec.decide("1.2", Decision.ESCALATE, "2 failures at haiku", rung=1)

    # An attempt that leaves its scope is put back.
    rec.iterate("1.2")
    api = rec.begin_call("1.3", Role.IMPLEMENTER)
    rec.say(api, OutputKind.TEXT, "The endpoint goes into src/api/login.py; the cookie is HttpOnly and SameSite=Lax.")
    rec.say(api, OutputKind.TOOL_CALL, tool="Read", path="src/api/app.py")
    rec.say(api, OutputKind.FILE_CHANGE, "+44 −0", path="src/api/login.py")
    _implement(rec, "1.2", 0.31)
    rec.scope("1.2", PASSWORDS, reverted=("pyproject.toml", "src/api/app.py"))
    rec.mark("scope_violation")
    rec.prepare("1.2")
    call = rec.begin_call("1.2", Role.IMPLEMENTER)
    rec.say(
        call,
        OutputKind.TEXT,
        "Understood: only src/auth and tests/auth. The dependency stays out; scrypt is in the standard library.",
    )
    rec.say(call, OutputKind.TOOL_CALL, tool="Edit", path="src/auth/passwords.py")
    rec.say(call, OutputKind.FILE_CHANGE, "+23 −5", path="src/auth/passwords.py")
    rec.mark("parallel")
    rec.end_call(call, 0.42, text="Hashing with scrypt from the standard library; cost is kept in the hash.")
    rec.scope("1.2", PASSWORDS)
    running = rec.begin_checks("1.2")
    rec.progress(running, "lint", "done", "PASS")
    rec.progress(running, "types", "done", "PASS")
    rec.progress(running, "tests", detail="31 of 43")
    rec.mark("checks")
    rec.end_checks(
        running,
        (
            tests(
                41,
                43,
                failing=FAILING,
                fixed=2,
                output="FAILED tests/auth/test_passwords.py::test_upgrade - KeyError: 'cost'",
            ),
            *others(),
        ),
    )
    rec.health("1.2", Health.PROGRESSING, "41 of 43 tests pass")
    rec.decide("1.2", Decision.ITERATE, "tests: 2 fail, 2 fewer than before")

    # Green, but the reviewer wants changes: the fix gate.
    rec.iterate("1.2")
    _implement(rec, "1.2", 0.38)
    rec.scope("1.2", PASSWORDS)
    rec.end_checks(rec.begin_checks("1.2"), (tests(43, 43, fixed=2, new=6), *others()))
    rec.answer(GetDiff(task="1.2"), Answered(text=DIFF))
    rec.review("1.2", NEEDS_CHANGES, 0.21)
    rec.health("1.2", Health.PROGRESSING, "all checks pass (43 tests)")
    rec.decide("1.2", Decision.ITERATE, "review: 2 issues, 1 criterion not met")
    rec.gate("G2", "1.2", "fix", "Review for Task 1.2: Hash passwords — needs changes (attempt 2)", "", attempt=2)
    rec.mark("fix_gate")
    rec.fact(ev.GateAsked(gate="G2", question="Would argon2 be a drop-in here?", by="you"), 8.0)
    ask = rec.begin_call("1.2", Role.ANSWERER, gate="G2")
    rec.say(ask, OutputKind.TEXT, "Nearly. The stored format already names the algorithm,")
    rec.say(ask, OutputKind.TEXT, "so both can be read while new hashes use argon2.")
    rec.mark("asking")
    rec.end_call(ask, 0.02, text="", claim="")
    rec.fact(
        ev.GateReplied(
            gate="G2",
            id=ask.id,
            answer="Nearly. The stored format already names the algorithm, so both can be read while new hashes use "
            "argon2. The wheel is missing for this platform, so tests would be skipped here.",
        )
    )
    rec.mark("asked")

    # The other lane finishes: a task gate joins the queue.
    rec.end_call(api, 0.44, text="POST /login answers 401 for wrong credentials and sets the cookie.")
    rec.scope(
        "1.3",
        (
            FileChange(path="src/api/login.py", change="added", added=44),
            FileChange(path="tests/api/test_login.py", change="added", added=63),
        ),
    )
    rec.end_checks(rec.begin_checks("1.3"), (tests(49, 49, new=6), *others()))
    rec.review(
        "1.3",
        Review(
            approved=True,
            criteria=(
                Criterion(text="wrong credentials answer 401", met=True, reference="tests/api/test_login.py:21"),
                Criterion(text="the cookie is HttpOnly and SameSite=Lax", met=True, reference="src/api/login.py:38"),
            ),
            notes=("The error message could name the field.",),
            summary="Both criteria are met and tested.",
        ),
        0.19,
    )
    rec.decide("1.3", Decision.COMPLETE, "all checks pass, every criterion met")
    rec.gate(
        "G3",
        "1.3",
        "task",
        "Task 1.3: Login endpoint — approved",
        "Phase: 1 — Accounts\n\nPOST /login answers 401 for wrong credentials and sets the cookie.",
    )
    rec.mark("two_gates")
    rec.fact(ev.GateAnswered(gate="G2", choice="comment", text="Keep scrypt; upgrade in login().", by="you"), 34.0)
    rec.mark("task_gate")
    rec.fact(ev.GateAnswered(gate="G3", choice="auto", by="you"), 6.0)
    rec.commit("1.3", "Login endpoint")
    rec.iterate("1.2")
    _implement(rec, "1.2", 0.35)
    rec.scope("1.2", PASSWORDS)
    rec.end_checks(rec.begin_checks("1.2"), (tests(52, 52, new=3), *others()))
    rec.review("1.2", Review(approved=True, summary="All three criteria are met."), 0.2)
    rec.decide("1.2", Decision.COMPLETE, "all checks pass, every criterion met")
    rec.commit("1.2", "Hash passwords")
    rec.mark("auto")

    # 2.1 is stuck at the top: the council sits. 2.2 says it is blocked.
    rec.start_task("2.1", 0, 1, 9, "complexity 9: sonnet")
    rec.start_task("2.2", 1, 0, 4, "complexity 4: haiku")
    rec.iterate("2.2")
    locked = ("tests/limits/test_counter.py::test_survives_restart",)
    for number in range(2):
        rec.iterate("2.1")
        _implement(rec, "2.1", 0.33, path="src/limits/counter.py")
        rec.scope("2.1", (FileChange(path="src/limits/counter.py", change="modified", added=12 + number, removed=8),))
        rec.end_checks(rec.begin_checks("2.1"), (tests(57 - number % 2, 58, failing=locked), *others()))
        rec.decide(
            "2.1",
            Decision.ESCALATE if number else Decision.ITERATE,
            "2 failures at sonnet" if number else "tests: 1 fails",
            rung=2 if number else 1,
        )
    for _number in range(3):
        rec.iterate("2.1")
        _implement(rec, "2.1", 0.48, path="src/limits/counter.py")
        rec.scope("2.1", (FileChange(path="src/limits/counter.py", change="modified", added=9, removed=9),))
        rec.end_checks(
            rec.begin_checks("2.1"),
            (
                tests(57, 58, failing=locked),
                *others(lint=check("lint", CheckKind.LINT, Verdict.FAIL, "2 findings", errors=2)),
            ),
        )
        if _number < 2:
            rec.health(
                "2.1",
                Health.STALLED if _number else Health.PROGRESSING,
                "the same error 3 times: tests: 1 fails" if _number else "57 of 58 tests pass",
            )
            rec.decide("2.1", Decision.ITERATE, "tests: 1 fails", recovery="fresh" if _number else "")
    rec.health("2.1", Health.STALLED, "the same error 3 times: tests/limits/test_counter.py::test_survives_restart")
    rec.decide("2.1", Decision.COUNCIL, "stuck at opus: the same failing set three times")
    rec.mark("stalled")
    seats = {
        "root-cause-analyst": "The counter is written when the window closes, not when a failure is counted.",
        "code-archaeologist": "The flush moved into close() two commits ago, together with the pool.",
        "pattern-matcher": "Same shape as a write-behind cache without a journal.",
    }
    calls = [
        rec.begin_call("2.1", Role.COUNCILLOR, seat=seat) for seat in (*seats, "systems-thinker", "adversarial-tester")
    ]
    for at, kind, text, more in (
        (0, OutputKind.TEXT, "I follow one failed login from the request to the store.", {}),
        (1, OutputKind.TOOL_CALL, "git log -S flush -- src/limits", {"tool": "Bash"}),
        (2, OutputKind.TEXT, "Memory first, disk later: a write-behind cache.", {}),
        (1, OutputKind.TOOL_RESULT, "9c1f3e2 close the pool and flush in one place", {}),
        (4, OutputKind.TOOL_CALL, "", {"tool": "Read", "path": "src/limits/counter.py"}),
        (3, OutputKind.TEXT, "Who else counts? Every worker has a counter of its own.", {}),
        (4, OutputKind.TEXT, "What if the process dies right here, after line 41?", {}),
    ):
        rec.say(calls[at], kind, text, after=0.0, **more)
    for call, (seat, text) in zip(calls, seats.items(), strict=False):
        rec.end_call(call, 0.17, text=text, claim="")
        rec.fact(ev.DiagnosisGiven(id=call.id, task="2.1", seat=seat, text=text))
    rec.mark("council_sitting")
    for call, seat, text in zip(
        calls[3:],
        ("systems-thinker", "adversarial-tester"),
        (
            "Two workers hold two counters; only one is flushed.",
            "Kill the process between count and flush: the failure is forgotten.",
        ),
        strict=True,
    ):
        rec.end_call(call, 0.16, text=text, claim="")
        rec.fact(ev.DiagnosisGiven(id=call.id, task="2.1", seat=seat, text=text))
    synthesis = rec.begin_call("2.1", Role.SYNTHESIST)
    rec.end_call(synthesis, 0.24, claim="")
    rec.fact(
        ev.CouncilFinished(
            id=synthesis.id,
            task="2.1",
            diagnosis=Diagnosis(
                root_cause="Failures are counted in memory and written when the window closes: a restart forgets them.",
                recommended_fix="Write each failure as it is counted, in the same transaction that reads the limit.",
                insight="State that must survive a crash has to be written before the answer is sent.",
                test_cases=("restart between two failures", "two workers count the same address", "clock goes back"),
            ),
        )
    )
    rec.mark("council")

    # 2.2 cannot go on by itself.
    stuck = rec.begin_call("2.2", Role.IMPLEMENTER)
    rec.say(stuck, OutputKind.ERROR, "sessions table is missing: the migration needs a database url")
    rec.end_call(stuck, 0.05, claim="blocked", text="The migration cannot run: DATABASE_URL is not set.")
    rec.scope("2.2", ())
    rec.health("2.2", Health.BLOCKED, "the agent says blocked: DATABASE_URL is not set")
    rec.decide("2.2", Decision.BLOCKED, "the agent says blocked: DATABASE_URL is not set")
    rec.gate(
        "G4",
        "2.2",
        "blocked",
        "Task 2.2: Session expiry — blocked",
        "The migration cannot run: DATABASE_URL is not set.\n\nSet it in .devteam/config.toml under [env], then retry.",
    )
    rec.mark("blocked_gate")
    rec.iterate("2.1")
    _implement(rec, "2.1", 0.52, path="src/limits/counter.py")
    rec.scope("2.1", (FileChange(path="src/limits/counter.py", change="modified", added=21, removed=14),))
    rec.end_checks(rec.begin_checks("2.1"), (tests(61, 61, new=3), *others()))
    rec.review("2.1", NEEDS_CHANGES, 0.22)
    rec.decide("2.1", Decision.ITERATE, "review: 2 issues")
    rec.gate(
        "G5",
        "2.1",
        "fix",
        "Review for Task 2.1: Rate limit logins — needs changes (attempt 3)",
        "",
        attempt=3,
        forced=True,
    )
    rec.gate("G6", "2.1", "task", "Task 2.1: Rate limit logins — approved", "Phase: 2 — Hardening")
    rec.mark("queue")
    rec.fact(ev.GateAnswered(gate="G4", choice="skip", by="you"), 12.0)
    rec.fact(
        ev.TaskEnded(
            task="2.2",
            decision=Decision.SKIPPED,
            reason="skipped by you",
            action="set DATABASE_URL, then: devteam retry 2.2",
        )
    )
    rec.fact(ev.GateAnswered(gate="G5", choice="skip", by="you"), 4.0)
    rec.fact(ev.GateAnswered(gate="G6", choice="yes", by="you"), 4.0)
    rec.commit("2.1", "Rate limit logins")
    rec.fact(ev.BudgetWarned(scope="session", spent_usd=6.64, limit_usd=8.0))

    # 2.3 meets the provider's limit.
    rec.start_task("2.3", 1, 1, 3, "complexity 3: sonnet")
    rec.iterate("2.3")
    call = rec.begin_call("2.3", Role.IMPLEMENTER)
    rec.say(call, OutputKind.LIMIT, "usage limit reached, resets at 18:40")
    until = rec.now + 1284.0
    rec.end_call(call, 0.01, kind=ResultKind.LIMIT, error="usage limit reached", reset_at=until, claim="")
    wait = rec.limit_wait("2.3", until, "claude: usage limit, waiting for its reset")
    rec.mark("waiting")
    rec.wait(1280.0)
    rec.fact(ev.WaitEnded(id=wait.id))
    _implement(rec, "2.3", 0.22, path="src/audit/log.py")
    rec.scope("2.3", (FileChange(path="src/audit/log.py", change="added", added=37),))
    rec.end_checks(rec.begin_checks("2.3"), (tests(66, 66, new=5), *others()))
    rec.review("2.3", Review(approved=True, summary="Each attempt leaves one line."), 0.14)
    rec.health("2.3", Health.PROGRESSING, "all checks pass (66 tests)")
    rec.decide("2.3", Decision.COMPLETE, "all checks pass, every criterion met")
    rec.commit("2.3", "Audit log")
    rec.fact(
        ev.LearningRecorded(task="2.1", text="State that must survive a crash is written before the answer is sent.")
    )
    rec.fact(ev.RunEnded(run="r1", outcome="blocked", reason="5 of 6 tasks complete; 2.2 was skipped"))
    rec.answer(
        GetSprints(),
        Answered(
            sprints=(
                SprintLine(
                    id="003-add-login",
                    title="Add login with rate limiting",
                    status="running",
                    done=2,
                    total=6,
                    spent_usd=3.27,
                    at=START,
                ),
                SprintLine(
                    id="002-export-csv",
                    title="Export reports as CSV",
                    status="done",
                    done=4,
                    total=4,
                    spent_usd=1.12,
                    at=START - 86400,
                ),
                SprintLine(
                    id="001-scaffold",
                    title="Project scaffold",
                    status="done",
                    done=3,
                    total=3,
                    spent_usd=0.34,
                    at=START - 9 * 86400,
                ),
            )
        ),
    )
    rec.answer(GetFile(name="plan.md"), Answered(path="/nowhere/plan.md", text="# Add login with rate limiting\n"))
    rec.mark("end")
    return tuple(rec.items), rec.marks


def upto(mark: str, *, speed: float = 0.0) -> ReplayLink:
    """A still recording of one moment. Recorded answers of the whole story stay available."""
    items, marks = sprint()
    cut = marks[mark]
    rest = [item for item in items[cut:] if not hasattr(item, "at")]
    return ReplayLink([*items[:cut], *rest], name="003-add-login", speed=speed)


def whole(*, at_end: bool = True) -> ReplayLink:
    return ReplayLink(sprint()[0], name="003-add-login", at_end=at_end)


def lines() -> bytes:
    return b"".join(encode_item(item) + b"\n" for item in sprint()[0])


if __name__ == "__main__":
    FIXTURE.parent.mkdir(exist_ok=True)
    FIXTURE.write_bytes(lines())
    print(f"{FIXTURE}: {len(sprint()[0])} items, {FIXTURE.stat().st_size} bytes")
