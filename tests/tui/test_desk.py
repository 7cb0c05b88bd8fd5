"""The desk and the morning after: what is asked first and why, what a key will cause, proof, hunks, batch approval."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from engine.core import events as ev
from engine.core.commands import Answer
from engine.core.evidence import EvidenceRecord, RunRecord
from engine.core.fold import fold
from engine.core.model import Decision, Issue, Proof, ProofVerdict
from engine.core.state import State, Status
from engine.core.vocabulary import Choice
from tests.patience import Deadline
from tests.tui.driving import app_on, press, settle
from tests.tui.lanes import DIFF, live_lanes, several
from tests.tui.links import LiveLink, live
from tests.tui.reading import text_of
from tui.app.application import DevteamApp
from tui.kit.diffing import parse
from tui.kit.glyphs import UNICODE
from tui.kit.hunks import Look, changed_words, hunk_lines
from tui.kit.keys import ACTIONS, key_map
from tui.kit.modes import Mode
from tui.kit.needs import NeedKind, by_need, held_up, needs
from tui.kit.paint import plain, width_of
from tui.kit.panes import PaneName
from tui.kit.view import View
from tui.kit.wording import duration, money, short_hash
from tui.panels.desk import Hunks
from tui.panels.desk_text import card_lines, consequence, proof_lines
from tui.panels.diff_text import diff_lines
from tui.panels.morning_text import morning_lines
from tui.panels.strip import StripPanel
from tui.screens.comment import CommentScreen
from tui.screens.confirm import ConfirmScreen
from tui.screens.jump import JumpScreen


def state_of(*args: int, ended: bool = False) -> State:
    return fold([item for item in several(*args, ended=ended) if isinstance(item, ev.Envelope)])


def test_what_holds_up_most_comes_first() -> None:
    state = state_of(4, 4, 9)  # two follow-ups wait for 1.1 (done), one each for the others
    order = [gate.task for gate in by_need(state, state.open_gates())]
    assert [len(held_up(state, task)) for task in order] == sorted(
        (len(held_up(state, task)) for task in order), reverse=True
    )
    cards = needs(state)
    assert [card.kind for card in cards] == [NeedKind.GATE] * 4
    assert all(card.why for card in cards)
    assert any("asked again" in card.again for card in cards)


def test_blocked_work_is_a_card_with_its_action() -> None:
    state = state_of(2)
    facts = [item for item in several(2) if isinstance(item, ev.Envelope)]
    ended = ev.TaskEnded(task="1.3", decision=Decision.BLOCKED, reason="no database", action="set DATABASE_URL")
    state = fold([*facts, ev.Envelope(seq=state.seq + 1, stream="s", at=state.now, event=ended)])
    [card] = needs(state)
    assert (card.kind, card.task, card.why, card.again) == (
        NeedKind.BLOCKED,
        "1.3",
        "no database",
        "set DATABASE_URL",
    )
    assert "set DATABASE_URL" in plain(morning_lines(View(state=state), key_map({}), 80))


def again(kind: str, **changes: object) -> str:
    """Why a gate of this kind is asked another time, of a task that stands so."""
    state = state_of(2, 2)
    gate = next(gate for gate in state.open_gates() if gate.kind == kind)
    of_gate = {name: value for name, value in changes.items() if name in ("attempt", "forced")}
    of_task = {name: value for name, value in changes.items() if name not in of_gate}
    state = replace(
        state,
        gates={**state.gates, gate.id: replace(gate, **of_gate)},
        tasks={**state.tasks, gate.task: replace(state.tasks[gate.task], **of_task)},
    )
    return next(card.again for card in needs(state) if card.gate == gate.id)


def test_why_something_is_asked_again_is_said_and_only_then() -> None:
    assert again("task", attempt=1) == "" == again("fix", attempt=1), "the first time nothing is asked again"
    assert again("fix", attempt=3) == "asked again: attempt 3, the last fix did not satisfy the review"
    assert again("fix", attempt=3, forced=True) == "asked in spite of auto: no agreement after 3 attempts"
    assert again("task", comments=("use scrypt",)) == "asked again: your comment was worked in"
    assert (
        again("task", landed=("1.1",))
        == "asked again: 1.1 was committed meanwhile, and the merged code was checked again"
    )
    assert (
        again("task", landed=("1.1",), difference="d")
        == "asked again: 1.1 was committed meanwhile, and changed this patch"
    )
    state = state_of(2, 2)
    view = View(state=state, selected="1.3", gate=state.gates["G1"], now=state.now)
    card = next(card for card in needs(state) if card.gate == "G1")
    for width in (40, 76):
        said = " ".join(plain(card_lines(view, card, width)).split())
        assert card.why in said and card.again in said, "on the card, whole"


def test_the_morning_says_everything() -> None:
    """Commits, tests before and after, criteria with proof, what waits and the action, overrides, cost, time, `L`."""
    ended = state_of(3, ended=True)
    tasks = dict(ended.tasks)
    tasks["1.4"] = replace(tasks["1.4"], status=Status.PARKED, reason="wants setup.cfg")
    tasks["1.5"] = replace(tasks["1.5"], status=Status.BLOCKED, reason="no database", action="set DATABASE_URL")
    tasks["1.1"] = replace(tasks["1.1"], override="you accepted it as it is")
    before = replace(tasks["1.1"].checks[0], counts=replace(tasks["1.1"].checks[0].counts, total=39, passed=38))
    state = replace(ended, tasks=tasks, base_results=(before,))
    for width in (80, 130, 200):
        said = " ".join(plain(morning_lines(View(state=state, now=state.now), key_map({}), width)).split())
        commits = [task for task in state.tasks.values() if task.commit]
        assert f"L land {len(commits)} commits on your branch" in said
        assert all(short_hash(task.commit) in said and task.spec.title in said for task in commits)
        assert "38 of 39 → " in said and "of 9 tasks done" in said
        accepted = sum(len(task.spec.accept) for task in state.tasks.values())
        assert f"of {accepted} met" in said and "proof: test_blank_lines_are_passed_over" in said
        assert "2 WAITING FOR YOU" in said and "to do: set DATABASE_URL" in said and "no database" in said
        others = sum(not task.ended for task in state.tasks.values())
        assert f"devteam run goes on with the {others} other tasks" in said
        assert "1 override" in said and "you accepted it as it is" in said
        assert (
            f"{money(state.spent_usd)} of $20.00" in said
            and duration(View(state=state, now=state.now).elapsed()) in said
        )
        assert f"{state.iterations} iterations, {state.calls} calls" in said
    landed = replace(state, landed=state.head or "x", head=state.head or "x")
    assert "landed: your branch has every commit" in plain(morning_lines(View(state=landed), key_map({}), 80))


@pytest.mark.parametrize(("proof", "word"), [(ProofVerdict.PROVEN, "proven"), (ProofVerdict.HARMLESS, "harmless")])
def test_a_change_with_nothing_to_show_is_never_called_proven(proof: ProofVerdict, word: str) -> None:
    """On the card of its gate and the morning after: the plan's word that there is nothing to show is no proof."""
    state = state_of(4, 4)
    gates = {gate.id: gate for gate in state.open_gates()}
    card = next(card for card in needs(state) if card.complete)
    tasks = {**state.tasks, card.task: replace(state.tasks[card.task], proof=proof)}
    shown = plain(card_lines(View(state=replace(state, tasks=tasks), gate=gates[card.gate]), card, 60))
    assert f" {word} " in shown and ("proven" in shown) == (proof is ProofVerdict.PROVEN)

    ended = state_of(3, ended=True)
    tasks = {name: replace(task, proof=proof) for name, task in ended.tasks.items()}
    commits = sum(bool(task.commit) for task in tasks.values())
    said = " ".join(plain(morning_lines(View(state=replace(ended, tasks=tasks)), key_map({}), 130)).split())
    assert (f"of {commits} commits proven: red before" in said) and (f"{commits} harmless" in said) == (
        word == "harmless"
    )
    assert ("0 of" in said.split(" commits proven")[0][-8:]) == (word == "harmless")


