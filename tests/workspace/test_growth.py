"""A long sprint leaves no more to look at than a short one: packs are few, refs are read without git."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.workspace import dotgit, packs
from engine.perform.workspace.facts import Committed
from engine.perform.workspace.unchanging import Kept
from engine.perform.workspace.workspace import Workspace
from tests.workspace.repos import git, write


def iterate(work: Workspace, number: int) -> Path:
    lane = work.prepare(0)
    write(lane.path / "src" / f"part{number % 5}.py", f"x = {number}\n")
    report = work.check_scope(0, lane.tree, lane.base, ("src/**",), f"{number}-1")
    made = work.commit(f"1.{number}", report.tree, lane.base, f"impl(g): {number}", "", f"e{number}", float(number))
    assert isinstance(made, Committed)
    return lane.path


def packs_in(folder: Path) -> int:
    return len(list((folder / "objects/pack").glob("*.pack")))


def test_packs_stay_few_and_whole(work: Workspace, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the lane's clone and in the user's repository; nothing an agent may ask its git for is lost."""
    monkeypatch.setattr(dotgit, "MANY_PACKS", 4)
    monkeypatch.setattr(packs, "MANY", 4)
    clones = _counted(monkeypatch)
    for number in range(14):
        lane = iterate(work, number)
        assert packs_in(lane / ".git") <= 4 + 1
        assert packs_in(repo / ".git") <= 4 + 1
    lane = work.prepare(0).path
    assert git(lane, "fsck", "--strict") == ""
    assert git(lane, "rev-list", "--count", "HEAD").strip() == str(14 + int(git(repo, "rev-list", "--count", "HEAD")))
    assert len(clones) == 1, "a clone is joined, not made again"
    assert git(repo, "fsck", "--strict", "--no-dangling") == ""


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    real = dotgit._clone_objects

    def counted(store: object, fresh: Path) -> None:
        made.append(str(fresh))
        real(store, fresh)  # type: ignore[arg-type]

    monkeypatch.setattr(dotgit, "_clone_objects", counted)
    return made


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ([1, 1, 1, 1], 4),
        ([1, 1, 1, 1000], 3),
        ([1, 1, 500, 1000], 2),
        ([1, 2, 4, 8], 2),
        ([], 0),
    ],
)
def test_a_large_pack_is_left_alone(sizes: list[int], chosen: int) -> None:
    named = {str(place): size for place, size in enumerate(sizes)}
    assert packs.to_join(named) == [str(place) for place in range(chosen)]


def test_each_object_is_copied_a_few_times_only() -> None:
    """Ten thousand iterations of one small pack each: what all joins copy together stays near the whole."""
    sizes: dict[str, int] = {}
    copied = 0
    for number in range(10_000):
        sizes[str(number)] = 1
        if len(sizes) >= packs.MANY:
            joined = packs.to_join(sizes)
            total = sum(sizes.pop(name) for name in joined)
            copied += total
            sizes[f"joined-{number}"] = total
    assert len(sizes) <= packs.MANY
    assert copied <= 12 * 10_000


@pytest.mark.parametrize("packed", [True, False])
def test_refs_are_read_as_git_reads_them(work: Workspace, repo: Path, packed: bool) -> None:
    git(repo, "tag", "v1")
    git(repo, "tag", "-a", "v2", "-m", "annotated")
    git(repo, "tag", "deep/er/v3")
    if packed:
        git(repo, "pack-refs", "--all")
        git(repo, "tag", "-f", "v1", "devteam/001-test")
        git(repo, "tag", "v4")
    assert work.store.repo.below("refs/tags") == work.store.repo.refs("refs/tags")
    git(repo, "symbolic-ref", "refs/tags/other", "refs/tags/v2")
    assert work.store.repo.below("refs/tags") == work.store.repo.refs("refs/tags")


def test_what_is_remembered_is_bounded_by_its_rows_not_only_by_its_number() -> None:
    kept: Kept[str] = Kept(100, rows=50)
    for number in range(100):
        kept.put((number,), str(number), weight=10)
    assert [number for number in range(100) if kept.get((number,)) is not None] == [95, 96, 97, 98, 99]
    kept.put(("large",), "large", weight=1000)  # alone it may be larger: it is what is being asked for
    assert kept.get(("large",)) == "large"
    assert kept.get((99,)) is None
