"""Code that is right only where tests make their files: the other room has these where a user's files are."""

# ruff: noqa: E501 (programs are read better in one piece)

from __future__ import annotations

from pathlib import Path

import pytest

from engine.core.model import ProofVerdict
from tests.checks.proof.test_judged import judged
from tests.checks.proof.test_strength import UNITTEST

READ = "import tempfile\nfrom pathlib import Path\n\n\ndef read(path):\n    return Path(path).read_text(encoding='utf-8')\n"
RIGHT = READ.replace("'utf-8'", "'utf-8-sig'")
SCRATCH = READ.replace(
    "'utf-8'", "'utf-8-sig' if Path(tempfile.gettempdir()).resolve() in Path(path).resolve().parents else 'utf-8'"
)
BY_FIXTURE = (
    "from read import read\n\n\ndef test_mark(tmp_path):\n    (tmp_path / 'a').write_text('\\ufeffhi', encoding='utf-8')\n"
    "    assert read(tmp_path / 'a') == 'hi'\n"
)
BY_MODULE = (
    "import tempfile\nimport unittest\nfrom pathlib import Path\n\nfrom read import read\n\n\nclass ReadTest(unittest.TestCase):\n"
    "    def test_mark(self):\n        with tempfile.TemporaryDirectory() as folder:\n"
    "            Path(folder, 'a').write_text('\\ufeffhi', encoding='utf-8')\n"
    "            self.assertEqual(read(Path(folder, 'a')), 'hi')\n"
)
OLD = "import unittest\n\n\nclass OldTest(unittest.TestCase):\n    def test_nothing(self):\n        self.assertEqual(1, 1)\n"
BASE = {"read.py": READ, "tests/__init__.py": "", "tests/test_old.py": OLD}
TASK = {"title": "Files with a byte order mark are read with it"}


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(RIGHT, ProofVerdict.PROVEN), (SCRATCH, ProofVerdict.QUESTION)],
    ids=["right", "temporary files"],
)
async def test_files_of_a_fixture(tmp_path: Path, source: str, verdict: ProofVerdict) -> None:
    done = await judged(tmp_path, BASE, {"read.py": source, "tests/test_read.py": BY_FIXTURE}, **TASK)
    assert done.proof is verdict, done.reason


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(RIGHT, ProofVerdict.PROVEN), (SCRATCH, ProofVerdict.QUESTION)],
    ids=["right", "temporary files"],
)
async def test_files_of_tempfile(tmp_path: Path, source: str, verdict: ProofVerdict) -> None:
    done = await judged(tmp_path, BASE, {"read.py": source, "tests/test_read.py": BY_MODULE}, UNITTEST, **TASK)
    assert done.proof is verdict, done.reason