def test_code_has_its_colours_in_one_column_and_in_two() -> None:
    file = parse(DIFF)[0]
    for width in (80, 160):
        for wrapped in (False, True):
            lines, _ = diff_lines(View(), file, width, Look(wrapped=wrapped))
            styles = {text.strip(): words for line in lines for text, words in line if text.strip()}
            assert "code-keyword" in styles["return"] and "code-keyword" in styles["if"]
            assert any("code-string" in words for words in styles.values())
            marked = [text for line in lines for text, words in line if "underline" in words.split()]
            assert {"split", "splitlines"} <= set(marked), "and of a replaced line the words that differ"
            grounds = {words.split()[-1] for line in lines for _, words in line if " on-" in words}
            assert grounds == {"on-added-ground", "on-removed-ground"}


def test_what_yes_will_cause_names_what_it_starts_and_what_that_costs() -> None:
    state = state_of(2, 2, 4)  # 2.4 waits for 1.4
    gate = next(gate for gate in state.open_gates() if gate.task == "1.4")
    said = consequence(state, gate, Choice.YES)
    assert said.startswith("commits, starts 2.4, about $")
    fix = next(gate for gate in state.open_gates() if gate.task == "1.3")
    assert "another attempt at" in consequence(state, fix, Choice.YES)
    assert "without the reviewer's approval" in consequence(state, fix, Choice.SKIP)


