"""Which new files hold tests that no check ran."""

from __future__ import annotations

import pytest

from engine.perform.checks.proof.not_run import not_run

RAN = {"test/index.test.js", "tests/test_a.py"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("test/added.js", "const t = require('tap')\n\nt.test('x', () => {})\ntest('y', () => {})\n"),
        ("src/added.ts", "describe('added', () => {\n  it('adds', () => {})\n})\n"),
        ("tests/added.py", "import x\n\n\nasync def test_it():\n    assert x\n"),
        ("added.go", "package a\n\nfunc TestAdded(t *testing.T) {}\n"),
        ("tests/deep/added.rs", "#[tokio::test]\nasync fn added() {}\n"),
    ],
)
def test_a_file_of_tests_that_was_not_run_is_named_with_one_that_was(path: str, text: str) -> None:
    assert not_run({path: text}, RAN).startswith(f"no check ran {path}: tests are taken from files like test")
    assert not_run({path: text}, {*RAN, path}) == ""
    assert not_run({path: text}, set()) == "", "the runs name no files: nothing is known"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/latest.js", "export const latest = () => inspect(1)\n"),
        ("README.md", "test('x')\n"),
        ("a.py", "TEST = 1\n"),
    ],
)
def test_other_files_are_not(path: str, text: str) -> None:
    assert not_run({path: text}, RAN) == ""
