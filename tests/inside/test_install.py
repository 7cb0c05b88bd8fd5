"""Hooks in somebody else's settings: all else stays as it is, byte for byte, and a broken file is never written."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.link.user_errors import UserError
from engine.service.hook_hosts import HOSTS
from engine.service.hooks import (
    BACKUP,
    MARK,
    Target,
    install,
    printed,
    printed_without,
    uninstall,
    with_hooks,
    without_hooks,
)

PROGRAM = ["/opt/de vteam/bin/devteam"]
WHERE = Path("settings.json")

ODD = """{
\t"permissions": {"allow": ["Bash(ls:*)"],   "deny": []},


\t"hooks": {
\t\t"Stop": [ {"hooks": [{"type": "command", "command": "say done"}]} ],
\t\t"Notification": []
\t},
\t"model": "opus" }"""


def ours(settings: dict[str, Any], event: str) -> list[dict[str, Any]]:
    inner = [one for entry in settings["hooks"].get(event, []) for one in entry["hooks"]]
    return [one for one in inner if re.search(r"devteam'? hook ", one["command"])]


@pytest.mark.parametrize("text", ["{}", "{}\n", '{"a":1}', '{ "hooks": {} }', '{\n  "hooks": {\n  }\n}\n', ODD])
def test_each_hook_once_and_nothing_else_moved(text: str) -> None:
    made = with_hooks(text, PROGRAM, WHERE)
    settings, before = json.loads(made), json.loads(text)
    for event, verb in (("Stop", "stop"), ("PreToolUse", "guard")):
        (one,) = ours(settings, event)
        assert shlex.split(one["command"]) == [*PROGRAM, "hook", verb]
        assert one["type"] == "command" and one["timeout"] > 0
    assert with_hooks(made, PROGRAM, WHERE) == made, "twice changes nothing"
    moved = with_hooks(made, ["/elsewhere/devteam"], WHERE)
    assert len(ours(json.loads(moved), "Stop")) == 1, "a new place replaces the old one"
    assert {key: value for key, value in settings.items() if key != "hooks"} == {
        key: value for key, value in before.items() if key != "hooks"
    }
    rest = iter(made)
    if "hooks" not in before or any(before["hooks"].values()):
        assert all(char in rest for char in text), "the user's text is all there, in order: something was only put in"
    without = json.loads(without_hooks(made))
    assert without == {key: value for key, value in before.items() if key != "hooks" or value}


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
entries = st.lists(
    st.fixed_dictionaries(
        {"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=9)}))},
        optional={"matcher": st.text(max_size=4)},
    ),
    max_size=3,
)
settings_files = st.builds(
    lambda more, hooks, style: json.dumps({**more, **({"hooks": hooks} if hooks is not None else {})}, **style),
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), plain, max_size=4),
    st.none() | st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Notification"]), entries, max_size=3),
    st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}, {"ensure_ascii": False}]),
)


@example('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "devteam"}]}]}}')
@given(settings_files)
def test_any_settings_keep_all_they_had(text: str) -> None:
    before = json.loads(text)
    made = with_hooks(text, PROGRAM, WHERE)
    after = json.loads(made)
    for event in ("Stop", "PreToolUse"):
        (mine,) = ours(after, event)
        assert mine
        after["hooks"][event] = [entry for entry in after["hooks"][event] if mine not in entry["hooks"]]
    after["hooks"] = {key: value for key, value in after["hooks"].items() if value or key in before.get("hooks", {})}
    assert after == {"hooks": {}, **before}
    assert with_hooks(made, PROGRAM, WHERE) == made
    back = json.loads(without_hooks(made))
    empty = {key: list(value) for key, value in before.get("hooks", {}).items()}
    assert {**back.get("hooks", {})} == {
        key: value for key, value in empty.items() if value or key not in ("Stop", "PreToolUse")
    }
    assert {k: v for k, v in back.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}


@pytest.mark.parametrize("name", HOSTS)
def test_installed_and_taken_out_again_leaves_no_byte(tmp_path: Path, name: str) -> None:
    target = Target(host=HOSTS[name], folder=tmp_path / HOSTS[name].folder, bounds=tmp_path)
    list(install(target, PROGRAM, skill=True))
    assert target.path.is_file() and not target.path.with_name(target.path.name + BACKUP).exists()
    assert printed_without(target) == ""
    for skill in target.host.skills:
        text = (target.folder / skill.place).read_text()
        assert MARK in text and "{{" not in text and text.startswith("---\n")
    list(uninstall(target))
    assert not list(tmp_path.iterdir())
    target.folder.mkdir()
    target.path.write_text(ODD)
    target.path.chmod(0o600)
    list(install(target, PROGRAM, skill=False))
    assert target.path.with_name(target.path.name + BACKUP).read_text() == ODD
    assert target.path.stat().st_mode & 0o777 == 0o600
    again = list(install(target, PROGRAM, skill=False))
    assert "nothing to change" in again[0]
    assert target.path.with_name(target.path.name + BACKUP).read_text() == ODD, "the backup stays the user's own file"
    assert printed(target, PROGRAM) == target.path.read_text()
    assert printed_without(target) == ODD != target.path.read_text()
    list(uninstall(target))
    assert target.path.read_text() == printed_without(target) == ODD


BESIDE = """{"hooks": {"Stop": [{"matcher": "x", "hooks": [
  {"type": "command", "command": "first.sh"},
  {"type": "command", "command": "devteam hook stop"},
  {"type": "command", "command": "last.sh"}]}]}}"""


def test_hooks_in_one_entry_with_ours_stay(tmp_path: Path) -> None:
    made = with_hooks(BESIDE, PROGRAM, WHERE)
    (entry,) = json.loads(made)["hooks"]["Stop"]
    assert entry["matcher"] == "x"
    assert [shlex.split(one["command"])[-1] for one in entry["hooks"]] == ["first.sh", "stop", "last.sh"]
    assert with_hooks(made, PROGRAM, WHERE) == made
    target = Target(host=HOSTS["claude"], folder=tmp_path / ".claude", bounds=tmp_path)
    target.folder.mkdir()
    target.path.write_text(BESIDE)
    assert "as it was" not in next(iter(install(target, PROGRAM, skill=False))), "ours are in it: no backup is made"
    list(uninstall(target))
    (entry,) = json.loads(target.path.read_text())["hooks"]["Stop"]
    assert [one["command"] for one in entry["hooks"]] == ["first.sh", "last.sh"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_is_one_without_settings(tmp_path: Path, text: str) -> None:
    target = Target(host=HOSTS["claude"], folder=tmp_path / ".claude", bounds=tmp_path)
    target.folder.mkdir()
    target.path.write_text(text)
    assert "none of devteam's hooks" in next(iter(uninstall(target)))
    list(install(target, PROGRAM, skill=False))
    assert len(ours(json.loads(target.path.read_text()), "Stop")) == 1
    list(uninstall(target))
    assert target.path.read_text() == text


def test_a_link_to_itself_is_an_error_of_the_path(tmp_path: Path) -> None:
    target = Target(host=HOSTS["claude"], folder=tmp_path / ".claude", bounds=tmp_path)
    target.folder.mkdir()
    target.path.symlink_to("settings.json")
    with pytest.raises(OSError, match="symbolic links"):
        list(install(target, PROGRAM, skill=False))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"hooks": [}', "settings.json:1:12 is no JSON"),
        ("[]", "holds no JSON object"),
        ('{"a": 1,\n "hooks": []}', 'settings.json:2: "hooks" is no object'),
        ('{"hooks": {"Stop": {}}}', 'hooks."Stop" is no list'),
        ("\ufeff{}", "is no JSON"),
        ("[" * 100_000, "settings.json"),
    ],
)
def test_a_broken_file_is_named_and_not_written(tmp_path: Path, text: str, says: str) -> None:
    target = Target(host=HOSTS["claude"], folder=tmp_path / ".claude", bounds=tmp_path)
    target.folder.mkdir()
    target.path.write_text(text, encoding="utf-8")
    for act in (lambda: list(install(target, PROGRAM, skill=True)), lambda: list(uninstall(target))):
        with pytest.raises(UserError) as refused:
            act()
        assert says in str(refused.value) and refused.value.hint
    assert target.path.read_text(encoding="utf-8") == text
    assert [path.name for path in target.folder.iterdir()] == ["settings.json"]


def test_a_link_is_followed_at_home_and_not_out_of_a_repository(tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles" / "claude.json"
    elsewhere.parent.mkdir()
    elsewhere.write_text("{}")
    folder = tmp_path / "home" / ".claude"
    folder.mkdir(parents=True)
    (folder / "settings.json").symlink_to(elsewhere)
    list(install(Target(host=HOSTS["claude"], folder=folder), PROGRAM, skill=False))
    assert (folder / "settings.json").is_symlink() and "hook stop" in elsewhere.read_text()
    elsewhere.write_text("{}")
    with pytest.raises(UserError, match="leads out of the repository"):
        list(install(Target(host=HOSTS["claude"], folder=folder, bounds=tmp_path / "home"), PROGRAM, skill=False))
    assert elsewhere.read_text() == "{}"


def test_a_command_of_the_users_own_is_not_overwritten(tmp_path: Path) -> None:
    target = Target(host=HOSTS["claude"], folder=tmp_path / ".claude", bounds=tmp_path)
    own = target.folder / "commands" / "devteam" / "plan.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(UserError, match=r"plan\.md is there already"):
        list(install(target, PROGRAM, skill=True))
    assert own.read_text() == "mine" and not target.path.exists()
    list(uninstall(target))
    assert own.read_text() == "mine"
