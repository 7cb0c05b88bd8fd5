"""Every payload × every verb of the workspace: planted by an agent in its clone, or found in the user's repository.

That each payload does fire under plain git is shown too, so that the matrix can fail.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.perform.workspace.workspace import Workspace
from tests.workspace.payloads import PAYLOADS, Payload, script
from tests.workspace.repos import PLAIN, git, make_repo, open_workspace, write

BY_NAME = [pytest.param(payload, id=payload.name) for payload in PAYLOADS]


@pytest.mark.parametrize("payload", BY_NAME)
def test_the_payload_fires_under_plain_git(payload: Payload, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    marker = tmp_path / "marker"
    command = script(tmp_path, marker)
    payload.plant(repo, command)
    marker.unlink(missing_ok=True)
    env = payload.env(command)
    if env:
        kept = {key: value for key, value in env.items() if "nowhere" not in value}
        subprocess.run(["git", "status"], cwd=repo, env={**PLAIN, **kept}, check=False, capture_output=True)
    payload.fire(repo)
    assert marker.exists()


# Planted together they are one run of all verbs; each alone, where they could mask one another, under `make torture`.
TOGETHER = [
    pytest.param(
        tuple(one for one in PAYLOADS if one.name not in ("hooks-path", "include-path", "environment")), id="all"
    ),
    pytest.param(
        tuple(one for one in PAYLOADS if one.name in ("hooks-path", "include-path", "environment")), id="masked"
    ),
]
ALONE = [pytest.param((one,), id=one.name, marks=pytest.mark.torture) for one in PAYLOADS]


@pytest.mark.parametrize("payloads", [*TOGETHER, *ALONE])
def test_nothing_an_agent_plants_is_run(
    payloads: tuple[Payload, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo(tmp_path / "repo")
    commands = {payload.name: script(tmp_path, tmp_path / f"marker-{payload.name}") for payload in payloads}
    if "submodule-filter" in commands:  # the engine's own index must have the submodule, or it never looks
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{git(repo, 'rev-parse', 'HEAD').strip()},inner")
        git(repo, "commit", "-qm", "submodule")
        (repo / "inner").mkdir()
    work = open_workspace(repo)
    work.start_sprint(1.0)
    work.prepare(0)
    planted = tmp_path / "planted"
    env = {key: value for one in payloads for key, value in one.env(commands[one.name]).items()}
    for name, verb in verbs(work, tmp_path, 0):
        lane = work.lane_path(0)
        if planted.exists():
            shutil.copytree(planted, lane, symlinks=True, dirs_exist_ok=True, copy_function=_over)
        else:
            for payload in payloads:
                with calm(lane):
                    payload.plant(lane, commands[payload.name])
            shutil.copytree(
                lane,
                planted,
                symlinks=True,
                ignore=_without_objects,
            )
        for file, text in (("src/app.py", "x = 2\n"), ("src/new.py", "z = 1\n"), ("outside.txt", "o\n")):
            write(lane / file, text)
        for marker in tmp_path.glob("marker-*"):
            marker.unlink()
        with monkeypatch.context() as hostile:
            for key, value in env.items():
                hostile.setenv(key, value)
            verb()
        fired = [marker.name for marker in tmp_path.glob("marker-*")]
        assert not fired, f"{fired} during {name}"


def _over(source: str, dest: str) -> None:
    """Objects of git are read-only: an ordinary user replaces them."""
    Path(dest).unlink(missing_ok=True)
    shutil.copy2(source, dest)


def _without_objects(folder: str, _: list[str]) -> list[str]:
    return ["objects"] if folder.endswith("lanes/0/.git") else []


@contextlib.contextmanager
def calm(lane: Path) -> Iterator[None]:
    """Planting one payload must not be stopped by another: their configuration is put in place one after the other."""
    config = lane / ".git" / "config"
    kept = config.read_text()
    config.write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    hooks = lane / ".git" / "hooks"
    aside = lane / ".git" / "hooks-aside"
    if hooks.exists():
        hooks.rename(aside)
    yield
    added = config.read_text().split("bare = false\n", 1)[1]
    config.write_text(kept if added.strip() and added in kept else kept + added)
    if aside.exists():
        shutil.copytree(aside, hooks, dirs_exist_ok=True)
        shutil.rmtree(aside)


@pytest.mark.parametrize("payloads", [*TOGETHER, *ALONE])
def test_nothing_in_the_users_repository_is_run(
    payloads: tuple[Payload, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped = ("submodule-filter", "nested-repository")  # from the agent's side above; here the user staged it
    repo = make_repo(tmp_path / "repo")
    env: dict[str, str] = {}
    for payload in payloads:
        if payload.name in skipped:
            continue
        command = script(tmp_path, tmp_path / f"marker-{payload.name}")
        with calm(repo):
            payload.plant(repo, command)
        env |= payload.env(command)
    write(repo / "src" / "app.py", "x = 3\n")
    write(repo / "untracked.txt", "u\n")
    for marker in tmp_path.glob("marker-*"):
        marker.unlink()
    for key, value in env.items():
        monkeypatch.setenv(key, value)

    def fired(name: str) -> None:
        found = [marker.name for marker in tmp_path.glob("marker-*")]
        assert not found, f"{found} during {name}"

    work = open_workspace(repo)
    fired("open")
    work.start_sprint(1.0)
    fired("start_sprint")
    work.prepare(0)
    fired("prepare")
    for name, verb in verbs(work, tmp_path, 0):
        write(work.lane_path(0) / "src" / "lib.py", f"y = '{name}'\n")
        verb()
        fired(name)


def verbs(work: Workspace, tmp_path: Path, lane: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every public verb, in an order in which each has something to do."""
    base = work.head()
    tree = work.tree_of(base)
    box: dict[str, str] = {}

    def scope() -> None:
        box["tree"] = work.check_scope(lane, tree, base, ("src/**", "!src/none"), "e").tree

    def commit() -> None:
        assert work.commit("1.1", box["tree"], base, "impl(t): T1.1 — x", "ev", "e1", 2.0)

    yield "preflight", work.preflight
    yield "start_sprint again", lambda: work.start_sprint(2.0)
    yield "snapshot", lambda: work.snapshot(lane)
    yield "check_scope", scope
    yield "prepare", lambda: work.prepare(lane, box["tree"], base)
    yield "check_scope after prepare", scope
    yield "commit", commit
    yield "commit again", commit
    yield "commit beside", lambda: work.commit("1.2", tree, base, "impl(t): T1.2 — y", "", "e2", 3.0)
    yield "log", lambda: work.log(5)
    yield "is_reachable", lambda: work.is_reachable(base)
    yield "diff", lambda: work.diff(tree, box["tree"])
    yield "diff path", lambda: work.diff(tree, box["tree"], "src/app.py")
    yield "changed_files", lambda: work.changed_files(tree, box["tree"])
    yield "show", lambda: work.show(tree, "src/app.py")
    yield "overlay", lambda: work.overlay(box["tree"], ("src/app.py",), tree)
    yield "export", lambda: work.export(box["tree"])
    yield "hash_room", work.hash_room
    yield "export again", lambda: work.export(tree)
    yield "save_checkpoint", lambda: work.save_checkpoint("c1", "why", 4.0, {"x": b"y"})
    yield "create_baseline", lambda: work.create_baseline("sprint_start", 4.0)
    yield "back_up_lane", lambda: work.back_up_lane(lane, "x", 5.0)
    yield "roll_back_smart", lambda: work.roll_back_smart(5.0, lambda commit: commit == base)
    yield "roll_back_undo", lambda: work.roll_back_undo(6.0)
    yield "restore_checkpoint", lambda: work.restore_checkpoint("c1", 7.0)
    yield "land_patch", lambda: work.land_patch(tmp_path / "patch")
    yield "land look", lambda: work.land(apply=False)
    yield "land", lambda: work.land(apply=True)
