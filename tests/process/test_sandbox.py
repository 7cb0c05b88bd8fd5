"""The place a process is given: the clone at the checkout's path, mounts, HOME, programs; and how the mode is found."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from engine.config.working import Sandbox as SandboxSection
from engine.core.sandboxes import AUTO, SandboxName
from engine.perform.process.home_caches import home_caches
from engine.perform.process.probe import SandboxUnavailableError, probe
from engine.perform.process.sandbox import NAMESPACES, SandboxMode, plan, recipe
from engine.perform.process.spawning import Mount
from engine.perform.process.visible_files import Ground
from tests.patience import patience
from tests.process.conftest import CONFINING, MODES, Grounds, here, need


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Among the machine's temporary files, wherever the other tests have theirs: much here is about /tmp."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def ground(grounds: Grounds) -> Ground:
    return Ground(home=grounds.home, scratch=grounds.base / "scratch")


def lines(data: bytes) -> list[str]:
    return data.decode().splitlines()


@pytest.mark.parametrize("mode", MODES)
async def test_where_the_process_believes_to_be(grounds: Grounds, mode: SandboxName) -> None:
    (grounds.checkout / "secret.env").write_text("x")
    (grounds.clone / "code.py").write_text("x")
    there = grounds.checkout
    script = f"pwd; echo $HOME; ls; echo {there}/a; echo /x{there}; echo {there}b; echo 1 > made"
    finished = await grounds.spawner(mode).run(grounds.spec("sh", "-c", script))
    place = grounds.checkout if mode.mounts else grounds.clone
    home = grounds.home if mode.mounts else grounds.private
    other = [f"/x{grounds.checkout}", f"{grounds.checkout}b"]
    assert lines(finished.stdout) == [str(place), str(home), "code.py", f"{place}/a", *other]
    assert (grounds.clone / "made").exists() and not (grounds.checkout / "made").exists()


@pytest.mark.parametrize("mode", CONFINING)
async def test_control_groups_are_named_as_they_are_mounted(grounds: Grounds, mode: SandboxName) -> None:
    """Java compares the two to learn how much memory there is, and ends where they do not fit."""
    finished = await grounds.spawner(mode).run(grounds.spec("cat", "/proc/self/cgroup"))
    assert finished.stdout.decode() == Path("/proc/self/cgroup").read_text()


@pytest.mark.parametrize("mode", MODES)
async def test_private_home_is_kept_and_the_users_is_not_seen(grounds: Grounds, mode: SandboxName) -> None:
    (grounds.home / ".netrc").write_text("password")
    spawner = grounds.spawner(mode)
    await spawner.run(grounds.spec("sh", "-c", "mkdir -p $HOME/.agent && echo session > $HOME/.agent/s"))
    finished = await spawner.run(
        grounds.spec("sh", "-c", f"cat $HOME/.agent/s; cat $HOME/.netrc {grounds.home}/.netrc")
    )
    assert (grounds.private / ".agent" / "s").read_text() == "session\n"
    assert finished.stdout == (b"session\n" if mode != "none" else b"session\npassword")


@pytest.mark.parametrize("mode", [SandboxName.BWRAP, SandboxName.NAMESPACES])
async def test_a_loose_folder_takes_files_and_its_packages_do_not(grounds: Grounds, mode: SandboxName) -> None:
    """vite keeps things in node_modules; packages there find each other, and a workspace's lead back into the clone."""
    folder = grounds.checkout / "node_modules"
    for name in ("one", "@scope/two", ".bin", ".vite"):
        (folder / name).mkdir(parents=True)
    (folder / "one" / "index.js").write_text(
        "module.exports = require('@scope/two') + require('three') + require('four');"
    )
    (folder / "@scope" / "two" / "index.js").write_text("module.exports = 2;")
    (grounds.clone / "packages" / "three").mkdir(parents=True)
    (grounds.clone / "packages" / "three" / "index.js").write_text("module.exports = 40;")
    (folder / "three").symlink_to("../packages/three")
    (folder / "@scope" / "four").symlink_to("../../packages/three")
    (folder / "four").mkdir()
    (folder / "four" / "index.js").write_text("module.exports = require('@scope/four');")
    need(mode)
    program = shutil.which("node")
    loads = "node -e \"console.log(require('one'))\"" if program else "echo 82"
    script = f"{loads}; mkdir node_modules/.vite && echo x > node_modules/.vite/kept && cat node_modules/.vite/kept"
    script += "; echo x > node_modules/one/planted; ls node_modules/one"
    mount = Mount(source=folder, dest=folder, loose=True)
    before = sorted(str(path) for path in folder.rglob("*"))
    finished = await grounds.spawner(mode).run(
        grounds.spec("sh", "-c", script, confine=grounds.confine(mounts=(mount,)))
    )
    assert lines(finished.stdout) == ["82", "x", "index.js"], finished.stderr
    assert sorted(str(path) for path in folder.rglob("*")) == before
    assert not (grounds.clone / "node_modules").exists()


