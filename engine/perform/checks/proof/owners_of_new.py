"""Whose a file is that a change adds. Pure."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Mapping

from engine.globs import matches
from engine.perform.checks.proof.imports import language_of, mentions
from engine.perform.checks.proof.owned import TEST_NAME, Changed, Ground, Owner
from engine.perform.checks.proof.places import ENVIRONMENT, MANIFESTS, PROSE, SETTINGS, named_like_target

PLAIN_TEST = re.compile(
    r"(?:^|/)(?:test[_-][^/]*|[^/]*[_-]tests?|tests?)\.(?:c|cc|cpp|cxx|m|sh|bash|rb|pl|lua|php|exs)$|\.bats$|(?:^|/)t/[^/]+\.t$"
)
"""Names of test programs that only a command runs."""
TELLS = re.compile(
    rb"^[ \t]*(?:async[ \t]+)?(?:def[ \t]+test|class[ \t]+\w*Test)|\b(?:test|it|describe)\s*\(", re.MULTILINE
)


def owner_of_new(
    change: Changed, ground: Ground, after: Mapping[str, bytes], gone: frozenset[str]
) -> tuple[Owner, str]:
    """A file the change adds."""
    path, name = change.path, posixpath.basename(change.path)
    if matches(path, ENVIRONMENT):
        return Owner.STEERING, "belongs to an environment, not to a change"
    if name == "conftest.py":
        return Owner.NEW_SUPPORT, "set-up of tests"
    if matches(path, SETTINGS) or name in MANIFESTS or matches(path, ground.settings):
        return Owner.STEERING, "a place where a check looks for its settings"
    if shadow := _shadows(path, ground, gone):
        return Owner.STEERING, shadow
    language = language_of(path)
    if (language and TEST_NAME.search(path)) or PLAIN_TEST.search(path):
        return Owner.NEW_TEST, "named like a test"
    if language and _like_collected(change, ground):
        return Owner.NEW_TEST, "called like tests that the base ran"
    if matches(path, ground.test_globs):
        return (Owner.NEW_TEST if _is_js_test(path, ground) else Owner.NEW_SUPPORT), "beside the tests"
    if language:
        return Owner.SUBJECT, "new source"
    if matches(path, PROSE):
        return Owner.SUBJECT, "prose"
    if is_program(change.after) and "/" in path and not named_like_target(path, ground.sources):
        return Owner.SUBJECT, "a new program"
    if _beside_data(path, ground):
        return Owner.NEW_SUPPORT, "a case beside those that a check reads"
    subject = {other: text for other, text in after.items() if not ground.is_test(other)}
    named = ground.named(path) or ground.in_scope(path) or mentions(path, subject)
    if named and not named_like_target(path, ground.sources):
        return Owner.SUBJECT, "data that the source or the plan names"
    return Owner.STEERING, "neither source nor named by any"


def _beside_data(path: str, ground: Ground) -> bool:
    """In a folder of data that a check reads, named or ending like a file there: another case for the same script."""
    folder, (stem, ending) = posixpath.dirname(path), posixpath.splitext(path)
    if not folder or not ending:
        return False
    there = [other for other in ground.reads if posixpath.dirname(other) == folder]
    alike = any(part in (stem, ending) for other in there for part in posixpath.splitext(other) if part)
    return alike and not any(map(language_of, there))


def _like_collected(change: Changed, ground: Ground) -> bool:
    """It tells of tests, and its name has a word in common with a file of its folder that the runner collected.

    What a runner takes for tests is the project's own choice (teststrict.py, check_strict.py): the files it collected
    on the base say it better than any list of names.
    """
    folder, stem = posixpath.split(posixpath.splitext(change.path)[0])
    if not TELLS.search(change.after or b""):
        return False
    alike = [
        posixpath.basename(posixpath.splitext(path)[0])
        for path in ground.tests
        if posixpath.dirname(path) == folder
        and language_of(path) == language_of(change.path)
        and TELLS.search(ground.sources.get(path, b""))  # no source that was collected for its documentation strings
    ]
    return any(_shared_word(stem, other) or _shared_word(stem[::-1], other[::-1]) for other in alike)


def _shared_word(one: str, other: str) -> bool:
    """Both begin with the same four letters, or with the same word up to a `_`, `-` or `.`."""
    same = posixpath.commonprefix([one, other])
    return len(same) >= 4 or any(mark in same for mark in "_-.")


def _is_js_test(path: str, ground: Ground) -> bool:
    """node, tape and mocha take every script in a test folder for a test."""
    return language_of(path) == "javascript" and not re.search(
        r"(?:^|/)(?:fixtures?|helpers?|support|data|__mocks__)/", path
    )


def _shadows(path: str, ground: Ground, gone: frozenset[str]) -> str:
    """A new module that would be loaded instead of one that the tests loaded, or of the standard library's."""
    if not path.endswith(".py"):
        return ""
    parent, _, file = path.rpartition("/")
    name = file.removesuffix(".py")
    if name == "__init__":
        parent, _, name = parent.rpartition("/")
    if f"{parent}/__init__.py" in ground.files if parent else False:
        return ""
    if parent not in ("", "src", "lib") and not matches(f"{parent}/x.py", ground.test_globs):
        return ""
    if name in ("sitecustomize", "usercustomize"):
        return f"{path} is loaded by every interpreter"
    base = ground.files - gone
    if any(f"{root}{name}{end}" in base for root in ("", "src/", "lib/") for end in (".py", "/__init__.py")):
        return f"{path} would be loaded instead of a module of the base"
    if name in sys.stdlib_module_names or name in ground.loaded:
        return f"{path} would be loaded instead of the module {name} that the tests use"
    return ""


def is_program(data: bytes | None) -> bool:
    """A script without an ending: the first line says what runs it."""
    return (data or b"").startswith(b"#!")
