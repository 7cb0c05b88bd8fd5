"""The user's ignored environment: found, bound at its own path, never copied into a tree; inputs copied on request."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

import pytest

from engine.perform.process.spawning import Mount
from engine.perform.workspace import environment
from tests.workspace.repos import git, make_repo, open_workspace, write

FILES = {
    ".gitignore": ".venv/\nnode_modules/\ntarget/\n.env\n*.local\nmyenv/\n", "package.json": "{}\n",
    "src/pkg/__init__.py": "A = 1\n",
    "packages/one/package.json": "{}\n", "packages/two/package.json": "{}\n", "requirements.txt": "x\n",
}  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", FILES)


def _site(repo: Path, name: str = ".venv") -> Path:
    write(repo / name / "pyvenv.cfg", "home = /usr/bin\n")
    site = repo / name / "lib/python3.11/site-packages"
    site.mkdir(parents=True)
    return site


def test_ignored_dependency_folders_of_every_workspace_are_mounted(repo: Path) -> None:
    _site(repo)
    _site(repo, "myenv")  # known by its pyvenv.cfg, whatever its name
    for name in ("node_modules", "packages/one/node_modules", "packages/two/node_modules", "target"):
        write(repo / name / "x/index.js")
    write(repo / "vendor/tracked.go")
    git(repo, "add", "vendor")
    work = open_workspace(repo)
    found = {str(mount.dest.relative_to(repo)): mount for mount in work.mounts}
    assert sorted(found) == [
        ".venv", "myenv", "node_modules", "packages/one/node_modules", "packages/two/node_modules", "target"
    ]  # fmt: skip
    assert all(mount.source == mount.dest and not mount.writable for mount in work.mounts)
    work.start_sprint(1.0)
    for place in (work.prepare(0).path, work.export(work.head())):
        assert (place / "packages/one/node_modules").is_dir() and not any((place / ".venv").iterdir())
    assert work.snapshot(0) == work.tree_of(work.head())


def test_editable_installs_of_other_checkouts_are_found(repo: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    site = _site(repo)
    for name in ("by-pth", "by-finder", "by-url"):
        write(home / name / "src/m.py")
    write(site / "a.pth", f"{home}/by-pth/src\nimport nothing\n{repo}/src\n/usr/lib\n")
    write(site / "__editable___b_finder.py", f"MAPPING = {{'b': '{home}/by-finder/src'}}\n")
    write(
        site / "c-1.dist-info/direct_url.json",
        json.dumps({"url": f"file://{home}/by-url", "dir_info": {"editable": True}}),
    )
    write(site / "d-1.dist-info/direct_url.json", "{not json")
    write(site / "e-1.dist-info/direct_url.json", json.dumps({"url": f"file://{home}/no", "dir_info": {}}))
    found = environment.find(open_workspace(repo).repo, home)
    assert sorted(str(mount.source.relative_to(home)) for mount in found if home in mount.source.parents) == [
        "by-finder/src", "by-pth/src", "by-url"
    ]  # fmt: skip


def test_inputs_are_copied_when_asked_and_never_become_part_of_a_tree(repo: Path) -> None:
    write(repo / ".env", "A=1\n")
    write(repo / "conf/dev.local", "l\n")
    plain = open_workspace(repo)
    plain.start_sprint(1.0)
    assert not (plain.prepare(0).path / ".env").exists()
    work = open_workspace(repo, sprint="002-copy", copy=(".env", "conf/*.local", "none"))
    work.start_sprint(1.0)
    lane = work.prepare(0).path
    assert (lane / ".env").read_text() == "A=1\n" and (lane / "conf/dev.local").exists()
    assert work.snapshot(0) == work.tree_of(work.head())
    write(lane / ".env", "changed by the agent\n")
    write(repo / ".env", "A=22\n")
    work.prepare(0)
    assert (lane / ".env").read_text() == "A=22\n"
    (lane / ".env").unlink()
    (lane / ".env").symlink_to(repo / ".env")
    work.prepare(0)
    assert not (lane / ".env").is_symlink() and (repo / ".env").read_text() == "A=22\n"


def test_paths_in_output_are_the_users(repo: Path) -> None:
    work = open_workspace(repo)
    lane = work.lane_path(3)
    text = f"{lane}/src/a.py:3: error\n  at ({lane})\n{lane}0/other"
    assert work.map_path(text, 3) == f"{repo}/src/a.py:3: error\n  at ({repo})\n{lane}0/other"


def test_what_init_may_propose(repo: Path) -> None:
    write(repo / ".env", "A=1\n")
    bare = environment.propose(open_workspace(repo).repo, repo.parent)
    assert bare.copy == (".env",) and "requirements.txt" in bare.setup and bare.mounts == ()
    _site(repo)
    assert environment.propose(open_workspace(repo).repo, repo.parent).setup == ""


def test_a_link_in_the_way_of_a_mount_point_is_not_followed(repo: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (clone / "packages").symlink_to(outside)
    mount = Mount(source=repo / "packages/one/node_modules", dest=repo / "packages/one/node_modules")
    environment.make_mount_points((mount,), repo, clone)
    assert list(outside.iterdir()) == []


def test_the_editable_install_trap(repo: Path) -> None:
    """An editable install names the checkout's path: only the clone mounted at that very path runs the clone's code.

    The sandbox does the mounting (its own tests show it); here: the mounts lead there, and without them it is a trap.
    """
    venv.create(repo / ".venv", with_pip=False, symlinks=True)
    site = next((repo / ".venv").glob("lib/python*/site-packages"))
    write(site / "pkg.pth", f"{repo}/src\n")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    lane = work.prepare(0).path
    write(lane / "src/pkg/__init__.py", "A = 2\n")
    run = [str(repo / ".venv/bin/python"), "-c", "import pkg; print(pkg.A)"]
    assert subprocess.run(run, cwd=lane, capture_output=True, text=True, check=True).stdout == "1\n"  # the trap
    assert [mount.dest for mount in work.mounts if repo in mount.dest.parents] == [repo / ".venv"]
    bwrap = ["bwrap", "--bind", "/", "/", "--bind", str(lane), str(repo)]
    for mount in work.mounts:
        bwrap += ["--ro-bind", str(mount.source), str(mount.dest)]
    try:
        done = subprocess.run([*bwrap, "--chdir", str(repo), *run], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no bubblewrap here")
    if done.returncode and "bwrap:" in done.stderr:
        pytest.skip(f"bubblewrap cannot run here: {done.stderr.strip()}")
    assert done.stdout == "2\n", done.stderr
