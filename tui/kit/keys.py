"""The registry of actions: name, keys, words, where they are shown. Bindings, footer, help and palette come from it.

`?` asks while a gate is open and helps otherwise; F1 always helps. Upper case letters are the ones that change a
sprint outside a gate, so that a slip of a finger never stops one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from textual.binding import Binding
from textual.keys import format_key

from engine.core.gate_choices import RECORDS, ChoiceRecord
from engine.core.model import Struct
from engine.core.vocabulary import Choice
from tui.kit.panes import FOCUSED

GROUPS = ("Gate", "Go to", "Pane", "Sprint", "Task", "App")


class Action(Struct, frozen=True, kw_only=True):
    """One thing a user can do."""

    name: str
    keys: str
    """Default keys, the first one is shown."""
    label: str
    """One or two words for the footer."""
    about: str
    """A sentence for help and palette."""
    group: str
    footer: int = 0
    """Place in the footer; 0 is after all placed ones, negative never."""
    pages: tuple[str, ...] = ()
    """Pages whose footer shows it; empty: every page."""


def _action(name: str, keys: str, label: str, about: str, group: str, footer: int = 0, *pages: str) -> Action:
    return Action(name=name, keys=keys, label=label, about=about, group=group, footer=footer, pages=pages)


_KEYS = {"?": "question_mark"}


def _named(record: ChoiceRecord) -> str:
    """The action's name: the choice's word, where no other action has it."""
    return "stop_here" if record.choice is Choice.STOP else record.choice.value


ACTIONS: tuple[Action, ...] = (
    *(
        _action(_named(record), _KEYS.get(record.key, record.key), record.choice.value, record.about, "Gate", -1)
        for record in RECORDS
    ),
    _action("gate", "g", "gate", "Show or hide the full text of the gate", "Gate", -1),
    _action("gate_next", "right_square_bracket", "next gate", "Show the next open gate", "Gate", -1),
    _action("gate_previous", "left_square_bracket", "previous gate", "Show the previous open gate", "Gate", -1),
    _action("desk", "h", "desk", "Switch between the desk and the flight strip", "Go to", 3, "dashboard"),
    _action("look_back", "less_than_sign", "look back", "Look back: show this run at an earlier moment", "Go to", -1),
    _action("approve_all", "Y", "approve all", "Approve every task whose proof is complete", "Gate", -1),
    _action("palette", "ctrl+p", "commands", "Search all commands", "App", 1),
    _action("back", "escape", "back", "Close this screen", "Go to", 2, "page"),
    _action("next_pane", "tab", "pane", "Go to the next pane", "Pane", 2, "dashboard", "replay"),
    _action(
        "follow", "f", "follow", "Follow the running task and the end of its output", "Pane", 3, "dashboard", "replay"
    ),
    _action("iterations", "i", "iterations", "All iterations with their reports", "Go to", 4),
    _action("evidence", "e", "evidence", "Results of the checks, test by test", "Go to", 5),
    _action("diff", "d", "diff", "The change made for this task", "Go to", 6),
    _action("cost", "dollar_sign", "cost", "Cost by rung, role, task and day", "Go to", 7),
    _action("log", "l", "log", "All events, with a filter", "Go to", 8),
    _action("help", "question_mark,f1", "help", "All keys and what they do", "App", 9),
    _action("plan", "p", "plan", "The plan with its acceptance criteria", "Go to"),
    _action("council", "b", "council", "Diagnoses of the Bug Council", "Go to"),
    _action("questions", "Q", "questions", "All questions and gates, open and answered", "Go to"),
    _action("stats", "percent_sign", "stats", "Statistics over all sprints, as plots", "Go to"),
    _action("learnings", "M", "learnings", "Decisions and failures recorded for later prompts", "Go to"),
    _action("request", "ctrl+n", "new request", "Describe what you want; a plan is drafted", "Go to", -1),
    _action("jump_running", "full_stop", "running", "Go to the next running task", "Go to", -1),
    _action("jump_failed", "exclamation_mark", "failed", "Go to the next failed task", "Go to", -1),
    _action("jump_waiting", "number_sign", "waiting", "Go to the next task waiting for you", "Go to", -1),
    _action("jump", "J", "jump", "Jump: type the letter shown on a pane or tab to go there", "Go to", -1),
    _action("sprints", "o", "sprints", "All sprints of this repository", "Go to"),
    _action("replay", "v", "replay", "Replay this run from the beginning", "Go to"),
    _action("settings", "comma", "settings", "Theme, automatic answers and the settings of this run", "Go to"),
    _action("repaint", "f5", "repaint", "Redraw the screen", "App", -1),
    _action("previous_pane", "shift+tab", "pane back", "Go to the previous pane", "Pane", -1),
    *(_action(f"pane_{pane.name}", pane.key, pane.name, pane.about, "Pane", -1) for pane in FOCUSED),
    _action("zoom", "z", "zoom", "Show the pane on the whole screen, and back", "Pane"),
    _action("search", "slash", "search", "Search the output, or filter the list", "Pane"),
    _action("match_next", "n", "next match", "Go to the next match, or to the next hunk of a change", "Pane", -1),
    _action("match_previous", "N", "previous match", "Go to the previous match, or to the previous hunk", "Pane", -1),
    _action("unfold", "x", "unfold", "Show or hide folded output", "Pane", 0, "dashboard", "replay"),
    _action("times", "ctrl+t", "times", "Show or hide the times in the output", "Pane", -1),
    _action("fold", "minus", "fold", "Fold or unfold all phases without running tasks", "Pane", -1),
    _action("wrap", "W", "wrap", "Wrap or cut long lines of a diff", "Pane", -1),
    _action("context", "plus", "context", "Show more context around a change, then the whole file", "Pane", -1),
    _action("copy", "C", "copy", "Copy the selected text, or the text of the pane", "Pane"),
    _action("save", "w", "save", "Save the text of the pane to a file", "Pane"),
    _action("pause", "space", "pause", "Pause or resume the sprint; running calls end first", "Sprint", 11),
    _action("stop", "S", "stop", "Stop the run; it can be resumed", "Sprint"),
    _action("cancel", "X", "cancel", "Cancel the sprint for good; its commits are kept", "Sprint"),
    _action("land", "L", "land", "Land the sprint's commits on your branch", "Sprint"),
    _action("auto_fix", "F", "auto fix", "Answer fix gates automatically, or ask again", "Sprint"),
    _action("auto_task", "T", "auto task", "Answer task gates automatically, or ask again", "Sprint"),
    _action("attended", "U", "attended", "Switch between attended and unattended", "Sprint"),
    _action("steer", "m", "steer", "Leave a note for the next attempt of the task", "Task", 12),
    _action("skip_task", "K", "skip task", "Skip the selected task", "Task"),
    _action("retry_task", "R", "retry task", "Reopen the selected task with a fresh ladder", "Task"),
    _action("editor", "E", "editor", "Open this screen's text in $EDITOR", "App"),
    _action("pager", "P", "pager", "Open this screen's text in $PAGER", "App"),
    _action("screenshot", "f12", "screenshot", "Save a screenshot as SVG", "App"),
    _action("quit", "q", "detach", "Leave the dashboard; an engine in the background keeps running", "App", 10),
)

BY_NAME: Mapping[str, Action] = {action.name: action for action in ACTIONS}

GATE_CHOICES: Mapping[str, Choice] = {_named(record): record.choice for record in RECORDS}
"""Actions that answer a gate, in the order in which it shows them, and the choice each one makes."""


def bindings() -> list[Binding]:
    """One binding an action, known by its name so that a key map can move it.

    The pane keys go first: every Textual screen has its own idea of `tab`, which knows nothing of hidden panes.
    """
    first = ("next_pane", "previous_pane")
    return [
        Binding(
            action.keys,
            f"act('{action.name}')",
            action.label,
            show=False,
            id=action.name,
            priority=action.name in first,
        )
        for action in ACTIONS
    ]


class KeyMap(Struct, frozen=True, kw_only=True):
    """The keys in force: the defaults with the user's changes, and what was wrong with those."""

    keys: dict[str, str]
    problems: tuple[str, ...] = ()

    def shown(self, name: str, which: int = 0) -> str:
        """A key of an action as people write it: the first, or another one where there is another."""
        keys = self.keys[name].split(",")
        return key_words(keys[min(which, len(keys) - 1)])


