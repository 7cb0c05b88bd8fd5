"""A lane's clone and its own .git: for the agent's use, and worth nothing to the engine.

What is not as the engine wants it is removed and written anew each time; the objects stay only while every file the
engine put there is untouched (size, times, inode), else they are cloned again. Git is never run with it.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine import files
from engine.perform.workspace import one_commit, packs, trees
from engine.perform.workspace.facts import WorkspaceError
from engine.perform.workspace.git import Git, GitError
from engine.perform.workspace.store import Store

WORK = "refs/heads/devteam/work"
FOLDERS = ("refs", "refs/heads", "refs/heads/devteam", "refs/tags", "info", "objects/info", "hooks")
"""Each after the one it lies in."""
OPEN = (0o755, 0o775, 0o777, 0o700, 0o750, 0o770)
"""Modes of a folder that its owner may use: whatever umask it was made under."""
MANY_PACKS = 24
"""Of one clone, before the small ones are joined: each is looked at whenever the lane is prepared."""
MANY_LOOSE = 2000
KNOWN = 200
"""Tips that are remembered: what a clone is given is cut off below them."""


class LaneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine put into a lane's .git/objects, and up to which tips."""

    files: dict[str, tuple[int, int, int, int]]
    tips: tuple[str, ...] = ()


def folder_of(store: Store, lane: int) -> Path:
    if lane < 0:
        raise WorkspaceError(f"there is no lane {lane}")
    return store.root / "lanes" / str(lane)


def clone(store: Store, lane: int) -> None:
    """`git clone --no-hardlinks` beside the target, then renamed: a killed engine leaves no half clone behind."""
    fresh = store.scratch / f"clone-{uuid.uuid4().hex[:8]}"
    tips = _tips(store)
    _clone_objects(store, fresh)
    fresh.rename(folder_of(store, lane))
    _remember(store, lane, tips)


def _clone_objects(store: Store, fresh: Path) -> None:
    repo = store.repo
    git = Git(None, store.root, config=(("protocol.file.allow", "always"), ("safe.directory", "*")))
    # Local copying needs all objects in one place, and is slow with many small files.
    transport = ("--no-local",) if _needs_pack(repo.objects) else ()
    git.run(
        "clone", "--quiet", "--no-hardlinks", "--no-checkout", "--template=", *transport,
        "--", str(repo.common_dir), str(fresh), options=("-c", "protocol.file.allow=always"),
    )  # fmt: skip


def _needs_pack(objects: Path) -> bool:
    if (objects / "info" / "alternates").exists():
        return True
    sample = objects / "17"  # loose objects spread evenly: one of 256 folders tells
    try:
        return len(os.listdir(sample)) * 256 > MANY_LOOSE  # noqa: PTH208
    except OSError:
        return False


def set_git(store: Store, lane: int, tree: str, base: str, excludes: bytes) -> None:
    dot_git = folder_of(store, lane) / ".git"
    record = _record(store, lane)
    try:
        if record is None or not _intact(dot_git, record) or len(record.files) > 2 * MANY_LOOSE:
            record = _remake_git(store, lane)
        _add_objects(store, lane, dot_git, record, tree, base)
    except GitError:  # a tip it was made from is gone from the user's repository
        _add_objects(store, lane, dot_git, _remake_git(store, lane), tree, base)
    _write_git(store, lane, dot_git, base, excludes)


def _remake_git(store: Store, lane: int) -> LaneRecord:
    dot_git = folder_of(store, lane) / ".git"
    store.grave.discard(dot_git)
    fresh = store.scratch / f"clone-{uuid.uuid4().hex[:8]}"
    tips = _tips(store)
    _clone_objects(store, fresh)
    (fresh / ".git").rename(dot_git)
    store.grave.discard(fresh)
    return _remember(store, lane, tips)


def _remember(store: Store, lane: int, tips: list[str]) -> LaneRecord:
    record = LaneRecord(files=_fingerprint(folder_of(store, lane) / ".git"), tips=tuple(tips))
    _save(store, lane, record)
    return record


