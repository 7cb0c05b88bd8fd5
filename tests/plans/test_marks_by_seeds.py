"""A plan is read once for all its marks: held against reading it for each, by seeds; and counted."""

from __future__ import annotations

import random

import pytest

from engine.plans import native
from engine.plans.in_place import _differences
from engine.plans.native import BOX, NATIVE
from tests.depth import examples

LINES = [
    "- [ ] 1.1 First", "- [x] 1.2 Second", "- [] 1.3 Third", "- [ ~ ] 1.4 Fourth", "- [ ] Without a number",
    "      description: [ ] no box", "", "## Phase 2: more", "- [!] 2.1 é is two bytes", "```", "- [ ] 9.9 in a fence",
    "```", "<!-- - [ ] 8.8 in a comment -->",
]  # fmt: skip
IDS = ["1.1", "1.2", "1.3", "1.4", "2.1"]


@pytest.mark.parametrize("seed", range(examples(20)))
def test_marks_are_those_of_a_plan_that_is_read_for_each(seed: int) -> None:
    chance = random.Random(seed)
    text = "# Plan\n\n## Phase 1: one\n\n" + "\n".join(LINES) + "\n"
    for _ in range(30):
        if chance.random() < 0.2:  # the user writes, too: before, behind, or in the middle
            lines = text.splitlines()
            lines.insert(chance.randrange(4, len(lines) + 1), chance.choice(["", "a word", "      scope: x"]))
            text = "\n".join(lines) + "\n"
        marks = {task: chance.choice(list(BOX)) for task in chance.sample(IDS, chance.randint(1, 3))}
        marked = NATIVE.mark(text, marks)
        native._marked_last.clear()
        assert NATIVE.mark(text, marks) == marked
        text = marked
        statuses = {name: place for name, *place in native._boxes(text)}
        assert {task: text[slice(*statuses[task])] for task in marks} == {
            task: BOX[mark] for task, mark in marks.items()
        }


def test_a_plan_is_not_read_for_each_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    own = native.outline
    monkeypatch.setattr(native, "outline", lambda text, source: read.append(source) or own(text, source))
    text = "# Plan\n\n## Phase 1: one\n\n" + "".join(f"- [ ] 1.{number} Task\n" for number in range(1, 40))
    for number in range(1, 40):
        text = NATIVE.mark(NATIVE.mark(text, {f"1.{number}": "in_progress"}), {f"1.{number}": "done"})
    assert text.count("[x]") == 39
    assert len(read) == 1


@pytest.mark.parametrize("seed", range(examples(20)))
def test_what_differs_is_all_that_is_written(seed: int) -> None:
    chance = random.Random(seed)
    old = chance.randbytes(chance.choice([0, 1, 1023, 1024, 1025, 5000]))
    new = bytearray(old)
    for _ in range(chance.randint(0, 6)):
        if new:
            new[chance.randrange(len(new))] ^= 1
    put = bytearray(old)
    for start, part in _differences(old, bytes(new)):
        assert all(put[start + at] != byte for at, byte in enumerate(part)), "nothing that is the same"
        put[start : start + len(part)] = part
    assert put == new
