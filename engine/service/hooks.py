"""`devteam hooks install` and `uninstall`: our hooks in the settings of Claude Code and Codex, and nothing else there.

A settings file that cannot be read is never written. The file as it was is kept beside it; uninstalling gives it back
byte for byte where nobody has changed it since.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any

from engine import files
from engine.core.model import Struct
from engine.link.user_errors import UserError
from engine.plans.json_spans import Value, elements, line_of, members, value_at
from engine.service.hook_hosts import HOOKS, Host
from engine.service.json_edits import add_element, add_member, drop_element, drop_member, replace_value

BACKUP = ".devteam-backup"
MARK = "<!-- written by devteam: `devteam hooks uninstall` removes it -->"
"""In each skill file of ours: a file without it is the user's own and left alone."""
EMPTY = "{}\n"


class Target(Struct, frozen=True, kw_only=True):
    """One program's settings: the user's own or those of a repository."""

    host: Host
    folder: Path
    bounds: Path | None = None
    """Where a link must not lead out of: the repository."""

    @property
    def path(self) -> Path:
        return self.folder / self.host.file


def install(target: Target, program: Sequence[str], *, skill: bool) -> Iterator[str]:
    """Lines of what was done. Done twice, the second changes nothing."""
    path = _followed(target)
    before = _read(path)
    after = with_hooks(before or "", program, path)
    skills = [(target.folder / one.place, _text(one.template, target.host)) for one in target.host.skills if skill]
    for place, _words in skills:
        _must_be_ours(place, target)
    if after != before:
        keep = before is not None and not _ours_in(before, path)
        if keep:
            files.write(path.with_name(path.name + BACKUP), before or "", mode=files.SHARED)
        _write(path, after)
        yield f"{path}: devteam's hooks are in it" + (f"; as it was: {path.name}{BACKUP}" if keep else "")
    else:
        yield f"{path}: nothing to change"
    for place, words in skills:
        if _read(place) != words:
            _write(place, words)
            yield f"{place}: written"
    if target.host.note:
        yield target.host.note


def printed(target: Target, program: Sequence[str]) -> str:
    """The settings as they would be; nothing is written."""
    path = _followed(target)
    return with_hooks(_read(path) or "", program, path)


def printed_without(target: Target) -> str:
    """The settings as they would be once the hooks are out of them; nothing is written. Empty: there would be none."""
    path = _followed(target)
    text = _read(path) or ""
    return _without_ours(path, text) if _ours_in(text, path) else text


def _without_ours(path: Path, text: str) -> str:
    kept = _read(path.with_name(path.name + BACKUP))
    # Made by us from what was there, and unchanged since: what was there comes back, byte for byte.
    as_made = kept is not None and with_hooks(kept, _program_in(text), path) == text
    after = kept if as_made and kept is not None else without_hooks(text)
    return "" if kept is None and after.strip() == "{}" else after


def uninstall(target: Target) -> Iterator[str]:
    path = _followed(target)
    text, backup = _read(path), path.with_name(path.name + BACKUP)
    if text is None or not _ours_in(text, path):
        yield f"{path}: none of devteam's hooks are in it"
    else:
        after, had = _without_ours(path, text), backup.exists()
        if not after and not had:
            path.unlink()
            yield f"{path}: removed, there was nothing else in it"
        else:
            _write(path, after)
            yield f"{path}: devteam's hooks are out of it"
        backup.unlink(missing_ok=True)
    for one in target.host.skills:
        place = target.folder / one.place
        words = _read(place)
        if words is not None and MARK in words:
            place.unlink()
            yield f"{place}: removed"
            _drop_empty(place.parent, target.folder)
    if target.bounds is not None and target.folder.is_dir() and not any(target.folder.iterdir()):
        target.folder.rmdir()