@pytest.mark.parametrize("mode", CONFINING)
async def test_what_tools_fetched_into_home_is_read_there_and_nothing_else_is(
    grounds: Grounds, mode: SandboxName
) -> None:
    need(mode)
    for name in ("go/pkg/mod/m", ".cargo/registry/src", ".cargo/config.toml", ".cargo/config", ".local/lib/python3/m"):
        (grounds.home / name).parent.mkdir(parents=True, exist_ok=True)
        (grounds.home / name).write_text("fetched" if name != ".cargo/config" else '[registry]\ntoken = "x"\n')
    (grounds.home / ".cargo" / "credentials.toml").write_text("secret")
    names = "go/pkg/mod/m .cargo/registry/src .cargo/config.toml .local/lib/python3/m .cargo/config"
    script = f"for f in {names} .cargo/credentials.toml; do echo $(cat $HOME/$f); done; echo x > $HOME/go/pkg/mod/m"
    before = grounds.spec("sh", "-c", script)
    finished = await grounds.spawner(mode).run(before)
    assert lines(finished.stdout) == ["fetched"] * 4 + ["", ""], finished.stderr
    assert (grounds.home / "go/pkg/mod/m").read_text() == "fetched"


@pytest.mark.parametrize("mode", CONFINING)
async def test_no_setting_of_a_check_opens_a_folder_of_home(grounds: Grounds, mode: SandboxName) -> None:
    need(mode)
    (grounds.home / ".ssh").mkdir()
    (grounds.home / ".ssh" / "key").write_text("secret")
    env = {**grounds.env(), "GOMODCACHE": str(grounds.home / ".ssh"), "CARGO_HOME": str(grounds.home)}
    finished = await grounds.spawner(mode).run(grounds.spec("sh", "-c", f"cat {grounds.home}/.ssh/key", env=env))
    assert finished.exit_code != 0 and b"secret" not in finished.stdout


def test_a_cache_is_never_home_itself_nor_above(tmp_path: Path) -> None:
    for given in (tmp_path, tmp_path.parent, Path("/")):
        named = {"GOMODCACHE": str(given), "RUSTUP_HOME": f"{tmp_path}/x/.."}
        assert home_caches(tmp_path, named, account=tmp_path) == ()


def test_what_java_fetched_lies_in_the_folder_of_the_account_whatever_home_says(tmp_path: Path) -> None:
    fetched = tmp_path / "account" / ".m2" / "repository"
    fetched.mkdir(parents=True)
    (tmp_path / "account" / ".cargo" / "registry").mkdir(parents=True)
    assert home_caches(tmp_path / "home", {}, account=tmp_path / "account") == (fetched,)


