"""What must hold before a session runs anything: each is a question or an answer for the user, and costs nothing."""

from __future__ import annotations

from engine.config import Config
from engine.core.model import Plan
from engine.core.sandboxes import SandboxName
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.trust import is_trusted, trust
from engine.perform.process.sandbox import SandboxMode
from engine.plans.sprints import SprintFolder
from engine.project import Project
from engine.session_options import Options, Unsafe, Untrusted
from engine.settings import Unready, what_runs


def commands_are_trusted(project: Project, config: Config, given: str, now: float) -> None:
    """The repository's own commands run only after the user has seen them; `given` is the hash they confirmed."""
    root = project.state.root
    wanted, commands = what_runs(project, config)
    if given in (wanted, "all"):
        trust(root, wanted, now)
    elif commands and not is_trusted(root, wanted):
        raise Untrusted(wanted, commands)


def something_can_prove_it(plan: Plan, specs: tuple[CheckSpec, ...]) -> None:
    """No agent is paid for work that nothing could ever prove."""
    unproven = [task.id for task in plan.tasks() if not task.verify and not task.done and not task.skipped]
    if unproven and not any(spec.required for spec in specs):
        hint = "add [[checks.run]] to .devteam/config.toml, or `verify: COMMAND` to the tasks in plan.md"
        hint += "; where there are no tests yet: devteam init --force --tests pytest   (or unittest, node)"
        raise Unready(f"no check is configured, so no task could ever pass (tasks {', '.join(unproven)})", hint)


def is_no_draft(sprint: SprintFolder, plan: Plan | None, *, by_hand: bool) -> None:
    """A draft never runs, whoever wrote it. One that the planning conversation is about is what it talks of."""
    if plan is not None and plan.status == "DRAFT" and by_hand:
        said = f"{sprint.plan_path} says Status: DRAFT, and a draft never runs"
        hint = f"devteam plan --sprint {sprint.id}   (it is checked and reviewed, then you are asked)"
        raise Unready(said, f"{hint}; or write Status: APPROVED there")


def may_be_left_alone(mode: SandboxMode, options: Options) -> None:
    """Nobody watches: then the sandbox has to hold, or be waived by name."""
    if mode.unattended or options.attended or options.no_sandbox:
        return
    what = "there is no sandbox here" if mode.name is SandboxName.NONE else "the sandbox here is not enough"
    why = "; ".join((mode.detail, *(mode.lost[:1] if mode.name is not SandboxName.NONE else ())))
    raise Unsafe(f"{what} for work that nobody watches ({why}); say --no-sandbox to run unattended all the same")
