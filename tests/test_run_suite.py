"""The suite's own runner: what fails alone fails, what failed only in the crowd is named, many are not repeated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.run_suite import FEW, run

ONCE = "from pathlib import Path\ndef test_a():\n    seen = Path('seen').exists(); Path('seen').touch(); assert seen\n"


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        pytest.param("def test_a():\n    assert 0\n", 1, "once more, alone", id="fails-twice"),
        pytest.param(ONCE, 0, "Passed alone, failed among others", id="failed-once"),
        pytest.param("".join(f"def test_{n}(): assert 0\n" for n in range(FEW + 1)), 1, "", id="too-many"),
    ],
)
def test_a_second_look(tmp_path: Path, capfd: pytest.CaptureFixture[str], body: str, code: int, says: str) -> None:
    (tmp_path / "test_it.py").write_text(body)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    assert run([], environment, tmp_path, workers=1) == code
    written = capfd.readouterr().out
    assert says in written
    assert says or "alone" not in written