@pytest.mark.parametrize("mode", MODES)
async def test_a_login_file_can_be_refreshed(grounds: Grounds, mode: SandboxName) -> None:
    login = grounds.home / ".agent" / "auth.json"
    login.parent.mkdir()
    login.write_text("old")
    mounts = (Mount(source=login, dest=grounds.home / ".agent" / "auth.json", writable=True),)
    spec = grounds.spec(
        "sh", "-c", "cat ~/.agent/auth.json; printf new > ~/.agent/auth.json", confine=grounds.confine(mounts=mounts)
    )
    finished = await grounds.spawner(mode).run(spec)
    assert (finished.exit_code, finished.stdout) == (0, b"old"), finished
    assert login.read_text() == "new"
    kept = grounds.private / ".agent" / "auth.json"
    assert not kept.is_symlink() and (not kept.exists() or kept.read_text() == "")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("point", ["missing", "empty"])
@pytest.mark.parametrize("writable", [True, False])
async def test_dependencies_appear_beneath_the_clone(
    grounds: Grounds, mode: SandboxName, point: str, writable: bool
) -> None:
    for name in (".venv", "packages/a/node_modules"):
        (grounds.checkout / name).mkdir(parents=True)
        (grounds.checkout / name / "dep").write_text(name)
        if point == "empty":
            (grounds.clone / name).mkdir(parents=True)
    (grounds.clone / "packages" / "a").mkdir(parents=True, exist_ok=True)
    mounts = tuple(
        Mount(source=grounds.checkout / n, dest=grounds.checkout / n) for n in (".venv", "packages/a/node_modules")
    )
    script = f"cat .venv/dep {grounds.checkout}/packages/a/node_modules/dep; "
    script += "(echo 1 > .venv/new) 2>/dev/null && echo written"
    spec = grounds.spec("sh", "-c", script, confine=grounds.confine(mounts=mounts, writable=writable))
    finished = await grounds.spawner(mode).run(spec)
    expected = b".venvpackages/a/node_modules"
    assert finished.stdout == (expected if mode != "none" else expected + b"written\n"), finished
    assert not any(path.is_symlink() for path in grounds.clone.rglob("*"))
    if point == "missing":
        assert not (grounds.clone / ".venv").exists()


async def test_a_planted_link_is_not_followed(grounds: Grounds) -> None:
    """An agent replaces a folder of its clone by a link: neither mount points nor links are made through it."""
    outside = grounds.base / "outside"
    outside.mkdir()
    (grounds.checkout / "packages" / "node_modules").mkdir(parents=True)
    (grounds.clone / "packages").symlink_to(outside)
    there = grounds.checkout / "packages" / "node_modules"
    for mode in here():
        spec = grounds.spec("true", confine=grounds.confine(mounts=(Mount(source=there, dest=there),)))
        finished = await grounds.spawner(mode).run(spec)
        assert finished.reason == "not_started" and "packages" in finished.error, mode
        assert list(outside.iterdir()) == []


@pytest.mark.parametrize("mode", MODES)
async def test_a_folder_for_reports(grounds: Grounds, mode: SandboxName) -> None:
    reports = grounds.base / "state" / "reports"
    reports.mkdir()
    mounts = (Mount(source=reports, dest=Path("/run/devteam/reports"), writable=True),)
    spec = grounds.spec("sh", "-c", "echo ok > /run/devteam/reports/junit.xml", confine=grounds.confine(mounts=mounts))
    assert (await grounds.spawner(mode).run(spec)).exit_code == 0
    assert (reports / "junit.xml").read_text() == "ok\n"


