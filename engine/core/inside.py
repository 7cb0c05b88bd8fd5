"""Work by a session of the user's own agent, behind its stop hook: may the hook keep it going, and what does it say?

The session edits the user's checkout; the engine judges it by the checks of the sprint, as any other attempt. Here are
only the bounds: nobody is kept for ever, and nothing but a sprint that is done is called complete.
"""

from __future__ import annotations

from msgspec.structs import replace

from engine.core.model import Struct
from engine.core.state import State
from engine.core.vocabulary import Outcome

BLOCKS = 8
"""Claude Code ends a turn by itself at the ninth block in a row, without a word of ours: we end it at the eighth."""
ITERATIONS = 50
FAILURES = 5
UNCHANGED = 2
"""Stops in a row without any change to the files: the session waits for somebody, not for us."""
HERE = (
    "You work in the user's own checkout: what you change outside the task's scope is not put back there, undo it "
    "yourself. This is what is to be done next, and what was measured of your work:"
)
LONGEST = 9_000
"""Characters of a reason: the session's context is the user's."""


class Marker(Struct, frozen=True, kw_only=True):
    """Autonomous mode is on: `.devteam/autonomous-mode`. Deleting the file turns it off."""

    sprint: str
    session: str = ""
    """Whose turn ends are ours; empty: of the first session that stops here."""
    attended: bool = False
    """Gates are put to the user, and the session stops at them."""
    max_iterations: int = ITERATIONS
    max_failures: int = FAILURES
    blocks: int = 0
    """In a row, since the user spoke last."""
    iterations: int = 0
    failures: int = 0
    """Judged and not complete, one after another, without a task finished between them."""
    done: int = 0
    """Tasks that had ended when it was last judged."""
    tree: str = ""
    """The files as they were judged last."""
    unchanged: int = 0
    asked: str = ""
    """What the session was last told to do."""


class Stopping(Struct, frozen=True, kw_only=True):
    """The end of a session's turn, as the hook was told of it."""

    session: str
    again: bool
    """The session is going on because of this hook already (`stop_hook_active`)."""
    text: str = ""
    stuck: bool = False
    """It says that it is blocked or has failed: judged even where no file has changed."""
    cap: int = BLOCKS


class Reply(Struct, frozen=True, kw_only=True):
    """What the hook answers. `block`: the session goes on, and is told `words`; else it ends, and the user is."""

    block: bool
    words: str
    marker: Marker | None
    """As it is from now on; None: autonomous mode is over."""


def heard(marker: Marker, stop: Stopping) -> Marker | None:
    """The marker with this stop counted; None when it is another session's."""
    if marker.session and marker.session != stop.session:
        return None
    return replace(marker, session=stop.session, blocks=marker.blocks if stop.again else 0)


def held_back(marker: Marker, stop: Stopping, tree: str) -> Reply | None:
    """Before anything is judged: the reasons to let the session end, or to repeat what it was told."""
    if marker.iterations >= marker.max_iterations:
        return _ended(marker, f"the most iterations ({marker.max_iterations}) are used up")
    if marker.failures >= marker.max_failures:
        said = f"the circuit breaker is open: {marker.failures} judgements in a row without a task finished"
        return _ended(marker, said)
    if marker.blocks >= stop.cap:
        said = f"it was kept going {marker.blocks} times in a row, the most that is allowed"
        return _ended(marker, said, "type anything to go on")
    if tree and tree == marker.tree and marker.asked and not stop.stuck:
        if marker.unchanged + 1 >= UNCHANGED:
            said = "no file has changed since the last judgement"
            return _ended(replace(marker, unchanged=0), said, "answer it, or type anything to go on")
        again = f"No file has changed since you were told this, so nothing was judged anew:\n\n{marker.asked}"
        return _kept(replace(marker, unchanged=marker.unchanged + 1), again)
    return None


def judged(marker: Marker, state: State, asked: str, tree: str) -> Reply:
    """After the engine has judged the work. `asked`: what it needs the session for next; empty: nothing."""
    done = sum(task.ended for task in state.tasks.values())
    failures = 0 if done > marker.done else marker.failures + 1
    now = replace(marker, done=done, failures=failures, tree=tree, unchanged=0, asked=asked)
    if asked:
        now = replace(now, iterations=marker.iterations + 1)
        if now.failures >= now.max_failures:
            said = f"the circuit breaker is open: {now.failures} judgements in a row without a task finished"
            return _ended(now, said)
        complete, total = state.progress()
        return _kept(now, f"devteam: {complete} of {total} tasks are complete. {HERE}\n\n{asked}")
    if state.outcome is Outcome.DONE:
        complete, total = state.progress()
        words = f"{complete} of {total} tasks are complete and verified on {state.branch}; devteam land takes them over"
        return Reply(block=False, words=f"devteam: {words}", marker=None)
    return _ended(now, f"{state.outcome or 'stopped'}: {state.outcome_reason or 'it is not done'}", waits(state))


def unreadable(why: str) -> str:
    """Said when the state cannot be read: the session may end, and nothing is called complete."""
    return f"devteam cannot tell how far the work is, so it is NOT called complete: {why}"


def waits(state: State) -> str:
    """What the user may type next."""
    gates = state.open_gates()
    if gates:
        return "; ".join(f"devteam answer {gate.id} {'|'.join(gate.choices)}" for gate in gates[:3])
    return "devteam status shows what is left"


def _kept(marker: Marker, words: str) -> Reply:
    if len(words) > LONGEST:  # the task stands first, how to end last
        half = LONGEST // 2
        words = f"{words[:half]}\n\n[… {len(words) - 2 * half} characters left out …]\n\n{words[-half:]}"
    return Reply(block=True, words=words, marker=replace(marker, blocks=marker.blocks + 1))


def _ended(
    marker: Marker, why: str, then: str = "devteam status shows what is left; /devteam:implement goes on"
) -> Reply:
    return Reply(block=False, words=f"devteam: the sprint is not complete; {why}. {then}", marker=marker)