def _drop_empty(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


# ── the file's text ────────────────────────────────────────────────────────────────────────────────────────────────


def with_hooks(text: str, program: Sequence[str], path: Path) -> str:
    """The settings with each of our hooks once, as of this version. An empty file is one without settings."""
    text = text if text.strip() else EMPTY
    _sound(text, path)
    for hook in HOOKS:
        entry = hook.entry(shlex.join([*program, "hook", hook.verb]))
        top = value_at(text, 0)
        hooks = members(text, top.start).get("hooks")
        if hooks is None:
            text = add_member(text, top.start, "hooks", {hook.event: [entry]})
            continue
        there = members(text, hooks.start).get(hook.event)
        if there is None:
            text = add_member(text, hooks.start, hook.event, [entry])
            continue
        mine = [one for one in elements(text, there.start) if _is_ours(one.value)]
        if not mine:
            text = add_element(text, there.start, entry)
        elif _shared(mine[0].value):  # somebody put it beside hooks of their own: theirs and the matcher stay
            inner, new = (
                next(one for one in _inner(text, mine[0]) if _program(one.value) is not None),
                entry["hooks"][0],
            )
            text = text if inner.value == new else replace_value(text, inner, new)
        elif mine[0].value != entry:
            text = replace_value(text, mine[0], entry)
    return text


def without_hooks(text: str) -> str:
    """The settings without ours; lists and members that are empty then go too."""
    for hook in HOOKS:
        while (found := _list_of(text, hook.event)) is not None:
            hooks, there = found
            mine = [(number, one) for number, one in enumerate(elements(text, there.start)) if _is_ours(one.value)]
            if not mine:
                break
            first, entry = mine[0]
            if _shared(entry.value):
                spans = _inner(text, entry)
                number = next(number for number, one in enumerate(spans) if _program(one.value) is not None)
                text = drop_element(text, members(text, entry.start)["hooks"].start, number)
            elif len(elements(text, there.start)) > 1:
                text = drop_element(text, there.start, first)
            elif len(members(text, hooks.start)) > 1:
                text = drop_member(text, hooks.start, hook.event)
            else:
                text = drop_member(text, value_at(text, 0).start, "hooks")
    return text


def _list_of(text: str, event: str) -> tuple[Value, Value] | None:
    hooks = members(text, value_at(text, 0).start).get("hooks")
    there = members(text, hooks.start).get(event) if hooks is not None else None
    return None if hooks is None or there is None else (hooks, there)


def _sound(text: str, path: Path) -> None:
    """Raises UserError, with the place, where the file is not what its program would read."""
    hint = "mend it, then try again; nothing was written"
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}:{error.colno} is no JSON: {error.msg}", hint) from error
    except RecursionError as error:
        raise UserError(f"{path} is nested too deep", hint) from error
    if not isinstance(data, dict):
        raise UserError(f"{path} holds no JSON object", hint)
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        place = line_of(text, members(text, value_at(text, 0).start)["hooks"].start)
        raise UserError(f'{path}:{place}: "hooks" is no object', hint)
    for event, there in hooks.items():
        if not isinstance(there, list):
            raise UserError(f'{path}: hooks."{event}" is no list', hint)


def _is_ours(entry: Any) -> bool:
    """An entry that runs `devteam hook VERB`, however devteam is called there."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    return isinstance(inner, list) and any(_program(one) is not None for one in inner)


def _shared(entry: Any) -> bool:
    """Whether hooks that are not ours stand in the same entry."""
    return any(_program(one) is None for one in entry["hooks"])


def _inner(text: str, entry: Value) -> list[Value]:
    return elements(text, members(text, entry.start)["hooks"].start)


def _program(inner: Any) -> list[str] | None:
    """How devteam is called in an inner hook; None: it is not ours."""
    command = inner.get("command") if isinstance(inner, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return None
    ours = len(words) > 2 and words[-2] == "hook" and words[-1] in {hook.verb for hook in HOOKS}
    return words[:-2] if ours and any("devteam" in word or "tui.cli.main" in word for word in words[:-2]) else None


def _ours_in(text: str, path: Path) -> bool:
    if not text.strip():
        return False
    _sound(text, path)
    hooks = json.loads(text).get("hooks", {})
    return any(_is_ours(one) for there in hooks.values() for one in there)


def _program_in(text: str) -> list[str]:
    hooks = json.loads(text)["hooks"]
    found = (_program(inner) for there in hooks.values() for one in there if _is_ours(one) for inner in one["hooks"])
    return next(words for words in found if words is not None)


# ── on disk ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _followed(target: Target) -> Path:
    """The settings file itself: dotfiles are often links. A repository's must not lead out of it."""
    path = Path(os.path.realpath(target.path))  # a link that leads to itself is told when it is read
    if target.bounds is not None and not path.is_relative_to(target.bounds.resolve()):
        raise UserError(f"{target.path} leads out of the repository, to {path}", "nothing was written; use --user")
    return path


def _must_be_ours(place: Path, target: Target) -> None:
    real = Path(os.path.realpath(place))
    if target.bounds is not None and not real.is_relative_to(target.bounds.resolve()):
        raise UserError(f"{place} leads out of the repository, to {real}", "nothing was written; use --user")
    words = _read(place)
    if words is not None and MARK not in words:
        raise UserError(f"{place} is there already and not devteam's", "rename it; nothing was written")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no UTF-8: {error.reason} at byte {error.start}", "nothing was written") from error


def _write(path: Path, text: str) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else files.SHARED
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, text, mode=mode)


def _text(template: str, host: Host) -> str:
    from jinja2 import Environment, StrictUndefined

    source = packaged("engine.service").joinpath("skills", template).read_text(encoding="utf-8")
    made = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False).from_string(source)  # noqa: S701  Markdown
    return made.render(mark=MARK, host=host.name)


def targets(hosts: Sequence[Host], *, root: Path | None, env: Mapping[str, str], home: Path) -> list[Target]:
    """The user's own settings, or a repository's (`root`)."""
    if root is None:
        return [Target(host=host, folder=host.user_folder(env, home)) for host in hosts]
    return [Target(host=host, folder=root / host.folder, bounds=root) for host in hosts]
