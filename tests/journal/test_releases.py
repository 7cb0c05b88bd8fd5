"""Journals of every released version: read, folded and gone on with; and what an older engine does with a newer one.

`releases/DATE-half.tar.gz` is a repository whose engine was killed in the middle of the second task, `DATE-whole` one
whose sprint was done. They were written by the version that was landed on that day; a new release adds its own.
"""

from __future__ import annotations

import asyncio
import tarfile
from pathlib import Path

import msgspec
import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.state import Status
from engine.journal import Journal, schema
from engine.journal.journal_errors import JournalTooNew, UnreadableEvent
from engine.plans.sprints import list_sprints
from engine.project import load_state
from engine.session import Session
from engine.session_options import Options
from tests.engine import small
from tests.patience import patience

FOLDER = Path(__file__).with_name("releases")
RELEASES = sorted(path.name.removesuffix("-half.tar.gz") for path in FOLDER.glob("*-half.tar.gz"))


def unpacked(name: str, tmp_path: Path) -> Path:
    with tarfile.open(FOLDER / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path / "repo", filter="data")
    return tmp_path / "repo"


def opened(repo: Path, tmp_path: Path, *, read_only: bool = False) -> Journal:
    path = repo / ".devteam/devteam.db"
    return Journal.open(path, clock=lambda: 2e9, backup_dir=tmp_path / "backups", read_only=read_only)


def test_there_are_releases() -> None:
    assert len(RELEASES) >= 2


@pytest.mark.parametrize("release", RELEASES)
def test_a_finished_sprint_is_read_as_it_was(release: str, tmp_path: Path) -> None:
    repo = unpacked(f"{release}-whole", tmp_path)
    for read_only in (True, False):
        with opened(repo, tmp_path, read_only=read_only) as journal:
            state = load_state(journal, "001-make-good")
            assert not [one for one in journal.read() if isinstance(one.event, ev.Unknown)]
            assert state.outcome == "done"
            assert {task.status for task in state.tasks.values()} == {Status.COMPLETE}
            assert journal.verify() == state.seq


@pytest.mark.parametrize("release", RELEASES)
async def test_a_sprint_that_an_older_engine_left_is_gone_on_with(release: str, tmp_path: Path) -> None:
    """Upgraded in the middle, with the state folder of the old version lost as well."""
    repo = unpacked(f"{release}-half", tmp_path)
    before = small.branch(repo, "devteam/001-make-good")
    project = small.project_of(repo, tmp_path / "state")
    options = Options(attended=False, trust="all", speed=1e9)
    async with Session.open(project, list_sprints(repo)[-1], SystemClock(), options) as session:
        async with asyncio.timeout(patience(120)):
            state = await session.run()
    assert state.tasks["1.1"].status is Status.COMPLETE
    after = small.branch(repo, "devteam/001-make-good")
    assert after[: len(before)] == before, "what was done stays as it was"
    subjects = [subject for subject, _tree in after if subject.startswith("impl(")]
    assert len(subjects) == len(set(subjects))
    assert state.outcome in ("done", "blocked"), state.outcome_reason
    assert state.outcome_reason


@pytest.mark.parametrize("release", RELEASES)
def test_an_older_engine_refuses_what_a_newer_one_wrote(release: str, tmp_path: Path) -> None:
    """Downgraded: an event or a value it does not know may be looked at, never appended to."""
    repo = unpacked(f"{release}-whole", tmp_path)
    with opened(repo, tmp_path) as journal:
        journal.append("001-make-good", [ev.Unknown(type="from_the_future", raw={"type": "from_the_future", "x": 1})])
        last = journal.last_seq()
    with pytest.raises(JournalTooNew, match="newer devteam"):
        opened(repo, tmp_path)
    with opened(repo, tmp_path, read_only=True) as view:
        assert view.last_seq() == last
        assert load_state(view, "001-make-good").outcome == "done"


def test_a_newer_format_is_refused_and_untouched(tmp_path: Path) -> None:
    repo = unpacked(f"{RELEASES[0]}-whole", tmp_path)
    path = repo / ".devteam/devteam.db"
    connection = schema.connect(path, 100)
    schema.set_format(connection, schema.FORMAT + 1)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalTooNew):
        opened(repo, tmp_path)
    assert path.read_bytes() == before


def test_a_new_value_of_a_known_set_is_refused_too(tmp_path: Path) -> None:
    repo = unpacked(f"{RELEASES[0]}-whole", tmp_path)
    failed = ev.EffectFailed(id="1", kind="transient", message="x")
    raw = msgspec.json.decode(ev.encode(failed)) | {"fault": "CPU_ON_FIRE"}
    with opened(repo, tmp_path) as journal:
        journal.append("001-make-good", [ev.Unknown(type="effect_failed", raw=raw)])
    with opened(repo, tmp_path) as journal, pytest.raises(UnreadableEvent, match="this version"):
        load_state(journal, "001-make-good")  # before it could append anything
    with opened(repo, tmp_path, read_only=True) as view:
        assert load_state(view, "001-make-good").outcome == "done"
