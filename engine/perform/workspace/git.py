"""Hardened git: the only place that runs it.

Nothing a repository, its configuration, its attributes, the user's global configuration or the inherited environment
says can start a program: every key that names one is overridden for each command, filter drivers are blanked by
name (see repository.py), and what an agent wrote is only ever looked at with the engine's own git directory.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from engine.core.model import MachineFault
from engine.core.vocabulary import FailureKind
from engine.perform.workspace.facts import WorkspaceError

if TYPE_CHECKING:
    from subprocess import Popen

    Process = Popen[bytes]

LOCK_SECONDS = 10
"""How long a lock of another git is waited for before it is named."""
HARDENED = ("--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--no-pager")
SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.splitIndex=false",  # a shared index would be written into the git directory
    "core.pager=cat",
    "core.editor=true",
    "core.askPass=true",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=true",
    "core.attributesFile=/dev/null",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.quotePath=true",
    "credential.helper=",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "merge.renames=false",
    "gpg.program=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "index.threads=true",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "core.fsync=committed,reference",
    "core.fsyncMethod=batch",
    f"core.filesRefLockTimeout={LOCK_SECONDS * 1000}",
    f"core.packedRefsTimeout={LOCK_SECONDS * 1000}",
)
"""Over every configuration there is; handed over by environment."""
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_FLUSH": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
    "HOME": "/dev/null",  # $HOME/.config/git/{ignore,attributes} are read even without a global configuration
    "XDG_CONFIG_HOME": "/dev/null",
}
_SAID = {name.encode(): value.encode() for name, value in ENVIRONMENT.items()} | {
    f"GIT_CONFIG_{part}_{place}".encode(): word.encode()
    for place, setting in enumerate(SETTINGS)
    for part, word in zip(("KEY", "VALUE"), setting.split("=", 1), strict=True)
}
RAW_DIFF = ("--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=none")
TIMEOUT = 600.0
GRACE = 20.0


_LOCKED = re.compile(r"Unable to create '(.+\.lock)': File exists")


class GitError(WorkspaceError):
    """git ended with an error. The message is git's own first line."""

    def __init__(self, arguments: tuple[str, ...], status: int, stderr: str) -> None:
        line = next((line for line in stderr.splitlines() if line.strip()), "") or f"exit code {status}"
        for prefix in ("fatal: ", "error: "):
            line = line.removeprefix(prefix)
        verb = next((part for part in arguments if not part.startswith("-")), "")
        ended = status < 0
        kind: FailureKind = "transient" if ended or "lock" in line.lower() else "permanent"
        locked = _LOCKED.search(stderr)
        if locked is None:
            super().__init__(f"git {verb}: {line}", kind=kind)
        else:
            said = f"git {verb}: another git holds {locked[1]}, for {LOCK_SECONDS} s by now"
            hint = f"end it; if none runs any more: rm {shlex.quote(locked[1])}"
            super().__init__(said, hint=hint, kind="transient", fault=MachineFault.GIT_LOCKED)
        self.status = status
        self.stderr = stderr


@cache
def executable() -> str:
    """Absolute path of git. Looked up once, so that a PATH with relative entries never finds one in an agent's tree."""
    found = shutil.which("git")
    if found is None:
        raise WorkspaceError("git is not installed", hint="install git 2.30 or newer")
    return str(Path(found).absolute())


