"""Evidence and trust: immutable, content-addressed, and noticed when touched."""
# ruff: noqa: E501 (programs quoted on one line are easier to compare)

from __future__ import annotations

import os

import pytest
from msgspec.structs import replace

from engine.core.model import CheckKind, CheckResult, Verdict
from engine.perform.checks.run.evidence import SCHEMA, CheckEvidence, Judgement, Store, TamperedError
from engine.perform.checks.run.measure import Measurement
from engine.perform.checks.run.spec import CheckSpec
from engine.perform.checks.trust import fingerprint, is_trusted, trust


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "evidence")


def judgement(store: Store) -> str:
    result = CheckResult(name="t", kind=CheckKind.TESTS, verdict=Verdict.PASS)
    seen = Measurement(
        check="t",
        kind=CheckKind.TESTS,
        argv=("t",),
        ended="exited",
        exit_code=0,
        artefacts={"stdout": store.keep(b"ok")},
    )
    part = store.write(
        CheckEvidence(schema=SCHEMA, tree="T", base="B", room="T", config_hash="", measurement=seen, result=result)
    )
    return store.write(
        Judgement(
            schema=SCHEMA, tree="T", base="B", room="T", purpose="task", task="1", allow=(), config_hash="", sandbox="none",
            started=1.0, ended=2.0, results=(replace(result, evidence=part),), findings=(), accepted=True,
        )
    )  # fmt: skip


def test_round_trip(store):
    name = judgement(store)
    assert store.verify(name).tree == "T"
    assert judgement(store) == name, "the same facts have the same name"
    assert oct((store.folder / f"{name}.json").stat().st_mode & 0o777) == "0o400"


@pytest.mark.parametrize("pattern", ["*.json", "artefacts/*"])
def test_a_touched_file_is_noticed(store, pattern):
    name = judgement(store)
    for path in store.folder.glob(pattern):
        whole = path.read_bytes()
        path.chmod(0o600)
        path.write_bytes(whole.replace(b"o", b"x", 1) if b"o" in whole else b"x")
        with pytest.raises(TamperedError):
            store.verify(name)
        path.write_bytes(whole)
        path.unlink()
        with pytest.raises(TamperedError):
            store.verify(name)
        path.write_bytes(whole)
        store.verify(name)


def test_another_trees_record_does_not_count(store):
    name = judgement(store)
    kept = store.load_judgement(name)
    moved = store.write(replace(kept, tree="OTHER"))
    with pytest.raises(TamperedError, match="does not belong"):
        store.verify(moved)
    raised = store.write(replace(kept, results=(replace(kept.results[0], reason="better"),)))
    with pytest.raises(TamperedError):
        store.verify(raised)


def test_no_half_written_record(store, monkeypatch):
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        store.keep(b"data")
    assert [p for p in store.folder.rglob("*") if p.is_file()] == []


SPEC = CheckSpec(name="t", kind=CheckKind.TESTS, command=("pytest",))


def test_trust_on_first_use(tmp_path):
    mark = fingerprint([SPEC])
    assert not is_trusted(tmp_path, mark)
    trust(tmp_path, mark, 1.0)
    assert is_trusted(tmp_path, mark)
    assert not is_trusted(tmp_path, mark[:8])
    (tmp_path / "trusted-checks.json").write_text("{broken")
    assert not is_trusted(tmp_path, mark), "an unreadable store trusts nothing"


@pytest.mark.parametrize(
    "other",
    [
        replace(SPEC, command=("pytest", "-k", "x")),
        replace(SPEC, env={"A": "b"}),
        replace(SPEC, network=True),
        replace(SPEC, runner="pytest"),
        replace(SPEC, name="u"),
    ],
)
def test_what_is_run_changes_the_fingerprint(other):
    assert fingerprint([SPEC]) != fingerprint([other])
    assert fingerprint([SPEC, other]) == fingerprint([other, SPEC])
