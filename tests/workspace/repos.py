"""Real repositories for the tests, and a fingerprint of everything in one that is the user's."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path

from engine.perform.workspace.facts import Identity
from engine.perform.workspace.workspace import Workspace

PLAIN = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "User", "GIT_AUTHOR_EMAIL": "user@example.org", "GIT_COMMITTER_NAME": "User",
    "GIT_COMMITTER_EMAIL": "user@example.org", "GIT_AUTHOR_DATE": "@1700000000 +0000",
    "GIT_COMMITTER_DATE": "@1700000000 +0000", "LC_ALL": "C",
}  # fmt: skip


def git(where: Path, *arguments: str, check: bool = True, env: dict[str, str] | None = None) -> str:
    """Plain git, as a user or an agent would run it."""
    done = subprocess.run(
        ["git", *arguments], cwd=where, env={**PLAIN, **(env or {})}, capture_output=True, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {arguments}: {done.stderr.decode()}")
    return done.stdout.decode("utf-8", "surrogateescape")


def write(path: Path, text: str | bytes = "text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def make_repo(path: Path, files: dict[str, str] | None = None, *, commit: bool = True) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    default = {
        "a.txt": "a\n",
        "src/app.py": "x = 1\n",
        "src/lib.py": "y = 1\n",
        ".gitignore": "*.log\n.venv/\nbuild/\n",
    }
    for name, text in (files if files is not None else default).items():
        write(path / name, text)
    if commit:
        git(path, "add", "-A")
        git(path, "commit", "-qm", "first")
    return path


def open_workspace(repo: Path, state: Path | None = None, sprint: str = "001-test", **more: object) -> Workspace:
    return Workspace.open(
        repo, state or repo.parent / "state", sprint, Identity(name="Dev Team", email="dev@example.org"),
        home=repo.parent / "home", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def fingerprint(repo: Path, *, index: bool = True) -> dict[str, object]:
    """Files (bytes, modes, links), index bytes, HEAD, refs outside devteam/, stash, configuration, status."""
    files: dict[str, object] = {}
    for root, folders, names in os.walk(os.fsencode(repo)):
        if b".git" in folders and root == os.fsencode(repo):
            folders.remove(b".git")
        for name in [*names, *folders]:
            path = os.path.join(root, name)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                content: object = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            else:
                content = None
            key = os.path.relpath(path, os.fsencode(repo)).decode("utf-8", "surrogateescape")
            files[key] = (status.st_mode, content, status.st_mtime_ns if stat.S_ISREG(status.st_mode) else 0)
    git_dir = Path(git(repo, "rev-parse", "--absolute-git-dir").strip())
    common = repo / git(repo, "rev-parse", "--git-common-dir").strip()
    refs = [
        line
        for line in git(repo, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        if not line.startswith(("refs/heads/devteam/", "refs/devteam/"))
    ]
    return {
        "files": files,
        "index": (git_dir / "index").read_bytes() if index and (git_dir / "index").exists() else b"",
        "staged": git(repo, "ls-files", "--stage"),
        "HEAD": (git_dir / "HEAD").read_bytes(),
        "refs": refs,
        "stash": git(repo, "stash", "list"),
        "config": (common / "config").read_bytes(),
        "status": git(repo, "status", "--porcelain=v2", "--branch", "-z", "--ignored"),
        "hooks": sorted(os.listdir(common / "hooks")) if (common / "hooks").exists() else [],
        "top": sorted(set(os.listdir(git_dir)) - {"refs", "logs", "objects"}),
    }


def differences(before: dict[str, object], after: dict[str, object]) -> list[str]:
    return [f"{key}: {before[key]!r} → {after[key]!r}" for key in before if before[key] != after[key]]
