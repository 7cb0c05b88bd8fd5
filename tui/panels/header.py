"""The header: what runs, how it is, what it has cost, who watches; and the notice line for what needs saying."""

from __future__ import annotations

from typing import assert_never

from engine.core.gates import MAY_BE_AUTO
from engine.core.model import Health
from engine.core.wording import plural
from tui.kit.canvas import Canvas
from tui.kit.glyphs import of_health, of_outcome
from tui.kit.meter import meter
from tui.kit.outlook import outlook
from tui.kit.paint import Line, Span, crop, fitting, joined, outside, spread, width_of
from tui.kit.view import View, health_reason, running_tasks
from tui.kit.wording import duration, money, share
from tui.panels.planning import planning_step, planning_title

LEAST_TITLE = 12
"""Cells of a title below which its beginning says nothing."""


def header_lines(view: View, width: int) -> list[Line]:
    """Two lines of exactly `width` cells, one cell free on either side."""
    inner = width - 2
    title = _title(view)
    head, told = _first(view, inner, title)
    second = _second(view, inner, "" if told else title)
    if not told and not any(text == title for text, _ in second):
        head = _first(view, inner, title, cut=True)[0]
    return [((" ", ""), *head, (" ", "")), ((" ", ""), *second, (" ", ""))]


def _title(view: View) -> str:
    return outside(view.state.plan.title) if view.state.plan else planning_title(view)


def _first(view: View, inner: int, said: str, *, cut: bool = False) -> tuple[Line, bool]:
    """What it is and how it is, and whether the title is said: whole, or as much of it as there are blanks."""
    brand: list[Span] = [("devteam", "accent bold")]
    sprint: list[Span] = [(outside(view.state.sprint), "fg bold")] if view.state.sprint else []
    title: list[Span] = [(said, "muted")] if said else []
    health = health_spans(view)
    for how in (health, without_count(view, health)):  # the second line counts the tasks, too
        for parts in ([brand, sprint, title], [sprint, title]):
            left = joined(parts, "  ")
            if width_of(left) + width_of(how) + 2 <= inner:
                return spread(left, how, inner), True
    both, alone = joined([brand, sprint], "  "), joined([sprint])
    health = health if width_of(alone) + width_of(health) + 2 <= inner else without_count(view, health)
    left = both if width_of(both) + width_of(health) + 2 <= inner else alone
    right = crop(health, inner - width_of(left) - 2)
    free = inner - width_of(left) - width_of(right) - 4
    if cut and title and free >= LEAST_TITLE:
        left = (*left, ("  ", ""), *crop(title, free))
    return spread(left, right, inner), not title


def _second(view: View, inner: int, title: str = "") -> Line:
    """Progress, time, spend and what is still to come first, then how it runs, then what else there is room for; a
    title that the first line has no room for is a part of it."""
    gap = _gap(view)
    measures, modes = _measures(view), _modes(view)
    must = width_of(joined([part for part in modes if part is modes[0] or part[-1][1] != "muted"], gap))
    bare = [_bare(part) if number == 2 else part for number, part in enumerate(measures)]
    short = [*bare[:3], [*measures[3][:1], (" left", "muted")]] if len(measures) > 3 and measures[3] else bare[:3]
    usual = width_of(joined(modes[:2], gap))
    choices = ((measures[:4], must), (bare[:4], must), (short, must), (measures[:3], usual))
    needed = next((one for one, beside in choices if width_of(joined(one, gap)) + beside + 2 <= inner), bare[:3])
    right = fitting(modes, inner - width_of(joined(needed, gap)) - 2, gap)
    named: list[list[Span]] = [[(title, "muted")]] if title else []
    left = fitting([*needed, *named, *measures[len(needed) :]], inner - width_of(right) - 2, gap)
    return spread(left, right, inner)


def _bare(spend: list[Span]) -> list[Span]:
    """The spend without its meter."""
    return [(text.rstrip() if number else text, style) for number, (text, style) in enumerate(spend[:2])]


def _gap(view: View) -> str:
    return f"  {view.glyphs.sep}  " if not view.glyphs.ascii else "  "