async def test_parallel_processes_share_their_mount_points(grounds: Grounds) -> None:
    import asyncio

    (grounds.checkout / ".venv").mkdir()
    (grounds.checkout / ".venv" / "dep").write_text("dep")
    there = grounds.checkout / ".venv"
    for mode in here():
        spawner = grounds.spawner(mode)
        confine = grounds.confine(mounts=(Mount(source=there, dest=there),))
        specs = [grounds.spec("sh", "-c", f"sleep 0.{n}; cat .venv/dep", confine=confine) for n in (1, 2, 3)]
        assert [f.stdout for f in await asyncio.gather(*map(spawner.run, specs))] == [b"dep"] * 3
        assert not os.path.lexists(grounds.clone / ".venv")


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode is not SandboxName.NONE])
async def test_a_real_virtual_environment_runs_the_clones_code(grounds: Grounds, mode: SandboxName) -> None:
    """The editable-install trap: the environment points at the checkout, and must find the clone there."""
    need(mode)
    environment = grounds.checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=patience(60))
    site = next(environment.glob("lib/python*/site-packages"))
    (site / "editable.pth").write_text(f"{grounds.checkout}/src\n")
    for tree, word in ((grounds.checkout, "user"), (grounds.clone, "clone")):
        (tree / "src").mkdir()
        (tree / "src" / "shop.py").write_text(f"print('{word}')\n")
    mounts = (Mount(source=environment, dest=environment),)
    # The interpreter of the environment is found through the environment, not because PATH leads to it.
    env = grounds.env(PATH="/usr/bin:/bin")
    spec = grounds.spec(".venv/bin/python", "-c", "import shop", env=env, confine=grounds.confine(mounts=mounts))
    finished = await grounds.spawner(mode).run(spec)
    if mode.mounts:
        assert finished.stdout == b"clone\n", finished
    else:
        assert finished.exit_code == 1 and b"shop" in finished.stderr, "it must fail, not judge the wrong tree"


@pytest.mark.parametrize("mode", MODES)
async def test_programs_of_path_work_though_home_is_hidden(grounds: Grounds, mode: SandboxName) -> None:
    """python3 of PATH may be a shim of a version manager in HOME: a script that needs the rest of its folder."""
    real_home = Path(os.path.expanduser("~"))
    spawner = grounds.spawner(mode)
    spawner._ground = Ground(home=real_home, scratch=grounds.base / "scratch")
    spec = grounds.spec("sh", "-c", "python3 -c 'print(6 * 7)'", env={**grounds.env(), "HOME": str(real_home)})
    finished = await spawner.run(spec)
    assert finished.stdout == b"42\n", finished


@pytest.mark.parametrize("mode", MODES)
async def test_a_program_behind_links_in_home(grounds: Grounds, mode: SandboxName) -> None:
    """~/.local/bin/tool -> ~/.local/share/tool/versions/1/tool, a script whose interpreter is in HOME as well."""
    version = grounds.home / ".local" / "share" / "tool" / "versions" / "1"
    version.mkdir(parents=True)
    (grounds.home / ".local" / "bin").mkdir()
    (grounds.home / ".local" / "share" / "keyring").mkdir()
    (grounds.home / ".local" / "share" / "keyring" / "login").write_text("secret")
    runtime = grounds.home / ".bun" / "bin"
    runtime.mkdir(parents=True)
    (runtime / "runsh").symlink_to("/bin/sh")
    (version / "tool").write_text(
        f"#!{runtime}/runsh\necho works; cat {grounds.home}/.local/share/keyring/login 2>/dev/null\n"
    )
    (version / "tool").chmod(0o755)
    (grounds.home / ".local" / "bin" / "tool").symlink_to(version / "tool")
    path = f"{grounds.home}/.local/bin:{os.environ['PATH']}"
    finished = await grounds.spawner(mode).run(grounds.spec("tool", env=grounds.env(PATH=path)))
    assert finished.stdout.startswith(b"works\n"), finished
    assert (b"secret" in finished.stdout) == (mode == "none")


async def test_a_checkout_reached_by_a_link(grounds: Grounds) -> None:
    link = grounds.home / "link"
    link.symlink_to(grounds.checkout)
    for mode in here():
        spec = grounds.spec(
            "sh", "-c", f"pwd -P; cd {link} && pwd -P", cwd=link, confine=grounds.confine(checkout=link)
        )
        finished = await grounds.spawner(mode).run(spec)
        place = str(grounds.checkout if mode.mounts else grounds.clone)
        assert lines(finished.stdout) == [place, place], finished


