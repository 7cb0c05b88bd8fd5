"""Why a program found its file by hand and not in a clone."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.perform.agents.hidden_files import hint_for_hidden


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("sh: 0: cannot open {checkout}/.devteam/agent.sh: No such file", "commit .devteam/agent.sh: "),
        ("Error: Cannot find module '{checkout}/.devteam/agent.sh'", "commit .devteam/agent.sh: "),
        ("{checkout}/.devteam/agent.sh: line 3: syntax error", ""),
        ("{checkout}/gone.sh: No such file", ""),
        ("{checkout}/.devteam/agent.sh: line 1\n/etc/x: not found", ""),
        ("bash: {place}/tools/agent.sh: No such file", 'mounts = ["{place}/tools"]'),
    ],
)
def test_what_to_type(tmp_path: Path, said: str, hint: str) -> None:
    checkout = tmp_path / "checkout"
    for path in (checkout / ".devteam" / "agent.sh", tmp_path / "tools" / "agent.sh"):
        path.parent.mkdir(parents=True)
        path.touch()
    told = hint_for_hidden(said.format(checkout=checkout, place=tmp_path), checkout, [tmp_path])
    assert told.startswith(hint.format(place=tmp_path)) and bool(told) is bool(hint), told
