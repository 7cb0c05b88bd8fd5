"""What a hostile repository or agent can plant so that git runs it. Each touches a marker when it fires."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.workspace.repos import PLAIN, git, write


@dataclass(frozen=True)
class Payload:
    name: str
    plant: Callable[[Path, str], None]
    """(work tree with a .git, command to run)"""
    fire: Callable[[Path], None]
    """What sets it off under plain git."""
    env: Callable[[str], dict[str, str]] = field(default=lambda command: {})


def script(folder: Path, marker: Path) -> str:
    """A program that touches the marker, and answers as a filter or editor would."""
    path = folder / f"payload-{marker.name}.sh"
    path.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat 2>/dev/null </dev/null\nexit 0\n")
    path.chmod(0o755)
    return str(path)


def config(key: str, value: str = "{}") -> Callable[[Path, str], None]:
    def plant(tree: Path, command: str) -> None:
        git(tree, "config", key, value.format(command))

    return plant


def several(*parts: Callable[[Path, str], None]) -> Callable[[Path, str], None]:
    def plant(tree: Path, command: str) -> None:
        for part in parts:
            part(tree, command)

    return plant


def attributes(text: str) -> Callable[[Path, str], None]:
    def plant(tree: Path, _: str) -> None:
        write(tree / ".gitattributes", text)
        write(tree / ".git" / "info" / "attributes", text)

    return plant


def hooks(tree: Path, command: str) -> None:
    for name in ("pre-commit", "post-commit", "post-checkout", "post-index-change", "reference-transaction",
                 "pre-auto-gc", "post-rewrite", "post-merge", "update", "post-update"):  # fmt: skip
        write(tree / ".git" / "hooks" / name, f"#!/bin/sh\n{command}\n").chmod(0o755)


def other_hooks(tree: Path, command: str) -> None:
    write(tree / ".git" / "elsewhere" / "pre-commit", f"#!/bin/sh\n{command}\n").chmod(0o755)
    write(tree / ".git" / "elsewhere" / "reference-transaction", f"#!/bin/sh\n{command}\n").chmod(0o755)
    git(tree, "config", "core.hooksPath", str(tree / ".git" / "elsewhere"))


def included(tree: Path, command: str) -> None:
    write(tree / ".git" / "more", f"[core]\n\tfsmonitor = {command}\n")
    git(tree, "config", "include.path", "more")


def embedded_bare(tree: Path, command: str) -> None:
    inner = tree / "embedded"
    for name in ("objects", "refs"):
        (inner / name).mkdir(parents=True, exist_ok=True)
    write(inner / "HEAD", "ref: refs/heads/x\n")
    write(
        inner / "config",
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {command}\n",
    )


def nested(tree: Path, command: str) -> None:
    inner = tree / "inner"
    inner.mkdir(exist_ok=True)
    git(inner, "init", "-q")
    git(inner, "config", "core.fsmonitor", command)
    write(inner / "file")
    git(inner, "-c", "core.fsmonitor=false", "add", "-A")
    git(inner, "-c", "core.fsmonitor=false", "commit", "--allow-empty", "-qm", "x")


def submodule(tree: Path, command: str) -> None:
    """git looks into a submodule, with the submodule's own filters, when its HEAD is the recorded commit."""
    nested(tree, "false")
    git(tree / "inner", "config", "core.fsmonitor", "false")
    git(tree / "inner", "config", "filter.evil.clean", command)
    write(tree / "inner" / ".git" / "info" / "attributes", "* filter=evil\n")
    write(tree / "inner" / "file", "TEXT\n")  # the same size: only its content can tell
    recorded = git(tree, "ls-files", "--stage", "inner").split()
    if recorded and recorded[0] == "160000":
        write(tree / "inner" / ".git" / "HEAD", recorded[1] + "\n")
        return
    head = git(tree / "inner", "rev-parse", "HEAD").strip()
    git(tree, "update-index", "--add", "--cacheinfo", f"160000,{head},inner")


def _touch(tree: Path) -> Path:
    path = next(item for item in sorted(tree.rglob("*.py")) if ".git" not in item.parts)
    path.write_text(path.read_text() + "# more\n")
    return path


def run(*arguments: str) -> Callable[[Path], None]:
    def fire(tree: Path) -> None:
        git(tree, *arguments, check=False)

    return fire


def after_edit(*arguments: str) -> Callable[[Path], None]:
    def fire(tree: Path) -> None:
        _touch(tree)
        git(tree, *arguments, check=False)

    return fire


def checkout_again(tree: Path) -> None:
    path = _touch(tree)
    path.unlink()
    git(tree, "checkout", "--", str(path), check=False)


def on_a_terminal(tree: Path) -> None:
    master, slave = pty.openpty()
    subprocess.run(["git", "log"], cwd=tree, env={**PLAIN, "TERM": "xterm"}, stdout=slave, stderr=slave, check=False)
    os.close(slave)
    os.close(master)


def below(name: str, *arguments: str) -> Callable[[Path], None]:
    def fire(tree: Path) -> None:
        git(tree / name, *arguments, check=False)

    return fire


def in_environment(tree: Path) -> None:
    """Fired with the payload's environment by the test itself."""


_DRIVER = attributes("* filter=evil diff=evil merge=evil text\n")
PAYLOADS = (
    Payload("hooks", hooks, run("commit", "--allow-empty", "-m", "x")),
    Payload("hooks-path", other_hooks, run("commit", "--allow-empty", "-m", "x")),
    Payload("fsmonitor", config("core.fsmonitor"), run("status")),
    Payload("filter-clean", several(config("filter.evil.clean"), _DRIVER), after_edit("add", "-A")),
    Payload("filter-smudge", several(config("filter.evil.smudge"), _DRIVER), checkout_again),
    Payload("filter-process", several(config("filter.evil.process"), _DRIVER), after_edit("add", "-A")),
    Payload("filter-odd-name", several(config("filter.a=b.c.clean"), attributes("* filter=a=b.c\n")),
            after_edit("add", "-A")),
    Payload("diff-external", config("diff.external"), after_edit("diff")),
    Payload("diff-driver", several(config("diff.evil.command"), _DRIVER), after_edit("diff")),
    Payload("textconv", several(config("diff.evil.textconv"), _DRIVER), after_edit("diff")),
    Payload("include-path", included, run("status")),
    Payload("alias", config("alias.st", "!{}"), run("st")),
    Payload("editor", config("core.editor"), run("commit", "--allow-empty")),
    Payload("pager", config("core.pager"), on_a_terminal),
    Payload("ssh-command", config("core.sshCommand"), run("ls-remote", "ssh://host.invalid/x")),
    Payload("gpg", several(config("gpg.program"), config("commit.gpgSign", "true")),
            run("commit", "--allow-empty", "-m", "x")),
    Payload("embedded-bare", embedded_bare, below("embedded", "status")),
    Payload("nested-repository", nested, below("inner", "status")),
    Payload("submodule-filter", submodule, run("status")),
    Payload(
        "environment", lambda tree, command: None, in_environment,
        lambda command: {"GIT_EXTERNAL_DIFF": command, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
                         "GIT_CONFIG_VALUE_0": command, "GIT_SSH_COMMAND": command, "GIT_EDITOR": command,
                         "GIT_PAGER": command, "GIT_INDEX_FILE": "/nowhere/index", "GIT_DIR": "/nowhere",
                         "GIT_WORK_TREE": "/nowhere", "GIT_OBJECT_DIRECTORY": "/nowhere"},
    ),
)  # fmt: skip
