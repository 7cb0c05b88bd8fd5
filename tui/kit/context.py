"""What can be done here and now, what comes first, what it is called: for footer and palette. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.model import Struct
from engine.core.state import Status
from tui.kit.jumps import Jump, next_task
from tui.kit.keys import ACTIONS, GATE_CHOICES, Action
from tui.kit.modes import Mode, mode_for
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
    pane: str = ""
    """Which part of the page has the keys."""
    hunks: bool = False
    """There is a change to step through."""
    typing: bool = False
    """Letters go into a box."""
    inline: bool = False
    """The engine is in this process."""


FIRST: Mapping[str, tuple[str, ...]] = {
    "flight": ("desk", "follow", "diff", "iterations", "evidence", "search", "zoom", "pause", "steer", "plan", "cost"),
    "flight strip": ("desk", "look_back", "follow", "diff", "iterations", "zoom", "pause", "steer"),
    "flight tasks": ("desk", "follow", "search", "fold", "diff", "evidence", "steer", "skip_task", "retry_task"),
    "flight output": ("desk", "follow", "search", "match_next", "zoom", "unfold", "times", "copy", "save"),
    "flight iteration": ("desk", "iterations", "evidence", "diff", "zoom"),
    "flight ladder": ("desk", "cost", "council", "stats", "zoom"),
    "flight health": ("desk", "iterations", "evidence", "log", "zoom"),
    "desk": ("approve_all", "diff", "evidence", "iterations", "match_next", "desk", "questions", "gate"),
    "desk hunks": ("match_next", "wrap", "diff", "approve_all", "evidence", "desk", "questions"),
    "morning": ("land", "retry_task", "desk", "diff", "evidence", "iterations", "cost", "stats", "sprints"),
    "diff": ("match_next", "wrap", "context", "zoom", "search"),
    "log": ("search", "follow"),
    "evidence": ("search", "diff", "iterations"),
    "iterations": ("search", "evidence", "diff"),
    "learnings": ("search",),
    "sprints": ("search", "replay", "request"),
    "questions": ("search",),
    "replay": ("pause", "zoom", "diff", "iterations"),
    "welcome": ("request", "sprints", "settings"),
}
"""What is likely wanted, by page or mode and by what has the keys; then the rest in the order of the registry."""
ALWAYS = ("back", "help", "palette", "quit")
"""In every footer, at its right."""
WHILE_TYPING = ("help", "palette")
"""Of these, what has a key that is no letter."""
UNNAMED = ("palette", "back", "next_pane", "previous_pane")
"""Not in the palette: whoever is there has them in the fingers."""

Hint = tuple[str, str, str]
"""Keys as signs, keys in ASCII, and what they do."""
TAB: Hint = ("tab", "tab", "next pane")
UP_DOWN, LEFT_RIGHT = ("↑↓", "up/down"), ("←→", "left/right")
HINTS: Mapping[str, tuple[Hint, ...]] = {
    "flight": (TAB,),
    "flight strip": (TAB, (*UP_DOWN, "lane"), (*LEFT_RIGHT, "time")),
    "flight tasks": (TAB, (*UP_DOWN, "task"), (*LEFT_RIGHT, "fold")),
    "flight output": (TAB, (*UP_DOWN, "scroll")),
    "desk": (TAB,),
    "desk queue": (TAB, (*UP_DOWN, "card")),
    "desk hunks": (TAB, (*UP_DOWN, "scroll"), (*LEFT_RIGHT, "sideways")),
    "morning": ((*UP_DOWN, "scroll"),),
    "replay": (TAB, (*LEFT_RIGHT, "time")),
    "settings": ((*UP_DOWN, "try"), ("enter", "enter", "apply")),
    "sprints list": ((*UP_DOWN, "choose"), ("enter", "enter", "open")),
    "list": ((*UP_DOWN, "choose"),),
    "sheet": ((*UP_DOWN, "scroll"),),
}
"""Keys of what has the keys: they are no actions of the registry."""


def _known(here: Situation, table: Mapping[str, tuple[object, ...]]) -> str:
    """The most special entry of a table for a situation."""
    name = here.page if here.page != "dashboard" else here.mode
    return next((one for one in (f"{name} {here.pane}", name, here.pane) if one in table), "")


TYPING: tuple[Hint, ...] = (("enter", "enter", "keep"), ("esc", "esc", "clear"))


def hints(here: Situation) -> tuple[Hint, ...]:
    if here.typing:
        return TYPING
    return HINTS.get(_known(here, HINTS), ())


def works(here: Situation, name: str) -> bool:
    """Whether an action does anything in this situation."""
    view, state, task = here.view, here.view.state, here.view.task
    live = state.running and not view.replaying
    heard = not view.replaying and not (here.inline and view.link.status == "ended")  # such an engine ends with its run
    if name in GATE_CHOICES:
        return view.gate is not None and GATE_CHOICES[name] in view.gate.choices
    if here.page == "welcome":
        return name in (*FIRST["welcome"], *ALWAYS[1:], "repaint", "screenshot", "stats", "learnings")
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
            return task is not None and not task.ended and heard
        case "retry_task":
            return task is not None and task.ended and task.status is not Status.COMPLETE and heard
        case "follow":
            return name in here.own and not (here.mode == "flight" and view.following)
        case "desk":
            there = here.mode != Mode.FLIGHT or mode_for(view) is Mode.MORNING
            return here.page == "dashboard" and (there or bool(needs(state)))
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
        case "match_next" | "match_previous" if here.mode == "desk":
            return here.hunks
        case "match_next" | "match_previous":
            return name in here.own and here.mode != "morning"
        case "wrap" if here.mode:
            return here.mode == "desk" and here.hunks
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
        case "pause" if here.page == "replay":
            return "play/pause"
        case "pause" if view.state.paused:
            return "resume"
        case "quit" if here.inline:
            return "quit"
        case "desk" if here.mode == Mode.FLIGHT and mode_for(view) is Mode.MORNING:
            return "result"
        case "desk" if here.mode != Mode.DESK:
            waiting = len(needs(view.state))
            return f"{waiting} waiting" if waiting else "desk" if here.mode == Mode.FLIGHT else "flight strip"
        case "desk":
            return "flight strip"
        case "search" if here.pane in ("tasks", "list"):
            return "filter"
        case "match_next" | "match_previous" if here.mode == "desk" or here.page == "diff":
            return action.label.replace("match", "hunk")
        case _:
            return action.label


def ranked(here: Situation) -> list[Action]:
    """What works, the likely first; what is never shown in a footer comes after everything else."""
    order = {name: place for place, name in enumerate(FIRST.get(_known(here, FIRST), ()))}

    def rank(action: Action) -> tuple[int, int]:
        if action.name in order:
            return (0, order[action.name])
        return (2 if action.footer < 0 else 1, action.footer or 100)

    return sorted((action for action in ACTIONS if works(here, action.name)), key=rank)


def for_palette(here: Situation) -> list[Action]:
    return [action for action in ranked(here) if action.name not in UNNAMED]


def for_footer(here: Situation) -> tuple[list[Action], list[Action]]:
    """What is likely wanted here, and what stands at the right of every footer; gates are answered in their own bar."""
    likely = FIRST.get(_known(here, FIRST), ())
    unnamed = (*GATE_CHOICES, "next_pane", here.page)  # whoever is on a page has no need to be told how to get there
    found = [
        action
        for action in ranked(here)
        if (action.name not in unnamed or action.name in ALWAYS) and (action.footer >= 0 or action.name in likely)
    ]
    last = sorted((one for one in found if one.name in ALWAYS), key=lambda one: ALWAYS.index(one.name))
    if here.typing:
        return [], [one for one in last if one.name in WHILE_TYPING]
    return [one for one in found if one not in last], last