def test_every_criterion_has_its_proof_or_says_that_nobody_looked() -> None:
    state = state_of(2, 2)
    view = View(state=state, selected="1.4", gate=state.gates["G2"])
    text = plain(proof_lines(view, state.gates["G2"], (), 60))
    for word in ("an empty value is refused", "test_blank_lines_are_passed_over", "failed before", "PROVEN", "tree "):
        assert word in text
    view = View(state=state, selected="1.3", gate=state.gates["G1"])
    assert "not reviewed yet" in plain(proof_lines(view, state.gates["G1"], (), 60))


@pytest.mark.parametrize("width", [50, 76])
def test_what_the_review_said_is_not_said_again_below_it(width: int) -> None:
    state = state_of(2, 2)
    task = state.tasks["1.4"]
    gate = replace(state.gates[task.gate], body="Small, and its test was red before.\nagent: it was easy")
    told = plain(proof_lines(View(state=state, selected="1.4", gate=gate, now=state.now), gate, (), width))
    said = " ".join(told.split())
    assert said.count("Small, and its test was red before.") == 1 and "agent: it was easy" in said


def test_a_proof_stands_only_under_the_criterion_whose_test_it_is() -> None:
    state = state_of(2, 2)
    task = state.tasks["1.4"]
    other = replace(task.proofs[0], name="tests/test_part.py::test_other", line=90)
    state = replace(state, tasks={**state.tasks, "1.4": replace(task, proofs=(other,))})
    view = View(state=state, selected="1.4", gate=state.gates["G2"])
    text = plain(proof_lines(view, state.gates["G2"], (), 60))
    assert text.index("PROOF") < text.index("test_other"), "a test of the same file proves another criterion"


@pytest.mark.parametrize("width", [42, 60, 100])
def test_of_what_speaks_for_a_change_nothing_is_cut(width: int) -> None:
    """Names of tests, what failed before, and the reason: the pane scrolls, so there is room for all of it."""
    name = "tests/test_part.py::test_negative_amounts_keep_their_sign_whatever_their_length"
    red = "AttributeError: module 'tally.money' has no attribute 'format_amount' that could be called with cents"
    state = state_of(4, 2)
    task = replace(
        state.tasks["1.6"],
        proofs=(Proof(kind="new", name=name, check="tests", path="tests/test_part.py", red=red, boundary="holds"),),
        proof_reason=f"red → green: {name} and 1 more",
    )
    state = replace(state, tasks={**state.tasks, "1.6": task})
    view = View(state=state, now=state.now, selected="1.6")
    lines = proof_lines(view, state.gates["G2"], (), width)
    assert all(width_of(line) <= width for line in lines)
    told = "".join(plain(lines).split())
    assert "…" not in told
    assert "".join(red.split()) in told and told.count("whatever_their_length") == 2