def _write_git(store: Store, lane: int, dot_git: Path, base: str, excludes: bytes) -> None:
    repo, identity = store.repo, store.repo.identity
    sha256 = repo.object_format == "sha256"
    lines = [
        "[core]", f"\trepositoryformatversion = {1 if sha256 else 0}", "\tfilemode = true", "\tbare = false",
        "\tlogallrefupdates = true", "[user]", f'\tname = "{_config_text(identity.name)}"',
        f'\temail = "{_config_text(identity.email)}"', "[gc]", "\tauto = 0", "[commit]", "\tgpgsign = false",
    ]  # fmt: skip
    if sha256:
        lines += ["[extensions]", "\tobjectformat = sha256"]
    tags = "".join(f"{oid} {name}\n" for name, oid in sorted(repo.below("refs/tags").items()))
    wanted = {
        "config": ("\n".join(lines) + "\n").encode(),
        WORK: f"{base}\n".encode(),
        "info/exclude": excludes,
        "packed-refs": tags.encode("utf-8", "surrogateescape"),
        "HEAD": f"ref: {WORK}\n".encode(),
    }
    shallow = store.root / "git" / "shallow"
    if repo.shallow and shallow.is_file():
        wanted["shallow"] = shallow.read_bytes()
    kept = _sweep(store, dot_git, wanted)
    for folder in FOLDERS:
        if folder not in kept:
            (dot_git / folder).mkdir(exist_ok=True)
    for name, data in wanted.items():
        if name not in kept:
            _put(dot_git / name, data)
    index = store.index(f"lane-{lane}")
    _put(dot_git / "index", index.read_bytes())
    times = index.stat()
    os.utime(dot_git / "index", ns=(times.st_atime_ns, times.st_mtime_ns))


def _sweep(store: Store, dot_git: Path, wanted: Mapping[str, bytes]) -> set[str]:
    """Remove all but the objects, and what is byte for byte and mode for mode as it is to be: that is what stays."""
    kept: set[str] = set()
    todo = [""]
    while todo:
        here = todo.pop()
        with os.scandir(dot_git / here) as found:
            entries = list(found)
        for entry in entries:
            name = f"{here}/{entry.name}" if here else entry.name
            if name == "objects":
                todo.append(name)
            elif here == "objects" and name != "objects/info":
                continue
            elif name in FOLDERS and _real_folder(entry):
                kept.add(name)
                todo.append(name)
            elif name in wanted and _same_file(entry, wanted[name]):
                kept.add(name)
            else:
                store.grave.remove(dot_git / name)
    return kept


def _real_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode) in OPEN


