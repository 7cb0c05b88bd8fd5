"""What can go wrong between a user and the engine, as one kind of error: what happened, what to type, the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.core.model import MachineFault


class UserError(Exception):
    """Words for the user. Exit code 4 is bad input or an untrusted repository, 3 waits for a human, 2 is the machine's
    fault, 1 is a failure."""

    def __init__(self, message: str, hint: str = "", code: int = 4) -> None:
        super().__init__(message)
        self.hint = hint
        self.code = code


_BAD_INPUT = {
    "PlanRefused",
    "ConfigRefused",
    "SprintNotFound",
    "NoRepository",
    "UnusablePath",
    "ScenarioError",
    "DemoRefused",
    "Refused",
    "SandboxUnavailableError",
    "Unsafe",
    "Unready",
    "UnknownAgentError",
}
_FAILURES = {"WorkspaceError", "GitError", "PerformError"}


def as_user_error(error: BaseException) -> UserError | None:
    """The user's form of an error of any room; None for one that is a bug. By name: no room is imported for it."""
    if isinstance(error, UserError):
        return error
    told = _told(error)
    return _of_the_machine(error, told) if told is not None else None


def _of_the_machine(error: BaseException, told: UserError) -> UserError:
    """The machine's fault by its name, with what is to be freed: nobody's input was bad, and the next start goes on."""
    from engine.core.machine import CURES
    from engine.machine_words import ERRNOS, fault_in

    number = error.errno if isinstance(error, OSError) else None
    own: MachineFault | None = getattr(error, "fault", None)
    fault = own or ERRNOS.get(number or 0) or fault_in(str(told))
    if fault is None:
        return told
    return UserError(f"{fault.value}: {told}", (own and told.hint) or CURES[fault], code=2)


def _told(error: BaseException) -> UserError | None:
    names = {kind.__name__ for kind in type(error).__mro__}
    hint = str(getattr(error, "hint", ""))
    if "Untrusted" in names:
        return _untrusted(error)
    if "EngineRunning" in names:
        return UserError(str(error), hint, code=4)
    if names & _BAD_INPUT:
        return UserError(str(error), hint, code=4)
    if "JournalError" in names or names & _FAILURES:
        return UserError(str(error), hint, code=1)
    if isinstance(error, PermissionError | FileNotFoundError | IsADirectoryError | NotADirectoryError):
        return UserError(f"{error.filename}: {error.strerror}", "check the path and its permissions", code=4)
    if isinstance(error, OSError) and error.strerror:
        return UserError(f"{error.filename or 'system'}: {error.strerror}", "", code=1)
    if isinstance(error, MemoryError):
        return UserError("out of memory", "", code=1)
    if isinstance(error, RuntimeError | ImportError):  # Python's own words for no thread, and for a module not mapped
        from engine.machine_words import fault_in

        return UserError(str(error), "", code=1) if fault_in(str(error)) is not None else None
    return None


def _untrusted(error: BaseException) -> UserError:
    commands = getattr(error, "commands", ())
    listed = "\n".join(f"    {where}: {line}" for where, line in commands)
    hint = f"if you trust them: devteam trust   (headless: --trust {getattr(error, 'hash', '')})"
    return UserError(f"{error}. They would be run on this machine:\n{listed}", hint, code=4)
