"""The trees that the tests of the checks write without git are git's own."""

from __future__ import annotations

from pathlib import Path

from tests.checks.ground import GitTrees


def test_trees_written_by_their_objects_are_gits(trees: GitTrees, tmp_path: Path) -> None:
    """Names that sort differently with and without their slash, modes, an empty file, a deep folder."""
    files = {"a.py": "1\n", "a/b.py": "2\n", "a-b": "", "a0": "é\n", "run.sh": "true\n", "x/y/z/w.txt": "deep\n"}
    tree = trees.write(files)
    listed = trees.git("ls-tree", "-r", tree).decode().splitlines()
    assert [line.partition("\t")[2] for line in listed] == trees.files(tree)
    assert [line for line in listed if line.startswith("100755")] == [line for line in listed if "run.sh" in line]
    trees.export(tree, tmp_path / "room")
    assert {str(path.relative_to(tmp_path / "room")) for path in (tmp_path / "room").rglob("*.*") if path.is_file()}
    assert trees.hash_folder(tmp_path / "room") == tree, "git makes the same tree of the same files"
    edited = trees.edit(tree, {"a/b.py": b"3\n", "a0": None, "new/n.py": b"4\n"})
    told = trees.git("diff-tree", "-r", "--name-status", "--no-renames", tree, edited).decode().split()
    words = {"added": "A", "modified": "M", "deleted": "D"}
    assert sorted(told[1::2]) == [change.path for change in trees.diff_files(tree, edited)]
    assert {change.path: words[change.change] for change in trees.diff_files(tree, edited)} == dict(
        zip(told[1::2], told[::2], strict=True)
    )
    assert trees.overlay(edited, ["a/b.py", "a0", "new/n.py"], tree) == tree
    assert b"error" not in trees.git("fsck", "--strict", tree)
