"""One commit on top of another: written, and packed with what it has beyond its parent, without a start of git.

Every object is read from the engine's own store and hashed again before it is packed, as `index-pack` would. What is
not one commit on top of a known one, or is large, is git's to pack (packs.py).
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path

from engine.perform.workspace import git_service, trees
from engine.perform.workspace.facts import Identity, WorkspaceError
from engine.perform.workspace.git import RAW_DIFF, Git
from engine.perform.workspace.unchanging import Kept

MOST = 500
"""Objects in such a pack."""
LARGEST = 8 << 20
"""Bytes of such a pack; larger ones are left to git, which does not hold them in memory."""
_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_CRUD = bytes(range(33)) + b".,:;<>\"\\'"
"""What git takes off both ends of a name."""
_WITH_FOLDERS = ("-r", "-t", "-z", "--full-index", "--raw", *RAW_DIFF)
_made: Kept[Pack] = Kept(16)


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack and its index, whole."""

    name: str
    pack: bytes
    index: bytes


def write(git: Git, identity: Identity, scratch: Path, tree: str, parent: str, text: str, at: float) -> str:
    """A commit with one parent, byte for byte what `commit-tree` makes of it."""
    name, email = (word.encode("utf-8", "surrogateescape") for word in (identity.name, identity.email))
    message = text.encode("utf-8", "replace")
    bare = name.strip(_CRUD).translate(None, b"\n<>"), email.strip(_CRUD).translate(None, b"\n<>")
    if not all(bare) or at < 0 or b"\0" in message:  # in its own words, git says what is wrong with it
        when = f"@{int(at)} +0000"
        view = git.with_env(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
        return view.line("commit-tree", tree, "-p", parent, "-F", "-", stdin=message)
    who = b"%s <%s> %d +0000" % (*bare, int(at))
    head = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\n" % (tree.encode(), parent.encode(), who, who)
    return git_service.write_object(git, head + message, scratch, "commit").decode()


def packed(git: Git, commit: str, parent: str) -> Pack | None:
    """The objects of `commit` beyond those of `parent`; None where that is not its only parent, or it is too much."""
    key = (git.git_dir, commit, parent)
    found = _made.get(key)
    if found is None:
        wanted = _new_objects(git, commit, parent)
        found = _pack(git, wanted) if wanted else None
        if found is not None:
            _made.put(key, found, len(found.pack) // 100)
    return found


def parent_of(git: Git, commit: str) -> str:
    """The only parent of a commit; empty: it has none, or several."""
    (found,) = git_service.read(git, [commit.encode()])
    if found is None or found.kind != "commit":
        return ""
    parents = [line[7:] for line in found.data.partition(b"\n\n")[0].split(b"\n") if line.startswith(b"parent ")]
    return parents[0].decode() if len(parents) == 1 else ""


def _new_objects(git: Git, commit: str, parent: str) -> list[bytes]:
    if not parent or parent_of(git, commit) != parent:
        return []
    before, after = trees.tree_of(git, parent), trees.tree_of(git, commit)
    wanted = [commit.encode()]
    if before != after:
        changes = trees.parse_raw(git_service.diff(git, _WITH_FOLDERS, before, after))
        wanted += [after.encode()]
        wanted += [change.new for change in changes if change.new_mode not in (trees.ABSENT, trees.GITLINK)]
    return list(dict.fromkeys(wanted)) if len(wanted) <= MOST else []


def _pack(git: Git, wanted: list[bytes]) -> Pack | None:
    hasher = hashlib.sha1 if len(wanted[0]) == 40 else hashlib.sha256
    body = bytearray(b"PACK" + (2).to_bytes(4, "big") + len(wanted).to_bytes(4, "big"))
    places: list[tuple[bytes, int, int]] = []
    for name, found in zip(wanted, git_service.read(git, wanted), strict=True):
        if found is None or found.kind not in _KINDS:
            raise WorkspaceError(f"object {name.decode()} is missing", hint="git fsck", kind="permanent")
        own = hasher(f"{found.kind} {len(found.data)}\0".encode() + found.data).hexdigest()
        if own.encode() != name:
            raise WorkspaceError(f"object {name.decode()} is damaged: it is {own}", hint="git fsck", kind="permanent")
        entry = _head(_KINDS[found.kind], len(found.data)) + zlib.compress(found.data)
        places.append((bytes.fromhex(own), zlib.crc32(entry), len(body)))
        body += entry
        if len(body) > LARGEST:
            return None
    checksum = hasher(body).digest()
    places.sort()
    fan_out, count = bytearray(), 0
    for first in range(256):
        while count < len(places) and places[count][0][0] <= first:
            count += 1
        fan_out += count.to_bytes(4, "big")
    index = b"\xfftOc\0\0\0\x02" + bytes(fan_out) + b"".join(name for name, _, _ in places)
    index += b"".join(crc.to_bytes(4, "big") for _, crc, _ in places)
    index += b"".join(at.to_bytes(4, "big") for _, _, at in places) + checksum
    return Pack(checksum.hex(), bytes(body) + checksum, index + hasher(index).digest())


def _head(kind: int, size: int) -> bytes:
    """Kind and size before an entry: four bits of the size, then seven a byte."""
    byte, size = kind << 4 | size & 15, size >> 4
    head = bytearray()
    while size:
        head.append(byte | 128)
        byte, size = size & 127, size >> 7
    head.append(byte)
    return bytes(head)
