"""Sprints that lost their engine are taken up again: what is installed, as text and for real, and what it starts."""

from __future__ import annotations

import plistlib
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engine.service.start_up import (
    CRON_LONGEST,
    MARK,
    WAYS,
    Here,
    Launchd,
    Systemd,
    cron_line,
    launchd_plist,
    not_carried,
    systemd_unit,
    with_line,
    without_line,
)
from engine.service.supervising import STARTS, WITHIN, Supervisor, lost
from tests.cli.ground import SCENARIO, Ground, make, trusted
from tests.cli.test_detached import HANGS, PATIENT, engines
from tests.patience import until

ODD = ['/opt/de vteam/50%/$HOME/dev"team', "service", "run"]
CRONTAB = """#!/bin/sh
if [ "$1" != -l ]; then exec cat > "$HOME/crontab"; fi
cat "$HOME/crontab" 2>/dev/null && exit
echo "no crontab for you" >&2
exit 1
"""


def crontab_only(ground: Ground) -> None:
    """A machine without a systemd user manager, whose crontab is a file."""
    folder = ground.home / "bin"
    folder.mkdir()
    for name, text in (("crontab", CRONTAB), ("systemctl", "#!/bin/sh\nexit 1\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    ground.env["PATH"] = f"{folder}:{ground.environment()['PATH']}"


def test_the_units_say_what_is_meant(tmp_path: Path) -> None:
    unit = tmp_path / "devteam.service"
    command = ["/bin/true", "a b", '50% "$HOME" \\n']
    unit.write_text(systemd_unit(command, {"PATH": "/usr/bin:/bin"}))
    assert "KillMode=process" in unit.read_text() and "Restart=always" in unit.read_text()
    assert 'ExecStart="/bin/true" "a b" "50%% \\"$$HOME\\" \\\\n"' in unit.read_text()
    if (verify := shutil.which("systemd-analyze")) is not None:
        done = subprocess.run([verify, "verify", "--user", "--man=no", str(unit)], capture_output=True, text=True)
        assert not [line for line in done.stderr.splitlines() if "devteam.service" in line], done.stderr
    plist = plistlib.loads(launchd_plist(ODD, {"PATH": "/a & b"}).encode())
    assert plist["ProgramArguments"] == ODD and plist["KeepAlive"] and plist["RunAtLoad"]
    assert plist["EnvironmentVariables"] == {"PATH": "/a & b"}
    words = shlex.split(cron_line(ODD, {"PATH": "/a b"}).replace("\\%", "%").removeprefix("@reboot "))
    assert words[:5] == ["env", "PATH=/a b", *ODD]
    assert [way.name for way in WAYS] == ["systemd", "launchd", "cron"]


def test_what_starts_with_the_machine_finds_the_same_programs_and_places() -> None:
    """A machine's start has a bare PATH and none of the user's variables; a login is never written down."""
    env = {
        "PATH": "/home/u/.nvm/bin:/usr/bin",
        "XDG_STATE_HOME": "/big/state",
        "GOPATH": "/go $1",
        "LANG": "two\nlines",
        "ANTHROPIC_API_KEY": "secret",
    }
    kept = {"PATH": env["PATH"], "XDG_STATE_HOME": "/big/state", "GOPATH": "/go $1"}
    unit, plist = systemd_unit(["x"], env), plistlib.loads(launchd_plist(["x"], env).encode())
    assert [line for line in unit.splitlines() if line.startswith("Environment=")] == [
        f'Environment="{name}={value}"' for name, value in kept.items()
    ]
    assert plist["EnvironmentVariables"] == kept
    assert shlex.split(cron_line(["x"], env))[1:6] == ["env", *(f"{name}={value}" for name, value in kept.items()), "x"]
    assert not_carried(env) == ["ANTHROPIC_API_KEY"]
    crowded = cron_line(["x"], {**env, "XDG_STATE_HOME": "%" * 600, "XDG_CONFIG_HOME": "%" * 600})
    assert len(crowded) <= CRON_LONGEST and "PATH=/home" in crowded and "GOPATH" in crowded, "what fits, PATH first"


lines = st.lists(st.text(alphabet="ab *%#@\\\t'\"é"), max_size=6)


@given(lines, st.booleans())
def test_a_crontab_keeps_every_line_of_the_users(theirs: list[str], ends: bool) -> None:
    text = "\n".join(theirs) + ("\n" if ends and theirs else "")
    once = with_line(text, cron_line(["devteam", "service", "run"], {}))
    assert once.count(MARK) == 1 and with_line(once, cron_line(["devteam", "service", "run"], {})) == once
    assert without_line(once) in (text, f"{text}\n")


def test_systemd_and_launchd_by_their_own_programs(tmp_path: Path) -> None:
    """What is written, and what systemctl and launchctl are told; both programs stand in for the real ones."""
    said = tmp_path / "said"
    for name in ("systemctl", "launchctl"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> {said}\n')
        program.chmod(0o755)
    here = Here(env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, home=tmp_path / "home")
    here.home.mkdir()
    for way in (Systemd(), Launchd()):
        assert not way.installed(here)
        list(way.install(here, ["/opt/devteam", "service", "run"]))
        assert way.installed(here) and "/opt/devteam" in way.path(here).read_text()
        assert way.written(here, ["/opt/devteam", "service", "run"]) == (
            str(way.path(here)),
            way.path(here).read_text(),
        )
        list(way.uninstall(here))
        assert not way.installed(here)
    told = said.read_text()
    assert "systemctl --user enable devteam.service" in told and "systemctl --user disable --now" in told
    assert "launchctl bootstrap" in told and "launchctl bootout" in told


def test_a_lost_sprint_is_taken_up_by_what_cron_starts(tmp_path: Path) -> None:
    ground = trusted(make(tmp_path / "repo", tmp_path / "home", config=PATIENT, scenario=HANGS))
    crontab_only(ground)
    (ground.home / "crontab").write_text("0 4 * * * backup\n")
    shown = ground.run("service", "install", "--print")
    assert shown.code == 0 and (ground.home / "crontab").read_text() == "0 4 * * * backup\n"
    installed = ground.run("service", "install")
    assert installed.code == 0, installed.err
    assert "by cron" in installed.out
    assert ground.run("service", "status").out.startswith("installed by cron")
    table = (ground.home / "crontab").read_text()
    assert table.startswith("0 4 * * * backup\n") and shown.out == f"# crontab\n{table}"
    line = next(line for line in table.splitlines() if line.startswith("@reboot ")).removeprefix("@reboot ")

    assert ground.run("run", "--detach").code == 0
    until(lambda: ground.begun() and engines(ground))
    (engine,) = engines(ground)
    subprocess.run(["kill", f"-{int(signal.SIGKILL)}", str(engine["pid"])], check=True)
    until(lambda: not engines(ground))
    ground.write(".devteam/scenario.toml", SCENARIO)
    assert "lost: 001-count-things" in ground.run("service", "status").out

    env = {"HOME": str(ground.home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LANG": "C.UTF-8"}  # as cron has it
    command = line.replace("\\%", "%").replace(">/dev/null 2>&1", "")
    started = subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"], cwd=ground.home, env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout
        assert "001-count-things goes on" in started.stdout.readline()
        until(lambda: ground.status()["outcome"] == "done", 60)
    finally:
        started.kill()
        started.wait()
    assert ground.run("service", "run", "--once").out == "0 taken up\n", "what is done stays done"
    assert ground.run("service", "uninstall").code == 0
    assert (ground.home / "crontab").read_text() == "0 4 * * * backup\n"
    assert ground.run("service", "uninstall").out == "not installed\n"


def test_a_stopped_sprint_and_one_that_always_dies_are_left_alone(tmp_path: Path) -> None:
    ground = trusted(make(tmp_path / "repo", tmp_path / "home", config=PATIENT, scenario=HANGS))
    env = ground.environment()
    assert not list(lost(env, ground.home)), "it never ran"
    assert ground.run("run", "--detach").code == 0
    until(lambda: ground.begun() and engines(ground))
    assert not list(lost(env, ground.home)), "it has its engine"
    (engine,) = engines(ground)
    subprocess.run(["kill", "-9", str(engine["pid"])], check=True)
    until(lambda: not engines(ground))
    starts, said = [], []
    watching = Supervisor(env, ground.home, lambda _desk, folder, _state: starts.append(folder.id), said.append)
    for at in range(STARTS + 2):
        watching.look(float(at))
    assert len(starts) == STARTS and sum("left alone" in line for line in said) == 1
    watching.look(WITHIN + 10)
    assert len(starts) == STARTS + 1, "an hour later it is tried again"
    (ground.folder / ".devteam/autonomous-mode").write_text("{}")
    assert not list(lost(env, ground.home)), "a session of the user's own agent is at it"
    (ground.folder / ".devteam/autonomous-mode").unlink()
    assert ground.run("cancel").code == 0
    assert not list(lost(env, ground.home))
    shutil.rmtree(ground.folder)
    assert not list(lost(env, ground.home)), "a repository that is gone"
