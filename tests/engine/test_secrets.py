"""Secrets are stored nowhere and shown nowhere, whoever says them: a leaky agent's whole run is searched for them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine.clock import SystemClock
from engine.core import events as ev
from engine.core.effects import CallAgent
from engine.core.model import ResultKind
from engine.core.sandboxes import SandboxName
from engine.core.state import State
from engine.link.protocol import GetDiff, GetEvents, GetEvidence, GetFile, GetOutput, GetPrompt, GetReport
from engine.link.recording import in_order
from engine.link.replay import ReplayLink
from engine.perform.process.probe import probe
from engine.perform.secrets.known import known_secrets, secret_files, settings
from engine.perform.secrets.redact import MARK
from engine.service.local import Desk
from engine.service.queries import Answers
from engine.session import Session
from engine.session_options import Options
from tests.engine.leaky import CANARIES, HIDDEN, Leaky, make
from tests.tui.driving import app_on, press, settle
from tests.tui.test_hostile import painted

EVERY = {**CANARIES, "home": HIDDEN}


def hits(data: bytes | str) -> list[str]:
    """Which secrets are in there, plain or as JSON writes them; the beginning of one is one."""
    raw = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    heads = {name: value[:12] for name, value in EVERY.items()}
    return [name for name, head in heads.items() if head.encode() in raw or json.dumps(head)[1:-1].encode() in raw]


def stored(leaky: Leaky) -> Iterator[tuple[Path, bytes]]:
    """Every file the run wrote, but for the login file, which is the user's own and only mounted."""
    for root in (leaky.place / "state", leaky.folder / ".devteam", leaky.folder / ".git"):
        for folder, _folders, names in os.walk(root):
            for path in (Path(folder) / name for name in names):
                if path.is_file() and not path.is_symlink():
                    yield path, path.read_bytes()
    yield leaky.notified, leaky.notified.read_bytes()


def in_git(leaky: Leaky) -> Iterator[tuple[Path, bytes]]:
    """Every object of every git store, unpacked."""
    for root in (leaky.place / "state", leaky.folder):
        for objects in root.rglob("objects"):
            if (objects.parent / "HEAD").exists():
                line = ["git", "--git-dir", str(objects.parent), "cat-file", "--batch-all-objects", "--batch"]
                yield objects, subprocess.run(line, capture_output=True, check=True).stdout


class Ran:
    """A run that is over: its state, its facts, and what was sent to the screens."""

    def __init__(self, leaky: Leaky, state: State, messages: list[object]) -> None:
        self.leaky = leaky
        self.state = state
        self.messages = messages
        self.envelopes = [one for one in messages if isinstance(one, ev.Envelope)]


async def run(leaky: Leaky) -> Ran:
    async with Session.open(
        leaky.project, leaky.sprint, SystemClock(), Options(attended=False, trust="all")
    ) as session:
        heard = session.bus.subscribe()
        state = await session.run()
        messages = [message async for message in heard]
    return Ran(leaky, state, messages)


async def test_a_leaky_run_leaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    mode = await probe(scratch=tmp_path, home=tmp_path / "home")
    leaky = make(tmp_path, fenced=mode.name.mounts)
    ran = await run(leaky)
    assert ran.state.outcome == "done", (ran.state.outcome_reason, ran.state.tasks["1.1"])
    _the_run_was_leaky_enough(ran)
    found = {str(path): names for path, data in (*stored(leaky), *in_git(leaky)) if (names := hits(data))}
    assert found == {}
    assert [message for message in ran.messages if hits(msgspec.json.encode(message))] == []
    _no_answer_leaks(ran)
    _only_its_own_provider(ran)
    await _no_screen_leaks(ran)


def _the_run_was_leaky_enough(ran: Ran) -> None:
    """The search would be worth nothing if the secrets had not been said in each of these places."""
    results = [one.event.result for one in ran.envelopes if isinstance(one.event, ev.AgentFinished)]
    assert [result.kind for result in results[:2]] == [ResultKind.CRASH, ResultKind.OK]
    assert MARK in results[0].error
    assert MARK in results[1].claim_text
    assert all(MARK in result.session and MARK in result.text for result in results)
    reviews = [one.event.review for one in ran.envelopes if isinstance(one.event, ev.ReviewFinished)]
    assert [review.approved for review in reviews] == [False, True]
    assert MARK in reviews[0].issues[0].fix
    assert MARK in reviews[1].notes[0]
    failed = [one.event for one in ran.envelopes if isinstance(one.event, ev.ChecksFinished)][1]
    told = {result.name for result in failed.results if MARK in msgspec.json.encode(result).decode()}
    assert {"words", "unit"} <= told
    logs = ran.leaky.project.state.logs_of(ran.leaky.sprint.id)
    said = "".join(path.read_text() for path in logs.glob("*.raw"))
    assert f'"refresh_token": "{MARK}' in said, "it had the login"
    if SandboxName(ran.state.sandbox).mounts:
        assert f"cannot read {ran.leaky.place / 'home' / 'private.txt'}" in said
    for pattern in ("*.raw", "*.raw.stderr", "*.jsonl", "*.prompt.md"):
        assert any(MARK.encode() in path.read_bytes() for path in logs.glob(pattern)), pattern
    assert any(MARK.encode() in path.read_bytes() for path in ran.leaky.project.state.evidence.rglob("*.*")), "evidence"


