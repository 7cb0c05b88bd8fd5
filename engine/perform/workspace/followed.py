"""A folder that we know: which tree its files are, what lies there besides, and what was touched since.

A look reads what was touched and nothing else; a change of its tree writes what differs and nothing else. Only what is
plain is done here: files and links that came, went, moved or were written to. Whatever is out of the ordinary (a
repository inside, a folder that was moved or locked, a file in a folder's place, a queue that ran over) makes the
folder a stranger again: it is looked through as a whole (scan.py), and then known anew.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from engine import files
from engine.perform.workspace import ignore, scan, trees
from engine.perform.workspace.facts import Scan
from engine.perform.workspace.git import GitError, nul_list
from engine.perform.workspace.ignore import Rules
from engine.perform.workspace.inotify import LostError, Watch
from engine.perform.workspace.known_folders import Followed
from engine.perform.workspace.names import shown
from engine.perform.workspace.store import Store
from engine.perform.workspace.touched import GITLINK, MOST, SYMLINK, Look, left_out
from engine.perform.workspace.tree_reading import FOLDER, entry, topmost

UNUSED = 200
"""Looks at other folders, after which one is given up."""
MOST_GIVEN = 60_000
"""Bytes of names that one call of git is given; beyond them its index gets the whole tree anew."""
Stays = Callable[[bytes], bool]


def get(store: Store, folder: Path) -> Followed | None:
    found = store.known.folders.get(folder)
    if found is not None:
        store.known.uses += 1
        found.used = store.known.uses
    return found


def drop(store: Store, folder: Path) -> None:
    """From here on the folder is a stranger."""
    found = store.known.folders.pop(folder, None)
    if found is not None:
        found.watch.close()
        if found.behind:
            store.known.left_behind[folder] = found.tree
        last = store.known.waits.get(folder, (0, 0))[1]
        store.known.waits[folder] = (last, min(max(1, 2 * last), 32))


def begin(
    store: Store, view: scan.View, tree: str, listing: Callable[[], set[bytes]], rules: Rules | None = None
) -> None:
    """Follow a folder that was just given `tree`. `listing` removes what shall not be there and says what stays."""
    folder = view.folder
    drop(store, folder)
    _make_place(store)
    left, last = store.known.waits.get(folder, (0, 0))
    if left > 0 or ignore.gitlinks(store.git, tree):
        store.known.waits[folder] = (left - 1, last)
        listing()
        return
    watch = None
    try:
        watch = Watch(folder)
        watch.enter(b"", left_out(store.git, tree), 0)
    except (LostError, OSError):
        if watch is not None:
            watch.close()
        store.known.waits[folder] = (32, 32)
        listing()
        return
    extras = listing()
    if view.git.run(*scan.CHANGED):  # somebody wrote to it after it was set and before it was watched
        watch.close()
        return
    store.known.folders[folder] = Followed(folder, watch, tree, extras, rules=rules.path if rules else None)


def _make_place(store: Store) -> None:
    """Rooms come and go: those that are gone, or were not used for long, are followed no more."""
    for folder, known in list(store.known.folders.items()):
        if store.known.uses - known.used > UNUSED or not os.path.isdir(known.watch.top):  # noqa: PTH112
            store.known.folders.pop(folder).watch.close()
            if known.behind:
                store.known.left_behind[folder] = known.tree


def look(store: Store, folder: Path, rules: Rules | None, max_file: int = 0, max_new: int = 0) -> Scan | None:
    """The folder's content as a tree; without `rules` new files are none of it. None: it has to be looked through."""
    known = get(store, folder)
    if known is None or (rules is not None and rules.gitlinks):
        return None
    try:
        touched = Look(store, known, rules, max_file, max_new).run()
    except (LostError, OSError, GitError):
        drop(store, folder)
        return None
    store.known.waits.pop(folder, None)
    return Scan(tree=known.tree, touched=tuple(shown(path) for path in touched))


def bring(store: Store, folder: Path, tree: str, stays: Stays, rules: Rules | None = None) -> bool:
    """Give the folder exactly `tree`, and take away what else is there unless it stays. False: it has to be looked
    through, and may be changed in part."""
    known = get(store, folder)
    if known is None:
        return False
    try:
        Look(store, known, None, 0, 0).run()
        _bring(store, known, tree, stays)
        known.rules = rules.path if rules is not None else known.rules
    except (LostError, OSError, GitError):
        drop(store, folder)
        return False
    return True


