"""A grant for a file covers the file it names; a word about settings never covers what is run."""

from __future__ import annotations

import pytest

from engine.core.grant_grammar import grants_of
from engine.perform.checks.proof.edit_questions import edit_questions
from engine.perform.checks.proof.file_grants import SCRIPTS, file_grant
from engine.perform.checks.proof.owned import Owned, Owner
from engine.perform.checks.proof.permissions import transform

PY = b'[project]\nname = "a"\nversion = "1"\ndependencies = ["x"]\n[tool.ruff]\nline-length = 80\n'
PYTEST = PY + b'[tool.pytest.ini_options]\naddopts = "-x"\n'
PACKAGE = b'{"name": "a", "scripts": {"test": "node --test"}, "dependencies": {"x": "1"}, "eslintConfig": {}}'

CASES = [
    # entry, path, before, after, covered
    ("edit tests/golden.json", "tests/golden.json", b"{}", b"[]", True),
    ("edit golden.json", "tests/golden.json", b"{}", b"[]", True),
    ("edit tests/other.json", "tests/golden.json", b"{}", b"[]", False),
    ("edit tests/golden/*.txt", "tests/golden/a.txt", b"a", b"b", True),
    ("edit tests/golden/", "tests/golden/deep/a.txt", b"a", b"b", True),
    ("edit tests/{a,b}.json", "tests/b.json", b"a", b"b", True),
    ("edit tests/golden/**", "tests/golden/run.sh", b"a", b"b", False),
    ("edit tests/golden/**", "tests/golden/run", b"#!/bin/sh\n", b"#!/bin/sh\nexit 0\n", False),
    ("edit tests/golden/run.sh", "tests/golden/run.sh", b"a", b"b", True),
    ("edit Makefile", "Makefile", b"a", b"b", True),
    ("edit Makefile", "sub/Makefile", b"a", b"b", True),
    ("edit *.mk", "local.mk", None, b"b", False),
    ("edit scripts/*", "scripts/Makefile", b"a", b"b", False),
    ("edit **/conftest.py", "tests/conftest.py", b"a", b"b", True),
    ("edit tests/**", "tests/conftest.py", b"a", b"b", False),
    ("configure ruff", "ruff.toml", b"a", b"b", True),
    ("configure ruff", ".ruff.toml", None, b"b", True),
    ("configure ruff", "pyproject.toml", PY, PY.replace(b"80", b"120"), True),
    ("configure ruff", "pyproject.toml", PY, PYTEST, False),
    ("configure pytest", "pyproject.toml", PY, PYTEST, True),
    ("configure pytest", "pyproject.toml", PY, PYTEST.replace(b"80", b"90"), False),
    ("configure pytest", "conftest.py", b"a", b"b", False),
    ("configure ruff", "Makefile", b"a", b"b", False),
    ("configure eslint", "package.json", PACKAGE, PACKAGE.replace(b'onfig": {}', b'onfig": {"a":1}'), True),
    ("configure eslint", "package.json", PACKAGE, PACKAGE.replace(b"node --test", b"true"), False),
    ("configure mypy", "setup.cfg", b"[mypy]\na=1\n[tool:pytest]\nb=1\n", b"[mypy]\na=2\n[tool:pytest]\nb=1\n", True),
    ("configure mypy", "setup.cfg", b"[mypy]\na=1\n[tool:pytest]\nb=1\n", b"[mypy]\na=1\n[tool:pytest]\nb=2\n", False),
    ("configure mypy", "pyproject.toml", PY, b"not toml [", False),
    ("configure sometool", ".sometoolrc.json", b"a", b"b", True),
    ("change-config", "ruff.toml", b"a", b"b", True),
    ("change-config", "Makefile", b"a", b"b", False),
    ("change-config:*.toml", "ruff.toml", b"a", b"b", True),
    ("change dependencies", "uv.lock", b"a", b"b", True),
    ("change dependencies", "requirements-dev.txt", b"a", b"b", True),
    ("change dependencies", "go.sum", b"a", b"b", True),
    ("change dependencies", "pyproject.toml", PY, PY.replace(b'["x"]', b'["x", "y"]'), True),
    ("change dependencies", "pyproject.toml", PY, PYTEST, False),
    ("change dependencies", "package.json", PACKAGE, PACKAGE.replace(b'"x": "1"', b'"x": "2"'), True),
    ("change dependencies", "package.json", PACKAGE, PACKAGE.replace(b"node --test", b"true"), False),
    ("change dependencies", "Makefile", b"a", b"b", False),
    ("delete tests/data/old.json", "tests/data/old.json", b"a", None, True),
    ("delete tests/data/old.json", "tests/data/old.json", b"a", b"b", False),
    ("accept config-changed in Makefile", "Makefile", b"a", b"b", True),
    ("edit tests", "tests/data.json", b"a", b"b", False),
    ("change behaviour", "tests/golden.json", b"a", b"b", False),
    ("rename a to b", "tests/golden.json", b"c", b"d", False),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "path", "before", "after", "covered"), CASES)
def test_what_an_entry_covers(entry: str, path: str, before: bytes | None, after: bytes | None, covered: bool) -> None:
    assert (file_grant(grants_of([entry]), path, before, after) is not None) is covered


WIDE = ["configure ruff", "configure pytest", "change-config", "change dependencies", "change behaviour"]
WIDE += ["edit tests", "delete-tests", "rename a to b", "edit **/*.json", "edit scripts/**", "edit **/*e*", "suppress"]


@pytest.mark.parametrize("entry", WIDE)
@pytest.mark.parametrize("script", ["Makefile", "scripts/test.sh", "setup.py", "conftest.py", "build.gradle", "x.mk"])
def test_no_wide_entry_ever_covers_a_script(entry: str, script: str) -> None:
    assert file_grant(grants_of([entry]), script, b"a\n", b"b\n") is None
    assert SCRIPTS


@pytest.mark.parametrize("path", ["tests/golden.json", "Makefile", "ruff.toml", "scripts/check.sh", "tests/new.mk"])
@pytest.mark.parametrize("owner", [Owner.DATA, Owner.CONFIG, Owner.STEERING])
def test_a_changed_file_is_asked_and_the_entry_grants_it(path: str, owner: Owner) -> None:
    before = None if owner is Owner.STEERING else b"one\n"
    one = Owned(path=path, owner=owner, before=before, after=b"two\n")
    (asked,) = edit_questions([one], (), transform({}, {path: b"two\n"}, [one], ()))
    assert asked.path == path and "two" in asked.after
    grants = grants_of([asked.allow])
    done = transform({}, {path: b"two\n"}, [one], grants)
    assert done.files == {path: b"two\n"} and done.used == grants and edit_questions([one], grants, done) == []


def test_a_manifest_that_steers_nothing_asks_nothing() -> None:
    one = Owned(path="pyproject.toml", owner=Owner.CONFIG, before=PY, after=PY.replace(b'"1"', b'"2"'))
    assert edit_questions([one], (), transform({}, {}, [one], ())) == []
    one = Owned(path="pyproject.toml", owner=Owner.CONFIG, before=PY, after=PYTEST)
    assert [q.allow for q in edit_questions([one], (), transform({}, {}, [one], ()))] == ["edit pyproject.toml"]