@pytest.mark.parametrize(("mode", "said"), [("bwrap", "bwrap:"), ("namespaces", "devteam sandbox:")])
async def test_a_refused_mount_is_said(grounds: Grounds, mode: str, said: str) -> None:
    need(mode)
    (grounds.clone / "file").write_text("x")
    mounts = (Mount(source=grounds.home, dest=grounds.checkout / "file"),)
    finished = await grounds.spawner(mode).run(grounds.spec("true", confine=grounds.confine(mounts=mounts)))
    assert finished.reason == "not_started" and said in finished.error


def test_the_recipe(grounds: Grounds) -> None:
    mode = SandboxMode(name=SandboxName.BWRAP)
    argv = recipe(grounds.spec("true"), grounds.confine(), mode, ground(grounds), 7)
    text = " ".join(argv)
    for part in (
        "--cap-drop ALL",
        "--die-with-parent",
        "--new-session",
        "--unshare-pid",
        "--unshare-net",
        "--disable-userns",
    ):
        assert part in text
    assert f"--bind {grounds.clone} {grounds.checkout}" in text
    assert "--tmpfs /run" in text and "--tmpfs /root" in text
    assert "--setenv" not in text
    shared = recipe(grounds.spec("true"), grounds.confine(network=True, writable=False), mode, ground(grounds))
    assert "--unshare-net" not in shared
    assert f"--ro-bind {grounds.clone} {grounds.checkout}" in " ".join(shared)


def test_landlock_is_given_no_device_no_kernel_setting_and_nothing_hidden(grounds: Grounds) -> None:
    """Seen in the rules, for many machines forbid raw disks anyway."""
    need("landlock")
    argv = plan(grounds.spec("true"), SandboxMode(name=SandboxName.LANDLOCK), ground(grounds), -1).argv
    rules = argv[argv.index("-S") + 2 : argv.index("--")]
    paths = {Path(rule[1:]) for rule in rules if rule[0] in "rw"}
    assert Path("/dev/null") in paths and Path("/dev") not in paths and Path("/") not in paths
    assert not any(rule.startswith(("w/proc", "w/sys", "w/etc")) for rule in rules)
    assert not any(path.is_relative_to(bad) for path in paths for bad in ("/dev/pts", "/dev/shm", "/dev/tty"))
    secrets = (grounds.home, grounds.checkout, grounds.state, Path("/root"), Path("/home"))
    assert not any(secret == path or secret.is_relative_to(path) for secret in secrets for path in paths)


async def test_the_probe_says_what_is_there(grounds: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = grounds.base / "probe"
    best = await probe("auto", scratch=scratch, home=grounds.home)
    assert best.name == here()[0]
    assert best.name.mounts or best.lost
    none = await probe("none", scratch=scratch, home=grounds.home)
    assert none.name == "none" and none.lost
    with pytest.raises(SandboxUnavailableError, match="unknown"):
        await probe("docker", scratch=scratch, home=grounds.home)
    assert not list(scratch.iterdir())


def fake_bwrap(folder: Path, body: str) -> None:
    folder.mkdir()
    (folder / "bwrap").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "bwrap").chmod(0o755)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions", id="refused"
        ),
        pytest.param(
            'while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "outside its clone", id="does not confine"
        ),
    ],
)
async def test_a_bubblewrap_that_does_not_work_is_not_believed(
    grounds: Grounds, monkeypatch: pytest.MonkeyPatch, body: str, words: str
) -> None:
    fake_bwrap(grounds.base / "fake", body)
    monkeypatch.setenv("PATH", f"{grounds.base / 'fake'}:{os.environ['PATH']}")
    monkeypatch.setattr("engine.perform.process.probe.os.defpath", f"{grounds.base / 'fake'}:/bin:/usr/bin")
    with pytest.raises(SandboxUnavailableError, match=words):
        await probe("bwrap", scratch=grounds.base / "probe", home=grounds.home)
    fallen = await probe("auto", scratch=grounds.base / "probe", home=grounds.home)
    assert fallen.name == next(mode for mode in here() if mode is not SandboxName.BWRAP)


