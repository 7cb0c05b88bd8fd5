"""Whose a file is, and what is known of a repository to say so. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from engine.core.model import Struct
from engine.globs import matches

TEST_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?)\.pyi?$|\.(?:test|spec)\.[cm]?[jt]sx?$|_test\.go$|(?:^|/)tests/[^/]+\.rs$"
    r"|(?:^|/)(?:tests?|test-[^/]+|[^/]+[-_](?:test|spec))\.[cm]?[jt]sx?$|(?:^|/)[^/]*Tests?\.(?:java|kt)$"
)
"""Names by which runners find test files."""


class Owner(StrEnum):
    """Whose a changed file is."""

    SUBJECT = "subject"
    """What the task is about: R1 has the candidate's."""
    TEST = "test"
    """A file of the base that holds tests: R1 has the base's, R2 the candidate's."""
    SUPPORT = "support"
    """conftest, fixtures in code, helpers of tests: as TEST, but no tests of its own."""
    DATA = "data"
    """Golden files, fixtures, anything a check reads that is no code."""
    CONFIG = "config"
    """Settings of the checks and scripts that a check runs."""
    NEW_TEST = "new test"
    NEW_SUPPORT = "new support"
    """Data and helpers beside tests: in R2, R3 and R4."""
    STEERING = "steering"
    """New, and at a place where a command or runner looks by itself: in R4 only."""


ORACLE = frozenset({Owner.TEST, Owner.SUPPORT, Owner.DATA, Owner.CONFIG})


ADDITIONS = frozenset({Owner.NEW_TEST, Owner.NEW_SUPPORT, Owner.STEERING})


class Changed(Struct, frozen=True, kw_only=True):
    """One path of a diff with both its contents."""

    path: str
    before: bytes | None
    after: bytes | None


class Owned(Struct, frozen=True, kw_only=True):
    """One changed file, both its contents and its owner."""

    path: str
    owner: Owner
    before: bytes | None
    """None: the change adds it."""
    after: bytes | None
    """None: the change deletes it."""
    why: str = ""
    """What made it so, in words, for the evidence."""
    read: bool = False
    """A check of the base read it."""

    @property
    def python(self) -> bool:
        return self.path.endswith((".py", ".pyi"))


class Ground(Struct, frozen=True, kw_only=True):
    """What is known of the base and the task before a change is looked at."""

    files: frozenset[str]
    reads: frozenset[str]
    """Files that the base's tests and own commands read."""
    all_reads: frozenset[str] = frozenset()
    """Files that any check read, linters too: they read every source, but settings they read are theirs."""
    tests: frozenset[str] = frozenset()
    """Files that hold tests which R0 collected."""
    scope: tuple[str, ...] = ()
    words: str = ""
    """Title, description and criteria of the task."""
    commands: str = ""
    """The check commands as text."""
    sources: Mapping[str, bytes] = {}
    """Source files, makefiles and scripts of the base, for who imports and names whom."""
    loaded: frozenset[str] = frozenset()
    """Top-level modules that the base's tests loaded from outside the tree."""
    test_globs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    """Settings files that R0's runners really used, and what the user protects."""

    def named(self, path: str) -> bool:
        """The plan names this very file: by its scope, or in the words of the task."""
        if any(glob == path for glob in self.scope):
            return True
        return re.search(r"(?<![\w./-])" + re.escape(path) + r"(?![\w/-])", self.words) is not None

    def in_scope(self, path: str) -> bool:
        """Under a scope that says something."""
        narrow = [glob for glob in self.scope if glob.strip("*./") and glob not in ("**", "*", "**/*")]
        return bool(narrow) and matches(path, narrow)

    def is_test(self, path: str) -> bool:
        return path in self.tests or bool(TEST_NAME.search(path)) or matches(path, self.test_globs)
