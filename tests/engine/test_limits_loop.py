"""What a provider's trouble does to a whole run: limits are waited for or gone around, logins are asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core import events as ev
from engine.core.activity import Countdown
from engine.core.effects import CallAgent, Wait
from engine.core.model import ResultKind
from engine.core.state import State, Status
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.skipping_clock import SkippingClock

TASK = """
- [ ] 1.{number} Write file {number}
      accept: it is there
      scope: file{number}.txt
      proof: none
      agent: {rung}
      complexity: 1
"""
REVIEW = """
[[call]]
role = "reviewer"
[call.structured]
approved = true
summary = "fine"
criteria = [{ text = "it is there", met = true, reference = "file" }]
"""
GOOD = """
[[call]]
task = "1.1"
edit = [{ path = "file1.txt", content = "one\\n" }]

[[call]]
task = "1.2"
edit = [{ path = "file2.txt", content = "two\\n" }]
"""
CONFIG = """
[task_loop]
final_review = false

[ladder]
failures = [3, 3]
fallback = {fallback}

[[ladder.rungs]]
name = "first"
agent = "scripted"
model = "m"
reserve_usd = 0.1

[[ladder.rungs]]
name = "second"
agent = "other"
model = "m"
reserve_usd = 0.1

[scripted]
scenario = ".devteam/scenario.toml"

[agents.other]
adapter = "scripted"
program = ".devteam/other.toml"

[limits]
max_wait_seconds = {max_wait}

[error_recovery]
initial_delay_seconds = 100
jitter = 0

[checks]
preset = "none"

[[checks.run]]
name = "words"
kind = "own"
command = "! grep -rq bad --include=*.txt ."

[gates]
fix = "auto"
task = "auto"
"""


def limited(seconds: float) -> str:
    """The first task meets a usage limit; the step counts as good once that is over."""
    return f'[[call]]\ntask = "1.1"\nfault = "limit"\nreset_in = {seconds}\n' + GOOD.split("[[call]]")[1].replace(
        'task = "1.1"\n', ""
    )


def troubled(fault: str, more: str = "", iteration: int = 0) -> str:
    which = f"iteration = {iteration}\n" if iteration else ""
    return f'[[call]]\ntask = "1.1"\n{which}fault = "{fault}"\n{more}\n'


class Bench:
    """A repository with two scripted agents, and what its runs said."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.folder = place / "repo"
        self.heard: list[tuple[float, object]] = []
        self.clock = SkippingClock()

    def make(
        self, scenario: str, *, rungs: tuple[str, ...] = ("first",), fallback: str = "[]", max_wait: int = 600
    ) -> None:
        head = "# Write files\n\nStatus: APPROVED\nTopic: small\n\n## Phase 1: Files\n"
        plan = head + "".join(TASK.format(number=number, rung=rung) for number, rung in enumerate(rungs, 1))
        config = CONFIG.format(fallback=fallback, max_wait=max_wait)
        small.make(self.folder, plan=plan, scenario=scenario + REVIEW, config=config)
        (self.folder / ".devteam" / "other.toml").write_text(GOOD + REVIEW)

    def play(self, scenario: str) -> None:
        (self.folder / ".devteam" / "scenario.toml").write_text(scenario + REVIEW)

    async def run(
        self, *, until: Callable[[object], bool] = lambda _message: False, attended: bool = False, lanes: int = 1
    ) -> State:
        """A run to its end; or, as a crash would leave it, to the first message that `until` is true of."""
        project, sprint = small.project_of(self.folder, self.place / "state"), small.make(self.folder)
        options = Options(attended=attended, waits=False, trust="all", lanes=lanes)
        async with Session.open(project, sprint, self.clock, options) as session:
            messages = session.bus.subscribe()
            running = asyncio.create_task(session.run())
            async for message in messages:
                self.heard.append((self.clock.now(), message))
                if until(message):
                    running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            return session.state

    def of(self, kind: type) -> list[tuple[float, object]]:
        """(when, what) of the facts or live messages of one type."""
        opened = [(at, getattr(one, "event", one)) for at, one in self.heard]
        return [(at, one) for at, one in opened if isinstance(one, kind)]

    def waits(self) -> list[Countdown]:
        return [one for _at, one in self.of(Countdown) if isinstance(one, Countdown)]

    def calls(self) -> list[tuple[float, CallAgent]]:
        begun = [(at, one.effect) for at, one in self.of(ev.EffectStarted) if isinstance(one, ev.EffectStarted)]
        return [(at, effect) for at, effect in begun if isinstance(effect, CallAgent)]

    def kinds(self, role: str = "implementer") -> list[tuple[str, ResultKind]]:
        ended = [one for _at, one in self.of(ev.AgentFinished) if isinstance(one, ev.AgentFinished)]
        return [(one.rung.agent, one.result.kind) for one in ended if one.role.value == role]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_limit_is_waited_for_with_a_countdown_and_is_not_charged(bench: Bench) -> None:
    bench.make(limited(500))
    state = await bench.run()
    assert state.outcome == "done"
    assert (state.tasks["1.1"].status, state.tasks["1.1"].iteration) == (Status.COMPLETE, 1)
    assert bench.kinds() == [("scripted", ResultKind.LIMIT), ("scripted", ResultKind.OK)]
    (countdown,) = bench.waits()
    assert countdown.reason == "scripted usage limit"
    assert countdown.task == "1.1"
    again, _call = bench.calls()[1]
    assert again >= countdown.until


