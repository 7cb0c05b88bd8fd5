"""A world that goes well but for the surprises a test names, in the order in which they come."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from engine.core import effects as ef
from engine.core import events as ev
from engine.core.commands import Answer, AnyCommand
from engine.core.model import AgentResult, CheckResult, FileChange, Finding, ResultKind, Review, Role, TaskSpec, Verdict
from engine.core.orders import obey
from engine.core.policy import LadderPolicy, Policy
from engine.core.state import State, Status
from tests.core.parts import RUNGS
from tests.core.world import World, checks, failing, happy, ok, outcome, plan_of

Surprise = AgentResult | CheckResult | Finding | Review | dict[str, object] | Callable[..., list[ev.AnyEvent]] | None
"""None: this time all goes well."""


class Story:
    """Surprises by place: implement, scope, checks, review, council, synthesis, answer, commit, baseline, final …"""

    def __init__(self, only: str = "", **surprises: list[Surprise]) -> None:
        self.only = only
        self.surprises = surprises

    def __call__(self, world: World, effect: ef.AnyEffect) -> list[ev.AnyEvent]:
        waiting = self.surprises.get(place(effect), [])
        if not waiting or (self.only and effect.task not in (self.only, "")):
            return happy(world, effect)
        surprise = waiting.pop(0)
        return happy(world, effect) if surprise is None else self._tell(world, effect, surprise)

    def _tell(self, world: World, effect: ef.AnyEffect, surprise: Surprise) -> list[ev.AnyEvent]:
        match surprise, effect:
            case AgentResult(), ef.CallAgent():
                return [outcome(effect, surprise)]
            case Review(), ef.CallAgent():
                said = ev.ReviewFinished(id=effect.id, task=effect.task, tree=effect.tree, review=surprise)
                return [outcome(effect, ok()), said]
            case CheckResult(), ef.RunChecks():
                return [checks(effect, surprise)]
            case Finding(), ef.RunChecks():
                return [checks(effect, failing("x"), findings=(surprise,))]
            case dict(), _:
                return [replace(happy(world, effect)[0], **surprise)]
            case _ if callable(surprise):
                return surprise(effect)
        raise AssertionError((surprise, effect))


def place(effect: ef.AnyEffect) -> str:
    match effect:
        case ef.CallAgent():
            names = {Role.IMPLEMENTER: "implement", Role.REVIEWER: "review", Role.ANSWERER: "answer"}
            names |= {Role.COUNCILLOR: "council", Role.SYNTHESIST: "synthesis", Role.SCOPE_JUDGE: "scope_judge"}
            names |= {Role.SPRINT_REVIEWER: "final_review"}
            return names[effect.role]
        case ef.RunChecks():
            return "checks" if effect.purpose == "task" else effect.purpose
        case ef.CheckScope():
            return "scope"
        case ef.Commit():
            return "commit"
        case ef.PrepareWorkspace():
            return "workspace" if effect.task else "sprint_workspace"
        case _:
            return str(effect.__struct_config__.tag)


ONE = TaskSpec(id="1.1", title="One", accept=("fast",), agent="haiku", complexity=0)


def task(name: str, *depends: str, **fields: object) -> TaskSpec:
    return replace(ONE, id=name, title=f"Task {name}", depends_on=depends, **fields)


POLICY = Policy(ladder=LadderPolicy(rungs=RUNGS), stuck_detection=False)


def begin(
    story: Story,
    *tasks: TaskSpec,
    policy: Policy = POLICY,
    attended: bool = False,
    waits: bool = True,
    phases: int = 1,
    **more: object,
) -> World:
    world = World(story).begin(
        plan_of(*(tasks or (ONE,)), phases=phases), policy, attended=attended, waits=waits, **more
    )
    world.run()
    return world


def order(world: World, command: AnyCommand) -> State:
    """The human says something, and the sprint goes on as far as it can."""
    outcome_ = obey(world.state, command)
    assert outcome_.ok, outcome_.detail
    world.append(*outcome_.events)
    return world.run()


def answer(world: World, choice: str, text: str = "") -> State:
    """An answer to the one open gate."""
    (gate,) = world.state.open_gates()
    return order(world, Answer(gate=gate.id, choice=choice, text=text))


def again(world: World, **more: object) -> State:
    """A new run of the same sprint, after the last one ended or was killed."""
    for effect in list(world.state.inflight):
        world.append(ev.EffectInterrupted(id=effect, reason="killed"))
    world.begin(plan_of(), world.state.policy, attended=bool(more.pop("attended", False)), **more)  # type: ignore[arg-type]
    return world.run()


def the_gate(world: World) -> str:
    return ", ".join(gate.kind for gate in world.state.open_gates())


def status(world: World, name: str = "1.1") -> Status:
    return world.state.tasks[name].status


def red(number: int = 0, passed: int = 3) -> CheckResult:
    """A failure of its own, so that nothing repeats."""
    return failing(f"test_{number}", passed=passed)


def reds(count: int) -> list[Surprise]:
    return [red(number) for number in range(count)]


def bad(kind: ResultKind, **fields: object) -> AgentResult:
    return replace(AgentResult(kind=kind, error=f"it said {kind.value}"), **fields)


def said_blocked(text: str = "no access to the database") -> AgentResult:
    return ok(claim="blocked", claim_text=text)


OUT_OF_SCOPE: dict[str, object] = {"verdict": Verdict.FAIL, "reverted": ("other.py",), "changes": ()}
NO_CHANGE: dict[str, object] = {"attempt_changes": (), "changes": (FileChange(path="a.py", change="modified"),)}


def effects_of(world: World, kind: type[ef.AnyEffect]) -> list[ef.AnyEffect]:
    return [effect for effect in world.started if isinstance(effect, kind)]


def facts(world: World, kind: type[ev.AnyEvent]) -> list[ev.AnyEvent]:
    return [entry.event for entry in world.log if isinstance(entry.event, kind)]
