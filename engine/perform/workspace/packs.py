"""Our objects in the user's repository: copied as a pack that no gc touches until a ref names what is in it; a few
packs at any time, however long a sprint is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine import files
from engine.perform.workspace import one_commit
from engine.perform.workspace.git import GitError
from engine.perform.workspace.repository import Repository
from engine.perform.workspace.store import Store

MESSAGE = "devteam: until a ref names it"
MANY = 24
"""Packs of ours before they are joined into one."""
LOOSE = 2000
"""Loose objects of the engine's own before they are packed."""
LARGE = 64 << 20
"""A pack of so many bytes is left as it is."""
UNCHANGING = 0o444
"""As git has its packs."""
ENDINGS = (".rev", ".idx", ".pack")


def to_join(sizes: Mapping[str, int]) -> list[str]:
    """Which of many packs become one: the smallest, up to one that outweighs them all.

    So each object is copied a few times in a long sprint and not at every join, and few packs are left."""
    chosen: list[str] = []
    total = 0
    for name in sorted(sizes, key=lambda name: sizes[name]):
        if len(chosen) >= len(sizes) // 2 and sizes[name] > total:
            break
        chosen.append(name)
        total += sizes[name]
    return chosen


@contextlib.contextmanager
def taken(store: Store, tip: str, known: tuple[str, ...]) -> Iterator[None]:
    """Copy what `tip` needs beyond `known` from the engine's objects. Pinned until the block has named it by a ref."""
    small = one_commit.packed(store.git, tip, known[0]) if len(known) == 1 and _plain(store.repo) else None
    if small is not None:
        size = len(small.pack)
        name = _put(store.repo, small)
    else:
        wanted = tip + "\n" + "".join(f"^{oid}\n" for oid in known if oid)
        given = ("--revs", "--stdout", "-q", "--delta-base-offset")
        pack = store.git.run("pack-objects", *given, stdin=wanted.encode())
        size = len(pack)
        if int.from_bytes(pack[8:12], "big") == 0:
            yield
            return
        name = _install(store.repo, pack)
    try:
        yield
    finally:
        _kept(store.repo, name).unlink(missing_ok=True)
    _joined(store, name, size)


def release(store: Store) -> None:
    """Take away the pins of engines that died before they could. Only while no other engine is at work."""
    for path in _folder(store.repo).glob("pack-*.keep"):
        with contextlib.suppress(OSError):
            if path.read_text("utf-8", "replace").strip() == MESSAGE:
                path.unlink()


def tidy(store: Store) -> None:
    """The engine's own objects, once they are many files, into one: also what no ref names, for there are none."""
    loose = [f"{path.parent.name}{path.name}" for path in store.git_objects.glob("[0-9a-f][0-9a-f]/[0-9a-f]*")]
    if len(loose) > LOOSE:
        target = store.git_objects / "pack" / "pack"
        store.git.run("pack-objects", "-q", str(target), stdin="".join(f"{oid}\n" for oid in loose).encode())
        store.git.run("prune-packed", "-q")


def _install(repo: Repository, pack: bytes) -> str:
    out = repo.git().run("index-pack", "--stdin", f"--keep={MESSAGE}", stdin=pack)
    return out.decode().split()[-1]


def _plain(repo: Repository) -> bool:
    """Nothing is set about whose the files of the repository are: else git lays them down."""
    return not repo.setting("core.sharedrepository") and _folder(repo).is_dir()


def _put(repo: Repository, made: one_commit.Pack) -> str:
    """The index last: until it is there, nobody sees the pack; and pinned before that."""
    files.write(_kept(repo, made.name), f"{MESSAGE}\n", mode=files.SHARED, durable=False)
    for ending, data in ((".pack", made.pack), (".idx", made.index)):
        files.write(_folder(repo) / f"pack-{made.name}{ending}", data, mode=UNCHANGING)
    return made.name


def _joined(store: Store, name: str, size: int) -> None:
    """Remember a small pack of ours; many are joined into one."""
    if size > LARGE:
        return
    record = store.root / "packs"
    with contextlib.suppress(FileNotFoundError, GitError):  # a pack that went meanwhile; the next join leaves it out
        names = record.read_text().split()
        if len(names) + 1 >= MANY:
            sizes = _sizes(store.repo, [*names, name])
            chosen = to_join(sizes)
            left = [one for one in sizes if one not in chosen]
            files.write(record, "".join(f"{one}\n" for one in (*left, _join(store.repo, chosen))), durable=False)
            _pack_refs(store.repo)
            tidy(store)
            return
    with files.appending(record) as file:
        file.write(f"{name}\n".encode())


def _sizes(repo: Repository, names: list[str]) -> dict[str, int]:
    """Of the packs that are still there."""
    found: dict[str, int] = {}
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            found[name] = (_folder(repo) / f"pack-{name}.pack").stat().st_size
    return found


def _join(repo: Repository, there: list[str]) -> str:
    objects = dict.fromkeys(oid for name in there for oid in listed(_folder(repo), name, len(repo.null) // 2))
    if not objects:
        return ""
    wanted = "".join(f"{oid}\n" for oid in objects)
    pack = repo.git().run("pack-objects", "--stdout", "-q", "--delta-base-offset", stdin=wanted.encode())
    joined = _install(repo, pack)
    for name in there:
        if name != joined:
            for ending in ENDINGS:
                (_folder(repo) / f"pack-{name}{ending}").unlink(missing_ok=True)
    _kept(repo, joined).unlink(missing_ok=True)
    return joined


def _pack_refs(repo: Repository) -> None:
    """Many loose refs are as many files: packed they are one, as by any gc."""
    loose = sum(len(names) for _, _, names in os.walk(repo.common_dir / "refs" / "devteam"))
    if loose > MANY:
        with contextlib.suppress(GitError):  # somebody else's lock: the next join does it
            repo.git().run("pack-refs", "--all")


def listed(folder: Path, name: str, width: int) -> list[str]:
    """The objects of a pack, by its index (version 2: magic, version, fan-out, names of so many bytes)."""
    data = (folder / f"pack-{name}.idx").read_bytes()
    if data[:8] != b"\xfftOc\0\0\0\x02":
        return []
    count = int.from_bytes(data[8 + 255 * 4 : 8 + 256 * 4], "big")
    start = 8 + 256 * 4
    return [data[start + width * place : start + width * (place + 1)].hex() for place in range(count)]


def _folder(repo: Repository) -> Path:
    return repo.objects / "pack"


def _kept(repo: Repository, name: str) -> Path:
    return _folder(repo) / f"pack-{name}.keep"