@pytest.mark.parametrize(
    ("run", "failing", "sign"),
    [
        ("R1", (), "✔"),
        ("R1", ("t",), "✘"),
        ("R3", ("t",), "✔"),
        ("R3", (), "·"),
        ("R0", ("t",), "·"),
        ("neighbours", ("t",), "·"),
        ("verify", ("t",), "✘"),
    ],
)
def test_a_run_has_the_sign_of_what_it_means(run: str, failing: tuple[str, ...], sign: str) -> None:
    """A new test that fails on the old code is as it must be; runs that decide nothing alarm nobody."""
    state = state_of(4, 2)
    task = state.tasks["1.6"]
    record = RunRecord(
        run=run,
        check="tests",
        room="a" * 40,
        command=(),
        ended="exited",
        tests=5,
        passed=5 - len(failing),
        failing=failing,
    )
    evidence = EvidenceRecord(task="1.6", iteration=2, hash="h", tree=task.tree, results=(), runs=(record,))
    told = plain(proof_lines(View(state=state, now=state.now, selected="1.6"), state.gates["G2"], (evidence,), 60))
    row = next(line for line in told.split("\n") if f"{sign} {run}" in line)
    assert f"{5 - len(failing)}/5 pass" in row


def test_issues_are_pinned_at_their_lines() -> None:
    files = parse(DIFF)
    issue = Issue(text="passed over silently", path="src/app/part.py", line=15, fix="raise")
    lines, hunks = hunk_lines(files, (issue,), 80, UNICODE, Look())
    rows = plain(lines).split("\n")
    at = next(number for number, row in enumerate(rows) if "passed over silently" in row)
    assert rows[at - 1].lstrip().startswith("15 +")
    assert [(hunk.path, hunk.number) for hunk in hunks] == [
        ("src/app/part.py", 1),
        ("src/app/part.py", 2),
        ("tests/test_part.py", 3),
    ]
    assert all(width_of(line) <= 80 for line in lines)
    elsewhere = Issue(text="not in the diff", path="src/app/part.py", line=900)
    assert "not in the diff" in plain(hunk_lines(files, (elsewhere,), 80, UNICODE, Look())[0])


def test_long_lines_are_cut_moved_or_wrapped_and_never_lost() -> None:
    text = "x = " + "a" * 150 + "END"
    files = parse(f"diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n+{text}\n")
    cut = plain(hunk_lines(files, (), 60, UNICODE, Look())[0])
    assert "…" in cut
    assert "END" not in cut
    assert "END" in plain(hunk_lines(files, (), 60, UNICODE, Look(left=112))[0])
    wrapped = plain(hunk_lines(files, (), 60, UNICODE, Look(wrapped=True))[0])
    assert "END" in wrapped
    assert "…" not in wrapped


def test_only_the_words_that_differ_are_marked() -> None:
    old, new = changed_words("rows = text.split(x)", "rows = text.splitlines(x)")
    assert [("rows = text.split(x)"[a:b]) for a, b in old] == ["split"]
    assert [("rows = text.splitlines(x)"[a:b]) for a, b in new] == ["splitlines"]
    assert changed_words("alpha beta", "1 2 3 4 5 6") == ((), ())


async def test_proven_gates_are_approved_together_and_no_other() -> None:
    link = live_lanes(4, gates=4)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "Y")
        assert isinstance(app.screen, ConfirmScreen)
        await press(pilot, "escape")
        assert link.sent == []
        await press(pilot, "Y", "Y")
        assert sorted(sent.gate for sent in link.sent if isinstance(sent, Answer)) == ["G2", "G4"]


