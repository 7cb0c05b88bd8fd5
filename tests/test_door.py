"""The repository at hand is data: no process of ours ever imports a module from it or runs a program of it, for any
command.

The repository holds a module under every name that Python or devteam could import, and a program under every name that
devteam could start. Each leaves a mark and ends its process. Its checks run no Python, so a mark can only come from a
process of ours.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.ground import CONFIG, PLAN, SCENARIO, Ground, make
from tests.cli.test_service import crontab_only
from tests.cli.test_terminal import Screen

ROOT = Path(__file__).parents[1]
DEVTEAM = Path(sys.executable).with_name("devteam")

OURS = ("engine", "tui", "themes", "tests")
HOOKS = ("sitecustomize", "usercustomize", "conftest")
PYTHON = f"python3.{sys.version_info[1]}"
PROGRAMS = (
    *("git", "python", "python3", PYTHON, "sh", "env", "dirname", "readlink", "uname", "bwrap", "setpriv", "unshare"),
    *("gh", "systemctl", "launchctl", "crontab", "loginctl", "notify-send", "tmux", "less", "vi", "claude", "codex"),
)


def every_name() -> set[str]:
    """Whatever can be imported here: the standard library, everything installed, and ourselves."""
    installed = {name for name in importlib.metadata.packages_distributions() if name.isidentifier()}
    return {*sys.stdlib_module_names, *installed, *OURS, *HOOKS} - {"__future__", "__main__"}


def plant(folder: Path, mark: Path, names: set[str]) -> None:
    """Modules and packages that mark and end whoever imports them."""
    for name in sorted(names):
        trap = textwrap.dedent(f"""
            import os, sys
            fd = os.open({str(mark)!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.write(fd, ({name!r} + " by " + repr(getattr(sys, "orig_argv", "?")) + chr(10)).encode())
            os._exit(77)
        """)
        if name in OURS:
            for place in ("__init__.py", "cli/__init__.py", "cli/main.py"):
                path = folder / name / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(trap)
        else:
            (folder / f"{name}.py").write_text(trap)
    for name in PROGRAMS:
        (folder / name).write_text(f'#!/bin/sh\necho "{name} by $PPID: $*" >> {mark}\nexit 77\n')
        (folder / name).chmod(0o755)
    (folder / "pyvenv.cfg").write_text(f"home = {folder}\ninclude-system-site-packages = false\n")
    (folder / "evil.pth").write_text("import sitecustomize\n")
    user_site = folder / "lib" / PYTHON / "site-packages"  # what PYTHONUSERBASE, or PYTHONHOME, would make of it
    user_site.mkdir(parents=True)
    (user_site / "evil.pth").write_text(f"import sys; sys.path.insert(0, {str(folder)!r}); import sitecustomize\n")


def hostile(root: Path, names: set[str] | None = None, *, config: str = CONFIG) -> Ground:
    """A repository of traps, its sprint planned and trusted, in an environment that points Python and PATH at it."""
    home, folder = root / "home", root / "repo"
    ground = make(folder, home, config=config, plan="", scenario=SCENARIO)
    plant(folder, root / "mark", names if names is not None else every_name())
    ground.git("add", "-A")
    ground.git("commit", "-qm", "traps")
    for name, value in {
        "PATH": f".{os.pathsep}{os.environ['PATH']}{os.pathsep}",
        "PYTHONPATH": f".{os.pathsep}{folder}{os.pathsep}",
        "PYTHONHOME": str(folder),
        "PYTHONSTARTUP": str(folder / "json.py"),
        "PYTHONUSERBASE": str(folder),
        "PYTHONSAFEPATH": "",
        "PYTHONINSPECT": "",
        "PYTHONWARNINGS": "ignore::secrets.Trap",
        "PYTHONBREAKPOINT": "secrets.trap",
    }.items():
        ground.env[name] = value
    return ground


def devteam(ground: Ground, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(DEVTEAM), *words],
        cwd=ground.folder,
        env=ground.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def untouched(ground: Ground) -> None:
    mark = ground.folder.parent / "mark"
    assert not mark.exists(), f"imported from the repository: {mark.read_text()}"


COMMANDS: list[tuple[str, int]] = [
    # in an order that makes a whole life of a sprint; the expected exit code says that each did its work
    ("doctor", -1),
    ("agents", 0),
    ("plan --from {plan}", 0),
    ("trust --show", 0),
    ("run --unattended --trust all", 0),
    ("status", 0),
    ("status --json", 0),
    ("sprints", 0),
    ("log", 0),
    ("report", 0),
    ("cost", 0),
    ("evidence 1.1", 0),
    ("baseline list", 0),
    ("checkpoint list", 0),
    ("rollback --to start", -1),
    ("land", -1),
    ("answer G1 yes", -1),
    ("pause", 4),
    ("resume", -1),
    ("stop", 4),
    ("cancel", -1),
    ("skip 1.1", -1),
    ("retry 1.1", -1),
    ("steer 1.1 words", -1),
    ("auto task", -1),
    ("replan 1.1 words", -1),
    ("prd --unattended --trust all an-idea", -1),
    ("init --force", 0),
    ("--version", 0),
    ("--help", 0),
    ("tui", 4),
    ("service status", 0),
    ("service install", 0),
    ("service run --once", 0),
    ("service uninstall", 0),
    ("hooks install --print", 0),
    ("hook begin", -1),
    ("hook stop", 0),
]


ELSEWHERE = {"demo", "serve"}
"""They do not end by themselves: each has a test of its own."""


def every_other_command() -> list[tuple[str, int]]:
    """Commands that nobody put into the list, in groups too: tried with a word for each argument that they need."""
    from tui.cli.app import app

    def leaves(command: Any, path: str) -> Iterator[str]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from leaves(inner, f"{path} {name}".strip())
        if not hasattr(command, "commands"):
            needed = (one for one in command.params if one.param_type_name == "argument" and one.required)
            yield " ".join([path, *("1.1" for _ in needed)])

    listed = [f"{line} " for line, _ in COMMANDS]
    found = (line for line in leaves(typer.main.get_command(app), "") if line not in ELSEWHERE)
    return [(line, -1) for line in found if not any(one.startswith(f"{line.partition(' 1.1')[0]} ") for one in listed)]


@pytest.mark.parametrize("which", ["listed", "every other"])
def test_a_repository_full_of_traps_is_only_data(tmp_path: Path, which: str) -> None:
    ground = hostile(tmp_path)
    crontab_only(ground)  # `service install` changes nothing of this machine
    plan = ground.home / "plan.md"
    plan.write_text(PLAN)
    others = every_other_command()
    assert {"checkpoint save", "rollback undo", "hook guard", "learnings show 1.1"} <= dict(others).keys()
    for line, code in COMMANDS if which == "listed" else [("plan --from {plan}", 0), *others]:
        done = devteam(ground, *line.format(plan=plan).split())
        untouched(ground)
        assert code in (-1, done.returncode), f"devteam {line}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode != 77, line
        assert "Traceback" not in done.stderr, done.stderr
        assert "Missing argument" not in done.stderr and "No such command" not in done.stderr, f"{line}: {done.stderr}"


def test_the_page_for_a_browser_among_traps(tmp_path: Path) -> None:
    """`devteam serve` goes on until it is ended: it is watched until it says where it serves."""
    pytest.importorskip("textual_serve")
    ground = hostile(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [str(DEVTEAM), "serve", "--port", str(port)],
        cwd=ground.folder,
        env=ground.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    try:
        assert any(str(port) in line for line in process.stdout), "it ended before it served"
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()
    untouched(ground)


def test_the_demo_among_traps(tmp_path: Path) -> None:
    """The demo makes a repository of its own; it is started in this one and watched until its first checks ended."""
    ground = hostile(tmp_path)
    process = subprocess.Popen(
        [str(DEVTEAM), "demo", "--json", "--speed", "50", "--dir", str(tmp_path / "demo")],
        cwd=ground.folder,
        env=ground.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    try:
        assert any('"checks_finished"' in line for line in process.stdout), "it ended before its first check did"
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()
    untouched(ground)


def test_the_dashboard_and_its_engine_among_traps(tmp_path: Path) -> None:
    """`devteam tui` on a terminal starts an engine in the background: neither imports from the repository."""
    ground = hostile(tmp_path, config=CONFIG.replace('"auto"', '"gated"'))
    plan = ground.home / "plan.md"
    plan.write_text(PLAN)
    assert devteam(ground, "plan", "--from", str(plan)).returncode == 0
    dashboard = Screen(ground, "tui", "--trust", "all", program=[str(DEVTEAM)])
    try:
        dashboard.until("GATE")
        holder = _Engine(ground)
        assert holder.folder != ground.folder, "the engine stands in the state directory"
        assert "-I" in holder.command
        dashboard.type("q")
        dashboard.until("the engine goes on")
    finally:
        dashboard.close()
        stopped = devteam(ground, "stop", "--now")
    # With nobody watching the sprint goes on: on a slow machine it is over before the word to stop comes.
    assert stopped.returncode == 0 or "no engine is running" in stopped.stdout, stopped.stdout + stopped.stderr
    untouched(ground)


class _Engine:
    """The process that holds the lock, as the kernel sees it."""

    def __init__(self, ground: Ground) -> None:
        from engine.service.local import open_desk

        holder = open_desk(ground.folder, ground.environment(), ground.home).engine()
        assert holder is not None
        proc = Path("/proc") / str(holder.pid)
        self.folder = (proc / "cwd").resolve()
        self.command = (proc / "cmdline").read_bytes().decode().split("\0")


@pytest.mark.parametrize("words", [["status"], ["doctor"], ["run", "--unattended", "--trust", "all"]], ids=" ".join)
def test_started_by_name_in_the_repository(tmp_path: Path, words: list[str]) -> None:
    """`python -m tui.cli.main` looks into the working folder first: from our first line on it does not."""
    names = {"engine", "themes", "secrets", "json", "typing", "msgspec", "typer", "sitecustomize"}
    ground = hostile(tmp_path, names)
    plan = ground.home / "plan.md"
    plan.write_text(PLAN)
    assert devteam(ground, "plan", "--from", str(plan)).returncode == 0
    ground.env = {"PATH": ground.env["PATH"]}  # PYTHONPATH is our own root: this is how a developer starts it
    done = subprocess.run(
        [sys.executable, "-m", "tui.cli.main", *words],
        cwd=ground.folder,
        env=ground.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    untouched(ground)
    assert done.returncode in ((0, 1) if words == ["doctor"] else (0,)), done.stderr


def test_the_script_run_by_an_unsafe_interpreter_starts_a_safe_one(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    plant(folder, tmp_path / "mark", {"tui", "engine", "json", "secrets"})
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(DEVTEAM), "--version"], cwd=folder, env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "devteam"), done.stderr
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("beside", [True, False], ids=["installed for the user", "alone"])
def test_the_interpreter_of_an_active_environment_is_not_ours(tmp_path: Path, beside: bool) -> None:
    """The script lies in no environment and looks for its interpreter: the active one may be the repository's own."""
    folder, script = tmp_path / "repo", tmp_path / "local" / "bin" / "devteam"
    script.parent.mkdir(parents=True)
    shutil.copy2(DEVTEAM, script)
    if beside:
        (tmp_path / "local" / "lib" / PYTHON / "site-packages" / "devteam-1.dist-info").mkdir(parents=True)
    name = PYTHON if beside else "python3"
    for place, word in (("repo/.venv/bin", "the repository's"), ("usr/bin", "ours")):
        program = tmp_path / place / name
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho "{word}: $*"\n')
        program.chmod(0o755)
    (folder / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    path = os.pathsep.join([f"{folder}/.venv/bin", "", f"{tmp_path}/usr/bin", os.environ["PATH"]])
    done = subprocess.run([str(script), "run", "a b"], cwd=folder, env={"PATH": path}, capture_output=True, text=True)
    assert done.stdout == f"ours: -I {script} run a b\n", done.stderr


def test_the_traps_work(tmp_path: Path) -> None:
    """An interpreter that is not isolated walks into them: otherwise the tests above would say nothing."""
    folder = tmp_path / "repo"
    folder.mkdir()
    plant(folder, tmp_path / "mark", every_name())
    env = {"PATH": f".{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(folder)}
    commands = [[sys.executable, "-c", code] for code in ("import secrets", "import tui.cli.main", "pass")]
    for command in (*commands, *([name] for name in PROGRAMS)):
        with contextlib.suppress(FileNotFoundError):
            (tmp_path / "mark").unlink()
        assert subprocess.run(command, cwd=folder, env=env).returncode == 77, command
        assert (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        pytest.param("", False, id="working folder"),
        pytest.param("src", False, id="relative"),
        pytest.param("{repo}", False, id="repository"),
        pytest.param("{repo}/src", False, id="in it"),
        pytest.param("{link}", False, id="link to it"),
        pytest.param("{repo}x", True, id="beside it"),
        pytest.param("{root}", True, id="ours"),
        pytest.param("{prefix}/lib/python3.11/site-packages", True, id="interpreter"),
        pytest.param("/opt/more", True, id="elsewhere"),
    ],
)
def test_what_may_be_imported_from(tmp_path: Path, entry: str, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from tui.cli.safe_path import safe_path

    repo, link = tmp_path / "repo", tmp_path / "link"
    (repo / ".git").mkdir(parents=True)
    (repo / "sub").mkdir()
    link.symlink_to(repo)
    monkeypatch.setattr(sys, "prefix", str(repo / ".venv"))
    given = entry.format(repo=repo, link=link, root=ROOT, prefix=repo / ".venv")
    for start in (repo, repo / "sub", link):
        assert safe_path([given], str(start)) == ([given] if kept else [])
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))  # /usr with a repository in /usr/src
    assert safe_path([given], str(repo)) == ([given] if kept else [])


def test_a_command_without_its_environment_says_so(tmp_path: Path) -> None:
    """`bin/devteam` of a checkout that nobody installed."""
    command = tmp_path / "bin" / "devteam"
    command.parent.mkdir()
    command.write_bytes((ROOT / "bin" / "devteam").read_bytes())
    python = Path(sys.base_prefix) / "bin"
    done = subprocess.run(
        ["sh", str(command), "status"],
        env={"PATH": f"{python}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "it is not installed there" in done.stderr
    assert f"pipx install {tmp_path}" in done.stderr
    assert "Traceback" not in done.stderr