async def test_the_wait_survives_a_restart(bench: Bench) -> None:
    bench.make(limited(300))
    bench.clock.ready.clear()
    await bench.run(until=lambda message: isinstance(message, Countdown))
    bench.clock.ready.set()
    (first,) = bench.waits()
    bench.heard.clear()
    bench.play(GOOD)
    state = await bench.run()
    assert state.outcome == "done"
    (second,) = bench.waits()
    assert second.until == first.until, "the reset is the announced one, not counted anew"
    called, _call = bench.calls()[0]
    assert called >= first.until
    assert state.tasks["1.1"].iteration == 1


async def test_a_limit_longer_than_allowed_ends_the_run(bench: Bench) -> None:
    bench.make(limited(3000), max_wait=60)
    state = await bench.run()
    assert state.outcome == "limit"
    assert "longer than limits.max_wait_seconds" in state.outcome_reason
    assert bench.waits() == []


async def test_another_agent_takes_over_where_the_user_allows_it(bench: Bench) -> None:
    bench.make(limited(3000), fallback='["other"]', max_wait=60)
    state = await bench.run()
    assert state.outcome == "done"
    assert bench.kinds() == [("scripted", ResultKind.LIMIT), ("other", ResultKind.OK)]
    assert state.tasks["1.1"].iteration == 1
    assert bench.waits() == []
    assert {name: used.calls for name, used in state.usage_by_rung.items()} == {"first": 1, "second": 2}


async def test_other_lanes_go_on_with_another_agent(bench: Bench) -> None:
    bench.make(limited(500), rungs=("first", "second"))
    bench.clock.ready.clear()

    def other_is_done(message: object) -> bool:
        event = getattr(message, "event", None)
        if isinstance(event, ev.Committed) and event.task == "1.2":
            bench.clock.ready.set()
        return False

    state = await bench.run(lanes=2, until=other_is_done)
    assert state.outcome == "done", state.outcome_reason
    assert bench.of(ev.EffectFailed) == [], "lanes are prepared at once and do not get into each other's way"
    (countdown,) = bench.waits()
    done = {one.task: at for at, one in bench.of(ev.Committed) if isinstance(one, ev.Committed)}
    assert done["1.2"] < countdown.until < done["1.1"]


async def test_what_a_human_must_mend_blocks_the_run_and_says_how(bench: Bench) -> None:
    bench.make(troubled("auth", 'error = "refused"\nhint = "Run `thing login`."'))
    state = await bench.run()
    assert state.outcome == "blocked"
    assert "scripted: refused" in state.outcome_reason
    assert "Run `thing login`." in state.outcome_reason
    assert bench.kinds() == [("scripted", ResultKind.AUTH)], "never tried twice"
    bench.heard.clear()
    bench.play(GOOD)
    mended = await bench.run()
    assert (mended.outcome, mended.tasks["1.1"].iteration) == ("done", 1)


async def test_a_permission_that_is_denied_again_is_named(bench: Bench) -> None:
    refused = 'error = "it was refused: Bash"\nhint = "grant it: allow = [\'Bash\']"\ndenials = ["Bash"]'
    bench.make(troubled("denied", refused))
    state = await bench.run()
    assert state.outcome == "blocked"
    assert "it was refused: Bash" in state.outcome_reason
    assert "grant it: allow = ['Bash']" in state.outcome_reason
    assert [kind for _agent, kind in bench.kinds()] == [ResultKind.DENIED] * 2
    bench.play(GOOD)
    assert (await bench.run()).outcome == "done"


async def test_an_attending_human_is_asked_at_a_gate(bench: Bench) -> None:
    bench.make(troubled("auth", 'error = "refused"\nhint = "Run `thing login`."'))
    state = await bench.run(attended=True)
    assert state.outcome == "blocked"
    (gate,) = state.open_gates()
    assert gate.kind == "blocked"
    assert "Run `thing login`." in gate.body + gate.title


async def test_retries_back_off_and_are_seen(bench: Bench) -> None:
    """A provider that is overloaded is waited for, longer each time; it is nobody's failure."""
    bench.make(troubled("overloaded", "reset_in = 250") + GOOD.split("[[call]]")[1].replace('task = "1.1"\n', ""))
    state = await bench.run()
    assert state.outcome == "done"
    assert state.tasks["1.1"].iteration == 1
    kinds = [kind for _agent, kind in bench.kinds()]
    assert len(kinds) >= 3
    assert kinds == [ResultKind.OVERLOADED] * (len(kinds) - 1) + [ResultKind.OK]
    begun = [
        one for _at, one in bench.heard if isinstance(one, ev.Envelope) and isinstance(one.event, ev.EffectStarted)
    ]
    # A wait may be gone on with for the blink between deciding on it and recording that: it is one wait.
    waits: dict[str, tuple[float, Wait]] = {}
    for one in begun:
        if isinstance(one.event.effect, Wait):
            waits.setdefault(one.event.effect.reason, (one.at, one.event.effect))
    assert list(waits) == [f"trying again after a failure (try {tries})" for tries in range(2, len(kinds) + 1)]
    pauses = [wait.until - at for at, wait in waits.values()]
    assert pauses[:2] == [pytest.approx(100, abs=40), pytest.approx(200, abs=40)]