@dataclass(frozen=True)
class Git:
    """One way of looking at one repository: which git directory, which work tree, which index, which identity."""

    git_dir: Path | None
    """None only while the user's repository is being found."""
    cwd: Path
    work_tree: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    config: tuple[tuple[str, str], ...] = ()
    """Further settings; handed over by environment, because a name may hold any character."""

    def with_index(self, index: Path, work_tree: Path | None = None) -> Git:
        """The same repository seen through a private index (and onto another work tree)."""
        tree = work_tree or self.work_tree
        return replace(self, env={**self.env, "GIT_INDEX_FILE": str(index)}, work_tree=tree, cwd=tree or self.cwd)

    def with_env(self, **env: str) -> Git:
        return replace(self, env={**self.env, **env})

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        accept: tuple[int, ...] = (0,),
        options: tuple[str, ...] = (),
        timeout: float = TIMEOUT,
    ) -> bytes:
        """Run git to its end and return its stdout. Raises GitError for an exit code that is not accepted."""
        status, out, err = self.status(*arguments, stdin=stdin, options=options, timeout=timeout)
        if status not in accept:
            raise GitError(arguments, status, err)
        return out

    def line(self, *arguments: str, stdin: bytes | None = None) -> str:
        return self.run(*arguments, stdin=stdin).decode("utf-8", "replace").strip()

    def status(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        options: tuple[str, ...] = (),
        timeout: float = TIMEOUT,
        cap: int = 0,
    ) -> tuple[int, bytes, str]:
        """(exit code, stdout, stderr). With `cap`, reading stops there and git ends by its closed pipe."""
        if stdin is None:
            return self._execute(arguments, None, options, timeout, cap)
        with tempfile.TemporaryFile() as given:  # a file, not a pipe: nobody can wait for the other
            given.write(stdin)
            given.seek(0)
            return self._execute(arguments, given, options, timeout, cap)

    def _execute(
        self, arguments: tuple[str, ...], stdin: IO[bytes] | None, options: tuple[str, ...], timeout: float, cap: int
    ) -> tuple[int, bytes, str]:
        from subprocess import TimeoutExpired

        # (a real file or None: PIPE is never asked for, so that nothing has to be fed while output is read)
        process = self._started(arguments, stdin, options)
        if cap:
            status, out, err = _capped(process, cap, timeout)
        else:
            try:
                out, err = process.communicate(timeout=timeout)
            except TimeoutExpired:
                out, err = _ended(process)
            status = process.returncode
        return status, out, err.decode("utf-8", "replace")

    def start(self, *arguments: str) -> Popen[bytes]:
        """A git that stays and is asked again and again by its pipes: see git_service.py, its only caller."""
        from subprocess import PIPE

        return self._started(arguments, PIPE, ())

    def _started(
        self, arguments: tuple[str, ...], stdin: IO[bytes] | int | None, options: tuple[str, ...]
    ) -> Popen[bytes]:
        # GitPython's own starter. Its `Git.execute` looks at each word for a password and can only add to the
        # environment, never take an inherited GIT_* out of it: that costs as much CPU as the git it starts.
        program = executable()  # before GitPython looks for it in its own way
        from subprocess import DEVNULL, PIPE

        from git.cmd import safer_popen

        argv = [program, *HARDENED, *options]
        if self.git_dir is not None:
            argv.append(f"--git-dir={self.git_dir}")
        if self.work_tree is not None:
            argv.append(f"--work-tree={self.work_tree}")
        argv += arguments
        try:
            process: Popen[bytes] = safer_popen(
                argv,
                stdin=DEVNULL if stdin is None else stdin,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self.cwd if os.access(self.cwd, os.X_OK) else None,
                env=self._environment(),
            )
        except (FileNotFoundError, PermissionError) as gone:
            if os.access(program, os.X_OK):
                raise
            said = f"there is no git at {program} any more"
            raise WorkspaceError(said, hint="install git", fault=MachineFault.STORE_FAULT) from gone
        return process

    def _environment(self) -> dict[bytes, bytes]:
        """All that git gets: the engine's own environment without any GIT_*, and what is said here."""
        env = {name: value for name, value in os.environb.items() if not name.startswith(b"GIT_")}
        env |= _SAID
        env |= {name.encode(): os.fsencode(value) for name, value in self.env.items()}
        env[b"GIT_CONFIG_COUNT"] = str(len(SETTINGS) + len(self.config)).encode()
        for place, (key, value) in enumerate(self.config, len(SETTINGS)):
            env[f"GIT_CONFIG_KEY_{place}".encode()] = os.fsencode(key)
            env[f"GIT_CONFIG_VALUE_{place}".encode()] = os.fsencode(value)
        return env


def end(process: Popen[bytes]) -> None:
    """End a lasting git: its pipes are closed, which it takes for the end; asked and then killed if it does not go."""
    from subprocess import TimeoutExpired

    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    for ask in (None, process.terminate, process.kill):
        if ask is not None:
            ask()
        try:
            process.wait(GRACE if ask is not None else 1.0)
        except TimeoutExpired:
            continue
        return


def _ended(process: Popen[bytes]) -> tuple[bytes, bytes]:
    """End a git that takes too long: asked first, so that it removes its lock files; killed if it does not go."""
    from subprocess import TimeoutExpired

    process.terminate()
    try:
        return process.communicate(timeout=GRACE)
    except TimeoutExpired:
        process.kill()
        return process.communicate()


def _capped(process: Popen[bytes], cap: int, timeout: float) -> tuple[int, bytes, bytes]:
    """Read up to `cap` and close the pipe; a git that takes too long is ended beside the reading."""
    from subprocess import TimeoutExpired

    def stop() -> None:
        process.terminate()
        try:
            process.wait(GRACE)
        except TimeoutExpired:
            process.kill()

    limit = threading.Timer(timeout, stop)
    limit.daemon = True
    limit.start()
    try:
        with cast("IO[bytes]", process.stdout) as stdout:
            out = stdout.read(cap)
        with cast("IO[bytes]", process.stderr) as stderr:
            err = stderr.read()
        process.wait()
    finally:
        limit.cancel()
    return 0 if len(out) >= cap else process.returncode, out, err


def nul_list(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def nul_split(data: bytes) -> list[bytes]:
    parts = data.split(b"\0")
    if parts and not parts[-1]:
        parts.pop()
    return parts
