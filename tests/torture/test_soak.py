"""A day of virtual time and five thousand attempts: memory, descriptors, threads, files and refs stay flat."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.torture.soak import KEEP, SPRINTS, TASKS, Figures, flat, in_use, soak


@pytest.mark.torture
@pytest.mark.timeout(14_400)
async def test_a_day_and_five_thousand_attempts(tmp_path: Path) -> None:
    seen = await soak(tmp_path, SPRINTS, TASKS)
    assert seen[-1].attempts >= 5000
    assert seen[-1].hours >= 24
    assert flat(seen) == []


def steady(number: int) -> Figures:
    return Figures(
        attempts=100 * number,
        hours=float(number),
        rss_mb=60.0,
        descriptors=12,
        threads=3,
        temporary=4,
        refs=20,
        state_files=400 + 50 * number,
        journal_kb=300.0 * number,
        cpu_ms=80.0,
        used_mb=45.0,
    )


def test_steady_figures_are_flat() -> None:
    assert flat([steady(number) for number in range(1, 30)]) == []


@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("rss_mb", 0.7),
        ("used_mb", 0.1),
        ("descriptors", 0.5),
        ("threads", 0.5),
        ("temporary", 1.0),
        ("refs", 8.0),
        ("state_files", 500.0),
        ("journal_kb", 100.0),
    ],
)
def test_what_grows_is_named(name: str, each: float) -> None:
    """A leak in each sprint; the journal's is one that grows with what is already there."""
    seen = [steady(number) for number in range(1, 30)]
    leaks = [each * number * (number if name == "journal_kb" else 1) for number in range(1, 30)]
    leaky = [replace(one, **{name: getattr(one, name) + leak}) for one, leak in zip(seen, leaks, strict=True)]
    assert len(flat(leaky)) == 1
    assert len(leaky) > KEEP


def test_what_is_held_is_in_use() -> None:
    before = in_use()
    held = [bytes(200) + bytes([number % 256]) for number in range(20_000)]
    assert in_use() - before > 4.0 and held
    del held
    assert in_use() - before < 1.0
