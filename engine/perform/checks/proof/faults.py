"""What can stand against a change, as data, and how each is said."""

from __future__ import annotations

from engine.core.model import ProofVerdict, Question, Struct
from engine.perform.checks.run.measure import Case


class Fault(Struct, frozen=True, kw_only=True):
    """One thing that stands against a change, and what it makes of the verdict."""

    verdict: ProofVerdict
    """FAIL, QUESTION, UNPROVEN (something that the task speaks of was not shown) or ERROR."""
    rule: str
    text: str
    path: str = ""
    line: int = 0
    check: str = ""
    test: str = ""
    allow: str = ""
    """For a QUESTION: the entry of `allow:` that would grant it."""
    before: str = ""
    after: str = ""

    def question(self) -> Question:
        return Question(
            rule=self.rule,
            text=self.text,
            allow=self.allow,
            path=self.path,
            line=self.line,
            before=self.before,
            after=self.after,
        )


def fail(rule: str, text: str, case: Case | None = None, check: str = "") -> Fault:
    return Fault(
        verdict=ProofVerdict.FAIL,
        rule=rule,
        text=text,
        check=check,
        test=case.id if case else "",
        path=case.path if case else "",
        line=line_of(case) if case else 0,
    )


def question(rule: str, text: str, allow: str, case: Case | None = None, check: str = "") -> Fault:
    return Fault(
        verdict=ProofVerdict.QUESTION,
        rule=rule,
        text=text,
        allow=allow,
        check=check,
        test=case.id if case else "",
        path=case.path if case else "",
        line=line_of(case) if case else 0,
    )


def unproven(rule: str, text: str, *, test: str = "", path: str = "", line: int = 0) -> Fault:
    """Nothing objects, but a part was not shown. The next attempt is told; the plan may accept it by the rule."""
    told = f"{text} (show it by a test, or the plan says `accept {rule}`)"
    return Fault(
        verdict=ProofVerdict.UNPROVEN, rule=rule, text=told, allow=f"accept {rule}", test=test, path=path, line=line
    )


def error(rule: str, text: str, check: str = "") -> Fault:
    return Fault(verdict=ProofVerdict.ERROR, rule=rule, text=text, check=check)


def line_of(case: Case) -> int:
    head = case.place.partition(":")[0]
    return int(head) if head.isdigit() else 0
