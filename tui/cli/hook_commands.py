"""Commands for those who work inside Claude Code or Codex: hooks install, uninstall; what the hooks themselves run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.cli import printing as say
from tui.cli.start_commands import TrustOption
from tui.cli.view_commands import SprintOption

if TYPE_CHECKING:
    from engine.service.hooks import Target

RUN_MARK = "DEVTEAM_RUN_ID"
"""In the environment of everything an engine starts: its agents are judged by it, not by a hook."""
MOST_STDIN = 64_000_000

hooks = typer.Typer(help="Hooks for Claude Code and Codex: install, uninstall.", no_args_is_help=True)
hook = typer.Typer(help="What those hooks and commands run.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    hooks.command()(install)
    hooks.command()(uninstall)
    for command in (stop, guard, begin, end):
        hook.command()(command)
    app.command()(mcp)
    app.add_typer(hooks, name="hooks")
    app.add_typer(hook, name="hook")


UserOption = Annotated[bool, typer.Option("--user", help="In your own settings, for all repositories.")]
ProjectOption = Annotated[bool, typer.Option("--project", help="In this repository's settings (the default).")]
AgentOption = Annotated[list[str] | None, typer.Option("--agent", help="claude (the default), codex; may be repeated.")]

PrintOption = Annotated[bool, typer.Option("--print", help="Show the settings as they would be; write nothing.")]


def install(
    user: UserOption = False,
    project: ProjectOption = False,
    agent: AgentOption = None,
    skill: Annotated[bool, typer.Option("--skill", help="Also the /devteam: commands and the skill.")] = False,
    print_: PrintOption = False,
) -> None:
    """Merge the stop hook and the guard into the settings.

    What is there stays as it is, byte for byte; the file as it was is kept beside it. Done twice, nothing changes.
    """
    from engine.service.hooks import install as install_into
    from engine.service.hooks import printed

    for target in _targets(user, project, agent):
        program = _program(user)
        if print_:
            say.out(f"# {target.path}")
            say.out(printed(target, program).rstrip("\n"))
            continue
        for line in install_into(target, program, skill=skill):
            say.out(line)


def uninstall(
    user: UserOption = False, project: ProjectOption = False, agent: AgentOption = None, print_: PrintOption = False
) -> None:
    """Take the hooks, commands and the skill out again; what else is there stays."""
    from engine.service.hooks import printed_without
    from engine.service.hooks import uninstall as take_out

    for target in _targets(user, project, agent or ["claude", "codex"]):
        if print_:
            text = printed_without(target)
            say.out(f"# {target.path}" + ("" if text else ": no file"))
            if text:
                say.out(text.rstrip("\n"))
            continue
        for line in take_out(target):
            say.out(line)


def stop() -> None:
    """For the Stop hook: reads its JSON on stdin, judges the session's work, and keeps it going or lets it end."""
    given = _given()
    if given is None or os.environ.get(RUN_MARK):
        return
    from engine.core.inside import Stopping
    from engine.service.inside import cap_of, is_stuck, stopped

    desk = _desk_of(given)
    if desk is None:
        return
    said = _word(given, "last_assistant_message")
    told = Stopping(
        session=_word(given, "session_id"),
        again=given.get("stop_hook_active") is True,
        text=said,
        stuck=is_stuck(said),
        cap=cap_of(os.environ),
    )
    reply = stopped(desk, told)
    if reply is None:
        return
    say.json_line({"decision": "block", "reason": reply.words} if reply.block else {"systemMessage": reply.words})