async def test_an_old_bubblewrap_is_asked_without_the_new_flag(
    grounds: Grounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("bwrap")
    real = shutil.which("bwrap")
    body = 'case " $* " in *" --disable-userns "*) echo "bwrap: Unknown option" >&2; exit 1;; esac\n'
    body += f'exec {real} "$@"'
    fake_bwrap(grounds.base / "fake", body)
    monkeypatch.setenv("PATH", f"{grounds.base / 'fake'}:{os.environ['PATH']}")
    monkeypatch.setattr("engine.perform.process.probe.os.defpath", f"{grounds.base / 'fake'}:/bin:/usr/bin")
    mode = await probe("bwrap", scratch=grounds.base / "probe", home=grounds.home)
    assert (mode.name, mode.flags) == ("bwrap", ())


@pytest.mark.parametrize("home", ["/nonexistent", "/"])
@pytest.mark.parametrize("private", [True, False])
async def test_a_user_without_a_home(grounds: Grounds, private: bool, home: str) -> None:
    """Containers give a user whom they do not know all of the machine as HOME."""
    for mode in here():
        spawner = grounds.spawner(mode)
        spawner._ground = Ground(home=Path(home), scratch=grounds.base / "scratch")
        confine = grounds.confine(home=grounds.private if private else None)
        spec = grounds.spec("sh", "-c", "echo 1 > $HOME/file", env=grounds.env(HOME=home), confine=confine)
        assert (await spawner.run(spec)).exit_code == 0, mode


def test_no_other_mode(grounds: Grounds) -> None:
    with pytest.raises(ValueError, match="no such sandbox mode"):
        grounds.spawner("docker")


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode is not SandboxName.NONE])
@pytest.mark.parametrize("named", ["by its path", "on PATH"])
async def test_a_tool_among_temporary_files_works_and_its_neighbours_stay_hidden(
    grounds: Grounds, named: str, mode: SandboxName
) -> None:
    """Somebody who tries devteam in /tmp has their virtual environment there."""
    tool = grounds.base.parent / "tools" / ".venv" / "bin" / "judge"
    tool.parent.mkdir(parents=True)
    (tool.parents[1] / "pyvenv.cfg").write_text("home = /usr/bin\n")
    neighbour = grounds.base.parent / "tools" / "notes.txt"
    neighbour.write_text("private")
    tool.write_text(f"#!/bin/sh\necho judged; cat {neighbour} && echo seen\n")
    tool.chmod(0o755)
    env = grounds.env()
    env["PATH"] = f"{tool.parent}:{env['PATH']}"
    finished = await grounds.spawner(mode).run(grounds.spec(str(tool) if named == "by its path" else "judge", env=env))
    assert (finished.stdout, finished.error) == (b"judged\n", "")


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode is not SandboxName.NONE])
async def test_a_script_that_the_command_names_is_there_and_nothing_beside_it(
    grounds: Grounds, mode: SandboxName
) -> None:
    """`python3 /tmp/agent.py` is a usual way to configure an agent of one's own."""
    script = grounds.base.parent / "mine" / "agent.sh"
    script.parent.mkdir()
    neighbour = script.with_name("notes.txt")
    neighbour.write_text("private")
    script.write_text(f"echo began; cat {neighbour} && echo seen\n")
    finished = await grounds.spawner(mode).run(grounds.spec("sh", str(script)))
    assert (finished.stdout, finished.error) == (b"began\n", "")


def test_the_configuration_knows_every_mode_and_no_other() -> None:
    (choices,) = (hint for name, hint in get_type_hints(SandboxSection).items() if name == "mode")
    assert set(get_args(choices)) == {AUTO, *SandboxName}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.mounts])
