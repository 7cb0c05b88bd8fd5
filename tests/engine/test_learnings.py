"""Memory: decisions read from agents' words, kept once, found again by files and words, contradicted, bounded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine import learnings
from engine.core import events as ev
from engine.core.model import Disputed, Role
from engine.prompts.decisions import contradictions_in, decisions_in

SAID = """Done.

## Decisions

- Use argon2 for passwords — bcrypt is limited to 72 bytes
  - Alternatives: scrypt, because of its memory
- **Keep sessions in redis**: they survive a restart
1. Decision: no cache

## Contradicts

- `001-login/003-use-md5`: it is broken

STATUS: complete
- not a decision
"""


def test_decisions_are_read_from_any_form() -> None:
    first, second, third = decisions_in(SAID)
    assert (first.decision, first.why) == ("Use argon2 for passwords", "bcrypt is limited to 72 bytes")
    assert first.alternatives == ("scrypt, because of its memory",)
    assert (second.decision, second.why) == ("Keep sessions in redis", "they survive a restart")
    assert third.decision == "no cache"
    (wrong,) = contradictions_in(SAID)
    assert (wrong.name, wrong.why) == ("001-login/003-use-md5", "it is broken")
    assert decisions_in("no heading\n- a bullet") == () and contradictions_in("") == ()
    assert len(decisions_in("## Decisions\n" + "- x y\n" * 99)) <= 6


def write(root: Path, sprint: str, number: int, **fields: object) -> None:
    event = ev.LearningRecorded(task="1.1", role=Role.PLANNER, **fields)  # type: ignore[arg-type]
    folder = root / ".devteam/sprints" / sprint / "learnings"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / learnings.file_name(number, event)).write_text(learnings.render(event, sprint))


def test_the_relevant_ones_are_found_by_files_and_words_and_bounded(tmp_path: Path) -> None:
    write(tmp_path, "001-login", 1, text="Use argon2 for passwords", why="72 bytes", files=("src/auth/hash.py",))
    write(tmp_path, "001-login", 2, text="Paint the button green", why="the brand")
    write(tmp_path, "002-shop", 1, text="Never store passwords in logs", avoid=True)
    every = learnings.read_all(tmp_path)
    assert [one.name for one in every] == [
        "001-login/001-argon2-passwords", "001-login/002-paint-button-green",
        "002-shop/001-never-store-passwords-in-logs",
    ]  # fmt: skip
    best, *_ = learnings.relevant(every, "hash the passwords anew", ["src/auth/hash.py"])
    assert best.learning.name == "001-login/001-argon2-passwords" and best.why.startswith("same file src/auth/hash.py")
    assert not learnings.relevant(every, "write the docs", ["docs/x.md"])
    for number in range(3, 30):
        write(tmp_path, "001-login", number, text=f"Hash passwords rule {number} alpha beta{number}")
    assert len(learnings.relevant(learnings.read_all(tmp_path), "hash passwords", [])) <= learnings.MOST_SHOWN


def test_the_same_decision_is_known_and_contradictions_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "001-login", 1, text="Use argon2 for passwords")
    (one,) = learnings.read_all(tmp_path)
    assert learnings.known("use Argon2 for the passwords", [one]) is one
    assert learnings.known("use sessions", [one]) is None
    for task in ("1.1", "1.2"):
        one.path.write_text(learnings.with_dispute(one, f"002-x, task {task}: too slow"))
        (one,) = learnings.read_all(tmp_path)
    assert learnings.doubtful([one]) == [one] and one.disputes[0] == "002-x, task 1.1: too slow"


def test_what_the_human_says_of_a_contradicted_learning_stands_in_its_file(tmp_path: Path) -> None:
    write(tmp_path, "001-login", 1, text="Use argon2 for passwords")
    write(tmp_path, "001-login", 2, text="Keep sessions in redis")
    first, second = learnings.read_all(tmp_path)
    for one, voices in ((first, ("1.1", "1.2")), (second, ("1.1",))):
        for voice in voices:
            now = learnings.parse(one.name, one.path.read_text(), one.path)
            one.path.write_text(learnings.with_dispute(now, f"002-x, task {voice}: wrong"))
    found = learnings.disputed(learnings.read_all(tmp_path))
    assert {name: len(one.said) for name, one in found.items()} == {first.name: 2, second.name: 1}
    for _twice in range(2):
        learnings.settle(tmp_path, {first.name: Disputed(settled="dropped by ann")})
    first, second = learnings.read_all(tmp_path)
    assert first.dropped and first.text.count("settled:") == 1
    assert list(learnings.disputed((first, second))) == [second.name]
    assert learnings.doubtful((first, second)) == []
    assert [
        one.learning.name for one in learnings.relevant((first, second), "argon2 passwords redis sessions", ())
    ] == [second.name]
    assert learnings.known("use argon2 for the passwords", (first,)) is first, "what was dropped is not recorded anew"
    learnings.settle(tmp_path, {second.name: Disputed(settled="corrected by ann: only in production")})
    second = learnings.read_all(tmp_path)[1]
    assert (second.disputes, "only in production" in learnings.shown(second)) == ((), True)
    second.path.write_text(learnings.with_dispute(second, "003-y, task 1.1: no redis"))
    assert learnings.read_all(tmp_path)[1].disputes == ("003-y, task 1.1: no redis",)


def test_of_what_tasks_went_through_the_latest_are_read_and_every_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no file twice while it is as it was."""
    write(tmp_path, "001-login", 1, text="Use argon2 for passwords")
    folder = tmp_path / ".devteam/sprints/001-login/learnings"
    for number in range(2, learnings.MOST_TASKS + 12):
        (folder / f"{number:03d}-task-1.{number}.md").write_text(f"# Task 1.{number}\n")
    every = learnings.read_all(tmp_path)
    assert len(every) == learnings.MOST_TASKS + 1
    assert every[0].title == "Use argon2 for passwords" and every[-1].title == f"Task 1.{learnings.MOST_TASKS + 11}"
    monkeypatch.setattr(learnings, "parse", None)
    assert learnings.read_all(tmp_path) == every
    monkeypatch.undo()
    every[-1].path.write_text("# Another word\n")
    assert learnings.read_all(tmp_path)[-1].title == "Another word"


def test_of_old_sprints_only_decisions_are_read_and_a_new_one_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learnings, "MOST_TASKS", 3)
    sprints = tmp_path / ".devteam/sprints"

    def put(sprint: str, name: str) -> None:
        path = sprints / sprint / "learnings" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {sprint} {name}\n")

    for sprint in ("001-a", "002-b", "003-c"):
        for number in (1, 2):
            put(sprint, f"00{number}-task-1.{number}.md")
        put(sprint, "003-use-argon.md")
    names = [one.name for one in learnings.read_all(tmp_path)]
    assert names == [
        "001-a/003-use-argon", "002-b/002-task-1.2", "002-b/003-use-argon",
        "003-c/001-task-1.1", "003-c/002-task-1.2", "003-c/003-use-argon",
    ]  # fmt: skip
    listed: list[str] = []
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: (listed.append(str(path)), real(path))[1])
    assert [one.name for one in learnings.read_all(tmp_path)] == names
    assert not any("001-a" in path for path in listed), "nothing came or went there"
    put("001-a", "004-no-redis.md")
    assert "001-a/004-no-redis" in [one.name for one in learnings.read_all(tmp_path)]
