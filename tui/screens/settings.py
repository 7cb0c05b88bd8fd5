"""Settings: themes to try on, auto modes to set and take back, and the settings this run was started with."""

from __future__ import annotations

from engine.core.gates import MAY_BE_AUTO
from engine.core.vocabulary import GateKind
from tui.kit.paint import BLANK, Line, Span, outside, pad, spread, wrap
from tui.kit.view import View
from tui.kit.wording import duration, money
from tui.screens.list_page import ListPage


def policy_lines(view: View, width: int) -> list[Line]:
    """What the run holds to, in the config's own words."""
    policy = view.state.policy
    rungs = f" {view.glyphs.arrow} ".join(outside(rung.name) for rung in policy.ladder.rungs)
    rows: list[tuple[str, str]] = [
        ("ladder", f"{rungs} ({policy.ladder.policy})"),
        ("failures", ", ".join(str(number) for number in policy.ladder.failures) + ", then the council"),
        ("iterations", f"at most {policy.max_iterations} a task"),
        ("lanes", str(policy.lanes)),
        ("budget", f"{money(policy.budget.session_usd)} a sprint, {money(policy.budget.day_usd)} a day"),
        ("calls", f"{policy.limits.calls_per_hour} an hour"),
        (
            "timeouts",
            f"implementation {duration(policy.timeouts.implementation)}, checks {duration(policy.timeouts.checks)}",
        ),
        ("halt on", ", ".join(policy.halt_conditions).replace("_", " ")),
        ("sandbox", outside(view.state.sandbox) or "none yet"),
    ]
    return [line for label, value in rows for line in wrap(value, width, "fg", first=pad(label, 12), rest=" " * 12)]


class Settings(ListPage):
    NAME = "settings"
    LIST_TITLE = "SETTINGS"

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[tuple[str, str] | None] = []
        self._chosen = ""
        """The theme that stays when this page is left; the one under the cursor is only tried."""

    def mounted(self) -> None:
        super().mounted()
        self._chosen = self.dev.theme
        names = sorted(self.dev.themes)
        self.menu.cursor = 1 + names.index(self._chosen) if self._chosen in names else 1  # below its heading

    def on_unmount(self) -> None:
        if self.dev.is_running and self._chosen and self.dev.theme != self._chosen:
            self.dev.set_theme(self._chosen)

    def moved(self, index: int) -> None:
        entry = self._entries[index] if index < len(self._entries) else None
        self.dev.set_theme(entry[1] if entry is not None and entry[0] == "theme" else self._chosen)

    def rows(self, view: View, width: int) -> tuple[list[Line], list[int]]:
        rows: list[Line] = [(("THEME", "muted bold"),)]
        self._entries = [None]
        for name, theme in sorted(self.dev.themes.items()):
            here = name == (self._chosen or self.dev.theme)
            left: list[Span] = [
                (f" {view.glyphs.dot if here else ' '} ", "accent"),
                (outside(name), "fg bold" if here else "fg"),
            ]
            rows.append(spread(left, [("dark" if theme.dark else "light", "muted")], width, gap=1))
            self._entries.append(("theme", name))
        rows += [BLANK, (("GATES", "muted bold"),)]
        self._entries += [None, None]
        for kind in MAY_BE_AUTO:
            on = view.state.auto_mode(kind)
            left = [(f" {view.glyphs.dot if on else ' '} ", "warn"), (f"{kind} gates", "fg")]
            rows.append(spread(left, [("auto" if on else "asked", "warn" if on else "muted")], width, gap=1))
            self._entries.append(("auto", kind))
        there = view.state.attended
        rows.append(
            spread(
                [(f" {view.glyphs.dot if there else ' '} ", "good"), ("attended", "fg")],
                [("yes" if there else "no", "muted")],
                width,
                1,
            )
        )
        self._entries.append(("attended", ""))
        return rows, [at for at, entry in enumerate(self._entries) if entry is None]

    def draw(self, view: View, width: int, height: int) -> list[Line]:
        self.sheet.set_title("THIS RUN", "enter: apply")
        sample: list[Line] = [
            (("preview", "muted bold"),),
            (
                (f"{view.glyphs.ok} pass  ", "good"),
                (f"{view.glyphs.bad} fail  ", "bad"),
                (f"{view.glyphs.warn} warning  ", "warn"),
                (f"{view.glyphs.gate} gate  ", "gate"),
                ("muted text", "muted"),
            ),
            tuple(
                (f"{view.rung_name(number)}  ", f"rung-{min(number, 3) + 1}")
                for number in range(len(view.state.policy.ladder.rungs))
            ),
            (
                ("  12 + added line  ", "added on-added-ground"),
                ("  ", ""),
                (f"  13 {view.glyphs.minus} removed line  ", "removed on-removed-ground"),
            ),
            BLANK,
        ]
        return [*sample, *policy_lines(view, width)]

    def picked(self, index: int) -> None:
        entry = self._entries[index] if index < len(self._entries) else None
        match entry:
            case ("theme", name):
                self._chosen = name
                self.dev.keep_theme(name)
            case ("auto", kind):
                self.dev.steering.set_auto(GateKind(kind))
            case ("attended", _):
                self.dev.steering.attended()
            case _:
                pass
        self.dev.redraw()