def guard() -> None:
    """For the PreToolUse hook: in autonomous mode no write to protected paths, no word of yours without you."""
    given = _given()
    if given is None or os.environ.get(RUN_MARK):
        return
    from engine.core.guard import Ruling
    from engine.service.guard import guarded

    desk = _desk_of(given)
    data = given.get("tool_input")
    if desk is None or not isinstance(data, dict):
        return
    cwd = Path(_word(given, "cwd") or os.curdir)
    found = guarded(desk, _word(given, "session_id"), cwd, _word(given, "tool_name"), data)
    if found.ruling is Ruling.NOTHING:
        return
    # Codex knows no "ask"; it names the turn, which Claude Code does not.
    ruling = Ruling.DENY if "turn_id" in given else found.ruling
    then = ": ask the user to type it" if ruling is Ruling.DENY and found.ruling is Ruling.ASK else ""
    said = {"permissionDecision": ruling.value, "permissionDecisionReason": f"devteam: {found.reason}{then}"}
    say.json_line({"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}})


def begin(
    sprint: SprintOption = "",
    max_iterations: Annotated[
        int, typer.Option("--max-iterations", min=0, show_default="50", help="Times the session is kept going in all.")
    ] = 0,
    attended: Annotated[bool, typer.Option("--attended", help="Stop at gates, and ask you.")] = False,
    trust: TrustOption = "",
) -> None:
    """Turn autonomous mode on for the session this runs in, and print what it is to do first."""
    from engine.service.inside import begin as begin_mode
    from engine.service.inside import session_of

    desk = say.desk()
    session = session_of(os.environ)
    reply = begin_mode(desk, sprint, session, attended=attended, max_iterations=max_iterations, trust=trust)
    say.out(reply.words)
    if reply.marker is not None and not reply.block:
        raise typer.Exit(3)


def end() -> None:
    """Turn autonomous mode off; the session may stop as it likes, the sprint stays as it is."""
    from engine.service.inside import end as end_mode

    say.out("autonomous mode is off" if end_mode(say.desk()) else "autonomous mode was not on")


def mcp() -> None:
    """Speak MCP on stdin and stdout.

    Status, gates, plan and evidence for any agent; a gate is answered only when you confirm it. Needs the extra mcp.
    """
    from engine.service.mcp_server import serve

    serve(say.desk())


def _targets(user: bool, project: bool, agents: list[str] | None) -> list[Target]:
    from engine.link.user_errors import UserError
    from engine.service.hook_hosts import HOSTS
    from engine.service.hooks import targets

    if user and project:
        raise UserError("--user and --project: say one of them", "devteam hooks install --user")
    names = agents or ["claude"]
    if unknown := [name for name in names if name not in HOSTS]:
        raise UserError(f"there are no hooks for {unknown[0]}", f"one of {', '.join(HOSTS)}")
    hosts = [HOSTS[name] for name in dict.fromkeys(names)]
    return targets(hosts, root=None if user else say.desk().root, env=os.environ, home=Path.home())


def _program(user: bool) -> list[str]:
    """How the hooks call devteam: by its name where a project shares it and it is installed, else by its whole path."""
    from tui.cli.safe_path import own_command

    if shutil.which("devteam") is not None and not user:
        return ["devteam"]
    return own_command()


def _given() -> dict[str, Any] | None:
    """What the program says on stdin; None, with a word on stderr, where that is nothing we know."""
    import msgspec

    try:
        data = msgspec.json.decode(sys.stdin.buffer.read(MOST_STDIN))
    except (msgspec.MsgspecError, UnicodeError, OSError, RecursionError) as error:
        sys.stderr.write(f"devteam: the hook was given no JSON ({error}); nothing is said to it\n")
        return None
    return data if isinstance(data, dict) else None


def _desk_of(given: dict[str, Any]) -> Any:
    """The repository the session is in; None where it is in none, or in one without devteam."""
    from engine.link.user_errors import as_user_error

    cwd = _word(given, "cwd")
    if "\0" in cwd:
        return None
    try:
        desk = say.desk(Path(cwd or os.curdir))
    except Exception as error:  # boundary: outside a repository there is nothing to keep
        if as_user_error(error) is None:
            raise
        return None
    return desk


def _word(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""