def health_spans(view: View) -> list[Span]:
    """Sign, word, reason. A sprint that is not running says how it ended instead."""
    state, glyphs = view.state, view.glyphs
    if state.plan is None and state.planning is None:
        return []
    if not state.running and state.outcome:
        sign, word, style = of_outcome(state.outcome, glyphs)
        return [
            (f"{sign} ", style),
            (word, f"{style} bold"),
            (f"  {outside(state.outcome_reason)}", "muted"),
        ]
    if state.running and view.link.status == "lost":
        return [
            (f"{glyphs.bad} ", "bad"),
            ("ENGINE LOST", "bad bold"),
            (f"  last health: {state.health.value}", "muted"),
        ]
    if state.running and view.link.status == "connecting" and view.link.last_sign:
        return [(f"{glyphs.half} ", "warn"), ("ENGINE STARTING", "warn bold")]
    if not state.running:
        return [(f"{glyphs.wait} ", "muted"), ("NOT RUNNING", "muted bold"), ("  start it with: devteam run", "muted")]
    waiting = view.gates() if not view.replaying else []
    if waiting:  # what is needed outranks how it is
        since = min(gate.opened_at for gate in waiting)
        word = f"{len(waiting)} waiting for you"
        return [
            (f"{glyphs.gate} ", "gate"),
            (word, "gate bold"),
            (f" {glyphs.sep} {duration(view.now - since)}", "gate"),
            (f"  {state.health.value.lower().replace('_', '-')}" if state.plan is not None else "", "muted"),
        ]
    if state.plan is None:
        return [(f"{glyphs.run} ", "accent"), (planning_step(view), "accent bold")]
    sign, style = of_health(state.health, glyphs)
    reason = outside(health_reason(state))
    running = running_tasks(state)
    about = [f"T{outside(task.id)}" for task in running if task.health_reason == state.health_reason]
    if len(running) > 1 and about and reason:  # whose numbers these are
        reason = f"{', '.join(about)}: {reason}"
    return [(f"{sign} ", style), (state.health.value, f"{style} bold"), (f"  {reason}" if reason else "", "muted")]


def without_count(view: View, health: list[Span]) -> list[Span]:
    """How it ended without how many tasks are complete."""
    done, total = view.state.progress()
    count = f"  {done} of {plural(total, 'task')} complete; "
    return [(f"  {text.removeprefix(count)}" if text.startswith(count) else text, style) for text, style in health]


def _measures(view: View) -> list[list[Span]]:
    state, glyphs = view.state, view.glyphs
    if state.plan is None:
        if state.planning is None:
            return []
        drafts = [
            (f"{state.planning.version}", "fg bold"),
            (" drafts" if state.planning.version != 1 else " draft", "muted"),
        ]
        return [
            [(duration(view.elapsed()), "fg bold")],
            [(money(state.spent_usd), "fg bold"), (" spent", "muted")],
            drafts,
        ]
    done, total = state.progress()
    limit = state.policy.budget.session_usd
    used = share(state.spent_usd, limit)
    style = "bad" if used >= 1 else "warn" if used * 100 >= state.policy.budget.warn_percent else "accent"
    spend: list[Span] = [(money(state.spent_usd), "fg bold"), (f" / {money(limit)} ", "muted")]
    return [
        [(f"{done}/{total}", "fg bold"), (" tasks ", "muted"), *meter(done, total, 6, glyphs, "good")],
        [(duration(view.elapsed()), "fg bold")],
        [*spend, *meter(state.spent_usd, limit, 8, glyphs, style)],
        _left(view),
        [(f"{state.iterations}", "fg bold"), (" iteration" if state.iterations == 1 else " iterations", "muted")],
        [(f"{state.calls}", "fg bold"), (" call" if state.calls == 1 else " calls", "muted")],
    ]


def _left(view: View) -> list[Span]:
    """Time and money still to come, and what that rests on; the strip's edge says it, too."""
    ahead = outlook(view.state, view.now) if view.state.running and not view.replaying else None
    if ahead is None or not ahead.tasks:
        return []
    about = "~" if view.glyphs.ascii else "≈"
    return [(f"{about}{duration(ahead.seconds)}", "fg bold"), (f", {about}{money(ahead.usd)} left", "muted")]


