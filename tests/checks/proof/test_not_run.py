"""Which new files hold tests that no check ran, and which tests nobody runs."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from engine.perform.checks.proof.not_run import never_taken, not_run
from tests.checks.proof.test_judged import judged

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


OLD = b"class TestA:\n    def test_one(self):\n        assert 1\n"


@pytest.mark.parametrize(
    ("path", "after", "ids", "told"),
    [
        ("t/test_a.py", OLD + b"\n\nclass MoreTests:\n    def test_two(self):\n        assert 1\n", ["::TestA::test_one"], "MoreTests.test_two"),
        ("t/test_a.py", OLD + b"\n\nclass TestB:\n    def test_two(self):\n        assert 1\n", ["::TestB::test_two[a.b-1]"], ""),
        ("t/test_a.py", OLD + b"    def test_two(self):\n        assert 1\n", ["t.test_a.TestA.test_two (a=1)"], ""),
        ("t/test_a.py", OLD + OLD, ["::TestA::test_one"], "2 times"),
        ("t/test_a.py", OLD + b"\n\n@pytest.fixture\ndef test_client():\n    return 1\n", ["::TestA::test_one"], ""),
        ("t/test_a.py", OLD + b"\n\ndef testing(x):\n    return x\n", ["::TestA::test_one"], ""),
        ("a_test.go", b"package a\n\nfunc TestOne(t *testing.T) {}\n", ["a_test.go::TestTwo"], "TestOne"),
        ("a_test.go", b"package a\n\nfunc TestOne(t *testing.T) {}\n\nfunc TestMain(m *testing.M) {}\n", ["a_test.go::TestOne/a"], ""),
        ("t/test_a.py", OLD + b"\n\ndef test_two():\n    assert 1\n", [], ""),
    ],
)  # fmt: skip
def test_a_test_that_no_case_is_called_by(path: str, after: bytes, ids: list[str], told: str) -> None:
    before = OLD if path.endswith(".py") else b"package a\n"
    text = never_taken(path, before, after, {f"{path}{id}" if id.startswith("::") else id for id in ids})
    assert (told in text) if told else (text == "")


@pytest.mark.parametrize("name", ["TestMore", "MoreTests"])
async def test_tests_alone_that_nobody_runs_are_nothing(tmp_path: Path, name: str) -> None:
    base = {
        "half.py": "def half(n):\n    return n // 2\n",
        "tests/test_half.py": "from half import half\n\n\ndef test_four():\n    assert half(4) == 2\n",
    }
    more = base["tests/test_half.py"] + f"\n\nclass {name}:\n    def test_nine(self):\n        assert half(9) == 4\n"
    done = await judged(tmp_path, base, {"tests/test_half.py": more}, title="tests for odd numbers")
    assert done.proof is (ProofVerdict.HARMLESS if name == "TestMore" else ProofVerdict.UNPROVEN), done.reason
