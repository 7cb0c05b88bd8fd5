"""A recording in which every text that can come from outside is an attack."""

from __future__ import annotations

from engine.core import events as ev
from engine.core.activity import OutputKind
from engine.core.model import (
    CheckKind,
    CheckResult,
    Criterion,
    Decision,
    Diagnosis,
    FileChange,
    Finding,
    Health,
    Issue,
    PhaseSpec,
    Plan,
    Review,
    Role,
    TaskSpec,
    TestCounts,
    Verdict,
)
from engine.link.protocol import Answered, GetDiff, GetSprints, LinkStatus, SprintLine
from tests.tui.links import LiveLink
from tests.tui.recorder import Recorder

ATTACKS = {
    "markup": "[bold red]x[/bold red] [/] [[ ]] [$accent] [not closed",
    "click": "[@click=app.act('yes')]press me[/] [link=http://evil]x[/link]",
    "osc52": "\x1b]52;c;SE9TVElMRQ==\x07clip",
    "title": "\x1b]0;HOSTILE\x07t\x1b]2;HOSTILE\x1b\\",
    "csi": "\x1b[2J\x1b[31337;1H\x1b[31337mred\x1b[6n",
    "c1": "\x9b31337m\x9d52;c;SE9TVElMRQ==\x9c",
    "dcs": "\x1bPq#0;2;0;0;0\x1b\\\x1b_Gi=1\x1b\\",
    "bidi": "abc\u202edef\u2066ghi\u200b\u200e",
    "nul": "a\x00b\x07\x08\x7f\x0b\x0c",
    "cr": "good\rEVIL",
    "wide": "日本語のテキスト 👩‍👩‍👧‍👦 é̂̃ ﷽",
    "surrogate": "x\ud800y\ufffe",
    "format": "%s {0} {x!r} \\x1b[2J $(rm) `id`",
    "newlines": "one\ntwo\r\nthree\u2028four",
}
LONG = "A" * 1_000_000
EVERYTHING = " ".join(ATTACKS.values())

MARKERS = (
    b"\x1b]52",
    b"\x1b]0;HOSTILE",
    b"\x1b]2;HOSTILE",
    b"31337",
    b"\x1b[6n",
    b"\x1bPq",
    b"\x1b_G",
    b"\x00",
    b"\x0b",
    b"\x0c",
    b"\x08",
    b"\x7f",
    "\x9b".encode(),
    "\x9d".encode(),
    "\u202e".encode(),
    "\u2066".encode(),
    "\u200b".encode(),
    "\u200e".encode(),
    "\u2028".encode(),
)
"""Bytes that only an attack could have brought to the terminal."""


def recorder(attack: str) -> Recorder:
    """A sprint with one running task at a fix gate, one blocked, one in council; all its words are the attack."""
    rec = Recorder("007-hostile")
    spec = [
        TaskSpec(id=f"1.{at}", title=attack, description=attack, accept=(attack,), scope=(attack,), verify=(attack,))
        for at in range(1, 5)
    ]
    plan = Plan(title=attack, summary=attack, topic="x", phases=(PhaseSpec(id="1", title=attack, tasks=tuple(spec)),))
    rec.fact(ev.SprintCreated(sprint=rec.sprint, plan=plan, branch=attack, topic="x"))
    rec.fact(ev.RunStarted(run="r", pid=1, policy=rec.policy, attended=True, sandbox=attack, version="0"))
    rec.start_task("1.1", 0, 0, 3, attack)
    rec.iterate("1.1")
    call = rec.begin_call("1.1", Role.IMPLEMENTER)
    for kind in OutputKind:
        rec.say(call, kind, attack, tool=attack, path=attack)
    rec.end_call(call, 0.1, text=attack, claim="complete")
    rec.scope("1.1", (FileChange(path=attack, change="added", added=3),))
    result = CheckResult(
        name=attack[:60] or "x",
        kind=CheckKind.OWN,
        verdict=Verdict.FAIL,
        reason=attack,
        command=attack,
        failing=(attack, attack + "2"),
        findings=(Finding(rule=attack, text=attack, path=attack, line=3),),
        output=attack,
        counts=TestCounts(total=3, passed=1, failed=2),
        evidence=attack,
        source=attack,
    )
    rec.end_checks(rec.begin_checks("1.1"), (result,))
    issue = Issue(text=attack, fix=attack, alternative=attack, confidence=attack, path=attack, line=1)
    review = Review(
        approved=False,
        criteria=(Criterion(text=attack, met=False, reference=attack),),
        issues=(issue,),
        notes=(attack,),
        summary=attack,
    )
    rec.review("1.1", review)
    rec.health("1.1", Health.STALLED, attack)
    rec.decide("1.1", Decision.ESCALATE, attack, rung=1)
    rec.gate("G1", "1.1", "fix", attack, attack, attempt=1)
    rec.fact(ev.GateAsked(gate="G1", question=attack))
    rec.fact(ev.GateReplied(gate="G1", id="none", answer=attack))
    rec.start_task("1.2", 1, 0, 3, attack)
    rec.iterate("1.2")
    rec.decide("1.2", Decision.COUNCIL, attack)
    rec.fact(ev.DiagnosisGiven(id="d", task="1.2", seat=attack, text=attack))
    rec.fact(
        ev.CouncilFinished(
            id="d",
            task="1.2",
            diagnosis=Diagnosis(root_cause=attack, recommended_fix=attack, insight=attack, test_cases=(attack,)),
        )
    )
    rec.fact(ev.Noted(text=attack, level="error", hint=attack))
    rec.fact(ev.PlanChanged(plan=plan, summary=attack))
    rec.fact(ev.Steered(task="1.1", text=attack))
    rec.fact(ev.CommandHandled(command="c", name=attack, ok=False, detail=attack))
    rec.limit_wait("1.2", rec.now + 60, attack)
    diff = f"diff --git a/{attack} b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@ {attack}\n-{attack}\n+{attack}\n"
    rec.answer(GetDiff(task="1.1"), Answered(text=diff))
    line = SprintLine(id=attack, title=attack, status=attack, done=1, total=2)
    rec.answer(GetSprints(), Answered(sprints=(line,)))
    return rec


class HostileLink(LiveLink):
    """Its own words are hostile too."""

    attack = ""

    async def follow(self, after: int):  # type: ignore[no-untyped-def]
        async for item in super().follow(after):
            yield item
            if self.position >= self.length:
                yield LinkStatus(status="read_only", detail=self.attack, hint=self.attack)


def hostile(attack: str) -> HostileLink:
    link = HostileLink(recorder(attack).items, name=attack, at_end=False)
    link.attack, link.sent = attack, []
    return link


if __name__ == "__main__":  # the child of the pty test
    from tui.app.application import run_tui
    from tui.app.options import TuiOptions

    run_tui(hostile(EVERYTHING), TuiOptions(watch=False, fps=20.0))
