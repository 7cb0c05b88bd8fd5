"""The user's repository: where it is, what state it is in, its refs. Its work tree and index are only read here."""

from __future__ import annotations

import os
import re
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from engine.core.clean import clean_line
from engine.core.model import MachineFault
from engine.perform.workspace import git_service
from engine.perform.workspace.facts import Identity, Refused, WorkspaceError
from engine.perform.workspace.git import LOCK_SECONDS, Git, GitError, nul_split
from engine.perform.workspace.names import shown
from engine.unusable_path import unusable

# Harmless settings of the user's that change what their files mean; every other global setting is left aside.
_CARRIED = ("core.excludesfile", "core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.checkstat",
            "core.trustctime", "core.ignorecase", "core.precomposeunicode")  # fmt: skip
_BLANKED = ("clean", "smudge", "process")
STEP = "devteam: the sprint goes on"
"""Why a ref was moved, for those that are moved often: they share a lasting git, which has one message."""


@dataclass(frozen=True)
class Repository:
    """A checkout that can be worked with."""

    checkout: Path
    git_dir: Path
    common_dir: Path
    object_format: str
    shallow: bool
    settings: tuple[tuple[str, str], ...]
    """The user's effective configuration, as found."""
    identity: Identity

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    @property
    def null(self) -> str:
        return "0" * (64 if self.object_format == "sha256" else 40)

    def setting(self, key: str) -> str:
        return next((value for name, value in reversed(self.settings) if name.lower() == key), "")

    def drivers(self) -> tuple[str, ...]:
        """Names of filter drivers somebody configured: all are blanked, none is run."""
        return tuple(
            dict.fromkeys(
                name[len("filter.") : name.rindex(".")]
                for name, _ in self.settings
                if name.lower().startswith("filter.") and name.count(".") >= 2
            )
        )

    def git(self, index: Path | None = None, objects: Path | None = None) -> Git:
        """Hardened git on the user's git directory. With an index of one's own the user's is not touched;
        with `objects`, new objects go there."""
        config = [(key, value) for key in _CARRIED if (value := self.setting(key))]
        for driver in self.drivers():
            config += [(f"filter.{driver}.{part}", "") for part in _BLANKED]
            config.append((f"filter.{driver}.required", "false"))
        config.append(("safe.directory", "*"))  # ownership is preflight's business
        env = identity_env(self.identity)
        if objects is not None:
            env["GIT_OBJECT_DIRECTORY"] = str(objects)
            env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = alternate(self.objects)
        git = Git(self.git_dir, self.checkout, self.checkout, env, tuple(config))
        return git if index is None else git.with_index(index)

    def refs(self, *prefixes: str) -> dict[str, str]:
        data = self.git().run("for-each-ref", "--format=%(objectname)%00%(refname)", *prefixes)
        pairs = (line.split("\0", 1) for line in data.decode("utf-8", "surrogateescape").splitlines())
        return {name: oid for oid, name in pairs}

    def at(self, *names: str) -> dict[str, str]:
        """Where these refs (full names) are now; one that is not there is left out.

        Read as git lays them down: a file of its own, else a line of packed-refs. Whatever is kept in another way
        (reftable, a ref to a ref) git itself is asked.
        """
        found: dict[str, str] = {}
        packed: bytes | None = None
        for name in names:
            try:
                oid = (self.common_dir / name).read_bytes().strip()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                if packed is None:
                    packed = self._packed_refs()
                oid = _packed(packed, os.fsencode(name))
            if not oid:
                continue
            if len(oid) != len(self.null) or not _HEX.fullmatch(oid):
                return self._asked(names)
            found[name] = oid.decode()
        return self._asked(names) if not found and (self.common_dir / "reftable").exists() else found

    def below(self, prefix: str) -> dict[str, str]:
        """Every ref below this name, read as `at` reads them."""
        if (self.common_dir / "reftable").exists():
            return self.refs(prefix)
        found: dict[str, str] = {}
        start = b"%s/" % os.fsencode(prefix)
        for line in self._packed_refs().splitlines():
            oid, _, name = line.partition(b" ")
            if name.startswith(start):
                found[os.fsdecode(name)] = oid.decode()
        for path in (self.common_dir / prefix).rglob("*"):
            if path.name.endswith(".lock") or not path.is_file():
                continue
            oid = path.read_bytes().strip()
            if len(oid) != len(self.null) or not _HEX.fullmatch(oid):
                return self.refs(prefix)
            found[str(path.relative_to(self.common_dir))] = oid.decode()
        return found

    def _packed_refs(self) -> bytes:
        try:
            return (self.common_dir / "packed-refs").read_bytes()
        except FileNotFoundError:
            return b""

    def _asked(self, names: tuple[str, ...]) -> dict[str, str]:
        found = self.refs(*names)
        return {name: found[name] for name in names if name in found}

    def resolve(self, name: str) -> str:
        """Commit of a ref, or empty."""
        status, out, _ = self.git().status("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
        return out.decode().strip() if status == 0 else ""

    def head(self) -> tuple[str, str]:
        """(commit or empty, full branch name or empty)."""
        text = (self.git_dir / "HEAD").read_bytes().decode("utf-8", "surrogateescape").strip()
        if text.startswith("ref: refs/heads/") and not text.endswith(".invalid"):
            branch = text.removeprefix("ref: ")
        else:  # detached, or kept in a way that only git knows (reftable)
            status, out, _ = self.git().status("symbolic-ref", "--quiet", "HEAD")
            branch = out.decode("utf-8", "surrogateescape").strip() if status == 0 else ""
        return self.resolve("HEAD"), branch

    def update_refs(self, changes: list[tuple[str, str, str]], why: str) -> None:
        """Move refs, all or none: (name, new, old); old of zeros: must not exist; new of zeros: delete.

        Only names in devteam/ pass; landing moves the user's own branch by `move_branch`.
        """
        for name, _, _ in changes:
            if not name.startswith(("refs/heads/devteam/", "refs/devteam/")):
                raise Refused(f"{name} is not devteam's to move")
        self._transaction(changes, why)

    def drop(self, name: str) -> None:
        """A ref of ours that git itself cannot read, and so not delete: it leads nowhere first."""
        if not name.startswith(("refs/heads/devteam/", "refs/devteam/")):
            raise Refused(f"{name} is not devteam's to remove")
        self.git().run("symbolic-ref", name, "refs/devteam/nowhere")
        self.git().run("update-ref", "--no-deref", "-d", name)

    def unreadable(self, name: str) -> bool:
        """Whether a ref that git does not find is there as a file with something else in it than a ref has."""
        path = self.common_dir / name
        return path.is_file() and not path.read_bytes().startswith(b"ref: ")

    def unwritable(self) -> Path | None:
        """A folder of the git directory that we write in and may not (root's after a `sudo git …`), if there is one."""
        refs = self.common_dir / "refs"
        ours = (refs, refs / "heads", refs / "heads" / "devteam", refs / "devteam")
        folders = (self.common_dir, self.objects / "pack", *ours)
        return next((one for one in folders if one.is_dir() and not os.access(one, os.W_OK | os.X_OK)), None)

    def move_branch(self, name: str, new: str, old: str, why: str) -> None:
        """Landing only: compare-and-swap of the user's branch."""
        self._transaction([(name, new, old)], why)

    def _transaction(self, changes: list[tuple[str, str, str]], why: str) -> None:
        lines = [
            (f"delete {name}\0{old}\0" if new == self.null else f"update {name}\0{new}\0{old}\0").encode(
                "utf-8", "surrogateescape"
            )
            for name, new, old in changes
        ]
        try:
            if why == STEP:
                git_service.move_refs(self.git(), lines, why)
                return
            body = b"start\0" + b"".join(lines) + b"prepare\0commit\0"
            self.git().run("update-ref", "--no-deref", "-m", why, "-z", "--stdin", stdin=body)
        except GitError as error:
            if (way := _IN_THE_WAY.search(error.stderr)) is None:
                raise
            there, wanted = way.groups()
            name = there.removeprefix("refs/heads/")
            raise WorkspaceError(
                f"{there} stands where {wanted} is to be",
                hint=f"git branch -m {name} {name.replace('/', '-')}"
                if name != there
                else f"git update-ref -d {there}",
                kind="recoverable",
                fault=MachineFault.BRANCH_LOST,
            ) from error

    def try_locks(self, names: list[str]) -> None:
        """Take the locks of these refs, be they there or not, and let them go again. Raises GitError naming one that
        another git holds."""
        there = self.refs(*names)
        lines = ["start", *(f"verify {name}\0{there.get(name, self.null)}" for name in names), "prepare", "abort"]
        body = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape")
        self.git().run("update-ref", "--no-deref", "-z", "--stdin", stdin=body)


_HEX = re.compile(rb"[0-9a-f]+")
_IN_THE_WAY = re.compile(r"'(refs/[^']+)' exists; cannot create '(refs/[^']+)'")
"""A name of a branch is a folder of another one's."""


def _packed(packed: bytes, name: bytes) -> bytes:
    """The object of a ref in packed-refs, or nothing."""
    end = packed.find(b" " + name + b"\n")
    return packed[packed.rfind(b"\n", 0, end) + 1 : end] if end >= 0 else b""


def others_done(repo: Repository) -> None:
    """Wait for another git that is at work in the checkout, as long as for any lock; who looks next says what is."""
    lock, end = repo.git_dir / "index.lock", time.monotonic() + LOCK_SECONDS
    while os.path.lexists(lock) and not ours(repo.git_dir) and time.monotonic() < end:
        time.sleep(0.05)


def ours(git_dir: Path) -> bool:
    """Whether the lock of the index is a landing's own: a second name of its file."""
    try:
        return (git_dir / "index.devteam").samefile(git_dir / "index.lock")
    except OSError:
        return False


def alternate(objects: Path) -> str:
    """A path for GIT_ALTERNATE_OBJECT_DIRECTORIES or an alternates file: quoted where it needs to be."""
    text = str(objects)
    if ":" not in text and not text.startswith(('"', "#")) and text.isprintable():
        return text
    quoted = shown(os.fsencode(text))
    return quoted if quoted.startswith('"') else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def identity_env(identity: Identity) -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": identity.name, "GIT_AUTHOR_EMAIL": identity.email,
        "GIT_COMMITTER_NAME": identity.name, "GIT_COMMITTER_EMAIL": identity.email,
    }  # fmt: skip