def _no_answer_leaks(ran: Ran) -> None:
    """What a user interface may ask for."""
    answers = Answers(Desk(project=ran.leaky.project), ran.leaky.sprint, lambda: ran.state)
    calls = [
        one.event.effect.id
        for one in ran.envelopes
        if isinstance(one.event, ev.EffectStarted) and isinstance(one.event.effect, CallAgent)
    ]
    queries = [
        GetDiff(task="1.1"),
        GetEvidence(task="1.1"),
        GetReport(),
        GetReport(task="1.1"),
        GetReport(task="1.1", iteration=1),
        GetOutput(task="1.1"),
        GetEvents(),
        GetFile(name="report.md"),
        GetFile(name="progress.txt"),
        *(GetPrompt(effect=call) for call in calls),
    ]
    for query in queries:
        answered = answers.answer(query)
        assert not answered.error, (query, answered.error)
        assert hits(msgspec.json.encode(answered)) == [], query


def _only_its_own_provider(ran: Ran) -> None:
    """The agents printed their whole environment: one has a key, the other a login file."""
    logs = ran.leaky.project.state.logs_of(ran.leaky.sprint.id)
    for path in logs.glob("*.raw"):
        (line,) = (line for line in path.read_text().splitlines() if line.startswith('{"text": "environment: '))
        environment = json.loads(json.loads(line)["text"].removeprefix("environment: "))
        assert environment.get("ANTHROPIC_API_KEY") == (MARK if "implementer" in path.name else None)
        assert not {"OPENAI_API_KEY", "MY_SECRET_TOKEN", "DATABASE_URL"} & environment.keys()


async def _no_screen_leaks(ran: Ran) -> None:
    facts = list(Desk(project=ran.leaky.project).events(ran.leaky.sprint.id))
    said = [message for message in ran.messages if not isinstance(message, ev.Envelope)]
    link = ReplayLink(in_order(facts, said), name=ran.leaky.sprint.id)  # type: ignore[arg-type]
    app = app_on(link)
    shown = []
    async with app.run_test(size=(160, 50)) as pilot:
        await settle(pilot)
        shown.append(painted(app))
        for key in ("i", "e", "d", "dollar_sign", "l", "p", "o"):
            await press(pilot, key)
            assert app.view.task is not None, "the pages are about a task"
            shown.append(painted(app))
            await press(pilot, "escape")
        shown.append(app.export_screenshot())
    assert any(MARK in text for text in shown)
    assert [hits(text) for text in shown if hits(text)] == []


# ── what is known to be a secret ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("API_TOKEN=abcdefgh1\nPORT=8080\n", ("abcdefgh1",), id="lines"),
        pytest.param("export API_TOKEN = 'abc def gh'\n# API_KEY=commented1\n", ("abc def gh",), id="quoted"),
        pytest.param('{"tokens": {"access_token": "abcdefgh2", "n": 1}}', ("abcdefgh2",), id="json"),
        pytest.param('[{"secret": ["abcdefgh3"]}]', ("abcdefgh3",), id="json list"),
        pytest.param("URL=db://u:abcdefgh4@h/x\n", ("db://u:abcdefgh4@h/x", "abcdefgh4"), id="address"),
        pytest.param('{"token": ', (), id="broken json"),
        pytest.param("\xff\x00", (), id="no text"),
        pytest.param("[" * 100_000, (), id="nested"),
    ],
)
def test_values_of_files(tmp_path: Path, text: str, values: tuple[str, ...]) -> None:
    path = tmp_path / ".env"
    path.write_bytes(text.encode("latin-1"))
    assert known_secrets({}, files=(path,)) == values


def test_files_of_a_checkout(tmp_path: Path) -> None:
    for name in (".env", ".env.local", ".env.example", "main.py", "kept.ini"):
        (tmp_path / name).write_text("")
    found = secret_files(tmp_path, ("kept.ini", "gone.ini"))
    assert sorted(path.name for path in found) == [".env", ".env.local", "kept.ini"]
    assert list(settings(tmp_path / "gone")) == []