def _same_file(entry: os.DirEntry[str], data: bytes) -> bool:
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) != files.SHARED:
        return False
    if status.st_size != len(data) or status.st_nlink != 1:
        return False
    with os.fdopen(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return file.read(len(data) + 1) == data


def _config_text(text: str) -> str:
    return "".join(char for char in text if char.isprintable()).replace("\\", "\\\\").replace('"', '\\"')


def _tips(store: Store) -> list[str]:
    heads = store.repo.refs("refs/heads")
    return list(dict.fromkeys(heads[name] for name in sorted(heads, key=lambda name: "/devteam/" in name)))


def _record(store: Store, lane: int) -> LaneRecord | None:
    try:
        return msgspec.json.decode((store.root / "lanes" / f"{lane}.json").read_bytes(), type=LaneRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def _save(store: Store, lane: int, record: LaneRecord) -> None:
    files.write(store.root / "lanes" / f"{lane}.json", msgspec.json.encode(record))


def _fingerprint(dot_git: Path) -> dict[str, tuple[int, int, int, int]]:
    found: dict[str, tuple[int, int, int, int]] = {}
    objects = dot_git / "objects"
    for folder in objects.iterdir():
        if folder.name == "info" or not folder.is_dir():
            continue
        for file in folder.iterdir():
            found[f"{folder.name}/{file.name}"] = _identity(file)
    return found


def _identity(path: Path) -> tuple[int, int, int, int]:
    status = path.lstat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _intact(dot_git: Path, record: LaneRecord) -> bool:
    """Every file the engine put there is the file it put there, in real folders."""
    objects = f"{dot_git}/objects"  # as text: there may be hundreds of names, looked at in each iteration
    folders = {"pack", *(name.partition("/")[0] for name in record.files)}
    try:
        for folder in (str(dot_git), objects, *(f"{objects}/{name}" for name in folders)):
            if not stat.S_ISDIR(os.lstat(folder).st_mode):
                return False
        for name, known in record.files.items():
            status = os.lstat(f"{objects}/{name}")
            if (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) != known:
                return False
    except OSError:
        return False
    return os.access(f"{objects}/pack", os.W_OK | os.X_OK)


def _add_objects(store: Store, lane: int, dot_git: Path, record: LaneRecord, tree: str, base: str) -> LaneRecord:
    """Objects of a base or tree the clone has not seen go in as one more pack."""
    wanted = [oid for oid in (base, tree) if oid not in record.tips]
    if base in record.tips and tree == trees.tree_of(store.git, base):
        wanted = []
    if not wanted:
        return record
    if (small := _on_top(store, record, tree, base)) is not None:
        made = _put_pack(dot_git, small)
    else:
        known = [oid for oid in record.tips if oid != base][-KNOWN:]
        lines = "".join(f"{oid}\n" for oid in wanted) + "".join(f"^{oid}\n" for oid in known)
        made = _pack(store, dot_git, lines, "--revs")
    record = LaneRecord(files=record.files | made, tips=(*record.tips, *wanted)[-KNOWN:])
    record = _joined(store, dot_git, record)
    _save(store, lane, record)
    return record


def _on_top(store: Store, record: LaneRecord, tree: str, base: str) -> one_commit.Pack | None:
    """The common case: the base is one commit on top of what the clone has, and the lane begins with its files."""
    if base in record.tips or tree != trees.tree_of(store.git, base):
        return None
    parent = one_commit.parent_of(store.git, base)
    return one_commit.packed(store.git, base, parent) if parent in record.tips else None


def _put_pack(dot_git: Path, small: one_commit.Pack) -> dict[str, tuple[int, int, int, int]]:
    """A pack that was made here; the files that it is."""
    folder = dot_git / "objects" / "pack"
    made = {}
    for ending, data in ((".pack", small.pack), (".idx", small.index)):
        path = folder / f"pack-{small.name}{ending}"
        files.write(path, data, mode=packs.UNCHANGING, durable=False)
        made[f"pack/{path.name}"] = _identity(path)
    return made


def _pack(store: Store, dot_git: Path, lines: str, *how: str) -> dict[str, tuple[int, int, int, int]]:
    """One more pack in a clone; the files that it is."""
    folder = dot_git / "objects" / "pack"
    given = (*how, "-q", "--delta-base-offset", str(folder / "pack"))
    name = store.git.line("pack-objects", *given, stdin=lines.encode())
    made = (folder / f"pack-{name}{ending}" for ending in packs.ENDINGS)
    return {f"pack/{path.name}": _identity(path) for path in made if path.exists()}


def _joined(store: Store, dot_git: Path, record: LaneRecord) -> LaneRecord:
    """The small packs of a clone as one, once they are many."""
    sizes = {
        name.removeprefix("pack/pack-").removesuffix(".pack"): known[0]
        for name, known in record.files.items()
        if name.startswith("pack/pack-") and name.endswith(".pack")
    }
    if len(sizes) <= MANY_PACKS:
        return record
    chosen, width = packs.to_join(sizes), len(store.repo.null) // 2
    folder = dot_git / "objects" / "pack"
    objects = dict.fromkeys(oid for name in chosen for oid in packs.listed(folder, name, width))
    made = _pack(store, dot_git, "".join(f"{oid}\n" for oid in objects))
    parts = {f"pack/pack-{name}{ending}" for name in chosen for ending in packs.ENDINGS} - set(made)
    for name in parts:
        (dot_git / "objects" / name).unlink(missing_ok=True)
    kept = {name: known for name, known in record.files.items() if name not in parts}
    return LaneRecord(files=kept | made, tips=record.tips)


def _put(path: Path, data: bytes | str) -> None:
    """Into a clone that is made again when it is lost."""
    files.write(path, data, mode=files.SHARED, durable=False)