def find(checkout: Path, identity: Identity, home: Path | None = None) -> Repository:
    """Open the user's repository. Raises Refused, in one line, for what is none or cannot be read."""
    path = Path(os.path.realpath(checkout))
    if not path.is_dir():
        raise Refused(f"{checkout} is not a folder", hint=f"cd into a git repository, or: git init {quoted(path)}")
    problem, hint = unusable(path, "the checkout")
    if problem:
        raise Refused(problem, hint=hint)
    own = home if home is not None else Path.home()
    probe = Git(None, path, env={"GIT_CONFIG_GLOBAL": str(own / ".gitconfig"), "GIT_CONFIG_NOSYSTEM": "0"})
    status, out, err = probe.status(
        "rev-parse", "--absolute-git-dir", "--git-common-dir", "--is-bare-repository", "--is-shallow-repository",
        "--show-object-format", "--show-toplevel",
    )  # fmt: skip
    lines = out.decode("utf-8", "surrogateescape").split("\n")
    if len(lines) < 6:
        raise _refusal(path, err)
    git_dir, common, bare, shallow, object_format, top = lines[:6]
    if bare == "true":
        raise Refused(
            f"{path} is a bare repository: there are no files to work on",
            hint=f"git clone {quoted(path)} {quoted(path)}-work && cd {quoted(path)}-work",
        )
    if status or not top or Path(os.path.realpath(top)) != path:
        where = Path(top) if top else Path(git_dir).parent
        raise Refused(f"{path} is not the top of its repository", hint=f"cd {quoted(where)}")
    settings = _settings(probe, own)
    return Repository(
        checkout=path,
        git_dir=Path(git_dir),
        common_dir=Path(os.path.realpath(path / common)),
        object_format=object_format,
        shallow=shallow == "true",
        settings=settings,
        identity=identity,
    )