def _modes(view: View) -> list[list[Span]]:
    """In the order of what must be seen first; the line shows as many as fit."""
    state = view.state
    link = link_spans(view)
    if state.plan is None and state.planning is None:
        return [link] if view.link.status in ("lost", "connecting") else []
    auto = [kind for kind in MAY_BE_AUTO if state.auto_mode(kind)]
    parts: list[list[Span]] = [link]
    if auto:
        parts.append([(f"auto: {', '.join(auto)}", "warn bold")])
    if not state.attended:  # somebody there is what a dashboard expects
        parts.append([("unattended", "warn")])
    if state.sandbox:
        bare = state.sandbox in ("none", "off")
        parts.append([("no sandbox" if bare else f"sandbox: {outside(state.sandbox)}", "warn" if bare else "muted")])
    return parts


def link_spans(view: View) -> list[Span]:
    glyphs = view.glyphs
    if view.replaying:
        return [(f"{glyphs.run} ", "accent"), ("replay", "accent")]
    match view.link.status:
        case "connected":
            if view.state.plan is not None and not view.state.running:
                return [(f"{glyphs.half} ", "muted"), ("engine idle", "muted")]
            return [(f"{glyphs.dot} ", "good"), ("engine", "muted")]
        case "connecting":
            return [(f"{glyphs.half} ", "warn"), ("connecting", "muted")]
        case "read_only":
            return [(f"{glyphs.half} ", "warn"), ("read-only", "warn")]
        case "lost":
            return [(f"{glyphs.bad} ", "bad"), ("engine lost", "bad bold")]
        case "ended":
            return [(f"{glyphs.stop} ", "muted"), ("engine ended", "muted")]
        case _:
            assert_never(view.link.status)


def notice_line(view: View, width: int) -> Line:
    """What must be said now, in words, the most urgent first; empty when all is quiet."""
    state, glyphs = view.state, view.glyphs
    parts: list[list[Span]] = []
    told = state.outcome and not state.running  # the header's first line says how it ended
    unlinked = view.link.status == "lost" or (view.link.status == "ended" and not told)
    if unlinked or (view.link.status == "read_only" and not view.replaying):
        sign = glyphs.bad if view.link.status == "lost" else glyphs.stop
        style = "bad" if view.link.status == "lost" else "warn"
        said = outside(view.link.detail) or view.link.status.replace("_", "-")
        hint = f" {glyphs.dash} {outside(view.link.hint)}" if view.link.hint else ""
        parts.append([(f"{sign} {said}{hint}", style)])
    if view.behind is not None and view.behind.running:
        waiting = len(view.behind.open_gates())
        if waiting:
            parts.append([(f"{glyphs.gate} {plural(waiting, 'gate')} waiting for you in the live run", "gate bold")])
        parts.append([("you are looking back; the run goes on", "muted"), ("  esc: back to live", "accent")])
    wait = view.wait()
    if wait is not None:
        until, reason = wait
        left = duration(max(0.0, until - view.now))
        parts.append([(f"{glyphs.half} waiting ", "warn"), (left, "warn bold"), (f"  {outside(reason)}", "warn")])
    if state.paused:
        parts.append([(f"{glyphs.gate} paused", "warn bold"), ("  space: resume; running calls end first", "warn")])
    if state.stopping and state.running:
        word = "stopping now" if state.stopping == "now" else "stopping after the current step"
        parts.append([(f"{glyphs.stop} {word}", "warn bold")])
    if state.warned and state.running:
        limit = state.policy.budget.session_usd
        part = round(100 * share(state.spent_usd, limit))
        parts.append([(f"{glyphs.warn} budget {part}% used", "warn")])
    if state.sprint_error:
        parts.append([(f"{glyphs.bad} {outside(state.sprint_error)}", "bad")])
    if state.health is not Health.PROGRESSING and state.running and width < 100:
        parts.append([(outside(state.health_reason), "warn")])
    if not parts:
        return ()
    line = fitting(parts, width - 2, "   ") or crop(parts[0], width - 2)
    return ((" ", ""), *line)


class HeaderBar(Canvas):
    """Two lines at the top of every screen, and a third when something must be said."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self.view = View()

    def show(self, view: View) -> None:
        self.view = view
        self.redraw()

    def redraw(self) -> None:
        if self.size.width <= 0:
            return
        lines = header_lines(self.view, self.size.width)
        notice = notice_line(self.view, self.size.width)
        self.set_lines([*lines, notice] if notice else lines)

    def on_resize(self) -> None:
        self.redraw()
