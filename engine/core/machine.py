"""The machine's faults: the run is suspended in a named state and goes on by itself. No task is touched."""

from __future__ import annotations

from msgspec.structs import replace

from engine.core import events as ev
from engine.core.admission import Turn
from engine.core.effects import Probe
from engine.core.model import Health, MachineFault
from engine.core.state import State
from engine.core.vocabulary import Outcome

LONGEST = 60.0
"""Seconds between two probes, at most."""

CURES = {
    MachineFault.DISK_FULL: "free some space, or raise the quota (df -h, df -i)",
    MachineFault.NO_MEMORY: "end what takes the memory (free -h)",
    MachineFault.NO_PROCESSES: "end processes, or raise the limit (ulimit -u, systemctl TasksMax)",
    MachineFault.NO_DESCRIPTORS: "close files, or raise the limit (ulimit -n)",
    MachineFault.STORE_FAULT: "look at the disk (dmesg, mount): it fails or became read-only",
    MachineFault.BRANCH_LOST: "bring the sprint branch back: git branch NAME COMMIT (devteam log names its commits)",
    MachineFault.REPO_MOVED: "the repository is not where it was: bring it back, or start devteam where it is now",
    MachineFault.GIT_LOCKED: "end the other git; if none runs any more, remove the lock file it left",
}
"""What a human may do; the run goes on by itself once it is done."""


def suspend(state: State, fault: MachineFault, message: str, cure: str = "") -> State:
    """A fault was met. The one met first keeps its words until it is over. `cure`: what to do, where more is known."""
    if state.suspended is not None:
        return state
    said = f"{fault.value}: {message}; {cure or CURES[fault]}"
    return replace(
        state,
        suspended=fault,
        suspended_reason=said,
        suspended_since=state.now,
        probes=0,
        sprint_not_before=state.now + 1.0,
        health=Health.BLOCKED,
        health_reason=said,
    )


def probed(state: State, event: ev.MachineProbed) -> State:
    if state.suspended is None:
        return state
    if event.ok:
        said = f"went on after {event.fault.value}"
        return replace(
            state,
            suspended=None,
            suspended_reason="",
            probes=0,
            sprint_not_before=0.0,
            health=Health.PROGRESSING,
            health_reason=said,
        )
    pause = min(LONGEST, 2.0 ** min(state.probes + 1, 10))
    return replace(state, probes=state.probes + 1, sprint_not_before=state.now + pause)


def wait_it_out(turn: Turn, fault: MachineFault) -> None:
    """Probe, or end the run resumably when it has waited as long as for any other limit."""
    state = turn.state
    if state.now - state.suspended_since > state.policy.limits.max_wait_seconds:
        if not state.working():
            turn.finish(Outcome.LIMIT, f"{state.suspended_reason}. Then: devteam run goes on where it left off")
        return
    if turn.sprint_free(Probe):
        turn.do(Probe(id=turn.name("sprint", "probe"), fault=fault))