def _settings(probe: Git, home: Path) -> tuple[tuple[str, str], ...]:
    """The user's whole configuration (reading it runs nothing), with the paths in it made absolute."""
    data = probe.with_env(HOME=str(home), XDG_CONFIG_HOME=str(home / ".config")).run("config", "-z", "--list")
    found: list[tuple[str, str]] = []
    default = home / ".config" / "git" / "ignore"
    if default.is_file():
        found.append(("core.excludesfile", str(default)))
    for record in nul_split(data):
        key, _, value = record.decode("utf-8", "surrogateescape").partition("\n")
        if key.lower() == "core.excludesfile" and value.startswith("~/"):
            value = str(home / value[2:])
        found.append((key, value))
    return tuple(found)


def _refusal(path: Path, err: str) -> Refused:
    first = clean_line(" ".join(line.strip() for line in err.splitlines()))[:300].removeprefix("fatal: ")
    if "dubious ownership" in err or "unsafe repository" in err:
        return Refused(
            f"{path} belongs to another user", hint=f"git config --global --add safe.directory {quoted(path)}"
        )
    if "not a git repository" in err or "cannot use bare repository" in err:
        if (path / "HEAD").is_file() and (path / "objects").is_dir():
            return Refused(
                f"{path} is a bare repository: there are no files to work on",
                hint=f"git clone {quoted(path)} {quoted(path)}-work && cd {quoted(path)}-work",
            )
        return Refused(f"{path} is not a git repository", hint=f"git init {quoted(path)}")
    return Refused(f"git cannot read {path}: {first or 'no reason given'}", hint=f"git -C {quoted(path)} status")


def quoted(path: Path) -> str:
    """A path as one would type it, safe to print."""
    text = str(path)
    return shlex.quote(text) if text.isprintable() else shlex.quote(shown(os.fsencode(text)))


def git_error_as_refusal(problem: GitError, path: Path) -> Refused:
    return Refused(f"git cannot read {path}: {problem.message}", hint=f"git -C {quoted(path)} status")
