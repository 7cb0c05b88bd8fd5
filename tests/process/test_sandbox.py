"""The place a process is given: the clone at the checkout's path, mounts, HOME, programs; and how the mode is found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.perform.contract import Mount
from engine.perform.probe import SandboxUnavailableError, probe
from engine.perform.sandbox import SandboxMode, bwrap_argv, plan
from engine.perform.view import Ground
from tests.process.conftest import Grounds, need

MODES = ("none", "landlock", "bwrap")


def ground(grounds: Grounds) -> Ground:
    return Ground(home=grounds.home, scratch=grounds.base / "scratch")


def lines(data: bytes) -> list[str]:
    return data.decode().splitlines()


@pytest.mark.parametrize("mode", MODES)
async def test_where_the_process_believes_to_be(grounds: Grounds, mode: str) -> None:
    (grounds.checkout / "secret.env").write_text("x")
    (grounds.clone / "code.py").write_text("x")
    there = grounds.checkout
    script = f"pwd; echo $HOME; ls; echo {there}/a; echo /x{there}; echo {there}b; echo 1 > made"
    finished = await grounds.spawner(mode).run(grounds.spec("sh", "-c", script))
    here = grounds.checkout if mode == "bwrap" else grounds.clone
    home = grounds.home if mode == "bwrap" else grounds.private
    other = [f"/x{grounds.checkout}", f"{grounds.checkout}b"]
    assert lines(finished.stdout) == [str(here), str(home), "code.py", f"{here}/a", *other]
    assert (grounds.clone / "made").exists() and not (grounds.checkout / "made").exists()


@pytest.mark.parametrize("mode", MODES)
async def test_private_home_is_kept_and_the_users_is_not_seen(grounds: Grounds, mode: str) -> None:
    (grounds.home / ".netrc").write_text("password")
    spawner = grounds.spawner(mode)
    await spawner.run(grounds.spec("sh", "-c", "mkdir -p $HOME/.agent && echo session > $HOME/.agent/s"))
    finished = await spawner.run(
        grounds.spec("sh", "-c", f"cat $HOME/.agent/s; cat $HOME/.netrc {grounds.home}/.netrc")
    )
    assert (grounds.private / ".agent" / "s").read_text() == "session\n"
    assert finished.stdout == (b"session\n" if mode != "none" else b"session\npassword")


@pytest.mark.parametrize("mode", MODES)
async def test_a_login_file_can_be_refreshed(grounds: Grounds, mode: str) -> None:
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
async def test_dependencies_appear_beneath_the_clone(grounds: Grounds, mode: str, point: str, writable: bool) -> None:
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
    for mode in MODES:
        spec = grounds.spec("true", confine=grounds.confine(mounts=(Mount(source=there, dest=there),)))
        finished = await grounds.spawner(mode).run(spec)
        assert finished.reason == "not_started" and "packages" in finished.error, mode
        assert list(outside.iterdir()) == []


@pytest.mark.parametrize("mode", MODES)
async def test_a_folder_for_reports(grounds: Grounds, mode: str) -> None:
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
    for mode in MODES:
        spawner = grounds.spawner(mode)
        confine = grounds.confine(mounts=(Mount(source=there, dest=there),))
        specs = [grounds.spec("sh", "-c", f"sleep 0.{n}; cat .venv/dep", confine=confine) for n in (1, 2, 3)]
        assert [f.stdout for f in await asyncio.gather(*map(spawner.run, specs))] == [b"dep"] * 3
        assert not os.path.lexists(grounds.clone / ".venv")


async def test_a_real_virtual_environment_runs_the_clones_code(grounds: Grounds) -> None:
    """The editable-install trap: the environment points at the checkout, and must find the clone there."""
    need("bwrap")
    environment = grounds.checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=60)
    site = next(environment.glob("lib/python*/site-packages"))
    (site / "editable.pth").write_text(f"{grounds.checkout}/src\n")
    for tree, word in ((grounds.checkout, "user"), (grounds.clone, "clone")):
        (tree / "src").mkdir()
        (tree / "src" / "shop.py").write_text(f"print('{word}')\n")
    mounts = (Mount(source=environment, dest=environment),)
    # The interpreter of the environment is found through the environment, not because PATH leads to it.
    env = grounds.env(PATH="/usr/bin:/bin")
    spec = grounds.spec(".venv/bin/python", "-c", "import shop", env=env, confine=grounds.confine(mounts=mounts))
    finished = await grounds.spawner("bwrap").run(spec)
    assert finished.stdout == b"clone\n", finished
    if (await probe("auto", scratch=grounds.base / "p", home=grounds.home)).name == "none":
        pytest.skip("Landlock is not there")
    loud = await grounds.spawner("landlock").run(spec)
    assert loud.exit_code == 1 and b"shop" in loud.stderr, "without mounts it must fail, not judge the wrong tree"


@pytest.mark.parametrize("mode", MODES)
async def test_programs_of_path_work_though_home_is_hidden(grounds: Grounds, mode: str) -> None:
    """python3 of PATH may be a shim of a version manager in HOME: a script that needs the rest of its folder."""
    real_home = Path(os.path.expanduser("~"))
    spawner = grounds.spawner(mode)
    spawner._ground = Ground(home=real_home, scratch=grounds.base / "scratch")
    spec = grounds.spec("sh", "-c", "python3 -c 'print(6 * 7)'", env={**grounds.env(), "HOME": str(real_home)})
    finished = await spawner.run(spec)
    assert finished.stdout == b"42\n", finished


@pytest.mark.parametrize("mode", MODES)
async def test_a_program_behind_links_in_home(grounds: Grounds, mode: str) -> None:
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
    for mode in MODES:
        spec = grounds.spec(
            "sh", "-c", f"pwd -P; cd {link} && pwd -P", cwd=link, confine=grounds.confine(checkout=link)
        )
        finished = await grounds.spawner(mode).run(spec)
        here = str(grounds.checkout if mode == "bwrap" else grounds.clone)
        assert lines(finished.stdout) == [here, here], finished


async def test_a_refused_mount_is_said(grounds: Grounds) -> None:
    need("bwrap")
    (grounds.clone / "file").write_text("x")
    mounts = (Mount(source=grounds.home, dest=grounds.checkout / "file"),)
    finished = await grounds.spawner("bwrap").run(grounds.spec("true", confine=grounds.confine(mounts=mounts)))
    assert finished.reason == "not_started" and "bwrap:" in finished.error


def test_the_recipe(grounds: Grounds) -> None:
    mode = SandboxMode(name="bwrap")
    argv = bwrap_argv(grounds.spec("true"), grounds.confine(), mode, ground(grounds), 7)
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
    shared = bwrap_argv(grounds.spec("true"), grounds.confine(network=True, writable=False), mode, ground(grounds))
    assert "--unshare-net" not in shared
    assert f"--ro-bind {grounds.clone} {grounds.checkout}" in " ".join(shared)


def test_landlock_is_given_no_device_no_kernel_setting_and_nothing_hidden(grounds: Grounds) -> None:
    """Seen in the rules, for many machines forbid raw disks anyway."""
    need("landlock")
    argv = plan(grounds.spec("true"), SandboxMode(name="landlock"), ground(grounds), -1).argv
    rules = argv[argv.index("-S") + 2 : argv.index("--")]
    paths = {Path(rule[1:]) for rule in rules if rule[0] in "rw"}
    assert Path("/dev/null") in paths and Path("/dev") not in paths and Path("/") not in paths
    assert not any(rule.startswith(("w/proc", "w/sys", "w/etc")) for rule in rules)
    secrets = (grounds.home, grounds.checkout, grounds.state, Path("/root"), Path("/home"))
    assert not any(secret == path or secret.is_relative_to(path) for secret in secrets for path in paths)


async def test_the_probe_says_what_is_there(grounds: Grounds, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = grounds.base / "probe"
    best = await probe("auto", scratch=scratch, home=grounds.home)
    assert best.name == ("bwrap" if shutil.which("bwrap") else best.name)
    assert best.name == "bwrap" or best.lost
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
    monkeypatch.setattr("engine.perform.probe.os.defpath", f"{grounds.base / 'fake'}:/bin:/usr/bin")
    with pytest.raises(SandboxUnavailableError, match=words):
        await probe("bwrap", scratch=grounds.base / "probe", home=grounds.home)
    fallen = await probe("auto", scratch=grounds.base / "probe", home=grounds.home)
    assert fallen.name in ("landlock", "none") and fallen.lost


async def test_an_old_bubblewrap_is_asked_without_the_new_flag(
    grounds: Grounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("bwrap")
    real = shutil.which("bwrap")
    body = 'case " $* " in *" --disable-userns "*) echo "bwrap: Unknown option" >&2; exit 1;; esac\n'
    body += f'exec {real} "$@"'
    fake_bwrap(grounds.base / "fake", body)
    monkeypatch.setenv("PATH", f"{grounds.base / 'fake'}:{os.environ['PATH']}")
    monkeypatch.setattr("engine.perform.probe.os.defpath", f"{grounds.base / 'fake'}:/bin:/usr/bin")
    mode = await probe("bwrap", scratch=grounds.base / "probe", home=grounds.home)
    assert (mode.name, mode.flags) == ("bwrap", ())


@pytest.mark.parametrize("private", [True, False])
async def test_a_user_without_a_home(grounds: Grounds, private: bool) -> None:
    for mode in MODES:
        spawner = grounds.spawner(mode)
        spawner._ground = Ground(home=Path("/nonexistent"), scratch=grounds.base / "scratch")
        confine = grounds.confine(home=grounds.private if private else None)
        spec = grounds.spec("sh", "-c", "echo 1 > $HOME/file", env=grounds.env(HOME="/nonexistent"), confine=confine)
        assert (await spawner.run(spec)).exit_code == 0, mode


def test_no_other_mode(grounds: Grounds) -> None:
    with pytest.raises(ValueError, match="no such sandbox mode"):
        grounds.spawner("docker")


@pytest.mark.parametrize("named", ["by its path", "on PATH"])
async def test_a_tool_among_temporary_files_works_and_its_neighbours_stay_hidden(grounds: Grounds, named: str) -> None:
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
    finished = await grounds.spawner("bwrap").run(
        grounds.spec(str(tool) if named == "by its path" else "judge", env=env)
    )
    assert (finished.stdout, finished.error) == (b"judged\n", "")
