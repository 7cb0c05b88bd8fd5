"""What starts devteam's supervisor when the user's machine starts: systemd, launchd, or cron. One record each.

Each writes one thing that is devteam's own (a unit, an agent, a line with a mark) and takes exactly that out again.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape

from engine import files
from engine.agent_records import records
from engine.clock import SystemClock
from engine.core.model import Struct
from engine.link.user_errors import UserError
from engine.perform.process.environment import TOOLS

NAME = "devteam"
LABEL = "devteam.supervisor"
MARK = "# devteam: takes running sprints up again (devteam service uninstall)"
SECONDS = 30.0
CARRIED = ("PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "TZ", *TOOLS)
"""By what a sprint, its agents and its checks are found, the dearest first. A login is a secret, and never written."""
CRON_LONGEST = 980
"""Bytes of a crontab's line; a longer one is refused."""


class Done(Struct, frozen=True, kw_only=True):
    """How a program ended."""

    code: int
    out: str = ""
    err: str = ""


class Here(Struct, frozen=True, kw_only=True):
    """Whose machine it is."""

    env: Mapping[str, str]
    home: Path

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.env.get("PATH", os.defpath)) is not None

    def run(self, *argv: str, stdin: str | None = None) -> Done:
        from engine.perform.process.spawner import ProcessSpawner
        from engine.perform.process.spawning import ProcessSpec

        scratch = Path(os.path.realpath(self.env.get("TMPDIR", "/tmp")))  # noqa: S108
        spawner = ProcessSpawner("none", "service", SystemClock().monotonic, home=self.home, scratch=scratch)
        given = None if stdin is None else stdin.encode("utf-8", "surrogateescape")
        spec = ProcessSpec(argv=argv, cwd=self.home, env=dict(self.env), stdin=given, timeout=SECONDS)
        ended = asyncio.run(spawner.run(spec))
        out, err = (text.decode("utf-8", "surrogateescape") for text in (ended.stdout, ended.stderr))
        return Done(code=1 if ended.exit_code is None else ended.exit_code, out=out, err=err or ended.error)


class StartUp(Protocol):
    """One way to be started with the machine. Lines say what was done; UserError what could not be."""

    name: str

    def usable(self, here: Here) -> bool: ...

    def written(self, here: Here, command: Sequence[str]) -> tuple[str, str]:
        """Where something is written, and all that would stand there."""
        ...

    def install(self, here: Here, command: Sequence[str]) -> Iterator[str]: ...

    def uninstall(self, here: Here) -> Iterator[str]: ...

    def installed(self, here: Here) -> bool: ...


class Systemd:
    """A unit of the user's own manager."""

    name = "systemd"

    def usable(self, here: Here) -> bool:
        return here.has("systemctl") and here.run("systemctl", "--user", "show-environment").code == 0

    def path(self, here: Here) -> Path:
        named = Path(here.env.get("XDG_CONFIG_HOME", ""))
        return (named if named.is_absolute() else here.home / ".config") / "systemd" / "user" / f"{NAME}.service"

    def written(self, here: Here, command: Sequence[str]) -> tuple[str, str]:
        return str(self.path(here)), systemd_unit(command, here.env)

    def install(self, here: Here, command: Sequence[str]) -> Iterator[str]:
        yield _put(*self.written(here, command))
        for words in (("daemon-reload",), ("enable", f"{NAME}.service"), ("restart", f"{NAME}.service")):
            done = here.run("systemctl", "--user", *words)
            if done.code:
                raise UserError(
                    f"systemctl --user {shlex.join(words)}: {done.err.strip()}", "devteam service uninstall", 1
                )
        yield "started, and started again with your session"
        yield "for runs that go on while you are logged out: loginctl enable-linger"

    def uninstall(self, here: Here) -> Iterator[str]:
        here.run("systemctl", "--user", "disable", "--now", f"{NAME}.service")
        self.path(here).unlink(missing_ok=True)
        here.run("systemctl", "--user", "daemon-reload")
        yield f"{self.path(here)}: removed"

    def installed(self, here: Here) -> bool:
        return self.path(here).is_file()


class Launchd:
    """A launch agent of the user."""

    name = "launchd"

    def usable(self, here: Here) -> bool:
        return sys.platform == "darwin" and here.has("launchctl")

    def path(self, here: Here) -> Path:
        return here.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def written(self, here: Here, command: Sequence[str]) -> tuple[str, str]:
        return str(self.path(here)), launchd_plist(command, here.env)

    def install(self, here: Here, command: Sequence[str]) -> Iterator[str]:
        yield _put(*self.written(here, command))
        here.run("launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}")
        done = here.run("launchctl", "bootstrap", f"gui/{os.getuid()}", str(self.path(here)))
        if done.code:
            raise UserError(f"launchctl bootstrap: {done.err.strip()}", "devteam service uninstall", 1)
        yield "started, and started again when you log in"

    def uninstall(self, here: Here) -> Iterator[str]:
        here.run("launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}")
        self.path(here).unlink(missing_ok=True)
        yield f"{self.path(here)}: removed"

    def installed(self, here: Here) -> bool:
        return self.path(here).is_file()


