"""Landing loses nothing: a random checkout × a random sprint × what the user does meanwhile, and then `land`.

Every byte the user had is afterwards where it was, or under a ref. A landing that is refused changed nothing at all.
12 in the suite, 1,000 under `make torture`; a failing seed is in the test's id.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import differences, fingerprint, git, make_repo, open_workspace, write

FILES = {
    "a.txt": "a\n",
    "src/app.py": "x = 1\n",
    "src/lib.py": "y = 1\n",
    "docs/guide.md": "# Guide\n",
    "tool": "#!/bin/sh\n",
    ".gitignore": "*.log\nbuild/\n",
}
EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
NAMES = ("a.txt", "src/app.py", "src/lib.py", "docs/guide.md", "tool")
NEW = ("new.py", "src/new.py", "out.log", "build/made.py", "tool/inner.py", "docs")


def _edit(repo: Path, rng: random.Random) -> None:
    write(repo / rng.choice(NAMES), f"mine {rng.random()}\n")


def _bit(name: str) -> Callable[[Path, random.Random], None]:
    def act(repo: Path, rng: random.Random) -> None:
        path = rng.choice(NAMES)
        git(repo, "update-index", f"--{name}", path)
        if rng.random() < 0.8:
            write(repo / path, f"hidden {rng.random()}\n")

    return act


def _same_stamp(repo: Path, rng: random.Random) -> None:
    git(repo, "config", "core.trustctime", "false")
    git(repo, "config", "core.checkstat", "minimal")
    path = repo / rng.choice(NAMES)
    before = path.stat()
    content = path.read_bytes()
    path.write_bytes(content[:-2] + b"~\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _staged(repo: Path, rng: random.Random) -> None:
    path = rng.choice(NAMES)
    write(repo / path, f"staged {rng.random()}\n")
    git(repo, "add", "-f", path)
    if rng.random() < 0.5:
        write(repo / path, f"staged and edited {rng.random()}\n")


def _untracked(repo: Path, rng: random.Random) -> None:
    path = repo / rng.choice(NEW[:4])
    write(path, f"untracked {rng.random()}\n")
    if rng.random() < 0.3:
        git(repo, "add", "-N", "-f", str(path))


def _sparse(repo: Path, rng: random.Random) -> None:
    git(repo, "sparse-checkout", "set", rng.choice(("src", "docs")))


def _crlf(repo: Path, rng: random.Random) -> None:
    git(repo, "config", "core.autocrlf", rng.choice(("true", "input")))
    path = repo / rng.choice(NAMES)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _on_sprint_branch(repo: Path, rng: random.Random) -> None:
    git(repo, "switch", "-q", "devteam/001-test")


def _worktree(repo: Path, rng: random.Random) -> None:
    git(repo, "worktree", "add", "-q", str(repo.parent / f"beside{rng.random()}"), "devteam/001-test")


USER: dict[str, Callable[[Path, random.Random], object]] = {
    "edit": _edit,
    "assume": _bit("assume-unchanged"),
    "skip": _bit("skip-worktree"),
    "same-stamp": _same_stamp,
    "staged": _staged,
    "untracked": _untracked,
    "delete": lambda repo, rng: (repo / rng.choice(NAMES)).unlink(),
    "mode": lambda repo, rng: (repo / rng.choice(NAMES)).chmod(0o755),
    "link": lambda repo, rng: (repo / "docs/link").symlink_to("../a.txt"),
    "sparse": _sparse,
    "crlf": _crlf,
    "untracked-cache": lambda repo, rng: git(repo, "update-index", "--untracked-cache", check=False),
    "fsmonitor": lambda repo, rng: git(repo, "config", "core.fsmonitor", "true"),
    "ignorecase": lambda repo, rng: git(repo, "config", "core.ignorecase", "true"),
}
MEANWHILE: dict[str, Callable[[Path, random.Random], object]] = {
    **USER,
    "branch-deleted": lambda repo, rng: git(repo, "branch", "-q", "-D", "devteam/001-test"),
    "on-sprint-branch": _on_sprint_branch,
    "worktree": _worktree,
    "gone-on": lambda repo, rng: git(repo, "commit", "-q", "--allow-empty", "-m", "mine"),
    "gc": lambda repo, rng: git(repo, "gc", "-q", "--prune=now"),
    "nothing": lambda repo, rng: None,
}


def _sprint(work: Workspace, rng: random.Random, number: int) -> None:
    lane = work.prepare(0)
    for name in rng.sample((*NAMES, *NEW), rng.randint(1, 3)):
        path = lane.path / name
        with contextlib.suppress(OSError):
            if name in NEW and os.path.lexists(lane.path / name.split("/", 1)[0]) and name.startswith(("tool", "docs")):
                top = lane.path / name.split("/", 1)[0]
                shutil.rmtree(top) if top.is_dir() else top.unlink()
            if name in NAMES and rng.random() < 0.3:
                path.unlink()
            else:
                write(path, f"sprint {number} {rng.random()}\n")
    tree = work.snapshot(0)
    work.commit(f"1.{number}", tree, lane.base, f"impl(t): T1.{number}", "", f"e{number}", 5.0)


def _bytes(repo: Path) -> dict[str, bytes]:
    """Every file and link of the user's, and what is staged."""
    found: dict[str, bytes] = {}
    for folder, folders, names in os.walk(repo):
        if folder == str(repo):
            folders.remove(".git")
        for name in names:
            path = Path(folder, name)
            link = stat.S_ISLNK(path.lstat().st_mode)
            found[str(path.relative_to(repo))] = os.fsencode(path.readlink()) if link else path.read_bytes()
    return found


