"""The README's pictures: made by `make screenshots` from the recording, as they are in the repository, and shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from screenshots.make import PICTURES, picture

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [name for name, *_ in PICTURES])
async def test_a_picture_is_what_make_screenshots_makes(name: str) -> None:
    kept = (ROOT / "screenshots" / f"{name}.svg").read_text(encoding="utf-8")
    assert kept == await picture(name), "make screenshots"


def test_the_readme_shows_them() -> None:
    shown = re.findall(r"\]\(screenshots/(\w+)\.svg\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"hero", "gate", "evidence", "cost", "narrow"} <= set(shown)
    assert set(shown) <= {name for name, *_ in PICTURES}


def test_make_runs_the_module() -> None:
    assert "\t@$(PY) -m screenshots.make\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
