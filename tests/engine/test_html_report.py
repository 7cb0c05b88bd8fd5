"""The HTML page: hostile words stay words, and what is open stands first."""

from __future__ import annotations

from html.parser import HTMLParser

from engine.core.model import CheckKind, CheckResult, Criterion, Review, TaskSpec, Verdict
from engine.core.state import Status
from engine.core.statistics import Statistics, together
from engine.html_report import page
from engine.pull_request import description
from tests.core.parts import a_state, a_task

EVIL = "<script>alert(1)</script> & \x1b[31mred\u202e"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)


def a_page() -> str:
    check = CheckResult(name=EVIL, kind=CheckKind.TESTS, verdict=Verdict.FAIL, reason=EVIL)
    spec = TaskSpec(id="1.1", title=EVIL, accept=(EVIL,))
    review = Review(approved=True, criteria=(Criterion(text=EVIL, met=True, reference=EVIL),), summary=EVIL)
    bad = a_task(spec=spec, status=Status.BLOCKED, reason=EVIL, action=EVIL, checks=(check,), review=review)
    good = a_task("1.2", status=Status.COMPLETE, commit="abc", spent_usd=1.0, started_at=1.0, ended_at=61.0)
    return page(a_state(bad, good), {"1.1": f"+{EVIL}\n-x"})


def test_hostile_words_stay_words() -> None:
    text = a_page()
    tags = Tags()
    tags.feed(text)
    assert "script" not in tags.seen and "\x1b" not in text and "\u202e" not in text
    first, rest = text.split("<h2>", 1)
    assert "blocked" in first and "1.1" in first and "abc" in rest


def test_a_pull_request_says_what_is_not_done_first() -> None:
    task = a_task(status=Status.SKIPPED, reason="skipped by you")
    assert "not done: 1.1" in description(a_state(task)).split("## Tasks")[0]


def test_statistics_add_up() -> None:
    one = Statistics(sprints=1, tasks=2, complete=1, first_pass=1, iterations=1, resolved_by={"haiku": 1}, usd=1.0)
    both = together([one, one])
    assert (both.sprints, both.complete, both.resolved_by, both.usd) == (2, 2, {"haiku": 2}, 2.0)
    assert dict(both.rows())["first-pass rate"] == "100% (2 of 2)"