class Cron:
    """A line of the user's crontab."""

    name = "cron"

    def usable(self, here: Here) -> bool:
        return here.has("crontab")

    def written(self, here: Here, command: Sequence[str]) -> tuple[str, str]:
        return "crontab", with_line(self._read(here), cron_line(command, here.env))

    def install(self, here: Here, command: Sequence[str]) -> Iterator[str]:
        before = self._read(here)
        _, after = self.written(here, command)
        if after == before:
            yield "crontab: nothing to change"
            return
        self._write(here, after)
        yield "crontab: an @reboot line was added; it takes effect at the next start"
        yield f"until then: nohup {shlex.join(command)} &"
        if " PATH=" not in after.rpartition(MARK)[2].replace("'", ""):
            yield "PATH is too long for a line of a crontab: what lies outside /usr/bin and /bin is not found there"

    def uninstall(self, here: Here) -> Iterator[str]:
        before = self._read(here)
        after = without_line(before)
        if after != before:
            self._write(here, after)
        yield "crontab: devteam's line is out of it"

    def installed(self, here: Here) -> bool:
        return MARK in self._read(here)

    def _read(self, here: Here) -> str:
        done = here.run("crontab", "-l")
        if done.code and "no crontab" not in done.err.lower():
            raise UserError(f"crontab -l: {done.err.strip() or f'exit code {done.code}'}", "nothing was changed", 1)
        return "" if done.code else done.out

    def _write(self, here: Here, text: str) -> None:
        done = here.run("crontab", "-", stdin=text)
        if done.code:
            raise UserError(f"crontab: {done.err.strip() or f'exit code {done.code}'}", "nothing was changed", 1)


WAYS: tuple[StartUp, ...] = (Systemd(), Launchd(), Cron())


def chosen(here: Here) -> StartUp:
    """The first way there is on this machine."""
    for way in WAYS:
        if way.usable(here):
            return way
    hint = "start it yourself, e.g. from your shell's profile: nohup devteam service run &"
    raise UserError("there is no systemd user manager, no launchd and no crontab here", hint)


def not_carried(env: Mapping[str, str]) -> list[str]:
    """Logins of agents that this environment holds, by name: what starts with the machine has none of them."""
    return sorted({name for one in records().values() for name in one.login.env if env.get(name)})


# ── the texts ──────────────────────────────────────────────────────────────────────────────────────────────────────


def carried(env: Mapping[str, str]) -> dict[str, str]:
    """What the supervisor is given of the environment it is installed from: the machine's start has next to none."""
    found = {name: env[name] for name in CARRIED if env.get(name, "").isprintable() and env.get(name)}
    return {"PATH": os.defpath, **found}


def systemd_unit(command: Sequence[str], env: Mapping[str, str]) -> str:
    """Stopping it leaves the engines alone: only the supervisor itself is ended."""
    line = " ".join(_systemd_word(word).replace("$", "$$") for word in command)
    given = "\n".join(f"Environment={_systemd_word(f'{name}={value}')}" for name, value in carried(env).items())
    return f"""[Unit]
Description=devteam: takes running sprints up again
StartLimitIntervalSec=0

[Service]
Type=simple
{given}
ExecStart={line}
Restart=always
RestartSec=10
KillMode=process

[Install]
WantedBy=default.target
"""


def _systemd_word(word: str) -> str:
    """Quoted for a unit file: no specifier is expanded."""
    quoted = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    return f'"{quoted}"'


def launchd_plist(command: Sequence[str], env: Mapping[str, str]) -> str:
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in command)
    given = "\n".join(
        f"    <key>{name}</key>\n    <string>{escape(value)}</string>" for name, value in carried(env).items()
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
{given}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>AbandonProcessGroup</key>
  <true/>
</dict>
</plist>
"""


def cron_line(command: Sequence[str], env: Mapping[str, str]) -> str:
    """With as much of the environment as a line may hold. A % would end the command: cron wants it escaped."""
    given: list[str] = []

    def line() -> str:
        return f"@reboot {shlex.join(['env', *given, *command])} >/dev/null 2>&1".replace("%", "\\%")

    for name, value in carried(env).items():
        given.append(f"{name}={value}")
        if len(os.fsencode(line())) > CRON_LONGEST:
            given.pop()
    return line()


def with_line(text: str, line: str) -> str:
    """The crontab with our line once, under its mark; all else as it was."""
    rest = without_line(text)
    gap = "" if not rest or rest.endswith("\n") else "\n"
    return f"{rest}{gap}{MARK}\n{line}\n"


def without_line(text: str) -> str:
    kept, skip = [], False
    for line in text.splitlines(keepends=True):
        if line.rstrip("\n") == MARK:
            skip = True
        elif skip and line.startswith("@reboot "):
            skip = False
        else:
            kept.append(line)
    return "".join(kept)


def _put(name: str, text: str) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, text, mode=files.SHARED)
    return f"{path}: written"
