"""Where things lie on disk: the repository's `.devteam/` folder and the user's state directory. No git is called."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from engine import state_folder
from engine.core.model import Struct

FOLDER = ".devteam"
PRIVATE = 0o700


class RepoPaths(Struct, frozen=True):
    """The `.devteam/` folder in the user's checkout."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"

    @property
    def db(self) -> Path:
        return self.folder / "devteam.db"

    @property
    def sprints(self) -> Path:
        return self.folder / "sprints"

    @property
    def progress(self) -> Path:
        return self.folder / "progress.txt"

    @property
    def features(self) -> Path:
        return self.folder / "features.json"

    @property
    def init_script(self) -> Path:
        return self.folder / "init.sh"

    @property
    def marker(self) -> Path:
        """There while a session of the user's own agent is kept at work by its stop hook."""
        return self.folder / "autonomous-mode"

    @property
    def gitignore(self) -> Path:
        return self.folder / ".gitignore"

    def sprint(self, sprint_id: str) -> Path:
        return self.sprints / sprint_id


class StatePaths(Struct, frozen=True):
    """What devteam keeps of one repository outside of it, `<state dir>/devteam/<repo id>/`."""

    root: Path
    checkout: Path | None = None
    """Whose it is."""

    @property
    def lanes(self) -> Path:
        """Clones the agents work in."""
        return self.root / "lanes"

    @property
    def room(self) -> Path:
        """The clean room of the checks."""
        return self.root / "room"

    @property
    def evidence(self) -> Path:
        return self.root / "evidence"

    @property
    def logs(self) -> Path:
        """Raw agent streams, in a folder for each sprint."""
        return self.root / "logs"

    def logs_of(self, sprint: str) -> Path:
        """The streams of one sprint: the numbers of calls begin anew with each."""
        return self.logs / sprint

    def homes_of(self, sprint: str) -> Path:
        """The HOMEs of one sprint's agents. By its number alone: some programs keep sockets there, whose paths must be
        short."""
        return self.root / "homes" / sprint.partition("-")[0]

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def aside(self) -> Path:
        """What was put back or replaced, kept for the user to see."""
        return self.root / "aside"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def alive(self) -> Path:
        """The sign of life of the engine that runs, or ran last."""
        return self.root / "alive"

    @property
    def socket(self) -> Path:
        """Beside the lock, whatever the environment: an engine of a login session is found from cron and over ssh."""
        return self.root / "engine.sock"

    def lane(self, number: int) -> Path:
        return self.lanes / str(number)

    def folders(self) -> tuple[Path, ...]:
        return (self.lanes, self.room, self.evidence, self.logs, self.checkpoints, self.aside)


def state_home(env: Mapping[str, str], home: Path) -> Path:
    """The user's state directory. A relative XDG_STATE_HOME is ignored, as the XDG rule asks."""
    named = Path(env.get("XDG_STATE_HOME", ""))
    return named if named.is_absolute() else home / ".local" / "state"


def state_paths(repo: Path, env: Mapping[str, str], home: Path) -> StatePaths:
    """The places of a repository; nothing is made on disk."""
    return StatePaths(
        root=state_folder.find(state_home(env, home) / "devteam", repo, repo_id(repo)),
        checkout=repo,
    )


def make_state(paths: StatePaths) -> StatePaths:
    """Make the folders, each for its owner only, also where an older umask left one open; they are the repository's."""
    for folder in (paths.root.parent, paths.root, *paths.folders()):
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o777 != PRIVATE:
            folder.chmod(PRIVATE)
    if paths.checkout is not None:
        state_folder.claim(paths.root, paths.checkout)
    return paths


def repo_id(repo: Path) -> str:
    """A name people can read and no two places share: the folder's name and a hash of its real path."""
    real = os.path.realpath(repo)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    name = kebab(os.fsencode(Path(real).name).decode("utf-8", "replace"))[:40].strip("-")
    return f"{name or 'repo'}-{digest}"


def kebab(text: str) -> str:
    """`Füge Login hinzu!` → `fuge-login-hinzu`: ASCII letters and digits, joined by hyphens; empty if none is left."""
    folded = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", folded.lower()).strip("-")


def find_repo(start: Path) -> Path | None:
    """The nearest folder at or above `start` that git would call a checkout, as a real path."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if _is_git(folder / ".git"):
            return folder
    return None


def _is_git(entry: Path) -> bool:
    """A `.git` folder with a HEAD, or the pointer file of a submodule or linked worktree. Git skips anything else."""
    try:
        if entry.is_dir():
            return os.path.lexists(entry / "HEAD")
        with entry.open("rb") as file:
            return file.read(8) == b"gitdir: "
    except OSError:
        return False
