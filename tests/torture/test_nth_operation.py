"""Every operation fails once: open, write, fsync, rename, link, fork, mmap, the first, the second … to the end of a
sprint. Each run ends in words, no task ends for it, the next start completes. (`python -m tests.torture.nth write`)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.nth import OPERATIONS, Shim, Trial, built, check


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shim]:
    made = built(tmp_path_factory.mktemp("shim"))
    if made is None:
        pytest.skip("no C compiler")
    yield made
    made.server.close()


PARTS = 6
"""Of the run of one operation, so that several cores have work."""


@pytest.mark.torture
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("op", OPERATIONS)
def test_the_nth_operation_fails(op: str, part: int, shim: Shim, tmp_path: Path) -> None:
    counting = Trial(tmp_path / "counting", shim)
    assert counting.run(op, 0).returncode == 0
    total = counting.counted()
    assert total, "the shim counts nothing"
    found = []
    for number in range(1 + part, total + 1, PARTS):
        if wrong := check(tmp_path / str(number), shim, op, number):
            found.append(f"{op} {number}: {wrong}")
    assert not found, "\n".join(found)


@pytest.mark.torture
def test_the_shim_really_fails_the_operation(shim: Shim, tmp_path: Path) -> None:
    """The first write below the state folder: without the handling the run could not end well."""
    trial = Trial(tmp_path, shim)
    done = trial.run("open", 1)
    assert trial.counted() >= 1
    assert "No space left" in done.stdout + done.stderr or done.returncode == 0
