"""What a line of a test command means: pytest, unittest, Django or a script, with its arguments and variables."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from engine.core.model import Struct

WRAPPERS = (
    ("coverage", "run"), ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"),
    ("rye", "run"), ("xvfb-run",), ("env",), ("time",), ("dotenv", "run"),
)  # fmt: skip
SCRIPTS = (
    "runtests.py",
    "run_tests.py",
    "runtests",
    "run-tests.py",
    "test.py",
    "tests.py",
    "testall.py",
    "alltests.py",
)
OURS = re.compile(
    r"PYTHONHASHSEED|PYTEST_ADDOPTS|PYTEST_PLUGINS|PIP_|UV_|TOX_|NOX_|COV_|COVERAGE|VIRTUAL_ENV|PATH$|HOME$|CI$|LD_"
)
"""Variables that shape the installation, the report or the run itself: not what is tested."""
VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class Line(Struct, frozen=True, kw_only=True):
    """A line of a recipe, where it stands, and the variables that are set there for it."""

    where: str
    text: str
    env: Mapping[str, str] = {}
    folder: str = ""
    """Where it is run, below the package; empty: at its top."""


class Own(Struct, frozen=True, kw_only=True):
    """A command the project runs its tests with. `kind` is pytest, unittest, django or script."""

    kind: str
    args: tuple[str, ...]
    where: str
    env: Mapping[str, str] = {}
    folder: str = ""


def interpret(line: Line) -> Iterator[Own]:
    """pytest, unittest and Django calls in a shell line."""
    exported: dict[str, str] = {}
    folder = line.folder
    for segment in re.split(r"&&|\|\||;", _substituted(line.text)):
        try:
            words = shlex.split(segment)
        except ValueError:
            continue
        own = _runner(words, line.where)
        if own is not None:
            yield replace(
                own,
                folder=folder,
                env=variables({**line.env, **exported, **_in_front(words)}),
            )
        elif words[:1] == ["export"]:
            exported |= _in_front(words[1:])
        elif words[:1] == ["cd"] and len(words) == 2:
            folder = below(folder, words[1])


def below(folder: str, name: str) -> str:
    """The folder after `cd name`; the top where it leads out or is not known from the text alone."""
    path = posixpath.normpath(posixpath.join(folder, _substituted(name)))
    return "" if path == "." or path.startswith(("..", "/")) or re.search(r"[{}$`~]", path) else path


def variables(found: Mapping[str, str]) -> dict[str, str]:
    """Those whose value is known from the text alone and that are about what is tested."""
    known = {name: _substituted(value).strip() for name, value in found.items()}
    return {name: value for name, value in known.items() if not OURS.match(name) and not re.search(r"[{}$`]", value)}


def _substituted(text: str) -> str:
    """tox's and hatch's words in braces, as far as the text tells them."""
    text = re.sub(r"\{(?:posargs|args)(?::([^{}]*))?\}", lambda match: match[1] or "", text)
    text = re.sub(r"\{env:\w+:([^{}]*)\}", r"\1", text)
    text = re.sub(r"\{envsitepackagesdir\}/", "", text).replace("{envpython}", "python")
    return re.sub(r"\{(?:toxinidir|tox_root|root)\}(/?)", lambda match: "" if match[1] else ".", text)


def _in_front(words: list[str]) -> dict[str, str]:
    """Variables before the program: A=1 env B=2 pytest."""
    found = {}
    for word in words:
        if (match := VARIABLE.fullmatch(word)) is not None:
            found[match[1]] = match[2]
        elif word != "env":
            break
    return found


def _runner(words: list[str], where: str) -> Own | None:
    words = _unwrapped(words)
    while words and re.match(r"python[\d.]*$", words[0].rpartition("/")[2]):
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
        if rest[:2] == ["manage.py", "test"]:
            return Own(kind="django", args=tuple(rest[2:]), where=where)
        if rest[:1] != ["-m"]:
            return Own(kind="script", args=tuple(rest), where=where) if rest[:1] and _is_script(rest[0]) else None
        words = _unwrapped(rest[1:])
    if not words:
        return None
    if words[0].rpartition("/")[2] == "manage.py" and words[1:2] == ["test"]:
        return Own(kind="django", args=tuple(words[2:]), where=where)
    name = words[0].rpartition("/")[2]
    if name in ("pytest", "py.test"):
        return Own(kind="pytest", args=tuple(words[1:]), where=where)
    if name == "unittest":
        return Own(kind="unittest", args=tuple(words[1:]), where=where)
    return None


def _is_script(name: str) -> bool:
    return name.rpartition("/")[2] in SCRIPTS


def _unwrapped(words: list[str]) -> list[str]:
    """Without variables in front and without the programs that only start another one."""
    while words:
        if re.match(r"\w+=", words[0]):
            words = words[1:]
            continue
        for wrapper in WRAPPERS:
            if tuple(words[: len(wrapper)]) == wrapper:
                words = words[len(wrapper) :]
                while words and words[0].startswith("-") and words[0] != "-m":
                    words = words[2:] if words[0] in ("--with", "--group", "--extra", "--python") else words[1:]
                if words[:1] == ["-m"]:
                    words = words[1:]
                break
        else:
            return words
    return words
