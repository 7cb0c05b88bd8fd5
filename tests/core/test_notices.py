"""Which facts are news, of which kind, and when it is quiet."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.effects import Wait
from engine.core.fold import fold
from engine.core.model import Decision, MachineFault, Question
from engine.core.notices import NoticeKind, notice_of, quiet_for, together
from engine.core.state import Breaker, State
from engine.core.vocabulary import Choice, GateKind, Outcome
from tests.core.parts import a_state, a_task

STATE: State = replace(
    a_state(a_task()), sprint="001-x", limits={"claude": 500.0}, breakers={"codex": Breaker(failures=5, opened_at=90.0)}
)


def a_gate(kind: GateKind) -> ev.GateOpened:
    return ev.GateOpened(gate="G1", task="1.1", kind=kind, title="look", choices=(Choice.YES,))


def a_wait(dependency: str, until: float = 160.0) -> ev.EffectStarted:
    return ev.EffectStarted(effect=Wait(id="w", until=until, reason="because", dependency=dependency))


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (a_gate(GateKind.FIX), "gate"),
        (a_gate(GateKind.QUESTION), "question"),
        (a_gate(GateKind.PERMISSION), "question"),
        (a_gate(GateKind.BLOCKED), "blocked"),
        (ev.TaskEnded(task="1.1", decision=Decision.BLOCKED, reason="a key"), "blocked"),
        (ev.TaskEnded(task="1.1", decision=Decision.BUDGET_EXHAUSTED, reason="$"), "budget"),
        (ev.TaskEnded(task="1.1", decision=Decision.COMPLETE, reason=""), None),
        (ev.BudgetWarned(scope="session", spent_usd=8.0, limit_usd=10.0), "budget"),
        (a_wait("claude", until=500.0), "limit"),
        (a_wait("calls"), "limit"),
        (a_wait("codex"), "breaker"),
        (a_wait(""), None),
        *(
            (ev.RunEnded(run="r", outcome=Outcome(word), reason="x"), kind)
            for word, kind in (
                ("done", "done"),
                ("blocked", "blocked"),
                ("limit", "limit"),
                ("failed", "ended"),
                ("stopped", "ended"),
            )
        ),
    ],
)
def test_kinds(event: ev.AnyEvent, kind: str | None) -> None:
    found = notice_of(ev.Envelope(seq=1, stream="s", at=100.0, event=event), STATE)
    assert (found.kind.value if found else None) == kind
    assert found is None or (found.message and found.sprint == "001-x" and found.at == 100.0)


def test_a_run_that_the_machine_suspends_is_told_once_and_not_for_a_moment() -> None:
    """A disk that is full all night needs somebody; one that is full for a second does not."""
    begun = ev.EffectStarted(effect=Wait(id="e", until=1.0, reason="because"))
    failed = ev.EffectFailed(id="e", kind="recoverable", message="no room", fault=MachineFault.DISK_FULL)
    looks = [ev.MachineProbed(id=f"p{number}", fault=MachineFault.DISK_FULL, ok=False) for number in range(3)]
    state, told = STATE, []
    for seq, event in enumerate((begun, failed, *looks), start=1):
        envelope = ev.Envelope(seq=seq, stream="s", at=100.0 + seq, event=event)
        state = fold([envelope], state)
        told.append(notice_of(envelope, state))
    assert [one.kind if one else None for one in told] == [None, None, NoticeKind.BLOCKED, None, None]
    assert told[2] is not None and "DISK_FULL: no room" in told[2].message and "free" in told[2].message


def test_a_parked_question_is_a_question() -> None:
    task = a_task(questions=(Question(rule="r", text="may it?", allow="x"),))
    state = replace(a_state(task), sprint="001-x")
    ended = ev.TaskEnded(task=task.id, decision=Decision.BLOCKED, reason="waits")
    found = notice_of(ev.Envelope(seq=1, stream="s", at=1.0, event=ended), state)
    assert found is not None and found.kind is NoticeKind.QUESTION


@pytest.mark.parametrize(
    ("hours", "clock", "offset", "seconds"),
    [
        ("", "03:00", 0, 0),
        ("22:00-07:00", "21:59", 0, 0),
        ("22:00-07:00", "22:00", 0, 9 * 3600),
        ("22:00-07:00", "03:00", 0, 4 * 3600),
        ("22:00-07:00", "07:00", 0, 0),
        ("22:00-07:00", "21:00", 2 * 3600, 8 * 3600),
        ("12:00-13:30", "12:30", 0, 3600),
        ("12:00-13:30", "14:00", 0, 0),
        ("08:00-08:00", "08:00", 0, 0),
    ],
)
def test_quiet_hours(hours: str, clock: str, offset: float, seconds: float) -> None:
    hour, minute = map(int, clock.split(":"))
    assert quiet_for(hours, 86_400.0 * 20_000 + hour * 3600 + minute * 60, offset) == seconds


def test_what_was_kept_is_told_together() -> None:
    one = notice_of(ev.Envelope(seq=1, stream="s", at=1.0, event=a_gate(GateKind.FIX)), STATE)
    two = notice_of(
        ev.Envelope(seq=2, stream="s", at=2.0, event=ev.RunEnded(run="r", outcome=Outcome.DONE, reason="all")), STATE
    )
    assert one and two
    assert together((one,)) == one
    both = together((one, two))
    assert both.kind is NoticeKind.DONE and "2 things" in both.message and "G1: look" in both.message
