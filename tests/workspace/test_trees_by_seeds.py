"""Names and contents of a tree told by what differs from the last one: held against git, by seeds."""

from __future__ import annotations

import io
import os
import random
import subprocess
from pathlib import Path

import pytest

from engine.perform.run_checks import MANY, RoomTrees
from engine.perform.workspace import git_service, tree_writing, trees
from tests.depth import examples
from tests.workspace.repos import PLAIN, make_repo, open_workspace

FOLDERS = ("", "a/", "a-b/", "a/b/", "é/", "z.d/")
NAMES = [f"{folder}{name}.x" for folder in FOLDERS for name in "abcdefghijklmnopqrstuvwx"]


def listed(folder: Path, tree: str) -> dict[str, str]:
    """Path to mode, by a git of its own."""
    argv = ["git", "--git-dir", str(folder), "ls-tree", "-r", "-z", tree]
    said = subprocess.run(argv, env=PLAIN, check=True, capture_output=True).stdout
    rows = [row.split(b"\t", 1) for row in said.split(b"\0") if row]
    return {os.fsdecode(path): head[:6].decode() for head, path in rows}


def contents(folder: Path, tree: str, paths: list[str]) -> dict[str, bytes]:
    argv = ["git", "--git-dir", str(folder), "cat-file", "--batch"]
    asked = "".join(f"{tree}:{path}\n" for path in paths).encode()
    said = io.BytesIO(subprocess.run(argv, env=PLAIN, input=asked, check=True, capture_output=True).stdout)
    found = {}
    for path in paths:
        found[path] = said.read(int(said.readline().split()[2]))
        assert said.read(1) == b"\n"
    return found


@pytest.mark.parametrize("seed", range(examples(4)))
def test_a_tree_is_told_by_what_differs_from_the_last(tmp_path: Path, seed: int) -> None:
    assert len(NAMES) > MANY
    chance = random.Random(seed)
    work = open_workspace(make_repo(tmp_path / "repo", {"start.txt": "x\n"}), tmp_path / "state")
    git, rooms = work.store.git, RoomTrees(work)
    texts = [git_service.write_object(git, text, work.store.scratch) for text in (b"", b"one\n", b"two\n", b"x" * 5000)]
    seen = [tree_writing.write(git, {}, ())]
    tree = trees.edit(git, seen[0], {os.fsencode(name): (b"100644", texts[1]) for name in NAMES})
    for _ in range(12):
        asked = chance.choice([NAMES, [*reversed(NAMES)], NAMES[: MANY + 5], NAMES[:3]])
        there = listed(git.git_dir, tree)
        assert rooms.files(tree) == tuple(sorted(there, key=os.fsencode))
        wanted = contents(git.git_dir, tree, [path for path in asked if there.get(path, "").startswith("100")])
        found = rooms.contents(tree, asked)
        assert dict(found) == wanted
        assert list(found) == list(wanted), "in the order they were asked for"
        seen.append(tree)
        changes: dict[bytes, tuple[bytes, bytes] | None] = {}
        for name in chance.sample(NAMES, chance.choice([1, 3, len(NAMES)])):
            kept = [None, (b"120000", texts[1]), *((mode, text) for mode in (b"100644", b"100755") for text in texts)]
            changes[os.fsencode(name)] = chance.choice(kept)
        tree = trees.edit(git, chance.choice(seen), changes)
