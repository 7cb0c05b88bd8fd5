"""Which files `node --test` would run, and the options of a command line that belong to node itself."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.globs import matches
from engine.perform.checks.run.runner import RunRequest

SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
PLAIN = (".js", ".mjs", ".cjs")
NAMES = re.compile(r"^test$|^test-.+|.+[.\-_]test$")
VALUES = (
    "--import",
    "--require",
    "-r",
    "--loader",
    "--experimental-loader",
    "--conditions",
    "-C",
    "--env-file",
    "--input-type",
)
DROPPED = (
    "--test",
    "--watch",
    "--experimental-test-coverage",
    "--test-concurrency",
    "--test-reporter",
    "--test-timeout",
)
SHELL = re.compile(r"[|&;<>()$`\n#~!%]")


def own_words(command: Sequence[str]) -> list[str] | None:
    """The command as a list of words, also out of `sh -c`; None where a shell has more to do than globs."""
    if tuple(command[:2]) != ("sh", "-c") or len(command) != 3:
        return list(command)
    line = command[2].removeprefix('PATH="$PWD/node_modules/.bin:$PATH"; ').strip()
    line = line.removeprefix("exec ")
    if SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"", "", line)):
        return None
    try:
        return shlex.split(line)
    except ValueError:
        return None


def node_options(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """(options for node, places to look for tests) of the words behind `node`."""
    options: list[str] = []
    places: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        name = word.partition("=")[0]
        if name in DROPPED or name == "--test-reporter-destination":
            if "=" not in word and name not in ("--test", "--watch", "--experimental-test-coverage"):
                at += 1
            continue
        if word.startswith("-"):
            options.append(word)
            if word in VALUES or word == "--test-name-pattern":
                options += words[at : at + 1]
                at += 1
        else:
            places.append(word)
    return options, places


def files_to_run(room: Path, places: Sequence[str]) -> list[str]:
    """The files in a fixed order: named, by a glob, of a folder; without any, by node's own rule."""
    everything = sorted(_walk(room))
    if not places:
        return [path for path in everything if is_test(path)]
    found: dict[str, None] = {}
    for place in places:
        bare = place.removeprefix("./").rstrip("/") or "."
        if re.search(r"[*?\[{]", bare):
            hits = [path for path in everything if matches(path, expanded(bare))]
        elif (room / bare).is_dir():
            inside = "" if bare == "." else f"{bare}/"
            hits = [path for path in everything if path.startswith(inside) and is_test(path)]
        else:
            named = [bare, *(bare + suffix for suffix in SUFFIXES)]
            hits = [path for path in named if (room / path).is_file()][:1]
        found |= dict.fromkeys(hits)
    return list(found)


def expanded(glob: str) -> list[str]:
    """`{a,b}` and `?(c|m)` spelled out."""
    brace = re.search(r"\{([^{}]*)\}", glob)
    if brace is not None:
        return [
            one
            for part in brace.group(1).split(",")
            for one in expanded(glob[: brace.start()] + part + glob[brace.end() :])
        ]
    option = re.search(r"[?@]\(([^()]*)\)", glob)
    if option is not None:
        parts = [*option.group(1).split("|"), *([""] if glob[option.start()] == "?" else [])]
        return [one for part in parts for one in expanded(glob[: option.start()] + part + glob[option.end() :])]
    return [glob]


def is_test(path: str) -> bool:
    """node's own rule for a file of tests."""
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if f"{dot}{ending}" not in PLAIN:
        return False
    return "test" in folder.split("/") or NAMES.match(stem) is not None


def _walk(room: Path) -> Iterator[str]:
    for folder, names, files in os.walk(room):
        names[:] = sorted(name for name in names if name not in ("node_modules", ".git"))
        inside = os.path.relpath(folder, room)
        for name in files:
            if name.endswith(SUFFIXES):
                yield name if inside == "." else f"{inside}/{name}".replace(os.sep, "/")


def program(name: str, request: RunRequest) -> str:
    """A bare name is looked for in the package's own programs first, and in those of the folders above, as npm does.

    By the checkout's path: the room is seen there, and what is carried beneath it.
    """
    if "/" in name:
        return name
    folder = request.spec.folder
    above = [folder, *map(str, Path(folder).parents)] if folder else ["."]
    for one in above:
        for top in (request.checkout, request.room.parents[len(Path(folder).parts) - 1] if folder else request.room):
            if (top / one / "node_modules/.bin" / name).exists():
                return os.path.normpath(request.checkout / one / "node_modules/.bin" / name)
    return name