async def test_a_comment_cites_the_hunk_in_sight_and_a_draft_is_kept() -> None:
    link = live_lanes(4, gates=1)
    app = app_on(link)
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        await press(pilot, "tab", "tab", "tab")
        app.screen.desk.hunks.focus()
        await press(pilot, "n", "c")
        assert isinstance(app.screen, CommentScreen)
        text = app.screen.query_one("TextArea").text
        assert text.startswith("src/app/part.py:")
        await press(pilot, *"why", "escape", "c")
        assert app.screen.query_one("TextArea").text.endswith("why")


async def test_keys_of_the_change_take_no_key_of_the_gate() -> None:
    """`u` replans a blocked task, also while its change has the keys; the registry's key wraps, here as in the diff."""
    link = live_lanes(4, gates=1)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        hunks = app.screen.desk.hunks
        hunks.focus()
        await press(pilot, "W")
        assert hunks.look.wrapped and "wrapped, W: cut" in str(hunks.border_subtitle)
        await press(pilot, "W", "u", "J")
        assert not hunks.look.wrapped
        assert isinstance(app.screen, JumpScreen), "as everywhere else"
        own = {key for binding in Hunks.BINDINGS for key in binding.key.split(",")}
        assert not own & {key for action in ACTIONS for key in action.keys.split(",")}


