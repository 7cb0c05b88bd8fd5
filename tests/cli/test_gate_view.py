"""What `devteam gate` says of a fix gate: everything once, for a phone; the same as data."""

from __future__ import annotations

import json

from msgspec.structs import replace

from engine.core.model import Criterion, Issue, Review
from tests.core.story import ONE, Story, begin
from tui.cli.gate_view import gate_data, gate_lines

REVIEW = Review(
    approved=False,
    criteria=(Criterion(text="fast", met=False, reference="a.py:3"),),
    issues=(Issue(text="too slow", fix="cache it", alternative="index it", confidence="high", path="a.py", line=3),),
    notes=("a nicer name would help",),
)


def test_a_fix_gate_says_everything_and_says_it_once() -> None:
    world = begin(Story(review=[REVIEW]), ONE, attended=True)
    (gate,) = world.state.open_gates()
    asked = replace(gate, questions=(("why so slow?", "it reads the file twice"), ("and now?", "")))
    text = "\n".join(gate_lines(world.state, asked, "12:00, 3 min ago"))
    once = ["too slow", "FIX: cache it", "ALTERNATIVE: index it", "CONFIDENCE: high", "a nicer name would help"]
    assert {words: text.count(words) for words in once} == dict.fromkeys(once, 1)
    for words in (
        "open since 12:00, 3 min ago",
        "UNMET fast  a.py:3",
        "change: 1 file +1 −0",
        "check tests: PASS 3/3",
        "it reads the file twice",
        "(the answer is being written)",
        f'devteam answer {gate.id} comment "…"',
    ):
        assert words in text, words
    data = json.loads(json.dumps(gate_data(world.state, asked)))
    assert (data["open"], data["review"]["issues"][0]["fix"], data["change"][0]["path"]) == (True, "cache it", "a.py")
    assert set(data["answers"]) == {choice.value for choice in gate.choices}
    assert data["opened_at"] == gate.opened_at


def test_a_task_gate_shows_the_issues_its_own_words_do_not_have() -> None:
    remark = replace(REVIEW, approved=True, criteria=(Criterion(text="fast", met=True, reference="a.py:3"),))
    world = begin(Story(review=[remark]), ONE, attended=True)
    (gate,) = world.state.open_gates()
    text = "\n".join(gate_lines(world.state, gate, "now"))
    assert (gate.kind, text.count("ISSUE too slow"), text.count("note: a nicer name")) == ("task", 1, 1)