_WORDS = {
    "question_mark": "?",
    "dollar_sign": "$",
    "percent_sign": "%",
    "full_stop": ".",
    "exclamation_mark": "!",
    "number_sign": "#",
    "minus": "-",
    "plus": "+",
    "slash": "/",
    "comma": ",",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
}


def key_words(key: str) -> str:
    if key in _WORDS:
        return _WORDS[key]
    if key.startswith("ctrl+"):
        return f"^{key[5:]}"
    return format_key(key) if len(key) > 1 and not key.startswith(("f", "shift")) else key


def key_map(remap: Mapping[str, str]) -> KeyMap:
    """Defaults with changes. A change that cannot hold is left out and named; the default stays."""
    keys = {action.name: action.keys for action in ACTIONS}
    problems: list[str] = []
    for name, wanted in remap.items():
        if name not in BY_NAME:
            near = difflib.get_close_matches(name, BY_NAME, 1)
            hint = f"; did you mean {near[0]}?" if near else "; devteam tui, F1 lists them"
            problems.append(f"[keys] {name}: no such action{hint}")
            continue
        if not isinstance(wanted, str) or not wanted.strip():
            problems.append(f"[keys] {name}: a key is needed, for example {BY_NAME[name].keys!r}")
            continue
        taken = _clash({**keys, name: wanted}, name)
        if taken:
            problems.append(f"[keys] {name} = {wanted!r}: {taken} has this key already")
            continue
        keys[name] = wanted
    return KeyMap(keys=keys, problems=tuple(problems))


def _clash(keys: Mapping[str, str], name: str) -> str:
    """The other action with one of this one's keys. `ask` and `help` share one by design."""
    mine = {key.strip() for key in keys[name].split(",")}
    for other, theirs in keys.items():
        if other == name or {other, name} == {"ask", "help"}:
            continue
        if mine & {key.strip() for key in theirs.split(",")}:
            return other
    return ""