def catch_up(store: Store, view: scan.View) -> scan.View:
    """The view, with an index that knows all files of a folder that became a stranger, before anybody looks through it:
    what is in no index is nobody's file."""
    tree = store.known.left_behind.pop(view.folder, "")
    if tree:
        try:
            view.git.run("read-tree", "--reset", tree)
        except GitError:
            view.index.unlink(missing_ok=True)
            view.git.run("read-tree", tree)
        scan.holds(view, tree)
    return view


def tell_index(store: Store, view: scan.View) -> None:
    """Bring a private index in line with its folder, for whoever reads it.

    What was read is put in by its name first: many a git compares times by the second, and takes a file of the same
    size that got its old times back for unchanged.
    """
    known = get(store, view.folder)
    if known is None or not known.behind:
        return
    paths = sorted(known.behind)
    files_of_it = ((path, entry(store.git, known.tree, path)) for path in paths)
    given = [b"%s,%s,%s" % (*found, path) for path, found in files_of_it if found and found[0] not in (FOLDER, GITLINK)]
    if sum(map(len, given)) > MOST_GIVEN:
        view.git.run("read-tree", "--reset", known.tree)
        given = []
    put_in = (word for one in given for word in ("--cacheinfo", os.fsdecode(one)))
    changing = ("update-index", "--add", "--remove", "--replace", *put_in, "-z", "--stdin")
    view.git.run(*changing, stdin=nul_list(paths))
    known.behind.clear()


# ── changing it ───────────────────────────────────────────────────────────────────────────────────────────────


def _bring(store: Store, known: Followed, tree: str, stays: Stays) -> None:
    changes = trees.diff(store.git, known.tree, tree, lines=False)
    if len(changes) > MOST or any(GITLINK in (change.old_mode, change.new_mode) for change in changes):
        raise LostError
    known.behind |= {change.path for change in changes}
    candidates = set(known.extras)
    for change in changes:
        if change.new_mode == trees.ABSENT:
            store.grave.remove_below(known.folder, change.path)
            candidates.add(change.path)
    known.extras = _swept(store, known, tree, candidates, stays)
    writing = [change for change in changes if change.new_mode != trees.ABSENT]
    contents = trees.blobs(store.git, (change.new for change in writing))
    for change in writing:
        _write(known, change.path, change.new_mode, contents[change.new])
    known.tree = tree


def _swept(store: Store, known: Followed, tree: str, candidates: Iterable[bytes], stays: Stays) -> set[bytes]:
    """Remove what is no part of the tree; what stays."""
    kept: set[bytes] = set()
    for path in sorted(candidates):
        outermost = topmost(store.git, tree, path)
        if not outermost:
            if path in known.extras:  # the tree wants this very place: what is there, git shall sort out
                raise LostError
            continue
        if outermost in kept or not os.path.lexists(known.watch.top + b"/" + outermost):
            continue
        if stays(outermost):
            _enter(store, known, tree, outermost)
            kept.add(outermost)
        else:
            store.grave.remove_below(known.folder, outermost)
    return kept


def _enter(store: Store, known: Followed, tree: str, path: bytes) -> None:
    """What stays is watched as well: a repository may come into it."""
    skipped = left_out(store.git, tree)
    is_folder = stat.S_ISDIR(os.lstat(known.watch.top + b"/" + path).st_mode)
    if is_folder and not known.watch.watches_folder(path) and not skipped(path):
        known.watch.enter(path, skipped, 0)


def _write(known: Followed, path: bytes, mode: bytes, data: bytes) -> None:
    here = known.watch.top
    *above, name = path.split(b"/")
    for part in above:
        here += b"/" + part
        try:
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                raise LostError
        except FileNotFoundError:
            os.mkdir(here)  # noqa: PTH102
    place = Path(os.fsdecode(here + b"/" + name))
    if mode == SYMLINK:
        place.unlink(missing_ok=True)
        place.symlink_to(os.fsdecode(data))
    else:
        files.write(place, data, mode=(0o777 if mode == b"100755" else 0o666) & ~_umask(), durable=False)


def _umask() -> int:
    """What git would leave out of a file's mode here."""
    for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    raise LostError