async def test_the_morning_is_drawn_whenever_it_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the end no clock ticks: if nobody drew it once it is laid out it would stay empty."""
    app = app_on(live_lanes(3, ended=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "h")
        assert app.screen.mode is Mode.FLIGHT
        app.screen.morning.set_lines([])
        early: list[object] = []
        monkeypatch.setattr(app.screen, "call_after_refresh", early.append)  # as if it were called before the layout
        app.act("desk")
        assert early and app.screen.mode is Mode.MORNING
        deadline = Deadline(20)
        while "tasks done" not in app.screen.morning.text():
            assert not deadline.over(), "an empty morning"
            await pilot.pause()


async def test_the_mode_follows_the_situation_and_the_key() -> None:
    link = live_lanes(2)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert app.screen.mode is Mode.FLIGHT
        link.more(ev.GateOpened(gate="G9", task="1.3", kind="task", title="x", choices=("yes", "comment")))
        await settle(pilot)
        assert app.screen.mode is Mode.DESK
        await press(pilot, "h")
        assert app.screen.mode is Mode.FLIGHT
        await press(pilot, "h")
        assert app.screen.mode is Mode.DESK
        link.more(ev.GateAnswered(gate="G9", choice="yes", by="phone"))
        await settle(pilot)
        assert app.screen.mode is Mode.FLIGHT
        link.more(ev.RunEnded(run="r1", outcome="stopped", reason="by you"))
        await settle(pilot)
        assert app.screen.mode is Mode.MORNING
        for said, mode in (("h flight strip", Mode.FLIGHT), ("h result", Mode.MORNING)):
            assert said in text_of(app)[-1]
            await press(pilot, "h")
            assert app.screen.mode is mode, "the key does what the footer calls it"


async def test_the_desk_of_an_ended_run_has_a_card_chosen() -> None:
    link = live_lanes(3, ended=True)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        link.more(ev.TaskEnded(task="2.1", decision=Decision.BLOCKED, reason="depends on 1.1", action="retry 1.1"))
        await settle(pilot)
        assert app.screen.mode is Mode.MORNING and app.view.selected != "2.1" and "h 1 waiting" in text_of(app)[-1]
        await press(pilot, "h")
        assert app.screen.mode is Mode.DESK and app.view.selected == "2.1"
        assert any("▌■ blocked 2.1" in row for row in text_of(app))


async def test_output_of_every_task_can_be_read_after_reopening() -> None:
    link = live_lanes(3, ended=True)
    link.seek_item(link.length)  # as a sprint that is opened again: everything lies in the logs
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await press(pilot, "1")
        for task in ("1.1", "1.3", "1.5"):
            app.choose(task)
            for _ in range(20):
                await settle(pilot)
                if f"(T{task})" in app.screen.output().lines.whole_text():
                    break
            assert f"(T{task})" in app.screen.output().lines.whole_text()


async def looking_back(pilot: Any) -> DevteamApp:
    for _ in range(100):
        await pilot.pause(0.02)
        if pilot.app.replaying:
            break
    assert pilot.app.screen.NAME == "replay"
    await settle(pilot)
    return pilot.app


async def test_a_live_run_can_be_looked_back_at_anywhere() -> None:
    """By keys and by a click on the time; the axis stands still, the run goes on, and its gates are told."""
    link = live_lanes(2)
    app = app_on(link)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        live_seq, now = app.feed.state.seq, app.view.now
        strip = app.screen.query_one(StripPanel)
        plan = strip._layout()
        assert plan is not None
        third = plan.track.cell(now) // 3
        await pilot.click(strip, offset=(plan.label + 3 + third, len(strip.lines)))  # the row of the time
        await looking_back(pilot)
        assert app.view.now == pytest.approx(plan.track.time_at(third), rel=0, abs=0.01)
        assert app.feed.state.seq < live_seq
        seen = [app.view.now]
        for key in ("left", "right", "right", "shift+right"):  # also over stretches in which nothing happened
            await press(pilot, key)
            seen.append(app.view.now)
        assert seen[1] < seen[0] < seen[3] < seen[4] < now
        assert seen[1] < seen[2] < seen[3]
        strip = app.screen.query_one(StripPanel)
        assert len([leg for lane in strip.flight.lanes.values() for leg in lane.legs]) == len(
            [leg for lane in app._live_feed.flight.lanes.values() for leg in lane.legs]  # type: ignore[union-attr]
        ), "no hole, wherever one goes"
        assert "esc: back to live" in plain(app.screen.query_one("#header").lines)
        link.more(ev.GateOpened(gate="G9", task="1.3", kind="task", title="t", choices=("yes",)))
        for _ in range(50):
            await pilot.pause(0.02)
            app.frame()
            if "1 gate waiting for you" in plain(app.screen.query_one("#header").lines):
                break
        assert "1 gate waiting for you in the live run" in plain(app.screen.query_one("#header").lines)
        await press(pilot, "escape")
        assert app.screen.NAME == "dashboard"
        assert app.feed.state.seq > live_seq


async def test_the_demo_waits_while_somebody_types() -> None:
    app = app_on(live("fix_gate"), patience=30.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app._now = lambda: app.gates.current.opened_at + 100.0  # type: ignore[method-assign, union-attr]
        app.options.clock.now += 12.0  # type: ignore[attr-defined]
        await pilot.press("down")
        app.options.clock.now += 12.0  # type: ignore[attr-defined]
        app.redraw()
        app.frame()
        assert app.quiet() == 12.0
        assert app.answers_in() == 18.0
        assert "the demo answers in 18 s" in plain(app.screen.query_one("#gate-title").lines)
        for key in ("c", "d", "i"):  # writing; reading the change, a report
            await press(pilot, key)
            app.options.clock.now += 500.0  # type: ignore[attr-defined]
            assert app.quiet() == 0.0, key
            assert app.answers_in() == 30.0, "it does not run down"
            await press(pilot, "escape")
        app.options.clock.now += 500.0  # type: ignore[attr-defined]
        assert app.answers_in() == 0.0, "nobody is there any more"


@pytest.mark.parametrize("keys", [(), ("escape",), ("tab",)], ids=["none", "escape", "tab"])
async def test_the_keys_are_where_a_gate_is_shown_whoever_came_first(keys: tuple[str, ...]) -> None:
    """A dashboard that was there before the gate, and one that is opened at it."""
    items = several(1, 1)
    at = next(n for n, one in enumerate(items) if isinstance(getattr(one, "event", None), ev.GateOpened))
    link = LiveLink(items[:1], name="several", at_end=False)
    app = app_on(link)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert app.screen.focused_pane() is PaneName.TASKS  # type: ignore[attr-defined]
        app.screen.set_focus(None)
        await press(pilot, *keys)
        link.more(*(one.event for one in items[1 : at + 1] if isinstance(one, ev.Envelope)))
        await settle(pilot)
        assert app.focused is app.screen.desk.queue  # type: ignore[attr-defined]
