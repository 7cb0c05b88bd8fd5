"""The rules of a tree told by what differs from another are the rules of that tree."""

from __future__ import annotations

import random
from pathlib import Path

from engine.perform.workspace import git_service, ignore, trees
from engine.perform.workspace.unchanging import Kept
from tests.workspace.repos import make_repo, open_workspace

PLACES = [b".gitignore", b"src/.gitignore", b"src/deep/.gitignore", b"x.gitignore", b"src/app.py", b"sub", b"lib/sub"]


def test_derived_rules_are_those_of_the_tree(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    work = open_workspace(repo)
    work.start_sprint(1.0)
    git, scratch = work.store.git, work.store.scratch
    tree, commit = work.tree_of(work.head()), work.head().encode()
    dice = random.Random(16)
    folder = tmp_path / "rules"
    files = set()
    for _ in range(40):
        changes: dict[bytes, tuple[bytes, bytes] | None] = {}
        for path in dice.sample(PLACES, 3):
            if dice.random() < 0.3:
                changes[path] = None
            elif path.endswith(b"sub"):
                changes[path] = (trees.GITLINK, commit)
            else:
                blob = git_service.write_object(git, b"*.%d\n" % dice.randrange(4), scratch)
                changes[path] = (dice.choice([b"100644", b"100755", trees.SYMLINK]), blob)
        tree = trees.edit(git, tree, changes)
        derived = ignore.rules_of(git, tree, folder, b"own\n", ("copied",))
        files.add(derived.path)
        known, ignore._known = ignore._known, Kept(8)
        afresh = ignore.rules_of(git, tree, tmp_path / "afresh", b"own\n", ("copied",))
        ignore._known = known
        assert derived.path.read_bytes() == afresh.path.read_bytes()
        assert derived.gitlinks == afresh.gitlinks
    assert len(list(folder.iterdir())) == len(files) < 40, "one file for what says the same"
