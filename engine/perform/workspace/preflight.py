"""Can this repository be worked on? Each awkward state works, with a note, or is refused in one line with a remedy."""

from __future__ import annotations

import os
from pathlib import Path

from engine.perform.workspace.facts import Identity, Refused, RepoReport
from engine.perform.workspace.git import GitError, nul_split
from engine.perform.workspace.names import shown
from engine.perform.workspace.repository import Repository, find, git_error_as_refusal, quoted

# What lies in the git directory while something is under way, and what ends it.
_UNDER_WAY = (
    ("rebase-merge", "a rebase is in progress", "git rebase --continue   (or: git rebase --abort)"),
    ("rebase-apply/applying", "git am is in progress", "git am --continue   (or: git am --abort)"),
    ("rebase-apply", "a rebase is in progress", "git rebase --continue   (or: git rebase --abort)"),
    ("MERGE_HEAD", "a merge is in progress", "git merge --continue   (or: git merge --abort)"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is in progress", "git cherry-pick --continue   (or: git cherry-pick --abort)"),
    ("REVERT_HEAD", "a revert is in progress", "git revert --continue   (or: git revert --abort)"),
    ("sequencer", "a cherry-pick or revert is in progress", "git cherry-pick --quit"),
    ("BISECT_LOG", "a bisect is in progress", "git bisect reset"),
    (
        "index.lock",
        "another git is at work here, or one was killed",
        "rm {git_dir}/index.lock   (if no git is running)",
    ),
)


def preflight(checkout: Path, identity: Identity, home: Path | None = None) -> RepoReport:
    """Look, and change nothing."""
    try:
        return inspect(find(checkout, identity, home))
    except Refused as problem:
        return RepoReport(refusal=problem.message, command=problem.hint)
    except GitError as problem:
        refusal = git_error_as_refusal(problem, checkout)
        return RepoReport(refusal=refusal.message, command=refusal.hint)


def inspect(repo: Repository) -> RepoReport:
    for name, what, remedy in _UNDER_WAY:
        if os.path.lexists(repo.git_dir / name):
            return RepoReport(refusal=what, command=remedy.format(git_dir=repo.git_dir))
    if _owner(repo.checkout) not in _mine() and not _declared_safe(repo):
        return RepoReport(
            refusal=f"{repo.checkout} belongs to another user",
            command=f"git config --global --add safe.directory {quoted(repo.checkout)}",
        )
    git = repo.git()
    staged = nul_split(git.run("ls-files", "-z", "--stage"))
    unmerged = sorted({record.split(b"\t", 1)[1] for record in staged if record.split(b"\t", 1)[0][-1:] != b"0"})
    if unmerged:
        some = ", ".join(shown(path) for path in unmerged[:3])
        return RepoReport(refusal=f"unmerged files: {some}", command="git status   (resolve them, git add, git commit)")
    head, branch = repo.head()
    if not head and _broken_head(repo, branch):
        head, branch = repo.head()  # a git that is short of memory calls the commit missing, too: it is asked again
    if not head and _broken_head(repo, branch):
        return RepoReport(refusal="HEAD points at a commit that is missing", command="git fsck")
    if repo.setting("extensions.partialclone") or any(
        key.endswith(".promisor") and value in ("true", "1", "yes", "on", "") for key, value in repo.settings
    ):
        return RepoReport(
            refusal="this is a partial clone: files are fetched when needed, and the engine never uses the network",
            command="git config --unset remote.origin.promisor; git config --unset remote.origin.partialclonefilter; "
            "git fetch --refetch origin",
        )
    if "refs/heads/devteam" in repo.refs("refs/heads/devteam"):
        return RepoReport(
            refusal="a branch named devteam stands where devteam/… branches go",
            command="git branch -m devteam devteam-old",
        )
    states, notes = _special(repo, staged, head, branch)
    return RepoReport(notes=tuple(notes), head=head, branch=branch, states=tuple(states), files=len(staged))


def _special(repo: Repository, staged: list[bytes], head: str, branch: str) -> tuple[list[str], list[str]]:
    states: list[str] = []
    notes: list[str] = []

    def say(state: str, note: str) -> None:
        states.append(state)
        notes.append(note)

    if not head:
        say("unborn", "there is no commit yet: the sprint starts from the files as they are")
    if not branch:
        say("detached", "HEAD is detached: results stay on the sprint branch, landing needs a branch")
    if repo.shallow:
        say("shallow", "the history is shallow: agents see as much of it as you have")
    modes = [record[:6] for record in staged]
    if b"160000" in modes:
        say("submodules", "submodules are shown read-only, at the commits that are recorded here")
    if b"120000" in modes:
        say("symlinks", "links that lead out of the repository lead nowhere in the sandbox")
    if any(name == "lfs" for name in repo.drivers()) or _mentions_lfs(repo.checkout):
        say("lfs", "LFS files are worked on as their pointers; no filter is run")
    elif repo.drivers():
        say("filters", f"filters are not run: {', '.join(repo.drivers())}")
    if repo.setting("core.sparsecheckout").lower() == "true":
        say("sparse", "the checkout is sparse: agents get the whole tree")
    if repo.git_dir != repo.common_dir:
        say("worktree", "this is a linked worktree; branches are shared with the main one")
    if any(shown(record.split(b"\t", 1)[1]).startswith('"') for record in staged):
        say("odd-names", "some file names are not plain text; they are shown in quotes")
    if _nested(repo):
        say("nested", "repositories inside this one are not part of the sprint")
    return states, notes


def _nested(repo: Repository) -> bool:
    others = repo.git().run("ls-files", "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory")
    return any(
        path.endswith(b"/") and os.path.lexists(os.path.join(os.fsencode(repo.checkout), path, b".git"))  # noqa: PTH118
        for path in nul_split(others)
    )


def _mentions_lfs(checkout: Path) -> bool:
    try:
        with (checkout / ".gitattributes").open("rb") as file:
            return b"filter=lfs" in file.read(1_000_000)
    except OSError:
        return False


def _broken_head(repo: Repository, branch: str) -> bool:
    """Unborn is fine; a ref or a detached HEAD whose commit is gone is not."""
    return not branch or bool(repo.refs(branch))


def _owner(path: Path) -> int:
    return path.lstat().st_uid


def _mine() -> tuple[int, ...]:
    return (os.geteuid(),)


def _declared_safe(repo: Repository) -> bool:
    wanted = {str(repo.checkout), "*"}
    return any(key.lower() == "safe.directory" and value in wanted for key, value in repo.settings)