def _reachable(repo: Path) -> set[str]:
    return {line.split(" ", 1)[0] for line in git(repo, "rev-list", "--objects", "--all", "HEAD").splitlines()}


def _fsck(repo: Path) -> frozenset[str]:
    """What git has to say of its objects, errors too. Some are of the user's own making: sparse-checkout with a file
    that is only intended to be added writes a tree with an entry twice (git 2.39)."""
    try:
        return frozenset(git(repo, "fsck", "--strict", "--no-dangling").splitlines())
    except AssertionError as said:
        return frozenset(str(said).partition(": ")[2].splitlines())


def play(folder: Path, seed: int) -> str:
    rng = random.Random(seed)
    repo = make_repo(folder / "repo", FILES)
    case: list[str] = [f"seed {seed}"]

    def user(acts: dict[str, Callable[[Path, random.Random], object]], most: int) -> None:
        for name in rng.sample(sorted(acts), rng.randint(0, most)):
            case.append(name)
            with contextlib.suppress(AssertionError, OSError):  # e.g. an edit of a file that was deleted
                acts[name](repo, rng)

    user(USER, 3)
    work = open_workspace(repo)
    work.start_sprint(1.0)
    _sprint(work, rng, 1)
    case.append("|")
    user(MEANWHILE, 2)
    if rng.random() < 0.2:
        case.append("moved")
        repo = repo.rename(folder / "elsewhere")
        work = open_workspace(repo, folder / "state")
    _sprint(work, rng, 2)
    case.append("|")
    user(MEANWHILE, 1)
    had, before = _bytes(repo), fingerprint(repo)
    staged = git(repo, "ls-files", "--stage").splitlines()
    sound = _fsck(repo)
    try:
        report = work.land()
    except WorkspaceError as problem:
        assert differences(before, fingerprint(repo)) == [], (case, problem)
        return " ".join((*case, "→", problem.message))
    if not report.landed:
        assert differences(before, fingerprint(repo)) == [], (case, report)
        assert report.differs or report.detail == "there is nothing to land", (case, report)
        return " ".join((*case, "→", report.detail))
    now = _bytes(repo)
    lost = [name for name, content in had.items() if now.get(name) != content]
    if lost:
        kept = _reachable(repo)
        for name in lost:
            place = write(folder / "bytes", had[name])
            oid = git(repo, "hash-object", "--no-filters", str(place)).strip()
            assert oid in kept, (case, f"{name} is lost", report)
            assert any(change.path == name for change in report.changes), (case, f"{name} is none of its business")
    changed = {change.path for change in report.changes}
    left = [line for line in staged if line.split("\t", 1)[1] not in changed and report.keeps_uncommitted]
    assert set(left) <= set(git(repo, "ls-files", "--stage").splitlines()), (case, "what was staged stays")
    indexed = {line.split()[1] for line in git(repo, "ls-files", "--stage").splitlines()}
    objects = {line.split()[1] for line in staged} - indexed - {EMPTY}  # of what is only intended to be added
    assert objects <= (_reachable(repo) if objects else set()), (case, "what was staged is under a ref")
    assert _fsck(repo) <= sound, case
    return " ".join((*case, "→ landed"))


@pytest.mark.parametrize("seed", range(12))
def test_landing_loses_nothing(seed: int, tmp_path: Path) -> None:
    print(play(tmp_path, seed))


@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(20))
def test_landing_loses_nothing_1000_times(part: int, tmp_path: Path) -> None:
    """Half of them always the same, half never seen before; in parts of fifty, so that workers share them."""
    start = random.SystemRandom().randrange(1_000_000)
    print(f"fresh seeds from {start}")
    landed = 0
    for seed in [*range(part * 25, part * 25 + 25), *range(start, start + 25)]:
        folder = tmp_path / str(seed)
        landed += play(folder, seed).endswith("landed")
        shutil.rmtree(folder, ignore_errors=True)
    assert landed > 5, "a property of refusals only would be none"
