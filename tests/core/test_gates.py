"""The human's gates: what may be answered, when they are forced, what auto and unattended do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.core import events as ev
from engine.core import gate_choices, gates
from engine.core.fold import apply
from engine.core.model import Criterion, Decision, Health, Issue, Review
from engine.core.policy import GatePolicy, Policy
from engine.core.state import GateState, State
from engine.core.task_state import Step
from tests.core.parts import NOW, a_state, a_task


def a_gate(kind: str = "task", **fields: object) -> GateState:
    gate = GateState(id="G1", task="1.1", kind=kind, title="?", choices=gate_choices.offered(kind), tree="t1")
    return replace(gate, **fields)


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("y", "yes"), ("a", "auto"), ("s", "skip"), ("?", "ask"), ("c", "comment"), ("r", "retry"), ("t", "stop"),
        (" YES ", "yes"), ("Auto", "auto"), ("nonsense", "unknown"),
    ],
)  # fmt: skip
def test_short_forms(typed: str, word: str) -> None:
    assert gate_choices.read(typed) == word


@pytest.mark.parametrize(
    ("gate", "tree", "choice", "text", "words"),
    [
        pytest.param(a_gate(), "t1", "yes", "", "", id="yes"),
        pytest.param(a_gate(), "t1", "skip", "", "choose one of: yes, auto, ask, comment", id="no skip at a task gate"),
        pytest.param(a_gate("fix"), "t1", "retry", "", "choose one of", id="no retry at a fix gate"),
        pytest.param(
            a_gate("blocked"),
            "t1",
            "yes",
            "",
            "choose one of: retry, skip, accept",
            id="no yes to a block",
        ),
        pytest.param(a_gate("blocked"), "t1", "retry", "", "", id="retry needs no words"),
        pytest.param(a_gate(), "t1", "comment", " ", "needs words: devteam answer G1 comment", id="an empty comment"),
        pytest.param(a_gate(), "t1", "ask", "", "needs words", id="an empty question"),
        pytest.param(a_gate(choice="yes"), "t1", "yes", "", "answered already: yes", id="answered before"),
        pytest.param(a_gate(), "t2", "yes", "", "the approval is void", id="another tree"),
        pytest.param(a_gate(), "t2", "auto", "", "the approval is void", id="another tree, auto"),
        pytest.param(a_gate("fix"), "t2", "skip", "", "the approval is void", id="overriding on another tree"),
        pytest.param(a_gate("fix"), "t2", "yes", "", "", id="yes to a fix approves nothing"),
        pytest.param(a_gate(), "t2", "comment", "no", "", id="a comment approves nothing"),
        pytest.param(a_gate("blocked"), "t2", "skip", "", "", id="skipping a task approves nothing"),
    ],
)
def test_answers_that_cannot_be_taken(gate: GateState, tree: str, choice: str, text: str, words: str) -> None:
    said = gates.problem(gate, a_task(tree=tree), choice, text)
    assert words in said
    assert bool(said) is bool(words)


def test_a_viewer_who_saw_another_tree_is_told() -> None:
    assert "look again" in gates.problem(a_gate(), a_task(tree="t1"), "yes", "", tree="t0")


@pytest.mark.parametrize(
    ("attended", "mode", "auto", "attempts", "asked"),
    [
        pytest.param(True, "gated", {}, 1, True, id="gated"),
        pytest.param(True, "auto", {}, 1, False, id="auto by config"),
        pytest.param(True, "gated", {"fix": True}, 2, False, id="auto by the human"),
        pytest.param(True, "auto", {"fix": False}, 1, True, id="auto taken back"),
        pytest.param(True, "auto", {}, 3, True, id="forced from the third attempt"),
        pytest.param(True, "auto", {"fix": True}, 4, True, id="and from then on"),
        pytest.param(True, "gated", {"task": True}, 1, True, id="the other gate's auto"),
        pytest.param(False, "gated", {}, 1, False, id="nobody attends"),
        pytest.param(False, "gated", {}, 9, False, id="nobody attends, not even forced"),
    ],
)
def test_when_the_fix_gate_is_asked(
    attended: bool, mode: str, auto: dict[str, bool], attempts: int, asked: bool
) -> None:
    task = a_task(fix_attempts=attempts)
    state = a_state(task, attended=attended, auto=auto, policy=Policy(gates=GatePolicy(fix=mode)))
    assert gates.fix_gate_needed(state, task) is asked


@pytest.mark.parametrize(("kind", "choice"), [("fix", "yes"), ("task", "yes"), ("blocked", "blocked")])
def test_unattended_answers(kind: str, choice: str) -> None:
    assert gates.unattended_answer(a_gate(kind)) == choice


REVIEW = Review(
    approved=False,
    criteria=(Criterion(text="fast", met=False),),
    issues=(Issue(text="slow", fix="cache", alternative="index", confidence="high", path="a.py", line=3),),
    notes=("nice names",),
)


def test_the_fix_gate_shows_the_analysis() -> None:
    task = a_task(review=REVIEW, fix_attempts=3, tree="t1", evidence="e1")
    gate = gates.open_fix(a_state(task), task, "G7")
    assert gate.title == "Review for Task 1.1: Do it — needs changes (attempt 3)"
    assert gate.forced
    for words in ("have not converged after 3 attempts", "ISSUE: slow (a.py:3)", "FIX: cache", "ALTERNATIVE: index"):
        assert words in gate.body
    assert "CONFIDENCE: high" in gate.body
    assert "unmet: fast" in gate.body
    assert "- nice names" in gate.body
    assert (gate.tree, gate.evidence) == ("t1", "e1")


def test_the_blocked_prompt_names_blocker_and_cure() -> None:
    task = a_task(blocker="claude: not logged in", action="claude login", claim_text="I cannot", recovery="")
    gate = gates.open_blocked(a_state(task), task, "G1")
    assert gate.body.splitlines() == ["claude: not logged in", "I cannot", "to do: claude login"]
    named = gates.name_blocker(task)
    assert named is not None
    assert (named.health, named.reason) == (Health.BLOCKED, "claude: not logged in")
    assert gates.name_blocker(replace(task, health=named.health, health_reason=named.reason)) is None


def test_a_task_gate_of_a_phase_that_is_gone_still_opens() -> None:
    task = a_task(phase=7, reason="3 of 3 checks pass")
    assert "3 of 3 checks pass" in gates.open_task(a_state(task), task, "G1").body


# ── what an answer means ───────────────────────────────────────────────────────────────────────────────────────────


def asked(kind: str, step: Step, **fields: object) -> State:
    task = a_task(step=step, gate="G1", tree="t1", **fields)
    return a_state(task, gates={"G1": a_gate(kind)}, gate_count=1)


def answer(state: State, choice: str, text: str = "") -> State:
    event = ev.GateAnswered(gate="G1", choice=choice, text=text, by="me", tree="t1")
    return apply(state, ev.Envelope(seq=1, stream="s", at=NOW, event=event))


@pytest.mark.parametrize(
    ("kind", "choice", "fields", "step"),
    [
        pytest.param("fix", "yes", {}, Step.NEXT, id="fix yes: next attempt"),
        pytest.param("fix", "auto", {}, Step.NEXT, id="fix auto"),
        pytest.param("fix", "comment", {}, Step.NEXT, id="fix comment"),
        pytest.param("fix", "skip", {}, Step.TASK_GATE, id="fix skip: proceed as it is"),
        pytest.param("task", "yes", {}, Step.COMMIT, id="task yes: commit"),
        pytest.param("task", "auto", {}, Step.COMMIT, id="task auto"),
        pytest.param("task", "comment", {}, Step.NEXT, id="task comment: a fix round"),
        pytest.param("blocked", "retry", {}, Step.NEXT, id="retry: a new iteration"),
        pytest.param("blocked", "retry", {"again": Step.CHECKS}, Step.CHECKS, id="retry: where it was"),
        pytest.param("blocked", "skip", {}, Step.END, id="skip"),
        pytest.param("blocked", "stop", {}, Step.BLOCKED_GATE, id="stop: asked again next time"),
        pytest.param("blocked", "blocked", {}, Step.BLOCKED_GATE, id="withdrawn: unattended sees to it"),
    ],
)
def test_where_an_answer_leads(kind: str, choice: str, fields: dict[str, object], step: Step) -> None:
    at = {"fix": Step.FIX_GATE, "task": Step.TASK_GATE, "blocked": Step.BLOCKED_GATE}[kind]
    state = answer(asked(kind, at, **fields), choice, "mind  the\n gap ")
    task = state.tasks["1.1"]
    assert task.step is step
    assert task.gate == ""
    assert task.comments == ("mind  the\n gap ",), "the human's words go verbatim"
    assert not state.gates["G1"].open
    assert state.auto == ({kind: True} if choice == "auto" else {})
    assert state.stopping == ("graceful" if choice == "stop" else "")


@pytest.mark.parametrize(("kind", "choice", "step"), [("task", "yes", Step.TASK_GATE), ("fix", "skip", Step.FIX_GATE)])
def test_an_approval_of_another_tree_is_void_and_the_question_put_again(kind: str, choice: str, step: Step) -> None:
    state = asked(kind, step)
    state = replace(state, tasks={"1.1": replace(state.tasks["1.1"], tree="t2")})
    task = answer(state, choice).tasks["1.1"]
    assert (task.step, task.gate, task.overridden) == (step, "", False)


def test_a_second_answer_changes_nothing() -> None:
    once = answer(asked("task", Step.TASK_GATE), "comment", "no")
    assert answer(once, "yes").tasks == once.tasks


def test_asking_changes_nothing_but_the_conversation() -> None:
    state = asked("task", Step.TASK_GATE)
    after = apply(state, ev.Envelope(seq=0, stream="s", at=NOW, event=ev.GateAsked(gate="G1", question="why?")))
    assert after.tasks == state.tasks
    assert after.gates["G1"].open
    replied = ev.GateReplied(gate="G1", id="x", answer="so")
    after = apply(after, ev.Envelope(seq=0, stream="s", at=NOW, event=replied))
    assert after.gates["G1"].questions == (("why?", "so"),)
    assert after.tasks == state.tasks


def test_a_passed_fix_gate_goes_on_as_decided_and_commits_nothing() -> None:
    state = asked("fix", Step.FIX_GATE)
    passed = ev.GatePassed(task="1.1", kind="fix", by="auto")
    after = apply(state, ev.Envelope(seq=0, stream="s", at=NOW, event=passed))
    assert after.tasks["1.1"].step is Step.NEXT


def test_a_gate_of_an_ended_task_is_withdrawn() -> None:
    ended = ev.TaskEnded(task="1.1", decision=Decision.SKIPPED, reason="skipped by you")
    state = apply(asked("fix", Step.FIX_GATE), ev.Envelope(seq=0, stream="s", at=NOW, event=ended))
    assert state.open_gates() == []