async def test_what_a_program_is_given(grounds: Grounds, mode: SandboxName) -> None:
    """Both ways to mount are one recipe: the same words come out of the same questions."""
    questions = (
        "id -u; pwd; echo $PWD $HOME $TMPDIR; cat /proc/1/comm >/dev/null && echo proc; echo $(ls /dev); "
        "ls -ld /tmp | cut -c1-10; ls -A /tmp /run; echo x > /tmp/mine && cat /tmp/mine; "
        "grep -c . /proc/net/dev; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; "
        "ls /proc | grep -c '^[0-9]'; test -t 0 || echo no terminal; ulimit -c; ulimit -n; "
        "python3 -c 'import multiprocessing as m; m.Lock(); import os; print(os.openpty()[0] > 0)'; exit 9"
    )
    finished = await grounds.spawner(mode).run(grounds.spec("sh", "-c", questions))
    assert finished.exit_code == 9, finished
    said = lines(finished.stdout)
    devices = {
        "fd",
        "full",
        "null",
        "ptmx",
        "pts",
        "random",
        "shm",
        "stderr",
        "stdin",
        "stdout",
        "tty",
        "urandom",
        "zero",
    }
    assert said[0] == str(os.getuid())
    assert said[2] == f"{grounds.checkout} {grounds.home} /tmp"
    assert devices <= set(said[4].split()) <= devices | {"core", "console"}
    assert {"proc", "x", "no terminal", "True", "NoNewPrivs:\t1", "CapEff:\t0000000000000000"} <= set(said), said
    assert b"seen" not in finished.stdout


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.mounts])
async def test_a_program_that_is_missing_is_said(grounds: Grounds, mode: SandboxName) -> None:
    finished = await grounds.spawner(mode).run(grounds.spec("no-such-program"))
    assert finished.reason == "not_started"
    assert "no-such-program" in finished.error and "No such file" in finished.error


async def test_an_unknown_option_is_not_ignored(grounds: Grounds) -> None:
    """A recipe that grows must grow in both."""
    need("namespaces")
    line = [*NAMESPACES, "--new-option", "x", "--", "true"]
    run = subprocess.run(line, capture_output=True, text=True, timeout=patience(60))
    assert run.returncode == 1 and "--new-option" in run.stderr


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode is not SandboxName.NONE])
async def test_git_and_a_build_work_inside(grounds: Grounds, mode: SandboxName) -> None:
    subprocess.run(["git", "init", "-q", str(grounds.clone)], check=True, timeout=patience(60))
    script = (
        "echo 1 > file && git add file && git -c user.name=a -c user.email=a@b commit -qm one && git status --short "
        "&& mkdir -p build && cp file build/ && mv build/file build/other && cat build/other && git log --format=%s"
    )
    finished = await grounds.spawner(mode).run(grounds.spec("sh", "-c", script))
    assert finished.stdout == b"?? build/\n1\none\n" or finished.stdout == b"1\none\n", finished


@pytest.mark.parametrize("mode", MODES)
async def test_a_login_saved_by_rename_reaches_the_users_file(grounds: Grounds, mode: SandboxName) -> None:
    """As most programs save: a new file, renamed over the old. Over a mount that fails, and they write in place."""
    login = grounds.home / ".agent" / "auth.json"
    login.parent.mkdir()
    login.write_text("old token, longer than the new one")
    login.chmod(0o640)
    mounts = (Mount(source=login, dest=login, writable=True),)
    script = (
        "printf new > ~/.agent/x; mv -f ~/.agent/x ~/.agent/auth.json 2>/dev/null || printf new > ~/.agent/auth.json"
    )
    spec = grounds.spec("sh", "-c", script, confine=grounds.confine(mounts=mounts))
    assert (await grounds.spawner(mode).run(spec)).exit_code == 0
    assert login.read_text() == "new"
    assert login.stat().st_mode & 0o777 == 0o640
