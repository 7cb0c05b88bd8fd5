"""Dialogs: what is asked, what is kept, and the editor for the human's own words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.core.gate_choices import BY_CHOICE, meaning
from engine.core.state import GateState
from engine.core.vocabulary import Choice
from engine.core.wording import plural
from tui.app.drafts import REQUEST
from tui.app.options import Leave
from tui.kit.needs import needs
from tui.kit.paint import outside
from tui.panels.gate_text import gate_name
from tui.screens.comment import CommentScreen
from tui.screens.confirm import Choice as Button
from tui.screens.confirm import ConfirmScreen

if TYPE_CHECKING:
    from tui.app.application import DevteamApp

KEPT = "Kept in any case: commits on the sprint branch, plan, evidence and history."


def cited(app: DevteamApp) -> str:
    """The hunk that is looked at, as the beginning of what is said about it."""
    place = getattr(app.screen, "cited", None)
    where = place() if place is not None else ""
    return f"{where}: " if where else ""


def comment_on_gate(app: DevteamApp, gate: GateState, choice: Choice) -> None:
    meant = meaning(gate.kind, choice)
    words = meant.long if meant is not None else ""
    draft = app.draft_key(f"{gate.id}-{choice}")
    screen = CommentScreen(
        f"{choice.upper()} {gate_name(app.view, gate)}",
        f"{words[:1].upper()}{words[1:]}. Your text is passed on unchanged.",
        draft_key=draft,
        may_be_empty=not BY_CHOICE[choice].needs_text,
        begin=cited(app),
    )

    def sent(text: str | None) -> None:
        if text is not None:
            app.steering.send_answer(gate.id, choice, text, draft)

    app.push_screen(screen, sent)


def request(app: DevteamApp) -> None:
    """What is wanted, in the user's own words: the dashboard is left for a moment and comes back with its planning."""
    screen = CommentScreen(
        "NEW REQUEST",
        "One sentence or a page. A plan is drafted from it and from the repository; you may be asked questions. "
        "Nothing runs before you approve the plan.",
        draft_key=REQUEST,
    )
    app.push_screen(screen, lambda text: app.exit(Leave(action="request", argument=text)) if text else None)


def steer(app: DevteamApp) -> None:
    task = app.view.task
    if task is None or task.ended:
        app.tell("select a task that has not ended: its next attempt gets your note", "warning")
        return
    draft = app.draft_key(f"steer-{task.id}")
    screen = CommentScreen(
        f"STEER T{outside(task.id)} {outside(task.spec.title, 40)}",
        "A note for the next attempt, passed on unchanged. The running call is not interrupted.",
        draft_key=draft,
    )
    app.push_screen(screen, lambda text: app.steering.steer(task.id, text, draft) if text else None)


def retry(app: DevteamApp) -> None:
    task = app.view.selected
    why_not = app.steering.may_retry(task)
    if why_not:
        app.tell(why_not, "warning")
        return
    draft = app.draft_key(f"retry-{task}")
    screen = CommentScreen(
        f"RETRY T{outside(task)}",
        "Reopens the task with a fresh ladder. The first attempt gets your note; it may be empty.",
        draft_key=draft,
        may_be_empty=True,
    )
    app.push_screen(screen, lambda text: app.steering.retry(task, text, draft) if text is not None else None)


def confirm_stop(app: DevteamApp) -> None:
    def chosen(value: str | None) -> None:
        if value:
            app.steering.stop(value == "now")

    words = ("Stop the run? Resume it later with: devteam run", KEPT)
    choices = (
        Button(key="f", label="finish the current step, then stop", value="graceful"),
        Button(key="n", label="stop now; the step is repeated later", value="now"),
    )
    app.push_screen(ConfirmScreen("STOP", words, choices), chosen)


def confirm_cancel(app: DevteamApp) -> None:
    def chosen(value: str | None) -> None:
        if value:
            app.steering.cancel()

    words = ("Cancel the sprint for good? Open tasks stay undone and running agents are stopped.", KEPT)
    choices = (Button(key="X", label="cancel the sprint", value="cancel"),)
    app.push_screen(ConfirmScreen("CANCEL", words, choices), chosen)


def confirm_land(app: DevteamApp) -> None:
    def chosen(value: str | None) -> None:
        if value:
            app.steering.land()

    words = (
        f"Land {outside(app.view.state.branch) or 'the sprint branch'} on your branch? Only as a fast-forward, and "
        "only if your files are unchanged since the sprint began; otherwise nothing is touched.",
        *(("The run was inside this dashboard, which ends first.",) if app.run_is_over() else ()),
    )
    app.push_screen(ConfirmScreen("LAND", words, (Button(key="L", label="land it", value="land"),)), chosen)


def confirm_skip(app: DevteamApp) -> None:
    task = app.view.selected
    why_not = app.steering.may_skip(task)
    if why_not:
        app.tell(why_not, "warning")
        return

    def chosen(value: str | None) -> None:
        if value:
            app.steering.skip(task)

    words = (f"Skip T{outside(task)}? Tasks that depend on it cannot run. It can be retried later.", KEPT)
    app.push_screen(ConfirmScreen("SKIP", words, (Button(key="K", label="skip it", value="skip"),)), chosen)


def confirm_approve_all(app: DevteamApp) -> None:
    """Every task gate whose every criterion is met and whose proof was seen by the engine: nothing else."""
    cards = [card for card in needs(app.view.state) if card.complete]
    if not cards:
        app.tell("no gate has a complete proof: answer them one by one", "warning")
        return
    names = [f"T{outside(card.task)} {outside(app.view.state.tasks[card.task].spec.title, 60)}" for card in cards]

    def chosen(value: str | None) -> None:
        if value == "yes":
            for card in cards:
                app.steering.approve(card.gate)

    words = (
        f"Commit {plural(len(cards), 'task')}? Every criterion is met, every change is proven or harmless:",
        *names,
    )
    app.push_screen(ConfirmScreen("APPROVE ALL", words, (Button(key="Y", label="commit them", value="yes"),)), chosen)
