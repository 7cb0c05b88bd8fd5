"""Commands that keep and bring back: land, checkpoint, baseline, rollback. None touches the user's own work unasked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tui.cli import printing as say
from tui.cli.view_commands import SprintOption

checkpoint = typer.Typer(help="Save and restore the sprint's state.", rich_markup_mode=None)
baseline = typer.Typer(help="Named points on the sprint branch.", rich_markup_mode=None)
rollback = typer.Typer(help="Bring the sprint branch back to a good commit.", rich_markup_mode=None)


KindArgument = Annotated[str, typer.Argument(metavar="[TYPE]", help="Judge by one kind: tests, types, build, lint …")]


def register(app: typer.Typer) -> None:
    app.command()(land)
    app.add_typer(checkpoint, name="checkpoint", no_args_is_help=True)
    app.add_typer(baseline, name="baseline", no_args_is_help=True)
    app.add_typer(rollback, name="rollback", no_args_is_help=True)


def land(
    sprint: SprintOption = "",
    branch: Annotated[bool, typer.Option("--branch", help="Only name the branch and how to merge it.")] = False,
    patch: Annotated[
        Path | None, typer.Option("--patch", dir_okay=False, help="Write the whole change as a patch instead.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say whether it would land.")] = False,
    pr: Annotated[
        bool, typer.Option("--pr", help="Push the branch and open a pull request with gh; without it: what to type.")
    ] = False,
) -> None:
    """Bring the sprint's commits onto your branch.

    A fast-forward, and only if your files are as they were when the sprint started; else it says what differs.
    """
    from engine.service.landing import land_sprint

    if pr:
        from engine.service.publishing import publish

        ok, lines = publish(say.desk(), sprint)
    else:
        ok, lines = land_sprint(say.desk(), sprint, branch=branch, patch=patch, apply=not dry_run)
    for line in lines:
        say.out(line)
    if not ok:
        raise typer.Exit(1)


@checkpoint.command("save")
def checkpoint_save(
    description: Annotated[str, typer.Argument(help="Why it is saved.")] = "by hand", sprint: SprintOption = ""
) -> None:
    """Save a checkpoint now."""
    from engine.service.landing import save_checkpoint

    say.out(save_checkpoint(say.desk(), sprint, description))


@checkpoint.command("list")
def checkpoint_list(sprint: SprintOption = "") -> None:
    """List the checkpoints."""
    from engine.service.landing import checkpoints

    rows = [(one.id, say.clock_text(one.at), one.commit[:10], one.reason) for one in checkpoints(say.desk(), sprint)]
    say.table(("CHECKPOINT", "WHEN", "COMMIT", "WHY"), rows)


@checkpoint.command("restore")
def checkpoint_restore(
    checkpoint_id: Annotated[str, typer.Argument(help="Its id (devteam checkpoint list).")], sprint: SprintOption = ""
) -> None:
    """Bring the sprint branch back to a checkpoint; where it was is kept as a backup."""
    from engine.service.landing import restore_checkpoint

    say.out(restore_checkpoint(say.desk(), sprint, checkpoint_id))


@baseline.command("create")
def baseline_create(
    milestone: Annotated[str, typer.Argument(help="Its name, e.g. before-refactoring.")],
    description: Annotated[str, typer.Argument(help="A few words for the list.")] = "",
    sprint: SprintOption = "",
) -> None:
    """Name the sprint branch's present commit."""
    from engine.service.landing import create_baseline

    say.out(create_baseline(say.desk(), sprint, milestone, description))


@baseline.command("list")
def baseline_list(sprint: SprintOption = "") -> None:
    """List the baselines."""
    from engine.service.landing import baselines

    rows = [
        (one.milestone, say.clock_text(one.at), one.commit[:10], one.description)
        for one in baselines(say.desk(), sprint)
    ]
    say.table(("BASELINE", "WHEN", "COMMIT", ""), rows)


@baseline.command("rollback")
def baseline_rollback(
    name: Annotated[str, typer.Argument(help="Its name (devteam baseline list).")], sprint: SprintOption = ""
) -> None:
    """Bring the sprint branch back to a baseline; where it was is kept as a backup."""
    from engine.service.landing import roll_back_to_baseline

    say.out(roll_back_to_baseline(say.desk(), sprint, name))


@rollback.command("check")
def rollback_check(kind: KindArgument = "", sprint: SprintOption = "") -> None:
    """Run the checks on the sprint branch and say whether it regressed."""
    from engine.service.landing import roll_back

    _say(roll_back(say.desk(), sprint, "check", kind))


@rollback.command("auto")
def rollback_auto(kind: KindArgument = "", sprint: SprintOption = "") -> None:
    """If the checks fail on the sprint branch, bring it back to the newest commit where they pass, however far."""
    from engine.service.landing import roll_back

    _say(roll_back(say.desk(), sprint, "auto", kind))


@rollback.command("smart")
def rollback_smart(kind: KindArgument = "", sprint: SprintOption = "") -> None:
    """Look for a good commit among the last 10 ([rollback] max_commits_to_search); go back only if there is one."""
    from engine.service.landing import roll_back

    _say(roll_back(say.desk(), sprint, "smart", kind))


@rollback.command("undo")
def rollback_undo(sprint: SprintOption = "") -> None:
    """Undo the last rollback."""
    from engine.service.landing import roll_back

    _say(roll_back(say.desk(), sprint, "undo"))


def _say(result: tuple[bool, str]) -> None:
    ok, words = result
    say.out(words)
    if not ok:
        raise typer.Exit(1)
