"""What can be done here and now, what comes first, what it is called: for footer and palette. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.model import Struct
from engine.core.state import Status
from tui.kit.jumps import Jump, next_task
from tui.kit.keys import ACTIONS, BY_NAME, GATE_CHOICES, Action
from tui.kit.needs import needs
from tui.kit.view import View

MODES = ("flight", "desk", "morning")


class Situation(Struct, frozen=True, kw_only=True):
    """What decides it: what is looked at, on which page, and what that page can do by itself."""

    view: View
    page: str
    mode: str = ""
    """Of the dashboard."""
    own: frozenset[str] = frozenset()
    """Actions that the page does in a way of its own."""
    text: bool = False
    """The page has text to copy and save."""
    restarts: bool = False
    """A lost engine can be started again from here."""
    deep: bool = False
    """There is a page below this one."""


FIRST: Mapping[str, tuple[str, ...]] = {
    "flight": ("next_pane", "desk", "follow", "iterations", "evidence", "diff", "search", "zoom"),
    "desk": ("next_pane", "approve_all", "diff", "evidence", "iterations", "match_next", "desk", "questions"),
    "morning": ("land", "retry_task", "desk", "iterations", "evidence", "diff", "cost", "stats", "sprints"),
    "diff": ("back", "match_next", "wrap", "context", "zoom", "search", "next_pane"),
    "log": ("back", "search", "follow"),
    "sprints": ("back", "search", "replay", "request"),
    "questions": ("back", "search"),
    "replay": ("pause", "next_pane", "back"),
    "welcome": ("request", "sprints", "settings"),
}
"""What is likely wanted, by page or mode; then the rest in the order of the registry."""
LAST = ("palette", "help", "quit")


def works(here: Situation, name: str) -> bool:
    """Whether an action does anything in this situation."""
    view, state, task = here.view, here.view.state, here.view.task
    live = state.running and not view.replaying
    if name in GATE_CHOICES:
        return view.gate is not None and GATE_CHOICES[name] in view.gate.choices
    if here.page == "welcome":
        return name in (*FIRST["welcome"], *LAST, "repaint", "screenshot", "stats", "learnings")
    match name:
        case "gate" | "gate_next" | "gate_previous":
            return bool(view.gates()) and (name == "gate" or len(view.gates()) > 1)
        case "approve_all":
            return not view.replaying and any(card.complete for card in needs(state))
        case "land":
            done = any(one.commit for one in state.tasks.values())
            return done and not view.replaying and not (state.landed and state.landed == state.head)
        case "pause":
            return live or name in here.own or (view.link.status == "lost" and here.restarts)
        case "stop" | "cancel" | "auto_fix" | "auto_task" | "attended":
            return live
        case "steer" | "skip_task":
            return task is not None and not task.ended and not view.replaying
        case "retry_task":
            return task is not None and task.ended and task.status is not Status.COMPLETE and not view.replaying
        case "follow":
            return name in here.own and not (here.mode == "flight" and view.following)
        case "desk":
            return here.page == "dashboard" and (here.mode != "flight" or bool(needs(state)))
        case "look_back":
            return live and here.page == "dashboard"
        case "replay":
            return not view.replaying and bool(state.seq)
        case "back":
            return here.deep
        case "iterations":
            return any(one.history for one in state.tasks.values())
        case "evidence":
            return task is not None and bool(task.checks)
        case "diff":
            return task is not None and bool(task.changes)
        case "council":
            return any(one.council for one in state.tasks.values())
        case "questions":
            return bool(state.gates or needs(state))
        case "plan":
            return state.plan is not None or state.planning is not None
        case "cost":
            return bool(state.calls)
        case "jump_running" | "jump_failed" | "jump_waiting":
            return bool(next_task(state, "", Jump(name.removeprefix("jump_"))))
        case "copy" | "save" | "pager" | "editor":
            return here.text
        case "unfold" | "times":
            return here.mode == "flight"
        case "zoom":
            return name in here.own and here.mode != "morning"
        case "match_next" | "match_previous":
            return name in here.own and here.mode != "morning"
        case "search" | "fold" | "wrap" | "context":
            return name in here.own
        case _:
            return not name.startswith("pane_") or here.mode in MODES
    return True


def label(here: Situation, action: Action) -> str:
    """A word for what the key does now, where that changes."""
    view = here.view
    match action.name:
        case "pause" if view.link.status == "lost":
            return "start engine"
        case "pause" if view.state.paused:
            return "go on"
        case "desk":
            return "desk" if here.mode == "flight" else "strip"
        case "match_next" | "match_previous" if here.mode == "desk" or here.page == "diff":
            return action.label.replace("match", "hunk")
        case _:
            return action.label


def ranked(here: Situation) -> list[Action]:
    """What works, the likely first; what is never shown in a footer comes after everything else."""
    first = FIRST.get(here.page if here.page != "dashboard" else here.mode, ())
    order = {name: place for place, name in enumerate(first)}

    def rank(action: Action) -> tuple[int, int, int]:
        if action.name in order:
            return (0, order[action.name], 0)
        return (2 if action.footer < 0 else 1, action.footer or 100, 0)

    return sorted((action for action in ACTIONS if works(here, action.name) and action.name in BY_NAME), key=rank)


def for_footer(here: Situation) -> list[Action]:
    """The palette and help always have a place; keys that answer a gate stand in its bar."""
    likely = FIRST.get(here.page if here.page != "dashboard" else here.mode, ())
    found = [
        action
        for action in ranked(here)
        if action.name not in GATE_CHOICES and (action.footer >= 0 or action.name in likely)
    ]
    lead = [action for action in found if action.name == "palette"]
    return lead + [action for action in found if action.name != "palette"]
