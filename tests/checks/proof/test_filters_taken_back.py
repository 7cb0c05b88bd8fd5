"""Warnings are errors, until a later filter says otherwise for all of them."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.filters_taken_back import taken_back


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (["error", "ignore::Warning"], "ignore::Warning"),
        (["error", "default:::"], "default:::"),
        (["error", "ignore"], "ignore"),
        (["error", "ignore::DeprecationWarning"], ""),
        (["error", "ignore:old name"], ""),
        (["error", "default:::vendored"], ""),
        (["ignore", "error"], ""),
        (["error", "ignore", "error"], ""),
        (["ignore"], ""),
    ],
)
def test_the_last_filter_wins(filters: list[str], told: str) -> None:
    after = f"[tool.pytest.ini_options]\nfilterwarnings = {filters!r}\n".encode()
    ini = "[pytest]\nfilterwarnings =\n" + "".join(f"    {one}\n" for one in filters)
    for path, text in (("pyproject.toml", after), ("pytest.ini", ini.encode())):
        said = " ".join(hit[2] for hit in taken_back(path, b"", text))
        assert (f"`{told}`" in said) if told else (said == "")
        assert taken_back(path, text, text + b"\n") == []


def test_what_cannot_be_read_says_nothing() -> None:
    assert taken_back("pyproject.toml", None, b"[tool.pytest\n") == []
    assert taken_back("pytest.ini", None, b"filterwarnings\n") == []
    assert taken_back("pyproject.toml", None, b"[tool]\npytest = 1\n") == []
    assert taken_back("other.toml", None, b"x = 1\n") == []
