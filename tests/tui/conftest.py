"""Everything that moves by itself is stopped, so that a picture is the same on every machine."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.widgets import Input


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(App, "NOTIFICATION_TIMEOUT", 3600)  # a toast stays until it was read, however slow the machine
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
