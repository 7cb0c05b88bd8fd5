"""npm scripts, taken apart: which part of `npm test` runs the tests, what has to be built before, what is only lint."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from engine.core.model import Struct

RUNNERS = ("vitest", "jest", "mocha", "ava", "tap", "tape", "qunit", "lab", "jasmine", "uvu", "borp")
LINTERS = (
    "eslint", "standard", "semistandard", "xo", "prettier", "tslint", "jshint", "oxlint", "biome", "aud", "evalmd",
    "ls-engines", "attw", "publint", "tsd", "dtslint", "size-limit", "echo", "npmignore", "in-publish", "depcheck",
    "knip", "remark", "commitlint", "safe-publish-latest", "not-in-publish", "markdownlint", "npm-audit",
    "eclint", "ec", "editorconfig-checker", "lockfile-lint", "jsonlint", "cspell", "sort-package-json",
)  # fmt: skip
STYLE = (
    "standard", "semistandard", "xo", "prettier", "tslint", "jshint", "oxlint", "biome", "tsd",
    "markdownlint", "remark",
)  # fmt: skip
"""Of those: what looks at the files alone. The others ask a registry, git or the package as it would be published."""
TYPES = ("tsc", "vue-tsc", "svelte-check", "flow")
"""Look at types. The compilers among them build, unless they are told not to."""
WRAPPERS = ("cross-env", "env", "npx", "nyc", "c8", "dotenv", "exec")
MEASURING = ("nyc", "c8")
"""Wrappers that only measure what they start."""
STARTED = (*RUNNERS, "node", "npm", "npx", "yarn", "pnpm", "bun", "tsx", "ts-node")
DEEPEST = 5


class Parts(Struct, frozen=True, kw_only=True):
    """A test script: what is built, what is tested, what is only looked at. Each is a shell command."""

    build: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()


def take_apart(scripts: Mapping[str, Any], name: str = "test") -> Parts:
    build: list[str] = []
    tests: list[str] = []
    lint: list[str] = []
    for segment in segments(scripts, name):
        words = bare(segment)
        if not words:
            continue
        match kind_of(words):
            case "tests":
                tests.append(segment)
            case "lint":
                lint.append(segment)
            case _:
                (tests if tests else build).append(segment)
    return Parts(build=tuple(build), tests=tuple(tests), lint=tuple(lint))


def segments(scripts: Mapping[str, Any], name: str, depth: int = 0) -> list[str]:
    """The commands of a script in order, with `npm run x` replaced by what x runs."""
    found: list[str] = []
    for which in (f"pre{name}", name):
        text = str(scripts.get(which) or "")
        for segment in re.split(r"&&|;", text):
            given, inner = _called(segment.strip())
            if inner and depth < DEEPEST:
                parts = [part for one in inner if one in scripts for part in segments(scripts, one, depth + 1)]
                found += [f"{given} {part}" if given else part for part in parts]
            elif segment.strip():
                found.append(segment.strip())
    return found


def _called(segment: str) -> tuple[str, list[str]]:
    """Variables that a command is given, and the scripts it runs: npm run x, nyc npm run x, yarn x, run-s a b."""
    words = bare(segment)
    front = shlex.split(segment)[: -len(words)] if words else []
    pairs = [word.partition("=") for word in front if re.match(r"\w+=", word)]
    given = " ".join(f"{name}={shlex.quote(value)}" for name, _, value in pairs)
    match words:
        case ["npm" | "pnpm" | "yarn" | "bun", "run" | "run-script", *rest]:
            return given, [word for word in rest if not word.startswith("-")][:1]
        case ["npm" | "pnpm" | "yarn", "test" | "t"]:
            return given, ["test"]
        case ["run-s" | "npm-run-all", *rest]:
            return given, [word for word in rest if not word.startswith("-")]
        case ["yarn", name] if not name.startswith("-"):
            return given, [name]
    return "", []


def bare(segment: str) -> list[str]:
    """The words of a command, without variables and wrappers in front of the program."""
    try:
        words = shlex.split(segment)
    except ValueError:
        return []
    while words:
        if re.match(r"\w+=", words[0]):
            words = words[1:]
        elif words[0] in MEASURING and (started := [at for at, word in enumerate(words) if word in STARTED]):
            words = words[started[0] :]  # their options have values: `nyc --lines 100 tape`
        elif words[0] in WRAPPERS:
            words = words[1:]
            while words and words[0].startswith("-") and words[0] != "--":
                words = words[1:]
            words = words[1:] if words[:1] == ["--"] else words
        else:
            break
    return words


def kind_of(words: list[str]) -> str:
    """tests, lint or build."""
    program = words[0].rpartition("/")[2]
    if program in RUNNERS:
        return "tests"
    if program == "node":
        return (
            "tests" if "--test" in words or any(re.search(r"(^|/|\b)tests?\b|spec", w) for w in words[1:]) else "build"
        )
    if program == "npm" and "audit" in words:
        return "lint"
    if program in TYPES:
        builds = program.endswith("tsc") and "--noemit" not in (word.lower() for word in words)
        return "build" if builds else "lint"
    return "lint" if program.partition("@")[0] in LINTERS or program in LINTERS else "build"
