"""Sprint folders: numbered, named, made whole or not at all, found by what people type."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.model import Plan
from engine.plans import PlanRefused, SprintNotFound, ensure_gitignore, find_sprint, list_sprints, new_sprint, slug_of
from engine.plans.sprints import GITIGNORE

TEXT = "\ufeff# {title}\r\nStatus: DRAFT\r\n\r\n- [ ] 1.1 a"


def make(root, title="Add user login", **kwargs):
    return new_sprint(root, TEXT.format(title=title), kwargs.get("source", "notes.md"), "2026-01-02")


def test_a_sprint_folder_holds_what_the_seed_asks(tmp_path):
    sprint = make(tmp_path)
    assert (sprint.id, sprint.branch) == ("001-add-user-login", "devteam/001-add-user-login")
    assert sprint.path == tmp_path / ".devteam/sprints/001-add-user-login"
    assert sprint.plan_path.read_bytes() == TEXT.format(title="Add user login").encode(), "the text as given"
    assert sprint.loop_state_path.read_text() == "# Loop State\n**Iteration**: 0\n**Status**: INITIALIZING\n"
    assert "updated: 2026-01-02" in sprint.tracking_path.read_text()
    assert sprint.context_path.exists() and sprint.learnings.is_dir()
    assert stat.S_IMODE(sprint.path.stat().st_mode) == 0o755
    ignored = (tmp_path / ".devteam/.gitignore").read_text().splitlines()
    assert {"devteam.db*", "loop-state.md", "context.md"} <= set(ignored)
    assert not {"config.toml", "plan.md", "learnings/"} & set(ignored)
    assert list_sprints(tmp_path) == (sprint,)


def test_numbers_go_on_from_the_highest(tmp_path):
    make(tmp_path)
    (tmp_path / ".devteam/sprints/017-old").mkdir()
    (tmp_path / ".devteam/sprints/notes").mkdir()
    assert make(tmp_path).id == "018-add-user-login"
    (tmp_path / ".devteam/sprints/999-last").mkdir()
    assert make(tmp_path).id == "1000-add-user-login"


def test_another_format_becomes_plan_md(tmp_path):
    sprint = new_sprint(
        tmp_path, '{"project": "Shop", "userStories": [{"id": "US-1", "title": "Pay"}]}', "prd.json", "d"
    )
    assert sprint.id == "001-shop" and "- [ ] US-1: Pay" in sprint.plan_path.read_text()


def test_a_refused_plan_leaves_nothing(tmp_path):
    with pytest.raises(PlanRefused):
        new_sprint(tmp_path, "# X\n", "plan.md", "d")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_midway_leaves_no_folder(tmp_path, monkeypatch):
    make(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        make(tmp_path)
    monkeypatch.undo()
    assert sorted(entry.name for entry in (tmp_path / ".devteam/sprints").iterdir()) == [".lock", "001-add-user-login"]
    assert make(tmp_path).number == 2


def test_what_a_killed_maker_left_is_removed(tmp_path):
    stale = tmp_path / ".devteam/sprints/.new-abc"
    stale.mkdir(parents=True)
    (stale / "plan.md").write_text("half")
    make(tmp_path)
    assert not stale.exists()


def test_makers_at_the_same_time_take_different_numbers(tmp_path):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        made = pool.map(make, [tmp_path] * 12)
    assert sorted(sprint.number for sprint in made) == list(range(1, 13))


SLUGS = [
    pytest.param("Add user authentication", "add-user-authentication", id="short"),
    pytest.param(
        "Fix the payment bug in the checkout of the shop today", "fix-payment-bug-checkout-shop", id="five key words"
    ),
    pytest.param("Füge Größe hinzu", "fuge-grosse-hinzu", id="folded"),
    pytest.param("The and of", "the-and-of", id="stop words only"),
    pytest.param("x" * 60, "x" * 40, id="long word"),
    pytest.param(
        "internationalisation of authentication middleware", "internationalisation-authentication", id="cut at a word"
    ),
    pytest.param("添加登录", "my-notes", id="no letters: the file's name"),
]


@pytest.mark.parametrize(("title", "slug"), SLUGS)
def test_slugs(title, slug):
    assert slug_of(Plan(title=title, phases=()), "my notes.md") == slug


@given(st.text(max_size=60), st.text(max_size=20))
def test_a_slug_is_never_empty_and_always_fits(title, source):
    slug = slug_of(Plan(title=title, phases=()), source)
    assert 0 < len(slug) <= 40 and slug == slug.strip("-") and slug.replace("-", "a").isalnum() and slug.isascii()


HINTS = [
    pytest.param("002-fix-auth-bug", 2, id="id"),
    pytest.param("2", 2, id="number"),
    pytest.param("003", 3, id="number with zeros"),
    pytest.param("dark", 3, id="part of the slug"),
    pytest.param("Dark Mode", 3, id="words of the slug"),
    pytest.param("add-user-auth", 1, id="whole slug wins over parts"),
    pytest.param("", 3, id="none: the newest unfinished"),
]


@pytest.fixture
def three(tmp_path):
    for title in ("Add user auth", "Fix auth bug", "Dark mode"):
        make(tmp_path, title)
    (tmp_path / ".devteam/sprints/004-broken").mkdir()
    done = new_sprint(tmp_path, "# Done\nStatus: COMPLETE\n- [x] 1.1 a\n", "p.md", "d")
    assert done.number == 5
    (tmp_path / ".devteam/sprints/004-broken").rmdir()
    return tmp_path


@pytest.mark.parametrize(("hint", "number"), HINTS)
def test_sprints_are_found(three, hint, number):
    assert find_sprint(three, hint).number == number


def test_an_ambiguous_hint_lists_what_it_could_be(three):
    with pytest.raises(SprintNotFound) as lost:
        find_sprint(three, "auth")
    assert "[001-add-user-auth] Status: DRAFT" in str(lost.value) and [c.number for c in lost.value.choices] == [1, 2]


def test_an_unknown_hint_lists_what_there_is(three):
    with pytest.raises(SprintNotFound, match="No sprint is called “zzz”") as lost:
        find_sprint(three, "zzz")
    assert len(lost.value.choices) == 4


def test_no_sprint_yet_says_what_to_type(tmp_path):
    with pytest.raises(SprintNotFound, match="devteam plan --from"):
        find_sprint(tmp_path, "x")
    assert list_sprints(tmp_path) == ()


def test_a_sprint_with_a_broken_plan_is_listed_with_its_problem(tmp_path):
    sprint = make(tmp_path)
    sprint.plan_path.write_text("# X\n")
    (listed,) = list_sprints(tmp_path)
    assert "no tasks" in listed.problem and "unreadable" in listed.line()


def test_a_gitignore_of_the_user_only_gains_lines(tmp_path):
    path = tmp_path / ".devteam/.gitignore"
    path.parent.mkdir()
    path.write_bytes(b"mine\r\ndevteam.db*\r\nlast \xff")
    ensure_gitignore(tmp_path)
    ensure_gitignore(tmp_path)
    text = path.read_bytes()
    assert text.startswith(b"mine\r\ndevteam.db*\r\nlast \xff\n") and text.count(b"devteam.db*") == 1
    wanted = [line for line in GITIGNORE.splitlines() if not line.startswith("#")]
    assert all(text.count(line.encode()) == 1 for line in wanted)


@pytest.mark.parametrize(
    ("boxes", "status"),
    [
        pytest.param("- [ ] 1.1 a\n- [ ] 1.2 b", "APPROVED", id="nothing done"),
        pytest.param("- [x] 1.1 a\n- [ ] 1.2 b", "IN_PROGRESS", id="one done"),
        pytest.param("- [x] 1.1 a\n- [-] 1.2 b", "COMPLETE", id="done and skipped"),
    ],
)
def test_the_boxes_say_how_far_a_plan_without_a_status_line_is(tmp_path, boxes, status):
    sprint = new_sprint(tmp_path, "# P\n\n- [ ] 1.1 a\n- [ ] 1.2 b", "plan.md", "2026-01-02")
    sprint.plan_path.write_text(f"# P\n\n{boxes}\n")
    assert list_sprints(tmp_path)[0].status == status
    assert find_sprint(tmp_path).line().startswith(f"[001-p] Status: {status}")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("package.json", '{"devDependencies": {"prettier": "^2"}}', True),
        (".prettierrc.yml", "tabWidth: 4", True),
        ("package.json", '{"devDependencies": {"jest": "^27"}}', False),
    ],
)
def test_a_formatter_of_the_project_leaves_our_files_alone(tmp_path, name, text, told):
    """`prettier --check .` in a checkout where a sprint ran (tried with prettier 2.8 and 3)."""
    (tmp_path / name).write_text(text)
    ensure_gitignore(tmp_path)
    settings = tmp_path / ".devteam/.prettierrc"
    assert settings.exists() is told
    if told:
        assert json.loads(settings.read_text())["requirePragma"] is True
        settings.write_text("mine")
        ensure_gitignore(tmp_path)
        assert settings.read_text() == "mine"
